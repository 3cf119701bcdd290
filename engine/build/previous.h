/**
 * The previous build of a configuration, which is served while the new one is made: the cluster
 * that each document has in it.
 *
 *     memberships of the previous build   a:1  b:1  c:4  e:4      in the order of ids
 *     documents of the snapshot           a    b    d    e        likewise
 *     cluster                             0    0    -    1        index in ids
 *     ids                                 1    4
 */
#ifndef GF_ENGINE_BUILD_PREVIOUS_H
#define GF_ENGINE_BUILD_PREVIOUS_H

#include "engine/build/gather.h"

/** {0} to begin with. */
typedef struct gf_build_previous {
    uint32_t k;        /* clusters that still have documents; 0 where there is no previous build */
    uint32_t *ids;     /* k, rising */
    uint32_t *cluster; /* one per document: index in ids, or GF_UNMATCHED; NULL without a build */
} gf_build_previous;

void gf_build_previous_release(gf_build_previous *previous);

/**
 * Read the memberships of the plan's served build.
 *
 * @param[out] out  to be released, also after a failure
 * Cost: a walk over the memberships of that build.
 */
gf_status gf_build_read_previous(const gf_build_plan *plan, const gf_build_gathered *documents,
                                 gf_build_previous *out, gf_error *err);

#endif
