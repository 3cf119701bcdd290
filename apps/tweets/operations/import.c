/*
 * tweets import: tweets of files or a stream go into the tables of the namespace, and those go that
 * the stream says are deleted. The store is opened for the first of these: where there is nothing to
 * import, none is made, and one that is there is opened at the end.
 */
#include "api/intake.h"
#include "apps/tweets/arguments_internal.h"
#include "apps/tweets/operations/schema.h"

#include "base/clock.h"
#include "engine/rows/filter.h"

#include <string.h>

typedef struct importing {
    gf_intake intake;
    gf_tweets_reader *reader;
    gf_tweets *tweets;
    gf_tweets_import *import;
    gf_tweet tweet; /* at hand */
    uint64_t replaced;
    gf_reasons messages; /* of the stream, by their names */
    gf_slice keep;
} importing;

static gf_status open_tweets(importing *m, bool create, gf_error *err)
{
    gf_store *store;
    gf_call *call = m->intake.call;
    gf_status st = gf_call_open_store(call, create, &store, err);
    return st == GF_OK ? gf_tweets_open(store, call->name_space, &m->tweets, err) : st;
}

static gf_status open_import(importing *m, gf_error *err)
{
    gf_call *call = m->intake.call;
    gf_slice hash = gf_call_text(call, "hash");
    gf_tweets_import_options o = {
        .keep = m->keep,
        .hash_given = hash.len > 0,
        .hash = gf_slice_equal(hash, GF_SLICE("murmur3")) ? GF_TWEETS_MURMUR3 : GF_TWEETS_MURMUR2};
    gf_status st = m->tweets ? GF_OK : open_tweets(m, true, err);
    return st == GF_OK ? gf_tweets_import_open(m->tweets, &o, &m->import, err) : st;
}

static void count_message(gf_reasons *r, const char *name)
{
    size_t i = 0;
    while (i < r->n && strcmp(r->by[i].reason, name) != 0)
        i++;
    if (i == sizeof r->by / sizeof *r->by) return;
    if (i == r->n) r->by[r->n++].reason = name;
    r->by[i].n++;
}

/* A stream's message; of a deletion its tweet goes. */
static gf_status take_message(importing *m, gf_error *err)
{
    count_message(&m->messages, m->tweet.message);
    if (strcmp(m->tweet.message, "delete") != 0) return GF_OK;
    gf_status st = m->import ? GF_OK : open_import(m, err);
    return st == GF_OK ? gf_tweets_import_delete(m->import, m->tweet.id, err) : st;
}

static gf_status next_tweet(void *context, gf_record *record, gf_error *err)
{
    importing *m = context;
    m->tweet.message = NULL;
    gf_status st = gf_tweets_reader_next(m->reader, &m->tweet, record, err);
    bool message = st == GF_OK && record->kind == GF_RECORD_SKIPPED && m->tweet.message;
    return message ? take_message(m, err) : st;
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
    if (st == GF_ELIMIT) return gf_intake_refuse(&m->intake, record, "too_long", why.message, err);
    if (st == GF_OK)
        m->replaced += record->replaced;
    else if (err)
        *err = why;
    return st;
}

/* Behind an input without a tweet: those that are there are counted, and go if they are too old. */
static gf_status open_late(importing *m, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_tweets_info info = {.any = false};
    gf_status st = open_tweets(m, false, &why);
    if (st == GF_ENOTFOUND) return GF_OK; /* no store */
    if (st == GF_OK) st = gf_tweets_read_info(m->tweets, &info, &why);
    if (st == GF_OK && info.any) st = open_import(m, &why);
    if (st != GF_OK && err) *err = why;
    return st;
}

static gf_status flush_import(void *context, gf_status ended, gf_error *err)
{
    importing *m = context;
    if (ended != GF_OK && m->import) gf_tweets_import_keep_all(m->import);
    gf_status st = ended == GF_OK && !m->import ? open_late(m, err) : GF_OK;
    if (st != GF_OK) return st;
    return m->import ? gf_tweets_import_flush(m->import, err) : GF_OK;
}

