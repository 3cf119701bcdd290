/**
 * Deleting many rows, in batches that are written (synced) whenever they are full. The caller
 * writes what is left in the batch.
 */
#ifndef GF_ENGINE_STORE_DELETE_H
#define GF_ENGINE_STORE_DELETE_H

#include "engine/store/store_internal.h"
#include "grouperfish/collections.h"

/** Delete the rows whose keys start with prefix, all families; those with start <= key < end. */
gf_status gf_delete_rows(gf_table *table, gf_slice prefix, gf_batch *batch, gf_error *err);
gf_status gf_delete_range(gf_table *table, gf_slice start, gf_slice end, gf_batch *batch,
                          gf_error *err);

/** Who deletes below a mark that it has put or taken. */
typedef struct gf_deleter {
    gf_slice owner; /* that the mark names */
    uint64_t stamp; /* of the batch that put the mark (gf_batch_stamp) */
    bool again;     /* a mark that was left is taken off: see gf_delete_build */
    uint64_t
        since; /* of a mark that is left, the database's time (ms); 0: whoever sees it notes it */
} gf_deleter;

/**
 * Delete the rows of a build, its progress last. In a shared store that goes on only while its mark
 * names the owner; where another process has taken it over, the rest is left to that.
 *
 * Where rows hold themselves a late batch of who made the build may come behind that. So the mark
 * stays, as "dropped", until gf_store_tidy deletes again what there is, some time later.
 */
gf_status gf_delete_build(gf_store *store, gf_slice build_key, const gf_deleter *by,
                          gf_batch *batch, gf_error *err);

/** Mark a build, whose collection is held, as being dropped by this process. */
void gf_delete_mark_build(gf_store *store, gf_slice build_key, gf_batch *batch);

/**
 * Several builds, likewise, which were marked by gf_pins_mark_builds, as are the keys. Where rows hold
 * themselves they stay for a while, marked: views, which have no snapshots, may read them.
 */
gf_status gf_delete_builds(gf_store *store, gf_slice keys, gf_batch *batch, gf_error *err);

/** Have the room of a collection's deleted builds given back, in the background. */
gf_status gf_reclaim_builds(gf_store *store, gf_place where, gf_error *err);

/**
 * Delete all of a collection that is marked, likewise. Nobody else may write below its key, and this
 * thread holds nothing. Where rows hold themselves marks of builds are left, as "dropped".
 */
gf_status gf_delete_collection_rows(gf_store *store, gf_slice collection_key, const gf_deleter *by,
                                    gf_error *err);

#endif
