/** The write lock of a store, and the activities that work beside it. */
#ifndef GF_ENGINE_STORE_LOCK_H
#define GF_ENGINE_STORE_LOCK_H

#include "engine/store/store_internal.h"

/**
 * An activity of this process has the rows below a key to itself: a build that is made (the build's
 * key), a configuration or a collection that is being deleted (its key). Rows below the key are
 * then written and deleted without the write lock.
 */
typedef struct gf_activity {
    struct gf_activity *next;
    gf_slice key; /* borrowed from who is active */
    uint64_t seq; /* of a build: what its snapshot has; changes from then on must be kept */
} gf_activity;

/**
 * Take the write lock, and clear away what was cut short: once after opening, and again after a
 * deletion failed. Unlock with gf_store_unlock, also after a failure.
 */
gf_status gf_store_lock(gf_store *store, gf_error *err);
void gf_store_unlock(gf_store *store);

/** Have the next gf_store_lock clear away again: a deletion failed. The lock is not held. */
void gf_store_leave_untidy(gf_store *store);

/** Enter an activity into the store's list, and take it off; with the write lock held. */
void gf_store_begin_activity(gf_store *store, gf_activity *activity);
void gf_store_end_activity(gf_store *store, gf_activity *activity);

/** True if the key of an activity starts so. Lock held. */
bool gf_store_is_active(const gf_store *store, gf_slice key_start);

#endif
