/*
 * A build as a matrix: the rows of its documents, worked out again from their texts through the
 * build's own model, or those that the build keeps; its centroids, and who is where.
 */
#include "engine/view/view.h"

#include "base/memory.h"
#include "engine/rows/kept_rows.h"
#include "grouperfish/matrix.h"

typedef struct reading {
    gf_view *view;
    const gf_cancel *cancel;
    gf_build_matrix m;
    gf_buffer ids, names;             /* strings, one behind the other */
    uint64_t *id_start;               /* capacity + 1 */
    uint32_t capacity;                /* of what there is one of a row */
    uint64_t entries, centre_entries; /* capacities */
    gf_field *fields;
    gf_kept_rows kept; /* where they are not the texts' */
    gf_row_view zeros; /* all columns, of a dense matrix */
} reading;

/* ---- growing arrays -------------------------------------------------------------------------- */

#define GROW(array, n) grow((void **)&(array), (n), sizeof *(array), err)

static gf_status grow(void **array, uint64_t n, size_t size, gf_error *err)
{
    void *grown = gf_realloc(*array, (size_t)n, size);
    if (!grown) return gf_fail_memory(err, "a matrix");
    *array = grown;
    return GF_OK;
}

static gf_status reserve_row(reading *r, gf_error *err)
{
    gf_build_matrix *m = &r->m;
    if (m->rows.n_rows < r->capacity) return GF_OK;
    uint32_t n = r->capacity ? r->capacity * 2 : 256;
    gf_status st = GROW(m->rows.start, (uint64_t)n + 1);
    if (st == GF_OK) st = GROW(r->id_start, (uint64_t)n + 1);
    if (st == GF_OK) st = GROW(m->label, n);
    if (st == GF_OK) st = GROW(m->score, n);
    if (st == GF_OK) st = GROW(m->replaced, n);
    if (st != GF_OK) return st;
    if (r->capacity == 0) m->rows.start[0] = r->id_start[0] = 0;
    r->capacity = n;
    return GF_OK;
}

/* Append a row's entries behind those of the matrix; its start is the caller's to set. */
static gf_status append_entries(gf_csr *x, uint64_t at, uint64_t *capacity, gf_row_view row,
                                gf_error *err)
{
    if (at + row.n > *capacity) {
        uint64_t n = (at + row.n) + (at + row.n) / 2 + 1024;
        gf_status st = GROW(x->col, n);
        if (st == GF_OK) st = GROW(x->val, n);
        if (st != GF_OK) return st;
        *capacity = n;
    }
    if (row.n == 0) return GF_OK;
    memcpy(x->col + at, row.col, row.n * sizeof *row.col);
    memcpy(x->val + at, row.val, row.n * sizeof *row.val);
    return GF_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The row that the build keeps, or that the document brought along since; without one zeros. */
static gf_status read_given_row(reading *r, const gf_document *d, bool replaced, gf_row_view *row,
                                gf_error *err)
{
    gf_view *v = r->view;
    gf_status st =
        replaced ? gf_view_row_of(v, d, row, err) : gf_kept_rows_find(&r->kept, d->id, row, err);
    if (st == GF_ENOTFOUND) {
        st = GF_OK;
        *row = (gf_row_view){0};
    }
    if (st == GF_OK && row->n < r->zeros.n) {
        gf_row_view part = *row;
        float *val = (float *)r->zeros.val;
        memset(val, 0, r->zeros.n * sizeof *val);
        for (uint32_t i = 0; i < part.n; i++)
            val[part.col[i]] = part.val[i];
        *row = r->zeros;
    }
    return st;
}

static gf_status read_row(reading *r, gf_slice id, bool replaced, gf_row_view *row, gf_error *err)
{
    gf_view *v = r->view;
    gf_document d;
    uint64_t seq;
    gf_free(r->fields);
    r->fields = NULL;
    gf_status st = gf_state_document_row(v->state, id, &v->document_row, &d, &r->fields, &seq, err);
    if (st != GF_OK) return st;
    return v->info.rows != GF_ROWS_OF_TEXTS ? read_given_row(r, &d, replaced, row, err)
                                            : gf_model_row(&v->model, d.language, d.text, row, err);
}

static gf_status add_row(void *context, gf_slice id, const gf_membership *member, gf_error *err)
{
    reading *r = context;
    gf_csr *x = &r->m.rows;
    gf_row_view row;
    uint32_t i = x->n_rows;
    gf_status st = gf_cancel_check(r->cancel, err);
    if (st == GF_OK) st = reserve_row(r, err);
    if (st == GF_OK) st = read_row(r, id, member->replaced, &row, err);
    if (st == GF_OK) st = append_entries(x, x->start[i], &r->entries, row, err);
    if (st != GF_OK) return st;
    gf_buffer_slice(&r->ids, id);
    x->start[i + 1] = x->start[i] + row.n;
    r->id_start[i + 1] = r->ids.len;
    r->m.label[i] = member->cluster;
    r->m.score[i] = member->score;
    r->m.replaced[i] = member->replaced;
    x->n_rows++;
    return gf_buffer_check(&r->ids, err);
}

/* The ids' bytes no longer move: their slices. */
static gf_status point_at_ids(reading *r, gf_error *err)
{
    gf_build_matrix *m = &r->m;
    m->id = gf_array(m->rows.n_rows, sizeof *m->id);
    if (!m->id) return gf_fail_memory(err, "a matrix");
    for (uint32_t i = 0; i < m->rows.n_rows; i++)
        m->id[i] =
            gf_slice_of(r->ids.ptr + r->id_start[i], (size_t)(r->id_start[i + 1] - r->id_start[i]));
    return GF_OK;
}

/* ---- clusters -------------------------------------------------------------------------------- */

static gf_status add_centroid(reading *r, uint32_t id, gf_error *err)
{
    gf_csr *c = &r->m.centroids;
    uint64_t at = c->start[c->n_rows];
    uint32_t *col = NULL, n = 0;
    float *val = NULL;
    gf_status st = gf_view_read_centre(r->view, id, &col, &val, &n, err);
    if (st == GF_OK)
        st = append_entries(c, at, &r->centre_entries, (gf_row_view){col, val, n}, err);
    gf_free(col);
    gf_free(val);
    if (st == GF_OK) c->start[++c->n_rows] = at + n;
    return st;
}

static gf_status read_clusters(reading *r, gf_error *err)
{
    gf_view *v = r->view;
    gf_build_matrix *m = &r->m;
    gf_status st = gf_view_load_clusters(v, err);
    if (st != GF_OK) return st;
    m->n_clusters = (uint32_t)v->n_clusters;
    m->centroids.start = gf_calloc((size_t)m->n_clusters + 1, sizeof *m->centroids.start);
    m->cluster = gf_array(m->n_clusters, sizeof *m->cluster);
    m->name = gf_array(m->n_clusters, sizeof *m->name);
    if (!m->centroids.start || !m->cluster || !m->name) return gf_fail_memory(err, "a matrix");
    for (uint32_t i = 0; i < m->n_clusters && st == GF_OK; i++) {
        m->cluster[i] = v->clusters[i].id;
        m->name[i] = v->clusters[i].label;
        st = add_centroid(r, v->clusters[i].id, err);
    }
    return st;
}

/* Rows that were made elsewhere: those that the build keeps. */
static gf_status open_given(reading *r, gf_error *err)
{
    gf_view *v = r->view;
    gf_status st = gf_kept_rows_open(&r->kept, v->store->tables.builds, v->snapshot,
                                     gf_buffer_view(&v->key), err);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, GF_ECONFLICT,
                       "this build clusters vectors that were made elsewhere, and is of an earlier "
                       "version, which did not keep them: there are no rows to give");
    if (st != GF_OK || v->info.rows == GF_ROWS_SPARSE) return st;
    uint32_t *col = gf_array(v->info.terms, sizeof *col);
    float *val = gf_calloc(v->info.terms, sizeof *val);
    r->zeros = (gf_row_view){col, val, v->info.terms};
    if (!col || !val) return gf_fail_memory(err, "a row");
    for (uint32_t c = 0; c < v->info.terms; c++)
        col[c] = c;
    return GF_OK;
}

