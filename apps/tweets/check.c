/*
 * Checking the tables of tweets against each other.
 *
 *     RawTwitterData  --what an import makes of each tweet-->  rows of its indexes
 *
 * Two sums are computed of each index that do not depend on the order, of the hashes of the rows that
 * the tweets make and of those that are there. Where they are the same the index has what it must
 * have, and nothing else. Where not, the rows are looked up: each that a tweet makes in the index,
 * and of each in the index its tweet.
 */
#include "apps/tweets/arguments_internal.h"
#include "apps/tweets/tables_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/strings.h"
#include "engine/rows/scan.h"
#include "engine/store/delete.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const index_names[] = {"TermIndex", "TweetFrequency", "GeoTemporalIndex",
                                          "TweetIds"};

/* A namespace: what its settings say, and what was found. */
typedef struct space {
    gf_tweets_info info;
    uint64_t tweets, with_place, deletions;
} space;

typedef struct tweets_check {
    gf_app_check *c;
    gf_tweets tweets; /* its name_space is that of the row at hand */
    gf_strings names; /* starts of keys: the namespaces, encoded */
    space *spaces;    /* names.n of capacity */
    size_t capacity;
    space *at;          /* of the row at hand; NULL before the first */
    bool look_up;       /* rows are looked up, not summed */
    gf_batch *batch;    /* not NULL: they are written */
    gf_app_repair *out; /* likewise; told of tweets that go */
    gf_tweets_sum made[GF_TWEETS_INDEXES], there[GF_TWEETS_INDEXES];
    gf_tweets_index kind; /* of the index that is walked */
    uint64_t told;        /* faults of this kind */
    gf_tweets_parser *parser;
    gf_tweets_deriving deriving;
    gf_strings languages; /* of the minute at hand; counts[id] */
    uint64_t *counts;
    size_t n_counts;
    int64_t minute;
    gf_buffer key, text;
    gf_row row;
} tweets_check;

/* ---- rows of an index ------------------------------------------------------------------------ */

/* A row that a tweet, or a minute of tweets, makes; t->key is its key. */
static gf_status take_made(tweets_check *t, gf_tweets_index kind, unsigned family,
                           gf_slice qualifier, gf_slice value, gf_error *err)
{
    gf_slice key = gf_buffer_view(&t->key);
    gf_status st = gf_buffer_check(&t->key, err);
    if (st != GF_OK) return st;
    if (t->batch) {
        gf_batch_put(t->batch, gf_tweets_index_table(&t->tweets, kind), key, family, qualifier,
                     value, 0);
        return GF_OK;
    }
    if (!t->look_up) {
        gf_tweets_sum_add(&t->made[kind], kind, family, key, qualifier, value);
        return GF_OK;
    }
    if (kind != t->kind) return GF_OK;
    st = gf_table_get_cell(gf_tweets_index_table(&t->tweets, kind), NULL, key, family, qualifier, 1,
                           &t->row, err);
    bool same = st == GF_OK && gf_slice_equal(t->row.cells[0].value, value);
    if (same || (st != GF_OK && st != GF_ENOTFOUND)) return st;
    t->told++;
    return gf_app_fault(t->c, index_names[kind], err,
                        st == GF_OK ? "a row does not agree with its tweets"
                                    : "a row that a tweet makes is missing");
}

/* ---- what tweets make ------------------------------------------------------------------------ */

static gf_status end_minute(tweets_check *t, gf_error *err)
{
    char minute[GF_TWEET_MINUTE];
    gf_status st = GF_OK;
    if (t->languages.n == 0) return GF_OK;
    gf_tweets_minute(t->minute * 60, minute);
    gf_tweets_key(&t->tweets, &t->key, gf_slice_of(minute, sizeof minute));
    for (uint32_t i = 0; i < t->languages.n && st == GF_OK; i++) {
        gf_number_digits digits;
        st =
            take_made(t, GF_TWEETS_MINUTES, GF_TWEETS_FREQUENCY_LANGUAGE,
                      gf_strings_at(&t->languages, i), gf_number_write(&digits, t->counts[i]), err);
    }
    gf_strings_release(&t->languages);
    return st;
}

