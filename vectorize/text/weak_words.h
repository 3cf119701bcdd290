/**
 * Weak words: they say little of what a text is about, though they are no stop words. They count
 * in rows, and are looked at only where labels are chosen.
 *
 * The lists lie in vectorize/weak_words (its README.md names kinds and source) and are compiled in.
 */
#ifndef GF_VECTORIZE_TEXT_WEAK_WORDS_H
#define GF_VECTORIZE_TEXT_WEAK_WORDS_H

#include "vectorize/text/language.h"

typedef enum gf_weak_kind {
    GF_WEAK_VAGUE, /* "new", "day", "study": they do not name anything alone */
    GF_WEAK_UNITS  /* "said", "pct": besides, no name begins or ends with one */
} gf_weak_kind;

/**
 * A language's list as its file has it: lines of words separated by spaces. *n is 0 where there is
 * none. Constant.
 */
const char *const *gf_weak_words(const gf_language *language, gf_weak_kind kind, size_t *n);

#endif
