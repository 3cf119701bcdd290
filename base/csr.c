#include "grouperfish/csr.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

gf_status gf_csr_init(gf_csr *x, uint32_t n_rows, uint32_t n_cols, uint64_t nnz, gf_error *err)
{
    gf_csr m = {.n_rows = n_rows, .n_cols = n_cols};
    m.start = gf_array((size_t)n_rows + 1, sizeof *m.start);
    m.col = gf_array(nnz, sizeof *m.col);
    m.val = gf_array(nnz, sizeof *m.val);
    if (!m.start || !m.col || !m.val) {
        gf_csr_release(&m);
        return gf_fail_memory(err, "a sparse matrix");
    }
    m.start[0] = 0;
    *x = m;
    return GF_OK;
}

void gf_csr_release(gf_csr *x)
{
    gf_free(x->start);
    gf_free(x->col);
    gf_free(x->val);
    *x = (gf_csr){0};
}

static gf_status check_row(const gf_csr *x, uint32_t row, gf_error *err)
{
    for (uint64_t p = x->start[row]; p < x->start[row + 1]; p++) {
        if (x->col[p] >= x->n_cols)
            return gf_fail(err, GF_EINVAL, "row %" PRIu32 ": column %" PRIu32 " of %" PRIu32, row,
                           x->col[p], x->n_cols);
        if (p > x->start[row] && x->col[p] <= x->col[p - 1])
            return gf_fail(err, GF_EINVAL, "row %" PRIu32 ": column %" PRIu32 " does not rise", row,
                           x->col[p]);
        if (!isfinite(x->val[p]))
            return gf_fail(err, GF_EINVAL, "row %" PRIu32 ": column %" PRIu32 " is not finite", row,
                           x->col[p]);
    }
    return GF_OK;
}

gf_status gf_csr_check(const gf_csr *x, gf_error *err)
{
    gf_status st = GF_OK;
    if (x->n_rows && x->start[0] != 0) return gf_fail(err, GF_EINVAL, "row 0 does not start at 0");
    /* All starts first: one beyond the last would lead check_row out of the arrays. */
    for (uint32_t row = 0; row < x->n_rows; row++)
        if (x->start[row + 1] < x->start[row])
            return gf_fail(err, GF_EINVAL, "row %" PRIu32 " ends before it starts", row);
    for (uint32_t row = 0; row < x->n_rows && st == GF_OK; row++)
        st = check_row(x, row, err);
    return st;
}

gf_status gf_csr_transpose(const gf_csr *x, gf_csr *t, gf_error *err)
{
    gf_csr m;
    gf_status st = gf_csr_init(&m, x->n_cols, x->n_rows, gf_csr_nnz(x), err);
    if (st != GF_OK) return st;
    memset(m.start, 0, ((size_t)x->n_cols + 1) * sizeof *m.start);
    /* start[c + 1] counts column c, then becomes its start; filling moves it on to its end. */
    for (uint64_t p = 0; p < gf_csr_nnz(x); p++)
        m.start[x->col[p] + 1]++;
    for (uint32_t c = 0; c < x->n_cols; c++)
        m.start[c + 1] += m.start[c];
    for (uint32_t row = 0; row < x->n_rows; row++) {
        for (uint64_t p = x->start[row]; p < x->start[row + 1]; p++) {
            uint64_t to = m.start[x->col[p]]++;
            m.col[to] = row;
            m.val[to] = x->val[p];
        }
    }
    for (uint32_t c = x->n_cols; c > 0; c--)
        m.start[c] = m.start[c - 1];
    m.start[0] = 0;
    *t = m;
    return GF_OK;
}

double gf_csr_row_dot(gf_row_view a, gf_row_view b)
{
    double sum = 0;
    uint32_t i = 0, j = 0;
    while (i < a.n && j < b.n) {
        if (a.col[i] < b.col[j])
            i++;
        else if (a.col[i] > b.col[j])
            j++;
        else
            sum += (double)a.val[i++] * (double)b.val[j++];
    }
    return sum;
}