static gf_status count_minute(tweets_check *t, const gf_tweet *tweet, gf_error *err)
{
    uint32_t id;
    bool added;
    gf_status st = tweet->seconds / 60 != t->minute ? end_minute(t, err) : GF_OK;
    t->minute = tweet->seconds / 60;
    if (st == GF_OK) st = gf_strings_add(&t->languages, tweet->lang, &id, &added, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&t->counts, &t->n_counts, (size_t)id + 1, sizeof *t->counts))
        return gf_fail_memory(err, "a check");
    t->counts[id] = added ? 1 : t->counts[id] + 1;
    return GF_OK;
}

/* Minutes are counted, and made when they end. */
static gf_status make_cell(void *context, const gf_tweets_cell *cell, gf_error *err)
{
    tweets_check *t = context;
    if (cell->index == GF_TWEETS_MINUTES) return GF_OK;
    if (cell->index == GF_TWEETS_PLACES) t->at->with_place += !t->look_up;
    gf_tweets_key(&t->tweets, &t->key, cell->key);
    return take_made(t, cell->index, cell->family, cell->qualifier, cell->value, err);
}

/* ---- namespaces ------------------------------------------------------------------------------ */

static gf_status bad_key(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "a key is damaged");
}

static const char *space_name(tweets_check *t, gf_slice key)
{
    gf_buffer_reset(&t->text);
    gf_buffer_str(&t->text, "tweets of namespace \"");
    if (!gf_key_take_string(&key, &t->text)) return "tweets";
    gf_buffer_str(&t->text, "\"");
    return t->text.state == GF_OK ? gf_buffer_cstr(&t->text) : "tweets";
}

/* Go to the namespace that the key begins with: *rest is what is behind it. */
static gf_status enter_namespace(tweets_check *t, gf_slice key, gf_slice *rest, gf_error *err)
{
    size_t n = gf_key_string_length(key);
    uint32_t id;
    bool added;
    if (n == 0) return bad_key(err);
    *rest = gf_slice_skip(key, n);
    key.len = n;
    if (t->at && gf_slice_equal(key, gf_buffer_view(&t->tweets.name_space))) return GF_OK;
    gf_status st = end_minute(t, err);
    gf_buffer_reset(&t->tweets.name_space);
    gf_buffer_slice(&t->tweets.name_space, key);
    if (st == GF_OK) st = gf_buffer_check(&t->tweets.name_space, err);
    if (st == GF_OK) st = gf_strings_add(&t->names, key, &id, &added, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&t->spaces, &t->capacity, (size_t)id + 1, sizeof *t->spaces))
        return gf_fail_memory(err, "a check");
    if (added) t->spaces[id] = (space){.info = {.rules = GF_TWEETS_RULES}};
    t->at = &t->spaces[id];
    return GF_OK;
}

static gf_status take_settings(void *context, const gf_row *row, gf_error *err)
{
    tweets_check *t = context;
    gf_slice rest = {0};
    gf_status st = enter_namespace(t, row->key, &rest, err);
    if (st == GF_OK && rest.len) st = bad_key(err);
    if (st == GF_OK) st = gf_tweets_read_settings(&t->tweets, &t->row, &t->at->info, NULL, err);
    if (st == GF_OK) t->c->counted += t->at->info.tweets;
    return gf_app_handle(t->c, st, "TweetSettings", err);
}

static gf_status check_counts(tweets_check *t, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < t->names.n && st == GF_OK; i++) {
        const space *s = &t->spaces[i];
        if (s->tweets != s->info.tweets || s->with_place != s->info.with_place)
            st = gf_app_fault(t->c, space_name(t, gf_strings_at(&t->names, i)), err,
                              "%" PRIu64 " are there, %" PRIu64
                              " of them with a place; the settings say %" PRIu64 " and %" PRIu64,
                              s->tweets, s->with_place, s->info.tweets, s->info.with_place);
        if (st == GF_OK && s->deletions != s->info.deletions)
            st = gf_app_fault(t->c, space_name(t, gf_strings_at(&t->names, i)), err,
                              "%" PRIu64 " deletions are kept; the settings say %" PRIu64,
                              s->deletions, s->info.deletions);
    }
    return st;
}

/* ---- walks ----------------------------------------------------------------------------------- */

