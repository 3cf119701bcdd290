/* Rows as reads give them: the cells and their bytes lie in the row's own memory. */
#include "storage/backend.h"

#include "base/grow.h"
#include "base/memory.h"

void gf_row_clear(gf_row *row)
{
    if (row->memory) gf_arena_reset(&row->memory->arena);
    row->key = (gf_slice){0};
    row->n_cells = 0;
}

gf_status gf_row_begin(gf_row *row, gf_error *err)
{
    gf_row_clear(row);
    if (!row->memory) row->memory = gf_calloc(1, sizeof *row->memory);
    return row->memory ? GF_OK : gf_fail_memory(err, "a row");
}

char *gf_row_room(gf_row *row, size_t n)
{
    return gf_arena_alloc(&row->memory->arena, n);
}

gf_slice gf_row_keep(gf_row *row, gf_slice bytes)
{
    return gf_arena_copy(&row->memory->arena, bytes);
}

gf_status gf_row_set_key(gf_row *row, gf_slice key, gf_error *err)
{
    row->key = gf_row_keep(row, key);
    return row->key.ptr ? GF_OK : gf_fail_memory(err, "a row");
}

gf_status gf_row_grow(gf_row *row, gf_error *err)
{
    bool grown = gf_grow(&row->cells, &row->memory->capacity, row->n_cells + 1, sizeof *row->cells);
    return grown ? GF_OK : gf_fail_memory(err, "a row");
}

void gf_row_release(gf_row *row)
{
    gf_free(row->cells);
    if (row->memory) gf_arena_release(&row->memory->arena);
    gf_free(row->memory);
    *row = (gf_row){0};
}

const gf_cell *gf_row_find(const gf_row *row, unsigned family, const char *qualifier)
{
    gf_slice name = gf_slice_str(qualifier);
    for (size_t i = 0; i < row->n_cells; i++)
        if (row->cells[i].family == family && gf_slice_equal(row->cells[i].qualifier, name))
            return &row->cells[i];
    return NULL;
}
