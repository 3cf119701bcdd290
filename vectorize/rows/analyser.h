/**
 * Text to words: tokens, each with what it means to the analysis.
 *
 *     text -> tokens -> surface (language, bytes) -> term
 *                       looked up for every token     found once per distinct surface:
 *                       in gf_surfaces                normal form, stop list, length, stem
 *
 * So the costly steps are off the hot path. Terms are strings with ids in order of arrival, which
 * only mean something to this analyser, and to those that share its dictionary
 * (dictionary_internal.h); stop words and words of other lengths have terms too, since a document
 * that has nothing else keeps them.
 *
 * One analyser per thread. Equal options give equal terms for equal text, whatever came before.
 */
#ifndef GF_VECTORIZE_ROWS_ANALYSER_H
#define GF_VECTORIZE_ROWS_ANALYSER_H

#include "base/strings.h"
#include "vectorize/rows/vectorizer_options.h"
#include "vectorize/text/tokeniser.h"

typedef enum gf_word_use {
    GF_WORD_TERM,  /* a term */
    GF_WORD_OTHER, /* a word that is no term: too short or too long */
    GF_WORD_STOP,  /* a stop word */
    GF_WORD_NONE   /* no word: left out by its kind, or nothing visible in it; has no term */
} gf_word_use;

typedef struct gf_word {
    uint32_t term; /* id in gf_analyser_terms */
    uint32_t use;  /* gf_word_use */
} gf_word;

/** The result of gf_analyser_run, borrowed from the analyser until its next call. */
typedef struct gf_analysis {
    const gf_token *tokens; /* n */
    const gf_word *words;   /* n: what each token is */
    size_t n;
} gf_analysis;

typedef struct gf_analyser gf_analyser;

/** The options are copied, more_stop_words included. GF_EINVAL, GF_ENOMEM. */
gf_status gf_analyser_create(const gf_analysis_options *options, gf_analyser **analyser,
                             gf_error *err);
void gf_analyser_free(gf_analyser *analyser);

/**
 * Analyse one text.
 *
 * @param language  of the text; NULL where it is not known. The options' own goes before it.
 * @return GF_OK; GF_ELIMIT (4 GiB of text, 2^32 - 2 distinct terms); GF_ENOMEM; GF_EIO
 */
gf_status gf_analyser_run(gf_analyser *analyser, gf_slice text, const gf_language *language,
                          gf_analysis *out, gf_error *err);

/**
 * Keep the result of each call from now on, in order, for whoever needs the words of the same texts
 * again. Where they come to more tokens than that, and where words are forgotten, none is kept.
 *
 * @param most_tokens  0: keep no more; what was kept stays
 */
void gf_analyser_keep(gf_analyser *analyser, size_t most_tokens);

/** The i-th result that was kept; false where it was not. Borrowed until the next call of run. */
bool gf_analyser_kept(const gf_analyser *analyser, size_t i, gf_analysis *out);

/** The strings of the terms' ids, of an analyser that shares no dictionary. Borrowed. */
const gf_strings *gf_analyser_terms(const gf_analyser *analyser);

#endif
