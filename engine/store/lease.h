/**
 * Leases: who has the rows below a key to itself, for hours: a build that is made (the build's key),
 * a configuration or a collection that is being deleted (its key). Rows below the key are written
 * and deleted while the collection is not held.
 *
 * Where no other process can write to the store, a lease is known to this process alone: whoever
 * opens the store next knows that all leases have ended. In a shared store (GF_BACKEND_SHARED) it is
 * a cell of the collection's row as well, and a thread renews it every third of its time:
 *
 *     collections:leases   configuration:<name>, collection  ->  <seq> <beat> <owner>
 *
 * Ended is a lease whose cell has not changed for its time as the one who looks saw it, so that no
 * two clocks are compared. Whoever finds one ended may take it, and what was being made below it is
 * dropped. A process that was only slow then cannot write any more: the mark of what it makes
 * (the family `progress`) names its owner, each of its batches is written only where the mark
 * still does (gf_lease_guard), and whoever drops it puts another owner there first.
 *
 * Threads: a lease belongs to one thread, but for gf_lease_guard and gf_lease_is_mine.
 */
#ifndef GF_ENGINE_STORE_LEASE_H
#define GF_ENGINE_STORE_LEASE_H

#include "engine/store/store_internal.h"
#include "storage/backend.h"

enum { GF_OWNER_BYTES = 192 };

typedef struct gf_lease gf_lease;

/** Who has a lease: in words behind "is being rebuilt"; empty: this process, or nobody. */
typedef struct gf_lease_owner {
    bool living;
    char by[GF_OWNER_BYTES + 8]; /* " by process 12 of HOST, ..." */
} gf_lease_owner;

/** Whether a lease lives whose key starts so; the collection is held. */
gf_status gf_lease_find(gf_store *store, gf_slice key_start, gf_lease_owner *owner, gf_error *err);

/**
 * Take a lease while the collection is held, and none lives that is in its way. Its cell goes into
 * the batch, which is to be written before the hold is let go of.
 *
 * @param key  copied
 * @param seq  of a build: what its snapshot has; changes from then on are kept. 0: a deletion
 */
gf_status gf_lease_take(gf_store *store, gf_slice key, uint64_t seq, gf_batch *batch,
                        gf_lease **lease, gf_error *err);

/** The owner that a mark names; it is no other lease's. Borrowed. */
gf_slice gf_lease_name(const gf_lease *lease);

/** The stamp of the batch that put the mark (gf_batch_stamp); 0 where rows do not hold themselves. */
uint64_t gf_lease_stamp(const gf_lease *lease);

/** False once it may have ended for others: by the own clock, less a margin. */
bool gf_lease_is_mine(const gf_lease *lease);

/**
 * While the collection is held: the lease is still this one's, and the batch takes its cell off.
 * @return GF_OK; GF_ECONFLICT where another process has taken it
 */
gf_status gf_lease_give_up(const gf_lease *lease, gf_batch *batch, gf_error *err);

/**
 * While the collection is held: the mark in that row still names this lease. Who drops what was made
 * takes the mark first, and the lease's cell only in the end.
 * @return GF_OK; GF_ECONFLICT
 */
gf_status gf_lease_check_mark(const gf_lease *lease, gf_table *table, unsigned progress,
                              gf_error *err);

/**
 * All writes of the batch are made only where the mark in that row names this lease. Where rows hold
 * themselves they are made as of the lease's stamp, and a late one may come behind that look.
 */
void gf_lease_guard(const gf_lease *lease, gf_table *table, unsigned progress, gf_batch *batch);

/** The lease ends, and its cell goes if it is still there. NULL: nothing. */
void gf_lease_end(gf_lease *lease);

/** Lower *seq to the lowest of builds under way whose keys start so; the collection is held. */
gf_status gf_lease_lower_seq(gf_store *store, gf_slice collection_key, uint64_t *seq,
                             gf_error *err);

/** The builds that this process makes. */
uint64_t gf_lease_count(gf_store *store);

/* ---- for marks and for clearing away --------------------------------------------------------- */

/** Whether other processes may write to the store. */
bool gf_store_is_shared(const gf_store *store);

/** The owner of marks that no lease stands behind: builds that are dropped. */
void gf_store_name_owner(const gf_store *store, char name[GF_OWNER_BYTES]);

/**
 * Whether somebody may be at work below a key that is marked, by that owner; the collection is held.
 * Without a lease (builds that are dropped) the mark itself is watched for the time of one; where
 * rows hold themselves its age says it (*by_age).
 */
gf_status gf_lease_stands_behind(gf_store *store, gf_slice key, gf_slice owner, bool *living,
                                 bool *by_age, gf_error *err);

/** Take the cells of ended leases off a collection's row, which is held. */
gf_status gf_lease_clear(gf_store *store, gf_slice collection_key, gf_batch *batch, gf_error *err);

/** Take a cell apart; false where it is none. The owner is borrowed. */
bool gf_lease_read(gf_slice value, uint64_t *seq, uint64_t *beat, gf_slice *owner);

/** The beginning of a key of the engine's tables that is the key of the collection's row. */
gf_slice gf_lease_collection(gf_slice key);

/** Stop renewing; no lease is left. */
void gf_lease_stop_renewing(gf_store *store);

#endif
