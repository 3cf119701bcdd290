/* table import: rows of JSON Lines or CSV into one table. */
#include "api/tables/input.h"

static gf_status put_cell(void *context, unsigned family, gf_slice qualifier, gf_slice value,
                          gf_error *err)
{
    gf_table_import *i = context;
    (void)err;
    gf_batch_put(i->out.batch, gf_user_table_rows(i->c.table), gf_buffer_view(&i->c.key), family,
                 qualifier, value, 0);
    return GF_OK;
}

/* {"key":[...],"cells":{...}} */
static gf_status read_row(gf_table_import *i, gf_slice line, gf_error *err)
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

static gf_status import_lines(gf_table_import *i, gf_lines *lines, gf_error *err)
{
    gf_text_line line;
    gf_status st;
    while ((st = gf_table_lines_next(lines, &line, err)) == GF_OK) {
        gf_error why = {GF_OK, ""};
        gf_table_import_begin_row(i);
        st = read_row(i, line.text, &why);
        if (st == GF_OK)
            st = gf_table_import_row(i, err);
        else if (st == GF_EINVAL)
            st = gf_table_import_refuse(i, line.source, line.number, line.text, why.message, err);
        else if (err)
            *err = why;
        if (st != GF_OK) return st;
    }
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status import(gf_table_import *i, gf_error *err)
{
    gf_call *call = i->c.call;
    if (gf_slice_equal(gf_call_text(call, "from"), GF_SLICE("csv")))
        return gf_table_import_csv(i, err);
    gf_lines *lines = NULL;
    gf_status st = gf_table_lines_open(call, &lines, err);
    if (st == GF_OK) st = import_lines(i, lines, err);
    gf_lines_close(lines);
    return st;
}

static gf_status emit_counts(gf_table_import *i, gf_error *err)
{
    gf_json_writer *w = gf_row_writer_begin(&i->c.writer);
    gf_json_put_string(w, "table", gf_user_table_name(i->c.table));
    gf_json_put_uint(w, "read", i->read);
    gf_json_put_uint(w, "rows", i->rows);
    gf_json_put_uint(w, "put", i->put);
    gf_json_put_uint(w, "refused", i->refused);
    if (i->refused) i->c.call->outcome = GF_SOME_REFUSED;
    return gf_row_writer_emit(&i->c.writer, err);
}

/* Stopped, too, the rows that were read are put and told of; but only what was written. */
static gf_status import_and_write(gf_table_import *i, gf_error *err)
{
    gf_error why = {GF_OK, ""}, failed;
    gf_write_behind_begin(&i->out, gf_store_database(i->c.store), i->c.batch);
    gf_status st = import(i, &why);
    bool ended = st == GF_OK || st == GF_ECANCELLED;
    gf_status written = gf_write_behind_end(&i->out, ended ? GF_OK : st, &failed);
    if (written == GF_OK) written = gf_batch_write(i->c.batch, GF_SYNC, &failed);
    if (ended && written != GF_OK) {
        st = written;
        why = failed;
    }
    gf_call_tell_stop(st, &why);
    if (written == GF_OK) {
        gf_status told = emit_counts(i, st == GF_OK ? &why : NULL);
        if (st == GF_OK) st = told;
    }
    if (st != GF_OK && err) *err = why;
    return st;
}

gf_status gf_run_table_import(gf_call *call, gf_error *err)
{
    gf_table_import i = {.c = {.call = call}};
    gf_status st = gf_table_call_open(&i.c, err);
    if (st == GF_OK) st = gf_json_parser_create(&i.parser, err);
    i.cells.table = i.c.table;
    if (st == GF_OK) st = import_and_write(&i, err);
    gf_json_parser_free(i.parser);
    gf_cell_reader_release(&i.cells);
    gf_table_call_close(&i.c);
    return st;
}
