#include "vectorize/numbering_internal.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct candidate {
    uint32_t frequency;
    uint32_t merged;
    uint64_t start; /* the term's first bytes as a number: most differ there */
    const gf_slice *term;
} candidate;

static int by_frequency_and_bytes(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->frequency != y->frequency) return x->frequency < y->frequency ? 1 : -1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return gf_slice_compare(*x->term, *y->term);
}

static candidate candidate_of(const gf_merged *terms, uint32_t merged, uint32_t frequency)
{
    const gf_slice *term = &terms->term[merged];
    return (candidate){frequency, merged, gf_leading_u64be(*term), term};
}

void gf_numbering_release(gf_numbering *numbering)
{
    gf_free(numbering->merged);
    gf_free(numbering->column);
    *numbering = (gf_numbering){0};
}

/* Sorts the candidates and gives the first `most` of them the next columns. */
static gf_status number(gf_numbering *numbering, candidate *candidates, uint32_t n, uint32_t most,
                        gf_error *err)
{
    if (n) qsort(candidates, n, sizeof *candidates, by_frequency_and_bytes);
    if (n > most) n = most;
    uint32_t *merged =
        gf_realloc(numbering->merged, (size_t)numbering->n_terms + n, sizeof *merged);
    if (!merged) return gf_fail_memory(err, "numbering terms");
    numbering->merged = merged;
    for (uint32_t i = 0; i < n; i++) {
        merged[numbering->n_terms + i] = candidates[i].merged;
        numbering->column[candidates[i].merged] = numbering->n_terms + i;
    }
    numbering->n_terms += n;
    return GF_OK;
}

gf_status gf_number_regular(const gf_vectorizer_options *options, uint32_t n_docs,
                            const gf_merged *terms, gf_numbering *numbering, gf_error *err)
{
    uint32_t least, most, n = 0;
    gf_numbering made = {0};
    gf_df_bounds(options, n_docs, &least, &most);
    candidate *candidates = gf_array(terms->n, sizeof *candidates);
    made.column = gf_array(terms->n, sizeof *made.column);
    gf_status st = candidates && made.column ? GF_OK : gf_fail_memory(err, "numbering terms");
    for (uint32_t i = 0; i < terms->n && st == GF_OK; i++) {
        uint32_t df = terms->df[i];
        made.column[i] = GF_TERM_NONE;
        if (df >= least && df <= most && df > 0 &&
            gf_weight_idf(options->weights.idf, n_docs, df) > 0)
            candidates[n++] = candidate_of(terms, i, df);
    }
    uint32_t max_terms = options->max_terms ? options->max_terms : UINT32_MAX;
    if (st == GF_OK) st = number(&made, candidates, n, max_terms, err);
    made.n_regular = made.n_terms;
    gf_free(candidates);
    if (st == GF_OK)
        *numbering = made;
    else
        gf_numbering_release(&made);
    return st;
}

gf_status gf_number_rescue(const gf_merged *terms, const uint32_t *rows, gf_numbering *numbering,
                           gf_error *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < terms->n; i++)
        n += rows[i] && numbering->column[i] == GF_TERM_NONE;
    candidate *candidates = gf_array(n, sizeof *candidates);
    if (!candidates) return gf_fail_memory(err, "numbering terms");
    n = 0;
    for (uint32_t i = 0; i < terms->n; i++)
        if (rows[i] && numbering->column[i] == GF_TERM_NONE)
            candidates[n++] = candidate_of(terms, i, rows[i]);
    gf_status st = number(numbering, candidates, n, UINT32_MAX, err);
    gf_free(candidates);
    return st;
}