/* Tweets that were taken, but not added. */
static void skip_taken(gf_intake *in, const char *reason, uint64_t n)
{
    in->skipped += n;
    for (uint64_t i = 0; i < n; i++)
        gf_intake_count_reason(in, reason);
}

static void put_messages(const gf_reasons *messages, gf_json_writer *w)
{
    gf_json_key(w, "messages");
    gf_json_begin(w, '{');
    for (size_t i = 0; i < messages->n; i++)
        gf_json_put_uint(w, messages->by[i].reason, messages->by[i].n);
    gf_json_end(w, '}');
}

/* The namespace is of an earlier version: its indexes have what that one read of a tweet. */
static void tell_rules(const importing *m, const gf_tweets_info *info)
{
    gf_notice n = {.reason = "old_rules",
                   .message = "indexed by an earlier version's rules, as all tweets of this "
                              "namespace: by their short texts alone; grouperfish tweets reindex "
                              "makes that anew"};
    if (info->any && info->rules < GF_TWEETS_RULES && !info->reindexing)
        gf_call_notify(m->intake.call, &n);
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
    skip_taken(&m->intake, "deleted", c.held);
    skip_taken(&m->intake, "too_old", c.old);
    tell_rules(m, &info);
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, "store", m->intake.call->holder.path);
    if (info.any) gf_json_put_str(w, "hash", gf_tweets_hash_name(info.hash));
    gf_intake_put_counts(&m->intake, w, c.created, 0, "unchanged", c.unchanged);
    gf_json_put_uint(w, "invalid_utf8", m->replaced);
    gf_json_put_uint(w, "with_place", c.with_place);
    gf_json_put_uint(w, "tweets", info.tweets);
    put_messages(&m->messages, w);
    gf_json_put_uint(w, "deleted", c.deleted);
    gf_json_put_uint(w, "dropped", c.dropped);
    return gf_row_writer_emit_only(&row, err);
}

static gf_status read_keep(const gf_call *call, gf_slice *keep, gf_error *err)
{
    int64_t ms;
    *keep = gf_call_text(call, "keep");
    if (keep->len == 0) return GF_OK;
    bool age = strchr("hdw", keep->ptr[keep->len - 1]) != NULL;
    if (age && gf_filter_read_moment(*keep, gf_clock_ms(), &ms) && ms >= 0) return GF_OK;
    return gf_fail(err, GF_EINVAL, "keep: \"%.*s\" is no age: hours, days or weeks (12h, 90d, 4w)",
                   GF_SLICE_ARG(*keep));
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
    gf_status st = read_keep(call, &m.keep, err);
    if (st != GF_OK) return st;
    st = gf_tweets_reader_open(&call->input, gf_call_number(call, "max-tweet", 0), &decoding,
                               &m.reader, err);
    if (st == GF_OK) st = gf_intake_run(&m.intake, err);
    gf_tweets_import_close(m.import);
    gf_tweets_close(m.tweets);
    gf_tweets_reader_close(m.reader);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter tweets_import_parameters[] = {
    P_CHOICE("hash", GF_TWEET_HASH_NAMES, "hash of the rows, fixed by the first import (murmur2)"),
    P_TEXT("keep", "AGE", "skip tweets older than this, such as 90d, and delete those that are"),
    {"max-tweet", GF_PARAMETER_BYTES, false, "SIZE", "refuse longer records (1M)", 1, 1 << 26},
    P_ENCODING,
    P_UNPACKED};

const gf_operation gf_tweets_import_operation = {
    .name = "tweets import",
    .method = "POST",
    .path = "/tweets",
    .meaning = "Import tweets",
    GF_PARAMETERS(tweets_import_parameters),
    .members = gf_schema_tweets_import,
    .run = run_tweets_import,
    .input = GF_INPUT_REQUIRED,
    .makes = true,
    .resumes = true,
};
