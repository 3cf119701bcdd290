/* Rows of a view's snapshot: changes, documents, memberships, centres. */
#include "engine/view/view.h"

gf_status gf_view_each_change_after(gf_view *v, uint64_t seq, gf_each_row *each, void *context,
                                    gf_error *err)
{
    gf_buffer start = {0}, prefix = {0};
    gf_tables_collection_key(&prefix, v->where.name_space, v->where.collection);
    gf_tables_change_key(&start, v->where.name_space, v->where.collection, seq + 1);
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_buffer_check(&prefix, err);
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_CHANGES_MAIN,
                        .prefix = gf_buffer_view(&prefix), .start = gf_buffer_view(&start));
    if (st == GF_OK) st = gf_scan_each(v->store->tables.changes, &o, each, context, err);
    gf_buffer_release(&start);
    gf_buffer_release(&prefix);
    return st;
}

gf_status gf_view_each_change(gf_view *v, gf_each_row *each, void *context, gf_error *err)
{
    return gf_view_each_change_after(v, v->info.seq, each, context, err);
}

static gf_status note_change(void *ids, const gf_row *row, gf_error *err)
{
    const gf_cell *id = gf_row_find(row, GF_CHANGES_MAIN, "id");
    uint32_t number;
    if (!id) return gf_fail(err, GF_ECORRUPT, "table changes: a row is damaged");
    return gf_strings_add(ids, id->value, &number, NULL, err);
}

gf_status gf_view_changed_ids(gf_view *view, gf_strings *ids, gf_error *err)
{
    return gf_view_each_change(view, note_change, ids, err);
}

gf_status gf_view_read_cells(gf_view *v, gf_slice id, gf_membership_cells *m, gf_error *err)
{
    gf_buffer key = {0};
    gf_tables_membership_key(&key, gf_buffer_view(&v->key), id);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.memberships, v->snapshot, gf_buffer_view(&key),
                          1u << GF_MEMBERSHIPS_MAIN, &v->row, err);
    if (st == GF_OK) st = gf_tables_membership_read(&v->row, GF_MEMBERSHIPS_MAIN, m, err);
    gf_buffer_release(&key);
    return st;
}

gf_status gf_view_read_centre(gf_view *v, uint32_t id, uint32_t **term, float **value, uint32_t *n,
                              gf_error *err)
{
    gf_buffer_reset(&v->text);
    gf_model_centre_qualifier(&v->text, id);
    gf_status st = gf_buffer_check(&v->text, err);
    if (st == GF_OK)
        st = gf_table_get_cell(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                               GF_BUILDS_MODEL, gf_buffer_view(&v->text), 1, &v->row, err);
    if (st == GF_ENOTFOUND) return gf_fail(err, GF_ECORRUPT, "cluster %u has lost its centre", id);
    if (st != GF_OK) return st;
    return gf_model_vector_read(v->row.cells[0].value, v->info.terms, term, value, n, err);
}

gf_status gf_view_read_background(gf_view *v, uint32_t **term, float **value, uint32_t *n,
                                  gf_error *err)
{
    *n = 0;
    if (v->info.rows != GF_ROWS_OF_TEXTS) return GF_OK;
    gf_buffer_reset(&v->text);
    gf_model_centre_qualifier(&v->text, 0);
    gf_status st = gf_buffer_check(&v->text, err);
    if (st == GF_OK)
        st = gf_table_get_cell(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                               GF_BUILDS_MODEL, gf_buffer_view(&v->text), 1, &v->row, err);
    if (st == GF_ENOTFOUND && v->info.unplaced)
        return gf_fail(err, GF_ECORRUPT, "a build of topics has lost its background");
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st != GF_OK) return st;
    return gf_model_vector_read(v->row.cells[0].value, v->info.terms, term, value, n, err);
}

gf_status gf_view_document(gf_view *v, gf_slice id, gf_visit_document *visit, void *context,
                           gf_error *err)
{
    return gf_state_document(v->state, id, visit, context, err);
}
