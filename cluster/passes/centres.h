/**
 * The centres of a partition: for each cluster the sum of its rows, as a length and a sparse unit
 * vector. Never dense: 10,000 clusters over 200,000 terms would take 8 GB.
 */
#ifndef GF_CLUSTER_PASSES_CENTRES_H
#define GF_CLUSTER_PASSES_CENTRES_H

#include "base/pool.h"
#include "cluster/passes/points.h"
#include "grouperfish/cancel.h"

typedef struct gf_centre {
    uint32_t *term; /* n of capacity, strictly rising */
    float *value;   /* n: unit L2 length */
    uint32_t n, capacity;
    double length; /* of the sum of the members; their part of the objective */
    double weight; /* of the members */
    double drift;  /* distance that the last update moved the unit vector, rounded up */
} gf_centre;

typedef struct gf_centres {
    uint32_t k, n_terms;
    gf_centre *at; /* k */
} gf_centres;

gf_status gf_centres_init(gf_centres *c, uint32_t k, uint32_t n_terms, gf_error *err);
void gf_centres_release(gf_centres *c);

/** Make centre j the unit vector of a row. */
gf_status gf_centres_set_row(gf_centres *c, uint32_t j, gf_row_view row, gf_error *err);

/** Make the centre, which has no memory yet, the unit vector of a dense sum, which is zeros afterwards. */
gf_status gf_centre_take_sum(double *sum, uint32_t n_terms, gf_centre *c, gf_error *err);

/** A deep copy. */
gf_status gf_centres_copy(const gf_centres *from, gf_centres *to, gf_error *err);

/** Unpack centres over packed columns (gf_points_pack_columns) to centres over all n_terms. */
void gf_centres_unpack(gf_centres *c, const uint32_t *term, uint32_t n_terms);

static inline gf_row_view gf_centre_row(const gf_centre *c)
{
    return (gf_row_view){c->term, c->value, c->n};
}

/** Sum of the lengths: the objective of spherical k-means over the members. */
double gf_centres_objective(const gf_centres *c);

/**
 * Rows by cluster: those of cluster j become rows[start[j]] .. rows[start[j + 1] - 1], rising.
 *
 * @param label  n clusters, 0..k-1
 * @param start  k + 1
 * @param rows   n
 */
void gf_centres_sort_rows(const uint32_t *label, uint32_t n, uint32_t k, uint32_t *start,
                          uint32_t *rows);

/**
 * Sums rows into centres again: one task a cluster, and of clusters that are more than a thread's
 * share one for each piece of their rows. Sums are exact (base/grid.h), so neither the order of the
 * rows nor the pieces nor the number of threads change a bit.
 *
 * Memory: 12 bytes x terms per thread, 8 x rows; 12 x terms of the pieces' sums while they are
 * summed; to keep sums see gf_kept_sums_create.
 */
typedef struct gf_centre_summer gf_centre_summer;

gf_status gf_centre_summer_create(gf_pool *pool, uint32_t n_rows, uint32_t n_terms, uint32_t k,
                                  gf_centre_summer **summer, gf_error *err);
void gf_centre_summer_free(gf_centre_summer *summer);

/**
 * From the next run on keep sums, and update clusters that few rows left or joined by difference:
 * see cluster/passes/kept_sums.h. All runs must then be over the same points.
 */
gf_status gf_centre_summer_keep(gf_centre_summer *summer, gf_error *err);

/**
 * Sum the clusters that `changed` marks and leave the others; sets their drift (0 for the others).
 *
 * @param label    cluster of each row, 0..k-1
 * @param changed  k flags; NULL for all
 * @param own      not NULL: own[i] becomes the similarity of each row of a summed cluster to its
 *                 centre, as gf_centre_index_similarity gives it
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED; some of the centres are then new and others are not
 * Cost: O(rows + entries of the rows in changed clusters + changed clusters * terms / 64).
 */
gf_status gf_centre_summer_run(gf_centre_summer *s, const gf_points *points, const uint32_t *label,
                               const bool *changed, gf_centres *centres, float *own,
                               const gf_cancel *cancel, gf_error *err);

/** The first half of a run: rows by cluster. */
gf_status gf_centre_summer_sort(gf_centre_summer *s, const uint32_t *label, gf_error *err);

/** Rows of cluster j, after it. */
uint32_t gf_centre_summer_size(const gf_centre_summer *s, uint32_t j);

/** The second half: the labels are those that were sorted. */
gf_status gf_centre_summer_sum(gf_centre_summer *s, const gf_points *points, const uint32_t *label,
                               const bool *changed, gf_centres *centres, float *own,
                               const gf_cancel *cancel, gf_error *err);

#endif
