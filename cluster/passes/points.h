/**
 * Points to cluster: rows of unit length, each standing for one or several equal documents, and
 * parts of them.
 *
 * No row is empty: a document without any term resembles nothing, so whoever makes the points
 * leaves it out (gf_fold_rows does).
 */
#ifndef GF_CLUSTER_PASSES_POINTS_H
#define GF_CLUSTER_PASSES_POINTS_H

#include "base/pool.h"
#include "base/random.h"
#include "grouperfish/csr.h"

#include <stdbool.h>

typedef struct gf_points {
    const gf_csr *x;     /* [n x terms], rows of unit L2 length, multiples of 2^-24 */
    const float *weight; /* n: how many documents the row stands for, above 0; NULL: one each */
} gf_points;

static inline uint32_t gf_points_n(const gf_points *p)
{
    return p->x->n_rows;
}

static inline float gf_points_weight(const gf_points *p, uint32_t i)
{
    return p->weight ? p->weight[i] : 1.0f;
}

/**
 * GF_EINVAL where x is not a sound matrix (gf_csr_check), or where a row that has entries is not of
 * unit length (by more than 0.001) or has values that are no multiples of 2^-24 (base/grid.h).
 */
gf_status gf_points_check(gf_pool *pool, const gf_csr *x, gf_error *err);

/**
 * m distinct numbers below n, rising, each set equally likely; m <= n (Knuth, TAOCP 2, 3.4.2,
 * algorithm S). Cost O(n).
 */
void gf_points_sample(uint32_t n, uint32_t m, gf_random *random, uint32_t *rows);

/**
 * The rows of that list as a matrix of their own, and their weights (NULL where points have none).
 * On failure *x and *weight are unchanged.
 */
gf_status gf_points_gather(gf_pool *pool, const gf_points *points, const uint32_t *rows, uint32_t m,
                           gf_csr *x, float **weight, gf_error *err);

/**
 * Renumber the columns of x so that each has an entry: what is done for every term then costs a
 * small sample no more than it has terms. The order of the terms stays, and so do all sums.
 *
 * @param[out] term  x->n_cols, rising: the column that each was; free it with gf_free
 * @return GF_OK; GF_ENOMEM, and x is unchanged. Cost O(entries + columns).
 */
gf_status gf_points_pack_columns(gf_csr *x, uint32_t **term, gf_error *err);

/**
 * The rows of x with the columns that only one row has joined: what a row has of them becomes one
 * entry, the length of those entries, in a column of its own behind all others. No sum's length and
 * no product of a row with a sum of rows changes by it, but for rounding; so a clustering finds the
 * same in fewer entries. Columns without entries go.
 *
 * @return GF_OK; GF_ENOMEM, and *out is unchanged. Cost O(entries + columns).
 */
gf_status gf_points_join_lone_columns(const gf_csr *x, gf_csr *out, gf_error *err);

#endif
