#include "formats/hbase/wide_row.h"

#include "base/grow.h"
#include "base/memory.h"

gf_status gf_wide_row_add(gf_wide_row *row, const gf_wide_cell *cell, gf_error *err)
{
    if (!gf_grow(&row->cells, &row->capacity, row->n + 1, sizeof *row->cells))
        return gf_fail_memory(err, "a row");
    row->cells[row->n++] = *cell;
    return GF_OK;
}

void gf_wide_row_release(gf_wide_row *row)
{
    gf_free(row->cells);
    *row = (gf_wide_row){0};
}
