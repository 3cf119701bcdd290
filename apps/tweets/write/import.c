/*
 * Adding tweets: one stage is filled while the other is written.
 *
 *     add -> [ filling ]      the caller's thread: parse, look up, stage
 *            [ writing ] -> batch -> LevelDB, synced      the import's own thread
 *
 * The stages change places when the filling one is full, or its tweets have waited long enough: so a
 * stream that pauses is on disk soon, and a file is written in large batches. That is why there is
 * a thread with a clock, and not storage/write_behind: the caller may be waiting for its input.
 * A batch has the rows of all tables for each of its tweets, the frequencies added up, and the
 * settings row with a new version. It is written only where the version is still the one that was
 * read; else another importer was first, and the batch is made anew without the tweets that this one
 * has stored. So it is where the settings were read anew since the stage began (its epoch): what its
 * tweets were looked up in, and the rules of the indexes, may be older than that.
 *
 * Ids that a stream says are deleted go in a batch of their own behind the stage's rows, with rows
 * of TweetDeletions that hold them back from then on. With keep, what is too old goes between the
 * stages, a batch at a time.
 */
#include "apps/tweets/write/import_internal.h"

#include "base/condition.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* By rows a batch has a journal, which is to fit a request. */
enum { FLUSH_MS = 500, FLUSH_BYTES = 16 << 20, FLUSH_BYTES_BY_ROWS = 3 << 20 };

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

static bool is_empty(const gf_tweets_stage *s)
{
    return s->rows.n == 0 && s->doomed.n == 0;
}

/* Whether a deletion of the tweet has come, to the tables that info is of. */
static gf_status is_held(gf_tweets_import *m, gf_tweets_scratch *w, const gf_tweets_info *info,
                         const gf_tweet *tweet, bool *held, gf_error *err)
{
    *held = false;
    if (info->deletions == 0 || !tweet->id.len || tweet->id.len > GF_MAX_ID) return GF_OK;
    gf_status st = gf_tweets_import_find_deletion(m, w, tweet->id, err);
    *held = st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- the writer ------------------------------------------------------------------------------ */

gf_status gf_tweets_import_read_version(gf_tweets_import *m, gf_error *err)
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
    pthread_mutex_lock(&m->lock);
    m->epoch++;
    m->seen = m->info;
    pthread_mutex_unlock(&m->lock);
    return gf_buffer_check(&m->version, err);
}

/* Write the stage's batch on top of the version that was read; GF_ECONFLICT where it is another. */
static gf_status write_batch(gf_tweets_import *m, gf_tweets_stage *s, gf_error *err)
{
    m->info.hash = m->hash;
    return gf_tweets_stage_write(s, m->tweets, &m->info, &m->version, &m->works[1], err);
}

/* Stage the tweets again, but those that are stored by now. */
static gf_status stage_again(gf_tweets_import *m, gf_tweets_stage *s, gf_error *err)
{
    gf_tweets_stage fresh = {.unchanged = s->unchanged, .held = s->held, .epoch = m->epoch};
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
            bool held = false;
            st = gf_tweets_parse_stored(m->parser, s->json[i], &tweet, err);
            if (st == GF_OK) st = is_held(m, w, &m->info, &tweet, &held, err);
            fresh.held += held;
            if (st == GF_OK && !held)
                st = gf_tweets_stage_add(&fresh, m->hash, gf_tweets_rules_of(&m->info, raw), w, raw,
                                         s->json[i], &tweet, err);
        }
    }
    pthread_mutex_lock(&m->lock); /* the caller looks into it */
    fresh.due = s->due;
    fresh.doomed = s->doomed;
    s->doomed = (gf_strings){.n = 0};
    gf_tweets_stage old = *s;
    *s = fresh;
    pthread_mutex_unlock(&m->lock);
    gf_tweets_stage_release(&old);
    return st;
}

/* Whether the batch is as good as when it was made, as far as this import knows. */
static bool is_fresh(const gf_tweets_import *m, const gf_tweets_stage *s)
{
    return s->epoch == m->epoch;
}

/* While the namespace is held a batch that was made anew meets none of another one made so, nor a step
 * of a reindex: it comes through, however large it is and whoever else writes. By rows it is held from
 * the first. */
static gf_status write_rows(gf_tweets_import *m, gf_tweets_stage *s, gf_error *err)
{
    gf_hold hold;
    bool by_rows = gf_tweets_by_rows(m->tweets), as_it_is = by_rows && is_fresh(m, s);
    gf_status st = !by_rows && is_fresh(m, s) ? write_batch(m, s, err) : GF_ECONFLICT;
    for (int i = 0; i < GF_TWEETS_MOST_TRIES && st == GF_ECONFLICT; i++, as_it_is = false) {
        st = gf_tweets_hold(m->tweets, &hold, err);
        if (st == GF_OK && !as_it_is) st = gf_tweets_import_read_version(m, err);
        if (st == GF_OK && !as_it_is) st = stage_again(m, s, err);
        if (st == GF_OK) st = s->rows.n ? write_batch(m, s, err) : GF_OK;
        gf_hold_let_go(&hold);
    }
    return st;
}

