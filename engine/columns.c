/*
 * Every column of the tables as they are documented: what is stored, what the key says, and what is
 * worked out from the served build of the configuration "default" (member_of, processing).
 */
#include "engine/view.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct column_visit {
    gf_visit_column *visit;
    void *context;
} column_visit;

static gf_status tell(const column_visit *c, const char *family, const char *qualifier,
                      gf_slice value, gf_error *err)
{
    return c->visit(c->context, family, gf_slice_str(qualifier), value, err);
}

static gf_status tell_place(const column_visit *c, gf_place where, gf_error *err)
{
    gf_status st = tell(c, "main", "namespace", where.name_space, err);
    return st == GF_OK ? tell(c, "main", "collection_key", where.collection, err) : st;
}

/* ---- documents --------------------------------------------------------------------------------
 */

static gf_status tell_stored(gf_view *v, gf_store *s, gf_place where, gf_slice id,
                             const column_visit *c, gf_error *err)
{
    gf_row row = {0};
    gf_buffer key = {0};
    gf_document_key(&key, where.name_space, where.collection, id);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(s->tables.documents, v ? v->snapshot : NULL, gf_buffer_view(&key),
                          1u << GF_DOCUMENTS_MAIN, &row, err);
    if (st == GF_OK) st = tell_place(c, where, err);
    if (st == GF_OK) st = tell(c, "main", "id", id, err);
    for (size_t i = 0; i < row.n_cells && st == GF_OK; i++)
        st = c->visit(c->context, "main", row.cells[i].qualifier, row.cells[i].value, err);
    gf_row_release(&row);
    gf_buffer_release(&key);
    return st;
}

/* The document's row in the build's space: its weights, and in its place the idf of each term. */
static gf_status tell_vectors(gf_view *v, const gf_document *d, const column_visit *c,
                              gf_error *err)
{
    gf_row_view row;
    gf_buffer bytes = {0};
    gf_status st = gf_view_need_model(v, err);
    if (st == GF_OK) st = gf_model_row(&v->model, d->language, d->text, &row, err);
    if (st != GF_OK) return st;
    float *idf = gf_array(row.n, sizeof *idf);
    if (!idf) return gf_fail_memory(err, "a vector");
    for (uint32_t p = 0; p < row.n; p++)
        idf[p] = (float)v->model.vocabulary.idf[row.col[p]];
    gf_vector_write((gf_row_view){row.col, idf, row.n}, &bytes);
    st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) st = tell(c, "processing", "vector_idf", gf_buffer_view(&bytes), err);
    gf_buffer_reset(&bytes);
    gf_vector_write(row, &bytes);
    if (st == GF_OK) st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) st = tell(c, "processing", "vector_tfidf", gf_buffer_view(&bytes), err);
    gf_free(idf);
    gf_buffer_release(&bytes);
    return st;
}

static gf_status tell_processing(gf_view *v, gf_slice id, const column_visit *c, gf_error *err)
{
    gf_membership m;
    gf_document d;
    gf_field *fields = NULL;
    uint64_t seq;
    gf_status st = gf_view_membership(v, id, &m, err);
    if (st == GF_OK) st = tell(c, "main", "member_of", m.label, err);
    if (st == GF_ENOTFOUND) st = GF_OK; /* put after the build */
    if (st == GF_OK) st = tell(c, "processing", "id", id, err);
    if (st == GF_OK) st = gf_view_read_document(v, id, &d, &fields, &seq, err);
    if (st == GF_OK) st = tell_vectors(v, &d, c, err);
    gf_free(fields);
    return st;
}

gf_status gf_document_columns(gf_store *s, gf_place where, gf_slice id, gf_visit_column *visit,
                              void *context, gf_error *err)
{
    column_visit c = {visit, context};
    gf_view *v = NULL;
    gf_status st = gf_view_open(s, where, GF_SLICE("default"), 0, &v, err);
    if (st == GF_ENOTFOUND) st = GF_OK; /* not rebuilt yet: only what is stored */
    if (st == GF_OK) st = tell_stored(v, s, where, id, &c, err);
    if (st == GF_ENOTFOUND)
        st = gf_fail(err, st, "there is no document \"%.*s\" in \"%.*s\"", GF_SLICE_ARG(id),
                     GF_SLICE_ARG(where.collection));
    if (st == GF_OK && v) st = tell_processing(v, id, &c, err);
    gf_view_close(v);
    return st;
}

/* ---- clusters ---------------------------------------------------------------------------------
 */

