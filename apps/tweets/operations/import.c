/*
 * tweets import: tweets of files or a stream go into the tables of the namespace. The store is
 * opened for the first tweet: where there is nothing to import, none is made.
 */
#include "api/intake.h"
#include "apps/tweets/arguments_internal.h"

typedef struct importing {
    gf_intake intake;
    gf_tweets_reader *reader;
    gf_tweets *tweets;
    gf_tweets_import *import;
    gf_tweet tweet; /* at hand */
    uint64_t replaced;
} importing;

static gf_status open_import(importing *m, gf_error *err)
{
    gf_store *store;
    gf_call *call = m->intake.call;
    gf_slice hash = gf_call_text(call, "hash");
    gf_tweets_import_options o = {
        .hash_given = hash.len > 0,
        .hash = gf_slice_equal(hash, GF_SLICE("murmur3")) ? GF_TWEETS_MURMUR3 : GF_TWEETS_MURMUR2};
    gf_status st = gf_call_open_store(call, true, &store, err);
    if (st == GF_OK) st = gf_tweets_open(store, call->name_space, &m->tweets, err);
    return st == GF_OK ? gf_tweets_import_open(m->tweets, &o, &m->import, err) : st;
}

static gf_status next_tweet(void *context, gf_record *record, gf_error *err)
{
    importing *m = context;
    return gf_tweets_reader_next(m->reader, &m->tweet, record, err);
}

static gf_status add_tweet(void *context, const gf_record *record, gf_error *err)
{
    importing *m = context;
    gf_error why = {GF_OK, ""};
    gf_status st = m->import ? GF_OK : open_import(m, err);
    if (st != GF_OK) return st;
    st = gf_tweets_import_add(m->import, record->raw, &m->tweet, &why);
    if (st == GF_ECONFLICT)
        return gf_intake_refuse(&m->intake, record, "same_row", why.message, err);
    if (st == GF_OK)
        m->replaced += record->replaced;
    else if (err)
        *err = why;
    return st;
}

static gf_status flush_import(void *context, gf_status ended, gf_error *err)
{
    importing *m = context;
    (void)ended;
    return m->import ? gf_tweets_import_flush(m->import, err) : GF_OK;
}

static gf_status emit_summary(void *context, gf_status ended, gf_error *err)
{
    importing *m = context;
    if (ended != GF_OK && !m->import) return GF_OK;
    gf_tweets_counts c =
        m->import ? gf_tweets_import_counted(m->import) : (gf_tweets_counts){.created = 0};
    gf_tweets_info info = {.any = false};
    gf_row_writer row = {.call = m->intake.call};
    gf_status st = m->tweets ? gf_tweets_read_info(m->tweets, &info, err) : GF_OK;
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, "store", m->intake.call->holder.path);
    if (info.any) gf_json_put_str(w, "hash", gf_tweets_hash_name(info.hash));
    gf_intake_put_counts(&m->intake, w, c.created, 0, "unchanged", c.unchanged);
    gf_json_put_uint(w, "invalid_utf8", m->replaced);
    gf_json_put_uint(w, "with_place", c.with_place);
    gf_json_put_uint(w, "tweets", info.tweets);
    return gf_row_writer_emit_only(&row, err);
}

static gf_status run_tweets_import(gf_call *call, gf_error *err)
{
    importing m = {.tweets = NULL};
    m.intake = (gf_intake){.call = call,
                           .context = &m,
                           .next = next_tweet,
                           .take = add_tweet,
                           .flush = flush_import,
                           .summary = emit_summary};
    gf_decoding_options decoding = gf_records_decoding(call);
    gf_status st = gf_tweets_reader_open(&call->input, gf_call_number(call, "max-tweet", 0),
                                         &decoding, &m.reader, err);
    if (st == GF_OK) st = gf_intake_run(&m.intake, err);
    gf_tweets_import_close(m.import);
    gf_tweets_close(m.tweets);
    gf_tweets_reader_close(m.reader);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter tweets_import_parameters[] = {
    P_CHOICE("hash", GF_TWEET_HASH_NAMES, "hash of the rows, fixed by the first import (murmur2)"),
    {"max-tweet", GF_PARAMETER_BYTES, false, "SIZE", "refuse longer records (1M)", 1, 1 << 26},
    P_ENCODING,
    P_UNPACKED};

const gf_operation gf_tweets_import_operation = {
    .name = "tweets import",
    .method = "POST",
    .path = "/tweets",
    .meaning = "Import tweets",
    GF_PARAMETERS(tweets_import_parameters),
    .run = run_tweets_import,
    .input = GF_INPUT_REQUIRED,
    .makes = true,
    .resumes = true,
};
