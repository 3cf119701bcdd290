/* collection create, list, show, delete. */
#include "api/call_internal.h"

#include "base/arena.h"
#include "base/memory.h"

#include <stdlib.h>

static gf_status emit_name(gf_call *call, const char *done, gf_error *err)
{
    gf_row_writer row;
    gf_row_open(&row);
    gf_json_begin(&row.json, '{');
    gf_json_put_string(&row.json, "collection", gf_call_text(call, "collection"));
    gf_json_put_bool(&row.json, done, true);
    gf_json_end(&row.json, '}');
    gf_status st = gf_row_emit(&row, call, err);
    gf_row_release_writer(&row);
    return st;
}

gf_status gf_run_collection_create(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_status st = call->store(call->context, true, &store, err);
    if (st == GF_OK) st = gf_collection_create(store, gf_call_place(call), err);
    return st == GF_OK ? emit_name(call, "created", err) : st;
}

gf_status gf_run_collection_delete(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_collection_delete(store, gf_call_place(call), err);
    return st == GF_OK ? emit_name(call, "deleted", err) : st;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static void write_info(gf_json_writer *w, const gf_collection_info *info)
{
    gf_json_begin(w, '{');
    gf_json_put_string(w, "collection", info->name);
    gf_json_put_uint(w, "size", info->size);
    gf_json_put_time(w, "modified", info->modified);
    gf_json_key(w, "configurations");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < info->n_configurations; i++) {
        const gf_configuration_state *c = &info->configurations[i];
        gf_json_begin(w, '{');
        gf_json_put_string(w, "configuration", c->name);
        gf_json_put_uint(w, "build", (uint64_t)c->rebuilt);
        gf_json_put_time(w, "rebuilt", c->rebuilt);
        gf_json_put_time(w, "processed", c->processed);
        gf_json_end(w, '}');
    }
    gf_json_end(w, ']');
    gf_json_end(w, '}');
}

typedef struct row_context {
    gf_call *call;
    gf_row_writer row;
} row_context;

static gf_status emit_info(void *context, const gf_collection_info *info, gf_error *err)
{
    row_context *c = context;
    write_info(&c->row.json, info);
    return gf_row_emit(&c->row, c->call, err);
}

static gf_status emit_column(void *context, const char *family, gf_slice qualifier, gf_slice value,
                             gf_error *err)
{
    row_context *c = context;
    gf_json_begin(&c->row.json, '{');
    gf_json_put_str(&c->row.json, "family", family);
    gf_json_put_string(&c->row.json, "column", qualifier);
    gf_json_put_string(&c->row.json, "value", value);
    gf_json_end(&c->row.json, '}');
    return gf_row_emit(&c->row, c->call, err);
}

gf_status gf_run_collection_show(gf_call *call, gf_error *err)
{
    gf_store *store;
    row_context c = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    gf_row_open(&c.row);
    st = gf_call_flag(call, "columns")
             ? gf_collection_columns(store, gf_call_place(call), emit_column, &c, err)
             : gf_collection_read(store, gf_call_place(call), emit_info, &c, err);
    gf_row_release_writer(&c.row);
    return st;
}

/* ---- sorted lists -----------------------------------------------------------------------------
 */

typedef struct listed {
    gf_slice name, row;
    uint64_t size;
    int64_t modified;
} listed;

typedef struct listing {
    gf_arena memory;
    listed *rows;
    size_t n, capacity;
    gf_row_writer row;
} listing;

static gf_status keep_info(void *context, const gf_collection_info *info, gf_error *err)
{
    listing *l = context;
    if (l->n == l->capacity) {
        size_t capacity = l->capacity ? l->capacity * 2 : 64;
        listed *rows = gf_realloc(l->rows, capacity, sizeof *rows);
        if (!rows) return gf_fail_memory(err, "collections");
        l->rows = rows;
        l->capacity = capacity;
    }
    gf_buffer_reset(&l->row.buffer);
    l->row.json = gf_json_writer_to(&l->row.buffer);
    write_info(&l->row.json, info);
    gf_status st = gf_buffer_check(&l->row.buffer, err);
    if (st != GF_OK) return st;
    listed r = {gf_arena_copy(&l->memory, info->name),
                gf_arena_copy(&l->memory, gf_buffer_view(&l->row.buffer)), info->size,
                info->modified};
    if (!r.name.ptr || !r.row.ptr) return gf_fail_memory(err, "collections");
    l->rows[l->n++] = r;
    return GF_OK;
}

static int by_size(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return gf_slice_compare(x->name, y->name);
}

static int by_modified(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    if (x->modified != y->modified) return x->modified > y->modified ? -1 : 1;
    return gf_slice_compare(x->name, y->name);
}

static gf_status emit_sorted(gf_call *call, listing *l, gf_slice sort, gf_error *err)
{
    uint64_t limit = gf_call_number(call, "limit", UINT64_MAX);
    gf_status st = GF_OK;
    if (l->n)
        qsort(l->rows, l->n, sizeof *l->rows,
              gf_slice_equal(sort, GF_SLICE("size")) ? by_size : by_modified);
    for (size_t i = 0; i < l->n && i < limit && st == GF_OK; i++)
        st = call->emit(call->context, l->rows[i].row, err);
    return st;
}

/* By name they come from the table in order, and none has to be kept. */
typedef struct plain_listing {
    row_context rows;
    uint64_t left;
} plain_listing;

static gf_status emit_limited(void *context, const gf_collection_info *info, gf_error *err)
{
    plain_listing *l = context;
    if (l->left == 0) return GF_OK;
    l->left--;
    return emit_info(&l->rows, info, err);
}

gf_status gf_run_collection_list(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_slice sort = gf_call_text_or(call, "sort", "name"), prefix = gf_call_text(call, "prefix");
    bool by_name = gf_slice_equal(sort, GF_SLICE("name"));
    if (!by_name && !gf_slice_equal(sort, GF_SLICE("size")) &&
        !gf_slice_equal(sort, GF_SLICE("modified")))
        return gf_fail(err, GF_EINVAL, "sort: \"%.*s\" is none of name, size, modified",
                       GF_SLICE_ARG(sort));
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    if (by_name) {
        plain_listing l = {.rows = {.call = call},
                           .left = gf_call_number(call, "limit", UINT64_MAX)};
        gf_row_open(&l.rows.row);
        st = gf_collections_visit(store, call->name_space, prefix, emit_limited, &l, err);
        gf_row_release_writer(&l.rows.row);
        return st;
    }
    listing l = {0};
    gf_row_open(&l.row);
    st = gf_collections_visit(store, call->name_space, prefix, keep_info, &l, err);
    if (st == GF_OK) st = emit_sorted(call, &l, sort, err);
    gf_row_release_writer(&l.row);
    gf_arena_release(&l.memory);
    gf_free(l.rows);
    return st;
}