static gf_status take_tweet(tweets_check *t, const gf_row *row, gf_error *err)
{
    gf_slice raw, json = row->cells[0].value;
    gf_tweet tweet;
    char expected[GF_TWEET_ROW];
    space *at;
    gf_status st = enter_namespace(t, row->key, &raw, err);
    if (st == GF_OK && raw.len != GF_TWEET_ROW) st = bad_key(err);
    if (st == GF_OK) st = gf_tweets_parse_stored(t->parser, json, &tweet, err);
    if (st != GF_OK) return st;
    at = t->at;
    gf_tweets_row(at->info.hash, tweet.seconds, json, expected);
    /* The settings are lost: the first tweet tells the hash. */
    if (t->batch && !at->info.any && at->tweets == 0 &&
        memcmp(expected, raw.ptr, sizeof expected) != 0) {
        at->info.hash = GF_TWEETS_MURMUR3;
        gf_tweets_row(at->info.hash, tweet.seconds, json, expected);
    }
    if (memcmp(expected, raw.ptr, sizeof expected) != 0)
        return gf_fail(err, GF_ECORRUPT, "a tweet is not of the time and the hash of its row");
    at->tweets += !t->look_up;
    st = count_minute(t, &tweet, err);
    if (st != GF_OK) return st;
    return gf_tweets_derive(&t->deriving, at->info.hash, gf_tweets_rules_of(&at->info, raw), raw,
                            &tweet, make_cell, t, err);
}

static gf_status visit_tweet(void *context, const gf_row *row, gf_error *err)
{
    tweets_check *t = context;
    gf_status st = gf_cancel_check(t->c->cancel, err);
    if (st == GF_OK) st = take_tweet(t, row, err);
    /* The second walk meets what the first one has told. */
    if (st == GF_ECORRUPT && t->look_up) return GF_OK;
    return gf_app_handle(t->c, st, "RawTwitterData", err);
}

static gf_status visit_deletion(void *context, const gf_row *row, gf_error *err)
{
    tweets_check *t = context;
    gf_slice rest;
    gf_status st = enter_namespace(t, row->key, &rest, err);
    if (st == GF_OK) t->at->deletions++;
    return t->batch ? st : gf_app_handle(t->c, st, "TweetDeletions", err);
}

/* Terms and places name their tweet by the qualifier; minutes are checked from the tweets alone. */
static gf_status visit_index(void *context, const gf_row *row, gf_error *err)
{
    tweets_check *t = context;
    const gf_cell *cell = &row->cells[0];
    gf_slice rest;
    if (!t->look_up) {
        gf_tweets_sum_add(&t->there[t->kind], t->kind, cell->family, row->key, cell->qualifier,
                          cell->value);
        return gf_cancel_check(t->c->cancel, err);
    }
    gf_status st = enter_namespace(t, row->key, &rest, err);
    if (st == GF_OK && cell->qualifier.len != GF_TWEET_ROW) st = bad_key(err);
    if (st == GF_OK) {
        gf_tweets_key(&t->tweets, &t->key, cell->qualifier);
        st = gf_table_get_cell(t->tweets.raw, NULL, gf_buffer_view(&t->key), GF_TWEETS_RAW_T,
                               GF_SLICE(""), 1, &t->row, err);
    }
    if (st == GF_ENOTFOUND) {
        t->told++;
        st = gf_app_fault(t->c, index_names[t->kind], err, "a row names a tweet that is not there");
    }
    return gf_app_handle(t->c, st, index_names[t->kind], err);
}

static gf_status walk_table(tweets_check *t, gf_table *table, unsigned family, const char *name,
                            gf_each_row *each, gf_error *err)
{
    gf_scan_options o = GF_SCAN_OPTIONS(.family = family);
    t->at = NULL;
    gf_status st = gf_scan_each(table, &o, each, t, err);
    if (st == GF_OK) st = end_minute(t, err);
    return gf_app_handle(t->c, st, name, err);
}

static gf_status walk_index(tweets_check *t, gf_error *err)
{
    gf_table *table = gf_tweets_index_table(&t->tweets, t->kind);
    gf_status st = GF_OK;
    for (unsigned f = 0; f < gf_table_schema(table)->n_families && st == GF_OK; f++)
        st = walk_table(t, table, f, index_names[t->kind], visit_index, err);
    return st;
}

