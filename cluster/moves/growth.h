/**
 * Growing a partition: all rows in one cluster, then two, three, four, ... Each step splits the
 * clusters whose halves gain most and lets single rows move until the whole has settled.
 *
 * Grown on a sample, the centres are seeds for k-means over all rows: at the same number of
 * clusters its objective then mostly ends higher than from k-means++ seeds, by up to 2 %, and after
 * fewer passes (docs/algorithms.md).
 *
 * Sources: Zhao & Karypis, Data Min. Knowl. Discov. 10 (2005) 141-168 (repeated bisection with
 * refinement); Steinbach, Karypis & Kumar, KDD Workshop on Text Mining 2000.
 */
#ifndef GF_CLUSTER_MOVES_GROWTH_H
#define GF_CLUSTER_MOVES_GROWTH_H

#include "cluster/passes/lloyd.h"

enum {
    GF_MANY_CLUSTERS = 500,      /* beyond, a step is settled among similar clusters alone */
    GF_VERY_MANY_CLUSTERS = 1000 /* beyond, a step doubles them, over all rows */
};

/** A partition that grows. */
typedef struct gf_growth gf_growth;

/**
 * A partition of a sample of the points, all in one cluster.
 *
 * @param sample  rows that are looked at, 1..points; all where it is larger
 * @param seed    different seeds grow differently, over other samples
 */
gf_status gf_growth_create(gf_pool *pool, const gf_points *points, uint32_t sample, uint64_t seed,
                           const gf_cancel *cancel, gf_growth **growth, gf_error *err);
void gf_growth_free(gf_growth *g);

/**
 * Grow to k clusters at most, at most doubling them, and settle. Fewer come out only where no
 * cluster can be split. After a failure the growth is only good for being freed. Cost: two
 * or three passes over the sample, and eight of two clusters.
 */
gf_status gf_growth_step(gf_growth *g, uint32_t k, gf_error *err);

/**
 * Go on with the same clusters over another sample of m rows, or over all where m is not below
 * their number: its rows join the most similar centre, and the centres become their sums. After a
 * failure the growth is only good for being freed. Cost: two passes over the new sample.
 */
gf_status gf_growth_change_sample(gf_growth *g, uint32_t m, gf_error *err);

/**
 * The partition as it is, borrowed until the next step; own is exact. Rows and terms are numbered
 * as in the sample, which has only the terms that it needs.
 */
const gf_partition *gf_growth_partition(const gf_growth *g);

/** How well its clusters are separated; see gf_separation. Cost: a pass. */
gf_status gf_growth_separation(gf_growth *g, double *separation, gf_error *err);

/** The number of clusters to grow to after k: k + 1, later a fifth more. */
uint32_t gf_growth_next(uint32_t k);

/**
 * Grow in steps to k clusters, on samples that grow with them; k-means from k-means++ seeds on the
 * same sample takes its place, at about a hundred clusters, where that has the higher objective.
 *
 * @param[out] centres  k, or fewer where there are fewer rows; the caller's to release
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED, and *centres is unchanged
 */
gf_status gf_grow_centres(gf_pool *pool, const gf_points *points, uint32_t k, uint64_t seed,
                          const gf_cancel *cancel, gf_centres *centres, gf_error *err);

/**
 * The same for many clusters, as a partition of all the points, with the labels that came of the
 * growth: the sample becomes the whole, and the clusters are refined (cluster/moves/refine.h) once
 * more.
 *
 * @param quick   a half more clusters in a step, not a fifth, and less refinement at the end
 * @param[out] p  own is exact and other an upper bound; the caller's to release
 */
gf_status gf_grow_partition(gf_pool *pool, const gf_points *points, uint32_t k, uint64_t seed,
                            bool quick, const gf_cancel *cancel, gf_partition *p, gf_error *err);

#endif
