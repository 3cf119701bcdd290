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
    gf_buffer user, lower; /* the query's user, and a tweet's, in lower case */
    uint64_t visited;
    gf_buffer key;
    gf_row row;
} gf_tweets_reading;

/**
 * Read a tweet; *json is borrowed until the next. GF_ECORRUPT where it is not there, and by rows
 * GF_ENOTFOUND.
 */
gf_status gf_tweets_read(gf_tweets_reading *r, gf_slice raw_row, gf_slice *json, gf_tweet *tweet,
                         gf_error *err);

/** A place of the index, as float32, or as its tweet has it. Borrowed until the visitor returns. */
typedef gf_status gf_tweets_visit_place(void *context, gf_slice raw_row, uint64_t geohash,
                                        gf_geo_point place, gf_error *err);

/** Visit the places in the query's box and time, in the order of the index (select_box.c). */
gf_status gf_tweets_visit_box(gf_tweets_reading *r, gf_tweets_visit_place *visit, void *context,
                              gf_error *err);
/** Add the rows in the query's box and time (select_box.c). */
gf_status gf_tweets_select_box(gf_tweets_reading *r, gf_raw_rows *rows, gf_error *err);
/** Add the rows that have a token, in the query's fields and time (select_terms.c). */
gf_status gf_tweets_select_token(gf_tweets_reading *r, gf_slice token, gf_raw_rows *rows,
                                 gf_error *err);
/** Likewise those whose user has that name or screen name, which is in lower case. */
gf_status gf_tweets_select_user(gf_tweets_reading *r, gf_slice name, gf_raw_rows *rows,
                                gf_error *err);
/**
 * Set rows to those of the query's ids, sorted (find.c).
 * @param indexed  whether TweetIds has the odd ones, in the reading's state
 */
gf_status gf_tweets_select_ids(gf_tweets_reading *r, bool indexed, gf_raw_rows *rows,
                               gf_error *err);

/** Whether the namespace has an odd tweet: a walk over all, to the first. */
gf_status gf_tweets_any_odd(gf_tweets_reading *r, bool *any, gf_error *err);

/** Walk over RawTwitterData from one second to another, both included; r->key is used. */
gf_status gf_tweets_open_time(gf_tweets_reading *r, int64_t from, int64_t to, bool reverse,
                              gf_scan **scan, gf_error *err);

static inline bool gf_tweets_in_time(const gf_tweets_query *q, int64_t seconds)
{
    return seconds >= q->from && seconds <= q->to;
}

#endif
