/** Holding collections in order to change them, and clearing away what was cut short. */
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
 * What was cut short in the store is cleared away first: once after opening, again after a deletion
 * failed, and in a shared store once in the time of a lease. Nothing is held meanwhile, so the
 * thread has no other hold of the store. A batch of another collection that cannot be finished
 * is left.
 *
 * @param hold  let go of by gf_hold_let_go, also after a failure
 * @return GF_OK; GF_EINVAL where the backend lacks GF_BACKEND_BATCH or GF_BACKEND_SNAPSHOT, which
 *         whatever changes a collection relies on, unless rows of collections hold themselves
 *         (gf_database_hold_in_rows); GF_EIO, GF_ENOMEM
 */
gf_status gf_hold_collection(gf_store *store, gf_place where, gf_hold *hold, gf_error *err);

/**
 * Hold several collections of a namespace at once. The names are sorted; equal ones count once.
 * GF_EINVAL where rows hold themselves, which are held one at a time.
 */
gf_status gf_hold_collections(gf_store *store, gf_slice name_space, gf_slice *collections, size_t n,
                              gf_hold *hold, gf_error *err);

/**
 * Hold what is needed to write a batch of users' tables as a whole, which is then written by
 * gf_batch_write: nothing where the database writes batches as a whole by itself, else the row that
 * such batches have (gf_tables_batches_key), after what another process left of one is finished.
 *
 * @param hold  let go of by gf_hold_let_go, also after a failure
 */
gf_status gf_hold_batches(gf_store *store, gf_hold *hold, gf_error *err);

/**
 * Finish the batch of users' tables that a process which died has left, before they are read. One read
 * where there is none.
 */
gf_status gf_store_finish_batches(gf_store *store, gf_error *err);

/** The same of tweets and collections, too, before a store is read as a whole; a walk over its journals. */
gf_status gf_store_finish_all_batches(gf_store *store, gf_error *err);

/**
 * Clear away what was cut short, if it has not been done since; nothing may be held. Nothing of a
 * lease that lives is touched (engine/store/lease.h).
 */
gf_status gf_store_tidy(gf_store *store, gf_error *err);

/** Have it cleared away again before the next hold: a deletion failed. */
void gf_store_leave_untidy(gf_store *store);

#endif
