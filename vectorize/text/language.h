/**
 * The languages that the analysis knows: those that libstemmer stems, and a few without a stemmer
 * that have a stop list or a word breaker here (Chinese, Japanese, Thai, Korean).
 *
 * A language is a pointer into one constant table, so two are the same where their pointers are;
 * NULL stands for "not known" throughout: no stemming, no stop list.
 */
#ifndef GF_VECTORIZE_TEXT_LANGUAGE_H
#define GF_VECTORIZE_TEXT_LANGUAGE_H

#include "grouperfish/slice.h"

enum { GF_LANGUAGES = 33 };

typedef struct gf_language {
    const char *name;  /* Snowball's, in lower case: "english" */
    const char *iso1;  /* ISO 639-1: "en"; "" where there is none ("porter") */
    const char *iso2b; /* ISO 639-2/B, bibliographic: "ger"; "" likewise */
    const char *iso3;  /* ISO 639-3, the same as 639-2/T: "deu"; "" likewise */
    const char *codes; /* further codes it is found by, separated by spaces */
    bool stems;        /* libstemmer has a stemmer of that name */
} gf_language;

/**
 * The language of a Snowball name or an ISO 639 code, in any case; of "en-US", "en_US" and
 * "zh-Hant" the part before the - or _ counts. NULL where it is none of the table.
 */
const gf_language *gf_language_find(gf_slice name);

/** The i-th language, i < GF_LANGUAGES, by rising name. */
const gf_language *gf_language_at(size_t i);

/** Its place in the table. */
size_t gf_language_index(const gf_language *language);

/** The known name that a mistyped one most likely meant, or NULL. */
const char *gf_language_nearest(gf_slice name);

#endif
