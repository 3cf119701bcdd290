/* collection create, list, show, delete. */
#include "api/collections/internal.h"
#include "api/collections/schema.h"

#include "api/groups_internal.h"
#include "base/grow.h"
#include "base/memory.h"

#include <stdlib.h>

static gf_status emit_name(gf_call *call, const char *done, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_string(w, "collection", gf_call_text(call, "collection"));
    gf_json_put_bool(w, done, true);
    return gf_row_writer_emit_only(&row, err);
}

static gf_status run_collection_create(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_status st = gf_call_open_store(call, true, &store, err);
    if (st == GF_OK) st = gf_collection_create(store, gf_call_place(call), err);
    return st == GF_OK ? emit_name(call, "created", err) : st;
}

static gf_status run_collection_delete(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_collection_delete(store, gf_call_place(call), err);
    if (st == GF_OK && gf_call_flag(call, "purge")) st = gf_purge_store(store, call->cancel, err);
    return st == GF_OK ? emit_name(call, "deleted", err) : st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void write_info(gf_row_writer *row, const gf_collection_info *info)
{
    gf_json_writer *w = gf_row_writer_begin_of(row, info->name);
    gf_json_put_uint(w, "size", info->size);
    gf_row_put_time(w, "modified", info->modified);
    gf_json_key(w, "configurations");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < info->n_configurations; i++) {
        const gf_configuration_state *c = &info->configurations[i];
        gf_json_begin(w, '{');
        gf_json_put_string(w, "configuration", c->name);
        gf_json_put_uint(w, "build", (uint64_t)c->rebuilt);
        gf_row_put_time(w, "rebuilt", c->rebuilt);
        gf_row_put_time(w, "processed", c->processed);
        gf_json_end(w, '}');
    }
    gf_json_end(w, ']');
}

static gf_status emit_info(void *context, const gf_collection_info *info, gf_error *err)
{
    write_info(context, info);
    return gf_row_writer_emit(context, err);
}

static gf_status run_collection_show(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    gf_visit_column *each =
        gf_call_flag(call, "full") ? gf_row_writer_emit_column : gf_row_writer_emit_short_column;
    st = gf_call_flag(call, "columns")
             ? gf_columns_collection(store, gf_call_place(call), each, &row, err)
             : gf_collection_read(store, gf_call_place(call), emit_info, &row, err);
    gf_row_writer_release(&row);
    return st;
}

/* ---- the list: by name as the table has it, else kept and sorted ----------------------------- */

typedef struct listed {
    gf_slice name, row;
    uint64_t size;
    int64_t modified;
} listed;

typedef struct listing {
    gf_row_writer row;
    uint64_t limit;
    bool sorted;
    bool enough; /* the limit is reached: the visit is to end */
    gf_arena memory;
    listed *rows; /* n */
    size_t n, capacity;
} listing;

static gf_status keep(listing *l, const gf_collection_info *info, gf_error *err)
{
    if (!gf_grow(&l->rows, &l->capacity, l->n + 1, sizeof *l->rows))
        return gf_fail_memory(err, "collections");
    listed *r = &l->rows[l->n];
    *r = (listed){.size = info->size, .modified = info->modified};
    r->name = gf_arena_copy(&l->memory, info->name);
    if (!r->name.ptr) return gf_fail_memory(err, "collections");
    write_info(&l->row, info);
    gf_status st = gf_row_writer_keep(&l->row, &l->memory, &r->row, err);
    l->n += st == GF_OK;
    return st;
}

static gf_status visit(void *context, const gf_collection_info *info, gf_error *err)
{
    listing *l = context;
    gf_status st = gf_cancel_check(l->row.call->cancel, err);
    if (st != GF_OK) return st;
    if (l->sorted) return keep(l, info, err);
    l->enough = l->n++ == l->limit;
    if (l->enough) return gf_fail(err, GF_ECANCELLED, "these are enough");
    return emit_info(&l->row, info, err);
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

static gf_status emit_sorted(listing *l, gf_slice sort, gf_error *err)
{
    gf_call *call = l->row.call;
    gf_status st = GF_OK;
    if (l->n)
        qsort(l->rows, l->n, sizeof *l->rows,
              gf_slice_equal(sort, GF_SLICE("size")) ? by_size : by_modified);
    for (size_t i = 0; i < l->n && i < l->limit && st == GF_OK; i++) {
        st = gf_cancel_check(call->cancel, err);
        if (st == GF_OK) st = gf_call_emit(call, l->rows[i].row, err);
    }
    return st;
}

static gf_status run_collection_list(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_slice sort = gf_call_text_or(call, "sort", "name"), prefix = gf_call_text(call, "prefix");
    listing l = {.row = {.call = call},
                 .limit = gf_call_number(call, "limit", UINT64_MAX),
                 .sorted = !gf_slice_equal(sort, GF_SLICE("name"))};
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    st = gf_collections_visit(store, call->name_space, prefix, visit, &l, err);
    if (l.enough) st = GF_OK;
    if (st == GF_OK && l.sorted) st = emit_sorted(&l, sort, err);
    gf_row_writer_release(&l.row);
    gf_arena_release(&l.memory);
    gf_free(l.rows);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter one_collection_parameters[] = {P_COLLECTION};

static const gf_parameter collection_list_parameters[] = {
    P_TEXT("prefix", "TEXT", "only names that start so"),
    P_CHOICE("sort", "name|size|modified", "order (name)"),
    P_NUMBER("limit", 0, 0, "at most so many (all)")};

static const gf_parameter collection_show_parameters[] = {
    P_COLLECTIONS, P_EVERY, P_COLUMNS, P_FLAG("full", "with columns: binary values of any length")};

static const gf_parameter collection_delete_parameters[] = {P_COLLECTION, P_PURGE};

const gf_operation gf_collection_create_operation = {
    .name = "collection create",
    .method = "PUT",
    .path = "/collections/{collection}",
    .meaning = "Make an empty collection",
    GF_PARAMETERS(one_collection_parameters),
    .members = gf_schema_collection_create,
    .run = run_collection_create,
    .single = true,
    .creates = true,
};

const gf_operation gf_collection_list_operation = {
    .name = "collection list",
    .method = "GET",
    .path = "/collections",
    .meaning = "List collections",
    GF_PARAMETERS(collection_list_parameters),
    .members = gf_schema_collection_list,
    .run = run_collection_list,
};

const gf_operation gf_collection_show_operation = {
    .name = "collection show",
    .method = "GET",
    .path = "/collections/{collection}",
    .meaning = "Show a collection",
    GF_PARAMETERS(collection_show_parameters),
    .members = gf_schema_collection_show,
    .run = run_collection_show,
    .reach = GF_REACH_ALL,
    .single = true,
    .cacheable = true,
};

const gf_operation gf_collection_delete_operation = {
    .name = "collection delete",
    .method = "DELETE",
    .path = "/collections/{collection}",
    .meaning = "Delete a collection with all that is in it",
    GF_PARAMETERS(collection_delete_parameters),
    .members = gf_schema_collection_delete,
    .run = run_collection_delete,
    .single = true,
};

/* ---- the operations of this noun, in the order of the documentation -------------------------- */

static const gf_operation *const operations[] = {
    &gf_collection_create_operation, &gf_collection_list_operation, &gf_collection_show_operation,
    &gf_collection_delete_operation, &gf_config_set_operation,      &gf_config_show_operation,
    &gf_config_list_operation,       &gf_config_delete_operation,   &gf_config_keys_operation,
    &gf_source_list_operation,
};
const gf_operation_group gf_collections_operations = GF_OPERATION_GROUP(operations);
