/**
 * A query: the rows that the indexes select, and the reading of their tweets.
 */
#ifndef GF_APPS_TWEETS_QUERY_INTERNAL_H
#define GF_APPS_TWEETS_QUERY_INTERNAL_H

#include "apps/tweets/raw_rows.h"
#include "apps/tweets/tables_internal.h"

/** A query under way, and its scratch memory. */
typedef struct gf_tweets_reading {
    gf_tweets *tweets;
    const gf_tweets_query *query;
    gf_snapshot *snapshot;
    gf_tweets_parser *parser;
    gf_buffer key;
    gf_row row;
} gf_tweets_reading;

/** Read a tweet; *json is borrowed until the next. GF_ECORRUPT where it is not there. */
gf_status gf_tweets_read(gf_tweets_reading *r, gf_slice raw_row, gf_slice *json, gf_tweet *tweet,
                         gf_error *err);

/** Add the rows in the query's box and time (select_box.c). */
gf_status gf_tweets_select_box(gf_tweets_reading *r, gf_raw_rows *rows, gf_error *err);
/** Add the rows that have a token, in the query's fields and time (select_terms.c). */
gf_status gf_tweets_select_token(gf_tweets_reading *r, gf_slice token, gf_raw_rows *rows,
                                 gf_error *err);

static inline bool gf_tweets_in_time(const gf_tweets_query *q, int64_t seconds)
{
    return seconds >= q->from && seconds <= q->to;
}

#endif
