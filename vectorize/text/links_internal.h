/**
 * Parts of running text that are no words: addresses of pages and of people, and HTML's
 * character references.
 */
#ifndef GF_VECTORIZE_TEXT_LINKS_INTERNAL_H
#define GF_VECTORIZE_TEXT_LINKS_INTERNAL_H

#include "grouperfish/slice.h"
#include "vectorize/text/char_class_internal.h"

/**
 * The end of a URL (http://, https:// or www.) that starts at `start` with the ASCII word that ends
 * at `word_end`; 0 where none does. Punctuation that closes a sentence or a bracket around the URL
 * is not part of it; non-ASCII letters are, except those of scripts without spaces.
 */
size_t gf_links_url_end(gf_slice text, size_t start, size_t word_end);

/**
 * True if the @ at `sign` is that of an e-mail address. Its local part starts at *start (at most 64
 * bytes before the sign, not before `floor`), its domain ends at *end.
 */
bool gf_links_address_at(gf_slice text, size_t floor, size_t sign, size_t *start, size_t *end);

/**
 * The end of the HTML character reference (&amp; &#39; &#x27; and a list of names) that starts at
 * the & at `at`, and the class of the character it stands for; 0 where there is none. An escaped
 * reference (&amp;nbsp;) is taken as one.
 */
size_t gf_links_reference_end(gf_slice text, size_t at, gf_char_class *stands_for);

#endif
