#include "cluster/passes/number_clusters.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

bool gf_number_clusters_drop_empty(gf_partition *p, const double *weight, uint32_t *number)
{
    uint32_t k = 0;
    for (uint32_t c = 0; c < p->k; c++) {
        gf_centre held = p->centres.at[k];
        number[c] = k;
        if (weight[c] <= 0) continue;
        p->centres.at[k++] = p->centres.at[c];
        if (k - 1 != c) p->centres.at[c] = held;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        assert(p->label[i] < p->k && weight[p->label[i]] > 0);
        p->label[i] = number[p->label[i]];
    }
    for (uint32_t c = k; c < p->k; c++) {
        gf_free(p->centres.at[c].term);
        gf_free(p->centres.at[c].value);
    }
    bool dropped = k < p->k;
    p->k = p->centres.k = k;
    return dropped;
}

int gf_number_clusters_by_falling_weight(const void *a, const void *b, void *context)
{
    const double *weight = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (weight[x] > weight[y]) return -1;
    if (weight[x] < weight[y]) return 1;
    return x < y ? -1 : x > y;
}

gf_status gf_number_clusters_order(gf_partition *p, double *weight, uint32_t *number,
                                   gf_centres *centres, gf_error *err)
{
    uint32_t *order = gf_array(p->k, sizeof *order);
    gf_status st = order ? gf_centres_init(centres, p->k, p->centres.n_terms, err)
                         : gf_fail_memory(err, "clusters");
    for (uint32_t c = 0; st == GF_OK && c < p->k; c++)
        order[c] = c;
    if (st == GF_OK) {
        qsort_r(order, p->k, sizeof *order, gf_number_clusters_by_falling_weight, weight);
        for (uint32_t c = 0; c < p->k; c++) {
            number[order[c]] = c;
            centres->at[c] = p->centres.at[order[c]];
            p->centres.at[order[c]] = (gf_centre){0};
        }
    }
    gf_free(order);
    return st;
}
