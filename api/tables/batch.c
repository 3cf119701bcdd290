/*
 * table batch: puts and deletes of rows of several tables, as a whole or not at all.
 *
 *     {"table":"students","key":["s1"],"cells":{"course":{"c9":"major"}}}
 *     {"table":"courses","key":["c9"],"delete":{"student":["s1"]}}
 *     {"table":"students","key":["s2"],"delete":true}
 *     {"table":"students","key":["s3"],"delete":{"course":true},"cells":{"info":{"age":20}}}
 *
 * The deletes of a line come first. Nothing is written before the last line is understood.
 */
#include "api/tables/input.h"
#include "api/tables/schema.h"

#include "base/memory.h"
#include "engine/store/hold.h"

enum { MOST_TABLES = 64 };
static const uint64_t most_bytes = UINT64_C(1) << 30;
static const uint64_t most_of_journal = UINT64_C(1) << 20; /* where a batch goes by a journal */

typedef struct batching {
    gf_call *call;
    gf_store *store;
    gf_batch *batch;
    gf_user_table *tables[MOST_TABLES]; /* n_tables that lines have named */
    size_t n_tables;
    gf_user_table *table; /* of the line at hand */
    gf_cell_reader cells;
    gf_json_parser *parser;
    gf_buffer key, text;
    bool by_journal;
    uint64_t lines, put, deleted;
} batching;

static gf_status find_table(batching *b, gf_json_value line, gf_error *err)
{
    gf_json_value v;
    if (!gf_json_member(line, "table", &v) || gf_json_kind_of(v) != GF_JSON_STRING)
        return gf_fail(err, GF_EINVAL, "it names no \"table\"");
    gf_slice name = gf_json_get_string(v);
    for (size_t i = 0; i < b->n_tables; i++)
        if (gf_slice_equal(gf_user_table_name(b->tables[i]), name)) {
            b->table = b->tables[i];
            return GF_OK;
        }
    if (b->n_tables == MOST_TABLES)
        return gf_fail(err, GF_ELIMIT, "a batch is of at most %d tables", MOST_TABLES);
    gf_status st = gf_user_table_open(b->store, b->call->name_space, name, &b->table, err);
    st = gf_table_absent(b->store, name, st, err);
    if (st == GF_OK) b->tables[b->n_tables++] = b->table;
    return st;
}

static gf_status put_cell(void *context, unsigned family, gf_slice qualifier, gf_slice value,
                          gf_error *err)
{
    batching *b = context;
    (void)err;
    gf_batch_put(b->batch, gf_user_table_rows(b->table), gf_buffer_view(&b->key), family, qualifier,
                 value, 0);
    b->put++;
    return GF_OK;
}

/* ["s1", "s2"], or true for the whole family. */
static gf_status delete_of_family(batching *b, unsigned family, gf_json_value v, gf_error *err)
{
    gf_json_value item;
    gf_status st = GF_OK;
    gf_table *rows = gf_user_table_rows(b->table);
    gf_slice key = gf_buffer_view(&b->key);
    if (gf_json_kind_of(v) == GF_JSON_BOOL && gf_json_get_bool(v)) {
        gf_batch_delete_row(b->batch, rows, key, UINT32_C(1) << family);
        b->deleted++;
        return GF_OK;
    }
    if (gf_json_kind_of(v) != GF_JSON_ARRAY)
        return gf_fail(err, GF_EINVAL, "what is deleted of a family is neither a list nor true");
    gf_json_iterator it = gf_json_items(v);
    while (st == GF_OK && gf_json_next(&it, NULL, &item)) {
        if (gf_json_kind_of(item) != GF_JSON_STRING)
            return gf_fail(err, GF_EINVAL, "a column to be deleted is not a string");
        gf_buffer_reset(&b->text);
        st = gf_user_table_value_write(gf_user_table_qualifier_type(b->table, family),
                                       gf_json_get_string(item), &b->text, err);
        if (st != GF_OK) break;
        gf_batch_delete_cell(b->batch, rows, key, family, gf_buffer_view(&b->text));
        b->deleted++;
    }
    return st;
}

static gf_status delete_what(batching *b, gf_json_value v, gf_error *err)
{
    gf_json_value item;
    gf_slice name;
    unsigned family;
    gf_status st = GF_OK;
    if (gf_json_kind_of(v) == GF_JSON_BOOL && gf_json_get_bool(v)) {
        gf_batch_delete_row(b->batch, gf_user_table_rows(b->table), gf_buffer_view(&b->key),
                            GF_ALL_FAMILIES);
        b->deleted++;
        return GF_OK;
    }
    if (gf_json_kind_of(v) != GF_JSON_OBJECT)
        return gf_fail(err, GF_EINVAL, "\"delete\" is neither true nor an object of families");
    gf_json_iterator it = gf_json_items(v);
    while (st == GF_OK && gf_json_next(&it, &name, &item)) {
        st = gf_user_table_find_family(b->table, name, &family, err);
        if (st == GF_OK) st = delete_of_family(b, family, item, err);
    }
    return st;
}

