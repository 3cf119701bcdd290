/* table import: rows of JSON Lines or CSV into one table. */
#include "api/table_input.h"

/* Family, qualifier and value of each cell of the row at hand: none is put before all are good. */
static gf_status keep_cell(void *context, unsigned family, gf_slice qualifier, gf_slice value,
                           gf_error *err)
{
    gf_buffer *kept = context;
    gf_buffer_varint(kept, family);
    gf_buffer_string(kept, qualifier);
    gf_buffer_string(kept, value);
    return gf_buffer_check(kept, err);
}

static void put_cells(gf_table_import *i)
{
    uint32_t family;
    gf_slice qualifier, value, rest = gf_buffer_view(&i->kept);
    while (gf_take_varint32(&rest, &family) && gf_take_string(&rest, &qualifier) &&
           gf_take_string(&rest, &value)) {
        gf_batch_put(i->c.batch, gf_user_table_rows(i->c.table), gf_buffer_view(&i->c.key), family,
                     qualifier, value, 0);
        i->put++;
    }
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
    gf_buffer_reset(&i->kept);
    if (st == GF_OK) st = gf_table_read_cells(&i->cells, cells, keep_cell, &i->kept, err);
    if (st == GF_OK) put_cells(i);
    return st;
}

static gf_status import_lines(gf_table_import *i, gf_lines *lines, gf_error *err)
{
    gf_line line;
    gf_status st;
    while ((st = gf_table_lines_next(lines, &line, err)) == GF_OK) {
        gf_error why = {GF_OK, ""};
        i->read++;
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

gf_status gf_run_table_import(gf_call *call, gf_error *err)
{
    gf_table_import i = {.c = {.call = call}};
    gf_status st = gf_table_call_open(&i.c, err);
    if (st == GF_OK) st = gf_json_parser_create(&i.parser, err);
    i.cells.table = i.c.table;
    if (st == GF_OK) st = import(&i, err);
    if (st == GF_OK) st = gf_batch_write(i.c.batch, GF_SYNC, err);
    if (st == GF_OK) st = emit_counts(&i, err);
    gf_json_parser_free(i.parser);
    gf_cell_reader_release(&i.cells);
    gf_buffer_release(&i.kept);
    gf_table_call_close(&i.c);
    return st;
}
