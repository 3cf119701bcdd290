/* export with matrix: a build as an .npz file, written beside the one row that tells of it. */
#include "api/clusters/internal.h"

#include "formats/matrix/npz.h"

#include <stdio.h>

typedef struct writing {
    gf_call *call;
    gf_view *view;
    gf_build_matrix m;
    gf_npz_writer *npz;
    uint64_t bytes;
} writing;

static gf_status write_bytes(void *context, gf_slice bytes, gf_error *err)
{
    writing *w = context;
    gf_status st = gf_cancel_check(w->call->cancel, err);
    if (st == GF_OK) st = gf_call_write(w->call, bytes, err);
    if (st == GF_OK) w->bytes += bytes.len;
    return st;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static gf_slice id_at(void *context, uint64_t i)
{
    return ((writing *)context)->m.id[i];
}

static gf_slice term_at(void *context, uint64_t i)
{
    return gf_build_matrix_term(&((writing *)context)->m, (uint32_t)i);
}

static gf_slice surface_at(void *context, uint64_t i)
{
    return gf_build_matrix_surface(&((writing *)context)->m, (uint32_t)i);
}

static gf_slice name_at(void *context, uint64_t i)
{
    return ((writing *)context)->m.name[i];
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* A CSR as four arrays, each with the prefix; row starts and columns as signed, as scipy has them.
 */
static gf_status write_csr(writing *w, const char *prefix, const gf_csr *x, gf_error *err)
{
    char name[32];
    uint64_t nnz = gf_csr_nnz(x), shape[2] = {x->n_rows, x->n_cols};
    const struct {
        const char *name, *type;
        uint64_t n;
        const void *elements;
    } parts[] = {{"indices", "i4", nnz, x->col},
                 {"indptr", "i8", (uint64_t)x->n_rows + 1, x->start},
                 {"shape", "i8", 2, shape},
                 {"data", "f4", nnz, x->val}};
    if (x->n_cols > INT32_MAX)
        return gf_fail(err, GF_ELIMIT, "a matrix of %u columns is too wide for scipy", x->n_cols);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, parts[i].name);
        gf_status st =
            gf_npz_write_list(w->npz, name, parts[i].type, parts[i].n, parts[i].elements, err);
        if (st != GF_OK) return st;
    }
    return GF_OK;
}

static gf_status write_arrays(writing *w, gf_error *err)
{
    const gf_build_matrix *m = &w->m;
    uint64_t n = m->rows.n_rows, k = m->n_clusters, shape[2] = {n, m->rows.n_cols};
    bool dense = gf_view_build(w->view)->rows == GF_ROWS_DENSE ||
                 gf_view_build(w->view)->rows == GF_ROWS_OF_WORDS;
    gf_status st = dense ? gf_npz_write_array(w->npz, "rows", "f4", shape, 2, m->rows.val, err)
                         : gf_npz_write_word(w->npz, "format", "csr", err);
    if (st == GF_OK && !dense) st = write_csr(w, "", &m->rows, err);
    if (st == GF_OK) st = gf_npz_write_texts(w->npz, "ids", n, id_at, w, err);
    if (st == GF_OK) st = gf_npz_write_list(w->npz, "labels", "u4", n, m->label, err);
    if (st == GF_OK) st = gf_npz_write_list(w->npz, "scores", "f4", n, m->score, err);
    if (st == GF_OK) st = gf_npz_write_list(w->npz, "replaced", "b1", n, m->replaced, err);
    if (st == GF_OK && m->vocabulary)
        st = gf_npz_write_texts(w->npz, "terms", m->rows.n_cols, term_at, w, err);
    if (st == GF_OK && m->vocabulary)
        st = gf_npz_write_texts(w->npz, "surfaces", m->rows.n_cols, surface_at, w, err);
    if (st == GF_OK) st = write_csr(w, "centroids_", &m->centroids, err);
    if (st == GF_OK) st = gf_npz_write_list(w->npz, "clusters", "u4", k, m->cluster, err);
    if (st == GF_OK) st = gf_npz_write_texts(w->npz, "names", k, name_at, w, err);
    return st == GF_OK ? gf_npz_writer_end(w->npz, err) : st;
}

static gf_status emit_summary(const writing *w, gf_error *err)
{
    gf_row_writer row = {.call = w->call};
    gf_json_writer *json = gf_row_writer_begin_of(&row, gf_call_text(w->call, "collection"));
    gf_json_put_uint(json, "build", (uint64_t)gf_view_build(w->view)->build);
    gf_json_put_uint(json, "rows", w->m.rows.n_rows);
    gf_json_put_uint(json, "columns", w->m.rows.n_cols);
    gf_json_put_uint(json, "entries", gf_csr_nnz(&w->m.rows));
    gf_json_put_uint(json, "clusters", w->m.n_clusters);
    gf_json_put_uint(json, "bytes", w->bytes);
    return gf_row_writer_emit_only(&row, err);
}

gf_status gf_export_matrix(gf_call *call, gf_error *err)
{
    writing w = {.call = call};
    if (gf_call_flag(call, "with-text"))
        return gf_fail(err, GF_EINVAL, "with-text: a matrix has no texts");
    if (!call->sink.write) return gf_fail(err, GF_EINVAL, "matrix: there is nowhere to write it");
    gf_status st = gf_call_view(call, &w.view, err);
    if (st != GF_OK) return st;
    st = gf_view_read_matrix(w.view, call->cancel, &w.m, err);
    if (st == GF_OK) st = gf_npz_writer_create(write_bytes, &w, &w.npz, err);
    if (st == GF_OK) st = write_arrays(&w, err);
    if (st == GF_OK) st = emit_summary(&w, err);
    gf_npz_writer_free(w.npz);
    gf_build_matrix_release(&w.m);
    gf_view_close(w.view);
    return st;
}
