/**
 * Meanings of words (term and use), kept from one analyser to the next.
 *
 * Each distinct word of a collection is normalised, looked for in a stop list and stemmed once.
 * When many small collections are analysed one after the other, that is nearly all that analysing
 * takes, and they have the same words; so analysers that are given the same lexicon
 * (gf_analysis_options) ask it first. It holds what depends on a word alone: terms are the same
 * with it and without.
 *
 * One thread's, and one analyser's at a time. A lexicon that meets other options than before begins
 * anew; so it does when it has some 100,000 words.
 */
#ifndef GF_VECTORIZE_ROWS_LEXICON_H
#define GF_VECTORIZE_ROWS_LEXICON_H

#include "grouperfish/status.h"

typedef struct gf_lexicon gf_lexicon;

/** An empty one. GF_ENOMEM. */
gf_status gf_lexicon_create(gf_lexicon **lexicon, gf_error *err);
void gf_lexicon_free(gf_lexicon *lexicon);

#endif
