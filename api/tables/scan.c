/* table scan, table export: rows of a user's table in the order of their keys. */
#include "api/tables/input.h"

#include "base/memory.h"

typedef struct scanning {
    gf_table_call c;
    gf_buffer prefix, start, end;
    gf_slice *where;
    gf_rows_options options;
    bool as_csv;
    gf_buffer csv; /* lines that were not yet given */
} scanning;

/* The parts of "key", and those of `name` behind them. */
static gf_status bound(scanning *s, const char *name, gf_buffer *key, gf_error *err)
{
    enum { MOST_PARTS = 8 };
    gf_slice parts[MOST_PARTS + 1];
    unsigned n = 0;
    const char *const names[] = {"key", name};
    const gf_call *call = s->c.call;
    if (!gf_call_has(call, name)) return GF_OK;
    for (size_t w = 0; w < 2; w++)
        for (size_t i = 0; i < gf_call_count(call, names[w]) && n <= MOST_PARTS; i++)
            parts[n++] = gf_call_nth(call, names[w], i);
    gf_status st = gf_user_table_key_write(s->c.table, parts, n, key, err);
    if (st != GF_OK) gf_error_prefix(err, "%s", name);
    return st;
}

static gf_status read_bounds(scanning *s, gf_error *err)
{
    unsigned n = 0;
    gf_call *call = s->c.call;
    gf_status st = gf_table_call_key(&s->c, "key", &s->prefix, &n, err);
    if (st == GF_OK && gf_call_has(call, "prefix"))
        st = gf_user_table_key_start(s->c.table, n, gf_call_text(call, "prefix"), &s->prefix, err);
    if (st == GF_OK) st = bound(s, "from", &s->start, err);
    if (st == GF_OK) st = bound(s, "to", &s->end, err);
    s->options.prefix = gf_buffer_view(&s->prefix);
    s->options.start = gf_buffer_view(&s->start);
    s->options.end = gf_buffer_view(&s->end);
    return st;
}

static gf_status read_where(scanning *s, gf_error *err)
{
    gf_call *call = s->c.call;
    size_t n = gf_call_count(call, "where");
    s->where = gf_array(n, sizeof *s->where);
    if (!s->where) return gf_fail_memory(err, "arguments");
    for (size_t i = 0; i < n; i++)
        s->where[i] = gf_call_nth(call, "where", i);
    s->options.where = s->where;
    s->options.n_where = n;
    return GF_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static gf_status emit_csv(scanning *s, gf_error *err)
{
    if (s->csv.len == 0) return GF_OK;
    gf_json_writer *w = gf_row_writer_begin(&s->c.writer);
    gf_json_put_string(w, "csv", gf_buffer_view(&s->csv));
    gf_buffer_reset(&s->csv);
    return gf_row_writer_emit(&s->c.writer, err);
}

static gf_status add_csv(scanning *s, const gf_row *row, gf_error *err)
{
    enum { ENOUGH = 64 << 10 };
    uint32_t families = s->options.families ? s->options.families : UINT32_MAX;
    gf_status st = gf_table_export_csv(&s->c, row, families, &s->csv, err);
    return st == GF_OK && s->csv.len >= ENOUGH ? emit_csv(s, err) : st;
}

static gf_status emit_row(scanning *s, const gf_row *row, gf_error *err)
{
    gf_table_call *c = &s->c;
    if (s->as_csv) return add_csv(s, row, err);
    gf_json_writer *w = gf_row_writer_begin(&c->writer);
    gf_status st = gf_table_put_key(w, c->table, row->key, &c->text, err);
    if (st == GF_OK) st = gf_table_put_cells(w, c->table, row, &c->text);
    return st == GF_OK ? gf_row_writer_emit(&c->writer, err) : st;
}

static gf_status emit_rows(scanning *s, gf_error *err)
{
    gf_rows *rows;
    const gf_row *row;
    gf_status st = gf_rows_open(s->c.table, &s->options, &rows, err);
    if (st != GF_OK) return st;
    if (s->as_csv) st = add_csv(s, NULL, err);
    while (st == GF_OK && (st = gf_rows_next(rows, &row, err)) == GF_OK) {
        st = gf_cancel_check(s->c.call->cancel, err);
        if (st == GF_OK) st = emit_row(s, row, err);
    }
    gf_rows_close(rows);
    return st == GF_ENOTFOUND ? emit_csv(s, err) : st;
}

static gf_status run_table_scan(gf_call *call, gf_error *err)
{
    scanning s = {.c = {.call = call},
                  .options = GF_ROWS_OPTIONS(.offset = gf_call_number(call, "offset", 0),
                                             .limit = gf_call_number(call, "limit", 0),
                                             .reverse = gf_call_flag(call, "reverse"))};
    s.as_csv = gf_call_flag(call, "csv");
    gf_status st = gf_table_call_open(&s.c, err);
    if (st == GF_OK) st = gf_table_call_families(&s.c, &s.options.families, err);
    if (st == GF_OK) st = read_bounds(&s, err);
    if (st == GF_OK) st = read_where(&s, err);
    if (st == GF_OK) st = emit_rows(&s, err);
    gf_buffer_release(&s.prefix);
    gf_buffer_release(&s.start);
    gf_buffer_release(&s.end);
    gf_buffer_release(&s.csv);
    gf_free(s.where);
    gf_table_call_close(&s.c);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter table_scan_parameters[] = {
    P_TABLE,
    P_SEVERAL("key", false, "PART", "only rows whose key begins with these parts"),
    P_TEXT("prefix", "TEXT", "only rows whose next part starts so"),
    P_SEVERAL("from", false, "PART", "first row: the parts behind those of key"),
    P_SEVERAL("to", false, "PART", "first row that is not given any more; likewise"),
    P_FAMILIES,
    P_SEVERAL("where", false, "F:C=V", "rows of which this holds; also !=, <, <=, >, >="),
    P_FLAG("reverse", "from the last row to the first"),
    P_NUMBER("offset", 0, 0, "leave out so many rows first (0)"),
    P_NUMBER("limit", 1, 0, "at most so many (all)")};

static const gf_parameter table_export_parameters[] = {
    P_TABLE,
    P_SEVERAL("key", false, "PART", "only rows whose key begins with these parts"),
    P_FAMILIES,
    P_SEVERAL("where", false, "F:C=V", "rows of which this holds; also !=, <, <=, >, >="),
    P_FLAG("csv", "rows as the text of a CSV file"),
    P_FLAG("spreadsheet", "with csv: for spreadsheets, as --format spreadsheet")};

const gf_operation gf_table_scan_operation = {
    .name = "table scan",
    .method = "GET",
    .path = "/tables/{table}/rows",
    .meaning = "Give rows in the order of their keys",
    GF_PARAMETERS(table_scan_parameters),
    .run = run_table_scan,
};

const gf_operation gf_table_export_operation = {
    .name = "table export",
    .method = "GET",
    .path = "/tables/{table}/export",
    .meaning = "Give all rows, as table import reads them",
    GF_PARAMETERS(table_export_parameters),
    .run = run_table_scan,
};
