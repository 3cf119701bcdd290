/**
 * Sets of raw rows, the keys of tweets: time and hash (tweets.h).
 */
#ifndef GF_APPS_TWEETS_RAW_ROWS_H
#define GF_APPS_TWEETS_RAW_ROWS_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

/** Raw rows, one behind the other. Start with {0}. */
typedef struct gf_raw_rows {
    char *bytes; /* n * GF_TWEET_ROW, capacity rows */
    size_t n, capacity;
} gf_raw_rows;

void gf_raw_rows_release(gf_raw_rows *rows);

/** Append a row; GF_ECORRUPT where its length is wrong. */
gf_status gf_raw_rows_add(gf_raw_rows *rows, gf_slice row, gf_error *err);

/** Sort by bytes, and drop duplicates. */
void gf_raw_rows_sort(gf_raw_rows *rows);

/** Keep the rows that are in `other`, too; both are sorted. */
void gf_raw_rows_intersect(gf_raw_rows *rows, const gf_raw_rows *other);

#endif
