/**
 * The number of clusters, where the caller leaves it open.
 *
 * Several partitions grow side by side on samples of their own; at each number of clusters their
 * separations (cluster/separation.h) are averaged. Of texts the curve is flat around its maximum:
 * then the smallest number that reaches 98 % of it is chosen, or 96 % at a peak of its own, since
 * fewer clusters are easier to read. Where the curve falls steeply behind its maximum, to less than
 * 93 % within two steps, the maximum itself is chosen.
 */
#ifndef GF_CLUSTER_CHOOSE_H
#define GF_CLUSTER_CHOOSE_H

#include "base/cancel.h"
#include "base/pool.h"
#include "cluster/points.h"

typedef struct gf_choice_step {
    uint32_t k;
    double separation; /* -1..1, average */
} gf_choice_step;

typedef struct gf_choice {
    uint32_t k;            /* 1..max_k */
    gf_choice_step *steps; /* n_steps, by rising k: the curve; free it with gf_free */
    uint32_t n_steps;
} gf_choice;

/**
 * @return GF_OK; GF_EINVAL (no rows, or max_k 0); GF_ENOMEM, GF_ECANCELLED; then *out is unchanged
 * Cost: 4 x a dozen passes over a sample of some 3,000 rows for each step; k grows by a fifth a
 * step, to 40 and on while the separation does not fall. Threads: one partition each.
 */
gf_status gf_choose_k(gf_pool *pool, const gf_points *points, uint32_t max_k, uint64_t seed,
                      const gf_cancel *cancel, gf_choice *out, gf_error *err);

#endif
