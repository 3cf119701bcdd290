#include "cluster/passes/nearest_centres.h"

#include "base/memory.h"

enum { ALIGNMENT = 64 };

static size_t floats_of_worker(const gf_nearest_centres *l)
{
    return 2 * (size_t)l->index.stride;
}

gf_status gf_nearest_centres_make_room(gf_nearest_centres *l, unsigned n, gf_error *err)
{
    void *block = gf_array(floats_of_worker(l) * n + ALIGNMENT / sizeof(float), sizeof(float));
    if (!block) return gf_fail_memory(err, "scores");
    gf_free(l->block);
    l->block = block;
    uintptr_t at = (uintptr_t)block;
    l->scores = (float *)((at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return GF_OK;
}

/* Equal keys leave the columns in the order of the clusters. */
static gf_status index_centres(gf_centre_index *index, const gf_centres *centres, gf_error *err)
{
    float *key = gf_calloc(centres->k, sizeof *key);
    if (!key) return gf_fail_memory(err, "the index of cluster centres");
    gf_status st = gf_centre_index_build(index, centres, key, NULL, err);
    if (st == GF_OK && centres->k >= GF_CEILINGS)
        st = gf_centre_index_set_ceilings(index, NULL, err);
    gf_free(key);
    return st;
}

gf_status gf_nearest_centres_init(gf_nearest_centres *l, const gf_centres *centres, gf_error *err)
{
    *l = (gf_nearest_centres){.kernels = gf_scoring_kernels_choose()};
    gf_status st = gf_centre_index_init(&l->index, centres->k, centres->n_terms, err);
    if (st == GF_OK) st = index_centres(&l->index, centres, err);
    if (st == GF_OK) st = gf_nearest_centres_make_room(l, 1, err);
    if (st != GF_OK) gf_nearest_centres_release(l);
    return st;
}

void gf_nearest_centres_release(gf_nearest_centres *l)
{
    gf_centre_index_release(&l->index);
    gf_free(l->block);
    *l = (gf_nearest_centres){0};
}

gf_nearest_two gf_nearest_centres_find(const gf_nearest_centres *l, unsigned worker,
                                       gf_row_view row)
{
    float *scores = l->scores + worker * floats_of_worker(l);
    return gf_centre_index_nearest(&l->index, l->kernels, row, 0, scores);
}
