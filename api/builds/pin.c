/* publish, pin, unpin, label: what people decide about builds and labels. */
#include "api/call.h"

static gf_status emit_build(gf_call *call, int64_t build, const char *done, bool value,
                            gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_string(w, "collection", gf_call_text(call, "collection"));
    gf_json_put_string(w, "configuration", gf_call_configuration(call));
    gf_json_put_uint(w, "build", (uint64_t)build);
    gf_json_put_bool(w, done, value);
    return gf_row_writer_emit_only(&row, err);
}

gf_status gf_run_publish(gf_call *call, gf_error *err)
{
    gf_store *store;
    int64_t build = (int64_t)gf_call_number(call, "build", 0);
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_build_publish(store, gf_call_place(call), gf_call_configuration(call), build, err);
    return st == GF_OK ? emit_build(call, build, "served", true, err) : st;
}

static gf_status set_pin(gf_call *call, bool pinned, gf_error *err)
{
    gf_store *store;
    int64_t build = (int64_t)gf_call_number(call, "build", 0);
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_build_pin(store, gf_call_place(call), gf_call_configuration(call), build, pinned,
                          err);
    return st == GF_OK ? emit_build(call, build, "pinned", pinned, err) : st;
}

gf_status gf_run_pin(gf_call *call, gf_error *err)
{
    return set_pin(call, true, err);
}

gf_status gf_run_unpin(gf_call *call, gf_error *err)
{
    return set_pin(call, false, err);
}

gf_status gf_run_label(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_slice text = gf_call_text(call, "text");
    uint32_t cluster = (uint32_t)gf_call_number(call, "cluster", 0);
    if (gf_call_flag(call, "unpin") == (text.len > 0))
        return gf_fail(err, GF_EINVAL, "label needs either a text, or --unpin");
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_label_pin(store, gf_call_place(call), gf_call_configuration(call), cluster, text,
                          err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_string(w, "collection", gf_call_text(call, "collection"));
    gf_json_put_string(w, "configuration", gf_call_configuration(call));
    gf_json_put_uint(w, "cluster", cluster);
    if (text.len) gf_json_put_string(w, "label", text);
    gf_json_put_bool(w, "pinned", text.len > 0);
    return gf_row_writer_emit_only(&row, err);
}
