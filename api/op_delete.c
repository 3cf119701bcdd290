/* delete: documents by id, from the arguments or one on each line of the input. */
#include "api/call_internal.h"

typedef struct deleting {
    gf_call *call;
    gf_put *put;
    gf_buffer line;
    uint64_t asked;
} deleting;

static gf_status delete_id(deleting *d, gf_slice id, gf_error *err)
{
    gf_status st = gf_cancel_check(d->call->cancel, err);
    if (st != GF_OK) return st;
    d->asked++;
    return gf_put_delete(d->put, gf_call_text(d->call, "collection"), id, err);
}

static gf_status delete_line(deleting *d, gf_error *err)
{
    gf_slice id = gf_buffer_view(&d->line);
    if (gf_slice_ends(id, GF_SLICE("\r"))) id.len--;
    gf_status st = gf_buffer_check(&d->line, err);
    if (st == GF_OK && id.len) st = delete_id(d, id, err);
    gf_buffer_reset(&d->line);
    return st;
}

static gf_status delete_lines(deleting *d, gf_error *err)
{
    char bytes[4096];
    size_t n = 0;
    gf_status st;
    while ((st = d->call->input.read(d->call->input.context, bytes, sizeof bytes, &n, err)) ==
               GF_OK &&
           n > 0) {
        for (size_t i = 0; i < n && st == GF_OK; i++) {
            if (bytes[i] != '\n')
                gf_buffer_byte(&d->line, bytes[i]);
            else
                st = delete_line(d, err);
        }
        if (st != GF_OK) return st;
    }
    return st == GF_OK ? delete_line(d, err) : st;
}

static gf_status delete_streams(deleting *d, gf_error *err)
{
    gf_slice name;
    gf_status st;
    while ((st = d->call->input.next(d->call->input.context, &name, err)) == GF_OK) {
        st = delete_lines(d, err);
        if (st != GF_OK) return st;
    }
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status emit_counts(deleting *d, gf_error *err)
{
    gf_put_counts c = gf_put_counted(d->put);
    gf_row_writer row;
    gf_row_open(&row);
    gf_json_begin(&row.json, '{');
    gf_json_put_string(&row.json, "collection", gf_call_text(d->call, "collection"));
    gf_json_put_uint(&row.json, "asked", d->asked);
    gf_json_put_uint(&row.json, "deleted", c.deleted);
    gf_json_put_uint(&row.json, "absent", c.absent);
    gf_json_end(&row.json, '}');
    gf_status st = gf_row_emit(&row, d->call, err);
    gf_row_release_writer(&row);
    if (c.absent) d->call->outcome = GF_SOME_ABSENT;
    return st;
}

static gf_status nothing(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

gf_status gf_run_delete(gf_call *call, gf_error *err)
{
    gf_store *store;
    deleting d = {.call = call};
    gf_buffer_init(&d.line, 2 * GF_MAX_ID);
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_collection_read(store, gf_call_place(call), nothing, NULL, err);
    gf_put_options o = {.name_space = call->name_space};
    if (st == GF_OK) st = gf_put_open(store, &o, &d.put, err);
    for (size_t i = 0; i < gf_call_count(call, "id") && st == GF_OK; i++)
        st = delete_id(&d, gf_call_nth(call, "id", i), err);
    if (st == GF_OK && !gf_call_has(call, "id")) st = delete_streams(&d, err);
    if (st == GF_OK) st = gf_put_flush(d.put, err);
    if (st == GF_OK) st = emit_counts(&d, err);
    gf_put_close(d.put);
    gf_buffer_release(&d.line);
    return st;
}
