/**
 * Latent semantic analysis: rows in the space of the largest singular vectors of their matrix, and
 * clusters in it.
 *
 *     x [n x terms]  ~  rows [n x d]  times  d orthogonal unit vectors over the terms
 *
 * The singular vectors are found by a randomised range finder with power iterations: a random
 * matrix of a few more columns than are wanted is multiplied by x'x again and again, and made
 * orthogonal in between (by the Cholesky factor of its Gram matrix; at last twice: CholeskyQR2).
 *
 * Texts have many singular values that hardly differ, and the last that are found are too small: of
 * 100 of AG News the first ten by 0.01 %, the first fifty by at most 1 %, the last by 5 %.
 *
 * Deterministic: the same rows, dimensions and seed give the same result for any number of threads
 * and on any processor. Work is cut into blocks of rows of fixed size, sums have one order
 * (products.h, symmetric.h), and libm is asked for square roots alone, which are exact.
 */
#ifndef GF_CLUSTER_DENSE_LSA_H
#define GF_CLUSTER_DENSE_LSA_H

#include "cluster/kmeans.h"

typedef struct gf_lsa {
    uint32_t n, d;
    float *rows;   /* n * d, row by row: left singular vectors times singular values */
    double *sigma; /* d singular values, falling */
} gf_lsa;

/**
 * @param x           CSR [n x terms], sound; only read
 * @param dimensions  at least 1; out->d is less where x has not as many rows, terms, or singular
 *                    values above 1/1000 of the largest
 * @param cancel      may be NULL
 * @return GF_OK; GF_EINVAL (dimensions 0, no entries); GF_ENOMEM, GF_ECANCELLED. On failure *out is
 * unchanged.
 * Owner:  the caller calls gf_lsa_release(out). Cost: with l = dimensions + 10, some 10 * l
 *         multiplications an entry, and 12 * l * l a term; memory 8 x l x (n + terms) and a copy
 *         of x.
 * Source: Halko, Martinsson & Tropp, SIAM Review 53 (2011) 217-288; Yamamoto, Nakatsukasa,
 *         Yanagisawa & Fukaya, ETNA 44 (2015) 306-326.
 */
gf_status gf_lsa_reduce(gf_pool *pool, const gf_csr *x, uint32_t dimensions, uint64_t seed,
                        const gf_cancel *cancel, gf_lsa *out, gf_error *err);
void gf_lsa_release(gf_lsa *r);

/** Documents as points of latent semantic space. */
typedef enum gf_lsa_space {
    GF_LSA_ROWS, /* the reduced rows: rows times singular vectors */
    /*
     * Sums of the unit vectors of their terms: right singular vectors times singular values, each
     * term's made unit, times the row's weights. A term counts as much whether it is frequent or
     * not, which is more telling for texts of few words.
     */
    GF_LSA_TERM_SUMS
} gf_lsa_space;

/**
 * Spherical k-means over the reduced rows (dense.h): clusters for gf_kmeans_run to begin with.
 *
 * @param x          rows of unit L2 length
 * @param options    k at least 1; start is not looked at
 * @param[out] label n: 0..*k-1, or GF_NO_CLUSTER for a row that is orthogonal to all dimensions
 * @param[out] k     clusters, at most options->k; 0 where no row has a label
 * @return as gf_lsa_reduce
 */
gf_status gf_lsa_clusters(gf_pool *pool, const gf_csr *x, uint32_t dimensions, gf_lsa_space space,
                          const gf_kmeans_options *options, uint32_t *label, uint32_t *k,
                          gf_error *err);

#endif
