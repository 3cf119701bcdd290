/**
 * Clustering up to GF_SMALL_POINTS points, whose products with each other are all computed.
 *
 *     gram[i][m] = x_i . x_m              S_j . x_m = sum of w_i gram[i][m] over the rows i of j
 *
 * Lengths of sums, similarities to centres and gains of moves are sums of those, so no step looks
 * at a term again: a row changes sides in 2 n additions. The steps are those of larger collections,
 * with the same random numbers: growth by splits (cluster/moves/splitter.h), polish
 * (cluster/moves/polish.h), passes (cluster/passes/lloyd.h), drawn seeds (cluster/moves/seed.h),
 * one of them at a time; but a step of several clusters cuts each at most once, where
 * cluster/moves/enlarger.h may cut halves again. All of it is in double precision, so a tie within
 * what single precision hides may end otherwise than there.
 *
 * Threads: a gf_small is only read; growths are one thread's each.
 */
#ifndef GF_CLUSTER_SMALL_SMALL_KMEANS_H
#define GF_CLUSTER_SMALL_SMALL_KMEANS_H

#include "cluster/passes/lloyd.h"

enum { GF_SMALL_POINTS = 64 };

/** The points and their products. */
typedef struct gf_small gf_small;

/** Up to GF_SMALL_POINTS points, which it borrows. Cost O(n x entries). GF_ENOMEM. */
gf_status gf_small_create(const gf_points *points, gf_small **small, gf_error *err);
void gf_small_free(gf_small *small);

/** Clusters that grow, as a gf_growth (cluster/moves/growth.h) over all the points. */
typedef struct gf_small_growth gf_small_growth;

gf_status gf_small_growth_create(const gf_small *small, uint64_t seed, gf_small_growth **growth,
                                 gf_error *err);
void gf_small_growth_free(gf_small_growth *growth);

/** Grow to k clusters, or to fewer where no more can be split; returns how many there are. */
uint32_t gf_small_growth_step(gf_small_growth *growth, uint32_t k);

/** As gf_growth_separation. */
double gf_small_growth_separation(gf_small_growth *growth);

/** How far a run goes: as those of a gf_kmeans_options, but that 0 rounds are none. */
typedef struct gf_small_limits {
    double enough; /* of passes */
    unsigned max_passes, max_rounds;
} gf_small_limits;

typedef struct gf_small_run {
    uint32_t label[GF_SMALL_POINTS]; /* n */
    double objective;
    gf_passes_made made;
    unsigned rounds;
} gf_small_run;

/**
 * One run of k-means into k clusters, 1..n: grown or, where those are better, drawn seeds, then
 * passes over all points and polish.
 */
gf_status gf_small_cluster(const gf_small *small, uint32_t k, uint64_t seed,
                           const gf_small_limits *limits, gf_small_run *out, gf_error *err);

#endif
