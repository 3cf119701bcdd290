/**
 * Titles of papers, compared.
 */
#ifndef GF_APPS_PAPERS_TITLE_H
#define GF_APPS_PAPERS_TITLE_H

#include "grouperfish/buffer.h"

enum { GF_SLUG_LEAST = 8, GF_SCORE_MATCH = 900, GF_SCORE_MOST = 1000 };

/** Append text without accents, case, punctuation and spaces: its letters and digits, folded. */
gf_status gf_title_fold(gf_slice text, gf_buffer *out, gf_error *err);

/**
 * Append the slug of a title: its fold, where that has GF_SLUG_LEAST characters or more, else
 * nothing. Titles that may be the same have the same slug.
 */
gf_status gf_title_slug(gf_slice title, gf_buffer *out, gf_error *err);

/**
 * The similarity of two titles: int(1000 x (n - Levenshtein distance) / n), n being the length of the
 * longer, in characters of lower-case text whose runs of white space are one space; 0..1000. Two
 * empty ones score 0. Of each, 1,000 characters count.
 * Cost: O(n * m) time, O(n + m) memory.
 * Source: Levenshtein, Soviet Physics Doklady 10 (1966) 707-710.
 */
gf_status gf_title_score(gf_slice a, gf_slice b, int *score, gf_error *err);

#endif
