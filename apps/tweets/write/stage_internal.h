/**
 * A stage of an import or a deletion: the rows of tweets that wait to be written, and their batch.
 */
#ifndef GF_APPS_TWEETS_STAGE_INTERNAL_H
#define GF_APPS_TWEETS_STAGE_INTERNAL_H

#include "apps/tweets/tables_internal.h"
#include "base/arena.h"
#include "base/strings.h"

#include <time.h>

/* A row to be written: the part of its key behind the namespace, encoded, and its cell. */
typedef struct gf_staged {
    uint64_t prefix; /* of the key, which decides nearly every comparison */
    const char *key; /* length; of a place the value lies behind it */
    const char *row; /* the raw row */
    uint32_t length, family;
    uint32_t n; /* of a term its count, of a raw row the number of its JSON */
} gf_staged;

typedef struct gf_staged_rows {
    gf_staged *items; /* n, capacity */
    size_t n, capacity;
} gf_staged_rows;

typedef struct gf_tweets_stage {
    gf_batch *batch;
    bool removes; /* the rows go, and are not put; their JSON is not needed then */
    gf_staged_rows raws, terms, places,
        ids;         /* in the order of coming until they are in the batch */
    bool settled;    /* raws and terms are in the batch */
    size_t bytes;    /* about what the batch will take */
    gf_strings rows; /* raw rows; json[i] is the i-th's */
    gf_slice *json;  /* n, capacity */
    size_t capacity;
    gf_arena memory;    /* of json */
    gf_strings minutes; /* minute and language; counts[i] is the i-th's */
    uint64_t *counts;
    size_t count_capacity;
    gf_strings doomed; /* ids that go behind the rows, in a batch of their own */
    uint64_t with_place, unchanged, held;
    unsigned epoch;      /* of the import's settings, when its first tweet came */
    struct timespec due; /* when it is to be written, however little is in it */
} gf_tweets_stage;

/* Scratch memory of a thread that stages tweets. */
typedef struct gf_tweets_scratch {
    gf_tweets_deriving deriving;
    gf_buffer key;
    gf_row row;
} gf_tweets_scratch;

void gf_tweets_stage_reset(gf_tweets_stage *stage);
void gf_tweets_stage_release(gf_tweets_stage *stage);

/** Keep all rows of a new tweet; the scratch memory is the caller's or the writer's. */
gf_status gf_tweets_stage_add(gf_tweets_stage *stage, gf_tweets_hash hash, gf_tweets_rules rules,
                              gf_tweets_scratch *w, gf_slice row, gf_slice json,
                              const gf_tweet *tweet, gf_error *err);

/** Put the rows of the first two tables into the batch, once: before the stage is handed over. */
gf_status gf_tweets_stage_put_rows(gf_tweets_stage *stage, const gf_tweets *tweets,
                                   gf_tweets_scratch *w, gf_error *err);

/**
 * Write the batch, with the rows of all tables and the settings, on top of that version. What the
 * batch has already goes with it. On GF_OK info and version are those that were written.
 * @return GF_ECONFLICT where the settings have another version, and nothing was written
 */
gf_status gf_tweets_stage_write(gf_tweets_stage *stage, const gf_tweets *tweets,
                                gf_tweets_info *info, gf_buffer *version, gf_tweets_scratch *w,
                                gf_error *err);

#endif