static gf_status write_stage(gf_tweets_import *m, gf_tweets_stage *s, gf_error *err)
{
    gf_status st = s->rows.n ? write_rows(m, s, err) : GF_OK;
    return st == GF_OK && s->doomed.n ? gf_tweets_import_forget(m, &s->doomed, err) : st;
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Wait until there is a stage to write, or the import is closed. Lock held. */
static void wait_for_stage(gf_tweets_import *m)
{
    for (;;) {
        const gf_tweets_stage *s = &m->stages[m->filling];
        if (m->due || m->closing || (m->old_due && m->keep.len)) return;
        if (is_empty(s)) {
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
    uint64_t had = m->removing.done.tweets;
    gf_status st = why.status == GF_OK ? write_stage(m, s, &why) : why.status;
    pthread_mutex_lock(&m->lock);
    m->counted.deleted += m->removing.done.tweets - had;
    m->seen.deletions = m->info.deletions;
    if (st == GF_OK) {
        m->counted.held += s->held;
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
        if (!is_empty(&m->stages[m->filling])) write_filled(m);
        if (m->keep.len && m->failed.status == GF_OK) gf_tweets_import_drop_old(m);
        if (m->failed.status != GF_OK) m->old_due = false;
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

/* A stage that gets its first entry is due from then on. */
static gf_tweets_stage *begin_filling(gf_tweets_import *m)
{
    gf_tweets_stage *s = &m->stages[m->filling];
    if (s->rows.n == 0) s->epoch = m->epoch;
    if (is_empty(s)) {
        s->due = gf_condition_deadline(m->flush_ms);
        pthread_cond_signal(&m->wake);
    }
    return s;
}

static bool is_doomed(const gf_tweets_import *m, gf_slice id)
{
    return gf_strings_find(&m->stages[0].doomed, id) != GF_STRING_NONE ||
           gf_strings_find(&m->stages[1].doomed, id) != GF_STRING_NONE;
}

/* Lock held. */
static gf_status stage_tweet(gf_tweets_import *m, gf_slice row, gf_slice json,
                             const gf_tweet *tweet, gf_error *err)
{
    bool held = false;
    gf_status st = check_failed(m, err);
    if (st == GF_OK && tweet->seconds < m->oldest) {
        m->counted.old++;
        return GF_OK;
    }
    if (st == GF_OK) st = is_held(m, &m->works[0], &m->seen, tweet, &held, err);
    if (st == GF_OK && (held || is_doomed(m, tweet->id))) {
        m->counted.held++;
        return GF_OK;
    }
    for (int i = 0; i < 2 && st == GF_OK; i++) {
        gf_status found = look_up_staged(&m->stages[i], row, json, err);
        if (found == GF_OK) m->counted.unchanged++;
        if (found != GF_ENOTFOUND) return found;
    }
    if (st == GF_OK) st = look_up(m, &m->works[0], row, json, err);
    if (st == GF_OK) m->counted.unchanged++;
    if (st != GF_ENOTFOUND) return st;
    gf_tweets_stage *s = begin_filling(m);
    if (m->odd == ODD_NONE && gf_tweets_id_is_odd(tweet)) m->odd = ODD_SOME;
    return gf_tweets_stage_add(s, m->hash, gf_tweets_rules_of(&m->seen, row), &m->works[0], row,
                               json, tweet, err);
}

/* Lock held. */
static void wait_for_room(gf_tweets_import *m, gf_error *err)
{
    while (m->stages[m->filling].bytes >= m->flush_bytes && m->failed.status == GF_OK) {
        gf_status settled =
            gf_tweets_stage_put_rows(&m->stages[m->filling], m->tweets, &m->works[0], err);
        if (settled != GF_OK) keep_failure(m, settled, err);
        m->due = true;
        pthread_cond_signal(&m->wake);
        pthread_cond_wait(&m->idle, &m->lock);
    }
}

gf_status gf_tweets_import_delete(gf_tweets_import *m, gf_slice id, gf_error *err)
{
    enum { EACH = 100 };
    uint32_t at;
    if (id.len == 0 || id.len > GF_MAX_ID) return GF_OK; /* no tweet can be asked for by it */
    pthread_mutex_lock(&m->lock);
    wait_for_room(m, err);
    gf_status st = check_failed(m, err);
    if (st == GF_OK) {
        gf_tweets_stage *s = begin_filling(m);
        st = gf_strings_add(&s->doomed, id, &at, NULL, err);
        s->bytes += id.len + EACH;
    }
    if (st != GF_OK) keep_failure(m, st, err);
    pthread_mutex_unlock(&m->lock);
    return st;
}

/* A tweet that no row can have is refused before there is a journal, which could never be finished. */
static gf_status check_fits(gf_tweets_import *m, gf_slice json, const gf_tweet *tweet,
                            gf_error *err)
{
    enum { MOST_JSON = 1 << 20, MOST_KEY = INT16_MAX };
    gf_tweets_terms *terms = &m->works[0].deriving.terms;
    if (!gf_tweets_by_rows(m->tweets) || json.len < MOST_KEY / 2) return GF_OK;
    if (json.len > MOST_JSON)
        return gf_fail(err, GF_ELIMIT, "a tweet of more than %d bytes, the most in this store",
                       MOST_JSON);
    gf_status st = gf_tweets_find_terms(terms, tweet, m->seen.rules, err);
    for (size_t i = 0; i < terms->n && st == GF_OK; i++)
        if (terms->terms[i].term.len > MOST_KEY)
            st = gf_fail(err, GF_ELIMIT, "a word of more than %d bytes, the most in this store",
                         MOST_KEY);
    return st;
}

gf_status gf_tweets_import_add(gf_tweets_import *m, gf_slice json, const gf_tweet *tweet,
                               gf_error *err)
{
    char row[GF_TWEET_ROW];
    gf_tweets_row(m->hash, tweet->seconds, json, row);
    pthread_mutex_lock(&m->lock);
    wait_for_room(m, err);
    gf_status st = check_fits(m, json, tweet, err);
    bool refused = st == GF_ELIMIT;
    if (st == GF_OK) st = stage_tweet(m, gf_slice_of(row, sizeof row), json, tweet, err);
    if (st != GF_OK && st != GF_ECONFLICT && !refused) keep_failure(m, st, err);
    pthread_mutex_unlock(&m->lock);
    return st;
}

/* A tweet that was there may be of a batch that another process has not finished, and may not any more. */
static gf_status finish_others(const gf_tweets_import *m, gf_error *err)
{
    gf_hold hold;
    gf_status st = gf_tweets_hold(m->tweets, &hold, err);
    gf_hold_let_go(&hold);
    return st;
}

gf_status gf_tweets_import_flush(gf_tweets_import *m, gf_error *err)
{
    pthread_mutex_lock(&m->lock);
    while (m->failed.status == GF_OK &&
           (m->writing || m->old_due || !is_empty(&m->stages[m->filling]))) {
        m->due = true;
        pthread_cond_signal(&m->wake);
        pthread_cond_wait(&m->idle, &m->lock);
    }
    gf_status st = check_failed(m, err);
    bool unsure = m->counted.unchanged > 0 && gf_tweets_by_rows(m->tweets);
    pthread_mutex_unlock(&m->lock);
    return st == GF_OK && unsure ? finish_others(m, err) : st;
}

void gf_tweets_import_keep_all(gf_tweets_import *m)
{
    pthread_mutex_lock(&m->lock);
    gf_buffer_reset(&m->keep);
    m->old_due = false;
    pthread_mutex_unlock(&m->lock);
}

gf_tweets_counts gf_tweets_import_counted(gf_tweets_import *m)
{
    pthread_mutex_lock(&m->lock);
    gf_tweets_counts counted = m->counted;
    pthread_mutex_unlock(&m->lock);
    return counted;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* By rows only a holder reads a version whose batch is there as a whole. */
static gf_status read_first_version(gf_tweets_import *m, gf_error *err)
{
    gf_hold hold = {0};
    gf_status st = gf_tweets_join(m->tweets, err);
    if (st == GF_OK && gf_tweets_by_rows(m->tweets)) st = gf_tweets_hold(m->tweets, &hold, err);
    if (st == GF_OK) st = gf_tweets_import_read_version(m, err);
    gf_hold_let_go(&hold);
    return st;
}

static gf_status open_import(gf_tweets_import *m, gf_error *err)
{
    gf_status st = read_first_version(m, err);
    if (st != GF_OK) return st;
    if (m->info.any) m->hash = m->info.hash;
    m->hash_given = true; /* another importer that makes the row meanwhile must agree */
    for (int i = 0; i < 2 && st == GF_OK; i++)
        st = gf_batch_create(m->tweets->db, &m->stages[i].batch, err);
    if (st == GF_OK) st = gf_tweets_parser_create(&m->parser, err);
    if (st == GF_OK) st = gf_buffer_check(&m->keep, err);
    if (st != GF_OK) return st;
    m->oldest = gf_tweets_import_oldest(m);
    m->old_due = m->keep.len > 0;
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
    gf_buffer_slice(&m->keep, options->keep);
    m->flush_ms = options->flush_ms ? options->flush_ms : FLUSH_MS;
    m->flush_bytes = gf_tweets_by_rows(tweets) ? FLUSH_BYTES_BY_ROWS : FLUSH_BYTES;
    if (options->flush_bytes) m->flush_bytes = options->flush_bytes;
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
        gf_tweets_deriving_release(&m->works[i].deriving);
        gf_buffer_release(&m->works[i].key);
        gf_row_release(&m->works[i].row);
    }
    if (m->removing.stage.batch) gf_tweets_removing_release(&m->removing);
    gf_tweets_parser_free(m->parser);
    gf_buffer_release(&m->version);
    gf_buffer_release(&m->keep);
    pthread_cond_destroy(&m->wake);
    pthread_cond_destroy(&m->idle);
    pthread_mutex_destroy(&m->lock);
    gf_free(m);
}
