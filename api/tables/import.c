/* table import: rows of JSON Lines, of CSV, or of another wide-column store into one table. */
#include "api/intake.h"
#include "api/tables/input.h"
#include "api/tables/schema.h"
#include "api/tables/wide.h"
#include "formats/hbase/sequence_file.h"
#include "storage/write_behind.h"

/* An input whose first bytes have been looked at, and are given again. */
typedef struct looked_at {
    gf_input under;
    char start[sizeof GF_SEQUENCE_MAGIC - 1];
    size_t n, given; /* of start */
    gf_slice name;
    gf_status named; /* of the first stream; GF_OK again for the next call */
    bool is_first;   /* the stream has not been asked for */
} looked_at;

typedef struct importing {
    gf_intake intake;
    gf_table_call c;
    gf_write_behind out;
    gf_lines *lines; /* of JSON; or */
    gf_table_csv *csv;
    gf_table_wide *wide;
    looked_at look;
    gf_cell_reader cells;
    gf_json_parser *parser;
    uint64_t rows, put;
    int64_t timestamp; /* of the row at hand; 0: none */
    bool is_cut;       /* the input failed: what came before is whole */
    bool is_written;   /* all rows that were read */
} importing;

static gf_status put_cell(void *context, unsigned family, gf_slice qualifier, gf_slice value,
                          gf_error *err)
{
    importing *i = context;
    (void)err;
    gf_batch_put(i->out.batch, gf_user_table_rows(i->c.table), gf_buffer_view(&i->c.key), family,
                 qualifier, value, i->timestamp);
    return GF_OK;
}

/* {"key":[...],"cells":{...}} */
static gf_status put_json(importing *i, gf_slice line, gf_error *err)
{
    gf_json_value row, key, cells, time;
    gf_buffer_reset(&i->c.key);
    gf_status st = gf_json_parse(i->parser, line, &row, err);
    if (st != GF_OK) return st;
    if (gf_json_kind_of(row) != GF_JSON_OBJECT || !gf_json_member(row, "key", &key) ||
        !gf_json_member(row, "cells", &cells))
        return gf_fail(err, GF_EINVAL, "not an object with \"key\" and \"cells\"");
    i->timestamp = 0;
    if (gf_json_member(row, "timestamp", &time)) {
        if (gf_json_kind_of(time) != GF_JSON_INT)
            return gf_fail(err, GF_EINVAL, "its timestamp is no whole number of milliseconds");
        i->timestamp = gf_json_get_int(time);
        st = gf_table_check_time(i->timestamp, err);
        if (st != GF_OK) return st;
    }
    st = gf_table_read_key(i->c.table, key, &i->c.key, &i->c.text, err);
    if (st == GF_OK) st = gf_table_read_cells(&i->cells, cells, put_cell, i, err);
    return st;
}

static gf_status next_row(void *context, gf_record *record, gf_error *err)
{
    importing *i = context;
    gf_text_line line;
    gf_status st = i->wide  ? gf_table_wide_next(i->wide, record, err)
                   : i->csv ? gf_table_csv_next(i->csv, record, err)
                            : gf_table_lines_next(i->lines, &line, err);
    if (st == GF_OK && i->lines)
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
    uint64_t put = 0;
    gf_status st = i->wide  ? gf_table_wide_put(i->wide, i->out.batch, &put, &why)
                   : i->csv ? gf_table_csv_put(i->csv, &i->c, i->out.batch, &why)
                            : put_json(i, record->raw, &why);
    if (st == GF_EINVAL) {
        gf_record refused = *record;
        gf_batch_cut(i->out.batch, before);
        st = i->wide  ? gf_table_wide_line(i->wide, &refused.raw, err)
             : i->csv ? gf_table_csv_line(i->csv, &refused.raw, err)
                      : GF_OK;
        return st == GF_OK ? gf_intake_refuse(&i->intake, &refused, "bad_row", why.message, err)
                           : st;
    }
    if (st != GF_OK) {
        if (err) *err = why;
        return st;
    }
    i->rows++;
    i->put += i->wide ? put : gf_batch_changes(i->out.batch) - before;
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
    if (i->wide) gf_table_wide_put_counts(i->wide, w);
    return gf_row_writer_emit(&i->c.writer, err);
}

/* ---- the format, where it is not said ---------------------------------------------------------- */

static gf_status look_next(void *context, gf_slice *name, gf_error *err)
{
    looked_at *l = context;
    bool is_first = l->is_first;
    l->is_first = false;
    *name = l->name;
    if (is_first && l->named == GF_OK) return GF_OK;
    l->given = l->n;
    return is_first ? l->named : l->under.next(l->under.context, name, err);
}

