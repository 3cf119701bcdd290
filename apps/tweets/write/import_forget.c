/*
 * Tweets that an import forgets, in its writer's thread: those that the stream says are deleted, and
 * with keep those that are too old.
 */
#include "apps/tweets/write/import_internal.h"

#include "apps/tweets/ask/query_internal.h"
#include "base/clock.h"
#include "engine/rows/filter.h"

enum { OLD_ROWS = 4096 };

static bool has_index_of_ids(const gf_tweets_info *info)
{
    return info->rules != GF_TWEETS_RULES_SHORT && !info->reindexing;
}

/* GF_OK where a deletion of the id is kept, GF_ENOTFOUND where none. */
gf_status gf_tweets_import_find_deletion(gf_tweets_import *m, gf_tweets_scratch *w, gf_slice id,
                                         gf_error *err)
{
    gf_tweets_deletion_key(m->tweets, &w->key, id);
    gf_status st = gf_buffer_check(&w->key, err);
    if (st != GF_OK) return st;
    return gf_table_get_cell(m->tweets->deletions, NULL, gf_buffer_view(&w->key),
                             GF_TWEETS_DELETIONS_TOLD, GF_SLICE(""), 1, &w->row, err);
}

/* By rows nothing is tried before the tweets are held. */
static bool must_hold(const gf_tweets_import *m)
{
    return gf_tweets_by_rows(m->tweets);
}

/* ---- deletions of the stream ----------------------------------------------------------------- */

static gf_status need_removing(gf_tweets_import *m, gf_error *err)
{
    if (m->removing.stage.batch) return GF_OK;
    return gf_tweets_removing_init(&m->removing, m->tweets, err);
}

/* Whether an id that its second does not have may be anywhere else. */
static gf_status look_for_odd(gf_tweets_import *m, gf_tweets_reading *r, bool *indexed,
                              gf_error *err)
{
    bool any;
    gf_status st = GF_OK;
    *indexed = has_index_of_ids(&m->info);
    if (*indexed) return GF_OK;
    pthread_mutex_lock(&m->lock);
    bool known = m->odd != ODD_UNKNOWN;
    if (!known) m->odd = ODD_NONE; /* odd ones that come from now on set it */
    pthread_mutex_unlock(&m->lock);
    if (!known) st = gf_tweets_any_odd(r, &any, err);
    pthread_mutex_lock(&m->lock);
    if (!known && st == GF_OK && any) m->odd = ODD_SOME;
    *indexed = m->odd == ODD_NONE;
    pthread_mutex_unlock(&m->lock);
    return st;
}

/* Whether the id says a time before keep: its tweet does not come any more. */
static bool is_past(const gf_tweets_import *m, gf_slice id)
{
    int64_t seconds;
    return gf_tweets_id_seconds(id, &seconds) && seconds >= GF_TWEET_FIRST_SAID_SECOND &&
           seconds < m->oldest;
}

/* Put what is to be remembered of deletions. */
static gf_status put_deletions(gf_tweets_import *m, const gf_strings *ids, gf_tweets_info *info,
                               gf_error *err)
{
    gf_tweets_scratch *w = &m->works[1];
    for (uint32_t i = 0; i < ids->n; i++) {
        gf_slice id = gf_strings_at(ids, i);
        if (is_past(m, id)) continue;
        gf_status st = gf_tweets_import_find_deletion(m, w, id, err);
        if (st == GF_OK) continue;
        if (st != GF_ENOTFOUND) return st;
        gf_batch_put(m->removing.stage.batch, m->tweets->deletions, gf_buffer_view(&w->key),
                     GF_TWEETS_DELETIONS_TOLD, GF_SLICE(""), GF_SLICE(""), 0);
        info->deletions++;
    }
    return GF_OK;
}

static gf_status remove_doomed(gf_tweets_import *m, gf_tweets_reading *r, const gf_strings *ids,
                               gf_error *err)
{
    gf_raw_rows rows = {0};
    size_t at = 0;
    bool indexed;
    gf_tweets_info info = m->info;
    info.hash = m->hash;
    gf_status st = look_for_odd(m, r, &indexed, err);
    if (st == GF_OK) st = gf_tweets_select_ids(r, indexed, &rows, err);
    if (st == GF_OK) st = put_deletions(m, ids, &info, err);
    if (st != GF_OK) gf_tweets_stage_reset(&m->removing.stage);
    do {
        if (st == GF_OK) st = gf_tweets_remove(&m->removing, &rows, &at, &info, &m->version, err);
        if (st == GF_OK) m->info = info;
    } while (st == GF_OK && at < rows.n);
    gf_raw_rows_release(&rows);
    return st;
}

gf_status gf_tweets_import_forget(gf_tweets_import *m, const gf_strings *ids, gf_error *err)
{
    gf_tweets_query query = {.ids = ids->entries, .n_ids = ids->n};
    gf_tweets_reading r = {.tweets = m->tweets, .query = &query, .parser = m->parser};
    gf_hold hold;
    gf_status st = need_removing(m, err);
    if (st == GF_OK) st = must_hold(m) ? GF_ECONFLICT : remove_doomed(m, &r, ids, err);
    for (int i = 0; i < GF_TWEETS_MOST_TRIES && st == GF_ECONFLICT; i++) {
        st = gf_tweets_hold(m->tweets, &hold, err);
        if (st == GF_OK) st = gf_tweets_import_read_version(m, err);
        if (st == GF_OK) st = remove_doomed(m, &r, ids, err);
        gf_hold_let_go(&hold);
    }
    gf_buffer_release(&r.key);
    gf_row_release(&r.row);
    return st;
}

