/*
 * Clustering the rows of a matrix that was made elsewhere, instead of those of the texts: each row
 * is matched with its document by id, scaled to unit length, and clustered; the clusters' terms are
 * those of their members' texts.
 */
#include "base/grid.h"
#include "base/memory.h"
#include "cluster/dense/dense.h"
#include "engine/build/cluster.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- matching rows with documents ------------------------------------------------------------ */

/* The values of a row: of a dense one all columns. */
static const float *row_values(const gf_matrix *m, uint32_t row, uint32_t *n)
{
    gf_row_view sparse = m->sparse ? gf_csr_row(m->sparse, row) : (gf_row_view){0};
    *n = m->sparse ? sparse.n : m->n_cols;
    return m->sparse ? sparse.val : m->dense + (size_t)row * m->n_cols;
}

/* The length of a row, 0 where it is all zeros; GF_EINVAL where it is not finite. */
static gf_status row_length(const gf_matrix *m, uint32_t row, double *length, gf_error *err)
{
    uint32_t n;
    const float *v = row_values(m, row, &n);
    double squares = 0;
    for (uint32_t p = 0; p < n; p++)
        squares += (double)v[p] * (double)v[p];
    *length = sqrt(squares);
    if (isfinite(squares)) return GF_OK;
    return gf_fail(err, GF_EINVAL, "row %" PRIu32 " of the matrix (\"%.*s\") is not finite", row,
                   GF_SLICE_ARG(m->id[row]));
}

/* The values of a row that has a direction, as a row of unit length on the grid (base/grid.h). */
static gf_status scale_row(const gf_matrix *m, uint32_t row, float *to, gf_error *err)
{
    uint32_t n;
    double length;
    const float *v = row_values(m, row, &n);
    gf_status st = row_length(m, row, &length, err);
    for (uint32_t p = 0; p < n && st == GF_OK; p++)
        to[p] = gf_grid_round((double)v[p] / length);
    return st;
}

/* row_at: documents->n, the matrix's row of each document, or GF_BUILD_NONE. */
static gf_status match_rows(const gf_matrix *m, const gf_build_gathered *documents,
                            uint32_t *row_at, uint64_t *unknown, gf_error *err)
{
    for (uint32_t i = 0; i < documents->n; i++)
        row_at[i] = GF_BUILD_NONE;
    for (uint32_t r = 0; r < m->n_rows; r++) {
        double length;
        uint32_t document = gf_build_gathered_find(documents, m->id[r]);
        gf_status st = row_length(m, r, &length, err);
        if (st != GF_OK) return st;
        if (document == GF_BUILD_NONE) {
            ++*unknown;
            continue;
        }
        if (row_at[document] != GF_BUILD_NONE)
            return gf_fail(err, GF_EINVAL, "the matrix has two rows of document \"%.*s\"",
                           GF_SLICE_ARG(m->id[r]));
        row_at[document] = r;
    }
    return GF_OK;
}

/*
 * List the documents whose row has a direction, by rising id, and move their rows to the front of
 * row_at in the same order. The others are in no cluster.
 */
static gf_status list_documents(const gf_matrix *m, uint32_t n_documents, uint32_t *row_at,
                                uint32_t *row_of, uint32_t *n, gf_error *err)
{
    *n = 0;
    for (uint32_t i = 0; i < n_documents; i++) {
        double length = 0;
        gf_status st = row_at[i] == GF_BUILD_NONE ? GF_OK : row_length(m, row_at[i], &length, err);
        if (st != GF_OK) return st;
        if (!(length > 0)) continue;
        row_of[*n] = i;
        row_at[(*n)++] = row_at[i];
    }
    return GF_OK;
}

/* ---- clustering the n rows that `rows` lists ------------------------------------------------- */

