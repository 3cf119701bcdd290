/* table put, get, delete, incr, check-and-put: one row of a user's table. */
#include "api/tables/internal.h"
#include "api/tables/schema.h"

#include "base/memory.h"

/* ---- put ------------------------------------------------------------------------------------- */

static gf_status run_table_put(gf_call *call, gf_error *err)
{
    gf_table_call c = {.call = call};
    gf_json_writer *w;
    uint64_t n = 0;
    gf_status st = gf_table_call_open_row(&c, err);
    if (st == GF_OK) st = gf_table_call_sets(&c, &n, err);
    if (st == GF_OK) st = gf_batch_write(c.batch, GF_SYNC_ON, err);
    if (st == GF_OK) st = gf_table_call_begin(&c, &w, err);
    if (st == GF_OK) {
        gf_json_put_uint(w, "put", n);
        st = gf_row_writer_emit(&c.writer, err);
    }
    gf_table_call_close(&c);
    return st;
}

/* ---- get ------------------------------------------------------------------------------------- */

/* A row for each version that is kept of a cell, newest first. */
static gf_status get_versions(gf_table_call *c, gf_error *err)
{
    gf_json_writer *w;
    unsigned family;
    gf_call *call = c->call;
    uint32_t versions = (uint32_t)gf_call_number(call, "versions", 1);
    gf_status st = gf_user_table_find_column(c->table, gf_call_text(call, "column"), &family,
                                             &c->qualifier, NULL, err);
    gf_slice key = gf_buffer_view(&c->key), qualifier = gf_buffer_view(&c->qualifier);
    if (st == GF_OK)
        st = gf_table_get_cell(gf_user_table_rows(c->table), NULL, key, family, qualifier, versions,
                               &c->row, err);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st, "there is no cell %.*s in that row",
                       GF_SLICE_ARG(gf_call_text(call, "column")));
    for (size_t i = 0; i < c->row.n_cells && st == GF_OK; i++) {
        const gf_cell *cell = &c->row.cells[i];
        st = gf_table_call_begin(c, &w, err);
        if (st != GF_OK) break;
        gf_json_put_string(w, "column", gf_call_text(call, "column"));
        gf_json_key(w, "value");
        gf_table_put_value(w, gf_user_table_cell_type(c->table, family, qualifier), cell->value,
                           gf_table_call_shown(c), &c->text);
        if (cell->timestamp) {
            gf_json_key(w, "timestamp");
            gf_json_int(w, cell->timestamp);
        }
        st = gf_row_writer_emit(&c->writer, err);
    }
    return st;
}

static gf_status get_row(gf_table_call *c, gf_error *err)
{
    gf_json_writer *w;
    uint32_t families;
    gf_status st = gf_table_call_families(c, &families, err);
    if (st != GF_OK) return st;
    st = gf_table_get(gf_user_table_rows(c->table), NULL, gf_buffer_view(&c->key),
                      families ? families : GF_ALL_FAMILIES, &c->row, err);
    if (st == GF_ENOTFOUND) {
        gf_row_release(&c->row);
        st = families ? gf_table_call_empty(c, families, err) : gf_table_call_absent(c, err);
    }
    if (st == GF_OK) st = gf_table_call_begin(c, &w, err);
    if (st == GF_OK)
        st = gf_table_put_cells(w, c->table, &c->row, gf_table_call_shown(c), &c->text);
    return st == GF_OK ? gf_row_writer_emit(&c->writer, err) : st;
}

static gf_status run_table_get(gf_call *call, gf_error *err)
{
    gf_table_call c = {.call = call};
    bool cell = gf_call_has(call, "column");
    gf_status st = GF_OK;
    bool pages = gf_table_call_pages(call);
    if (!cell && gf_call_has(call, "versions"))
        return gf_fail(err, GF_EINVAL, "versions: of one column only (--column)");
    if (cell && pages)
        return gf_fail(err, GF_EINVAL, "a range of cells is of a family, and not of one column");
    st = gf_table_call_open_row(&c, err);
    if (st == GF_OK && pages)
        st = gf_table_call_page(&c, err);
    else if (st == GF_OK)
        st = cell ? get_versions(&c, err) : get_row(&c, err);
    gf_table_call_close(&c);
    return st;
}

