#include "base/row_file.h"

#include <assert.h>

gf_status gf_row_file_write(gf_spill *spill, uint64_t entries, uint64_t at, uint64_t n,
                            const uint32_t *col, const float *val, gf_error *err)
{
    gf_status st = gf_spill_write(spill, at * sizeof *col, col, n * sizeof *col, err);
    if (st == GF_OK)
        st = gf_spill_write(spill, entries * sizeof *col + at * sizeof *val, val, n * sizeof *val,
                            err);
    return st;
}

/* n entries of the file from entry `from` on, to x from entry `to` on. */
static gf_status read_entries(const gf_row_file *f, uint64_t from, uint64_t n, uint64_t to,
                              gf_csr *x, gf_error *err)
{
    gf_status st =
        gf_spill_read(f->spill, from * sizeof *x->col, x->col + to, n * sizeof *x->col, err);
    if (st == GF_OK)
        st = gf_spill_read(f->spill, f->entries * sizeof *x->col + from * sizeof *x->val,
                           x->val + to, n * sizeof *x->val, err);
    return st;
}

gf_status gf_row_file_read(const gf_row_file *f, uint32_t first, uint32_t n, gf_csr *x,
                           gf_error *err)
{
    gf_csr y;
    uint64_t from = f->start[first], entries = f->start[first + n] - from;
    gf_status st = gf_csr_init(&y, n, f->n_cols, entries, err);
    if (st != GF_OK) return st;
    for (uint32_t i = 1; i <= n; i++)
        y.start[i] = f->start[first + i] - from;
    st = read_entries(f, from, entries, 0, &y, err);
    if (st == GF_OK)
        *x = y;
    else
        gf_csr_release(&y);
    return st;
}

gf_status gf_row_file_pick(const gf_row_file *f, const uint32_t *rows, uint32_t n, gf_csr *x,
                           gf_error *err)
{
    gf_csr y;
    uint64_t entries = 0;
    for (uint32_t i = 1; i < n; i++)
        assert(rows[i - 1] <= rows[i] && rows[i] < f->n_rows);
    for (uint32_t i = 0; i < n; i++)
        entries += f->start[rows[i] + 1] - f->start[rows[i]];
    gf_status st = gf_csr_init(&y, n, f->n_cols, entries, err);
    if (st != GF_OK) return st;
    for (uint32_t i = 0; i < n; i++)
        y.start[i + 1] = y.start[i] + (f->start[rows[i] + 1] - f->start[rows[i]]);
    for (uint32_t i = 0, end; i < n && st == GF_OK; i = end) {
        /* Neighbours are read at once. */
        for (end = i + 1; end < n && rows[end] == rows[end - 1] + 1;)
            end++;
        st = read_entries(f, f->start[rows[i]], y.start[end] - y.start[i], y.start[i], &y, err);
    }
    if (st == GF_OK)
        *x = y;
    else
        gf_csr_release(&y);
    return st;
}
