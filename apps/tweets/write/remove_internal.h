/**
 * Removing tweets: the rows of all tables go together, in batches on top of a version, as imports
 * write them.
 */
#ifndef GF_APPS_TWEETS_REMOVE_INTERNAL_H
#define GF_APPS_TWEETS_REMOVE_INTERNAL_H

#include "apps/tweets/raw_rows.h"
#include "apps/tweets/write/stage_internal.h"

typedef struct gf_tweets_removing {
    gf_tweets *tweets;
    gf_tweets_parser *parser;
    gf_tweets_stage stage;
    gf_tweets_scratch work;
    gf_tweets_deleted done; /* written and synced */
} gf_tweets_removing;

gf_status gf_tweets_removing_init(gf_tweets_removing *removing, gf_tweets *tweets, gf_error *err);
void gf_tweets_removing_release(gf_tweets_removing *removing);

/**
 * Write one batch: what the stage's batch has already, and the tweets of rows from *at on that are
 * there, as many as a batch takes; *at goes behind them. On GF_OK info and version are those that
 * were written.
 * @param rows  distinct
 * @return GF_ECONFLICT where the settings have another version: nothing was written, *at is as it
 *         was, and the stage is empty
 */
gf_status gf_tweets_remove(gf_tweets_removing *removing, const gf_raw_rows *rows, size_t *at,
                           gf_tweets_info *info, gf_buffer *version, gf_error *err);

#endif
