/**
 * A query as people type it, parsed into items.
 *
 *     crash "memory leak" conn* -printer -"blue screen"
 *
 *     query    item, space, item ...
 *     item     an optional minus, then a word, a word with * at its end, or "several words"
 *
 * Nothing else has a meaning: punctuation is for the analysis, which also makes several words of an
 * item such as foo-bar. An item has its position in the query, for messages.
 */
#ifndef GF_ENGINE_SEARCH_QUERY_H
#define GF_ENGINE_SEARCH_QUERY_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

enum {
    GF_QUERY_BYTES = 4096, /* of a query */
    GF_QUERY_ITEMS = 64    /* items of a query; also words of all its items */
};

typedef struct gf_query_item {
    gf_slice text;   /* without minus, quotes and star; borrowed from the query */
    size_t position; /* character of the query at which it begins, from 1 */
    bool is_prefix;  /* a * stood behind it */
    bool is_phrase;  /* it was in quotes */
    bool excludes;   /* a - stood before it */
} gf_query_item;

typedef struct gf_query {
    gf_query_item items[GF_QUERY_ITEMS]; /* n, in the order of the text */
    size_t n;
} gf_query;

/**
 * Parse a query; it must be valid UTF-8.
 * @return GF_OK; GF_EINVAL, and the message says what is wrong at which character: nothing to look
 *         for, a quote that is not closed, a minus or star with nothing beside it, too much of it
 */
gf_status gf_query_parse(gf_slice text, gf_query *query, gf_error *err);

#endif
