/**
 * Last step of a rebuild: the pointer of the configuration moves to the new build, and old builds
 * and changes that no build needs are deleted.
 */
#ifndef GF_ENGINE_BUILD_PUBLISH_H
#define GF_ENGINE_BUILD_PUBLISH_H

#include "engine/build/plan.h"

/**
 * Move the pointers of written builds, of different configurations of one store, in one synced
 * write; then delete builds that need not be kept. Their collections are held for the first part.
 *
 * @return GF_OK: all are published; GF_ECONFLICT (a pointer is not the plan's any more),
 *         GF_ENOTFOUND, GF_EIO, GF_ENOMEM: none is
 */
gf_status gf_build_move_pointers(const gf_build_plan *const *plans, size_t n, gf_error *err);

/**
 * The changes up to which no build of the collection needs any: finished builds need those since
 * their own snapshot, and so do builds under way. *seq is the collection's, and is lowered to what
 * is needed. The collection is held.
 */
gf_status gf_build_oldest_need(gf_store *store, gf_slice collection_key, uint64_t *seq,
                               gf_error *err);

/** Delete a collection's changes up to that one. */
gf_status gf_build_trim_changes(gf_store *store, gf_place where, uint64_t seq, gf_batch *batch,
                                gf_error *err);

#endif
