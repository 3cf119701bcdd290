/* new: groups of the documents that came since the build and fit no cluster. */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

static void put_documents(gf_row_writer *row, const gf_new_group *c)
{
    gf_json_writer *w = &row->json;
    gf_json_key(w, "documents");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < c->n_documents; i++) {
        gf_json_begin(w, '{');
        gf_row_put_id(row, c->id[i]);
        gf_json_put_float(w, "score", (float)c->score[i]);
        gf_json_put_string(w, "text", c->text[i]);
        gf_json_end(w, '}');
    }
    gf_json_end(w, ']');
}

static gf_status emit_candidate(void *context, const gf_new_group *c, gf_error *err)
{
    gf_row_writer *row = context;
    const gf_cluster_info terms = {.terms = c->terms, .n_terms = c->n_terms};
    gf_json_writer *w = gf_row_writer_begin(row);
    if (c->candidate) gf_json_put_uint(w, "cluster", c->candidate);
    gf_json_put_string(w, "label", c->label);
    gf_json_put_uint(w, "size", c->size);
    gf_json_put_double(w, "p", c->p);
    if (c->has_times) {
        gf_row_put_time(w, "first", c->first);
        gf_row_put_time(w, "last", c->last);
    }
    if (c->nearest) {
        gf_json_put_uint(w, "nearest", c->nearest);
        gf_json_put_string(w, "nearest_label", c->nearest_label);
    }
    gf_json_put_double(w, "similarity", c->similarity);
    gf_row_put_terms(w, &terms, c->n_terms);
    put_documents(row, c);
    return gf_row_writer_emit(row, err);
}

static gf_status run_new(gf_call *call, gf_error *err)
{
    gf_view *view;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_view(call, &view, err);
    if (st != GF_OK) return st;
    st = gf_view_candidates(view, (uint32_t)gf_call_number(call, "least", 0), call->cancel,
                            emit_candidate, &row, err);
    gf_row_writer_release(&row);
    gf_view_close(view);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter new_parameters[] = {
    P_COLLECTIONS,
    P_EVERY,
    P_CONFIG,
    P_BUILD,
    P_NUMBER("least", 2, 1000000, "documents of a group (5)"),
    P_ID_TYPE};

const gf_operation gf_new_operation = {
    .name = "new",
    .method = "GET",
    .path = "/collections/{collection}/new",
    .meaning = "Tell what came since the build and fits no cluster",
    GF_PARAMETERS(new_parameters),
    .members = gf_schema_new,
    .run = run_new,
    .reach = GF_REACH_ALL,
};
