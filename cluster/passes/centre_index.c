#include "cluster/passes/scoring_variants.h"

#include "base/lower_bound.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the index ------------------------------------------------------------------------------- */

struct gf_centre_index_memory {
    float *dense_block;   /* unaligned start of index->dense */
    float *ceiling_block; /* of index->ceiling, likewise */
    size_t dense_capacity, ceiling_capacity, posting_capacity;
    uint32_t *count; /* n_terms: centres that have the term */
};

enum {
    POSTINGS_PER_DENSE = 12,
    ALIGNMENT = 64,
    BLOCK_TERMS = 4096, /* terms that one task indexes, at least: */
    MOST_BLOCKS = 64    /* their dense rows' lines stay in the cache while columns go by */
};

gf_status gf_centre_index_init(gf_centre_index *index, uint32_t k, uint32_t n_terms, gf_error *err)
{
    gf_centre_index x = {.k = k, .n_terms = n_terms};
    x.stride = (k + GF_COLUMN_BLOCK - 1) / GF_COLUMN_BLOCK * GF_COLUMN_BLOCK;
    x.column_of = gf_array(k, sizeof *x.column_of);
    x.cluster_of = gf_array(k, sizeof *x.cluster_of);
    x.key = gf_array(k, sizeof *x.key);
    x.term = gf_array(n_terms, sizeof *x.term);
    x.memory = gf_calloc(1, sizeof *x.memory);
    if (x.memory) x.memory->count = gf_array(n_terms, sizeof *x.memory->count);
    if (!x.column_of || !x.cluster_of || !x.key || !x.term || !x.memory || !x.memory->count) {
        gf_centre_index_release(&x);
        return gf_fail_memory(err, "the index of cluster centres");
    }
    *index = x;
    return GF_OK;
}

void gf_centre_index_release(gf_centre_index *index)
{
    gf_free(index->column_of);
    gf_free(index->cluster_of);
    gf_free(index->key);
    gf_free(index->term);
    gf_free(index->postings);
    if (index->memory) {
        gf_free(index->memory->dense_block);
        gf_free(index->memory->ceiling_block);
        gf_free(index->memory->count);
        gf_free(index->memory);
    }
    *index = (gf_centre_index){0};
}

static int by_falling_key(const void *a, const void *b, void *context)
{
    const float *key = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (key[x] > key[y]) return -1;
    if (key[x] < key[y]) return 1;
    return x < y ? -1 : x > y;
}

static void order_columns(gf_centre_index *index, const float *key)
{
    for (uint32_t j = 0; j < index->k; j++)
        index->cluster_of[j] = j;
    qsort_r(index->cluster_of, index->k, sizeof *index->cluster_of, by_falling_key, (void *)key);
    for (uint32_t c = 0; c < index->k; c++) {
        index->column_of[index->cluster_of[c]] = c;
        index->key[c] = key[index->cluster_of[c]];
    }
}

uint32_t gf_centre_index_above(const gf_centre_index *index, float key)
{
    uint32_t low = 0, high = index->k;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->key[middle] > key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An index under construction: each task sees to a block of terms, in all centres. */
typedef struct building {
    gf_centre_index *index;
    const gf_centres *centres;
    uint32_t block; /* terms */
} building;

typedef struct term_range {
    uint32_t from, to; /* to is behind the last */
} term_range;

static term_range range_of(const building *b, size_t task)
{
    uint64_t from = (uint64_t)task * b->block, to = from + b->block;
    return (term_range){(uint32_t)from, to < b->index->n_terms ? (uint32_t)to : b->index->n_terms};
}

/* The first entry of that term or one behind it. */
static uint32_t find_term(const gf_centre *c, uint32_t term)
{
    return gf_lower_bound(c->term, c->n, term);
}

static gf_status count_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const building *b = context;
    term_range r = range_of(b, task);
    uint32_t *count = b->index->memory->count;
    memset(count + r.from, 0, (r.to - r.from) * sizeof *count);
    for (uint32_t j = 0; j < b->index->k; j++) {
        const gf_centre *c = &b->centres->at[j];
        for (uint32_t p = find_term(c, r.from); p < c->n && c->term[p] < r.to; p++)
            count[c->term[p]]++;
    }
    return GF_OK;
}

static bool is_dense(const gf_centre_index *index, uint32_t count)
{
    if (index->k <= GF_ALL_DENSE) return count > 0;
    return count > index->k / POSTINGS_PER_DENSE;
}

