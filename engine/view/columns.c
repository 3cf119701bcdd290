/*
 * Every column of the tables as they are documented: what is stored, what the key says, and what is
 * worked out from the served build of the configuration "default" (member_of, processing).
 */
#include "engine/view/view.h"

#include "base/memory.h"
#include "base/number.h"
#include "grouperfish/quality.h"

#include <inttypes.h>

typedef struct column_visit {
    gf_visit_column *visit;
    void *context;
} column_visit;

static gf_status visit_cell(const column_visit *c, const char *family, const char *qualifier,
                            gf_slice value, gf_error *err)
{
    return c->visit(c->context, family, gf_slice_str(qualifier), value, err);
}

static gf_status visit_place(const column_visit *c, gf_place where, gf_error *err)
{
    gf_status st = visit_cell(c, "main", "namespace", where.name_space, err);
    return st == GF_OK ? visit_cell(c, "main", "collection_key", where.collection, err) : st;
}

/* ---- documents ------------------------------------------------------------------------------- */

static gf_status visit_stored(const gf_state *state, gf_slice id, const column_visit *c,
                              gf_error *err)
{
    gf_row row = {0};
    gf_status st = gf_state_row(state, id, &row, err);
    if (st == GF_OK) st = visit_place(c, state->where, err);
    if (st == GF_OK) st = visit_cell(c, "main", "id", id, err);
    for (size_t i = 0; i < row.n_cells && st == GF_OK; i++)
        st = c->visit(c->context, "main", row.cells[i].qualifier, row.cells[i].value, err);
    gf_row_release(&row);
    return st;
}

/* The document's row in the build's space: its weights, and in its place the idf of each term. */
static gf_status visit_vectors(gf_view *v, const gf_document *d, const column_visit *c,
                               gf_error *err)
{
    gf_row_view row;
    gf_buffer bytes = {0};
    gf_status st = gf_view_load_model(v, err);
    if (st == GF_OK) st = gf_model_row(&v->model, d->language, d->text, &row, err);
    if (st != GF_OK) return st;
    float *idf = gf_array(row.n, sizeof *idf);
    if (!idf) return gf_fail_memory(err, "a vector");
    for (uint32_t p = 0; p < row.n; p++)
        idf[p] = (float)v->model.vocabulary.idf[row.col[p]];
    gf_model_vector_write((gf_row_view){row.col, idf, row.n}, &bytes);
    st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) st = visit_cell(c, "processing", "vector_idf", gf_buffer_view(&bytes), err);
    gf_buffer_reset(&bytes);
    gf_model_vector_write(row, &bytes);
    if (st == GF_OK) st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) st = visit_cell(c, "processing", "vector_tfidf", gf_buffer_view(&bytes), err);
    gf_free(idf);
    gf_buffer_release(&bytes);
    return st;
}

/* The served build's membership is the document's only while the document is what it was. */
static gf_status visit_member_of(gf_view *v, gf_slice id, const column_visit *c, gf_error *err)
{
    gf_membership m;
    gf_status st = gf_view_membership(v, id, &m, err);
    if (st == GF_ENOTFOUND) return GF_OK; /* put after the build */
    return st == GF_OK ? visit_cell(c, "main", "member_of", m.label, err) : st;
}

static gf_status visit_processing(gf_view *v, gf_slice id, const column_visit *c, gf_error *err)
{
    gf_row row = {0};
    gf_document d;
    gf_field *fields = NULL;
    uint64_t seq;
    gf_status st = visit_member_of(v, id, c, err);
    if (st == GF_OK) st = visit_cell(c, "processing", "id", id, err);
    if (st == GF_OK) st = gf_state_document_row(v->state, id, &row, &d, &fields, &seq, err);
    if (st == GF_OK) st = visit_vectors(v, &d, c, err);
    gf_free(fields);
    gf_row_release(&row);
    return st;
}

