#include "cluster/passes/sort_rows.h"

#include "base/memory.h"
#include "cluster/passes/centres.h"

#include <assert.h>

enum {
    PARTS_A_THREAD = 4, /* so that threads end together */
    LEAST_ROWS = 8192
};

gf_parts gf_parts_for(const gf_pool *pool, uint32_t n, uint32_t least)
{
    unsigned threads = gf_pool_size(pool);
    assert(least > 0);
    uint32_t most = n / least < threads * PARTS_A_THREAD ? n / least : threads * PARTS_A_THREAD;
    if (threads < 2 || most < 2) return (gf_parts){n, 1, n};
    uint32_t size = n / most + (n % most != 0);
    return (gf_parts){n, n / size + (n % size != 0), size};
}

typedef struct sorting {
    gf_parts parts;
    const uint32_t *label;
    uint32_t k;
    uint32_t *at; /* parts * k: a part's rows of a cluster; then where the next of them goes */
    uint32_t *rows;
} sorting;

static gf_status count_labels_task(void *context, size_t part, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const sorting *s = context;
    uint32_t *at = s->at + part * s->k, to = gf_parts_to(&s->parts, part);
    for (uint32_t i = gf_parts_from(&s->parts, part); i < to; i++)
        at[s->label[i]]++;
    return GF_OK;
}

/* Counts become starts: by cluster, then by part. */
static void set_starts(const sorting *s, uint32_t *start)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < s->k; j++) {
        start[j] = n;
        for (uint32_t part = 0; part < s->parts.count; part++) {
            uint32_t *at = &s->at[(size_t)part * s->k + j], count = *at;
            *at = n;
            n += count;
        }
    }
    start[s->k] = n;
}

static gf_status place_rows_task(void *context, size_t part, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const sorting *s = context;
    uint32_t *at = s->at + part * s->k, to = gf_parts_to(&s->parts, part);
    for (uint32_t i = gf_parts_from(&s->parts, part); i < to; i++)
        s->rows[at[s->label[i]]++] = i;
    return GF_OK;
}

gf_status gf_sort_rows(gf_pool *pool, const uint32_t *label, uint32_t n, uint32_t k,
                       uint32_t *start, uint32_t *rows, gf_error *err)
{
    /* At least 4 k rows a part, so that the counts take less than the rows do. */
    uint64_t least = 4 * (uint64_t)k > LEAST_ROWS ? 4 * (uint64_t)k : LEAST_ROWS;
    gf_parts parts = gf_parts_for(pool, n, least < UINT32_MAX ? (uint32_t)least : UINT32_MAX);
    if (parts.count < 2) {
        gf_centres_sort_rows(label, n, k, start, rows);
        return GF_OK;
    }
    sorting s = {parts, label, k, gf_calloc((size_t)parts.count * k, sizeof *s.at), rows};
    gf_status st = s.at ? GF_OK : gf_fail_memory(err, "rows by cluster");
    if (st == GF_OK) st = gf_pool_run(pool, parts.count, count_labels_task, &s, NULL, err);
    if (st == GF_OK) set_starts(&s, start);
    if (st == GF_OK) st = gf_pool_run(pool, parts.count, place_rows_task, &s, NULL, err);
    gf_free(s.at);
    return st;
}
