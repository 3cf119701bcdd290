/**
 * Spherical k-means over dense rows, such as embeddings: what kmeans.h does for sparse ones. Scores
 * are products of blocks of rows with all centres, so every pass is exact and needs no bounds.
 *
 *     dense.c         runs, restarts, the last assignment
 *     seed.c    k-means++ seeds
 *     start.c   centres of the clusters that there were
 *     passes.c  assignment, sums, clusters that lost all their rows
 *     polish.c  single moves that raise the objective
 *
 * Deterministic: the same rows and options give the same result for any number of threads on one
 * machine (blocks have a fixed size, and sums the order of the rows); with GF_DENSE_SAME and a
 * given k on any machine.
 */
#ifndef GF_CLUSTER_DENSE_DENSE_H
#define GF_CLUSTER_DENSE_DENSE_H

#include "cluster/kmeans.h"

/** The arithmetic of the products. */
typedef enum gf_dense_arithmetic {
    /* OpenBLAS, one thread a call: the last bits of scores depend on the processor. */
    GF_DENSE_FAST,
    /* In one order on all processors (products.h): a sixth slower at k = 1,000. */
    GF_DENSE_SAME
} gf_dense_arithmetic;

/**
 * @param x        n * d, row by row, rows of unit L2 length; only read
 * @param options  as for gf_kmeans_run; with k 0 the number is chosen on a sample
 *                 (cluster/measure/choose_k.h)
 * @param[out] out as of gf_kmeans_run; centres have all d entries. score and second may be below 0,
 *                 since entries may be. Fewer clusters than k where fewer rows differ.
 * @return GF_OK; GF_EINVAL (n or d 0, a row that is not of unit length); GF_ENOMEM, GF_ECANCELLED.
 *         On failure *out is unchanged. With GF_DENSE_FAST also GF_EIO, where OpenBLAS cannot be
 *         loaded.
 * Owner:  the caller calls gf_kmeans_release(out). GF_DENSE_FAST sets OpenBLAS to one thread a
 *         call, for the whole process and for good.
 * Cost:   a pass is n * d * k multiplications; memory 4 x k x d, 24 x n, and a block of scores of
 *         at most a megabyte for each thread, beside x.
 * Source: Dhillon & Modha, Machine Learning 42 (2001) 143-175; Arthur & Vassilvitskii, SODA 2007;
 *         Dhillon, Guan & Kogan, ICDM 2002 (first variation).
 */
gf_status gf_dense_kmeans(gf_pool *pool, const float *x, uint32_t n, uint32_t d,
                          gf_dense_arithmetic arithmetic, const gf_kmeans_options *options,
                          gf_kmeans *out, gf_error *err);

#endif
