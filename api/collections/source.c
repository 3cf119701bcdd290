/* source list: how far the sources of a collection were read. */
#include "api/collections/internal.h"
#include "api/collections/schema.h"

#include "engine/put/put.h"

static gf_status emit_source(void *context, gf_slice source, gf_slice place, gf_error *err)
{
    gf_row_writer *row = context;
    gf_slice wanted = gf_call_text(row->call, "source");
    if (wanted.len && !gf_slice_equal(wanted, source)) return GF_OK;
    gf_json_writer *w = gf_row_writer_begin(row);
    gf_json_put_string(w, "source", source);
    gf_json_put_string(w, "place", place);
    return gf_row_writer_emit(row, err);
}

static gf_status run_source_list(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_put_places(store, gf_call_place(call), emit_source, &row, err);
    gf_row_writer_release(&row);
    return st;
}

static const gf_parameter source_list_parameters[] = {P_COLLECTION,
                                                      P_TEXT("source", "NAME", "only this one")};

const gf_operation gf_source_list_operation = {
    .name = "source list",
    .method = "GET",
    .path = "/collections/{collection}/sources",
    .meaning = "Tell how far the sources of a collection were read",
    GF_PARAMETERS(source_list_parameters),
    .members = gf_schema_source_list,
    .run = run_source_list,
};
