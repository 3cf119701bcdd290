/**
 * Near-duplicates that count once (near_duplicates=once): of each group of documents that are nearly the same the
 * earliest alone makes clusters, and the others get a place with it.
 *
 *     rows of the texts -> groups (cluster/near)   gf_build_once_find
 *     -> rows of those that count -> k-means, by whoever asks
 *     -> all rows, with the labels of what they count with   gf_build_once_join
 *     -> clusters, each with one member of a group, to be named by   gf_build_once_members
 *
 * The groups are those that `duplicates` tells of the same documents. A copy's score is its own, to the centre of the
 * cluster that it is in. Document frequencies are of all documents (docs/decisions.md). Where topics take
 * documents first, what they leave counts so.
 */
#ifndef GF_ENGINE_BUILD_ONCE_H
#define GF_ENGINE_BUILD_ONCE_H

#include "engine/build/cluster.h"

/** {0} to begin with. */
typedef struct gf_build_once {
    gf_csr x;         /* rows that count; none where all do */
    uint32_t *row;    /* x.n_rows, rising: which of all rows each is */
    uint32_t *row_of; /* x.n_rows: its document */
    uint32_t *of;     /* all rows: the place in `row` of what each counts with */
} gf_build_once;

void gf_build_once_release(gf_build_once *once);

/**
 * Find the groups.
 *
 * @param x       rows that have terms, in memory
 * @param row_of  x->n_rows: the document of each, rising
 * @param[in,out] clustered  `once` is set; NULL: it is not wanted
 * @param[out] out  to be released, also after a failure
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED
 * Cost: see gf_duplicates_find; a copy of the rows that count. The same for any number of threads.
 */
gf_status gf_build_once_find(const gf_build_plan *plan, gf_pool *pool,
                             const gf_build_gathered *documents, const gf_csr *x,
                             const uint32_t *row_of, gf_build_clustered *clustered,
                             gf_build_once *out, gf_error *err);

/** Make the clusters of the rows that count those of all rows of x. */
gf_status gf_build_once_join(const gf_build_plan *plan, gf_pool *pool, const gf_csr *x,
                             const gf_build_once *once, gf_kmeans *kmeans, gf_error *err);

/**
 * The members of each cluster, best first, one of each group; both arrays are to be freed. They stay NULL where all
 * members count.
 */
gf_status gf_build_once_members(const gf_build_clustered *clustered, uint32_t n_documents,
                                uint32_t **members, uint32_t **start, gf_error *err);

#endif