/* Decide for each term, and give it its dense row or its range of postings. */
static gf_status place_terms(gf_centre_index *index, gf_error *err)
{
    const uint32_t *count = index->memory->count;
    index->n_dense = 0;
    index->n_postings = 0;
    for (uint32_t t = 0; t < index->n_terms; t++) {
        if (is_dense(index, count[t])) {
            index->term[t] = (gf_term_entry){index->n_dense++, GF_DENSE_TERM};
            continue;
        }
        if (index->n_postings > UINT32_MAX - count[t])
            return gf_fail(err, GF_ELIMIT, "the cluster centres have more than 2^32 entries");
        index->term[t] = (gf_term_entry){(uint32_t)index->n_postings, 0};
        index->n_postings += count[t];
    }
    return GF_OK;
}

/*
 * The aligned start of a block of so many floats, with some to spare, so that centres that fill
 * slowly do not need more each time. NULL where there is no memory.
 */
static float *make_floats(float **block, size_t *capacity, size_t floats, bool huge_pages)
{
    if (floats > *capacity || !*block) {
        gf_free(*block);
        *capacity = floats + floats / 8;
        size_t n = *capacity + ALIGNMENT / sizeof(float);
        *block = huge_pages ? gf_array_large(n, sizeof(float)) : gf_array(n, sizeof(float));
    }
    uintptr_t at = (uintptr_t)*block;
    return *block ? (float *)((at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT) : NULL;
}

static gf_status make_room(gf_centre_index *index, gf_error *err)
{
    struct gf_centre_index_memory *m = index->memory;
    size_t floats = (size_t)index->n_dense * index->stride, postings = (size_t)index->n_postings;
    index->dense = make_floats(&m->dense_block, &m->dense_capacity, floats, index->huge_pages);
    index->ceiling = NULL;
    if (postings > m->posting_capacity || !index->postings) {
        gf_free(index->postings);
        m->posting_capacity = postings + postings / 8;
        index->postings = gf_array(m->posting_capacity, sizeof *index->postings);
    }
    if (index->dense && index->postings) return GF_OK;
    return gf_fail_memory(err, "the index of cluster centres");
}

static void clear_dense_rows(gf_centre_index *index, term_range r)
{
    for (uint32_t t = r.from; t < r.to; t++)
        if (index->term[t].n == GF_DENSE_TERM)
            memset(index->dense + (size_t)index->term[t].start * index->stride, 0,
                   index->stride * sizeof *index->dense);
}

static gf_status fill_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const building *b = context;
    gf_centre_index *index = b->index;
    term_range r = range_of(b, task);
    clear_dense_rows(index, r);
    for (uint32_t column = 0; column < index->k; column++) {
        const gf_centre *c = &b->centres->at[index->cluster_of[column]];
        for (uint32_t p = find_term(c, r.from); p < c->n && c->term[p] < r.to; p++) {
            gf_term_entry *e = &index->term[c->term[p]];
            if (e->n == GF_DENSE_TERM)
                index->dense[(size_t)e->start * index->stride + column] = c->value[p];
            else
                index->postings[e->start + e->n++] = (gf_posting){column, c->value[p]};
        }
    }
    return GF_OK;
}

gf_status gf_centre_index_build(gf_centre_index *index, const gf_centres *centres, const float *key,
                                gf_pool *pool, gf_error *err)
{
    building b = {index, centres, index->n_terms / MOST_BLOCKS + 1};
    if (b.block < BLOCK_TERMS) b.block = BLOCK_TERMS;
    size_t tasks = ((size_t)index->n_terms + b.block - 1) / b.block;
    order_columns(index, key);
    gf_status st = gf_pool_run(pool, tasks, count_task, &b, NULL, err);
    if (st == GF_OK) st = place_terms(index, err);
    if (st == GF_OK) st = make_room(index, err);
    if (st == GF_OK) st = gf_pool_run(pool, tasks, fill_task, &b, NULL, err);
    return st;
}

/* ---- ceilings -------------------------------------------------------------------------------- */

enum { ROWS_PER_TASK = 64 };

static float ceiling_of(const float *values)
{
    float most = 0;
    for (int c = 0; c < GF_COLUMN_BLOCK; c++) {
        float size = fabsf(values[c]);
        most = size > most ? size : most;
    }
    return most;
}

static gf_status ceiling_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const gf_centre_index *index = context;
    size_t from = task * ROWS_PER_TASK, to = from + ROWS_PER_TASK;
    uint32_t blocks = index->stride / GF_COLUMN_BLOCK;
    for (size_t r = from; r < to && r < index->n_dense; r++) {
        const float *row = index->dense + r * index->stride;
        float *ceiling = index->ceiling + r * index->ceiling_stride;
        for (uint32_t b = 0; b < blocks; b++)
            ceiling[b] = ceiling_of(row + (size_t)b * GF_COLUMN_BLOCK);
        for (uint32_t b = blocks; b < index->ceiling_stride; b++)
            ceiling[b] = 0;
    }
    return GF_OK;
}

