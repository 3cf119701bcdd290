/* table scan, table export: rows of a user's table in the order of their keys. */
#include "api/tables/input.h"
#include "api/tables/schema.h"
#include "storage/backend.h"

typedef struct scanning {
    gf_table_call c;
    gf_table_range range;
    bool as_csv;
    gf_snapshot *snapshot;       /* with times; and */
    gf_table_versions *versions; /* else NULL */
    gf_buffer csv;               /* lines that were not yet given */
} scanning;

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
    uint32_t families = s->range.options.families ? s->range.options.families : UINT32_MAX;
    gf_status st = gf_table_export_csv(&s->c, row, families, &s->csv, err);
    return st == GF_OK && s->csv.len >= ENOUGH ? emit_csv(s, err) : st;
}

static gf_status emit_row(scanning *s, const gf_row *row, gf_error *err)
{
    gf_table_call *c = &s->c;
    if (s->as_csv) return add_csv(s, row, err);
    if (s->versions) return gf_table_versions_emit(s->versions, row, err);
    gf_json_writer *w = gf_row_writer_begin(&c->writer);
    gf_status st = gf_table_put_key(w, c->table, row->key, &c->text, err);
    if (st == GF_OK) st = gf_table_put_cells(w, c->table, row, gf_table_call_shown(c), &c->text);
    return st == GF_OK ? gf_row_writer_emit(&c->writer, err) : st;
}

static gf_status emit_rows(scanning *s, gf_error *err)
{
    gf_rows *rows;
    const gf_row *row;
    gf_status st = gf_rows_open(s->c.table, &s->range.options, &rows, err);
    if (st != GF_OK) return st;
    if (s->as_csv) st = add_csv(s, NULL, err);
    while (st == GF_OK && (st = gf_rows_next(rows, &row, err)) == GF_OK) {
        st = gf_cancel_check(s->c.call->cancel, err);
        if (st == GF_OK) st = emit_row(s, row, err);
    }
    gf_rows_close(rows);
    return st == GF_ENOTFOUND ? emit_csv(s, err) : st;
}

static gf_status take_times(scanning *s, gf_error *err)
{
    if (s->as_csv)
        return gf_fail(err, GF_EINVAL,
                       "times and versions are of JSON Lines: CSV has no place for them");
    gf_status st = gf_snapshot_create_if_any(gf_store_database(s->c.store), &s->snapshot, err);
    s->range.options.snapshot = s->snapshot;
    return st == GF_OK ? gf_table_versions_create(&s->c, s->snapshot, &s->versions, err) : st;
}

static gf_status run_table_scan(gf_call *call, gf_error *err)
{
    scanning s = {.c = {.call = call},
                  .range.options = GF_ROWS_OPTIONS(.offset = gf_call_number(call, "offset", 0),
                                                   .limit = gf_call_number(call, "limit", 0),
                                                   .reverse = gf_call_flag(call, "reverse"))};
    s.as_csv = gf_call_flag(call, "csv");
    gf_status st = gf_table_call_open(&s.c, err);
    if (st == GF_OK) st = gf_table_range_read(&s.c, &s.range, err);
    if (st == GF_OK && (gf_call_flag(call, "times") || gf_call_has(call, "versions")))
        st = take_times(&s, err);
    if (st == GF_OK) st = emit_rows(&s, err);
    gf_table_versions_free(s.versions);
    gf_snapshot_free(s.snapshot);
    gf_table_range_release(&s.range);
    gf_buffer_release(&s.csv);
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
    P_NUMBER("limit", 1, 0, "at most so many (all)"),
    P_SYSTEM,
    P_FULL};

static const gf_parameter table_export_parameters[] = {
    P_TABLE,
    P_SEVERAL("key", false, "PART", "only rows whose key begins with these parts"),
    P_FAMILIES,
    P_SEVERAL("where", false, "F:C=V", "rows of which this holds; also !=, <, <=, >, >="),
    P_FLAG("csv", "rows as the text of a CSV file"),
    P_FLAG("spreadsheet", "with csv: for spreadsheets, as --format spreadsheet"),
    P_FLAG("no-defuse",
           "with spreadsheet: cells as they are, also those that are worked out there"),
    P_FLAG("times", "a line for each time of a row's cells, with it, the oldest first"),
    P_NUMBER("versions", 1, 1000000, "with times: of each cell so many versions (1)")};

const gf_operation gf_table_scan_operation = {
    .name = "table scan",
    .method = "GET",
    .path = "/tables/{table}/rows",
    .meaning = "Give rows in the order of their keys",
    GF_PARAMETERS(table_scan_parameters),
    .members = gf_schema_table_scan,
    .run = run_table_scan,
};

const gf_operation gf_table_export_operation = {
    .name = "table export",
    .method = "GET",
    .path = "/tables/{table}/export",
    .meaning = "Give all rows, as table import reads them",
    GF_PARAMETERS(table_export_parameters),
    .members = gf_schema_table_export,
    .run = run_table_scan,
};