/* The served build of the configuration "default"; NULL where the collection has none yet. */
static gf_status open_served(const gf_state *state, gf_view **view, gf_error *err)
{
    gf_status st = gf_view_open_in(state, GF_SLICE("default"), 0, view, err);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_columns_document(gf_store *s, gf_place where, gf_slice id, gf_visit_column *visit,
                              void *context, gf_error *err)
{
    column_visit c = {visit, context};
    gf_state *state;
    gf_view *v = NULL;
    gf_status st = gf_state_open(s, where, &state, err);
    if (st != GF_OK) return st;
    st = open_served(state, &v, err);
    if (st == GF_OK) st = visit_stored(state, id, &c, err);
    if (st == GF_OK && v) st = visit_processing(v, id, &c, err);
    gf_view_close(v);
    gf_state_close(state);
    return st;
}

/* ---- clusters -------------------------------------------------------------------------------- */

static gf_status visit_number(const column_visit *c, const char *name, uint64_t v, gf_error *err)
{
    gf_number_digits digits;
    return visit_cell(c, "main", name, gf_number_write(&digits, v), err);
}

typedef struct member_walk {
    gf_view *view;
    const column_visit *visit;
} member_walk;

static gf_status visit_member(void *context, const gf_row *row, gf_error *err)
{
    member_walk *w = context;
    const gf_cell *cell = &row->cells[0];
    if (gf_deleted_set_has(w->view->deleted, cell->qualifier)) return GF_OK;
    return w->visit->visit(w->visit->context, "documents", cell->qualifier, cell->value, err);
}

static gf_status visit_cluster(gf_view *v, const gf_listed_cluster *listed, const gf_row *row,
                               const column_visit *c, gf_error *err)
{
    const gf_cell *terms = gf_row_find(row, GF_CLUSTERS_MAIN, "terms");
    const gf_cell *figures = gf_row_find(row, GF_CLUSTERS_MAIN, "figures");
    const gf_cell *sentence = gf_row_find(row, GF_CLUSTERS_MAIN, "sentence");
    const gf_cell *of = gf_row_find(row, GF_CLUSTERS_MAIN, "sentence_of");
    gf_status st = visit_place(c, v->where, err);
    if (st == GF_OK) st = visit_number(c, "timestamp", (uint64_t)v->info.build, err);
    if (st == GF_OK) st = visit_cell(c, "main", "label", listed->label, err);
    if (st == GF_OK) st = visit_number(c, "size", listed->size, err);
    if (st == GF_OK) st = visit_number(c, "id", listed->id, err);
    if (st == GF_OK && terms) st = visit_cell(c, "main", "terms", terms->value, err);
    if (st == GF_OK && figures) st = visit_cell(c, "main", "figures", figures->value, err);
    if (of && gf_deleted_set_has(v->deleted, of->value)) sentence = of = NULL;
    if (st == GF_OK && sentence) st = visit_cell(c, "main", "sentence", sentence->value, err);
    if (st == GF_OK && of) st = visit_cell(c, "main", "sentence_of", of->value, err);
    static const char *const titles[] = {"title", "title_model", "title_prompt"};
    for (size_t i = 0; i < 3 && st == GF_OK; i++) {
        const gf_cell *title = gf_row_find(row, GF_CLUSTERS_MAIN, titles[i]);
        if (title) st = visit_cell(c, "main", titles[i], title->value, err);
    }
    return st;
}

gf_status gf_columns_cluster(gf_view *v, uint32_t cluster, gf_visit_column *visit, void *context,
                             gf_error *err)
{
    column_visit c = {visit, context};
    gf_buffer key = {0};
    gf_row row = {0};
    gf_status st = gf_view_load_clusters(v, err);
    if (st != GF_OK) return st;
    const gf_listed_cluster *listed = gf_view_find_cluster(v, cluster);
    if (!listed) return gf_fail(err, GF_ENOTFOUND, "there is no cluster %" PRIu32, cluster);
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), listed->own_label);
    st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.clusters, v->snapshot, gf_buffer_view(&key),
                          1u << GF_CLUSTERS_MAIN, &row, err);
    if (st == GF_OK) st = visit_cluster(v, listed, &row, &c, err);
    member_walk w = {v, &c};
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_CLUSTERS_DOCUMENTS,
                                        .prefix = gf_buffer_view(&key));
    if (st == GF_OK) st = gf_scan_each(v->store->tables.clusters, &o, visit_member, &w, err);
    gf_row_release(&row);
    gf_buffer_release(&key);
    return st;
}

/* ---- collections ----------------------------------------------------------------------------- */

static gf_status append_value(void *context, const gf_row *row, gf_error *err)
{
    gf_buffer_slice(context, row->cells[0].value);
    return gf_buffer_check(context, err);
}

/* The cells of the model whose qualifiers start so, one behind the other. */
static gf_status join_model(gf_view *v, gf_slice start, gf_buffer *out, gf_error *err)
{
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_BUILDS_MODEL,
                        .prefix = gf_buffer_view(&v->key), .qualifier_prefix = start);
    return gf_scan_each(v->store->tables.builds, &o, append_value, out, err);
}

static gf_status visit_model(gf_view *v, const column_visit *c, gf_error *err)
{
    gf_buffer bytes = {0};
    gf_status st = join_model(v, GF_SLICE("vocabulary"), &bytes, err);
    if (st == GF_OK) st = visit_cell(c, "processing", "dictionary", gf_buffer_view(&bytes), err);
    gf_buffer_reset(&bytes);
    if (st == GF_OK) st = join_model(v, GF_SLICE("index"), &bytes, err);
    if (st == GF_OK && bytes.len)
        st = visit_cell(c, "processing", "index", gf_buffer_view(&bytes), err);
    gf_buffer_release(&bytes);
    return st;
}

gf_status gf_columns_collection(gf_store *s, gf_place where, gf_visit_column *visit, void *context,
                                gf_error *err)
{
    column_visit c = {visit, context};
    gf_state *state;
    gf_view *v = NULL;
    gf_status st = gf_state_open(s, where, &state, err);
    if (st != GF_OK) return st;
    st = open_served(state, &v, err);
    if (st == GF_OK) st = visit_place(&c, where, err);
    const gf_row *row = &state->row.row;
    for (size_t i = 0; i < row->n_cells && st == GF_OK; i++)
        st = visit(context, "main", row->cells[i].qualifier, row->cells[i].value, err);
    if (st == GF_OK && v) st = visit_model(v, &c, err);
    gf_view_close(v);
    gf_state_close(state);
    return st;
}
