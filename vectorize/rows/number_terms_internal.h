/**
 * The choice and order of the terms that become columns: by falling document frequency, then by
 * bytes, so that the columns that most rows have are neighbours, and so that the numbers depend on
 * nothing else.
 */
#ifndef GF_VECTORIZE_ROWS_NUMBER_TERMS_INTERNAL_H
#define GF_VECTORIZE_ROWS_NUMBER_TERMS_INTERNAL_H

#include "vectorize/rows/vectorizer_internal.h"

/** The dictionary's terms by id. */
typedef struct gf_found_terms {
    uint32_t n;     /* ids: 0 .. n-1 */
    gf_slice *term; /* n; ptr NULL where the id has none; borrowed from the dictionary */
    uint32_t *df;   /* n: documents that have the term in GF_TIER_TERMS */
} gf_found_terms;

typedef struct gf_numbering {
    uint32_t n_terms, n_regular;
    uint32_t *id;     /* n_terms: term of each column */
    uint32_t *column; /* of each term, or GF_TERM_NONE */
} gf_numbering;

/** Number the regular terms of n_docs documents. GF_OK; GF_ENOMEM. */
gf_status gf_number_terms_regular(const gf_vectorizer_options *options, uint32_t n_docs,
                                  const gf_found_terms *terms, gf_numbering *numbering,
                                  gf_error *err);

/** Number the rescue terms behind them: those not numbered yet whose rows[id] is not 0. */
gf_status gf_number_terms_rescue(const gf_found_terms *terms, const uint32_t *rows,
                                 gf_numbering *numbering, gf_error *err);

void gf_number_terms_release(gf_numbering *numbering);

#endif