/* ---- delete ---------------------------------------------------------------------------------- */

/* How many of the cells or families that are asked for are there; and into the batch with them. */
static gf_status delete_cells(gf_table_call *c, uint64_t *there, gf_error *err)
{
    gf_slice key = gf_buffer_view(&c->key);
    gf_table *rows = gf_user_table_rows(c->table);
    gf_status st = GF_OK;
    for (size_t i = 0; i < gf_call_count(c->call, "column") && st == GF_OK; i++) {
        unsigned family;
        gf_buffer_reset(&c->qualifier);
        st = gf_user_table_find_column(c->table, gf_call_nth(c->call, "column", i), &family,
                                       &c->qualifier, NULL, err);
        gf_slice qualifier = gf_buffer_view(&c->qualifier);
        if (st != GF_OK) break;
        gf_batch_delete_cell(c->batch, rows, key, family, qualifier);
        st = gf_table_get_cell(rows, NULL, key, family, qualifier, 1, &c->row, err);
        *there += st == GF_OK;
        if (st == GF_ENOTFOUND) st = GF_OK;
    }
    return st;
}

static gf_status delete_families(gf_table_call *c, uint32_t families, uint64_t *there,
                                 gf_error *err)
{
    gf_slice key = gf_buffer_view(&c->key);
    gf_table *rows = gf_user_table_rows(c->table);
    gf_batch_delete_row(c->batch, rows, key, families);
    gf_status st = gf_table_get(rows, NULL, key, families, &c->row, err);
    *there += st == GF_OK ? c->row.n_cells : 0;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status run_table_delete(gf_call *call, gf_error *err)
{
    gf_table_call c = {.call = call};
    gf_json_writer *w;
    uint32_t families = 0;
    uint64_t there = 0;
    gf_status st;
    if (gf_table_call_deletes_rows(call)) {
        st = gf_table_call_open(&c, err);
        if (st == GF_OK) st = gf_table_call_delete_rows(&c, err);
        gf_table_call_close(&c);
        return st;
    }
    st = gf_table_call_open_row(&c, err);
    if (st == GF_OK) st = gf_table_call_families(&c, &families, err);
    if (st == GF_OK && !families && !gf_call_has(call, "column")) families = GF_ALL_FAMILIES;
    if (st == GF_OK) st = delete_cells(&c, &there, err);
    if (st == GF_OK && families) st = delete_families(&c, families, &there, err);
    if (st == GF_OK) st = gf_batch_write(c.batch, GF_SYNC_ON, err);
    if (st == GF_OK) st = gf_table_call_begin(&c, &w, err);
    if (st == GF_OK) {
        gf_json_put_uint(w, "deleted", there);
        if (there == 0) call->outcome = GF_OUTCOME_SOME_ABSENT;
        st = gf_row_writer_emit(&c.writer, err);
    }
    gf_table_call_close(&c);
    return st;
}

/* ---- incr ------------------------------------------------------------------------------------ */

static gf_status read_delta(gf_slice text, int64_t *delta, gf_error *err)
{
    gf_buffer bytes = {0};
    gf_status st = gf_user_table_value_write(GF_TYPE_INT64, text, &bytes, err);
    if (st == GF_OK) *delta = (int64_t)gf_read_u64be(bytes.ptr);
    if (st != GF_OK) gf_error_prefix(err, "by");
    gf_buffer_release(&bytes);
    return st;
}

static gf_status run_table_incr(gf_call *call, gf_error *err)
{
    gf_table_call c = {.call = call};
    gf_json_writer *w;
    unsigned family = 0;
    int64_t delta = 1;
    gf_slice column = gf_call_text(call, "column");
    gf_status st = GF_OK;
    if (gf_call_has(call, "by")) st = read_delta(gf_call_text(call, "by"), &delta, err);
    if (st == GF_OK) st = gf_table_call_open_row(&c, err);
    if (st == GF_OK)
        st = gf_user_table_find_column(c.table, column, &family, &c.qualifier, NULL, err);
    if (st == GF_OK) {
        st = gf_user_table_increment(c.table, gf_buffer_view(&c.key), family,
                                     gf_buffer_view(&c.qualifier), delta, &c.value, err);
        if (st == GF_EINVAL || st == GF_ELIMIT) gf_error_prefix(err, "%.*s", GF_SLICE_ARG(column));
    }
    if (st == GF_OK) st = gf_table_call_begin(&c, &w, err);
    if (st == GF_OK) {
        gf_json_put_string(w, "column", column);
        gf_json_key(w, "value");
        gf_json_raw(w, gf_buffer_view(&c.value));
        st = gf_row_writer_emit(&c.writer, err);
    }
    gf_table_call_close(&c);
    return st;
}

/* ---- check-and-put --------------------------------------------------------------------------- */

/* The cell that is checked: its name, and the bytes that are expected (NULL: absence). */
typedef struct check {
    gf_slice column;
    unsigned family;
    gf_buffer qualifier, bytes;
    gf_slice expected;
    bool absent;
} check;

static gf_status read_check(gf_table_call *c, check *k, gf_error *err)
{
    gf_call *call = c->call;
    k->absent = gf_call_has(call, "if-absent");
    if (k->absent == gf_call_has(call, "if"))
        return gf_fail(err, GF_EINVAL, "check-and-put needs either --if or --if-absent");
    gf_slice text = gf_call_text(call, k->absent ? "if-absent" : "if");
    k->column = text;
    if (k->absent)
        return gf_user_table_find_column(c->table, text, &k->family, &k->qualifier, NULL, err);
    const char *equals = memchr(text.ptr, '=', text.len);
    if (equals) k->column.len = (size_t)(equals - text.ptr);
    gf_status st = gf_table_call_cell(c, "if", text, &k->family, err);
    gf_buffer_slice(&k->qualifier, gf_buffer_view(&c->qualifier));
    gf_buffer_slice(&k->bytes, gf_buffer_view(&c->value));
    k->expected = gf_buffer_view(&k->bytes);
    if (st == GF_OK) st = gf_buffer_check(&k->qualifier, err);
    return st == GF_OK ? gf_buffer_check(&k->bytes, err) : st;
}

/* done, and if not what is there: no "found" where nothing is. */
static gf_status emit_checked(gf_table_call *c, const check *k, bool done, uint64_t n,
                              gf_error *err)
{
    gf_json_writer *w;
    gf_slice qualifier = gf_buffer_view(&k->qualifier);
    gf_status st = gf_table_call_begin(c, &w, err);
    if (st != GF_OK) return st;
    gf_json_put_bool(w, "done", done);
    gf_json_put_uint(w, "put", done ? n : 0);
    gf_json_put_string(w, "column", k->column);
    if (!done) {
        st = gf_table_get_cell(gf_user_table_rows(c->table), NULL, gf_buffer_view(&c->key),
                               k->family, qualifier, 1, &c->row, err);
        if (st == GF_OK) {
            gf_json_key(w, "found");
            gf_table_put_value(w, gf_user_table_cell_type(c->table, k->family, qualifier),
                               c->row.cells[0].value, SIZE_MAX, &c->text);
        }
        if (st != GF_OK && st != GF_ENOTFOUND) return st;
        c->call->outcome = GF_OUTCOME_SOME_ABSENT;
    }
    return gf_row_writer_emit(&c->writer, err);
}

static gf_status run_table_check_and_put(gf_call *call, gf_error *err)
{
    gf_table_call c = {.call = call};
    check k = {0};
    uint64_t n = 0;
    gf_status st = gf_table_call_open_row(&c, err);
    if (st == GF_OK) st = read_check(&c, &k, err);
    if (st == GF_OK) st = gf_table_call_sets(&c, &n, err);
    if (st == GF_OK) {
        st = gf_batch_write_if(c.batch, gf_user_table_rows(c.table), gf_buffer_view(&c.key),
                               k.family, gf_buffer_view(&k.qualifier),
                               k.absent ? NULL : &k.expected, GF_SYNC_ON, err);
        if (st == GF_OK || st == GF_ECONFLICT) st = emit_checked(&c, &k, st == GF_OK, n, err);
    }
    gf_buffer_release(&k.qualifier);
    gf_buffer_release(&k.bytes);
    gf_table_call_close(&c);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter table_put_parameters[] = {P_TABLE, P_ROW_KEY, P_SETS, P_TIMESTAMP};

static const gf_parameter table_get_parameters[] = {
    P_TABLE,
    P_ROW_KEY,
    P_FAMILIES,
    P_TEXT("column", "F:C", "only this cell, FAMILY:COLUMN"),
    P_NUMBER("versions", 1, 1000000, "with column: the newest so many versions (1)"),
    P_TEXT("from-column", "NAME", "of one wide family: begin with the cell of this name"),
    P_TEXT("column-prefix", "TEXT", "likewise: only cells whose names start so"),
    P_NUMBER("limit", 1, 0, "likewise: at most so many cells"),
    P_TEXT("cursor", "CURSOR", "likewise: begin behind the page that gave this as `next`"),
    P_FLAG("reverse", "likewise: from the last cell to the first"),
    P_SYSTEM,
    P_FULL};

static const gf_parameter table_delete_parameters[] = {
    P_TABLE,
    P_SEVERAL("key", false, "PART", "the row's key, part by part; of a range its first parts"),
    P_LIST("family", "FAMILY,...", "only these families of the row, or of the rows"),
    P_SEVERAL("column", false, "F:C", "only this cell"),
    P_FLAG("rows", "all rows whose key begins with the parts that are given"),
    P_TEXT("prefix", "TEXT", "all rows whose next part starts so"),
    P_SEVERAL("from", false, "PART", "all rows from this one on: the parts behind those of key"),
    P_SEVERAL("to", false, "PART", "all rows before this one; likewise"),
    P_SEVERAL("where", false, "F:C=V", "of these rows those of which this holds; as table scan"),
    P_FLAG("dry-run", "count the rows of the range, and delete none")};

static const gf_parameter table_incr_parameters[] = {
    P_TABLE, P_ROW_KEY, P_REQUIRED("column", "F:C", "the cell, FAMILY:COLUMN"),
    P_TEXT("by", "N", "what is added; may be negative (1)")};

static const gf_parameter table_check_and_put_parameters[] = {
    P_TABLE,
    P_ROW_KEY,
    P_TEXT("if", "F:C=V", "only where the cell has this value"),
    P_TEXT("if-absent", "F:C", "only where there is no such cell"),
    P_SETS,
    P_TIMESTAMP};

const gf_operation gf_table_put_operation = {
    .name = "table put",
    .method = "PUT",
    .path = "/tables/{table}/row",
    .meaning = "Put cells into a row",
    GF_PARAMETERS(table_put_parameters),
    .members = gf_schema_table_put,
    .run = run_table_put,
};

const gf_operation gf_table_get_operation = {
    .name = "table get",
    .method = "GET",
    .path = "/tables/{table}/row",
    .meaning = "Show a row",
    GF_PARAMETERS(table_get_parameters),
    .members = gf_schema_table_get,
    .run = run_table_get,
};

const gf_operation gf_table_delete_operation = {
    .name = "table delete",
    .method = "DELETE",
    .path = "/tables/{table}/row",
    .meaning = "Delete a row, some of its cells, or a range of rows",
    GF_PARAMETERS(table_delete_parameters),
    .members = gf_schema_table_delete,
    .run = run_table_delete,
};

const gf_operation gf_table_incr_operation = {
    .name = "table incr",
    .method = "POST",
    .path = "/tables/{table}/row/increment",
    .meaning = "Add to a number in a cell",
    GF_PARAMETERS(table_incr_parameters),
    .members = gf_schema_table_incr,
    .run = run_table_incr,
};

const gf_operation gf_table_check_and_put_operation = {
    .name = "table check-and-put",
    .method = "POST",
    .path = "/tables/{table}/row/check",
    .meaning = "Put cells where another cell is as expected",
    GF_PARAMETERS(table_check_and_put_parameters),
    .members = gf_schema_table_check_and_put,
    .run = run_table_check_and_put,
};
