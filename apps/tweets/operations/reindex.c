/* tweets reindex: the indexes are made what the stored tweets make today. */
#include "apps/tweets/arguments_internal.h"
#include "apps/tweets/operations/schema.h"

static void tell_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    const gf_call *call = context;
    gf_call_progress(call, GF_SLICE("tweets"), phase, done, total);
}

static gf_status emit_reindexed(gf_call *call, const gf_tweets_reindexed *r, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, "state", r->by_rules ? "reindexed" : r->mended ? "mended" : "unchanged");
    gf_json_put_uint(w, "tweets", r->tweets);
    gf_json_put_uint(w, "changed", r->changed);
    gf_json_put_uint(w, "added", r->added);
    gf_json_put_uint(w, "removed", r->removed);
    gf_json_put_uint(w, "rules", GF_TWEETS_RULES);
    return gf_row_writer_emit_only(&row, err);
}

static gf_status run_tweets_reindex(gf_call *call, gf_error *err)
{
    gf_tweets_reindex_options o = {
        .cancel = call->cancel, .progress = tell_progress, .context = call};
    gf_tweets_reindexed reindexed;
    gf_tweets *tweets = NULL;
    gf_status st = gf_tweets_of_call(call, &tweets, err);
    if (st == GF_OK) st = gf_tweets_reindex(tweets, &o, &reindexed, err);
    if (st == GF_OK) st = emit_reindexed(call, &reindexed, err);
    gf_tweets_close(tweets);
    if (st == GF_ECANCELLED)
        st = gf_fail(err, GF_ECANCELLED,
                     "stopped on request; what was made anew stays, and the same command goes on");
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

const gf_operation gf_tweets_reindex_operation = {
    .name = "tweets reindex",
    .method = "POST",
    .path = "/tweets/reindex",
    .meaning = "Make the indexes of tweets anew",
    .members = gf_schema_tweets_reindex,
    .run = run_tweets_reindex,
    .resumes = true,
    .single = true,
};
