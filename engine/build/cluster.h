/**
 * Second step of a rebuild: rows -> clusters, and their members by rank.
 */
#ifndef GF_ENGINE_BUILD_CLUSTER_H
#define GF_ENGINE_BUILD_CLUSTER_H

#include "cluster/kmeans.h"
#include "engine/build/previous.h"

/** {0} to begin with; it stays so where no document has a row with entries. */
typedef struct gf_build_clustered {
    gf_kmeans kmeans;    /* of the rows that have entries */
    uint32_t *row_of;    /* kmeans.n: the document of each row, rising */
    uint32_t *members;   /* kmeans.n: rows by cluster, best first */
    uint32_t *start;     /* kmeans.k + 1: where each cluster begins in members */
    uint64_t chosen_for; /* distinct rows when k was chosen; 0: it was given */

    /* where the rows are a matrix's */
    gf_centres term_centres; /* centroids of the members' texts, in terms */
    uint64_t unknown;        /* rows of the matrix whose id no document has */
} gf_build_clustered;

void gf_build_clustered_release(gf_build_clustered *clustered);

/** The clusters' centroids in terms of the vocabulary. */
const gf_centres *gf_build_clustered_terms(const gf_build_clustered *clustered);

/** Documents of a cluster. */
static inline uint32_t gf_build_clustered_size(const gf_build_clustered *c, uint32_t cluster)
{
    return c->start[cluster + 1] - c->start[cluster];
}

/**
 * Cluster the rows of the texts, or those of the plan's matrix. If the plan says so, it starts
 * from the clusters of the previous build.
 *
 * @param pool  NULL: this thread alone
 * @param[out] out  to be released, also after a failure
 * @return GF_OK; GF_EINVAL (the matrix), GF_ENOMEM, GF_ECANCELLED, GF_ELIMIT, GF_EIO
 */
gf_status gf_build_cluster(const gf_build_plan *plan, gf_pool *pool,
                           const gf_build_gathered *documents, const gf_build_previous *previous,
                           gf_build_clustered *out, gf_error *err);

/**
 * The same for the plan's matrix, without members (matrix_rows.c): its rows are matched with the
 * documents by id, scaled to unit length and clustered.
 */
gf_status gf_build_cluster_matrix(const gf_build_plan *plan, gf_pool *pool,
                                  const gf_build_gathered *documents,
                                  const gf_kmeans_options *options, gf_build_clustered *out,
                                  gf_error *err);

/** Choose k alone; *choice stays empty where no document has terms. Its steps are to be freed. */
gf_status gf_build_choose_k(const gf_build_plan *plan, gf_pool *pool,
                            const gf_build_gathered *documents, gf_choice *choice, gf_error *err);

#endif
