/* diff: what became of the clusters, or of the documents, of an earlier build in a later one. */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

typedef struct comparing {
    gf_row_writer row;
    gf_view *earlier, *later;
} comparing;

/* ---- which builds ---------------------------------------------------------------------------- */

/* Both in one state. */
static gf_status open_builds(comparing *c, gf_error *err)
{
    gf_store *store;
    const gf_call *call = c->row.call;
    gf_place where = gf_call_place(call);
    gf_slice configuration = gf_call_configuration(call);
    int64_t from = (int64_t)gf_call_number(call, "from", 0);
    int64_t to = (int64_t)gf_call_number(call, "to", 0);
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_view_open(store, where, configuration, to, &c->later, err);
    if (st != GF_OK) return st;
    return from ? gf_view_open_in(gf_view_state(c->later), configuration, from, &c->earlier, err)
                : gf_view_open_before(c->later, &c->earlier, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_parts(gf_json_writer *w, const char *name, const gf_flow *parts, size_t n)
{
    if (n == 0) return;
    gf_json_key(w, name);
    gf_json_begin(w, '[');
    for (size_t i = 0; i < n; i++) {
        gf_json_begin(w, '{');
        gf_json_put_uint(w, "cluster", parts[i].cluster);
        gf_json_put_string(w, "label", parts[i].label);
        gf_json_put_uint(w, "documents", parts[i].documents);
        gf_json_end(w, '}');
    }
    gf_json_end(w, ']');
}

static gf_status emit_cluster(void *context, const gf_cluster_change *change, gf_error *err)
{
    static const char *const words[] = {
        [GF_FATE_GONE] = "gone", [GF_FATE_NEW] = "new", [GF_FATE_CONTINUED] = "continued"};
    comparing *c = context;
    gf_status st = gf_cancel_check(c->row.call->cancel, err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&c->row);
    gf_json_put_str(w, "change", words[change->fate]);
    gf_json_put_uint(w, "cluster", change->cluster);
    gf_json_put_string(w, "label", change->label);
    if (change->label_before.len && !gf_slice_equal(change->label, change->label_before))
        gf_json_put_string(w, "label_before", change->label_before);
    gf_json_put_uint(w, "size_before", change->size_before);
    gf_json_put_uint(w, "size", change->size);
    gf_json_put_uint(w, "stayed", change->stayed);
    gf_json_put_uint(w, "came", change->came);
    gf_json_put_uint(w, "left", change->left);
    gf_json_put_uint(w, "added", change->added);
    gf_json_put_uint(w, "removed", change->removed);
    if (change->candidate) gf_json_put_uint(w, "candidate", change->candidate);
    put_parts(w, "split", change->split, change->n_split);
    put_parts(w, "merged", change->merged, change->n_merged);
    return gf_row_writer_emit(&c->row, err);
}

static void put_cluster(gf_json_writer *w, const char *name, uint32_t cluster)
{
    gf_json_key(w, name);
    if (cluster)
        gf_json_uint(w, cluster);
    else
        gf_json_null(w);
}

static gf_status emit_document(void *context, const gf_moved *moved, gf_error *err)
{
    comparing *c = context;
    gf_json_writer *w = gf_row_writer_begin(&c->row);
    gf_row_put_id(&c->row, moved->id);
    put_cluster(w, "from", moved->from);
    gf_json_put_string(w, "from_label", moved->from_label);
    put_cluster(w, "to", moved->to);
    gf_json_put_string(w, "to_label", moved->to_label);
    return gf_row_writer_emit(&c->row, err);
}

static gf_status run_diff(gf_call *call, gf_error *err)
{
    comparing c = {.row = {.call = call}};
    gf_status st = open_builds(&c, err);
    if (st == GF_OK && gf_call_flag(call, "docs"))
        st = gf_diff_documents(c.earlier, c.later, call->cancel, emit_document, &c, err);
    else if (st == GF_OK)
        st = gf_diff(c.earlier, c.later, call->cancel, emit_cluster, &c, err);
    gf_store *store;
    if (st == GF_OK) st = gf_call_store(call, &store, err);
    if (st == GF_OK && gf_view_build(c.later)->served)
        st = gf_edits_tell_lost(call, store, gf_call_place(call), gf_call_configuration(call), err);
    gf_row_writer_release(&c.row);
    gf_view_close(c.earlier);
    gf_view_close(c.later);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter diff_parameters[] = {
    P_COLLECTIONS,
    P_EVERY,
    {"from", GF_PARAMETER_MOMENT, false, "TIME",
     "a build that is kept (the newest before the other)", 1, 0},
    {"to", GF_PARAMETER_MOMENT, false, "TIME", "a build that is kept (the served one)", 1, 0},
    P_CONFIG,
    P_FLAG("docs", "instead the documents that are in another cluster than before"),
    P_ID_TYPE};

const gf_operation gf_diff_operation = {
    .name = "diff",
    .method = "GET",
    .path = "/collections/{collection}/diff",
    .meaning = "Tell what changed from one build to another",
    GF_PARAMETERS(diff_parameters),
    .members = gf_schema_diff,
    .run = run_diff,
    .reach = GF_REACH_ALL,
    .cacheable = true,
    .tells_lost = true,
};
