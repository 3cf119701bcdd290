/*
 * Postings of the different members, by term:
 *
 *     head[term] -> posting -> posting -> ... -> NONE        each: which member, the next posting
 *
 * A unit row x is posted under its heaviest terms alone, until the rest of it is no longer than
 * POSTED_REST. A walk over the postings of a row y gives the products of these terms; with those of
 * the rest
 *
 *     x.y <= (sum over the posted terms) + |rest of x| |y without the terms that were found|
 *
 * so that few products of whole rows remain. Where no term is found, x.y <= POSTED_REST.
 */
#include "cluster/label/copies.h"

#include "base/grow.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

#define POSTED_REST .5
#define SLACK       1e-4 /* for what sums of floats lose */

typedef struct posting {
    uint32_t different; /* which, from 0 on */
    uint32_t next;
    float value; /* of the term, in its row */
} posting;

struct gf_copies {
    uint32_t n_terms;
    uint32_t *head; /* n_terms: first posting, or NONE */
    posting *postings;
    uint32_t *terms; /* n_postings: of each, to be reset */
    uint32_t *order; /* of the row at hand: its entries by falling weight */
    size_t n_postings, posting_capacity, term_capacity, order_capacity;
    uint32_t place[GF_COPIES_DIFFERENT]; /* n_different: of each different member */
    double rest[GF_COPIES_DIFFERENT];    /* n_different: length of what is not posted */
    uint32_t n_different;
};

gf_status gf_copies_create(uint32_t n_terms, gf_copies **copies, gf_error *err)
{
    gf_copies *c = gf_calloc(1, sizeof *c);
    if (c) c->head = gf_array(n_terms, sizeof *c->head);
    if (!c || !c->head) {
        gf_copies_free(c);
        return gf_fail_memory(err, "near-duplicates");
    }
    c->n_terms = n_terms;
    memset(c->head, 0xFF, n_terms * sizeof *c->head);
    *copies = c;
    return GF_OK;
}

void gf_copies_free(gf_copies *c)
{
    if (!c) return;
    gf_free(c->head);
    gf_free(c->postings);
    gf_free(c->terms);
    gf_free(c->order);
    gf_free(c);
}

static void forget(gf_copies *c)
{
    for (size_t i = 0; i < c->n_postings; i++)
        c->head[c->terms[i]] = NONE;
    c->n_postings = 0;
    c->n_different = 0;
}

static int by_falling_weight(const void *a, const void *b, void *context)
{
    const float *val = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (val[x] != val[y]) return val[x] > val[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Post a different member under its heaviest terms. */
static gf_status post(gf_copies *c, gf_row_view x, uint32_t place, gf_error *err)
{
    double rest = 0;
    if (!gf_grow(&c->order, &c->order_capacity, x.n, sizeof *c->order))
        return gf_fail_memory(err, "near-duplicates");
    for (uint32_t p = 0; p < x.n; p++) {
        c->order[p] = p;
        rest += (double)x.val[p] * x.val[p];
    }
    qsort_r(c->order, x.n, sizeof *c->order, by_falling_weight, (void *)x.val /* only read */);
    for (uint32_t i = 0; i < x.n && rest > POSTED_REST * POSTED_REST; i++) {
        uint32_t p = c->order[i], term = x.col[p];
        if (!gf_grow(&c->postings, &c->posting_capacity, c->n_postings + 1, sizeof *c->postings) ||
            !gf_grow(&c->terms, &c->term_capacity, c->n_postings + 1, sizeof *c->terms))
            return gf_fail_memory(err, "near-duplicates");
        c->postings[c->n_postings] = (posting){c->n_different, c->head[term], x.val[p]};
        c->terms[c->n_postings] = term;
        c->head[term] = (uint32_t)c->n_postings++;
        rest -= (double)x.val[p] * x.val[p];
    }
    c->rest[c->n_different] = rest > 0 ? sqrt(rest) : 0;
    c->place[c->n_different++] = place;
    return GF_OK;
}

static bool is_alike(gf_row_view x, gf_row_view y)
{
    bool few = x.n < GF_COPIES_FEW || y.n < GF_COPIES_FEW;
    return gf_csr_row_dot(x, y) >= (few ? GF_COPIES_LEAST_OF_FEW : GF_COPIES_LEAST);
}

/* The place of the first different member that a row is like; NONE. */
static uint32_t find_alike(const gf_copies *c, const gf_csr *x, const uint32_t *row, gf_row_view y)
{
    double sum[GF_COPIES_DIFFERENT] = {0}, found[GF_COPIES_DIFFERENT] = {0};
    for (uint32_t p = 0; p < y.n; p++)
        for (uint32_t at = c->head[y.col[p]]; at != NONE; at = c->postings[at].next) {
            const posting *q = &c->postings[at];
            sum[q->different] += (double)y.val[p] * q->value;
            found[q->different] += (double)y.val[p] * y.val[p];
        }
    for (uint32_t d = 0; d < c->n_different; d++) {
        double left = found[d] < 1 ? sqrt(1 - found[d]) : 0;
        if (sum[d] + c->rest[d] * left < GF_COPIES_LEAST - SLACK) continue;
        if (is_alike(gf_csr_row(x, row[c->place[d]]), y)) return c->place[d];
    }
    return NONE;
}

gf_status gf_copies_find(gf_copies *c, const gf_csr *x, const uint32_t *row, uint32_t n,
                         uint32_t *first, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        gf_row_view y = gf_csr_row(x, row[i]);
        first[i] = find_alike(c, x, row, y);
        if (first[i] != NONE) continue;
        first[i] = i;
        if (c->n_different < GF_COPIES_DIFFERENT) st = post(c, y, i, err);
    }
    forget(c);
    return st;
}
