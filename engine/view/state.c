/* One state of a collection: a snapshot and the collection's row. */
#include "engine/view/state.h"

#include "base/memory.h"
#include "engine/config/settings.h"
#include "engine/rows/document_row.h"

gf_status gf_state_open(gf_store *store, gf_place where, gf_state **state, gf_error *err)
{
    gf_state *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a state");
    s->store = store;
    s->where.name_space = gf_arena_copy(&s->memory, where.name_space);
    s->where.collection = gf_arena_copy(&s->memory, where.collection);
    bool copied = s->where.name_space.ptr && s->where.collection.ptr;
    gf_status st = copied ? GF_OK : gf_fail_memory(err, "a state");
    if (st == GF_OK) st = gf_snapshot_create(store->db, &s->snapshot, err);
    if (st == GF_OK) st = gf_collection_row_read(store, s->snapshot, where, &s->row, err);
    if (st == GF_OK)
        *state = s;
    else
        gf_state_close(s);
    return st;
}

void gf_state_close(gf_state *s)
{
    if (!s) return;
    gf_collection_row_release(&s->row);
    gf_snapshot_free(s->snapshot);
    gf_arena_release(&s->memory);
    gf_free(s);
}

/* ---- documents ------------------------------------------------------------------------------- */

gf_status gf_state_row(const gf_state *s, gf_slice id, gf_row *row, gf_error *err)
{
    gf_buffer key = {0};
    gf_tables_document_key(&key, s->where.name_space, s->where.collection, id);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(s->store->tables.documents, s->snapshot, gf_buffer_view(&key),
                          1u << GF_DOCUMENTS_MAIN, row, err);
    gf_buffer_release(&key);
    if (st != GF_ENOTFOUND) return st;
    return gf_fail(err, st, "there is no document \"%.*s\" in \"%.*s\"", GF_SLICE_ARG(id),
                   GF_SLICE_ARG(s->where.collection));
}

gf_status gf_state_document_row(const gf_state *s, gf_slice id, gf_row *row, gf_document *document,
                                gf_field **fields, uint64_t *seq, gf_error *err)
{
    gf_status st = gf_state_row(s, id, row, err);
    if (st != GF_OK) return st;
    *fields = gf_array(row->n_cells, sizeof **fields);
    if (!*fields) return gf_fail_memory(err, "a document");
    gf_document_row_read(row, id, *fields, document, seq);
    return GF_OK;
}

gf_status gf_state_document(const gf_state *s, gf_slice id, gf_visit_document *visit, void *context,
                            gf_error *err)
{
    gf_row row = {0};
    gf_document document;
    gf_field *fields = NULL;
    uint64_t seq;
    gf_status st = gf_state_document_row(s, id, &row, &document, &fields, &seq, err);
    if (st == GF_OK) st = visit(context, &document, err);
    gf_free(fields);
    gf_row_release(&row);
    return st;
}

gf_status gf_document_read(gf_store *store, gf_place where, gf_slice id, gf_visit_document *visit,
                           void *context, gf_error *err)
{
    gf_state *s;
    gf_status st = gf_state_open(store, where, &s, err);
    if (st != GF_OK) return st;
    st = gf_state_document(s, id, visit, context, err);
    gf_state_close(s);
    return st;
}

/* ---- configurations -------------------------------------------------------------------------- */

gf_status gf_state_configurations(const gf_state *s, gf_visit_configuration *visit, void *context,
                                  gf_error *err)
{
    return gf_configuration_list(s->store, s->snapshot, s->where, &s->row, visit, context, err);
}
