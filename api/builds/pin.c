/* publish, pin, unpin, label: what people decide about builds and labels. */
#include "api/builds/internal.h"
#include "api/builds/schema.h"

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

static gf_status run_publish(gf_call *call, gf_error *err)
{
    gf_store *store;
    int64_t build = (int64_t)gf_call_number(call, "build", 0);
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_pin_publish(store, gf_call_place(call), gf_call_configuration(call), build, err);
    return st == GF_OK ? emit_build(call, build, "served", true, err) : st;
}

static gf_status set_pin(gf_call *call, bool pinned, gf_error *err)
{
    gf_store *store;
    int64_t build = (int64_t)gf_call_number(call, "build", 0);
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_pin_build(store, gf_call_place(call), gf_call_configuration(call), build, pinned,
                          err);
    return st == GF_OK ? emit_build(call, build, "pinned", pinned, err) : st;
}

static gf_status run_pin(gf_call *call, gf_error *err)
{
    return set_pin(call, true, err);
}

static gf_status run_unpin(gf_call *call, gf_error *err)
{
    return set_pin(call, false, err);
}

/* The id of the cluster that is named, by its id or by its label. */
static gf_status find_cluster(gf_call *call, uint32_t *id, gf_error *err)
{
    gf_view *view;
    gf_slice label = {0};
    gf_status st = gf_cluster_read_name(gf_call_text(call, "cluster"), id, &label, err);
    if (st != GF_OK || !label.len) return st;
    st = gf_call_view(call, &view, err);
    if (st != GF_OK) return st;
    st = gf_cluster_find(view, 0, label, id, err);
    gf_view_close(view);
    return st;
}

static gf_status run_label(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_slice text = gf_call_text(call, "text");
    uint32_t cluster;
    if (gf_call_flag(call, "unpin") == (text.len > 0))
        return gf_fail(err, GF_EINVAL, "label needs either a text, or --unpin");
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = find_cluster(call, &cluster, err);
    if (st == GF_OK)
        st = gf_pin_label(store, gf_call_place(call), gf_call_configuration(call), cluster, text,
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

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter one_build_parameters[] = {
    P_COLLECTION,
    {"build", GF_PARAMETER_MOMENT, true, "TIME", "a build that is kept", 1, 0},
    P_CONFIG};

static const gf_parameter label_parameters[] = {
    P_COLLECTION, P_REQUIRED("cluster", "ID|label:TEXT", "the cluster, by id or label"),
    P_TEXT("text", "TEXT", "what it is to be called"), P_FLAG("unpin", "take that back"), P_CONFIG};

const gf_operation gf_publish_operation = {
    .name = "publish",
    .method = "PUT",
    .path = "/collections/{collection}/served/{build}",
    .meaning = "Serve a build that is kept again",
    GF_PARAMETERS(one_build_parameters),
    .members = gf_schema_publish,
    .run = run_publish,
    .single = true,
};

const gf_operation gf_pin_operation = {
    .name = "pin",
    .method = "PUT",
    .path = "/collections/{collection}/builds/{build}/pin",
    .meaning = "Keep a build from being dropped",
    GF_PARAMETERS(one_build_parameters),
    .members = gf_schema_pin,
    .run = run_pin,
    .single = true,
};

const gf_operation gf_unpin_operation = {
    .name = "unpin",
    .method = "DELETE",
    .path = "/collections/{collection}/builds/{build}/pin",
    .meaning = "Let a pinned build be dropped",
    GF_PARAMETERS(one_build_parameters),
    .members = gf_schema_unpin,
    .run = run_unpin,
    .single = true,
};

const gf_operation gf_label_operation = {
    .name = "label",
    .method = "PUT",
    .path = "/collections/{collection}/clusters/{cluster}/label",
    .meaning = "Pin a cluster's label",
    GF_PARAMETERS(label_parameters),
    .members = gf_schema_label,
    .run = run_label,
    .single = true,
};
