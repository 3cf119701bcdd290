/**
 * Terms of several words: finds the term of two or three terms in a row, and keeps the commonest
 * original text of each.
 *
 * An n-gram is looked up by the ids of its words in the dictionary's table of n-grams; only a new
 * one has its string made (the words joined by one space) and interned with all other terms. One
 * per analyser.
 */
#ifndef GF_VECTORIZE_ROWS_NGRAMS_INTERNAL_H
#define GF_VECTORIZE_ROWS_NGRAMS_INTERNAL_H

#include "vectorize/rows/analyser_internal.h"

enum { GF_LONGEST_FORM = 512 /* bytes of an n-gram's text that is remembered */ };

typedef struct gf_ngrams {
    gf_buffer scratch;
} gf_ngrams;

/** Set to {0} to begin. */
void gf_ngrams_release(gf_ngrams *g);

/**
 * The term of n words in a row (2..GF_MOST_NGRAM).
 * @return GF_OK; GF_ENOMEM; GF_ELIMIT
 */
gf_status gf_ngrams_term(gf_ngrams *g, gf_dictionary *dictionary, const uint32_t *words, uint32_t n,
                         uint32_t *term, gf_error *err);

/**
 * Count the text that an n-gram was met as, each run of white space as one space. Texts longer than
 * GF_LONGEST_FORM then are not counted.
 */
gf_status gf_ngrams_note(gf_ngrams *g, gf_dictionary *dictionary, uint32_t term, gf_slice text,
                         gf_error *err);

#endif