static gf_status look_read(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    looked_at *l = context;
    *got = l->n - l->given < n ? l->n - l->given : n;
    if (*got == 0) return l->under.read(l->under.context, to, n, got, err);
    memcpy(to, l->start + l->given, *got);
    l->given += *got;
    return GF_OK;
}

static bool look_in_folder(void *context)
{
    looked_at *l = context;
    return l->under.in_folder(l->under.context);
}

static bool look_waits(void *context, unsigned milliseconds)
{
    looked_at *l = context;
    return l->given == l->n && l->under.waits(l->under.context, milliseconds);
}

static bool look_gone(void *context)
{
    looked_at *l = context;
    return l->under.gone(l->under.context);
}

/* Whether the first stream that is not empty begins as a SequenceFile; no byte more is waited for. */
static gf_status look_at_input(gf_call *call, looked_at *l, bool *is_sequence, gf_error *err)
{
    size_t got;
    *l = (looked_at){.under = call->input, .is_first = true};
    *is_sequence = false;
    if (!call->input.next) return GF_OK;
    while (l->n == 0 && l->named == GF_OK) {
        l->named = l->under.next(l->under.context, &l->name, err);
        while (l->named == GF_OK && l->n < sizeof l->start) {
            gf_status st =
                gf_input_read(&l->under, l->start + l->n, sizeof l->start - l->n, &got, err);
            if (st != GF_OK) return st;
            l->n += got;
            if (got == 0 || memcmp(l->start, GF_SEQUENCE_MAGIC, l->n) != 0) break;
        }
    }
    if (l->named != GF_OK && l->named != GF_ENOTFOUND) return l->named;
    *is_sequence = l->n == sizeof l->start && memcmp(l->start, GF_SEQUENCE_MAGIC, l->n) == 0;
    call->input = (gf_input){.context = l,
                             .next = look_next,
                             .read = look_read,
                             .in_folder = l->under.in_folder ? look_in_folder : NULL,
                             .waits = l->under.waits ? look_waits : NULL,
                             .gone = l->under.gone ? look_gone : NULL,
                             .bounds = l->under.bounds};
    return GF_OK;
}

static gf_status open_reader(importing *i, gf_slice from, gf_error *err)
{
    gf_call *call = i->c.call;
    if (gf_table_wide_named(from)) return gf_table_wide_open(&i->c, from, &i->wide, err);
    if (gf_call_has(call, "family") || gf_call_has(call, "separator") ||
        gf_call_has(call, "create") || gf_call_has(call, "versions"))
        return gf_fail(err, GF_EINVAL,
                       "family, separator, create and versions are of rows of another store: "
                       "from=hbase, hbase-scan or accumulo-scan");
    gf_status st = gf_table_call_open(&i->c, err);
    if (st == GF_OK) st = gf_json_parser_create(&i->parser, err);
    if (st != GF_OK) return st;
    return gf_slice_equal(from, GF_SLICE("csv")) ? gf_table_csv_open(call, i->c.table, &i->csv, err)
                                                 : gf_table_lines_open(call, &i->lines, err);
}

static gf_status run_table_import(gf_call *call, gf_error *err)
{
    importing i = {.c = {.call = call}};
    gf_input input = call->input;
    gf_slice from = gf_call_text(call, "from");
    bool is_sequence = false;
    gf_store *store;
    /* First of all: who writes this input may hold the store behind it, and wait for us. */
    gf_status st = gf_call_open_store(call, gf_call_has(call, "create"), &store, err);
    if (st == GF_OK && !from.len) st = look_at_input(call, &i.look, &is_sequence, err);
    if (is_sequence) from = GF_SLICE("hbase");
    if (st == GF_OK) st = open_reader(&i, from, err);
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
    gf_table_wide_close(i.wide);
    call->input = input;
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter table_import_parameters[] = {
    P_TABLE,
    P_CHOICE("from", "jsonl|csv|hbase|hbase-scan|accumulo-scan",
             "format: JSON Lines, CSV with a header, HBase's Export, a shell's listing (jsonl; "
             "hbase is recognised)"),
    P_CHOICE("create", "text|bytes",
             "of another store: make the table where it is missing, its key one part of this type"),
    P_NUMBER("versions", 1, 1000000, "with create: kept in each family (1)"),
    P_LIST("family", "FAMILY,...", "of another store: only cells of these families"),
    P_TEXT("separator", "TEXT",
           "of another store: what is between the parts of a row key (nothing)"),
    P_ENCODING,
    P_UNPACKED};

const gf_operation gf_table_import_operation = {
    .name = "table import",
    .method = "POST",
    .path = "/tables/{table}/rows",
    .meaning = "Put the rows of a file into a table",
    GF_PARAMETERS(table_import_parameters),
    .members = gf_schema_table_import,
    .run = run_table_import,
    .input = GF_INPUT_REQUIRED,
    .resumes = true,
};
