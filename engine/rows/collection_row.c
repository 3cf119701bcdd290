/* One row of the table of collections. */
#include "engine/rows/collection_row.h"

#include "base/memory.h"
#include "engine/rows/scan.h"
#include "storage/tables.h"

#include <stdlib.h>

#define PREFIX "configuration:"

void gf_collection_row_column(gf_buffer *b, gf_slice configuration, const char *what)
{
    gf_buffer_str(b, PREFIX);
    gf_buffer_slice(b, configuration);
    gf_buffer_byte(b, ':');
    gf_buffer_str(b, what);
}

gf_status gf_collection_row_decode(gf_collection_row *r, gf_error *err)
{
    uint64_t modified = 0;
    r->settings = r->pins = (gf_slice){0};
    bool good =
        gf_rows_cell_number(gf_row_find(&r->row, GF_COLLECTIONS_MAIN, "size"), &r->size) &&
        gf_rows_cell_number(gf_row_find(&r->row, GF_COLLECTIONS_MAIN, "seq"), &r->seq) &&
        gf_rows_cell_number(gf_row_find(&r->row, GF_COLLECTIONS_MAIN, "modified"), &modified);
    if (!good) return gf_fail(err, GF_ECORRUPT, "table collections: a row is damaged");
    r->modified = (int64_t)modified;
    const gf_cell *settings = gf_row_find(&r->row, GF_COLLECTIONS_MAIN, "settings");
    const gf_cell *pins = gf_row_find(&r->row, GF_COLLECTIONS_MAIN, "pins");
    if (settings) r->settings = settings->value;
    if (pins) r->pins = pins->value;
    return GF_OK;
}

void gf_collection_row_release(gf_collection_row *r)
{
    gf_row_release(&r->row);
    *r = (gf_collection_row){0};
}

bool gf_collection_row_configuration(gf_slice column, const char *what, gf_slice *name)
{
    size_t prefix = sizeof PREFIX - 1, suffix = strlen(what) + 1;
    if (!gf_slice_starts(column, GF_SLICE(PREFIX)) || column.len < prefix + suffix) return false;
    gf_slice tail = gf_slice_skip(column, column.len - suffix);
    if (tail.ptr[0] != ':' || memcmp(tail.ptr + 1, what, suffix - 1) != 0) return false;
    *name = gf_slice_of(column.ptr + prefix, column.len - prefix - suffix);
    return true;
}

static uint64_t state_number(const gf_collection_row *r, gf_slice configuration, const char *what)
{
    for (size_t i = 0; i < r->row.n_cells; i++) {
        gf_slice name;
        uint64_t v;
        const gf_cell *cell = &r->row.cells[i];
        if (cell->family == GF_COLLECTIONS_MAIN &&
            gf_collection_row_configuration(cell->qualifier, what, &name) &&
            gf_slice_equal(name, configuration) && gf_rows_cell_number(cell, &v))
            return v;
    }
    return 0;
}

int64_t gf_collection_row_served(const gf_collection_row *r, gf_slice configuration)
{
    return (int64_t)state_number(r, configuration, "rebuilt");
}

static int by_name(const void *a, const void *b)
{
    const gf_configuration_state *x = a, *y = b;
    return gf_slice_compare(x->name, y->name);
}

gf_status gf_collection_row_states(const gf_collection_row *r, gf_configuration_state **states,
                                   size_t *n, gf_error *err)
{
    gf_configuration_state *list = gf_array(r->row.n_cells, sizeof *list);
    if (!list) return gf_fail_memory(err, "configurations");
    *n = 0;
    for (size_t i = 0; i < r->row.n_cells; i++) {
        gf_slice name;
        uint64_t v;
        if (!gf_collection_row_configuration(r->row.cells[i].qualifier, "rebuilt", &name) ||
            !gf_rows_cell_number(&r->row.cells[i], &v))
            continue;
        list[*n].name = name;
        list[*n].rebuilt = (int64_t)v;
        list[(*n)++].processed = (int64_t)state_number(r, name, "processed");
    }
    /* Columns come by their whole names, which is another order: "a b:" is before "a:". */
    qsort(list, *n, sizeof *list, by_name);
    *states = list;
    return GF_OK;
}
