/**
 * Rows to cluster for the tests of cluster/: written by hand, random, or with planted groups. The
 * matrices are the caller's to release; without memory the test fails.
 */
#ifndef GF_TESTS_CLUSTER_ROWS_H
#define GF_TESTS_CLUSTER_ROWS_H

#include "base/pool.h"
#include "base/random.h"
#include "cluster/passes/lloyd.h"
#include "grouperfish/csr.h"

/** n x n_cols numbers, row by row; zeros are left out, and rows are scaled to unit length. */
gf_csr rows_by_hand(const float *values, uint32_t n, uint32_t n_cols);

/** Rows of 1 to `most` distinct columns, low ones more often, as terms of texts are. */
gf_csr rows_random(uint32_t n, uint32_t n_cols, uint32_t most, gf_random *random);

/**
 * Rows of `groups` groups, group[i] of row i at random: eight columns of 16 of the group's own, and
 * `noise` of 40 that all groups share; weighed by rarity, as terms are.
 */
gf_csr rows_planted(uint32_t n, uint32_t groups, uint32_t noise, gf_random *random,
                    uint32_t *group);

/** x with row from[i] as row i. */
gf_csr rows_pick(const gf_csr *x, const uint32_t *from, uint32_t n);

/** x with rows added behind that have no entries. */
gf_csr rows_with_empty(const gf_csr *x, uint32_t empty);

/** Centres that are k random rows of x. */
gf_centres rows_as_centres(const gf_csr *x, uint32_t k, gf_random *random);

/** k centres, each the unit sum of the rows of a random set; none is without terms. */
gf_centres rows_random_centres(const gf_csr *x, uint32_t k, gf_random *random);

/** How far a similarity in single precision may be from the true one: cluster/passes/centre_index.h. */
double rows_bound(gf_row_view row, gf_row_view centre);

/**
 * The sums of the clusters worked out from nothing, dense and in double: sum[k * n_cols], which the
 * caller frees with gf_free. weight may be NULL.
 */
double *rows_dense_sums(const gf_csr *x, const float *weight, const uint32_t *label, uint32_t k);

/** Length of n numbers. */
double rows_length(const double *v, uint32_t n);

/** Sum of the lengths of the clusters' sums: the objective, from nothing. */
double rows_objective(const gf_csr *x, const float *weight, const uint32_t *label, uint32_t k);

/**
 * own is each row's similarity to its centre, and other a bound of those to all other centres, as
 * they were before their last drift, or (folded) as they are.
 */
void rows_check_bounds(const gf_csr *x, const gf_partition *p, bool folded);

/** The centres are equal bit for bit. */
void rows_assert_same_centres(const gf_centres *a, const gf_centres *b);

/** A pool of n threads. */
gf_pool *rows_pool(unsigned n);

#endif
