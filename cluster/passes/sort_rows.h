/**
 * Rows by cluster, on all threads: a counting sort over parts of the rows.
 *
 *     count   how many rows of each part are in each cluster         a task for each part
 *     starts  where the rows of a cluster and part begin             one thread, parts * k additions
 *     fill                                                           a task for each part
 *
 * There are as many parts as threads make use of; the rows of a cluster come out rising, whatever
 * the parts.
 */
#ifndef GF_CLUSTER_PASSES_SORT_ROWS_H
#define GF_CLUSTER_PASSES_SORT_ROWS_H

#include "base/pool.h"

#include <stdint.h>

/** Contiguous parts of n items. */
typedef struct gf_parts {
    uint32_t n, count, size; /* items; parts; items of each, the last excepted */
} gf_parts;

/** Parts for a pool's threads, none with fewer items than `least` (1 or more); one where there is one thread. */
gf_parts gf_parts_for(const gf_pool *pool, uint32_t n, uint32_t least);

static inline uint32_t gf_parts_from(const gf_parts *p, size_t part)
{
    return (uint32_t)part * p->size;
}

/** Behind the last. */
static inline uint32_t gf_parts_to(const gf_parts *p, size_t part)
{
    uint32_t from = gf_parts_from(p, part);
    return p->n - from < p->size ? p->n : from + p->size;
}

/**
 * Rows by cluster: those of cluster j become rows[start[j]] .. rows[start[j + 1] - 1], rising.
 *
 * @param label  n clusters, 0..k-1
 * @param start  k + 1
 * @param rows   n
 * @return GF_OK; GF_ENOMEM. Cost: O(n + parts * k); memory 4 * parts * k, at most n bytes.
 */
gf_status gf_sort_rows(gf_pool *pool, const uint32_t *label, uint32_t n, uint32_t k,
                       uint32_t *start, uint32_t *rows, gf_error *err);

#endif
