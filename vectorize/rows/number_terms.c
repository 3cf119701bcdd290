#include "vectorize/rows/number_terms_internal.h"

#include "base/memory.h"
#include "base/order.h"

typedef struct candidate {
    uint32_t frequency;
    uint32_t id;
} candidate;

void gf_number_terms_release(gf_numbering *numbering)
{
    gf_free(numbering->id);
    gf_free(numbering->column);
    *numbering = (gf_numbering){0};
}

/* The candidates by falling frequency, and then by their terms' bytes. */
static gf_status order_candidates(const gf_found_terms *terms, const candidate *candidates,
                                  uint32_t n, uint32_t *order, gf_error *err)
{
    gf_slice *strings = gf_array(n, sizeof *strings);
    uint32_t *rank = gf_array(n, sizeof *rank), highest = 0;
    gf_status st = strings && rank ? GF_OK : gf_fail_memory(err, "numbering terms");
    for (uint32_t i = 0; i < n; i++)
        if (candidates[i].frequency > highest) highest = candidates[i].frequency;
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        strings[i] = terms->term[candidates[i].id];
        rank[i] = highest - candidates[i].frequency;
    }
    if (st == GF_OK) st = gf_order_ranked(strings, rank, highest, n, order, err);
    gf_free(strings);
    gf_free(rank);
    return st;
}

/* Gives the first `most` of the candidates the next columns. */
static gf_status number(gf_numbering *numbering, const gf_found_terms *terms,
                        const candidate *candidates, uint32_t n, uint32_t most, gf_error *err)
{
    uint32_t *order = gf_array(n, sizeof *order);
    gf_status st = order ? order_candidates(terms, candidates, n, order, err)
                         : gf_fail_memory(err, "numbering terms");
    if (n > most) n = most;
    uint32_t *ids = NULL;
    if (st == GF_OK) {
        ids = gf_realloc(numbering->id, (size_t)numbering->n_terms + n, sizeof *ids);
        if (!ids) st = gf_fail_memory(err, "numbering terms");
    }
    if (st == GF_OK) {
        numbering->id = ids;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t id = candidates[order[i]].id;
            ids[numbering->n_terms + i] = id;
            numbering->column[id] = numbering->n_terms + i;
        }
        numbering->n_terms += n;
    }
    gf_free(order);
    return st;
}

gf_status gf_number_terms_regular(const gf_vectorizer_options *options, uint32_t n_docs,
                                  const gf_found_terms *terms, gf_numbering *numbering,
                                  gf_error *err)
{
    uint32_t least, most, n = 0;
    gf_numbering made = {0};
    gf_vectorizer_options_df_bounds(options, n_docs, &least, &most);
    candidate *candidates = gf_array(terms->n, sizeof *candidates);
    made.column = gf_array(terms->n, sizeof *made.column);
    gf_status st = candidates && made.column ? GF_OK : gf_fail_memory(err, "numbering terms");
    for (uint32_t i = 0; i < terms->n && st == GF_OK; i++) {
        uint32_t df = terms->df[i];
        made.column[i] = GF_TERM_NONE;
        if (df >= least && df <= most && df > 0 &&
            gf_weight_idf(options->weights.idf, n_docs, df) > 0)
            candidates[n++] = (candidate){df, i};
    }
    uint32_t max_terms = options->max_terms ? options->max_terms : UINT32_MAX;
    if (st == GF_OK) st = number(&made, terms, candidates, n, max_terms, err);
    made.n_regular = made.n_terms;
    gf_free(candidates);
    if (st == GF_OK)
        *numbering = made;
    else
        gf_number_terms_release(&made);
    return st;
}

gf_status gf_number_terms_rescue(const gf_found_terms *terms, const uint32_t *rows,
                                 gf_numbering *numbering, gf_error *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < terms->n; i++)
        n += rows[i] && numbering->column[i] == GF_TERM_NONE;
    candidate *candidates = gf_array(n, sizeof *candidates);
    if (!candidates) return gf_fail_memory(err, "numbering terms");
    n = 0;
    for (uint32_t i = 0; i < terms->n; i++)
        if (rows[i] && numbering->column[i] == GF_TERM_NONE)
            candidates[n++] = (candidate){rows[i], i};
    gf_status st = number(numbering, terms, candidates, n, UINT32_MAX, err);
    gf_free(candidates);
    return st;
}
