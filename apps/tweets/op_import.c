/*
 * tweets import: tweets of files or a stream go into the tables of the namespace. The store is
 * opened for the first tweet: where there is nothing to import, none is made.
 */
#include "api/call.h"
#include "apps/tweets/tweets.h"

typedef struct importing {
    gf_call *call;
    gf_tweets_reader *reader;
    gf_tweets *tweets;
    gf_tweets_import *import;
    uint64_t read, skipped, refused, replaced;
    gf_reasons reasons;
} importing;

static gf_status refuse(importing *m, const gf_record *record, const char *reason,
                        const char *message, gf_error *err)
{
    m->refused++;
    gf_reasons_count(&m->reasons, reason);
    return gf_call_refuse(m->call, record, reason, message, err);
}

static gf_status open_import(importing *m, gf_error *err)
{
    gf_store *store;
    gf_call *call = m->call;
    gf_slice hash = gf_call_text(call, "hash");
    gf_tweets_import_options o = {.hash_given = hash.len > 0,
                                  .hash = gf_slice_equal(hash, GF_SLICE("murmur3")) ? GF_MURMUR3
                                                                                    : GF_MURMUR2};
    gf_status st = gf_call_open_store(call, true, &store, err);
    if (st == GF_OK) st = gf_tweets_open(store, call->name_space, &m->tweets, err);
    return st == GF_OK ? gf_tweets_import_open(m->tweets, &o, &m->import, err) : st;
}

static gf_status add(importing *m, const gf_record *record, const gf_tweet *tweet, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_status st = m->import ? GF_OK : open_import(m, err);
    if (st != GF_OK) return st;
    st = gf_tweets_import_add(m->import, record->raw, tweet, &why);
    if (st == GF_ECONFLICT) return refuse(m, record, "same_row", why.message, err);
    if (st == GF_OK)
        m->replaced += record->replaced;
    else if (err)
        *err = why;
    return st;
}

static gf_status handle(importing *m, const gf_record *record, const gf_tweet *tweet, gf_error *err)
{
    m->read++;
    if (m->read % 1000 == 0) gf_call_progress(m->call, record->source, "reading", m->read, 0);
    if (record->kind == GF_RECORD_DOCUMENT) return add(m, record, tweet, err);
    if (record->kind == GF_RECORD_REFUSED)
        return refuse(m, record, record->reason, record->message, err);
    m->skipped++;
    gf_reasons_count(&m->reasons, record->reason);
    return GF_OK;
}

static gf_status read_all(importing *m, gf_error *err)
{
    gf_tweet tweet = {0};
    gf_record record;
    gf_status st;
    while ((st = gf_tweets_reader_next(m->reader, &tweet, &record, err)) == GF_OK) {
        st = gf_cancel_check(m->call->cancel, err);
        if (st == GF_OK) st = handle(m, &record, &tweet, err);
        if (st != GF_OK) return st;
    }
    return st == GF_ENOTFOUND ? gf_cancel_check(m->call->cancel, err) : st;
}

static gf_status emit_summary(importing *m, gf_error *err)
{
    gf_tweets_counts c =
        m->import ? gf_tweets_import_counted(m->import) : (gf_tweets_counts){.created = 0};
    gf_tweets_info info = {.any = false};
    gf_row_writer row = {.call = m->call};
    gf_status st = m->tweets ? gf_tweets_read_info(m->tweets, &info, err) : GF_OK;
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, "store", m->call->holder.path);
    if (info.any) gf_json_put_str(w, "hash", gf_tweets_hash_name(info.hash));
    gf_json_put_uint(w, "read", m->read);
    gf_json_put_uint(w, "new", c.created);
    gf_json_put_uint(w, "changed", 0);
    gf_json_put_uint(w, "unchanged", c.unchanged);
    gf_json_put_uint(w, "stored", c.created);
    gf_json_put_uint(w, "skipped", m->skipped);
    gf_json_put_uint(w, "refused", m->refused);
    gf_reasons_put(&m->reasons, w);
    gf_json_put_uint(w, "invalid_utf8", m->replaced);
    gf_json_put_uint(w, "with_place", c.with_place);
    gf_json_put_uint(w, "tweets", info.tweets);
    return gf_row_writer_emit_only(&row, err);
}

/* Whatever ends the reading, what was read before it is written and told of. */
static gf_status read_and_flush(importing *m, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_status st = read_all(m, &why);
    if (m->import) {
        gf_status flushed = gf_tweets_import_flush(m->import, st == GF_OK ? &why : NULL);
        if (st == GF_OK) st = flushed;
    }
    gf_call_tell_stop(st, &why);
    gf_status told = m->import || st == GF_OK ? emit_summary(m, err) : GF_OK;
    if (st != GF_OK && err) *err = why;
    return st == GF_OK ? told : st;
}

gf_status gf_run_tweets_import(gf_call *call, gf_error *err)
{
    importing m = {.call = call};
    if (!call->input.next) return gf_fail(err, GF_EINVAL, "tweets import needs an input");
    gf_status st =
        gf_tweets_reader_open(&call->input, gf_call_number(call, "max-tweet", 0), &m.reader, err);
    if (st == GF_OK) st = read_and_flush(&m, err);
    if (st == GF_OK && m.refused) call->outcome = GF_SOME_REFUSED;
    gf_tweets_import_close(m.import);
    gf_tweets_close(m.tweets);
    gf_tweets_reader_close(m.reader);
    return st;
}
