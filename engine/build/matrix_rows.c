/*
 * Rows that were made elsewhere, in the place of those of the texts: each is matched with its
 * document by id, scaled to unit length, and clustered; the clusters' terms are those of their
 * members' texts.
 */
#include "engine/build/internal.h"

#include "base/memory.h"
#include "cluster/dense/dense.h"

#include <inttypes.h>
#include <math.h>

enum { NOWHERE = UINT32_MAX };

typedef struct placing {
    gf_job *job;
    const gf_matrix *matrix;
    uint32_t *row_at; /* documents.n: the matrix's row of each document, or NOWHERE */
    uint32_t n;       /* documents that have a row */
} placing;

/* ---- which row is whose ---------------------------------------------------------------------- */

/* Documents are gathered by rising id. */
static uint32_t find_document(const gf_gathered *g, gf_slice id)
{
    uint32_t low = 0, high = g->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = gf_slice_compare(gf_gathered_id(g, middle), id);
        if (order == 0) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NOWHERE;
}

/* Length of a row, which is finite; 0 where it is all zeros. */
static gf_status length_of(const gf_matrix *m, uint32_t row, double *length, gf_error *err)
{
    gf_row_view sparse = m->sparse ? gf_csr_row(m->sparse, row) : (gf_row_view){0};
    const float *v = m->sparse ? sparse.val : m->dense + (size_t)row * m->n_cols;
    uint32_t n = m->sparse ? sparse.n : m->n_cols;
    double squares = 0;
    for (uint32_t p = 0; p < n; p++)
        squares += (double)v[p] * (double)v[p];
    *length = sqrt(squares);
    if (isfinite(squares)) return GF_OK;
    return gf_fail(err, GF_EINVAL, "row %" PRIu32 " of the matrix (\"%.*s\") is not finite", row,
                   GF_SLICE_ARG(m->id[row]));
}

static gf_status place_rows(placing *p, gf_error *err)
{
    const gf_matrix *m = p->matrix;
    gf_job *j = p->job;
    for (uint32_t i = 0; i < j->documents.n; i++)
        p->row_at[i] = NOWHERE;
    for (uint32_t r = 0; r < m->n_rows; r++) {
        double length;
        uint32_t document = find_document(&j->documents, m->id[r]);
        gf_status st = length_of(m, r, &length, err);
        if (st != GF_OK) return st;
        if (document == NOWHERE) {
            j->unknown++;
            continue;
        }
        if (p->row_at[document] != NOWHERE)
            return gf_fail(err, GF_EINVAL, "the matrix has two rows of document \"%.*s\"",
                           GF_SLICE_ARG(m->id[r]));
        p->row_at[document] = r;
    }
    return GF_OK;
}

/* The documents that have a row with a direction, by rising id; the others are in no cluster. */
static gf_status list_documents(placing *p, gf_error *err)
{
    gf_job *j = p->job;
    j->row_of = gf_array(j->documents.n, sizeof *j->row_of);
    if (!j->row_of) return gf_fail_memory(err, "rows");
    for (uint32_t i = 0; i < j->documents.n; i++) {
        double length = 0;
        gf_status st =
            p->row_at[i] == NOWHERE ? GF_OK : length_of(p->matrix, p->row_at[i], &length, err);
        if (st != GF_OK) return st;
        if (length > 0) j->row_of[p->n++] = i;
    }
    if (p->n) return GF_OK;
    return gf_fail(err, GF_EINVAL, "no row of the matrix is of a document of \"%.*s\"",
                   GF_SLICE_ARG(j->where.collection));
}

/* ---- clustering ------------------------------------------------------------------------------ */