static gf_status look_up(tweets_check *t, gf_error *err)
{
    t->look_up = true;
    t->told = 0;
    gf_status st =
        walk_table(t, t->tweets.raw, GF_TWEETS_RAW_T, "RawTwitterData", visit_tweet, err);
    if (st == GF_OK && t->kind != GF_TWEETS_MINUTES) st = walk_index(t, err);
    if (st == GF_OK && t->told == 0)
        st = gf_app_fault(t->c, index_names[t->kind], err,
                          "%" PRIu64 " rows are there, and tweets make %" PRIu64,
                          t->there[t->kind].n, t->made[t->kind].n);
    return st;
}

static gf_status check_tables(tweets_check *t, gf_error *err)
{
    gf_status st =
        walk_table(t, t->tweets.raw, GF_TWEETS_RAW_T, "RawTwitterData", visit_tweet, err);
    if (st == GF_OK)
        st = walk_table(t, t->tweets.deletions, GF_TWEETS_DELETIONS_TOLD, "TweetDeletions",
                        visit_deletion, err);
    if (st == GF_OK) st = check_counts(t, err);
    for (t->kind = GF_TWEETS_TERMS; t->kind < GF_TWEETS_INDEXES && st == GF_OK; t->kind++)
        st = walk_index(t, err);
    for (t->kind = GF_TWEETS_TERMS; t->kind < GF_TWEETS_INDEXES && st == GF_OK; t->kind++)
        if (t->made[t->kind].hash != t->there[t->kind].hash ||
            t->made[t->kind].n != t->there[t->kind].n)
            st = look_up(t, err);
    return st;
}

static void release_check(tweets_check *t)
{
    gf_tweets_parser_free(t->parser);
    gf_tweets_deriving_release(&t->deriving);
    gf_strings_release(&t->names);
    gf_strings_release(&t->languages);
    gf_buffer_release(&t->tweets.name_space);
    gf_free(t->spaces);
    gf_free(t->counts);
    gf_row_release(&t->row);
    gf_buffer_release(&t->key);
    gf_buffer_release(&t->text);
}

/* In a database whose tables others know: files are not checked there, but tweets are counted. */
static gf_status count_named(gf_app_check *c, gf_error *err)
{
    gf_tweets *tweets = NULL;
    gf_tweets_info info;
    gf_status st = gf_tweets_open(c->store, GF_SLICE("default"), &tweets, err);
    if (st == GF_OK) st = gf_tweets_read_info(tweets, &info, err);
    if (st == GF_OK) c->counted = info.tweets;
    gf_tweets_close(tweets);
    return st;
}

gf_status gf_tweets_check(gf_app_check *c, const char *table, gf_error *err)
{
    (void)table;
    if (gf_database_capabilities(gf_store_database(c->store)) & GF_BACKEND_NAMED)
        return count_named(c, err);
    tweets_check t = {.c = c};
    gf_status st = gf_tweets_open_tables(c->store, &t.tweets, err);
    if (st == GF_OK) st = gf_tweets_parser_create(&t.parser, err);
    if (st == GF_OK)
        st = walk_table(&t, t.tweets.settings, GF_TWEETS_SETTINGS_MAIN, "TweetSettings",
                        take_settings, err);
    if (st == GF_OK && c->visit) st = check_tables(&t, err);
    release_check(&t);
    return st;
}

/* ---- repairs --------------------------------------------------------------------------------- */

enum { CHANGES_PER_BATCH = 4000 };

/* A put that failed is told of by the write alone. */
static gf_status flush_batch(tweets_check *t, size_t most, gf_error *err)
{
    if (most && gf_batch_changes(t->batch) <= most) return GF_OK;
    return gf_batch_write(t->batch, GF_SYNC_ON, err);
}

static gf_status remake_tweet(void *context, const gf_row *row, gf_error *err)
{
    tweets_check *t = context;
    gf_status st = gf_cancel_check(t->out->cancel, err);
    if (st == GF_OK) st = take_tweet(t, row, err);
    if (st == GF_ECORRUPT) {
        gf_error why = *err;
        t->out->rows++;
        gf_batch_delete_row(t->batch, t->tweets.raw, row->key, GF_ALL_FAMILIES);
        st = t->out->visit(t->out->context, "RawTwitterData", why.message, err);
    }
    return st == GF_OK ? flush_batch(t, CHANGES_PER_BATCH, err) : st;
}

