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

/** Delete the rows of a build, its progress last. */
gf_status gf_delete_build(gf_store *store, gf_slice build_key, gf_batch *batch, gf_error *err);

/** Several builds, likewise; keys are as gf_pins_mark_builds gives them. */
gf_status gf_delete_builds(gf_store *store, gf_slice keys, gf_batch *batch, gf_error *err);

/** Have the room of a collection's deleted builds given back, in the background. */
gf_status gf_reclaim_builds(gf_store *store, gf_place where, gf_error *err);

/** Delete all of a collection that is marked. Nobody else may write below its key. */
gf_status gf_delete_collection_rows(gf_store *store, gf_slice collection_key, gf_error *err);

#endif
