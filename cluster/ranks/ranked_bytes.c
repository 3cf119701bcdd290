#include "cluster/ranks/ranked_bytes.h"

#include "base/memory.h"

#include <string.h>

static gf_status fail_bytes(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "what another rank sent cannot be read");
}

static bool take(gf_slice *s, void *to, size_t n)
{
    if (s->len < n) return false;
    if (n) memcpy(to, s->ptr, n);
    *s = gf_slice_of(s->ptr + n, s->len - n);
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

typedef struct rows_head {
    uint32_t n, n_cols;
    uint64_t entries;
} rows_head;

void gf_ranked_bytes_put_rows(gf_buffer *out, const gf_csr *x, uint32_t first, uint32_t n)
{
    uint64_t from = n ? x->start[first] : 0, to = n ? x->start[first + n] : 0;
    const rows_head head = {n, x->n_cols, to - from};
    gf_buffer_append(out, &head, sizeof head);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t length = (uint32_t)(x->start[first + i + 1] - x->start[first + i]);
        gf_buffer_append(out, &length, sizeof length);
    }
    if (to == from) return;
    gf_buffer_append(out, x->col + from, (size_t)(to - from) * sizeof *x->col);
    gf_buffer_append(out, x->val + from, (size_t)(to - from) * sizeof *x->val);
}

/* Rows of one part, behind those that are there; its bytes move on behind them. */
static bool take_part(gf_slice *s, const rows_head *head, uint32_t row, gf_csr *x)
{
    for (uint32_t i = 0; i < head->n; i++) {
        uint32_t length;
        if (!take(s, &length, sizeof length)) return false;
        x->start[row + i + 1] = x->start[row + i] + length;
    }
    if (x->start[row + head->n] - x->start[row] != head->entries) return false;
    return take(s, x->col + x->start[row], (size_t)head->entries * sizeof *x->col) &&
           take(s, x->val + x->start[row], (size_t)head->entries * sizeof *x->val);
}

/* The sizes that the parts tell, which are checked against their bytes. */
static bool count_rows(const gf_buffer *parts, unsigned n_parts, uint64_t *rows, uint64_t *entries)
{
    *rows = *entries = 0;
    for (unsigned i = 0; i < n_parts; i++) {
        gf_slice s = gf_buffer_view(&parts[i]);
        while (s.len) {
            rows_head head;
            if (!take(&s, &head, sizeof head) || head.entries > s.len / 8) return false;
            uint64_t bytes = 4 * (uint64_t)head.n + 8 * head.entries;
            if (bytes > s.len) return false;
            s = gf_slice_of(s.ptr + bytes, s.len - bytes);
            *rows += head.n;
            *entries += head.entries;
        }
    }
    return *rows <= UINT32_MAX;
}

gf_status gf_ranked_bytes_take_rows(const gf_buffer *parts, unsigned n_parts, uint32_t n_cols,
                                    gf_csr *x, gf_error *err)
{
    uint64_t rows, entries;
    gf_csr made;
    if (!count_rows(parts, n_parts, &rows, &entries)) return fail_bytes(err);
    gf_status st = gf_csr_init(&made, (uint32_t)rows, n_cols, entries, err);
    if (st != GF_OK) return st;
    uint32_t row = 0;
    for (unsigned i = 0; i < n_parts && st == GF_OK; i++) {
        gf_slice s = gf_buffer_view(&parts[i]);
        while (s.len && st == GF_OK) {
            rows_head head;
            bool read = take(&s, &head, sizeof head) && head.n_cols == n_cols &&
                        take_part(&s, &head, row, &made);
            if (!read) st = fail_bytes(err);
            if (read) row += head.n;
        }
    }
    if (st == GF_OK)
        *x = made;
    else
        gf_csr_release(&made);
    return st;
}

gf_status gf_ranked_bytes_add_rows(gf_slice *bytes, uint64_t most_rows, uint64_t most_entries,
                                   uint32_t *row, gf_csr *x, gf_error *err)
{
    rows_head head;
    if (!take(bytes, &head, sizeof head) || head.n_cols != x->n_cols || head.n > most_rows - *row ||
        head.entries > most_entries - x->start[*row] || !take_part(bytes, &head, *row, x))
        return fail_bytes(err);
    *row += head.n;
    return GF_OK;
}

/* ---- centres ------------------------------------------------------------------------------------- */

void gf_ranked_bytes_put_centre(gf_buffer *out, uint32_t cluster, const gf_centre *c)
{
    const double about[] = {c->length, c->weight, c->drift};
    gf_buffer_varint(out, cluster);
    gf_buffer_varint(out, c->n);
    gf_buffer_append(out, about, sizeof about);
    for (uint32_t p = 0, last = 0; p < c->n; last = c->term[p++])
        gf_buffer_varint(out, c->term[p] - last);
    if (c->n) gf_buffer_append(out, c->value, c->n * sizeof *c->value);
}

static gf_status take_centre(gf_slice *s, gf_centres *centres, bool *changed, gf_error *err)
{
    uint32_t cluster, n;
    double about[3];
    uint64_t term = 0, gap;
    if (!gf_slice_take_varint32(s, &cluster) || !gf_slice_take_varint32(s, &n) ||
        !take(s, about, sizeof about) || cluster >= centres->k || n > s->len / sizeof(float))
        return fail_bytes(err);
    gf_centre *c = &centres->at[cluster], made = {.n = n, .capacity = n};
    made.term = gf_array(n, sizeof *made.term);
    made.value = gf_array(n, sizeof *made.value);
    bool read = made.term && made.value;
    gf_status st = read ? GF_OK : gf_fail_memory(err, "a cluster centre");
    for (uint32_t p = 0; p < n && read; p++) {
        read = gf_slice_take_varint(s, &gap) && (term += gap) < centres->n_terms;
        if (read) made.term[p] = (uint32_t)term;
    }
    if (read) read = take(s, made.value, n * sizeof *made.value);
    if (st == GF_OK && !read) st = fail_bytes(err);
    if (st != GF_OK) {
        gf_free(made.term);
        gf_free(made.value);
        return st;
    }
    made.length = about[0];
    made.weight = about[1];
    made.drift = about[2];
    gf_free(c->term);
    gf_free(c->value);
    *c = made;
    if (changed) changed[cluster] = true;
    return GF_OK;
}

gf_status gf_ranked_bytes_take_centres(gf_slice bytes, gf_centres *centres, bool *changed,
                                       gf_error *err)
{
    gf_status st = GF_OK;
    while (bytes.len && st == GF_OK)
        st = take_centre(&bytes, centres, changed, err);
    return st;
}
