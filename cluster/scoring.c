#include "cluster/scoring_variants.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- the index --------------------------------------------------------------------------------
 */

struct gf_index_memory {
    float *dense_block; /* unaligned start of index->dense */
    size_t dense_capacity, posting_capacity;
    uint32_t *count; /* n_terms: centres that have the term */
};

enum { POSTINGS_PER_DENSE = 12, ALIGNMENT = 64 };

gf_status gf_index_init(gf_index *index, uint32_t k, uint32_t n_terms, gf_error *err)
{
    gf_index x = {.k = k, .n_terms = n_terms};
    x.stride = (k + GF_COLUMN_BLOCK - 1) / GF_COLUMN_BLOCK * GF_COLUMN_BLOCK;
    x.column_of = gf_array(k, sizeof *x.column_of);
    x.cluster_of = gf_array(k, sizeof *x.cluster_of);
    x.drift = gf_array(k, sizeof *x.drift);
    x.term = gf_array(n_terms, sizeof *x.term);
    x.memory = gf_calloc(1, sizeof *x.memory);
    if (x.memory) x.memory->count = gf_array(n_terms, sizeof *x.memory->count);
    if (!x.column_of || !x.cluster_of || !x.drift || !x.term || !x.memory || !x.memory->count) {
        gf_index_release(&x);
        return gf_fail_memory(err, "the index of cluster centres");
    }
    *index = x;
    return GF_OK;
}

void gf_index_release(gf_index *index)
{
    gf_free(index->column_of);
    gf_free(index->cluster_of);
    gf_free(index->drift);
    gf_free(index->term);
    gf_free(index->postings);
    if (index->memory) {
        gf_free(index->memory->dense_block);
        gf_free(index->memory->count);
        gf_free(index->memory);
    }
    *index = (gf_index){0};
}

static int by_falling_drift(const void *a, const void *b, void *context)
{
    const gf_centre *at = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (at[x].drift > at[y].drift) return -1;
    if (at[x].drift < at[y].drift) return 1;
    return x < y ? -1 : x > y;
}

static void order_columns(gf_index *index, const gf_centres *centres)
{
    for (uint32_t j = 0; j < index->k; j++)
        index->cluster_of[j] = j;
    qsort_r(index->cluster_of, index->k, sizeof *index->cluster_of, by_falling_drift, centres->at);
    for (uint32_t c = 0; c < index->k; c++) {
        index->column_of[index->cluster_of[c]] = c;
        index->drift[c] = (float)centres->at[index->cluster_of[c]].drift;
    }
}

uint32_t gf_index_drifted(const gf_index *index, float drift)
{
    uint32_t low = 0, high = index->k;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->drift[middle] > drift)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_dense(const gf_index *index, uint32_t count)
{
    if (index->k <= GF_ALL_DENSE) return count > 0;
    return count > index->k / POSTINGS_PER_DENSE;
}

/* Decide for each term, and give it its dense row or its range of postings. */
static gf_status place_terms(gf_index *index, const gf_centres *centres, gf_error *err)
{
    uint32_t *count = index->memory->count;
    memset(count, 0, index->n_terms * sizeof *count);
    for (uint32_t j = 0; j < index->k; j++)
        for (uint32_t p = 0; p < centres->at[j].n; p++)
            count[centres->at[j].term[p]]++;
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

static gf_status make_room(gf_index *index, gf_error *err)
{
    struct gf_index_memory *m = index->memory;
    size_t floats = (size_t)index->n_dense * index->stride;
    if (floats > m->dense_capacity || !m->dense_block) {
        gf_free(m->dense_block);
        m->dense_capacity = 0;
        m->dense_block = gf_array(floats + ALIGNMENT / sizeof(float), sizeof(float));
        if (!m->dense_block) return gf_fail_memory(err, "the index of cluster centres");
        m->dense_capacity = floats;
        uintptr_t at = (uintptr_t)m->dense_block;
        index->dense = (float *)((at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    }
    if (index->n_postings > m->posting_capacity || !index->postings) {
        gf_posting *p = gf_realloc(index->postings, index->n_postings, sizeof *p);
        if (!p) return gf_fail_memory(err, "the index of cluster centres");
        index->postings = p;
        m->posting_capacity = index->n_postings;
    }
    return GF_OK;
}

static void fill(gf_index *index, const gf_centres *centres)
{
    if (index->n_dense)
        memset(index->dense, 0, (size_t)index->n_dense * index->stride * sizeof(float));
    for (uint32_t column = 0; column < index->k; column++) {
        const gf_centre *c = &centres->at[index->cluster_of[column]];
        for (uint32_t p = 0; p < c->n; p++) {
            gf_term_entry *e = &index->term[c->term[p]];
            if (e->n == GF_DENSE_TERM) {
                index->dense[(size_t)e->start * index->stride + column] = c->value[p];
                continue;
            }
            index->postings[e->start + e->n++] = (gf_posting){column, c->value[p]};
        }
    }
}

gf_status gf_index_build(gf_index *index, const gf_centres *centres, gf_error *err)
{
    order_columns(index, centres);
    gf_status st = place_terms(index, centres, err);
    if (st == GF_OK) st = make_room(index, err);
    if (st == GF_OK) fill(index, centres);
    return st;
}

/* ---- the choice of kernels --------------------------------------------------------------------
 */

const gf_kernels *gf_kernels_named(const char *name)
{
    if (strcmp(name, "portable") == 0) return &gf_kernels_portable;
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512dq");
    if (strcmp(name, "avx2") == 0 && avx2) return &gf_kernels_avx2;
    if (strcmp(name, "avx512") == 0 && avx512) return &gf_kernels_avx512;
#endif
    return NULL;
}

const gf_kernels *gf_kernels_choose(void)
{
    const char *names[] = {getenv("GROUPERFISH_SIMD"), "avx512", "avx2"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const gf_kernels *found = names[i] ? gf_kernels_named(names[i]) : NULL;
        if (found) return found;
    }
    return &gf_kernels_portable;
}
