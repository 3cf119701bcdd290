/** Holding collections in order to change them, and the activities that work beside that. */
#ifndef GF_ENGINE_STORE_HOLD_H
#define GF_ENGINE_STORE_HOLD_H

#include "engine/store/store_internal.h"
#include "storage/backend.h"

/**
 * Hold a collection, which need not be there: rows of it are read in order to be written by puts,
 * settings, edits, the first and last steps of a rebuild and of a deletion. One of these does so at
 * a time (storage/backend.h); readers never hold anything. Of a place without a collection it is
 * the namespace's own: its defaults, and what applications keep in it.
 *
 * What was cut short in the store is cleared away first: once after opening, and again after a
 * deletion failed. Nothing is held meanwhile, so the thread has no other hold of the store.
 *
 * @param hold  let go of by gf_hold_let_go, also after a failure
 */
gf_status gf_hold_collection(gf_store *store, gf_place where, gf_hold *hold, gf_error *err);

/** Hold several collections of a namespace at once. The names are sorted; equal ones count once. */
gf_status gf_hold_collections(gf_store *store, gf_slice name_space, gf_slice *collections, size_t n,
                              gf_hold *hold, gf_error *err);

/** Clear away what was cut short, if it has not been done since; nothing may be held. */
gf_status gf_store_tidy(gf_store *store, gf_error *err);

/** Have it cleared away again before the next hold: a deletion failed. */
void gf_store_leave_untidy(gf_store *store);

/**
 * An activity of this process has the rows below a key to itself: a build that is made (the build's
 * key), a configuration or a collection that is being deleted (its key). Rows below the key are
 * then written and deleted while the collection is not held.
 */
typedef struct gf_activity {
    struct gf_activity *next;
    gf_slice key; /* borrowed from who is active */
    uint64_t seq; /* of a build: what its snapshot has; changes from then on must be kept */
} gf_activity;

/** Enter an activity into the store's list while its collection is held, and take it off. */
void gf_store_begin_activity(gf_store *store, gf_activity *activity);
void gf_store_end_activity(gf_store *store, gf_activity *activity);

/** True if the key of an activity starts so. */
bool gf_store_is_active(gf_store *store, gf_slice key_start);

/** Lower *seq to the lowest of the builds under way whose keys start so. */
void gf_store_lower_to_active(gf_store *store, gf_slice key_start, uint64_t *seq);

/** The builds under way. */
uint64_t gf_store_count_active(gf_store *store);

#endif