static gf_status cluster_sparse(gf_pool *pool, const gf_matrix *m, const uint32_t *rows, uint32_t n,
                                const gf_kmeans_options *o, gf_kmeans *out, gf_error *err)
{
    gf_csr x = {0};
    uint64_t nnz = 0;
    for (uint32_t i = 0; i < n; i++)
        nnz += gf_csr_row(m->sparse, rows[i]).n;
    gf_status st = gf_csr_init(&x, n, m->n_cols, nnz, err);
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        gf_row_view row = gf_csr_row(m->sparse, rows[i]);
        if (row.n) memcpy(x.col + x.start[i], row.col, row.n * sizeof *row.col);
        st = scale_row(m, rows[i], x.val + x.start[i], err);
        x.start[i + 1] = x.start[i] + row.n;
    }
    if (st == GF_OK) st = gf_kmeans_run(pool, &x, o, out, err);
    gf_csr_release(&x);
    return st;
}

static gf_status cluster_dense(gf_pool *pool, const gf_matrix *m, const uint32_t *rows, uint32_t n,
                               const gf_kmeans_options *o, gf_kmeans *out, gf_error *err)
{
    float *x = gf_array((size_t)n, (size_t)m->n_cols * sizeof *x);
    gf_status st = x ? GF_OK : gf_fail_memory(err, "dense rows");
    for (uint32_t i = 0; i < n && st == GF_OK; i++)
        st = scale_row(m, rows[i], x + (size_t)i * m->n_cols, err);
    if (st == GF_OK) st = gf_dense_kmeans(pool, x, n, m->n_cols, GF_DENSE_FAST, o, out, err);
    gf_free(x);
    return st;
}

/* Entries may be negative, and so may similarities; a build keeps them between 0 and 1. */
static void clamp_scores(gf_kmeans *c)
{
    c->objective = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        if (!(c->score[i] > 0)) c->score[i] = 0;
        if (!(c->second[i] > 0)) c->second[i] = 0;
        c->objective += (double)c->score[i];
    }
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* The clusters' centroids in the terms of their members' texts. */
static gf_status sum_terms(gf_pool *pool, const gf_csr *texts, const gf_cancel *cancel,
                           gf_build_clustered *c, gf_error *err)
{
    gf_points all = {texts, NULL};
    gf_csr x = {0};
    float *weight = NULL;
    gf_centre_summer *summer = NULL;
    uint32_t n = c->kmeans.n, k = c->kmeans.k;
    gf_status st = gf_points_gather(pool, &all, c->row_of, n, &x, &weight, err);
    gf_points points = {&x, NULL};
    if (st == GF_OK) st = gf_centres_init(&c->term_centres, k, x.n_cols, err);
    if (st == GF_OK) st = gf_centre_summer_create(pool, n, x.n_cols, k, &summer, err);
    if (st == GF_OK)
        st = gf_centre_summer_run(summer, &points, c->kmeans.label, NULL, &c->term_centres, NULL,
                                  cancel, err);
    gf_centre_summer_free(summer);
    gf_csr_release(&x);
    gf_free(weight);
    return st;
}

gf_status gf_build_finish_dense(gf_pool *pool, const gf_csr *texts, const gf_cancel *cancel,
                                gf_build_clustered *out, gf_error *err)
{
    clamp_scores(&out->kmeans);
    return sum_terms(pool, texts, cancel, out, err);
}

/*
 * Clusters of other rows are a poor start: those of a matrix begin anew where the served ones are
 * of the texts, unless somebody says otherwise. Ids go on all the same, by the documents.
 */
static bool goes_on(const gf_build_plan *plan)
{
    gf_rows_kind kind = plan->matrix->sparse ? GF_ROWS_SPARSE : GF_ROWS_DENSE;
    return plan->served.rows == kind || plan->options->start == GF_START_SERVED;
}

