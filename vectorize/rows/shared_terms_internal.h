/**
 * Terms that several ranks number together: each has the terms of its own documents, and all get the
 * same columns, which are those of one vectorizer that has all the documents.
 *
 *     terms   each term goes to the rank that owns it, by its hash; there its documents are added up,
 *             and it is left out where the settings say so; those that stay are numbered by rank 0
 *             (number_terms_internal.h) and told to all
 *     forms   each form of a column goes to the rank that owns the column; there its occurrences are added
 *             up, and the commonest goes to rank 0
 *
 * So no rank ever has all the terms that are met, but those that become columns.
 */
#ifndef GF_VECTORIZE_ROWS_SHARED_TERMS_INTERNAL_H
#define GF_VECTORIZE_ROWS_SHARED_TERMS_INTERNAL_H

#include "base/ranks.h"
#include "vectorize/rows/number_terms_internal.h"

/** The columns of all ranks. {0} to begin with. */
typedef struct gf_shared_terms {
    uint32_t n_docs; /* of all ranks */
    uint32_t n_terms, n_regular;
    gf_slice *term; /* n_terms, in `bytes` */
    uint32_t *df;   /* n_terms */
    double *idf;    /* n_terms, as rank 0 works it out: libraries may differ in a last bit */
    gf_buffer bytes[2];
} gf_shared_terms;

void gf_shared_terms_release(gf_shared_terms *shared);

/**
 * Number the regular terms of all ranks' documents: numbering gets the columns of this rank's terms,
 * and no terms of columns. All ranks call it.
 *
 * @param n_docs      of this rank
 * @param dictionary  of this rank; NULL: it has no document
 * @return GF_OK; GF_ENOMEM, GF_ELIMIT, and what ranks fail with
 */
gf_status gf_shared_terms_number(gf_ranks *ranks, const gf_vectorizer_options *options,
                                 uint32_t n_docs, gf_dictionary *dictionary,
                                 const gf_found_terms *terms, gf_shared_terms *shared,
                                 gf_numbering *numbering, gf_error *err);

/** Number the rescue terms behind them, likewise: rows counts this rank's rescued rows. */
gf_status gf_shared_terms_rescue(gf_ranks *ranks, gf_dictionary *dictionary,
                                 const gf_found_terms *terms, const uint32_t *rows,
                                 gf_shared_terms *shared, gf_numbering *numbering, gf_error *err);

/**
 * The vocabulary with the commonest form of each column, at rank 0; that of other ranks stays as it
 * is. All ranks call it.
 */
gf_status gf_shared_terms_describe(gf_ranks *ranks, const gf_dictionary *dictionary, gf_idf idf,
                                   const gf_numbering *numbering, const gf_shared_terms *shared,
                                   gf_vocabulary *vocabulary, gf_error *err);

#endif
