/* Reading rows: what comes of a gateway as cells of a row. */
#include "storage/hbase/internal.h"

#include "storage/schema.h"

#include <stdlib.h>

/* ---- results --------------------------------------------------------------------------------- */

bool gf_hbase_take_cell(gf_thrift_reader *r, gf_hbase_cell *cell)
{
    gf_thrift_type type;
    uint16_t id;
    *cell = (gf_hbase_cell){0};
    while (gf_thrift_take_field(r, &type, &id)) {
        if (type == GF_THRIFT_STRING && id == 1)
            cell->family = gf_thrift_take_string(r);
        else if (type == GF_THRIFT_STRING && id == 2)
            cell->qualifier = gf_thrift_take_string(r);
        else if (type == GF_THRIFT_STRING && id == 3)
            cell->value = gf_thrift_take_string(r);
        else if (type == GF_THRIFT_I64 && id == 4)
            cell->timestamp = gf_thrift_take_i64(r);
        else
            gf_thrift_skip(r, type);
    }
    return !r->bad;
}

bool gf_hbase_take_result(gf_thrift_reader *r, gf_hbase_result *result)
{
    gf_thrift_type type;
    uint16_t id;
    *result = (gf_hbase_result){0};
    while (gf_thrift_take_field(r, &type, &id)) {
        if (type == GF_THRIFT_STRING && id == 1) {
            result->row = gf_thrift_take_string(r);
        } else if (type == GF_THRIFT_LIST && id == 2) {
            gf_thrift_reader list = *r;
            result->n_cells = gf_thrift_take_list(&list, GF_THRIFT_STRUCT);
            gf_thrift_skip(r, type);
            list.rest.len -= r->rest.len; /* what is behind its cells is none of it */
            result->cells = list;
        } else {
            gf_thrift_skip(r, type);
        }
    }
    return !r->bad && !result->cells.bad;
}

int gf_hbase_family_number(const gf_schema *s, gf_slice name)
{
    for (unsigned f = 0; f < s->n_families; f++)
        if (gf_slice_equal(name, gf_slice_str(s->families[f].name))) return (int)f;
    return -1;
}

gf_status gf_hbase_add_cell(gf_hbase *b, const gf_hbase_table *t, gf_slice name, gf_row *row,
                            unsigned family, const gf_hbase_cell *cell, bool *is_block,
                            gf_error *err)
{
    gf_cell kept = {.family = family,
                    .qualifier = gf_row_keep(row, cell->qualifier),
                    .timestamp = cell->timestamp};
    bool ignored;
    gf_status st = kept.qualifier.ptr ? GF_OK : gf_fail_memory(err, "a row");
    if (st != GF_OK) return st;
    if (t->own && cell->value.len) { /* an empty one is of a read of names alone */
        st = gf_hbase_read_value(b, t, name, family, cell, row, &kept.value,
                                 is_block ? is_block : &ignored, err);
    } else {
        kept.value = gf_row_keep(row, cell->value);
        if (!kept.value.ptr) st = gf_fail_memory(err, "a row");
    }
    return st == GF_OK ? gf_row_add(row, &kept, err) : st;
}

/* A known column of a packed family by its number, others behind them by their names. */
static int rank_column(const gf_family *f, gf_slice name)
{
    int number = f->layout == GF_LAYOUT_PACKED ? gf_schema_column(f, name, 0) : -1;
    return number < 0 ? INT32_MAX : number;
}

static int compare_cells(const gf_schema *s, const gf_cell *a, const gf_cell *b)
{
    if (a->family != b->family) return a->family < b->family ? -1 : 1;
    const gf_family *f = &s->families[a->family];
    int rank_a = rank_column(f, a->qualifier), rank_b = rank_column(f, b->qualifier);
    if (rank_a != rank_b) return rank_a < rank_b ? -1 : 1;
    int order = gf_slice_compare(a->qualifier, b->qualifier);
    if (order) return order;
    return a->timestamp > b->timestamp ? -1 : a->timestamp < b->timestamp;
}

static int compare_in_schema(const void *a, const void *b, void *schema)
{
    return compare_cells(schema, a, b);
}

void gf_hbase_sort_cells(const gf_schema *s, gf_row *row)
{
    for (size_t i = 1; i < row->n_cells; i++)
        if (compare_cells(s, &row->cells[i - 1], &row->cells[i]) > 0) {
            qsort_r(row->cells, row->n_cells, sizeof *row->cells, compare_in_schema,
                    (void *)(uintptr_t)s);
            break;
        }
}

/* ---- get ------------------------------------------------------------------------------------- */

void gf_hbase_begin_on_table(gf_hbase_call *call, const char *method, const gf_hbase_table *t)
{
    gf_hbase_call_begin(call, method);
    gf_thrift_string_field(&call->request, 1, t->name);
}

/* The field `columns` of a TGet: families, or one cell of one; and parts of cut values. */
static void put_columns(gf_buffer *b, uint16_t id, const gf_schema *s, uint32_t families,
                        const gf_slice *qualifier, bool parts)
{
    size_t n = parts;
    for (unsigned f = 0; f < s->n_families; f++)
        n += families >> f & 1;
    gf_thrift_field(b, GF_THRIFT_LIST, id);
    gf_thrift_list(b, GF_THRIFT_STRUCT, n);
    for (unsigned f = 0; f < s->n_families; f++) {
        if (!(families >> f & 1)) continue;
        gf_thrift_string_field(b, 1, gf_slice_str(s->families[f].name));
        if (qualifier) gf_thrift_string_field(b, 2, *qualifier);
        gf_thrift_stop(b);
    }
    if (!parts) return;
    gf_thrift_string_field(b, 1, gf_slice_str(gf_hbase_parts));
    gf_thrift_stop(b);
}

