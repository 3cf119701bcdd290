#include "engine/build/similar_index.h"

#include "base/memory.h"

enum { CELL_BYTES = 16 << 10 };

static void write_ids(const gf_build_gathered *d, gf_buffer *out)
{
    gf_buffer_varint(out, d->n);
    for (uint32_t i = 0; i < d->n; i++)
        gf_buffer_string(out, gf_build_gathered_id(d, i));
}

static void write_term(gf_row_view documents, gf_buffer *out)
{
    uint32_t before = 0;
    gf_buffer_varint(out, documents.n);
    for (uint32_t p = 0; p < documents.n; p++) {
        gf_buffer_varint(out, documents.col[p] - before);
        before = documents.col[p];
    }
    for (uint32_t p = 0; p < documents.n; p++) {
        float w = documents.val[p] < 1 ? documents.val[p] : 1;
        gf_buffer_byte(out, (char)(unsigned char)(w * 255 + 0.5f));
    }
}

/* by_term has the terms from `first` on. */
static gf_status write_terms(const gf_csr *by_term, uint32_t first, gf_build_put_cell *put,
                             void *context, gf_error *err)
{
    gf_buffer cell = {0}, qualifier = {0};
    gf_status st = GF_OK;
    for (uint32_t t = 0; t < by_term->n_rows && st == GF_OK;) {
        gf_buffer_reset(&cell);
        gf_buffer_reset(&qualifier);
        gf_buffer_str(&qualifier, "index");
        gf_buffer_u32be(&qualifier, first + t);
        while (t < by_term->n_rows && cell.len < CELL_BYTES)
            write_term(gf_csr_row(by_term, t++), &cell);
        st = gf_buffer_check(&qualifier, err);
        if (st == GF_OK) st = put(context, gf_buffer_view(&qualifier), &cell, err);
    }
    gf_buffer_release(&cell);
    gf_buffer_release(&qualifier);
    return st;
}

/* ---- rows in a file -------------------------------------------------------------------------- */

enum { WINDOW_ROWS = 8192 };

/* A range of terms that is sorted at a time. */
typedef struct term_range {
    const gf_row_file *rows;
    uint32_t from, to; /* terms */
    gf_csr by_term;    /* of them; col and val are NULL while entries are counted */
} term_range;

/* Count or place the entries of a window; starts move on as they are filled. */
static void add_window(term_range *p, const gf_csr *x, uint32_t first)
{
    uint64_t *start = p->by_term.start;
    for (uint32_t i = 0; i < x->n_rows; i++) {
        gf_row_view row = gf_csr_row(x, i);
        for (uint32_t e = 0; e < row.n; e++) {
            uint32_t t = row.col[e];
            if (t < p->from || t >= p->to) continue;
            uint64_t at = start[t - p->from]++;
            if (!p->by_term.col) continue;
            p->by_term.col[at] = first + i;
            p->by_term.val[at] = row.val[e];
        }
    }
}

static gf_status read_windows(term_range *p, gf_error *err)
{
    uint32_t n = p->rows->n_rows;
    gf_status st = GF_OK;
    for (uint32_t first = 0, m; first < n && st == GF_OK; first += m) {
        gf_csr x = {0};
        m = n - first < WINDOW_ROWS ? n - first : WINDOW_ROWS;
        st = gf_row_file_read(p->rows, first, m, &x, err);
        if (st == GF_OK) add_window(p, &x, first);
        gf_csr_release(&x);
    }
    return st;
}

/* The next terms that have GF_INDEX_ENTRIES together, at least one term, as a matrix by term. */
static gf_status sort_range(term_range *p, const uint64_t *count, gf_error *err)
{
    uint32_t n_terms = p->rows->n_cols;
    uint64_t entries = count[p->from];
    for (p->to = p->from + 1; p->to < n_terms && entries + count[p->to] <= GF_INDEX_ENTRIES;
         p->to++)
        entries += count[p->to];
    uint32_t n = p->to - p->from;
    gf_status st = gf_csr_init(&p->by_term, n, p->rows->n_rows, entries, err);
    if (st != GF_OK) return st;
    uint64_t *start = p->by_term.start;
    for (uint32_t t = 0; t < n; t++)
        start[t + 1] = start[t] + count[p->from + t];
    st = read_windows(p, err);
    for (uint32_t t = n; t > 0; t--)
        start[t] = start[t - 1];
    start[0] = 0;
    return st;
}

static gf_status count_entries(const gf_row_file *rows, uint64_t **count, gf_error *err)
{
    term_range all = {.rows = rows, .to = rows->n_cols};
    all.by_term.start = gf_calloc((size_t)rows->n_cols + 1, sizeof **count);
    gf_status st = all.by_term.start ? read_windows(&all, err) : gf_fail_memory(err, "an index");
    if (st == GF_OK)
        *count = all.by_term.start;
    else
        gf_free(all.by_term.start);
    return st;
}

/* The file is read once for each range of terms. */
static gf_status write_ranges(const gf_row_file *rows, gf_build_put_cell *put, void *context,
                              gf_error *err)
{
    uint64_t *count = NULL;
    term_range p = {.rows = rows};
    gf_status st = count_entries(rows, &count, err);
    for (; p.from < rows->n_cols && st == GF_OK; p.from = p.to) {
        st = sort_range(&p, count, err);
        if (st == GF_OK) st = write_terms(&p.by_term, p.from, put, context, err);
        gf_csr_release(&p.by_term);
    }
    gf_free(count);
    return st;
}

gf_status gf_build_write_similar_index(const gf_build_gathered *d, gf_build_put_cell *put,
                                       void *context, gf_error *err)
{
    gf_buffer ids = {0};
    gf_csr by_term;
    const gf_csr *x = &d->vectors.x;
    write_ids(d, &ids);
    gf_status st = put(context, GF_SLICE("index"), &ids, err);
    gf_buffer_release(&ids);
    if (st == GF_OK && d->vectors.entries) {
        gf_row_file rows = gf_build_gathered_row_file(d);
        return write_ranges(&rows, put, context, err);
    }
    if (st == GF_OK) st = gf_csr_transpose(x, &by_term, err);
    if (st != GF_OK) return st;
    st = write_terms(&by_term, 0, put, context, err);
    gf_csr_release(&by_term);
    return st;
}
