/**
 * Sparse matrix in compressed sparse rows: row i holds the columns col[start[i]] ..
 * col[start[i+1] - 1], strictly rising, with their values.
 */
#ifndef GF_GROUPERFISH_CSR_H
#define GF_GROUPERFISH_CSR_H

#include "grouperfish/export.h"
#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

GF_PUBLIC_BEGIN

typedef struct gf_csr {
    uint32_t n_rows, n_cols;
    uint64_t *start; /* row starts (n_rows + 1); start[0] is 0 */
    uint32_t *col;   /* columns (start[n_rows]) */
    float *val;      /* values (start[n_rows]) */
} gf_csr;

/** A row, borrowed from its matrix. */
typedef struct gf_row_view {
    const uint32_t *col; /* n, strictly rising */
    const float *val;    /* n */
    uint32_t n;
} gf_row_view;

static inline gf_row_view gf_csr_row(const gf_csr *x, uint32_t i)
{
    uint64_t at = x->start[i];
    return (gf_row_view){x->col + at, x->val + at, (uint32_t)(x->start[i + 1] - at)};
}

static inline uint64_t gf_csr_nnz(const gf_csr *x)
{
    return x->n_rows ? x->start[x->n_rows] : 0;
}

/** Room for n_rows rows and nnz entries; start[0] is set, the rest is not. */
gf_status gf_csr_init(gf_csr *x, uint32_t n_rows, uint32_t n_cols, uint64_t nnz, gf_error *err);
void gf_csr_release(gf_csr *x);

/** GF_EINVAL where starts fall, a column is out of range or not rising, or a value not finite. */
gf_status gf_csr_check(const gf_csr *x, gf_error *err);

/** *t = x transposed, rows rising within each column. Cost O(nnz + n_rows + n_cols). */
gf_status gf_csr_transpose(const gf_csr *x, gf_csr *t, gf_error *err);

/** sum of a.val * b.val over shared columns, in double. Cost O(a.n + b.n). */
double gf_csr_row_dot(gf_row_view a, gf_row_view b);

/**
 * Rows that were made elsewhere (embeddings, a matrix of another program), to be clustered in place
 * of the TF-IDF rows of the texts. They may be of any length: they are scaled to unit length. A row
 * of zeros has no direction, and counts as if it were not there.
 */
typedef struct gf_matrix {
    uint32_t n_rows, n_cols;
    const gf_slice *id;   /* n_rows: the document of each; none twice */
    const gf_csr *sparse; /* [n_rows x n_cols]; NULL: dense */
    const float *dense;   /* n_rows * n_cols, row by row */
} gf_matrix;

GF_PUBLIC_END

#endif
