/**
 * The number of clusters, where the caller leaves it open.
 *
 * Several partitions grow side by side on samples of their own. At each number of clusters their
 * separations (cluster/separation.h) count by what they agree on, the mean less the standard
 * deviation; this, weighed a little against many clusters, is the worth of the number:
 *
 *     worth(k) = (mean - deviation) * k^-0.02
 *
 *     worth      __ 98 %                   The curve is walked from k = 1 on to its peak. Where it
 *          __.-''  ''-.__       _.-._      has fallen into a valley, below 95 % of the peak, a
 *       .-'              '-.__.-'          later rise is the new peak only if it is higher by more
 *      /    |--------|   valley            than the valley is deep.
 *
 * A peak at k = 2 gives way to whatever reaches 95 % of it behind the valley, as no smaller number
 * can be compared.
 *
 * Of texts the curve is flat around its peak: chosen is the middle, by the logarithm of k, of the
 * numbers around the peak that reach 98 % of it. A step of plain structure has such a plateau for
 * itself.
 *
 * Source for less one deviation: Tibshirani, Walther & Hastie, J. R. Stat. Soc. B 63 (2001)
 * 411-423.
 */
#ifndef GF_CLUSTER_CHOOSE_H
#define GF_CLUSTER_CHOOSE_H

#include "base/cancel.h"
#include "base/pool.h"
#include "cluster/points.h"

typedef struct gf_choice_step {
    uint32_t k;
    double separation; /* -1..1, mean less standard deviation */
} gf_choice_step;

typedef struct gf_choice {
    uint32_t k;            /* 1..max_k */
    gf_choice_step *steps; /* n_steps, by rising k: the curve; free it with gf_free */
    uint32_t n_steps;
} gf_choice;

/**
 * @return GF_OK; GF_EINVAL (no rows, or max_k 0); GF_ENOMEM, GF_ECANCELLED; then *out is unchanged
 * Cost: 4 x a dozen passes over a sample of some 3,000 rows for each step; k grows by one, from
 * 8 on by a fourth a step, to 30 and on while the worth does not fall. Threads: one partition each.
 */
gf_status gf_choose_k(gf_pool *pool, const gf_points *points, uint32_t max_k, uint64_t seed,
                      const gf_cancel *cancel, gf_choice *out, gf_error *err);

#endif
