/**
 * The tables of tweets: families, keys, the row of settings.
 */
#ifndef GF_APPS_TWEETS_TABLES_INTERNAL_H
#define GF_APPS_TWEETS_TABLES_INTERNAL_H

#include "apps/tweets/tweets.h"

struct gf_tweets {
    gf_database *db;
    gf_table *raw, *terms, *frequency, *geo, *settings;
    gf_buffer name_space; /* as the first part of a row key */
};

enum { GF_TWEETS_RAW_T };
enum { GF_TWEETS_TERMS_TEXT, GF_TWEETS_TERMS_USER };
enum { GF_TWEETS_FREQUENCY_LANGUAGE };
enum { GF_TWEETS_GEO_PLACES };
enum { GF_TWEETS_SETTINGS_MAIN };

/** Open the tables of all namespaces. */
gf_status gf_tweets_open_tables(gf_store *store, gf_tweets *tweets, gf_error *err);

/** Set key to the row of that table: the namespace, then the part. */
void gf_tweets_key(const gf_tweets *tweets, gf_buffer *key, gf_slice part);
void gf_tweets_term_key(const gf_tweets *tweets, gf_buffer *key, gf_slice term);

/** A row key without its namespace; GF_ECORRUPT where that is not `length` bytes. */
gf_status gf_tweets_part(const gf_tweets *tweets, gf_slice key, size_t length, gf_slice *part,
                         gf_error *err);

static inline gf_slice gf_tweets_prefix(const gf_tweets *tweets)
{
    return gf_buffer_view(&tweets->name_space);
}

/** Seconds of a raw row. */
static inline int64_t gf_tweets_row_seconds(gf_slice row)
{
    return (int64_t)gf_read_u64be(row.ptr);
}

/** Row of the settings, likewise GF_ENOTFOUND where there is none. */
gf_status gf_tweets_read_settings(gf_tweets *tweets, gf_row *row, gf_tweets_info *info,
                                  gf_slice *version, gf_error *err);

/** The row of GeoTemporalIndex. */
void gf_tweets_geo_row(unsigned char spread, int64_t seconds, uint64_t geohash,
                       char row[GF_TWEET_GEO_ROW]);
void gf_tweets_geo_value(gf_geo_point p, char value[8]);
bool gf_tweets_read_geo_value(gf_slice value, float *latitude, float *longitude);

#endif
