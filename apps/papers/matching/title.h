/**
 * Titles of papers, compared.
 */
#ifndef GF_APPS_PAPERS_TITLE_H
#define GF_APPS_PAPERS_TITLE_H

#include "grouperfish/buffer.h"

enum { GF_SLUG_LEAST = 8, GF_SCORE_MATCH = 900, GF_SCORE_MOST = 1000 };

/**
 * Append text without accents, case, punctuation and spaces: its letters and digits, by Unicode's
 * NFKD and full case folding, and six letters that these leave as they are as plain ones (ae, oe, o,
 * l, d and i for U+00E6, U+0153, U+00F8, U+0142, U+0111 and U+0131).
 */
gf_status gf_title_fold(gf_slice text, gf_buffer *out, gf_error *err);

/**
 * Append the slug of a title: its fold, where that has GF_SLUG_LEAST characters or more, else
 * nothing. Titles that may be the same have the same slug.
 */
gf_status gf_title_slug(gf_slice title, gf_buffer *out, gf_error *err);

/**
 * The similarity of two titles: int(1000 x (n - Levenshtein distance) / n), n being the length of the
 * longer, in characters of text with its case folded whose runs of white space are one space; 0..1000. Two
 * empty ones score 0. Of each, 1,000 characters count.
 * Cost: O(n * m) time, n and m without the characters that both have at the start and the end; 12 KB
 * of the stack, no other memory.
 * Source: Levenshtein, Soviet Physics Doklady 10 (1966) 707-710.
 */
int gf_title_score(gf_slice a, gf_slice b);

#endif