static gf_status tell_number(const column_visit *c, const char *name, uint64_t v, gf_error *err)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%" PRIu64, v);
    return tell(c, "main", name, gf_slice_of(text, (size_t)n), err);
}

static gf_status tell_members(gf_view *v, gf_slice key, const column_visit *c, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    gf_scan_options o = {.snapshot = v->snapshot, .family = GF_CLUSTERS_DOCUMENTS, .prefix = key};
    gf_status st = gf_scan_open(v->store->tables.clusters, &o, &scan, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && (st = gf_scan_next(scan, &row, err)) == GF_OK)
        if (gf_strings_find(&v->gone, row.cells[0].qualifier) == GF_STRING_NONE)
            st = c->visit(c->context, "documents", row.cells[0].qualifier, row.cells[0].value, err);
    gf_scan_close(scan);
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_cluster_columns(gf_view *v, uint32_t cluster, gf_visit_column *visit, void *context,
                             gf_error *err)
{
    column_visit c = {visit, context};
    gf_buffer key = {0};
    gf_status st = gf_view_know_clusters(v, err);
    if (st != GF_OK) return st;
    const gf_known_cluster *known = gf_view_find(v, cluster);
    if (!known) return gf_fail(err, GF_ENOTFOUND, "there is no cluster %" PRIu32, cluster);
    gf_cluster_key(&key, gf_buffer_view(&v->key), known->label);
    st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.clusters, v->snapshot, gf_buffer_view(&key),
                          1u << GF_CLUSTERS_MAIN, &v->row, err);
    if (st == GF_OK) st = tell_place(&c, v->where, err);
    if (st == GF_OK) st = tell_number(&c, "timestamp", (uint64_t)v->info.build, err);
    if (st == GF_OK) st = tell(&c, "main", "label", known->label, err);
    if (st == GF_OK) st = tell_number(&c, "size", known->size, err);
    if (st == GF_OK) st = tell_number(&c, "id", known->id, err);
    const gf_cell *terms = st == GF_OK ? gf_row_find(&v->row, GF_CLUSTERS_MAIN, "terms") : NULL;
    if (terms) st = tell(&c, "main", "terms", terms->value, err);
    if (st == GF_OK) st = tell_members(v, gf_buffer_view(&key), &c, err);
    gf_buffer_release(&key);
    return st;
}

/* ---- collections ------------------------------------------------------------------------------
 */

/* The cells of the model whose qualifiers start so, one behind the other. */
static gf_status join_model(gf_view *v, gf_slice start, gf_buffer *out, gf_error *err)
{
    gf_scan *scan;
    gf_scan_options o = {.snapshot = v->snapshot,
                         .family = GF_BUILDS_MODEL,
                         .prefix = gf_buffer_view(&v->key),
                         .qualifier_prefix = start};
    gf_status st = gf_scan_open(v->store->tables.builds, &o, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &v->row, err)) == GF_OK)
        gf_buffer_slice(out, v->row.cells[0].value);
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? gf_buffer_check(out, err) : st;
}

static gf_status tell_model(gf_view *v, const column_visit *c, gf_error *err)
{
    gf_buffer bytes = {0};
    gf_status st = join_model(v, GF_SLICE("vocabulary"), &bytes, err);
    if (st == GF_OK) st = tell(c, "processing", "dictionary", gf_buffer_view(&bytes), err);
    gf_buffer_reset(&bytes);
    if (st == GF_OK) st = join_model(v, GF_SLICE("index"), &bytes, err);
    if (st == GF_OK && bytes.len) st = tell(c, "processing", "index", gf_buffer_view(&bytes), err);
    gf_buffer_release(&bytes);
    return st;
}

gf_status gf_collection_columns(gf_store *s, gf_place where, gf_visit_column *visit, void *context,
                                gf_error *err)
{
    column_visit c = {visit, context};
    gf_collection_row row = {0};
    gf_view *v = NULL;
    gf_status st = gf_collection_row_read(s, NULL, where, &row, err);
    if (st == GF_OK) st = tell_place(&c, where, err);
    for (size_t i = 0; i < row.row.n_cells && st == GF_OK; i++)
        st = visit(context, "main", row.row.cells[i].qualifier, row.row.cells[i].value, err);
    if (st == GF_OK) {
        st = gf_view_open(s, where, GF_SLICE("default"), 0, &v, err);
        if (st == GF_OK) st = tell_model(v, &c, err);
        if (st == GF_ENOTFOUND) st = GF_OK;
    }
    gf_view_close(v);
    gf_collection_row_release(&row);
    return st;
}
