/* table import: rows of JSON Lines or CSV into one table. */
#include "api/intake.h"
#include "api/tables/input.h"
#include "storage/write_behind.h"

typedef struct importing {
    gf_intake intake;
    gf_table_call c;
    gf_write_behind out;
    gf_lines *lines; /* of JSON; or */
    gf_table_csv *csv;
    gf_cell_reader cells;
    gf_json_parser *parser;
    uint64_t rows, put;
    bool is_cut;     /* the input failed: what came before is whole */
    bool is_written; /* all rows that were read */
} importing;

static gf_status put_cell(void *context, unsigned family, gf_slice qualifier, gf_slice value,
                          gf_error *err)
{
    importing *i = context;
    (void)err;
    gf_batch_put(i->out.batch, gf_user_table_rows(i->c.table), gf_buffer_view(&i->c.key), family,
                 qualifier, value, 0);
    return GF_OK;
}

/* {"key":[...],"cells":{...}} */
static gf_status put_json(importing *i, gf_slice line, gf_error *err)
{
    gf_json_value row, key, cells;
    gf_buffer_reset(&i->c.key);
    gf_status st = gf_json_parse(i->parser, line, &row, err);
    if (st != GF_OK) return st;
    if (gf_json_kind_of(row) != GF_JSON_OBJECT || !gf_json_member(row, "key", &key) ||
        !gf_json_member(row, "cells", &cells))
        return gf_fail(err, GF_EINVAL, "not an object with \"key\" and \"cells\"");
    st = gf_table_read_key(i->c.table, key, &i->c.key, &i->c.text, err);
    if (st == GF_OK) st = gf_table_read_cells(&i->cells, cells, put_cell, i, err);
    return st;
}

static gf_status next_row(void *context, gf_record *record, gf_error *err)
{
    importing *i = context;
    gf_text_line line;
    gf_status st =
        i->csv ? gf_table_csv_next(i->csv, record, err) : gf_table_lines_next(i->lines, &line, err);
    if (st == GF_OK && !i->csv)
        *record = (gf_record){.source = line.source, .line = line.number, .raw = line.text};
    i->is_cut = st != GF_OK && st != GF_ENOTFOUND;
    return st;
}

static gf_status take_row(void *context, const gf_record *record, gf_error *err)
{
    enum { BATCH_CHANGES = 8000, BATCH_BYTES = 4 << 20 };
    importing *i = context;
    gf_error why = {GF_OK, ""};
    size_t before = gf_batch_changes(i->out.batch);
    gf_status st = i->csv ? gf_table_csv_put(i->csv, &i->c, i->out.batch, &why)
                          : put_json(i, record->raw, &why);
    if (st == GF_EINVAL) {
        gf_record refused = *record;
        gf_batch_cut(i->out.batch, before);
        st = i->csv ? gf_table_csv_line(i->csv, &refused.raw, err) : GF_OK;
        return st == GF_OK ? gf_intake_refuse(&i->intake, &refused, "bad_row", why.message, err)
                           : st;
    }
    if (st != GF_OK) {
        if (err) *err = why;
        return st;
    }
    i->rows++;
    i->put += gf_batch_changes(i->out.batch) - before;
    st = gf_cancel_check(i->intake.call->cancel, err);
    if (st != GF_OK || (gf_batch_changes(i->out.batch) < BATCH_CHANGES &&
                        gf_batch_bytes(i->out.batch) < BATCH_BYTES))
        return st;
    return gf_write_behind_next(&i->out, err);
}

/* After a cancel and before a damage of the input, too, the rows that were read are put. */
static gf_status write_rows(void *context, gf_status ended, gf_error *err)
{
    importing *i = context;
    gf_status failed = ended == GF_ECANCELLED || i->is_cut ? GF_OK : ended;
    gf_status st = gf_write_behind_end(&i->out, failed, err);
    if (st == GF_OK) st = gf_batch_write(i->c.batch, GF_SYNC_ON, err);
    i->is_written = st == GF_OK;
    return st;
}

static gf_status emit_counts(void *context, gf_status ended, gf_error *err)
{
    importing *i = context;
    if (!i->is_written || (ended != GF_OK && i->intake.read == 0)) return GF_OK;
    gf_json_writer *w = gf_row_writer_begin(&i->c.writer);
    gf_json_put_string(w, "table", gf_user_table_name(i->c.table));
    gf_json_put_uint(w, "read", i->intake.read);
    gf_json_put_uint(w, "rows", i->rows);
    gf_json_put_uint(w, "put", i->put);
    gf_json_put_uint(w, "refused", i->intake.refused);
    return gf_row_writer_emit(&i->c.writer, err);
}

static gf_status run_table_import(gf_call *call, gf_error *err)
{
    importing i = {.c = {.call = call}};
    gf_status st = gf_table_call_open(&i.c, err);
    if (st == GF_OK) st = gf_json_parser_create(&i.parser, err);
    if (st == GF_OK && gf_slice_equal(gf_call_text(call, "from"), GF_SLICE("csv")))
        st = gf_table_csv_open(call, i.c.table, &i.csv, err);
    else if (st == GF_OK)
        st = gf_table_lines_open(call, &i.lines, err);
    if (st == GF_OK) {
        i.cells.table = i.c.table;
        i.intake = (gf_intake){.call = call,
                               .context = &i,
                               .next = next_row,
                               .take = take_row,
                               .flush = write_rows,
                               .summary = emit_counts,
                               .what = gf_user_table_name(i.c.table),
                               .phase = "import",
                               .cancels_itself = true};
        gf_write_behind_begin(&i.out, gf_store_database(i.c.store), i.c.batch);
        st = gf_intake_run(&i.intake, err);
    }
    gf_table_csv_close(i.csv);
    gf_lines_close(i.lines);
    gf_json_parser_free(i.parser);
    gf_cell_reader_release(&i.cells);
    gf_table_call_close(&i.c);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter table_import_parameters[] = {
    P_TABLE, P_CHOICE("from", "jsonl|csv", "format: JSON Lines, or CSV with a header (jsonl)"),
    P_ENCODING, P_UNPACKED};

const gf_operation gf_table_import_operation = {
    .name = "table import",
    .method = "POST",
    .path = "/tables/{table}/rows",
    .meaning = "Put the rows of a file into a table",
    GF_PARAMETERS(table_import_parameters),
    .run = run_table_import,
    .input = GF_INPUT_REQUIRED,
    .resumes = true,
};
