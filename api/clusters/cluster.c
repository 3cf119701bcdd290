/*
 * cluster: one cluster with its heaviest terms, its sentence and its best documents; or a group of them
 * with its clusters and its best documents.
 */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>

/* Terms, and documents, unless told otherwise, and at most. The answer is one row, which is held in
 * memory: it is cut behind the document that makes it longer than that; members has pages. */
enum { SHOWN = 10, MOST_SHOWN = 1000, MOST_BYTES = 4 << 20 };

typedef struct showing {
    gf_row_writer row;
    gf_view *view;
    uint32_t id;
    uint64_t documents; /* of the build that are still there: what shares are of */
    bool cut;           /* behind the last document that was written */
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
    if (!info->is_new) gf_row_put_share(&s->row.json, info->size, s->documents);
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
    gf_status st = gf_view_documents_left(s->view, &s->documents, err);
    if (st == GF_OK) st = gf_view_cluster(s->view, id, label, write_cluster, s, err);
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

/* ---- groups ---------------------------------------------------------------------------------- */

static gf_status write_part(void *context, const gf_cluster_info *info, gf_error *err)
{
    showing *s = context;
    gf_json_writer *w = &s->row.json;
    gf_status st = gf_cancel_check(s->row.call->cancel, err);
    if (st != GF_OK) return st;
    gf_json_begin(w, '{');
    gf_row_put_cluster(w, info);
    gf_json_end(w, '}');
    return GF_OK;
}

void gf_group_put(gf_json_writer *w, const char *member, uint32_t group)
{
    char name[16];
    snprintf(name, sizeof name, "g%" PRIu32, group);
    gf_json_put_string(w, member, gf_slice_str(name));
}

static gf_status write_group(void *context, const gf_group_info *info, gf_error *err)
{
    showing *s = context;
    gf_json_writer *w = &s->row.json;
    uint64_t docs = gf_call_number(s->row.call, "docs", SHOWN);
    gf_status st = GF_OK;
    gf_group_put(w, "group", info->id);
    if (info->above) gf_group_put(w, "above", info->above);
    gf_json_put_string(w, "label", info->label);
    gf_json_put_uint(w, "size", info->size);
    gf_row_put_share(w, info->size, s->documents);
    gf_json_key(w, "clusters");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < info->n_clusters && st == GF_OK; i++)
        st = gf_view_cluster(s->view, info->clusters[i], (gf_slice){0}, write_part, s, err);
    gf_json_end(w, ']');
    gf_json_key(w, "documents");
    gf_json_begin(w, '[');
    if (st == GF_OK && docs)
        st = gf_view_members_of(s->view, info->clusters, info->n_clusters, NULL, docs, write_member,
                                s, err);
    gf_json_end(w, ']');
    if (s->cut) {
        gf_json_put_bool(w, "cut", true);
        st = GF_OK;
    }
    return st;
}

static gf_status show_group(gf_call *call, showing *s, uint32_t group, gf_error *err)
{
    static const char *const others[] = {"weakest", "terms", "figures", "columns"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (i < 2 ? gf_call_has(call, others[i]) : gf_call_flag(call, others[i]))
            return gf_fail(err, GF_EINVAL, "%s is for a cluster, not for a group of them",
                           others[i]);
    gf_status st = gf_call_view(call, &s->view, err);
    if (st != GF_OK) return st;
    gf_json_put_uint(gf_row_writer_begin(&s->row), "build",
                     (uint64_t)gf_view_build(s->view)->build);
    st = gf_view_documents_left(s->view, &s->documents, err);
    if (st == GF_OK) st = gf_view_group(s->view, group, write_group, s, err);
    return st == GF_OK ? gf_row_writer_emit(&s->row, err) : st;
}

/* ---- names ----------------------------------------------------------------------------------- */

static gf_status take_id(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    *(uint32_t *)context = info->id;
    return GF_OK;
}

bool gf_cluster_name_is_group(gf_slice text, uint32_t *group)
{
    uint64_t v;
    if (text.len < 2 || text.len > 11 || text.ptr[0] != 'g' || text.ptr[1] == '0' ||
        !gf_number_read(gf_slice_skip(text, 1), &v) || v > UINT32_MAX)
        return false;
    *group = (uint32_t)v;
    return true;
}

gf_status gf_cluster_read_name(gf_slice text, uint32_t *id, gf_slice *label, gf_error *err)
{
    uint64_t v = 0;
    uint32_t group;
    bool digits = text.len <= 10;
    if (gf_cluster_name_is_group(text, &group))
        return gf_fail(
            err, GF_EINVAL,
            "%.*s is a group of clusters, and this is for one: \"cluster\" lists those of "
            "a group; a label is given as label:%.*s",
            GF_SLICE_ARG(text), GF_SLICE_ARG(text));
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
    gf_slice name = gf_call_text(call, "cluster");
    gf_status st = GF_OK;
    uint32_t group = 0;
    if (!gf_cluster_name_is_group(name, &group)) {
        st = gf_cluster_read_name(name, &id, &label, err);
        if (st == GF_OK) st = gf_call_view(call, &s.view, err);
    }
    if (st != GF_OK) return st;
    if (group) {
        st = show_group(call, &s, group, err);
    } else if (gf_call_flag(call, "columns")) {
        st = gf_cluster_find(s.view, id, label, &id, err);
        if (st == GF_OK)
            st = gf_columns_cluster(s.view, id, gf_row_writer_emit_column, &s.row, err);
    } else {
        st = show(&s, id, label, err);
    }
    gf_row_writer_release(&s.row);
    if (s.view) gf_view_close(s.view);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter cluster_parameters[] = {
    P_COLLECTION,
    P_REQUIRED("cluster", "ID|label:TEXT|gID", "the cluster, by id or label, or a group of them"),
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
