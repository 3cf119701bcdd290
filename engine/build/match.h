/**
 * Third step of a rebuild: each new cluster that continues an old one gets its id.
 */
#ifndef GF_ENGINE_BUILD_MATCH_H
#define GF_ENGINE_BUILD_MATCH_H

#include "engine/build/cluster.h"

/** {0} to begin with. */
typedef struct gf_build_matched {
    /* One per cluster: the id of the previous cluster, or the candidate, that it continues, else one never used. */
    uint32_t *ids;
    uint64_t next_id; /* first id that was never used, after this build */

    /* The same of the groups of its tree, by group_ids.h: one per inner node. */
    uint32_t *groups;
    uint64_t next_group;
} gf_build_matched;

void gf_build_matched_release(gf_build_matched *matched);

/**
 * Give each cluster its id. Candidates that are kept (engine/config/candidates.h) count as previous clusters; and what
 * continues nothing takes the id of one most of whose documents it has, where they are a quarter of it.
 *
 * @param[out] out  to be released, also after a failure
 * @return GF_OK; GF_ENOMEM; GF_ELIMIT (all ids of the configuration are used up)
 */
gf_status gf_build_match(const gf_build_plan *plan, const gf_build_gathered *documents,
                         const gf_build_previous *previous, const gf_build_clustered *clustered,
                         gf_build_matched *out, gf_error *err);

#endif