/* ---- keep ------------------------------------------------------------------------------------ */

int64_t gf_tweets_import_oldest(const gf_tweets_import *m)
{
    int64_t ms = 0;
    if (m->keep.len == 0 || !gf_filter_read_moment(gf_buffer_view(&m->keep), gf_clock_ms(), &ms))
        return 0;
    return ms / 1000;
}

static gf_status find_old(gf_tweets_import *m, gf_tweets_reading *r, int64_t from, int64_t before,
                          gf_raw_rows *rows, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_slice raw;
    gf_status st = gf_tweets_open_time(r, from, before - 1, false, &scan, err);
    while (st == GF_OK && rows->n < OLD_ROWS && (st = gf_scan_next(scan, &r->row, err)) == GF_OK) {
        st = gf_tweets_part(m->tweets, r->row.key, GF_TWEET_ROW, &raw, err);
        if (st == GF_OK) st = gf_raw_rows_add(rows, raw, err);
    }
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Deletions of ids that say a time that is past, as many as a batch takes; the others stay. */
static gf_status drop_deletions(gf_tweets_import *m, gf_tweets_reading *r, int64_t before,
                                gf_tweets_info *info, size_t *n, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_buffer start = {0}, end = {0};
    *n = 0;
    if (info->deletions == 0 || before <= GF_TWEET_FIRST_SAID_SECOND) return GF_OK;
    gf_tweets_key(m->tweets, &start, (gf_slice){"", 0});
    gf_key_u64(&start, GF_TWEET_FIRST_SAID_SECOND);
    gf_tweets_key(m->tweets, &end, (gf_slice){"", 0});
    gf_key_u64(&end, (uint64_t)before);
    gf_scan_options o =
        GF_SCAN_OPTIONS(.family = GF_TWEETS_DELETIONS_TOLD, .start = gf_buffer_view(&start),
                        .end = gf_buffer_view(&end), .limit = OLD_ROWS);
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_buffer_check(&end, err);
    if (st == GF_OK) st = gf_scan_open(m->tweets->deletions, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &r->row, err)) == GF_OK) {
        gf_batch_delete_cell(m->removing.stage.batch, m->tweets->deletions, r->row.key,
                             GF_TWEETS_DELETIONS_TOLD, GF_SLICE(""));
        info->deletions -= info->deletions > 0;
        ++*n;
    }
    gf_scan_close(scan);
    gf_buffer_release(&start);
    gf_buffer_release(&end);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status remove_old(gf_tweets_import *m, gf_tweets_reading *r, int64_t from, int64_t before,
                            bool *more, int64_t *cleared, gf_error *err)
{
    gf_raw_rows rows = {0};
    size_t at = 0, n = 0;
    gf_tweets_info info = m->info;
    gf_status st = find_old(m, r, from, before, &rows, err);
    if (st == GF_OK) st = drop_deletions(m, r, before, &info, &n, err);
    if (st != GF_OK) gf_tweets_stage_reset(&m->removing.stage);
    if (st == GF_OK) st = gf_tweets_remove(&m->removing, &rows, &at, &info, &m->version, err);
    if (st == GF_OK) {
        m->info = info;
        *more = at < rows.n || rows.n == OLD_ROWS || n == OLD_ROWS;
        *cleared = at ? (int64_t)gf_read_u64be(rows.bytes + (at - 1) * GF_TWEET_ROW) : from;
    }
    gf_raw_rows_release(&rows);
    return st;
}

/* One batch of tweets that are older than keep; the lock is held but for the work. */
void gf_tweets_import_drop_old(gf_tweets_import *m)
{
    static const gf_tweets_query none;
    gf_tweets_reading r = {.tweets = m->tweets, .query = &none};
    gf_error why = m->failed;
    int64_t before = gf_tweets_import_oldest(m), from = m->cleared, cleared = from;
    bool more = false;
    if (!m->old_due && before <= m->oldest) return;
    m->oldest = before;
    m->writing = true;
    pthread_mutex_unlock(&m->lock);
    gf_hold hold;
    gf_status st = why.status == GF_OK ? need_removing(m, &why) : why.status;
    uint64_t had = m->removing.done.tweets;
    if (st == GF_OK && m->info.any)
        st = must_hold(m) ? GF_ECONFLICT : remove_old(m, &r, from, before, &more, &cleared, &why);
    for (int i = 0; i < GF_TWEETS_MOST_TRIES && st == GF_ECONFLICT; i++) {
        st = gf_tweets_hold(m->tweets, &hold, &why);
        if (st == GF_OK) st = gf_tweets_import_read_version(m, &why);
        if (st == GF_OK) st = remove_old(m, &r, from, before, &more, &cleared, &why);
        gf_hold_let_go(&hold);
    }
    gf_buffer_release(&r.key);
    gf_row_release(&r.row);
    pthread_mutex_lock(&m->lock);
    m->counted.dropped += m->removing.done.tweets - had;
    if (st != GF_OK && m->failed.status == GF_OK) {
        m->failed = why;
        m->failed.status = st;
    }
    m->old_due = more && st == GF_OK && m->keep.len;
    m->cleared = m->old_due ? cleared : 0;
    m->seen.deletions = m->info.deletions;
    m->writing = false;
}
