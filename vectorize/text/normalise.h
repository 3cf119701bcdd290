/**
 * Normal form of a word: Unicode's NFKC_Casefold, so that forms which readers take for the same
 * word are the same bytes: lower case, one spelling of accents, full-width and ligature forms
 * resolved, invisible characters (soft hyphen, joiners, variation selectors) removed.
 *
 * Turkish folds I to ı and İ to i before that, as the language has it.
 *
 * Source: Unicode Standard Annex 15 and section 3.13 (toNFKC_Casefold), through ICU, whose
 * normaliser is one immutable object for all threads.
 */
#ifndef GF_VECTORIZE_TEXT_NORMALISE_H
#define GF_VECTORIZE_TEXT_NORMALISE_H

#include "grouperfish/buffer.h"
#include "vectorize/text/language.h"

/**
 * Append the normal form of word to out.
 *
 * @param word      UTF-8; each ill-formed byte counts as U+FFFD
 * @param language  may be NULL
 * @return GF_OK; GF_ENOMEM; GF_ELIMIT (out's maximum, or a word of 2^28 bytes and more)
 */
gf_status gf_normalise(gf_slice word, const gf_language *language, gf_buffer *out, gf_error *err);

#endif
