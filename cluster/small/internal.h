/**
 * The inside of small_kmeans.h: a partition, whose rows small_kmeans.c moves and of which
 * small_grow.c makes more clusters.
 */
#ifndef GF_CLUSTER_SMALL_INTERNAL_H
#define GF_CLUSTER_SMALL_INTERNAL_H

#include "cluster/moves/constants.h"
#include "cluster/small/small_kmeans.h"

#include <assert.h>
#include <math.h>

struct gf_small {
    const gf_points *points;
    uint32_t n;
    double weight[GF_SMALL_POINTS];                 /* n */
    double gram[GF_SMALL_POINTS * GF_SMALL_POINTS]; /* n x n */
};

/* A partition; cluster j's sum is known by its products with all points. */
typedef struct gf_small_clusters {
    const gf_small *small;
    uint32_t k;
    uint32_t label[GF_SMALL_POINTS], size[GF_SMALL_POINTS];
    float own[GF_SMALL_POINTS];   /* n: similarity to the own centre */
    float other[GF_SMALL_POINTS]; /* n: to the next */
    uint64_t stale; /* bit j: cluster j's rows or sum are not those of the last update */
    double squares[GF_SMALL_POINTS];               /* k: |S|^2 */
    double dot[GF_SMALL_POINTS * GF_SMALL_POINTS]; /* k x n: S . x */
} gf_small_clusters;

static_assert(GF_SMALL_POINTS <= 64, "a bit for each cluster");

/** |S + w x| - |S|, of |S|^2 and |S| */
static inline double gf_small_gain(double squares, double length, double dot, double weight)
{
    double with = squares + 2 * weight * dot + weight * weight;
    return sqrt(with > 0 ? with : 0) - length;
}

/** Row i goes to cluster j with the next update. */
static inline void gf_small_put(gf_small_clusters *c, uint32_t i, uint32_t j)
{
    c->stale |= UINT64_C(1) << j | UINT64_C(1) << c->label[i];
    c->label[i] = j;
}

/**
 * Sum the stale clusters from nothing; one that is empty gets the worst fitting row of another. The
 * others' sums are what summing them again would give, to the last bit.
 */
void gf_small_update(gf_small_clusters *c);

/** Sum of the lengths. */
double gf_small_objective(const gf_small_clusters *c);

/** Each row to the most similar centre; returns how many changed. The sums stay. */
uint32_t gf_small_assign(gf_small_clusters *c);

/** Assign and sum until no more than that share of the rows changes. */
gf_passes_made gf_small_pass(gf_small_clusters *c, double enough, unsigned most);

/** Rounds of single moves, until one gains little by that tolerance; 0: until no row gains. */
unsigned gf_small_polish(gf_small_clusters *c, double tolerance, unsigned most);

#endif
