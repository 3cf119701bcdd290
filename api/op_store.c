/* init, status, verify, version: the store as a whole. */
#include "api/call_internal.h"

gf_status gf_run_init(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row;
    gf_status st = call->store(call->context, true, &store, err);
    if (st != GF_OK) return st;
    gf_row_open(&row);
    gf_json_begin(&row.json, '{');
    gf_json_put_str(&row.json, "store", call->store_path(call->context));
    gf_json_put_bool(&row.json, "made", gf_store_is_new(store));
    gf_json_end(&row.json, '}');
    st = gf_row_emit(&row, call, err);
    gf_row_release_writer(&row);
    return st;
}

gf_status gf_run_status(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_store_status s;
    gf_row_writer row;
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_store_read_status(store, &s, err);
    if (st != GF_OK) return st;
    gf_row_open(&row);
    gf_json_begin(&row.json, '{');
    gf_json_put_str(&row.json, "store", call->store_path(call->context));
    gf_json_put_uint(&row.json, "collections", s.collections);
    gf_json_put_uint(&row.json, "documents", s.documents);
    gf_json_put_uint(&row.json, "builds", s.builds);
    gf_json_put_uint(&row.json, "unfinished", s.unfinished);
    gf_json_put_uint(&row.json, "bytes", s.bytes);
    gf_json_end(&row.json, '}');
    st = gf_row_emit(&row, call, err);
    gf_row_release_writer(&row);
    return st;
}

static gf_status tell_fault(void *context, const char *where, const char *what, gf_error *err)
{
    gf_call *call = context;
    (void)err;
    gf_notice n = {.reason = "damage", .source = gf_slice_str(where), .message = what};
    if (call->notice) call->notice(call->context, &n);
    return GF_OK;
}

gf_status gf_run_verify(gf_call *call, gf_error *err)
{
    gf_verified v;
    gf_row_writer row;
    gf_store_options options = {.purpose = "verify", .cancel = call->cancel};
    gf_status st = gf_verify(call->store_path(call->context), &options, tell_fault, call, &v, err);
    if (st != GF_OK) return st;
    gf_row_open(&row);
    gf_json_begin(&row.json, '{');
    gf_json_put_uint(&row.json, "collections", v.collections);
    gf_json_put_uint(&row.json, "documents", v.documents);
    gf_json_put_uint(&row.json, "builds", v.builds);
    gf_json_put_uint(&row.json, "memberships", v.memberships);
    gf_json_put_uint(&row.json, "faults", v.faults);
    gf_json_end(&row.json, '}');
    st = gf_row_emit(&row, call, err);
    gf_row_release_writer(&row);
    if (v.faults) call->outcome = GF_DAMAGE_FOUND;
    return st;
}

gf_status gf_run_version(gf_call *call, gf_error *err)
{
    gf_row_writer row;
    gf_row_open(&row);
    gf_json_begin(&row.json, '{');
    gf_json_put_str(&row.json, "version", gf_version());
    gf_json_put_str(&row.json, "libraries", gf_library_versions());
    gf_json_end(&row.json, '}');
    gf_status st = gf_row_emit(&row, call, err);
    gf_row_release_writer(&row);
    return st;
}
