/**
 * Sentences of ASCII: where they end, and what their characters look like. Nearly all that is
 * looked at in English is of this kind, and costs a tenth of what it does by ICU.
 */
#ifndef GF_VECTORIZE_TEXT_ASCII_SENTENCES_INTERNAL_H
#define GF_VECTORIZE_TEXT_ASCII_SENTENCES_INTERNAL_H

#include "grouperfish/slice.h"

#include <stdbool.h>
#include <stdint.h>

/** Sums over the characters of a sentence. */
typedef struct gf_sentence_looks {
    uint32_t characters, letters, capitals, spaces, joined; /* joined: of scripts without spaces */
    int brackets;                                           /* opened less closed */
    uint32_t quotes;                                        /* straight ones */
    int curly;                                              /* opened less closed */
    bool run, named;                                        /* of punctuation; "Word:" begins it */
    bool repeats; /* two to sixteen characters (of ASCII, four), three times in a row */
    uint32_t first, last;
} gf_sentence_looks;

enum { GF_LONGEST_ASCII_UNIT = 4 };

/** True if all of s is ASCII. */
bool gf_ascii_sentences_suit(gf_slice s);

/**
 * The end of the sentence that begins at `from`: after it comes the next one, or nothing. The rules
 * of Unicode Standard Annex 29 (SB3 to SB998), as far as ASCII without line feeds can tell them apart,
 * with ICU's properties of the characters; so ICU's breaker gives the same.
 *
 * @param text  ASCII without control characters; from < text.len, where a sentence begins
 */
size_t gf_ascii_sentences_end(gf_slice text, size_t from);

/** The looks of a sentence's characters. @param s  ASCII, not empty */
gf_sentence_looks gf_ascii_sentences_look(gf_slice s);

#endif
