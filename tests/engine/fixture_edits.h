/** Edits of "c" in the configuration `default`, and what its served build says. */
#ifndef TESTS_ENGINE_FIXTURE_EDITS_H
#define TESTS_ENGINE_FIXTURE_EDITS_H

#include "tests/engine/fixture.h"

/** All that the served build says of clusters, documents and the tree. */
void fixture_say(fixture *f, gf_buffer *out);
void fixture_same(gf_buffer *a, gf_buffer *b);

/** The cluster that a document is in; 0: in none, or the build does not have it. */
uint32_t fixture_place_of(fixture *f, const char *id);

gf_status fixture_try_edit(fixture *f, const gf_edit_request *r, gf_error *err);
gf_status fixture_try_merge(fixture *f, uint32_t a, uint32_t b, gf_error *err);
gf_status fixture_try_split(fixture *f, uint32_t cluster, uint32_t parts, gf_error *err);
gf_status fixture_try_move(fixture *f, const char *id, uint32_t cluster, gf_error *err);

/** An empty label: its own again. */
gf_status fixture_try_label(fixture *f, uint32_t cluster, const char *label, gf_error *err);

/** number: 0 for the last one. */
gf_status fixture_try_undo(fixture *f, uint64_t number, bool *waits, gf_error *err);

/** The edits that were not taken back, oldest first; slices of `at` are not to be read. */
typedef struct fixture_edits {
    gf_edit at[64];
    uint32_t others[64][8];
    char document[64][16], text[64][32], lost[64][128];
    size_t n;
} fixture_edits;
gf_status fixture_note_edit(void *context, const gf_edit *e, gf_error *err); /* context: the list */
void fixture_list_edits(fixture *f, fixture_edits *l);

/** Rebuild though nothing has changed, on one thread. */
void fixture_rebuild_from(fixture *f, gf_start start);

/** Rebuild where that is due. */
gf_rebuild_outcome fixture_rebuild_if_due(fixture *f);

/** Give every cluster a title, as gf_titles_make does. */
void fixture_put_titles(fixture *f);

#endif
