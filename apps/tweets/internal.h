/**
 * What the files about tweets share: the tables' families, their keys, walks over them.
 */
#ifndef GF_APPS_TWEETS_INTERNAL_H
#define GF_APPS_TWEETS_INTERNAL_H

#include "apps/tweets/tweets.h"

struct gf_tweets {
    gf_database *db;
    gf_table *raw, *terms, *frequency, *geo, *settings;
    gf_buffer name_space; /* as the first part of a row key */
};

enum { GF_RAW_T };
enum { GF_TERMS_TEXT, GF_TERMS_USER };
enum { GF_FREQUENCY_LANGUAGE };
enum { GF_GEO_TWEETS };
enum { GF_TWEET_SETTINGS_MAIN };

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
static inline int64_t gf_tweet_row_seconds(gf_slice row)
{
    return (int64_t)gf_read_u64be(row.ptr);
}

/** Row of the settings, likewise GF_ENOTFOUND where there is none. */
gf_status gf_tweets_read_settings(gf_tweets *tweets, gf_row *row, gf_tweets_info *info,
                                  gf_slice *version, gf_error *err);

/** The row of GeoTemporalIndex. */
void gf_tweet_geo_row(unsigned char spread, int64_t seconds, uint64_t geohash,
                      char row[GF_TWEET_GEO_ROW]);
void gf_tweet_geo_value(gf_point p, char value[8]);
bool gf_tweet_read_geo_value(gf_slice value, float *latitude, float *longitude);

/* ---- what is selected ------------------------------------------------------------------------ */

/** Raw rows, one behind the other. Start with {0}. */
typedef struct gf_raw_rows {
    char *bytes; /* n * GF_TWEET_ROW, capacity rows */
    size_t n, capacity;
} gf_raw_rows;

void gf_raw_rows_release(gf_raw_rows *rows);
/** Add one; GF_ECORRUPT where it is none. */
gf_status gf_raw_rows_add(gf_raw_rows *rows, gf_slice row, gf_error *err);
/** Into order, each once. */
void gf_raw_rows_sort(gf_raw_rows *rows);
/** Keep those that are in the other, too; both sorted. */
void gf_raw_rows_intersect(gf_raw_rows *rows, const gf_raw_rows *other);

/** A query under way: its state, and what reads tweets. */
typedef struct gf_tweet_reading {
    gf_tweets *tweets;
    const gf_tweet_query *query;
    gf_snapshot *snapshot;
    gf_tweet_parser *parser;
    gf_buffer key;
    gf_row row;
} gf_tweet_reading;

/** Read a tweet; *json is borrowed until the next. GF_ECORRUPT where it is not there. */
gf_status gf_tweet_read(gf_tweet_reading *r, gf_slice raw_row, gf_slice *json, gf_tweet *tweet,
                        gf_error *err);

/** Add the rows in the query's box and time; those that have a token, in its fields and time. */
gf_status gf_tweets_select_box(gf_tweet_reading *r, gf_raw_rows *rows, gf_error *err);
gf_status gf_tweets_select_token(gf_tweet_reading *r, gf_slice token, gf_raw_rows *rows,
                                 gf_error *err);

static inline bool gf_tweet_in_time(const gf_tweet_query *q, int64_t seconds)
{
    return seconds >= q->from && seconds <= q->to;
}

/* ---- paths and areas on the earth ------------------------------------------------------------ */

/** Great circle from one point to another in km, by the haversine formula; R = 6378.137 km. */
double gf_earth_distance(gf_point a, gf_point b);

/**
 * Area of the convex hull of n points in km2; the points are overwritten, room is for n more. The
 * hull is that of the plane of Lambert's azimuthal equal-area projection around their mean
 * direction: areas are right, and edges nearly great circles where the points are not far apart. 0
 * of fewer than three points, and of points whose mean has no direction.
 */
double gf_earth_hull_area(gf_point *points, size_t n, gf_point *room);

#endif
