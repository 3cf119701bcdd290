/**
 * Sums of clusters as the last update made them, so that the next one takes away the rows that left
 * and adds those that came, in place of summing all rows anew.
 *
 *     S' = S - sum of w x over the rows that left + sum of w x over those that came
 *
 * A cluster's sum is kept where its rows have several times as many entries as the sum has terms:
 * else taking it up again costs what it saves. Values are on a grid (base/grid.h), so a sum is exact
 * whichever way it came about: by difference or of all rows, in whatever order.
 *
 * Invariant: a kept sum is that of the rows with its label in `before`. Threads: compare by one, which
 * uses the pool; the others by one for each cluster at a time.
 *
 * Source: Knittel, Koch & Ertl, arXiv 2108.00895 (differential update of the means).
 */
#ifndef GF_CLUSTER_PASSES_KEPT_SUMS_H
#define GF_CLUSTER_PASSES_KEPT_SUMS_H

#include "base/pool.h"
#include "cluster/passes/points.h"

enum {
    GF_KEPT_ENTRIES = 4 /* entries of its rows for each term of a sum that is kept, at least */
};

/** A sum under way: one thread's scratch. */
typedef struct gf_term_sums {
    double *sum;       /* n_terms: the cluster's sum; zero between clusters */
    uint64_t *touched; /* n_terms / 64 + 1: a bit for each term of the sum; likewise */
    uint32_t *term;    /* n of n_terms: the terms of the sum, rising */
    uint32_t n;
} gf_term_sums;

/** Add a row; a negative weight takes it away. */
static inline void gf_term_sums_add(const gf_term_sums *to, gf_row_view row, float weight)
{
    for (uint32_t p = 0; p < row.n; p++) {
        uint32_t t = row.col[p];
        to->sum[t] += (double)weight * (double)row.val[p];
        to->touched[t / 64] |= UINT64_C(1) << (t % 64);
    }
}

typedef struct gf_kept_sums gf_kept_sums;

/** Memory: 7 bytes x rows, and 12 x terms of the sums that are kept. */
gf_status gf_kept_sums_create(gf_pool *pool, uint32_t n_rows, uint32_t k, gf_kept_sums **kept,
                              gf_error *err);
void gf_kept_sums_free(gf_kept_sums *kept);

/**
 * Find the rows that changed their cluster since the last call. Sums that lost or gained rows and
 * are not about to be summed are forgotten.
 *
 * @param label    cluster of each row, 0..k-1
 * @param changed  k flags: the clusters that are summed next; NULL for all
 * @return GF_OK; GF_ENOMEM. Cost: O(rows) on all threads, O(rows that moved + k) on one.
 */
gf_status gf_kept_sums_compare(gf_kept_sums *kept, const gf_points *points, const uint32_t *label,
                               const bool *changed, gf_error *err);

/** Whether cluster j can be summed by difference: gf_kept_sums_update then returns true. */
bool gf_kept_sums_can_update(const gf_kept_sums *kept, uint32_t j);

/**
 * Sum cluster j by difference.
 *
 * @param[out] weight  of its members
 * @return false: it has to be summed by all its rows, and nothing was done
 */
bool gf_kept_sums_update(gf_kept_sums *kept, uint32_t j, const gf_points *points,
                         const gf_term_sums *to, double *weight);

/**
 * Keep cluster j's sum, with its terms listed, where that will pay.
 *
 * @param weight   of its rows
 * @param entries  of its rows
 * @return GF_OK; GF_ENOMEM, and it is not kept
 */
gf_status gf_kept_sums_keep(gf_kept_sums *kept, uint32_t j, const gf_term_sums *from, double weight,
                            uint64_t entries, gf_error *err);

#endif
