/**
 * An import under way: what its caller and its writer share.
 */
#ifndef GF_APPS_TWEETS_IMPORT_INTERNAL_H
#define GF_APPS_TWEETS_IMPORT_INTERNAL_H

#include "apps/tweets/write/remove_internal.h"
#include "apps/tweets/write/stage_internal.h"

#include <pthread.h>

enum { GF_TWEETS_MOST_TRIES = 100 };

struct gf_tweets_import {
    gf_tweets *tweets;
    gf_tweets_hash hash;
    bool hash_given;
    unsigned flush_ms;
    size_t flush_bytes;
    gf_tweets_parser *parser;    /* the writer's, to make a batch anew */
    gf_tweets_removing removing; /* the writer's; its stage has no batch before it is needed */
    gf_tweets_scratch works[2];  /* the caller's and the writer's */
    gf_tweets_info info;         /* the settings as they were read or written last: the writer's */
    gf_buffer version;           /* likewise; empty: no row yet */

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of all that follows; the stage that is written is the writer's */
    gf_tweets_info seen;  /* as `info` was read last: the rules for the caller's stage */
    unsigned epoch;       /* grows with each reading of settings that others wrote */
    pthread_cond_t wake, idle;
    gf_tweets_stage stages[2];
    int filling;
    bool writing, due, closing;
    enum {
        ODD_UNKNOWN,
        ODD_NONE,
        ODD_SOME
    } odd;           /* tweets with odd ids, in tables without TweetIds */
    gf_buffer keep;  /* an age; empty: none */
    int64_t oldest;  /* with keep: the second before which tweets go; 0 before it was looked at */
    int64_t cleared; /* up to this second a pass that is under way has deleted; 0: none is */
    bool old_due;    /* a pass is to begin, or goes on */
    gf_error failed; /* status GF_OK: not */
    gf_tweets_counts counted;
};

/** Read the settings anew, behind another importer's batch: the writer's. */
gf_status gf_tweets_import_read_version(gf_tweets_import *m, gf_error *err);

/* ---- import_forget.c: the writer's ------------------------------------------------------------ */

/**
 * Delete the tweets of these ids, and keep the deletions. It is for behind the stage's rows: a
 * deletion is of what came before it, and holds against what comes.
 */
gf_status gf_tweets_import_forget(gf_tweets_import *m, const gf_strings *ids, gf_error *err);

/** GF_OK where a deletion of the id is kept, GF_ENOTFOUND where none; w->key is its row. */
gf_status gf_tweets_import_find_deletion(gf_tweets_import *m, gf_tweets_scratch *w, gf_slice id,
                                         gf_error *err);

/** The first second that keep keeps now; 0 without it. */
int64_t gf_tweets_import_oldest(const gf_tweets_import *m);

/** Delete one batch of tweets that are older than keep, if a pass is due. Lock held, but for the work. */
void gf_tweets_import_drop_old(gf_tweets_import *m);

#endif
