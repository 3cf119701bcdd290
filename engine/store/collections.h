/** Rows of the table of collections, read for the rooms of the engine. */
#ifndef GF_ENGINE_STORE_COLLECTIONS_H
#define GF_ENGINE_STORE_COLLECTIONS_H

#include "engine/rows/collection_row.h"
#include "engine/store/store_internal.h"

/** GF_ENOTFOUND, naming it, where there is no such collection or it is being deleted. */
gf_status gf_collection_row_read(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                                 gf_collection_row *row, gf_error *err);

/**
 * The defaults of a namespace: JSON as in `settings`, borrowed from *row, which the caller
 * releases; empty where it has none.
 */
gf_status gf_collection_defaults_read(gf_store *store, const gf_snapshot *snapshot,
                                      gf_slice name_space, gf_row *row, gf_slice *defaults,
                                      gf_error *err);

/** *deleting: the collection is marked as being deleted. */
gf_status gf_collection_is_deleting(gf_store *store, const gf_snapshot *snapshot, gf_slice key,
                                    bool *deleting, gf_error *err);

/** GF_EBUSY: a collection cannot be made while its namesake is still being deleted. */
gf_status gf_collection_fail_deleting(gf_slice collection, gf_error *err);

#endif
