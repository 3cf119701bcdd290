/* One row of the table of collections. */
#include "engine/store/internal.h"

#include "base/memory.h"

#include <stdlib.h>

#define PREFIX "configuration:"

void gf_configuration_column(gf_buffer *b, gf_slice configuration, const char *what)
{
    gf_buffer_str(b, PREFIX);
    gf_buffer_slice(b, configuration);
    gf_buffer_byte(b, ':');
    gf_buffer_str(b, what);
}

gf_status gf_collection_is_going(gf_store *s, const gf_snapshot *snapshot, gf_slice key,
                                 bool *going, gf_error *err)
{
    gf_row row = {0};
    gf_status st = gf_table_get(s->tables.collections, snapshot, key, 1u << GF_COLLECTIONS_PROGRESS,
                                &row, err);
    gf_row_release(&row);
    *going = st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_collection_row_decode(gf_collection_row *r, gf_error *err)
{
    uint64_t modified = 0;
    r->settings = r->pins = (gf_slice){0};
    bool good = gf_cell_number(gf_row_find(&r->row, GF_COLLECTIONS_MAIN, "size"), &r->size) &&
                gf_cell_number(gf_row_find(&r->row, GF_COLLECTIONS_MAIN, "seq"), &r->seq) &&
                gf_cell_number(gf_row_find(&r->row, GF_COLLECTIONS_MAIN, "modified"), &modified);
    if (!good) return gf_fail(err, GF_ECORRUPT, "table collections: a row is damaged");
    r->modified = (int64_t)modified;
    const gf_cell *settings = gf_row_find(&r->row, GF_COLLECTIONS_MAIN, "settings");
    const gf_cell *pins = gf_row_find(&r->row, GF_COLLECTIONS_MAIN, "pins");
    if (settings) r->settings = settings->value;
    if (pins) r->pins = pins->value;
    return GF_OK;
}

gf_status gf_collection_row_read(gf_store *s, const gf_snapshot *snapshot, gf_place where,
                                 gf_collection_row *r, gf_error *err)
{
    gf_buffer key = {0};
    gf_collection_key(&key, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(s->tables.collections, snapshot, gf_buffer_view(&key), GF_ALL_FAMILIES,
                          &r->row, err);
    gf_buffer_release(&key);
    r->going = st == GF_OK && gf_row_find(&r->row, GF_COLLECTIONS_PROGRESS, "state");
    if (st == GF_ENOTFOUND || r->going)
        return gf_fail(err, GF_ENOTFOUND, "there is no collection \"%.*s\"",
                       GF_SLICE_ARG(where.collection));
    return st == GF_OK ? gf_collection_row_decode(r, err) : st;
}

gf_status gf_defaults_read(gf_store *s, const gf_snapshot *snapshot, gf_slice name_space,
                           gf_row *row, gf_slice *defaults, gf_error *err)
{
    gf_buffer key = {0};
    *defaults = (gf_slice){0};
    gf_collection_key(&key, name_space, (gf_slice){0});
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(s->tables.collections, snapshot, gf_buffer_view(&key),
                          1u << GF_COLLECTIONS_DEFAULTS, row, err);
    gf_buffer_release(&key);
    const gf_cell *cell =
        st == GF_OK ? gf_row_find(row, GF_COLLECTIONS_DEFAULTS, "defaults") : NULL;
    if (cell) *defaults = cell->value;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_fail_going(gf_slice collection, gf_error *err)
{
    return gf_fail(err, GF_EBUSY, "collection \"%.*s\" is still being deleted; try again",
                   GF_SLICE_ARG(collection));
}

void gf_collection_row_release(gf_collection_row *r)
{
    gf_row_release(&r->row);
    *r = (gf_collection_row){0};
}

bool gf_configuration_of(gf_slice column, const char *what, gf_slice *name)
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
            gf_configuration_of(cell->qualifier, what, &name) &&
            gf_slice_equal(name, configuration) && gf_cell_number(cell, &v))
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
        if (!gf_configuration_of(r->row.cells[i].qualifier, "rebuilt", &name) ||
            !gf_cell_number(&r->row.cells[i], &v))
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
