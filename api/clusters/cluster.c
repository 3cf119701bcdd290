/* cluster: one cluster with its heaviest terms, its sentence and its best documents. */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

/* Terms, and documents, unless told otherwise, and at most. The answer is one row, which is held in
 * memory: it is cut behind the document that makes it longer than that; members has pages. */
enum { SHOWN = 10, MOST_SHOWN = 1000, MOST_BYTES = 4 << 20 };

typedef struct showing {
    gf_row_writer row;
    gf_view *view;
    uint32_t id;
    bool cut; /* behind the last document that was written */
} showing;

static gf_status write_document(void *context, const gf_document *d, gf_error *err)
{
    gf_json_writer *w = context;
    (void)err;
    gf_json_put_string(w, "text", d->text);
    gf_row_put_fields(w, d);
    return GF_OK;
}

static gf_status write_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    showing *s = context;
    gf_json_writer *w = &s->row.json;
    gf_status st = gf_cancel_check(s->row.call->cancel, err);
    if (st != GF_OK) return st;
    s->cut = s->row.buffer.len > MOST_BYTES;
    if (s->cut) return gf_fail(err, GF_ECANCELLED, "the row is full");
    gf_json_begin(w, '{');
    gf_row_put_id(&s->row, id);
    gf_json_put_float(w, "score", m->score);
    if (m->runner_up) {
        gf_json_put_uint(w, "runner_up", m->runner_up);
        gf_json_put_string(w, "runner_up_label", m->runner_up_label);
        gf_json_put_float(w, "margin", m->score - m->second);
    }
    if (m->replaced) gf_json_put_bool(w, "replaced", true);
    if (m->copies) gf_json_put_uint(w, "copies", m->copies);
    st = gf_view_document(s->view, id, write_document, w, err);
    gf_json_end(w, '}');
    return st;
}

static gf_status write_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    showing *s = context;
    (void)err;
    s->id = info->id;
    gf_row_put_cluster(&s->row.json, info);
    gf_row_put_marks(&s->row.json, info);
    if (gf_call_flag(s->row.call, "figures")) gf_row_put_figures(&s->row.json, info->figures);
    gf_row_put_terms(&s->row.json, info, gf_call_number(s->row.call, "terms", SHOWN));
    gf_row_put_sentence(&s->row, info);
    gf_row_put_title(&s->row.json, info);
    return GF_OK;
}

static gf_status show(showing *s, uint32_t id, gf_slice label, gf_error *err)
{
    uint64_t weakest = gf_call_number(s->row.call, "weakest", 0);
    uint64_t docs = gf_call_number(s->row.call, "docs", SHOWN);
    gf_json_writer *w = gf_row_writer_begin(&s->row);
    gf_json_put_uint(w, "build", (uint64_t)gf_view_build(s->view)->build);
    gf_status st = gf_view_cluster(s->view, id, label, write_cluster, s, err);
    gf_json_key(w, "documents");
    gf_json_begin(w, '[');
    if (st == GF_OK && weakest)
        st = gf_view_weakest(s->view, s->id, weakest, write_member, s, err);
    else if (st == GF_OK && docs)
        st = gf_view_different(s->view, s->id, docs, write_member, s, err);
    gf_json_end(w, ']');
    if (s->cut) {
        gf_json_put_bool(w, "cut", true);
        st = GF_OK;
    }
    return st == GF_OK ? gf_row_writer_emit(&s->row, err) : st;
}

static gf_status take_id(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    *(uint32_t *)context = info->id;
    return GF_OK;
}

gf_status gf_cluster_read_name(gf_slice text, uint32_t *id, gf_slice *label, gf_error *err)
{
    uint64_t v = 0;
    bool digits = text.len <= 10;
    if (gf_slice_starts(text, GF_SLICE("label:"))) {
        *label = gf_slice_skip(text, 6);
        return GF_OK;
    }
    for (size_t i = 0; i < text.len && digits; i++) {
        digits = text.ptr[i] >= '0' && text.ptr[i] <= '9';
        v = v * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    if (!digits || v == 0 || v > UINT32_MAX)
        return gf_fail(err, GF_EINVAL,
                       "\"%.*s\" is not a cluster's id; a label is given as label:%.*s",
                       GF_SLICE_ARG(text), GF_SLICE_ARG(text));
    *id = (uint32_t)v;
    return GF_OK;
}

gf_status gf_cluster_find(gf_view *view, uint32_t id, gf_slice label, uint32_t *found,
                          gf_error *err)
{
    return gf_view_cluster(view, id, label, take_id, found, err);
}

static gf_status run_cluster(gf_call *call, gf_error *err)
{
    showing s = {.row = {.call = call}};
    uint32_t id = 0;
    gf_slice label = {0};
    if (gf_call_has(call, "docs") && gf_call_has(call, "weakest"))
        return gf_fail(err, GF_EINVAL, "--docs and --weakest do not go together");
    gf_status st = gf_cluster_read_name(gf_call_text(call, "cluster"), &id, &label, err);
    if (st == GF_OK) st = gf_call_view(call, &s.view, err);
    if (st != GF_OK) return st;
    if (gf_call_flag(call, "columns")) {
        st = gf_cluster_find(s.view, id, label, &id, err);
        if (st == GF_OK)
            st = gf_columns_cluster(s.view, id, gf_row_writer_emit_column, &s.row, err);
    } else {
        st = show(&s, id, label, err);
    }
    gf_row_writer_release(&s.row);
    gf_view_close(s.view);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter cluster_parameters[] = {
    P_COLLECTION,
    P_REQUIRED("cluster", "ID|label:TEXT", "the cluster, by id or label"),
    P_CONFIG,
    P_BUILD,
    P_NUMBER("docs", 0, MOST_SHOWN, "different documents to show, best first, 1000 at most (10)"),
    P_NUMBER("weakest", 1, MOST_SHOWN, "instead so many that fit worst, worst first"),
    P_NUMBER("terms", 0, MOST_SHOWN, "terms to show, heaviest first (10; 20 are kept)"),
    P_FLAG("figures", "also a word on the cluster, and the figures that it comes from"),
    P_COLUMNS,
    P_ID_TYPE};

const gf_operation gf_cluster_operation = {
    .name = "cluster",
    .method = "GET",
    .path = "/collections/{collection}/clusters/{cluster}",
    .meaning = "Show one cluster with its best documents",
    GF_PARAMETERS(cluster_parameters),
    .members = gf_schema_cluster,
    .run = run_cluster,
    .single = true,
    .cacheable = true,
};
