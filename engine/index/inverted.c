#include "engine/index/inverted.h"

#include "base/grow.h"
#include "base/lower_bound.h"
#include "base/memory.h"
#include "base/order.h"
#include "engine/rows/index_cells.h"

#include <assert.h>

/* An entry: the term, 32 bits; the document, 15; the value less 1, 17, or LARGE. */
enum { VALUE_BITS = 17, LARGE = (1 << VALUE_BITS) - 1 };

void gf_piece_release(gf_piece *p)
{
    gf_free(p->term);
    gf_free(p->documents);
    gf_free(p->end);
    gf_buffer_release(&p->bytes);
    *p = (gf_piece){0};
}

void gf_inverting_release(gf_inverting *v)
{
    gf_free(v->entries);
    gf_free(v->scratch);
    gf_free(v->large);
    *v = (gf_inverting){0};
}

uint32_t gf_piece_find(const gf_piece *p, uint32_t term)
{
    return gf_lower_bound(p->term, p->n, term);
}

gf_slice gf_piece_postings(const gf_piece *p, uint32_t i)
{
    uint32_t from = i ? p->end[i - 1] : 0;
    return gf_slice_of(p->bytes.ptr + from, p->end[i] - from);
}

gf_status gf_inverting_add(gf_inverting *v, uint32_t term, uint32_t document, uint32_t value,
                           gf_error *err)
{
    assert(document < GF_INDEX_CHUNK && value);
    if (!gf_grow(&v->entries, &v->capacity, v->n + 1, sizeof *v->entries))
        return gf_fail_memory(err, "an index");
    if (value > LARGE) {
        if (!gf_grow(&v->large, &v->large_capacity, v->n_large + 1, sizeof *v->large))
            return gf_fail_memory(err, "an index");
        v->large[v->n_large++] = (gf_large_value){term, document, value};
    }
    uint64_t kept = value > LARGE ? LARGE : value - 1;
    v->entries[v->n++] = (uint64_t)term << 32 | (uint64_t)document << VALUE_BITS | kept;
    return GF_OK;
}

static uint32_t value_of(const gf_inverting *v, uint64_t entry)
{
    uint32_t value = entry & LARGE, term = (uint32_t)(entry >> 32);
    uint32_t document = (uint32_t)entry >> VALUE_BITS;
    if (value != LARGE) return value + 1;
    for (size_t i = 0; i < v->n_large; i++)
        if (v->large[i].term == term && v->large[i].document == document) return v->large[i].value;
    return 0;
}

static gf_status sort_entries(gf_inverting *v, uint32_t highest, gf_error *err)
{
    if (v->scratch_capacity < v->n) {
        gf_free(v->scratch);
        v->scratch = gf_array(v->capacity, sizeof *v->scratch);
        v->scratch_capacity = v->scratch ? v->capacity : 0;
        if (!v->scratch) return gf_fail_memory(err, "an index");
    }
    gf_order_by_high(v->entries, v->n, v->scratch, highest);
    return GF_OK;
}

gf_status gf_inverting_end(gf_inverting *v, uint32_t highest, gf_piece *p, gf_error *err)
{
    uint32_t n = 0, before = 0;
    *p = (gf_piece){0};
    gf_status st = sort_entries(v, highest, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < v->n; i++)
        n += i == 0 || v->entries[i] >> 32 != v->entries[i - 1] >> 32;
    p->term = gf_array(n, sizeof *p->term);
    p->documents = gf_calloc(n, sizeof *p->documents);
    p->end = gf_array(n, sizeof *p->end);
    if (!p->term || !p->documents || !p->end) return gf_fail_memory(err, "an index");
    for (size_t i = 0; i < v->n; i++) {
        uint32_t term = (uint32_t)(v->entries[i] >> 32);
        uint32_t document = (uint32_t)v->entries[i] >> VALUE_BITS;
        if (p->n == 0 || p->term[p->n - 1] != term) {
            p->term[p->n++] = term;
            before = 0;
        }
        gf_index_put_posting(&p->bytes, document - before, value_of(v, v->entries[i]));
        before = document;
        p->documents[p->n - 1]++;
        p->end[p->n - 1] = (uint32_t)p->bytes.len;
    }
    v->n = v->n_large = 0;
    if (p->bytes.len > UINT32_MAX) return gf_fail(err, GF_ELIMIT, "too many words in an index");
    return gf_buffer_check(&p->bytes, err);
}

/* ---- all pieces of a segment ----------------------------------------------------------------- */

gf_status gf_term_walk_begin(gf_term_walk *w, const gf_piece *pieces, uint32_t n, uint32_t first,
                             uint32_t end, gf_error *err)
{
    *w = (gf_term_walk){.pieces = pieces, .n = n, .end = end};
    w->at = gf_array(n, sizeof *w->at);
    if (!w->at) return gf_fail_memory(err, "an index");
    for (uint32_t i = 0; i < n; i++)
        w->at[i] = gf_piece_find(&pieces[i], first);
    return GF_OK;
}

bool gf_term_walk_next(gf_term_walk *w)
{
    for (uint32_t i = 0; i < w->n && w->documents; i++)
        w->at[i] += gf_term_walk_has(w, i);
    w->term = w->end;
    w->documents = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        const gf_piece *p = &w->pieces[i];
        if (w->at[i] == p->n || p->term[w->at[i]] > w->term || p->term[w->at[i]] >= w->end)
            continue;
        if (p->term[w->at[i]] < w->term) w->documents = 0;
        w->term = p->term[w->at[i]];
        w->documents += p->documents[w->at[i]];
    }
    return w->documents > 0;
}

void gf_term_walk_release(gf_term_walk *w)
{
    gf_free(w->at);
    *w = (gf_term_walk){0};
}
