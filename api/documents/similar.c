/* similar: the documents nearest to one, or to a text. */
#include "api/documents/internal.h"
#include "api/documents/schema.h"

enum { SHOWN = 10 };

static gf_status run_similar(gf_call *call, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_store *store;
    gf_similar_options o =
        GF_SIMILAR_OPTIONS(.id = gf_call_text(call, "id"), .text = gf_call_text(call, "text"),
                           .language = gf_call_text(call, "lang"),
                           .limit = gf_call_number(call, "limit", SHOWN), .cancel = call->cancel,
                           .configuration = gf_call_text(call, "config"));
    if (gf_call_has(call, "id") == gf_call_has(call, "text"))
        return gf_fail(err, GF_EINVAL, "give either the id of a document or a text");
    if (gf_call_has(call, "lang") && gf_call_has(call, "id"))
        return gf_fail(err, GF_EINVAL, "lang goes with a text; the document says its own");
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_similar(store, gf_call_place(call), &o, gf_search_emit_hit, &row, err);
    gf_row_writer_release(&row);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter similar_parameters[] = {
    P_COLLECTION,
    P_CONFIG,
    P_TEXT("id", "ID", "the document"),
    P_TEXT("text", "TEXT", "instead a text that is not stored"),
    P_TEXT("lang", "LANG", "language of that text"),
    P_NUMBER("limit", 0, 0, "documents to show, most similar first (10; 0 for all)"),
    P_ID_TYPE};

const gf_operation gf_similar_operation = {
    .name = "similar",
    .method = "GET",
    .path = "/collections/{collection}/similar",
    .meaning = "Find the documents most similar to one",
    GF_PARAMETERS(similar_parameters),
    .members = gf_schema_similar,
    .run = run_similar,
};
