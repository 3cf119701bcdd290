/**
 * The previous build of a configuration, which is served while the new one is made: the cluster
 * that each document has in it.
 *
 *     memberships of the previous build   a:1  b:1  c:4  e:4      in the order of ids
 *     documents of the snapshot           a    b    d    e        likewise
 *     cluster                             0    0    -    1        index in ids
 *     ids                                 1    4
 *
 * Candidates are clusters that it has got since: documents of these that it does not have are in them.
 */
#ifndef GF_ENGINE_BUILD_PREVIOUS_H
#define GF_ENGINE_BUILD_PREVIOUS_H

#include "engine/build/gather.h"
#include "engine/config/candidates.h"

/** The title of a cluster, which goes with its id; all empty where it has none. */
typedef struct gf_build_title {
    gf_slice title, model, prompt;
} gf_build_title;

/** {0} to begin with. */
typedef struct gf_build_previous {
    uint32_t k;        /* clusters that still have documents; 0 where there is no previous build */
    uint32_t *ids;     /* k, rising */
    uint32_t *cluster; /* one per document: index in ids, or GF_UNMATCHED; NULL without a build */
    gf_slice *labels;  /* k: of these clusters, in memory; NULL without a build */
    gf_build_title *titles;   /* k: likewise */
    gf_candidates candidates; /* that came after that build, and have an id */
    uint32_t *candidate;      /* one per document: place in these, or GF_UNMATCHED; NULL: none */
    gf_arena memory;
} gf_build_previous;

void gf_build_previous_release(gf_build_previous *previous);

/** The label of the cluster of that id; empty where there is none. */
gf_slice gf_build_previous_label(const gf_build_previous *previous, uint32_t id);

/** Its title; NULL where it has none. */
const gf_build_title *gf_build_previous_title(const gf_build_previous *previous, uint32_t id);

/**
 * Read the memberships and the labels of the plan's served build. A membership in a cluster that
 * the build does not list counts as none.
 *
 * @param pool  NULL: this thread alone; else parts of the memberships are read by all its threads
 * @param[out] out  to be released, also after a failure; the same for any number of threads
 * Cost: a walk over the memberships and the clusters of that build.
 */
gf_status gf_build_read_previous(const gf_build_plan *plan, gf_pool *pool,
                                 const gf_build_gathered *documents, gf_build_previous *out,
                                 gf_error *err);

#endif