/* As the check reads them, but a row that cannot be read is none. */
static gf_status keep_settings(void *context, const gf_row *row, gf_error *err)
{
    tweets_check *t = context;
    gf_slice rest = {0};
    gf_status st = enter_namespace(t, row->key, &rest, err);
    if (st == GF_OK) st = gf_tweets_read_settings(&t->tweets, &t->row, &t->at->info, NULL, err);
    return st == GF_ECORRUPT ? GF_OK : st;
}

static gf_status put_settings(tweets_check *t, gf_error *err)
{
    for (uint32_t i = 0; i < t->names.n; i++) {
        const space *s = &t->spaces[i];
        gf_number_digits tweets, with_place, deletions, rules;
        const struct {
            gf_slice name, value;
        } columns[] = {{GF_SLICE("hash"), gf_slice_str(gf_tweets_hash_name(s->info.hash))},
                       {GF_SLICE("tweets"), gf_number_write(&tweets, s->tweets)},
                       {GF_SLICE("with_place"), gf_number_write(&with_place, s->with_place)},
                       {GF_SLICE("deletions"), gf_number_write(&deletions, s->deletions)},
                       {GF_SLICE("version"), GF_SLICE("1")},
                       {GF_SLICE("rules"), gf_number_write(&rules, (uint64_t)s->info.rules)}};
        /* Version and rules of a row that was read stay as they are. */
        for (size_t c = 0; c < (s->info.any ? 4 : sizeof columns / sizeof *columns); c++)
            gf_batch_put(t->batch, t->tweets.settings, gf_strings_at(&t->names, i),
                         GF_TWEETS_SETTINGS_MAIN, columns[c].name, columns[c].value, 0);
    }
    return flush_batch(t, 0, err);
}

static gf_status remake_tables(tweets_check *t, gf_error *err)
{
    const gf_scan_options settings = GF_SCAN_OPTIONS(.family = GF_TWEETS_SETTINGS_MAIN);
    const gf_scan_options raw = GF_SCAN_OPTIONS(.family = GF_TWEETS_RAW_T);
    const gf_scan_options told = GF_SCAN_OPTIONS(.family = GF_TWEETS_DELETIONS_TOLD);
    gf_status st = gf_scan_each(t->tweets.settings, &settings, keep_settings, t, err);
    for (t->kind = GF_TWEETS_TERMS; t->kind < GF_TWEETS_INDEXES && st == GF_OK; t->kind++)
        st = gf_delete_rows(gf_tweets_index_table(&t->tweets, t->kind), (gf_slice){0}, t->batch,
                            err);
    if (st == GF_OK) st = flush_batch(t, 0, err);
    t->at = NULL;
    if (st == GF_OK) st = gf_scan_each(t->tweets.raw, &raw, remake_tweet, t, err);
    if (st == GF_OK) st = end_minute(t, err);
    if (st == GF_OK) st = gf_scan_each(t->tweets.deletions, &told, visit_deletion, t, err);
    return st == GF_OK ? put_settings(t, err) : st;
}

static gf_status tell_nobody(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context, (void)where, (void)what, (void)err;
    return GF_OK;
}

gf_status gf_tweets_repair(gf_app_repair *r, const char *table, gf_error *err)
{
    gf_app_check check = {.store = r->store, .cancel = r->cancel, .visit = tell_nobody};
    tweets_check t = {.c = &check, .out = r};
    gf_status st = gf_tweets_check(&check, table, err);
    if (st != GF_OK || check.faults == 0) return st;
    r->remade++;
    st = r->visit(r->context, "tweets",
                  "their words, minutes and places do not agree with them, and are made anew", err);
    if (st == GF_OK) st = gf_tweets_open_tables(r->store, &t.tweets, err);
    if (st == GF_OK) st = gf_tweets_parser_create(&t.parser, err);
    if (st == GF_OK) st = gf_batch_create(t.tweets.db, &t.batch, err);
    if (st == GF_OK) st = remake_tables(&t, err);
    gf_batch_free(t.batch);
    release_check(&t);
    return st;
}