static gf_status read_result(gf_hbase *b, const gf_hbase_table *t, gf_hbase_call *call,
                             gf_hbase_result *result, gf_error *err)
{
    gf_status st = gf_hbase_call_run(b->client, call, GF_THRIFT_STRUCT, GF_HBASE_READS, err);
    if (st != GF_OK) return gf_hbase_fail_table(t, st, err);
    *result = (gf_hbase_result){0};
    if (call->has_result && !gf_hbase_take_result(&call->result, result))
        return gf_fail(err, GF_EIO, "the gateway of HBase sent a row that cannot be read");
    return GF_OK;
}

void gf_hbase_get_of_names(gf_buffer *to, const gf_hbase_table *t, const gf_schema *s, gf_slice row,
                           uint32_t families)
{
    gf_thrift_string_field(to, 1, row);
    put_columns(to, 2, s, families, NULL, t->own);
    gf_thrift_string_field(to, 6, GF_SLICE("KeyOnlyFilter()"));
    gf_thrift_stop(to);
}

gf_status gf_hbase_read_names(gf_hbase *b, const gf_hbase_table *t, const gf_schema *s,
                              gf_slice row, uint32_t families, gf_hbase_call *call,
                              gf_hbase_result *result, gf_error *err)
{
    gf_hbase_begin_on_table(call, "get", t);
    gf_thrift_field(&call->request, GF_THRIFT_STRUCT, 2);
    gf_hbase_get_of_names(&call->request, t, s, row, families);
    return read_result(b, t, call, result, err);
}

static gf_status take_cells(gf_hbase *b, const gf_hbase_table *t, const gf_schema *s,
                            const gf_hbase_result *result, gf_row *row, bool *is_block,
                            gf_error *err)
{
    gf_thrift_reader cells = result->cells;
    gf_hbase_cell cell;
    for (uint32_t i = 0; i < result->n_cells; i++) {
        if (!gf_hbase_take_cell(&cells, &cell))
            return gf_fail(err, GF_EIO, "the gateway of HBase sent a cell that cannot be read");
        int family = gf_hbase_family_number(s, cell.family);
        gf_status st = family < 0 ? GF_OK
                                  : gf_hbase_add_cell(b, t, result->row, row, (unsigned)family,
                                                      &cell, is_block, err);
        if (st != GF_OK) return st;
    }
    gf_hbase_sort_cells(s, row);
    return GF_OK;
}

static gf_status get_once(gf_hbase *b, const gf_hbase_table *t, const gf_schema *s, gf_slice name,
                          const gf_selection *what, gf_row *row, bool *is_block, gf_error *err)
{
    gf_hbase_call call = {0};
    gf_hbase_result result;
    gf_buffer *to = &call.request;
    gf_hbase_begin_on_table(&call, "get", t);
    gf_thrift_field(to, GF_THRIFT_STRUCT, 2);
    gf_thrift_string_field(to, 1, name);
    put_columns(to, 2, s, what->families, what->one_cell ? &what->qualifier : NULL, false);
    if (what->versions > 1)
        gf_thrift_i32_field(to, 5,
                            what->versions < INT32_MAX ? (int32_t)what->versions : INT32_MAX);
    gf_thrift_stop(to);
    gf_status st = read_result(b, t, &call, &result, err);
    if (st == GF_OK) st = take_cells(b, t, s, &result, row, is_block, err);
    gf_hbase_call_release(&call);
    return st;
}

gf_status gf_hbase_get_stored(gf_hbase *b, const gf_hbase_table *t, const gf_schema *s,
                              gf_slice key, const gf_selection *what, gf_row *row, bool *is_block,
                              gf_error *err)
{
    enum { MOST_READS = 20 };
    gf_buffer name = {0};
    size_t before = row->n_cells;
    gf_status st = gf_hbase_row_of_key(s, key, &name, err);
    for (int i = 0; i < MOST_READS && st == GF_OK; i++) {
        st = get_once(b, t, s, gf_buffer_view(&name), what, row, is_block, err);
        if (st != GF_ECONFLICT) break;
        row->n_cells = before; /* a value that was cut went meanwhile: there is another, or none */
        st = i + 1 < MOST_READS ? GF_OK : GF_EIO;
    }
    gf_buffer_release(&name);
    return st;
}

gf_status gf_hbase_get(gf_backend *backend, const void *snapshot, unsigned table, gf_slice key,
                       const gf_selection *what, gf_row *row, gf_error *err)
{
    gf_hbase *b = (gf_hbase *)backend;
    gf_hbase_table *t;
    const gf_schema *s;
    gf_selection plain = *what;
    bool there = false;
    (void)snapshot;
    gf_status st = gf_hbase_find_table(b, table, &t, &s, err);
    if (st == GF_OK) st = gf_hbase_look_for_table(b, t, &there, err);
    if (st != GF_OK || !there) return st;
    for (unsigned f = 0; f < s->n_families; f++)
        if (s->families[f].run) plain.families &= ~(UINT32_C(1) << f);
    if (plain.families) st = gf_hbase_get_stored(b, t, s, key, &plain, row, NULL, err);
    for (unsigned f = 0; f < s->n_families && st == GF_OK; f++)
        if (what->families & ~plain.families & UINT32_C(1) << f)
            st = gf_hbase_get_of_run(b, table, f, key, what->one_cell ? &what->qualifier : NULL,
                                     row, err);
    if (st == GF_OK && what->families != plain.families) gf_hbase_sort_cells(s, row);
    return st;
}