static gf_status check_members(gf_json_value line, gf_error *err)
{
    static const char *const known[] = {"table", "key", "cells", "delete"};
    gf_json_value v;
    gf_slice name;
    gf_json_iterator it = gf_json_items(line);
    while (gf_json_next(&it, &name, &v)) {
        bool found = false;
        for (size_t i = 0; i < 4; i++)
            found |= gf_slice_equal(name, gf_slice_str(known[i]));
        if (!found)
            return gf_fail(err, GF_EINVAL, "\"%.*s\" is none of table, key, cells, delete",
                           (int)(name.len < 99 ? name.len : 99), name.ptr);
    }
    return GF_OK;
}

static gf_status read_line(batching *b, gf_slice text, gf_error *err)
{
    gf_json_value line, key, cells, deleted;
    gf_status st = gf_json_parse(b->parser, text, &line, err);
    if (st != GF_OK) return st;
    if (gf_json_kind_of(line) != GF_JSON_OBJECT) return gf_fail(err, GF_EINVAL, "not an object");
    bool puts = gf_json_member(line, "cells", &cells);
    bool deletes = gf_json_member(line, "delete", &deleted);
    st = check_members(line, err);
    if (st == GF_OK && !puts && !deletes)
        st = gf_fail(err, GF_EINVAL, "it has neither \"cells\" nor \"delete\"");
    if (st == GF_OK) st = find_table(b, line, err);
    if (st == GF_OK && !gf_json_member(line, "key", &key))
        st = gf_fail(err, GF_EINVAL, "it has no \"key\"");
    gf_buffer_reset(&b->key);
    b->cells.table = b->table;
    if (st == GF_OK) st = gf_table_read_key(b->table, key, &b->key, &b->text, err);
    if (st == GF_OK && deletes) st = delete_what(b, deleted, err);
    if (st == GF_OK && puts) st = gf_table_read_cells(&b->cells, cells, put_cell, b, err);
    if (st == GF_OK && b->by_journal && gf_batch_bytes(b->batch) > most_of_journal)
        st = gf_fail(err, GF_ELIMIT,
                     "a batch of more than 1 MB, the most that a store in HBase changes as a whole "
                     "(each change counts about 130 bytes beside what it puts)");
    if (st == GF_OK && gf_batch_bytes(b->batch) > most_bytes)
        st = gf_fail(err, GF_ELIMIT, "a batch of more than 1 GiB");
    return st;
}

static gf_status read_lines(batching *b, gf_lines *lines, gf_error *err)
{
    gf_text_line line;
    gf_status st;
    while ((st = gf_table_lines_next(lines, &line, err)) == GF_OK) {
        b->lines++;
        st = read_line(b, line.text, err);
        if (st == GF_OK) st = gf_cancel_check(b->call->cancel, err);
        if (st == GF_EINVAL || st == GF_ENOTFOUND || st == GF_ELIMIT)
            gf_error_prefix(err, "%.*s:%llu", GF_SLICE_ARG(line.source),
                            (unsigned long long)line.number);
        if (st != GF_OK) return st;
    }
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status emit_counts(batching *b, gf_error *err)
{
    gf_row_writer row = {.call = b->call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_uint(w, "lines", b->lines);
    gf_json_put_uint(w, "tables", b->n_tables);
    gf_json_put_uint(w, "put", b->put);
    gf_json_put_uint(w, "deleted", b->deleted);
    return gf_row_writer_emit_only(&row, err);
}

static gf_status write_batch(batching *b, gf_error *err)
{
    gf_hold hold;
    gf_status st = gf_hold_batches(b->store, &hold, err);
    gf_batch_delete_later(b->batch);
    if (st == GF_OK) st = gf_batch_write(b->batch, GF_SYNC_ON, err);
    gf_hold_let_go(&hold);
    return st;
}

static gf_status run_table_batch(gf_call *call, gf_error *err)
{
    batching *b = gf_calloc(1, sizeof *b);
    gf_lines *lines = NULL;
    if (!b) return gf_fail_memory(err, "a batch");
    b->call = call;
    gf_status st = gf_call_store(call, &b->store, err);
    if (st == GF_OK) b->by_journal = gf_database_holds_in_rows(gf_store_database(b->store));
    if (st == GF_OK) st = gf_batch_create(gf_store_database(b->store), &b->batch, err);
    if (st == GF_OK) st = gf_json_parser_create(&b->parser, err);
    if (st == GF_OK) st = gf_table_lines_open(call, &lines, err);
    if (st == GF_OK) st = read_lines(b, lines, err);
    if (st == GF_OK) st = write_batch(b, err);
    if (st == GF_OK) st = emit_counts(b, err);
    for (size_t i = 0; i < b->n_tables; i++)
        gf_user_table_close(b->tables[i]);
    gf_json_parser_free(b->parser);
    gf_batch_free(b->batch);
    gf_lines_close(lines);
    gf_cell_reader_release(&b->cells);
    gf_buffer_release(&b->key);
    gf_buffer_release(&b->text);
    gf_free(b);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter table_batch_parameters[] = {P_UNPACKED};

const gf_operation gf_table_batch_operation = {
    .name = "table batch",
    .method = "POST",
    .path = "/tables",
    .meaning = "Change rows of several tables together or not at all",
    GF_PARAMETERS(table_batch_parameters),
    .members = gf_schema_table_batch,
    .run = run_table_batch,
    .input = GF_INPUT_REQUIRED,
};
