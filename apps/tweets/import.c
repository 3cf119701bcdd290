/*
 * Adding tweets: one stage is filled while the other is written.
 *
 *     add -> [ filling ]      the caller's thread: parse, look up, stage
 *            [ writing ] -> batch -> LevelDB, synced      the import's own thread
 *
 * The stages change places when the filling one is full, or its tweets have waited long enough: so a
 * stream that pauses is on disk soon, and a file is written in large batches. That is why there is
 * a thread with a clock, and not storage/write_behind: the caller may be waiting for its input.
 * A batch has the
 * rows of all tables for each of its tweets, the frequencies added up, and the settings row with a
 * new version. It is written only where the version is still the one that was read; else another
 * importer was first, and the batch is made anew without the tweets that this one has stored.
 */
#include "apps/tweets/stage_internal.h"

#include "base/condition.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/strings.h"
#include "engine/rows/scan.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { FLUSH_MS = 500, FLUSH_BYTES = 16 << 20, MOST_TRIES = 100 };

struct gf_tweets_import {
    gf_tweets *tweets;
    gf_tweets_hash hash;
    bool hash_given;
    unsigned flush_ms;
    size_t flush_bytes;
    gf_tweets_parser *parser;   /* the writer's, to make a batch anew */
    gf_tweets_scratch works[2]; /* the caller's and the writer's */
    gf_tweets_info info;        /* the settings as they were read or written last: the writer's */
    gf_buffer version;          /* likewise; empty: no row yet */

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of all that follows; the stage that is written is the writer's */
    pthread_cond_t wake, idle;
    gf_tweets_stage stages[2];
    int filling;
    bool writing, due, closing;
    gf_error failed; /* status GF_OK: not */
    gf_tweets_counts counted;
};

/* ---- stored tweets --------------------------------------------------------------------------- */

static gf_status same_row(gf_error *err)
{
    return gf_fail(err, GF_ECONFLICT, "another tweet of that second has its hash");
}

