#include "cluster/passes/start_centres.h"

#include "base/memory.h"
#include "cluster/passes/number_clusters.h"

#include <stdlib.h>
#include <string.h>

typedef struct start {
    gf_pool *pool;
    const gf_points *points;
    const gf_fold *fold;
    uint32_t n;
    const uint32_t *before;
    uint32_t k_before, k;
    const gf_cancel *cancel;
} start;

/* The label of each point, that of the first of its rows that has one; and what each weighs. */
static void label_points(const start *s, uint32_t *label, double *weight)
{
    for (uint32_t p = 0; p < s->fold->n; p++)
        label[p] = GF_NO_START;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t point = s->fold->point_of[i];
        if (point == GF_NO_POINT || s->before[i] == GF_NO_START) continue;
        if (label[point] == GF_NO_START) label[point] = s->before[i];
    }
    for (uint32_t p = 0; p < s->fold->n; p++)
        if (label[p] != GF_NO_START) weight[label[p]] += (double)gf_points_weight(s->points, p);
}

/* Labels become ranks by falling weight; those from k on, and none, become k. */
static void rank_labels(const start *s, uint32_t *label, double *weight, uint32_t *order,
                        uint32_t *rank)
{
    for (uint32_t c = 0; c < s->k_before; c++)
        order[c] = c;
    qsort_r(order, s->k_before, sizeof *order, gf_number_clusters_by_falling_weight, weight);
    for (uint32_t r = 0; r < s->k_before; r++)
        rank[order[r]] = r < s->k ? r : s->k;
    for (uint32_t p = 0; p < s->fold->n; p++)
        label[p] = label[p] == GF_NO_START ? s->k : rank[label[p]];
}

/* Sum the points of each label; those that have none are summed too, and left out. */
static gf_status sum_labels(const start *s, const uint32_t *label, gf_centres *centres,
                            gf_error *err)
{
    gf_centre_summer *summer = NULL;
    gf_centres c = {0};
    uint32_t n_terms = s->points->x->n_cols;
    gf_status st = gf_centre_summer_create(s->pool, s->fold->n, n_terms, s->k + 1, &summer, err);
    if (st == GF_OK) st = gf_centres_init(&c, s->k + 1, n_terms, err);
    if (st == GF_OK)
        st = gf_centre_summer_run(summer, s->points, label, NULL, &c, NULL, s->cancel, err);
    gf_centre_summer_free(summer);
    if (st != GF_OK) {
        gf_centres_release(&c);
        return st;
    }
    gf_free(c.at[s->k].term);
    gf_free(c.at[s->k].value);
    c.k = s->k;
    *centres = c;
    return GF_OK;
}

gf_status gf_start_centres(gf_pool *pool, const gf_points *points, const gf_fold *fold, uint32_t n,
                           const uint32_t *before, uint32_t k_before, uint32_t k,
                           const gf_cancel *cancel, uint32_t *of_point, gf_centres *centres,
                           gf_error *err)
{
    const start s = {pool, points, fold, n, before, k_before, k, cancel};
    uint32_t *label = gf_array(fold->n, sizeof *label);
    double *weight = gf_calloc(k_before, sizeof *weight);
    uint32_t *order = gf_array(k_before, sizeof *order), *rank = gf_array(k_before, sizeof *rank);
    gf_status st = label && weight && order && rank ? GF_OK : gf_fail_memory(err, "a start");
    if (st == GF_OK) {
        label_points(&s, label, weight);
        rank_labels(&s, label, weight, order, rank);
        st = sum_labels(&s, label, centres, err);
    }
    if (st == GF_OK && of_point) memcpy(of_point, label, fold->n * sizeof *label);
    gf_free(label);
    gf_free(weight);
    gf_free(order);
    gf_free(rank);
    return st;
}
