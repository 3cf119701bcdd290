/*
 * Dense clusters go on here: centres of the clusters that rows had before, as sums of those rows
 * as they are now.
 */
#include "cluster/dense/internal.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct sized {
    uint32_t cluster, size;
} sized;

static int by_falling_size(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

/* place[c]: the centre that cluster c becomes, or k. */
static gf_status choose_clusters(const uint32_t *label, uint32_t n, uint32_t k_before, uint32_t k,
                                 uint32_t *place, uint32_t *found, gf_error *err)
{
    sized *all = gf_array(k_before, sizeof *all);
    if (!all) return gf_fail_memory(err, "the clusters before");
    for (uint32_t c = 0; c < k_before; c++) {
        all[c] = (sized){c, 0};
        place[c] = k;
    }
    for (uint32_t i = 0; i < n; i++)
        if (label[i] < k_before) all[label[i]].size++;
    qsort(all, k_before, sizeof *all, by_falling_size);
    for (*found = 0; *found < k && *found < k_before && all[*found].size; ++*found)
        place[all[*found].cluster] = *found;
    gf_free(all);
    return GF_OK;
}

/* Unit sums of the rows in the order of the rows; those that cancel out become one of theirs. */
static gf_status sum_centres(const gf_dense_rows *rows, gf_dense_partition *p,
                             const uint32_t *label, const uint32_t *place, uint32_t k_before,
                             uint32_t found, gf_error *err)
{
    uint32_t d = rows->d;
    double *sum = gf_calloc((size_t)found * d, sizeof *sum);
    uint32_t *any = gf_array(found, sizeof *any);
    if (!sum || !any) {
        gf_free(sum);
        gf_free(any);
        return gf_fail_memory(err, "the clusters before");
    }
    for (uint32_t i = 0; i < rows->n; i++) {
        uint32_t c = label[i] < k_before ? place[label[i]] : found;
        if (c >= found) continue;
        const float *x = gf_dense_row(rows, i);
        any[c] = i;
        for (uint32_t t = 0; t < d; t++)
            sum[(size_t)c * d + t] += (double)x[t];
    }
    for (uint32_t c = 0; c < found; c++) {
        const double *s = sum + (size_t)c * d;
        float *centre = p->centre + (size_t)c * d;
        double squares = 0;
        for (uint32_t t = 0; t < d; t++)
            squares += s[t] * s[t];
        memcpy(centre, gf_dense_row(rows, any[c]), d * sizeof *centre);
        for (uint32_t t = 0; t < d && squares > 1e-18; t++)
            centre[t] = (float)(s[t] / sqrt(squares));
    }
    gf_free(sum);
    gf_free(any);
    return GF_OK;
}

static int by_fit(const void *a, const void *b, void *context)
{
    const float *own = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (own[x] != own[y]) return own[x] < own[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Clusters that lack begin with the rows that fit theirs worst. */
static gf_status add_worst(gf_dense_work *w, gf_dense_partition *p, uint32_t k, gf_error *err)
{
    uint32_t n = w->rows.n, d = w->rows.d;
    uint64_t moved;
    gf_status st = gf_dense_assign(w, p, &moved, err);
    if (st != GF_OK) return st;
    uint32_t *order = gf_array(n, sizeof *order);
    if (!order) return gf_fail_memory(err, "rows");
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, by_fit, p->own);
    for (uint32_t i = 0; i < n && p->k < k; i++)
        memcpy(p->centre + (size_t)p->k++ * d, gf_dense_row(&w->rows, order[i]),
               d * sizeof *p->centre);
    gf_free(order);
    return GF_OK;
}

gf_status gf_dense_start(gf_dense_work *w, gf_dense_partition *p, const uint32_t *label,
                         uint32_t k_before, uint32_t k, gf_error *err)
{
    uint32_t *place = gf_array(k_before, sizeof *place), found = 0;
    if (!place) return gf_fail_memory(err, "the clusters before");
    gf_status st = choose_clusters(label, w->rows.n, k_before, k, place, &found, err);
    if (st == GF_OK && found) st = sum_centres(&w->rows, p, label, place, k_before, found, err);
    if (st == GF_OK) p->k = found;
    if (st == GF_OK && found && found < k) st = add_worst(w, p, k, err);
    gf_free(place);
    return st;
}