static gf_status cluster_sparse(placing *p, const gf_kmeans_options *o, gf_error *err)
{
    gf_job *j = p->job;
    const gf_csr *from = p->matrix->sparse;
    gf_csr x = {0};
    uint64_t nnz = 0;
    for (uint32_t i = 0; i < p->n; i++)
        nnz += gf_csr_row(from, p->row_at[j->row_of[i]]).n;
    gf_status st = gf_csr_init(&x, p->n, p->matrix->n_cols, nnz, err);
    for (uint32_t i = 0; i < p->n && st == GF_OK; i++) {
        uint32_t r = p->row_at[j->row_of[i]];
        gf_row_view row = gf_csr_row(from, r);
        double length;
        st = length_of(p->matrix, r, &length, err);
        for (uint32_t e = 0; e < row.n && st == GF_OK; e++) {
            x.col[x.start[i] + e] = row.col[e];
            x.val[x.start[i] + e] = (float)((double)row.val[e] / length);
        }
        x.start[i + 1] = x.start[i] + row.n;
    }
    if (st == GF_OK) st = gf_kmeans_run(j->pool, &x, o, &j->clusters, err);
    gf_csr_release(&x);
    return st;
}

static gf_status cluster_dense(placing *p, const gf_kmeans_options *o, gf_error *err)
{
    gf_job *j = p->job;
    const gf_matrix *m = p->matrix;
    float *x = gf_array((size_t)p->n, (size_t)m->n_cols * sizeof *x);
    gf_status st = x ? GF_OK : gf_fail_memory(err, "dense rows");
    for (uint32_t i = 0; i < p->n && st == GF_OK; i++) {
        uint32_t r = p->row_at[j->row_of[i]];
        const float *from = m->dense + (size_t)r * m->n_cols;
        float *to = x + (size_t)i * m->n_cols;
        double length;
        st = length_of(m, r, &length, err);
        for (uint32_t c = 0; c < m->n_cols && st == GF_OK; c++)
            to[c] = (float)((double)from[c] / length);
    }
    if (st == GF_OK) st = gf_dense_kmeans(j->pool, x, p->n, m->n_cols, o, &j->clusters, err);
    gf_free(x);
    return st;
}

/* Entries may be negative, and so may similarities; what is kept of them is 0 to 1. */
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

/* The clusters' centres in the terms of their members' texts. */
static gf_status sum_terms(placing *p, gf_error *err)
{
    gf_job *j = p->job;
    gf_points all = {&j->documents.vectors.x, NULL};
    gf_csr x = {0};
    float *weight = NULL;
    gf_summer *summer = NULL;
    uint32_t k = j->clusters.k;
    gf_status st = gf_gather_rows(&all, j->row_of, p->n, &x, &weight, err);
    gf_points points = {&x, NULL};
    if (st == GF_OK) st = gf_centres_init(&j->term_centres, k, x.n_cols, err);
    if (st == GF_OK) st = gf_summer_create(j->pool, p->n, x.n_cols, k, &summer, err);
    if (st == GF_OK)
        st = gf_summer_run(summer, &points, j->clusters.label, NULL, &j->term_centres, NULL,
                           j->options->cancel, err);
    gf_summer_free(summer);
    gf_csr_release(&x);
    gf_free(weight);
    return st;
}

gf_status gf_job_cluster_matrix(gf_job *j, const gf_kmeans_options *o, gf_error *err)
{
    placing p = {.job = j, .matrix = j->options->matrix};
    p.row_at = gf_array(j->documents.n, sizeof *p.row_at);
    gf_status st = p.row_at ? GF_OK : gf_fail_memory(err, "rows");
    if (st == GF_OK && p.matrix->sparse) st = gf_csr_check(p.matrix->sparse, err);
    j->unknown = 0;
    if (st == GF_OK) st = place_rows(&p, err);
    if (st == GF_OK) st = list_documents(&p, err);
    if (st == GF_OK) st = p.matrix->sparse ? cluster_sparse(&p, o, err) : cluster_dense(&p, o, err);
    if (st == GF_OK) {
        clamp_scores(&j->clusters);
        st = sum_terms(&p, err);
    }
    gf_free(p.row_at);
    return st;
}
