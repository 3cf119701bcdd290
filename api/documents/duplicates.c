/* duplicates: groups of documents that are nearly the same. */
#include "api/documents/internal.h"
#include "api/documents/schema.h"

enum { SHOWN = 10, SHOWN_MEMBERS = 5 };

static gf_status emit_duplicate(void *row_writer, const gf_near_duplicate *d, gf_error *err)
{
    gf_row_writer *row = row_writer;
    gf_json_writer *w = gf_row_writer_begin(row);
    gf_hit hit = {.document = d->document, .score = d->score, .membership = d->membership};
    gf_json_put_uint(w, "group", d->group);
    gf_json_put_uint(w, "size", d->size);
    if (d->representative) gf_json_put_bool(w, "representative", true);
    gf_json_put_uint(w, "groups", d->groups);
    gf_json_put_uint(w, "copies", d->copies);
    gf_status st = gf_search_put_hit(row, &hit, err);
    return st == GF_OK ? gf_row_writer_emit(row, err) : st;
}

static gf_status run_duplicates(gf_call *call, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_store *store;
    gf_near_duplicates_options o =
        GF_NEAR_DUPLICATES_OPTIONS(.configuration = gf_call_text(call, "config"),
                                   .least = gf_call_share(call, "min", GF_NEAR_DUPLICATES_LEAST),
                                   .limit = gf_call_number(call, "limit", SHOWN),
                                   .members = gf_call_number(call, "members", SHOWN_MEMBERS),
                                   .fresh = gf_call_flag(call, "new"), .cancel = call->cancel);
    if (!(o.least > 0))
        return gf_fail(err, GF_EINVAL, "min: a similarity above 0 and at most 1, such as 0.8");
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_near_duplicates(store, gf_call_place(call), &o, emit_duplicate, &row, err);
    gf_row_writer_release(&row);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter duplicates_parameters[] = {
    P_COLLECTIONS,
    P_EVERY,
    P_CONFIG,
    {"min", GF_PARAMETER_SHARE, false, "S", "least similarity to the representative (0.8)", 0, 0},
    P_FLAG("new", "only groups that have a document put after the build"),
    P_NUMBER("limit", 0, 0, "groups to show, largest first (10; 0 for all)"),
    P_NUMBER("members", 0, 0, "documents of each to show, nearest first (5; 0 for all)"),
    P_ID_TYPE};

const gf_operation gf_duplicates_operation = {
    .name = "duplicates",
    .method = "GET",
    .path = "/collections/{collection}/duplicates",
    .meaning = "Find documents that are nearly the same",
    GF_PARAMETERS(duplicates_parameters),
    .members = gf_schema_duplicates,
    .run = run_duplicates,
    .reach = GF_REACH_ALL,
};