gf_status gf_centre_index_set_ceilings(gf_centre_index *index, gf_pool *pool, gf_error *err)
{
    struct gf_centre_index_memory *m = index->memory;
    uint32_t blocks = index->stride / GF_COLUMN_BLOCK;
    size_t tasks = ((size_t)index->n_dense + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    index->ceiling_stride = (blocks + GF_COLUMN_BLOCK - 1) / GF_COLUMN_BLOCK * GF_COLUMN_BLOCK;
    index->ceiling = make_floats(&m->ceiling_block, &m->ceiling_capacity,
                                 (size_t)index->n_dense * index->ceiling_stride, index->huge_pages);
    if (!index->ceiling) return gf_fail_memory(err, "the index of cluster centres");
    return gf_pool_run(pool, tasks, ceiling_task, index, NULL, err);
}

/* ---- in double precision --------------------------------------------------------------------- */

/* 0 where the column's centre does not have the term. */
static float posting_value(const gf_posting *postings, uint32_t n, uint32_t column)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (postings[middle].column < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && postings[low].column == column ? postings[low].value : 0;
}

double gf_centre_index_similarity(const gf_centre_index *index, gf_row_view row, uint32_t column)
{
    double sum = 0;
    for (uint32_t p = 0; p < row.n; p++) {
        gf_term_entry e = index->term[row.col[p]];
        float value = e.n == GF_DENSE_TERM ? index->dense[(size_t)e.start * index->stride + column]
                                           : posting_value(index->postings + e.start, e.n, column);
        sum += (double)row.val[p] * (double)value;
    }
    return sum;
}

/* The best two of all scores. */
static gf_best_two scored_two(const gf_centre_index *index, const gf_kernels *kernels,
                              float *scores)
{
    gf_best best = kernels->best(index, index->k, scores);
    uint32_t second = index->k > 1 ? kernels->runner_up(index, index->k, scores, best) : UINT32_MAX;
    return (gf_best_two){best.column, second, best.score, best.second};
}

/* Their similarities in double precision, compared once more. */
static gf_nearest_two compare_two(const gf_centre_index *index, gf_row_view row, gf_best_two best)
{
    gf_nearest_two first = {index->cluster_of[best.column], UINT32_MAX,
                            gf_centre_index_similarity(index, row, best.column), 0};
    if (index->k == 1) return first;
    first.runner_up = index->cluster_of[best.runner_up];
    first.of_second = gf_centre_index_similarity(index, row, best.runner_up);
    if (first.of_second <= first.similarity) return first;
    return (gf_nearest_two){first.runner_up, first.cluster, first.of_second, first.similarity};
}

gf_nearest_two gf_centre_index_nearest(const gf_centre_index *index, const gf_kernels *kernels,
                                       gf_row_view row, uint32_t likely, float *scores)
{
    if (index->ceiling) {
        uint32_t column = likely == UINT32_MAX ? UINT32_MAX : index->column_of[likely];
        return compare_two(index, row, kernels->search(index, row, column, scores));
    }
    kernels->score(index, row, index->k, scores);
    return compare_two(index, row, scored_two(index, kernels, scores));
}

gf_nearest_two gf_centre_index_nearest_scored(const gf_centre_index *index,
                                              const gf_kernels *kernels, gf_row_view row,
                                              float *scores)
{
    return compare_two(index, row, scored_two(index, kernels, scores));
}

/* ---- the choice of kernels ------------------------------------------------------------------- */

const gf_kernels *gf_scoring_kernels_named(const char *name)
{
    if (strcmp(name, "portable") == 0) return &gf_kernels_portable;
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512dq");
    if (strcmp(name, "avx2") == 0 && avx2) return &gf_kernels_avx2;
    if (strcmp(name, "avx512") == 0 && avx512) return &gf_kernels_avx512;
#elif defined(__aarch64__)
    if (strcmp(name, "neon") == 0) return &gf_kernels_neon;
#endif
    return NULL;
}

const gf_kernels *gf_scoring_kernels_choose(void)
{
    const char *names[] = {getenv("GROUPERFISH_SIMD"), "avx512", "avx2", "neon"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const gf_kernels *found = names[i] ? gf_scoring_kernels_named(names[i]) : NULL;
        if (found) return found;
    }
    return &gf_kernels_portable;
}
