/**
 * Stop lists: the function words of a language, which say nothing about what a text is about.
 *
 * The lists lie in vectorize/stop_words (its README.md names source and licence) and are compiled
 * in. A word is looked up as it is after gf_normalise and before stemming; the lists go through the
 * same function, so that both sides agree.
 */
#ifndef GF_VECTORIZE_TEXT_STOP_WORDS_H
#define GF_VECTORIZE_TEXT_STOP_WORDS_H

#include "base/strings.h"
#include "vectorize/text/language.h"

/** A language's list as its files have it; *n is 0 where there is none. Constant. */
const char *const *gf_stop_words(const gf_language *language, size_t *n);

/**
 * Add the normalised words of a language's list to set. A NULL language adds nothing.
 * @return GF_OK; GF_ENOMEM
 */
gf_status gf_stop_words_add(gf_strings *set, const gf_language *language, gf_error *err);

/**
 * Add the normalised words of a text to set. Words are separated by white space, and as the
 * tokeniser would by apostrophes and any other ASCII character that is no letter, digit or
 * underscore. The language decides about Turkish I only; NULL where it is not known.
 */
gf_status gf_stop_words_add_text(gf_strings *set, gf_slice text, const gf_language *language,
                                 gf_error *err);

#endif