static gf_status read_matrix(reading *r, gf_error *err)
{
    gf_view *v = r->view;
    gf_build_matrix *m = &r->m;
    bool given = v->info.rows != GF_ROWS_OF_TEXTS;
    gf_status st = given ? open_given(r, err) : gf_view_load_model(v, err);
    if (st == GF_OK) st = read_clusters(r, err);
    if (st == GF_OK) st = reserve_row(r, err);
    if (st == GF_OK) st = gf_view_memberships(v, add_row, r, err);
    if (st == GF_OK) st = point_at_ids(r, err);
    m->rows.n_cols = m->centroids.n_cols = given ? v->info.terms : v->model.vocabulary.n_terms;
    m->vocabulary = given ? NULL : &v->model.vocabulary;
    return st;
}

gf_status gf_view_read_matrix(gf_view *v, const gf_cancel *cancel, gf_build_matrix *matrix,
                              gf_error *err)
{
    reading r = {.view = v, .cancel = cancel};
    gf_status st = read_matrix(&r, err);
    r.m.id_bytes = r.ids.ptr;
    if (st == GF_OK)
        *matrix = r.m;
    else
        gf_build_matrix_release(&r.m);
    gf_free(r.id_start);
    gf_free(r.fields);
    gf_free((void *)r.zeros.col);
    gf_free((void *)r.zeros.val);
    gf_kept_rows_release(&r.kept);
    return st;
}

gf_status gf_view_read_centres(gf_view *v, gf_build_matrix *matrix, gf_error *err)
{
    reading r = {.view = v};
    bool given = gf_rows_are_given(v->info.rows);
    bool of_terms = v->info.rows == GF_ROWS_OF_TEXTS;
    gf_status st = given ? GF_OK : gf_view_load_model(v, err);
    if (st == GF_OK) st = read_clusters(&r, err);
    r.m.centroids.n_cols = of_terms ? v->model.vocabulary.n_terms : v->info.terms;
    r.m.rows.n_cols = r.m.centroids.n_cols;
    r.m.vocabulary = of_terms ? &v->model.vocabulary : NULL;
    if (st == GF_OK)
        *matrix = r.m;
    else
        gf_build_matrix_release(&r.m);
    return st;
}

gf_slice gf_build_matrix_term(const gf_build_matrix *m, uint32_t column)
{
    return gf_vocabulary_term(m->vocabulary, column);
}

gf_slice gf_build_matrix_surface(const gf_build_matrix *m, uint32_t column)
{
    return gf_vocabulary_surface(m->vocabulary, column);
}

void gf_build_matrix_release(gf_build_matrix *m)
{
    gf_free(m->rows.start);
    gf_free(m->rows.col);
    gf_free(m->rows.val);
    gf_free(m->centroids.start);
    gf_free(m->centroids.col);
    gf_free(m->centroids.val);
    gf_free(m->id);
    gf_free(m->id_bytes);
    gf_free(m->label);
    gf_free(m->score);
    gf_free(m->replaced);
    gf_free(m->cluster);
    gf_free(m->name);
    *m = (gf_build_matrix){0};
}
