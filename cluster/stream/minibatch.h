/**
 * Spherical k-means over more rows than memory is to hold: mini-batches.
 *
 *     seeds      k-means (cluster/kmeans.h) of a sample that memory holds, or clusters that there
 *                were, summed as the rows stream by
 *     batches    rows drawn at random go to their most similar centre, and each centre moves
 *                towards them by its own rate, 1 / (rows that it was made of so far)
 *     the end    all rows stream by: assigned, their clusters summed, assigned again
 *
 * Of very many clusters (more than GF_BRANCHES_ABOVE) no batches are drawn, whose rows lie all over
 * the file: from the sample's centres all rows stream by as at the end. Centres keep their strongest
 * GF_ROW_STREAM_TERMS terms, so that k alone bounds what they take, and rows find their places by
 * the tree of centres (cluster/large/branches.h).
 *
 * A centre that moves from its mean m by (x - m) / v for the v-th row is the mean of all v; so what
 * is kept of each cluster is the sum of its rows so far, and only the sum of a batch is added to
 * it.
 *
 * Deterministic: the same rows, options and sample give the same result, bit for bit, for any
 * number of threads.
 *
 * Source: Sculley, WWW 2010, 1177-1178 (per-centre learning rates), with unit centres as in Dhillon
 * & Modha, Machine Learning 42 (2001) 143-175.
 */
#ifndef GF_CLUSTER_STREAM_MINIBATCH_H
#define GF_CLUSTER_STREAM_MINIBATCH_H

#include "base/row_file.h"
#include "cluster/kmeans.h"

typedef struct gf_minibatch_options {
    gf_kmeans_options
        kmeans;      /* start, where it is not NULL, has a label for each row of the file */
    uint32_t sample; /* rows that memory holds for the seeds, 1 at least */
} gf_minibatch_options;

/**
 * @param rows  of unit length; none is empty
 * @param out   as of gf_kmeans_run; converged is false, rounds are 0, passes are the batches
 * @return GF_OK; GF_EINVAL (no rows); GF_EIO, GF_ENOMEM, GF_ECANCELLED, GF_ELIMIT. On failure *out
 *         is unchanged.
 * Owner:  gf_kmeans_release(out).
 * Cost:   that of the sample's k-means; then four readings of the file, each entries * k.
 *         Memory: the sample's k-means; 16 bytes x rows; centres and their index; a window of rows
 *         (docs/algorithms.md has the formula).
 */
gf_status gf_minibatch_run(gf_pool *pool, const gf_row_file *rows,
                           const gf_minibatch_options *options, gf_kmeans *out, gf_error *err);

#endif
