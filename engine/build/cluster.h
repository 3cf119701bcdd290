/**
 * Second step of a rebuild: rows -> clusters, and their members by rank.
 */
#ifndef GF_ENGINE_BUILD_CLUSTER_H
#define GF_ENGINE_BUILD_CLUSTER_H

#include "cluster/kmeans.h"
#include "engine/build/previous.h"
#include "engine/rows/kept_rows.h"
#include "engine/rows/term_vectors.h"

/** A document that no topic took. */
typedef struct gf_build_unplaced {
    uint32_t document;
    uint32_t nearest; /* cluster */
    float similarity; /* to that one's centre, 0..1 */
} gf_build_unplaced;

/** {0} to begin with; it stays so where no document has a row with entries. */
typedef struct gf_build_clustered {
    gf_kmeans kmeans;     /* of the rows that have entries */
    uint32_t *row_of;     /* kmeans.n: the document of each row, rising */
    uint32_t *members;    /* kmeans.n: rows by cluster, best first */
    uint32_t *start;      /* kmeans.k + 1: where each cluster begins in members */
    uint64_t chosen_for;  /* rows when k was chosen; 0: it was given */
    uint64_t settled_for; /* rows when the clusters were polished last; 0: not known */
    bool continued;       /* they go on from the served ones */

    /* where near-duplicates count once, and there are any (once.h) */
    uint32_t
        *once; /* documents: the one that each counts with, which may be itself; NULL: all count */

    /* where the rows are a matrix's */
    gf_centres term_centres; /* centroids of the members' texts, in terms */
    uint32_t *matrix_row;    /* kmeans.n: the matrix's row of each */
    uint64_t unknown;        /* rows of the matrix whose id no document has */

    /* where they are sums of words' vectors: these, too, and term_centres */
    gf_term_vectors words;
    float *dense; /* kmeans.n * words.d */

    /* where there are topics (topics.h) */
    size_t *topic; /* kmeans.k: the edit that made it one, by its place in the plan's list, or
                      GF_NOT_A_TOPIC; NULL: no cluster is one */
    const char **topic_lost; /* n_edits: why a topic has no cluster; NULL: it has, or is none */
    size_t n_edits;          /* of the plan */
    gf_centres background; /* one centre: what is more like it than like any topic is in none; k 0:
                                there is none */
    gf_build_unplaced *unplaced; /* n_unplaced: these documents, rising */
    uint32_t n_unplaced;
} gf_build_clustered;

#define GF_NOT_A_TOPIC SIZE_MAX

void gf_build_clustered_release(gf_build_clustered *clustered);

/** The clusters' centroids in terms of the vocabulary. */
const gf_centres *gf_build_clustered_terms(const gf_build_clustered *clustered);

/** Whether a cluster is a topic's. */
static inline bool gf_build_clustered_is_topic(const gf_build_clustered *c, uint32_t cluster)
{
    return c->topic && c->topic[cluster] != GF_NOT_A_TOPIC;
}

/** Documents of a cluster. */
static inline uint32_t gf_build_clustered_size(const gf_build_clustered *c, uint32_t cluster)
{
    return c->start[cluster + 1] - c->start[cluster];
}

/**
 * Cluster the rows of the texts, or those of the plan's matrix, without ranking members. If the plan
 * says so, it starts from the clusters of the previous build.
 *
 * @param pool  NULL: this thread alone
 * @param[out] out  to be released, also after a failure
 * @return GF_OK; GF_EINVAL (the matrix), GF_ENOMEM, GF_ECANCELLED, GF_ELIMIT, GF_EIO
 */
gf_status gf_build_cluster(const gf_build_plan *plan, gf_pool *pool,
                           const gf_build_gathered *documents, const gf_build_previous *previous,
                           gf_build_clustered *out, gf_error *err);

/** List the members of each cluster, best first: once it is settled which these are. GF_ENOMEM. */
gf_status gf_build_rank(const gf_build_plan *plan, gf_pool *pool, gf_build_clustered *clustered,
                        gf_error *err);

/**
 * The same for the plan's matrix, without members (matrix_rows.c): its rows are matched with the
 * documents by id, scaled to unit length and clustered.
 */
gf_status gf_build_cluster_matrix(const gf_build_plan *plan, gf_pool *pool,
                                  const gf_build_gathered *documents,
                                  const gf_build_previous *previous, gf_kmeans_options *options,
                                  gf_build_clustered *out, gf_error *err);

/** The same for documents as sums of the vectors of their words (word_rows.c). */
gf_status gf_build_cluster_words(const gf_build_plan *plan, gf_pool *pool,
                                 const gf_build_gathered *documents,
                                 const gf_build_previous *previous, gf_kmeans_options *options,
                                 gf_build_clustered *out, gf_error *err);

/** Last step of both: scores from 0 on, and the clusters' centroids in terms of the texts. */
gf_status gf_build_finish_dense(gf_pool *pool, const gf_csr *texts, const gf_cancel *cancel,
                                gf_build_clustered *out, gf_error *err);

/**
 * Set k, and if the previous clusters are continued, a first label for each of n rows (*start, to
 * be freed; else it is left alone). out->row_of says whose they are. k=auto keeps their number
 * while the documents are about as many as when it was chosen, and then while it is nearly as good
 * as the best. Options are set not to polish what goes on.
 *
 * @param x  the rows, to choose k anew; NULL: the clustering does
 */
gf_status gf_build_start_from_previous(const gf_build_plan *plan, gf_pool *pool, const gf_csr *x,
                                       const gf_build_previous *previous, uint32_t n_rows,
                                       gf_build_clustered *out, gf_kmeans_options *options,
                                       uint32_t **start, gf_error *err);

/**
 * Write the clustered rows, where they are not the texts', as engine/rows/kept_rows.h has them.
 * Cost: a pass over them; memory some 64 KB.
 */
gf_status gf_build_write_rows(const gf_build_plan *plan, const gf_build_gathered *documents,
                              const gf_build_clustered *clustered, gf_put_kept_rows *put,
                              void *context, gf_error *err);

/**
 * Choose k alone; *choice stays empty where no document has terms. Its steps are to be freed.
 *
 * @param[out] kept  the served number where a rebuild would keep it, else as it was
 */
gf_status gf_build_choose_k(const gf_build_plan *plan, gf_pool *pool,
                            const gf_build_gathered *documents, gf_choice *choice, uint32_t *kept,
                            gf_error *err);

#endif
