/**
 * Third step of a rebuild: which new cluster is which old one. A cluster that goes on keeps its id.
 */
#ifndef GF_ENGINE_BUILD_MATCH_H
#define GF_ENGINE_BUILD_MATCH_H

#include "engine/build/cluster.h"

/** {0} to begin with. */
typedef struct gf_matched {
    uint32_t *ids;    /* one per cluster: that of the previous build's cluster which it continues,
                         else one that was never used */
    uint64_t next_id; /* first id that was never used, after this build */
} gf_matched;

void gf_matched_release(gf_matched *matched);

/**
 * Give each cluster its id.
 *
 * @param[out] out  to be released, also after a failure
 * @return GF_OK; GF_ENOMEM; GF_ELIMIT (all ids of the configuration are used up)
 */
gf_status gf_build_match(const gf_build_plan *plan, const gf_gathered *documents,
                         const gf_previous *previous, const gf_clustered *clustered,
                         gf_matched *out, gf_error *err);

#endif
