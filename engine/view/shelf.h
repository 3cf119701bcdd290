/**
 * Views that are not in use, with what a build is applied by: its model and the index over its centres. Who
 * places one document at a time, as a server does for each request, would load both anew each time: some 20
 * ms of 20 Newsgroups, more of larger builds, against some 0.1 ms for the place itself.
 *
 *     gf_view_open_warm -> a view of the state as it is now, with the parts of one on the shelf, if that was of the
 *                  same build, with as many edits -> used -> gf_view_close puts its parts on the shelf
 *
 * What a build is applied by never changes but by edits, so the parts stay true. Of a snapshot nothing is
 * kept. Limits: GF_SHELF_VIEWS, and GF_SHELF_BYTES of parts by estimate; what was used last stays.
 *
 * A store has one shelf; its functions may be called by several threads at once. A view that checks what is on
 * disk is opened by gf_view_open, which takes nothing from here.
 */
#ifndef GF_ENGINE_VIEW_SHELF_H
#define GF_ENGINE_VIEW_SHELF_H

#include "engine/view/view.h"

enum { GF_SHELF_VIEWS = 8, GF_SHELF_BYTES = 256 << 20 };

typedef struct gf_shelf gf_shelf;

/** An empty one; NULL where memory is short. */
gf_shelf *gf_shelf_create(void);
void gf_shelf_free(gf_shelf *shelf);

/**
 * Warm a view that was just opened: it gets the parts of one on the shelf, if there are any, and has its own
 * put there when it is closed.
 * @return the view, which may lie elsewhere now
 */
gf_view *gf_shelf_warm(gf_view *view);

/** Put the parts of a view that is being closed on its store's shelf; false: they are the caller's to free. */
bool gf_shelf_keep(gf_view *view);

/** Free them: what a build is applied by, model and centres. */
void gf_shelf_release_parts(gf_view *view);

#endif
