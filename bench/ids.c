/*
 * Ids of an index through their writer, as many as one likes and nothing else: that no cell of them
 * grows with the collection. Nothing is stored; cells are made, compressed and counted.
 *
 *     bench_ids [N, 60000000 unless given [BYTES of an id, 20]]
 */
#include "engine/index/ids.h"
#include "base/clock.h"
#include "grouperfish/table.h"
#include "storage/backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct counting {
    uint64_t cells, bytes, compressed;
    size_t largest;
    gf_buffer memory;
} counting;

static gf_status count_cell(void *context, gf_slice qualifier, gf_buffer *value, gf_error *err)
{
    counting *c = context;
    gf_compressed stored;
    gf_status st = gf_buffer_check(value, err);
    if (st == GF_OK) st = gf_value_compress(gf_buffer_view(value), &c->memory, &stored, err);
    if (st != GF_OK) return st;
    c->cells++;
    c->bytes += value->len;
    c->compressed += qualifier.len + stored.bytes.len;
    if (value->len > c->largest) c->largest = value->len;
    return GF_OK;
}

static gf_status count_parts(void *context, gf_index_fill_cells *fill, void *of, uint32_t n,
                             gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < n && st == GF_OK; i++)
        st = fill(of, i, count_cell, context, err);
    return st;
}

int main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 60000000;
    int width = argc > 2 ? atoi(argv[2]) : 20;
    gf_error err = {GF_OK, ""};
    counting c = {.cells = 0};
    gf_index_cells cells = {count_parts, &c};
    gf_index_shape shape = gf_index_shape_now();
    gf_buffer head = {0};
    uint64_t *start = malloc(((size_t)n + 1) * sizeof *start);
    char *bytes = malloc((size_t)n * (size_t)width + 1);
    if (!start || !bytes || width < 12) {
        fprintf(stderr, "bench_ids: %s\n", width < 12 ? "12 bytes at least" : "out of memory");
        return 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        char digits[16];
        snprintf(digits, sizeof digits, "%010" PRIu32, i);
        char *to = bytes + (size_t)i * (size_t)width;
        memcpy(to, digits, 10);
        for (int b = 10; b < width; b++)
            to[b] = (char)('a' + (i * UINT64_C(2654435761) >> (b % 24)) % 26);
        start[i] = (uint64_t)i * (uint64_t)width;
    }
    start[n] = (uint64_t)n * (uint64_t)width;
    gf_index_ids ids = {n, start, bytes};
    double begun = gf_clock_seconds();
    gf_status st = GF_OK;
    for (uint32_t s = 0; s < gf_index_count(n, shape.segment) && st == GF_OK; s++)
        st = gf_index_write_ids(&cells, GF_INDEX_SEARCH, &ids, shape.segment, s, &err);
    gf_index_first_ids(&ids, shape.segment, &head);
    if (st != GF_OK) {
        fprintf(stderr, "bench_ids: %s\n", err.message);
        return 1;
    }
    printf("%" PRIu32 " ids of %d bytes: %" PRIu32 " segments, %" PRIu64
           " cells, %.1f MB, compressed %.1f MB; the largest %zu bytes, of the head %zu; %.1f s\n",
           n, width, gf_index_count(n, shape.segment), c.cells, 1e-6 * (double)c.bytes,
           1e-6 * (double)c.compressed, c.largest, head.len, gf_clock_seconds() - begun);
    gf_buffer_release(&head);
    gf_buffer_release(&c.memory);
    free(start);
    free(bytes);
    return 0;
}