/* GF_OK where the raw row has that JSON, GF_ECONFLICT where another, GF_ENOTFOUND where none. */
static gf_status look_up(gf_tweets_import *m, gf_tweets_scratch *w, gf_slice row, gf_slice json,
                         gf_error *err)
{
    gf_tweets_key(m->tweets, &w->key, row);
    gf_status st = gf_buffer_check(&w->key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(m->tweets->raw, NULL, gf_buffer_view(&w->key), GF_TWEETS_RAW_T,
                               GF_SLICE(""), 1, &w->row, err);
    if (st != GF_OK) return st;
    return gf_slice_equal(w->row.cells[0].value, json) ? GF_OK : same_row(err);
}

static gf_status look_up_staged(const gf_tweets_stage *s, gf_slice row, gf_slice json,
                                gf_error *err)
{
    uint32_t id = gf_strings_find(&s->rows, row);
    if (id == GF_STRING_NONE) return GF_ENOTFOUND;
    return gf_slice_equal(s->json[id], json) ? GF_OK : same_row(err);
}

/* ---- the writer ------------------------------------------------------------------------------ */

static gf_status read_version(gf_tweets_import *m, gf_error *err)
{
    gf_row row = {0};
    gf_slice version = {0};
    gf_status st = gf_tweets_read_settings(m->tweets, &row, &m->info, &version, err);
    gf_buffer_reset(&m->version);
    gf_buffer_slice(&m->version, version);
    gf_row_release(&row);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    if (m->info.any && m->hash_given && m->info.hash != m->hash)
        return gf_fail(err, GF_EINVAL,
                       "the tweets of this namespace are kept under %s, and not under %s",
                       gf_tweets_hash_name(m->info.hash), gf_tweets_hash_name(m->hash));
    return gf_buffer_check(&m->version, err);
}

static gf_status put_frequency(gf_tweets_import *m, gf_tweets_scratch *w, gf_tweets_stage *s,
                               uint32_t i, gf_error *err)
{
    gf_slice minute = gf_strings_at(&s->minutes, i);
    gf_slice language = gf_slice_skip(minute, GF_TWEET_MINUTE);
    uint64_t n = 0;
    gf_number_digits digits;
    minute.len = GF_TWEET_MINUTE;
    gf_tweets_key(m->tweets, &w->key, minute);
    gf_status st = gf_buffer_check(&w->key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(m->tweets->frequency, NULL, gf_buffer_view(&w->key),
                               GF_TWEETS_FREQUENCY_LANGUAGE, language, 1, &w->row, err);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    if (st == GF_OK && !gf_rows_cell_number(&w->row.cells[0], &n))
        return gf_fail(err, GF_ECORRUPT, "table TweetFrequency: a count is no number");
    gf_batch_put(s->batch, m->tweets->frequency, gf_buffer_view(&w->key),
                 GF_TWEETS_FREQUENCY_LANGUAGE, language, gf_number_write(&digits, n + s->counts[i]),
                 0);
    return GF_OK;
}

static int compare_ids(const void *a, const void *b, void *strings)
{
    return gf_slice_compare(gf_strings_at(strings, *(const uint32_t *)a),
                            gf_strings_at(strings, *(const uint32_t *)b));
}

/* By minute and language, as their rows lie. */
static gf_status put_frequencies(gf_tweets_import *m, gf_tweets_stage *s, gf_error *err)
{
    uint32_t *ids = gf_array(s->minutes.n, sizeof *ids);
    gf_status st = ids ? GF_OK : gf_fail_memory(err, "a batch of tweets");
    for (uint32_t i = 0; i < s->minutes.n && st == GF_OK; i++)
        ids[i] = i;
    if (st == GF_OK) qsort_r(ids, s->minutes.n, sizeof *ids, compare_ids, &s->minutes);
    for (uint32_t i = 0; i < s->minutes.n && st == GF_OK; i++)
        st = put_frequency(m, &m->works[1], s, ids[i], err);
    gf_free(ids);
    return st;
}

static void put_settings(gf_tweets_import *m, gf_tweets_stage *s, const gf_tweets_info *info,
                         gf_slice version)
{
    gf_number_digits tweets, with_place;
    gf_column columns[] = {
        {GF_SLICE("hash"), gf_slice_str(gf_tweets_hash_name(m->hash))},
        {GF_SLICE("version"), version},
        {GF_SLICE("tweets"), gf_number_write(&tweets, info->tweets)},
        {GF_SLICE("with_place"), gf_number_write(&with_place, info->with_place)}};
    gf_batch_replace(s->batch, m->tweets->settings, gf_tweets_prefix(m->tweets),
                     GF_TWEETS_SETTINGS_MAIN, columns, sizeof columns / sizeof *columns, 0);
}

/* Write the stage's batch on top of the version that was read; GF_ECONFLICT where it is another. */
static gf_status write_batch(gf_tweets_import *m, gf_tweets_stage *s, gf_error *err)
{
    gf_tweets_info info = {true, m->hash, m->info.tweets + s->rows.n,
                           m->info.with_place + s->with_place};
    gf_slice expected = gf_buffer_view(&m->version);
    uint64_t number = 0;
    gf_number_digits digits;
    gf_number_read(expected, &number);
    gf_slice version = gf_number_write(&digits, number + 1);
    gf_status st = gf_tweets_stage_put_rows(s, m->tweets, &m->works[1], err);
    if (st == GF_OK) st = put_frequencies(m, s, err);
    if (st == GF_OK) st = gf_tweets_stage_put_places(s, m->tweets, &m->works[1], err);
    if (st != GF_OK) return st;
    put_settings(m, s, &info, version);
    st = gf_batch_write_if(s->batch, m->tweets->settings, gf_tweets_prefix(m->tweets),
                           GF_TWEETS_SETTINGS_MAIN, GF_SLICE("version"),
                           expected.len ? &expected : NULL, GF_SYNC_ON, err);
    if (st != GF_OK) return st;
    m->info = info;
    gf_buffer_reset(&m->version);
    gf_buffer_slice(&m->version, version);
    return gf_buffer_check(&m->version, err);
}

/* Stage the tweets again, but those that are stored by now. */
static gf_status stage_again(gf_tweets_import *m, gf_tweets_stage *s, gf_error *err)
{
    gf_tweets_stage fresh = {.unchanged = s->unchanged};
    gf_tweets_scratch *w = &m->works[1];
    gf_status st = gf_batch_create(m->tweets->db, &fresh.batch, err);
    for (uint32_t i = 0; i < s->rows.n && st == GF_OK; i++) {
        gf_slice raw = gf_strings_at(&s->rows, i);
        gf_tweet tweet;
        st = look_up(m, w, raw, s->json[i], err);
        if (st == GF_OK || st == GF_ECONFLICT) {
            fresh.unchanged++;
            st = GF_OK;
        } else if (st == GF_ENOTFOUND) {
            st = gf_tweets_parse_stored(m->parser, s->json[i], &tweet, err);
            if (st == GF_OK)
                st = gf_tweets_stage_add(&fresh, m->hash, w, raw, s->json[i], &tweet, err);
        }
    }
    pthread_mutex_lock(&m->lock); /* the caller looks into it */
    fresh.due = s->due;
    gf_tweets_stage old = *s;
    *s = fresh;
    pthread_mutex_unlock(&m->lock);
    gf_tweets_stage_release(&old);
    return st;
}

static gf_status write_stage(gf_tweets_import *m, gf_tweets_stage *s, gf_error *err)
{
    gf_status st = write_batch(m, s, err);
    for (int i = 0; i < MOST_TRIES && st == GF_ECONFLICT; i++) {
        st = read_version(m, err);
        if (st == GF_OK) st = stage_again(m, s, err);
        if (st == GF_OK) st = s->rows.n ? write_batch(m, s, err) : GF_OK;
    }
    return st;
}

/* Wait until there is a stage to write, or the import is closed. Lock held. */
static void wait_for_stage(gf_tweets_import *m)
{
    for (;;) {
        const gf_tweets_stage *s = &m->stages[m->filling];
        if (m->due || m->closing) return;
        if (s->rows.n == 0) {
            pthread_cond_wait(&m->wake, &m->lock);
            continue;
        }
        struct timespec due = s->due;
        if (!gf_condition_wait(&m->wake, &m->lock, &due)) return;
    }
}

/* Write the filling stage; the lock is held but for the writing. */
static void write_filled(gf_tweets_import *m)
{
    gf_tweets_stage *s = &m->stages[m->filling];
    gf_error why = m->failed;
    m->filling ^= 1;
    m->writing = true;
    pthread_cond_broadcast(&m->idle);
    pthread_mutex_unlock(&m->lock);
    gf_status st = why.status == GF_OK ? write_stage(m, s, &why) : why.status;
    pthread_mutex_lock(&m->lock);
    if (st == GF_OK) {
        m->counted.created += s->rows.n;
        m->counted.with_place += s->with_place;
        m->counted.unchanged += s->unchanged;
    } else if (m->failed.status == GF_OK) {
        m->failed = why;
        m->failed.status = st;
    }
    gf_tweets_stage_reset(s);
    m->writing = false;
}

static void *write_stages(void *context)
{
    gf_tweets_import *m = context;
    pthread_mutex_lock(&m->lock);
    for (wait_for_stage(m); !m->closing; wait_for_stage(m)) {
        m->due = false;
        if (m->stages[m->filling].rows.n) write_filled(m);
        pthread_cond_broadcast(&m->idle);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* ---- the caller ------------------------------------------------------------------------------ */

static gf_status check_failed(const gf_tweets_import *m, gf_error *err)
{
    if (m->failed.status != GF_OK && err) *err = m->failed;
    return m->failed.status;
}

static void keep_failure(gf_tweets_import *m, gf_status st, const gf_error *err)
{
    if (m->failed.status != GF_OK) return;
    m->failed = err ? *err : (gf_error){st, "a tweet could not be added"};
    m->failed.status = st;
}

/* Lock held. */
static gf_status stage_tweet(gf_tweets_import *m, gf_slice row, gf_slice json,
                             const gf_tweet *tweet, gf_error *err)
{
    gf_status st = check_failed(m, err);
    for (int i = 0; i < 2 && st == GF_OK; i++) {
        gf_status found = look_up_staged(&m->stages[i], row, json, err);
        if (found == GF_OK) m->counted.unchanged++;
        if (found != GF_ENOTFOUND) return found;
    }
    if (st == GF_OK) st = look_up(m, &m->works[0], row, json, err);
    if (st == GF_OK) m->counted.unchanged++;
    if (st != GF_ENOTFOUND) return st;
    gf_tweets_stage *s = &m->stages[m->filling];
    if (s->rows.n == 0) {
        s->due = gf_condition_deadline(m->flush_ms);
        pthread_cond_signal(&m->wake);
    }
    return gf_tweets_stage_add(s, m->hash, &m->works[0], row, json, tweet, err);
}

gf_status gf_tweets_import_add(gf_tweets_import *m, gf_slice json, const gf_tweet *tweet,
                               gf_error *err)
{
    char row[GF_TWEET_ROW];
    gf_tweets_row(m->hash, tweet->seconds, json, row);
    pthread_mutex_lock(&m->lock);
    while (m->stages[m->filling].bytes >= m->flush_bytes && m->failed.status == GF_OK) {
        gf_status settled =
            gf_tweets_stage_put_rows(&m->stages[m->filling], m->tweets, &m->works[0], err);
        if (settled != GF_OK) keep_failure(m, settled, err);
        m->due = true;
        pthread_cond_signal(&m->wake);
        pthread_cond_wait(&m->idle, &m->lock);
    }
    gf_status st = stage_tweet(m, gf_slice_of(row, sizeof row), json, tweet, err);
    if (st != GF_OK && st != GF_ECONFLICT) keep_failure(m, st, err);
    pthread_mutex_unlock(&m->lock);
    return st;
}

gf_status gf_tweets_import_flush(gf_tweets_import *m, gf_error *err)
{
    pthread_mutex_lock(&m->lock);
    while (m->failed.status == GF_OK && (m->writing || m->stages[m->filling].rows.n)) {
        m->due = true;
        pthread_cond_signal(&m->wake);
        pthread_cond_wait(&m->idle, &m->lock);
    }
    gf_status st = check_failed(m, err);
    pthread_mutex_unlock(&m->lock);
    return st;
}

gf_tweets_counts gf_tweets_import_counted(gf_tweets_import *m)
{
    pthread_mutex_lock(&m->lock);
    gf_tweets_counts counted = m->counted;
    pthread_mutex_unlock(&m->lock);
    return counted;
}

/* ---- life ------------------------------------------------------------------------------------ */

static gf_status open_import(gf_tweets_import *m, gf_error *err)
{
    gf_status st = read_version(m, err);
    if (st != GF_OK) return st;
    if (m->info.any) m->hash = m->info.hash;
    m->hash_given = true; /* another importer that makes the row meanwhile must agree */
    for (int i = 0; i < 2 && st == GF_OK; i++)
        st = gf_batch_create(m->tweets->db, &m->stages[i].batch, err);
    if (st == GF_OK) st = gf_tweets_parser_create(&m->parser, err);
    if (st != GF_OK) return st;
    if (pthread_create(&m->thread, NULL, write_stages, m) != 0)
        return gf_fail(err, GF_ENOMEM, "no thread can be started to write tweets");
    m->has_thread = true;
    return GF_OK;
}

gf_status gf_tweets_import_open(gf_tweets *tweets, const gf_tweets_import_options *options,
                                gf_tweets_import **import, gf_error *err)
{
    gf_tweets_import *m = gf_calloc(1, sizeof *m);
    if (!m) return gf_fail_memory(err, "an import");
    m->tweets = tweets;
    m->hash = options->hash;
    m->hash_given = options->hash_given;
    m->flush_ms = options->flush_ms ? options->flush_ms : FLUSH_MS;
    m->flush_bytes = options->flush_bytes ? options->flush_bytes : FLUSH_BYTES;
    pthread_mutex_init(&m->lock, NULL);
    gf_condition_init(&m->wake);
    gf_condition_init(&m->idle);
    gf_status st = open_import(m, err);
    if (st != GF_OK) {
        gf_tweets_import_close(m);
        return st;
    }
    *import = m;
    return GF_OK;
}

void gf_tweets_import_close(gf_tweets_import *m)
{
    if (!m) return;
    if (m->has_thread) {
        pthread_mutex_lock(&m->lock);
        m->closing = true;
        pthread_cond_signal(&m->wake);
        pthread_mutex_unlock(&m->lock);
        pthread_join(m->thread, NULL);
    }
    for (int i = 0; i < 2; i++) {
        if (m->stages[i].batch) gf_tweets_stage_release(&m->stages[i]);
        gf_tweets_terms_release(&m->works[i].terms);
        gf_buffer_release(&m->works[i].key);
        gf_row_release(&m->works[i].row);
    }
    gf_tweets_parser_free(m->parser);
    gf_buffer_release(&m->version);
    pthread_cond_destroy(&m->wake);
    pthread_cond_destroy(&m->idle);
    pthread_mutex_destroy(&m->lock);
    gf_free(m);
}
