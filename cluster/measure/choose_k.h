/**
 * The number of clusters, where the caller leaves it open.
 *
 * Several partitions grow side by side on samples of their own. At each number of clusters the
 * mean of their separations (cluster/measure/separation.h) counts. k_curve.h says which number is
 * taken.
 */
#ifndef GF_CLUSTER_MEASURE_CHOOSE_K_H
#define GF_CLUSTER_MEASURE_CHOOSE_K_H

#include "base/pool.h"
#include "cluster/measure/k_curve.h"
#include "cluster/passes/points.h"
#include "grouperfish/cancel.h"

typedef struct gf_choice {
    uint32_t k;            /* 1..max_k */
    gf_choice_step *steps; /* n_steps, by rising k: the curve; free it with gf_free */
    uint32_t n_steps;
    gf_k_reason reason;
} gf_choice;

/**
 * @param reach  the curve is walked at least to so many clusters, where there can be so many: behind
 *               its end the steps change no choice, but tell what they are worth. 0: no further
 * @return GF_OK; GF_EINVAL (no rows, or max_k 0); GF_ENOMEM, GF_ECANCELLED; then *out is unchanged
 * Cost: 4 x a dozen passes over a sample of some 3,000 rows for each step; k grows by one, from
 * 8 on by a fourth a step, to 30 and on while the worth has fallen little. Threads: one partition each.
 */
gf_status gf_choose_k(gf_pool *pool, const gf_points *points, uint32_t max_k, uint32_t reach,
                      uint64_t seed, const gf_cancel *cancel, gf_choice *out, gf_error *err);

/** True if a choice gives no reason to change from k clusters: see gf_k_curve_keeps. */
bool gf_choice_keeps(const gf_choice *choice, uint32_t k);

#endif
