/**
 * A reindex under way: its steps, each of which reads, writes one batch, and is right by itself.
 */
#ifndef GF_APPS_TWEETS_REINDEX_INTERNAL_H
#define GF_APPS_TWEETS_REINDEX_INTERNAL_H

#include "apps/tweets/tables_internal.h"

typedef struct gf_tweets_reindexing {
    gf_tweets *tweets;
    const gf_tweets_reindex_options *options;
    gf_tweets_reindexed *out;
    gf_tweets_parser *parser;
    gf_tweets_deriving deriving;
    gf_buffer key;
    gf_row row;

    /* The step under way. */
    gf_batch *batch;
    gf_tweets_info info;      /* the settings: as they were read, and as they are written */
    gf_tweets_reindexed step; /* what it adds to `out` */
    gf_buffer version;
} gf_tweets_reindexing;

typedef gf_status gf_tweets_fill_step(gf_tweets_reindexing *r, void *context, gf_error *err);

/**
 * Take a step: `fill` reads what is stored now, puts changes into r->batch and may change r->info,
 * which are written where nobody else wrote meanwhile; else it is called again. A batch without
 * changes is not written, unless `always`.
 */
gf_status gf_tweets_reindex_step(gf_tweets_reindexing *r, gf_tweets_fill_step *fill, void *context,
                                 bool always, gf_sync sync, gf_error *err);

/** A tweet was looked at; GF_ECANCELLED. */
gf_status gf_tweets_reindex_tell(const gf_tweets_reindexing *r, const char *phase, uint64_t done,
                                 uint64_t total, gf_error *err);

/** Hold the indexes against the tweets, and mend what does not agree (mend.c). */
gf_status gf_tweets_mend(gf_tweets_reindexing *r, gf_error *err);

#endif
