/**
 * Rebuilds that were asked for, in a store that several processes have open: kept as rows of the
 * table of tables, so that what one of them accepted is done by another where the first dies.
 *
 *     tables:progress   (namespace, "task:<id>")   owner    who is at it, and a beat
 *                                                  task     what it is and how far (server/service)
 *                                                  cancel   it is to end
 *
 * Each write of a task is made on the condition that its owner is as it was read: so of several who
 * take a task one gets it, and one whose task was taken learns so at its next beat.
 */
#ifndef GF_ENGINE_STORE_ASKED_H
#define GF_ENGINE_STORE_ASKED_H

#include "engine/store/store_internal.h"

/** Slices are borrowed from the row that was read. */
typedef struct gf_asked_task {
    gf_slice name_space, id, owner, task;
    bool cancel;
} gf_asked_task;

/**
 * Write a task, synced.
 * @param was  the owner that it has; NULL: there is no such task yet
 * @return GF_OK; GF_ECONFLICT where it has another; GF_EIO, GF_EUNKNOWN, GF_ENOMEM
 */
gf_status gf_asked_write(gf_store *store, gf_slice name_space, gf_slice id, const gf_slice *was,
                         gf_slice owner, gf_slice task, gf_error *err);

/** Have its owner end it. */
gf_status gf_asked_cancel(gf_store *store, gf_slice name_space, gf_slice id, gf_error *err);

gf_status gf_asked_delete(gf_store *store, gf_slice name_space, gf_slice id, gf_error *err);

typedef gf_status gf_visit_asked(void *context, const gf_asked_task *asked, gf_error *err);

/** All tasks of all namespaces. */
gf_status gf_asked_visit(gf_store *store, gf_visit_asked *visit, void *context, gf_error *err);

/** One of them; GF_ENOTFOUND. */
gf_status gf_asked_read(gf_store *store, gf_slice name_space, gf_slice id, gf_visit_asked *visit,
                        void *context, gf_error *err);

#endif
