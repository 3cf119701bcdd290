#include "cluster/passes/nearest_centres.h"

#include "base/memory.h"

#include <assert.h>

enum {
    ALIGNMENT = 64,
    MOST_SCORES = 1 << 18 /* of rows side by side: a megabyte, but for very many centres */
};

/* Scores; of a tree as many floats and as many numbers as a row may have terms. */
static size_t floats_of_worker(const gf_nearest_centres *l)
{
    size_t floats = 2 * (size_t)l->index.stride;
    if (!l->branches.n) return l->beside > 2 ? l->beside * (size_t)l->index.stride : floats;
    floats = gf_branches_stride(&l->branches) + 2 * (size_t)l->n_terms;
    return (floats + GF_COLUMN_BLOCK - 1) / GF_COLUMN_BLOCK * GF_COLUMN_BLOCK;
}

gf_status gf_nearest_centres_make_room(gf_nearest_centres *l, unsigned n, gf_error *err)
{
    size_t stride = floats_of_worker(l);
    void *block = gf_array(stride * n + ALIGNMENT / sizeof(float), sizeof(float));
    if (!block) return gf_fail_memory(err, "scores");
    gf_free(l->block);
    l->block = block;
    l->stride = stride;
    uintptr_t at = (uintptr_t)block;
    l->scores = (float *)((at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return GF_OK;
}

/* As many as have room; none where a row may be without a term. */
static uint32_t rows_beside(const gf_centre_index *index)
{
    uint32_t n = MOST_SCORES / index->stride / GF_ROWS_BESIDE * GF_ROWS_BESIDE;
    if (!gf_centre_index_is_full(index)) return 0;
    return n > GF_NEAREST_ROWS ? GF_NEAREST_ROWS : n ? n : GF_ROWS_BESIDE;
}

/* Equal keys leave the columns in the order of the clusters. */
static gf_status index_centres(gf_centre_index *index, const gf_centres *centres, const float *key,
                               gf_error *err)
{
    float *same = key ? NULL : gf_calloc(centres->k, sizeof *same);
    if (!key && !same) return gf_fail_memory(err, "the index of cluster centres");
    index->huge_pages = true;
    gf_status st = gf_centre_index_build(index, centres, key ? key : same, NULL, err);
    if (st == GF_OK && centres->k >= GF_CEILINGS)
        st = gf_centre_index_set_ceilings(index, NULL, err);
    gf_free(same);
    return st;
}

static gf_status index_branches(gf_nearest_centres *l, const gf_centres *centres, gf_error *err)
{
    gf_status st = gf_branches_init(&l->branches, centres, NULL, NULL, err);
    if (st != GF_OK) return st;
    l->n_terms = centres->n_terms;
    l->branch = gf_calloc(l->branches.n, sizeof *l->branch);
    if (!l->branch) return gf_fail_memory(err, "the index of cluster centres");
    for (uint32_t j = 0; st == GF_OK && j < l->branches.n; j++)
        st = gf_branches_pack(&l->branches, j, &l->branch[j], err);
    l->branches.centres = NULL;
    return st;
}

gf_status gf_nearest_centres_init(gf_nearest_centres *l, const gf_centres *centres,
                                  const float *key, gf_error *err)
{
    *l = (gf_nearest_centres){.kernels = gf_scoring_kernels_choose()};
    gf_status st;
    if (gf_branches_serve(centres)) {
        st = index_branches(l, centres, err);
    } else {
        st = gf_centre_index_init(&l->index, centres->k, centres->n_terms, err);
        if (st == GF_OK) st = index_centres(&l->index, centres, key, err);
        if (st == GF_OK) l->beside = rows_beside(&l->index);
    }
    if (st == GF_OK) st = gf_nearest_centres_make_room(l, 1, err);
    if (st != GF_OK) gf_nearest_centres_release(l);
    return st;
}

void gf_nearest_centres_release(gf_nearest_centres *l)
{
    gf_centre_index_release(&l->index);
    for (uint32_t j = 0; l->branch && j < l->branches.n; j++)
        gf_branches_unpack(&l->branch[j]);
    gf_free(l->branch);
    gf_branches_release(&l->branches);
    gf_free(l->block);
    *l = (gf_nearest_centres){0};
}

/* As gf_branches_assign finds them. */
static gf_nearest_two find_by_tree(const gf_nearest_centres *l, gf_row_view row, float *scores)
{
    const gf_branches *b = &l->branches;
    float *val = scores + gf_branches_stride(b);
    uint32_t *col = (uint32_t *)(val + l->n_terms), branch[GF_BRANCHES_WIDTH];
    gf_nearest_two two = GF_BRANCHES_NOTHING;
    uint32_t n = gf_branches_route(b, row, scores, branch);
    for (uint32_t r = 0; r < n; r++) {
        const gf_branch_packed *packed = &l->branch[branch[r]];
        gf_row_view here = gf_branches_pack_row(packed, row, col, val);
        gf_branches_look(b, branch[r], &packed->index, here, scores, &two);
    }
    if (two.runner_up == UINT32_MAX) two.of_second = 0;
    return two;
}

gf_nearest_two gf_nearest_centres_find(const gf_nearest_centres *l, unsigned worker,
                                       gf_row_view row)
{
    float *scores = l->scores + worker * l->stride;
    if (l->branches.n) return find_by_tree(l, row, scores);
    return gf_centre_index_nearest(&l->index, l->kernels, row, UINT32_MAX, scores);
}

void gf_nearest_centres_prefetch(const gf_nearest_centres *l, gf_row_view row)
{
    enum { LINE = 64, POSTINGS = LINE / sizeof(gf_posting), FLOATS = LINE / sizeof(float) };
    const gf_centre_index *x = &l->index;
    if (l->branches.n || !x->ceiling) return;
    for (uint32_t p = 0; p < row.n; p++) {
        gf_term_entry e = x->term[row.col[p]];
        bool dense = e.n == GF_DENSE_TERM;
        for (uint32_t i = 0; !dense && i < e.n; i += POSTINGS)
            __builtin_prefetch(x->postings + e.start + i);
        for (uint32_t i = 0; dense && i < x->ceiling_stride; i += FLOATS)
            __builtin_prefetch(x->ceiling + (size_t)e.start * x->ceiling_stride + i);
    }
}

void gf_nearest_centres_find_full(const gf_nearest_centres *l, unsigned worker,
                                  const gf_row_view *rows, uint32_t n, gf_nearest_two *two)
{
    const float *value[GF_NEAREST_ROWS] = {NULL};
    float *scores = l->scores + worker * l->stride;
    uint32_t padded = (n + GF_ROWS_BESIDE - 1) / GF_ROWS_BESIDE * GF_ROWS_BESIDE;
    assert(n >= 1 && n <= l->beside);
    for (uint32_t i = 0; i < padded; i++)
        value[i] = rows[i < n ? i : n - 1].val;
    l->kernels->score_full(&l->index, value, padded, scores);
    for (uint32_t i = 0; i < n; i++)
        two[i] = gf_centre_index_nearest_scored(&l->index, l->kernels, rows[i],
                                                scores + (size_t)i * l->index.stride);
}
