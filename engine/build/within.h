/**
 * A configuration within a cluster or a group of another: which documents it is about. These are the
 * members that the other's served build has; documents that were put since are none until its next.
 */
#ifndef GF_ENGINE_BUILD_WITHIN_H
#define GF_ENGINE_BUILD_WITHIN_H

#include "engine/config/settings.h"
#include "engine/rows/id_set.h"

/**
 * Read the documents of a configuration's setting `within`.
 *
 * @param row  of the collection, as the snapshot has it (NULL: as it is now)
 * @param of   the configuration whose setting it is, for messages
 * @return GF_OK; GF_ECONFLICT where the other is not built, or its served build has no such cluster or
 *         group any more; GF_ECORRUPT, GF_EIO, GF_ENOMEM. *out is then empty.
 * Cost: a walk over the other's memberships.
 */
gf_status gf_build_within_read(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                               const gf_collection_row *row, gf_slice of, const gf_within *within,
                               gf_id_set *out, gf_error *err);

#endif
