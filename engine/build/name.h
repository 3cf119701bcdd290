/**
 * Fourth step of a rebuild: labels of the clusters, and the tree over them with labels of its own.
 */
#ifndef GF_ENGINE_BUILD_NAME_H
#define GF_ENGINE_BUILD_NAME_H

#include "cluster/label/tree.h"
#include "engine/build/match.h"

/** {0} to begin with; it stays so where there are no clusters. */
typedef struct gf_build_named {
    gf_tree tree;     /* over the clusters; empty where there are more than GF_TREE_MOST */
    gf_slice *labels; /* one per cluster, then one per inner node of the tree (may be empty) */
    gf_arena memory;  /* of the labels but pinned ones, which are the plan's */
} gf_build_named;

void gf_build_named_release(gf_build_named *named);

/**
 * Read some documents of each cluster again, and choose phrases of their texts. Clusters whose ids
 * have a pinned label get that; one that continues a cluster of the served build keeps its label
 * while that is nearly as good as the best.
 *
 * @param pool  NULL: this thread alone
 * @param[out] out  to be released, also after a failure
 * @return GF_OK; GF_ENOMEM, GF_EIO, GF_ECORRUPT, GF_ECANCELLED
 */
gf_status gf_build_name(const gf_build_plan *plan, gf_pool *pool,
                        const gf_build_gathered *documents, const gf_build_previous *previous,
                        const gf_build_clustered *clustered, const gf_build_matched *matched,
                        gf_build_named *out, gf_error *err);

#endif