gf_status gf_build_cluster_matrix(const gf_build_plan *plan, gf_pool *pool,
                                  const gf_build_gathered *documents,
                                  const gf_build_previous *previous, gf_kmeans_options *o,
                                  gf_build_clustered *out, gf_error *err)
{
    const gf_matrix *m = plan->matrix;
    gf_status st = GF_OK;
    uint32_t n = 0, *start = NULL;
    uint32_t *rows = out->matrix_row = gf_array(documents->n, sizeof *rows);
    out->row_of = gf_array(documents->n, sizeof *out->row_of);
    if (!rows || !out->row_of) st = gf_fail_memory(err, "rows");
    if (st == GF_OK && m->sparse) st = gf_csr_check(m->sparse, err);
    if (st == GF_OK) st = match_rows(m, documents, rows, &out->unknown, err);
    if (st == GF_OK) st = list_documents(m, documents->n, rows, out->row_of, &n, err);
    if (st == GF_OK && n == 0)
        st = gf_fail(err, GF_EINVAL, "no row of the matrix is of a document of \"%.*s\"",
                     GF_SLICE_ARG(plan->where.collection));
    if (st == GF_OK && goes_on(plan))
        st = gf_build_start_from_previous(plan, pool, NULL, previous, n, out, o, &start, err);
    else
        out->chosen_for = o->k ? 0 : n, out->settled_for = n;
    o->start = start;
    if (st == GF_OK)
        st = m->sparse ? cluster_sparse(pool, m, rows, n, o, &out->kmeans, err)
                       : cluster_dense(pool, m, rows, n, o, &out->kmeans, err);
    if (st == GF_OK)
        st = gf_build_finish_dense(pool, &documents->vectors.x, plan->options->cancel, out, err);
    o->start = NULL;
    gf_free(start);
    return st;
}

/* ---- the rows themselves --------------------------------------------------------------------- */

/* cols: all columns, of a dense matrix; value: room for a row. */
static gf_status write_rows(const gf_matrix *m, const gf_build_gathered *documents,
                            const gf_build_clustered *c, const uint32_t *cols, float *value,
                            const gf_cancel *cancel, gf_kept_rows_writer *w, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < c->kmeans.n && st == GF_OK; i++) {
        uint32_t r = c->matrix_row ? c->matrix_row[i] : i;
        gf_row_view row =
            m->sparse ? gf_csr_row(m->sparse, r) : (gf_row_view){cols, NULL, m->n_cols};
        row.val = value;
        st = gf_cancel_check(cancel, err);
        if (st == GF_OK) st = scale_row(m, r, value, err);
        if (st == GF_OK)
            st = gf_kept_rows_add(w, gf_build_gathered_id(documents, c->row_of[i]), row, err);
    }
    return st == GF_OK ? gf_kept_rows_end(w, err) : st;
}

gf_status gf_build_write_rows(const gf_build_plan *plan, const gf_build_gathered *documents,
                              const gf_build_clustered *c, gf_put_kept_rows *put, void *context,
                              gf_error *err)
{
    const gf_matrix *m = plan->matrix;
    gf_matrix summed = {.n_rows = c->kmeans.n, .n_cols = c->words.d, .dense = c->dense};
    if (!m && c->dense) m = &summed;
    if (!m || c->kmeans.n == 0) return GF_OK;
    uint32_t longest = m->sparse ? 0 : m->n_cols;
    for (uint32_t i = 0; m->sparse && i < c->kmeans.n; i++) {
        uint32_t n = gf_csr_row(m->sparse, c->matrix_row[i]).n;
        if (n > longest) longest = n;
    }
    gf_kept_rows_writer w = {
        .put = put, .context = context, .sparse = m->sparse != NULL, .n_cols = m->n_cols};
    uint32_t *cols = gf_array(longest, sizeof *cols);
    float *value = gf_array(longest, sizeof *value);
    gf_status st = cols && value ? GF_OK : gf_fail_memory(err, "a row");
    for (uint32_t i = 0; i < longest && st == GF_OK; i++)
        cols[i] = i;
    if (st == GF_OK) st = write_rows(m, documents, c, cols, value, plan->options->cancel, &w, err);
    gf_kept_rows_writer_release(&w);
    gf_free(cols);
    gf_free(value);
    return st;
}
