/* search: the documents that have what a query asks for, best first. */
#include "api/documents/internal.h"
#include "api/documents/schema.h"

#include "base/memory.h"

enum { SHOWN = 10, SNIPPET = 120 /* characters */ };

gf_status gf_search_put_hit(gf_row_writer *row, const gf_hit *hit, gf_error *err)
{
    gf_json_writer *w = &row->json;
    const gf_membership *m = hit->membership;
    gf_buffer snippet = {0};
    gf_row_put_id(row, hit->document->id);
    gf_json_put_double(w, "score", hit->score);
    if (m && m->cluster) gf_json_put_uint(w, "cluster", m->cluster);
    if (m) gf_json_put_string(w, "label", m->label);
    if (m && m->provisional) gf_json_put_bool(w, "provisional", true);
    gf_snippet(hit->document->text, hit->found, SNIPPET, &snippet);
    gf_status st = gf_buffer_check(&snippet, err);
    gf_json_put_string(w, "snippet", gf_buffer_view(&snippet));
    if (hit->found.len) gf_json_put_string(w, "found", hit->found);
    if (hit->total) gf_json_put_uint(w, "total", hit->total);
    gf_row_put_fields(w, hit->document);
    gf_buffer_release(&snippet);
    return st;
}

gf_status gf_search_emit_hit(void *row_writer, const gf_hit *hit, gf_error *err)
{
    gf_row_writer_begin(row_writer);
    gf_status st = gf_search_put_hit(row_writer, hit, err);
    return st == GF_OK ? gf_row_writer_emit(row_writer, err) : st;
}

static gf_status read_where(const gf_call *call, gf_search_options *o, gf_slice **where,
                            gf_error *err)
{
    o->n_where = gf_call_count(call, "where");
    *where = gf_array(o->n_where, sizeof **where);
    if (!*where) return gf_fail_memory(err, "arguments");
    for (size_t i = 0; i < o->n_where; i++)
        (*where)[i] = gf_call_nth(call, "where", i);
    o->where = *where;
    return GF_OK;
}

static gf_status run_search(gf_call *call, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_store *store;
    gf_slice *where = NULL, cluster = gf_call_text(call, "cluster");
    gf_search_options o =
        GF_SEARCH_OPTIONS(.configuration = gf_call_text(call, "config"),
                          .since = gf_call_text(call, "since"),
                          .until = gf_call_text(call, "until"),
                          .limit = gf_call_number(call, "limit", SHOWN), .cancel = call->cancel);
    gf_status st = read_where(call, &o, &where, err);
    if (st == GF_OK && cluster.len)
        st = gf_cluster_read_name(cluster, &o.cluster, &o.cluster_label, err);
    if (st == GF_OK) st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_search(store, gf_call_place(call), gf_call_text(call, "query"), &o,
                       gf_search_emit_hit, &row, err);
    gf_row_writer_release(&row);
    gf_free(where);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter search_parameters[] = {
    P_COLLECTIONS,
    P_EVERY,
    P_REQUIRED("query", "QUERY", "words, word*, \"a phrase\"; - before what must not be there"),
    P_CONFIG,
    P_TEXT("cluster", "ID|label:TEXT", "only documents of this cluster"),
    P_SEVERAL("where", false, "F=V", "only documents of which this holds; also !=, <, <=, >, >="),
    P_TEXT("since", "TIME", "only documents whose time is not before this, or an age (30d)"),
    P_TEXT("until", "TIME", "only documents whose time is before this, or an age"),
    P_NUMBER("limit", 0, 0, "documents to show, best first (10; 0 for all)"),
    P_ID_TYPE};

const gf_operation gf_search_operation = {
    .name = "search",
    .method = "GET",
    .path = "/collections/{collection}/search",
    .meaning = "Find documents by their words",
    GF_PARAMETERS(search_parameters),
    .members = gf_schema_search,
    .run = run_search,
    .reach = GF_REACH_ALL,
};
