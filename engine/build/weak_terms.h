/**
 * The lists of weak words (vectorize/text/weak_words.h) as an analysis has them: of each word its
 * term, in each language with a list. They are made once for all builds of the same analysis, and
 * looked up in the vocabulary of each.
 *
 * Two bits tell where a term or a word stands: 1 << 2 * place in the vague words of the language of
 * that place, the bit above it in its units. A word that is no term of a vocabulary, mostly since
 * most documents have it, is known by its letters.
 */
#ifndef GF_ENGINE_BUILD_WEAK_TERMS_H
#define GF_ENGINE_BUILD_WEAK_TERMS_H

#include "base/strings.h"
#include "vectorize/rows/vectorizer_options.h"
#include "vectorize/rows/vocabulary.h"

/** Languages with lists; their places are below. */
enum { GF_WEAK_LISTED = 10 };

/** Set to {0}. Any number of threads may read it. */
typedef struct gf_weak_terms {
    gf_analysis_options analysis; /* by which it was made, without a lexicon */
    char *more_stop_words;        /* of it; NULL: nothing is made yet */
    gf_strings terms;
    uint32_t *bits; /* terms.n */
    size_t bits_capacity;
    gf_strings letters; /* a place and kind, and letters that are small where of ASCII */
    struct gf_weak_word {
        uint32_t letters, term; /* term: GF_STRING_NONE where it has none */
    } * words;                  /* n_words: of each of the letters all words, in their order */
    size_t n_words, words_capacity;
    uint32_t *first; /* letters.n + 1: in words */
} gf_weak_terms;

/**
 * Have the lists by an analysis; at no cost where they are.
 *
 * @return GF_OK; GF_EINVAL, GF_ENOMEM, GF_ELIMIT: then it is empty. In any case to be released.
 */
gf_status gf_weak_terms_suit(gf_weak_terms *w, const gf_analysis_options *analysis, gf_error *err);
void gf_weak_terms_release(gf_weak_terms *w);

/** The place of a language; GF_WEAK_LISTED where it has no list. NULL: no language. */
uint32_t gf_weak_terms_place(const gf_language *language);

/** Set the bits of the vocabulary's terms. bits: as many as it has terms, all 0. */
void gf_weak_terms_mark(const gf_weak_terms *w, const gf_vocabulary *vocabulary, uint32_t *bits);

/**
 * The bits of a word that is no term of the vocabulary, in the lists of a language: 1 vague, 2 a
 * unit. Only words of the lists that are no terms of it either are looked at.
 */
uint32_t gf_weak_terms_without(const gf_weak_terms *w, uint32_t place, gf_slice word,
                               const gf_vocabulary *vocabulary);

#endif
