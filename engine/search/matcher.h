/**
 * A query against a text: how often each of its items occurs in it.
 *
 * Both are analysed alike: an item is what the analysis makes of it in the text's own language. So
 * each item is a sequence of one or more terms, and occurs where the text's words have that
 * sequence, whatever punctuation is between. Stop words and words too short or too long to be terms
 * of a clustering count like any other. A prefix (the star) is one word whose term starts with it,
 * or is the term of the prefix taken as a word.
 *
 *     query       crash "memory leak"        bit 0: crash   1: memory   2: leak
 *     starts      0 1                        ends 0 2
 *     text        ... memory leak crash      masks 2 4 1, found by the words' terms
 *
 * All items are followed at once by Shift-And: state = ((state << 1) | starts) & mask of the word.
 *
 * Source: Baeza-Yates & Gonnet, "A new approach to text searching", CACM 35 (1992) 74-82.
 * One matcher per thread.
 */
#ifndef GF_ENGINE_SEARCH_MATCHER_H
#define GF_ENGINE_SEARCH_MATCHER_H

#include "engine/search/query.h"
#include "vectorize/rows/vectorizer_options.h"

/** The terms of a query in one language; borrowed from the matcher. */
typedef struct gf_query_terms {
    gf_slice term[GF_QUERY_ITEMS];    /* n: terms of all items, one behind the other */
    gf_slice prefix[GF_QUERY_ITEMS];  /* n: what a prefix's terms start with; else empty */
    size_t start[GF_QUERY_ITEMS + 1]; /* n_items + 1: where each item's terms begin */
    size_t n;
    bool analysed;
} gf_query_terms;

typedef struct gf_matcher gf_matcher;

/** The occurrences of a query in a text; borrowed until the next call. */
typedef struct gf_matched {
    const uint32_t *count;           /* n_items: how often each item occurs */
    uint64_t length;                 /* words of the text */
    uint32_t first_start, first_end; /* bytes of the first occurrence of an item that does not
                                        exclude; both 0 where there is none */
} gf_matched;

/** The query is borrowed until free; the options are copied. */
gf_status gf_matcher_create(const gf_analysis_options *options, const gf_query *query,
                            gf_matcher **matcher, gf_error *err);
void gf_matcher_free(gf_matcher *matcher);

/**
 * The query in a language (NULL: none known).
 * @return GF_OK; GF_EINVAL where an item has no word, where a prefix is several, or where there are
 *         more than GF_QUERY_ITEMS words in all
 */
gf_status gf_matcher_terms(gf_matcher *matcher, const gf_language *language,
                           const gf_query_terms **terms, gf_error *err);

/** Cost: the analysis of the text. */
gf_status gf_matcher_match(gf_matcher *matcher, gf_slice text, const gf_language *language,
                           gf_matched *matched, gf_error *err);

#endif
