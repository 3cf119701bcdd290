/* Rows of documents that edits name: of words, of dense vectors, or of a matrix. */
#include "engine/build/obey_internal.h"

#include "base/memory.h"

#include <math.h>

void gf_obey_rows_release(gf_obey_rows *r)
{
    gf_csr_release(&r->read);
    gf_free(r->col);
    gf_free(r->val);
}

static gf_status make_room(gf_obey_rows *r, uint32_t n_cols, gf_error *err)
{
    if (r->col) return GF_OK;
    r->col = gf_array(n_cols, sizeof *r->col);
    r->val = gf_array(n_cols, sizeof *r->val);
    if (!r->col || !r->val) return gf_fail_memory(err, "a row");
    for (uint32_t i = 0; i < n_cols; i++)
        r->col[i] = i;
    return GF_OK;
}

/* A row of a matrix, of unit length as it was clustered. */
static gf_status scale_row(gf_obey_rows *r, gf_row_view given, uint32_t n_cols, gf_row_view *row,
                           gf_error *err)
{
    double length = 0;
    gf_status st = make_room(r, n_cols, err);
    if (st != GF_OK) return st;
    for (uint32_t i = 0; i < given.n; i++)
        length += (double)given.val[i] * given.val[i];
    length = length > 0 ? sqrt(length) : 1;
    for (uint32_t i = 0; i < given.n; i++)
        r->val[i] = (float)(given.val[i] / length);
    *row = (gf_row_view){given.col ? given.col : r->col, r->val, given.n};
    return GF_OK;
}

gf_status gf_obey_rows_take(gf_obey_rows *r, uint32_t point, gf_row_view *row, gf_error *err)
{
    const gf_matrix *m = r->plan->matrix;
    gf_build_clustered *c = r->c;
    const gf_vectors *v = &r->documents->vectors;
    if (m) {
        uint32_t i = c->matrix_row[point];
        gf_row_view given = m->sparse
                                ? gf_csr_row(m->sparse, i)
                                : (gf_row_view){NULL, m->dense + (size_t)i * m->n_cols, m->n_cols};
        return scale_row(r, given, m->n_cols, row, err);
    }
    if (c->dense) {
        gf_status st = make_room(r, c->words.d, err);
        *row = (gf_row_view){r->col, c->dense + (size_t)point * c->words.d, c->words.d};
        return st;
    }
    if (!v->entries) {
        *row = gf_csr_row(&v->x, c->row_of[point]);
        return GF_OK;
    }
    gf_row_file file = gf_build_gathered_row_file(r->documents);
    gf_csr_release(&r->read);
    r->read = (gf_csr){0};
    gf_status st = gf_row_file_read(&file, c->row_of[point], 1, &r->read, err);
    if (st == GF_OK) *row = gf_csr_row(&r->read, 0);
    return st;
}
