/**
 * Stemming by libstemmer's Snowball algorithms: "connections" and "connected" become "connect".
 *
 * The stemmers of a gf_stemmers are made when their language is first asked for. Not for several
 * threads (a Snowball stemmer keeps its word inside). Start with {0}; release at the end.
 *
 * Source: Porter, "Snowball: a language for stemming algorithms" (2001); Porter, "An algorithm for
 * suffix stripping", Program 14 (1980) 130-137, for "porter".
 */
#ifndef GF_VECTORIZE_TEXT_STEM_H
#define GF_VECTORIZE_TEXT_STEM_H

#include "grouperfish/status.h"
#include "vectorize/text/language.h"

typedef struct gf_stemmers {
    struct sb_stemmer *of[GF_LANGUAGES]; /* by gf_language_index; NULL until asked for */
} gf_stemmers;

void gf_stemmers_release(gf_stemmers *stemmers);

/**
 * The stem of a word in normal form (gf_normalise).
 *
 * @param language  NULL, or one without a stemmer, leaves the word as it is; so does a word that
 *                  the algorithm fails on
 * @param stem      borrowed from `stemmers` until the next word of that language, or from `word`
 * @return GF_OK; GF_ENOMEM
 */
gf_status gf_stem(gf_stemmers *stemmers, const gf_language *language, gf_slice word, gf_slice *stem,
                  gf_error *err);

#endif
