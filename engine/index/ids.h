/**
 * The ids of an index's documents, a segment at a time (engine/rows/index_cells.h has the cells),
 * and where the cells of indexes go.
 */
#ifndef GF_ENGINE_INDEX_IDS_H
#define GF_ENGINE_INDEX_IDS_H

#include "engine/rows/index_cells.h"

/** Writes a cell of builds:model; the value may be changed. */
typedef gf_status gf_index_put_cell(void *context, gf_slice qualifier, gf_buffer *value,
                                    gf_error *err);

/** Puts the cells of a part of an index, in their order. */
typedef gf_status gf_index_fill_cells(void *of, uint32_t part, gf_index_put_cell *put,
                                      void *context, gf_error *err);

/**
 * The way of an index's cells to the store (write.c): `parts` has n parts filled, by all threads, and written
 * in their order.
 */
typedef struct gf_index_cells {
    gf_status (*parts)(void *context, gf_index_fill_cells *fill, void *of, uint32_t n,
                       gf_error *err);
    void *context;
} gf_index_cells;

/** Ids, borrowed: id i is bytes[start[i] .. start[i + 1]); they rise. */
typedef struct gf_index_ids {
    uint32_t n;
    const uint64_t *start; /* n + 1 */
    const char *bytes;
} gf_index_ids;

static inline gf_slice gf_index_id(const gf_index_ids *ids, uint32_t i)
{
    return gf_slice_of(ids->bytes + ids->start[i], (size_t)(ids->start[i + 1] - ids->start[i]));
}

/** Append what a head says of them: the first id of each segment. */
void gf_index_first_ids(const gf_index_ids *ids, uint32_t segment_documents, gf_buffer *head);

/**
 * Write those of a segment. Memory: the cells under way.
 */
gf_status gf_index_write_ids(const gf_index_cells *to, const char *prefix, const gf_index_ids *ids,
                             uint32_t segment_documents, uint32_t segment, gf_error *err);

#endif
