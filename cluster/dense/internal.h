/**
 * Rows, partitions and scratch memory of dense k-means, for its own files.
 */
#ifndef GF_CLUSTER_DENSE_INTERNAL_H
#define GF_CLUSTER_DENSE_INTERNAL_H

#include "base/pool.h"
#include "base/random.h"
#include "grouperfish/cancel.h"

#include <stdbool.h>

/** scores[n x k] = x[n x d] times the transpose of y[k x d], all row by row; by any thread. */
typedef void gf_dense_products(const float *x, uint32_t n, const float *y, uint32_t k, uint32_t d,
                               float *scores);

/** Rows of unit length, and how they are multiplied with centres; borrowed. */
typedef struct gf_dense_rows {
    const float *x; /* n * d */
    uint32_t n, d;
    gf_dense_products *products;
} gf_dense_rows;

static inline const float *gf_dense_row(const gf_dense_rows *r, uint32_t i)
{
    return r->x + (size_t)i * r->d;
}

/** A partition of the rows. */
typedef struct gf_dense_partition {
    uint32_t k;
    float *centre;       /* k * d, unit length */
    double *length;      /* k: of the sum of the members */
    uint32_t *label;     /* n */
    uint32_t *runner_up; /* n: of the last assignment; equal to label where k is 1 */
    float *own, *other;  /* n: similarity to the two */
} gf_dense_partition;

gf_status gf_dense_partition_init(gf_dense_partition *p, const gf_dense_rows *rows, uint32_t k,
                                  gf_error *err);
void gf_dense_partition_release(gf_dense_partition *p);

/** Sum of the lengths: the objective. */
double gf_dense_objective(const gf_dense_partition *p);

/** Rows, threads and scratch memory of all passes; borrowed but for the scratch memory. */
typedef struct gf_dense_work {
    gf_pool *pool;
    const gf_cancel *cancel;
    gf_dense_rows rows;
    uint32_t k, block; /* rows of a block */
    float *scores;     /* per worker: block * k */
    double *sums;      /* per worker: d */
    uint32_t *start;   /* k + 1 */
    uint32_t *members; /* n */
    uint32_t *moved;   /* blocks: rows whose label changed */
} gf_dense_work;

gf_status gf_dense_work_init(gf_dense_work *w, gf_pool *pool, const gf_dense_rows *rows, uint32_t k,
                             const gf_cancel *cancel, gf_error *err);
void gf_dense_work_release(gf_dense_work *w);

/** Rows [first, first + n) against k centres: scores[n * k]. */
void gf_dense_score(const gf_dense_rows *rows, uint32_t first, uint32_t n, const float *centre,
                    uint32_t k, float *scores);

/** Labels become the most similar centres (of equal ones the first); *moved counts the changes. */
gf_status gf_dense_assign(gf_dense_work *w, gf_dense_partition *p, uint64_t *moved, gf_error *err);

/** Centres become the unit sums of their members, first giving a row to each that has none. */
gf_status gf_dense_update(gf_dense_work *w, gf_dense_partition *p, gf_error *err);

/** Assign and update until at most tolerance * n labels change, or max_passes. */
gf_status gf_dense_passes(gf_dense_work *w, gf_dense_partition *p, double tolerance,
                          unsigned max_passes, unsigned *passes, bool *converged, gf_error *err);

/** Moves of single rows that raise the objective, until few are left; labels and centres. */
gf_status gf_dense_polish(gf_dense_work *w, gf_dense_partition *p, double tolerance,
                          unsigned max_rounds, unsigned *rounds, gf_error *err);

/**
 * Begin from the clusters that rows had, as gf_kmeans_options.start says: the heaviest at most k of
 * them become centres, and of k that lack the rows that fit worst. p->k is 0 where no row had one.
 */
gf_status gf_dense_start(gf_dense_work *w, gf_dense_partition *p, const uint32_t *label,
                         uint32_t k_before, uint32_t k, gf_error *err);

/**
 * Seeds into centre[k * d]: spherical k-means++ with the best of 2 + ln k candidates, on a sample.
 * *found is below k where fewer rows differ from each other.
 */
gf_status gf_dense_seed(gf_pool *pool, const gf_dense_rows *rows, uint32_t k, gf_random *random,
                        const gf_cancel *cancel, float *centre, uint32_t *found, gf_error *err);

#endif
