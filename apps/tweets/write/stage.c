/*
 * The rows of tweets that wait: kept as they come, put into a batch in the order of their keys. A
 * stage that removes has the rows of tweets that go, and is written in the same way.
 */
#include "apps/tweets/write/stage_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/scan.h"

#include <stdlib.h>

/* ---- sides ----------------------------------------------------------------------------------- */

void gf_tweets_stage_reset(gf_tweets_stage *s)
{
    gf_batch_reset(s->batch);
    gf_strings_release(&s->rows);
    gf_strings_release(&s->minutes);
    gf_strings_release(&s->doomed);
    gf_arena_reset(&s->memory);
    s->raws.n = s->terms.n = s->places.n = s->ids.n = 0;
    s->with_place = s->unchanged = s->held = 0;
    s->settled = false;
    s->bytes = 0;
}

void gf_tweets_stage_release(gf_tweets_stage *s)
{
    gf_batch_free(s->batch);
    gf_strings_release(&s->rows);
    gf_strings_release(&s->minutes);
    gf_strings_release(&s->doomed);
    gf_arena_release(&s->memory);
    gf_free(s->raws.items);
    gf_free(s->terms.items);
    gf_free(s->places.items);
    gf_free(s->ids.items);
    gf_free(s->json);
    gf_free(s->counts);
}

static gf_status reserve_items(void *list, size_t *capacity, size_t n, size_t size, gf_error *err)
{
    return gf_grow(list, capacity, n, size) ? GF_OK : gf_fail_memory(err, "a batch of tweets");
}

static gf_status keep_json(gf_tweets_stage *s, gf_slice row, gf_slice json, gf_error *err)
{
    uint32_t id;
    gf_status st =
        reserve_items(&s->json, &s->capacity, (size_t)s->rows.n + 1, sizeof *s->json, err);
    gf_slice copy = gf_arena_copy(&s->memory, json);
    if (st == GF_OK && !copy.ptr) st = gf_fail_memory(err, "a batch of tweets");
    if (st == GF_OK) st = gf_strings_add(&s->rows, row, &id, NULL, err);
    if (st == GF_OK) s->json[id] = copy;
    return st;
}

static gf_status count_minute(gf_tweets_stage *s, gf_buffer *key, const gf_tweets_cell *cell,
                              gf_error *err)
{
    uint32_t id;
    bool added;
    gf_buffer_reset(key);
    gf_buffer_slice(key, cell->key);
    gf_buffer_slice(key, cell->qualifier);
    gf_status st = gf_buffer_check(key, err);
    if (st == GF_OK)
        st = reserve_items(&s->counts, &s->count_capacity, (size_t)s->minutes.n + 1,
                           sizeof *s->counts, err);
    if (st == GF_OK) st = gf_strings_add(&s->minutes, gf_buffer_view(key), &id, &added, err);
    if (st == GF_OK) s->counts[id] = added ? cell->count : s->counts[id] + cell->count;
    return st;
}

static uint64_t prefix_of(const char *key, size_t n)
{
    char padded[8] = {0};
    memcpy(padded, key, n < 8 ? n : 8);
    return gf_read_u64be(padded);
}

/* Add a row; its key is copied. */
static gf_status add_row(gf_tweets_stage *s, gf_staged_rows *rows, gf_slice key, gf_slice row,
                         unsigned family, uint32_t n, gf_error *err)
{
    enum { EACH = 100 }; /* bytes that a row takes beside its key */
    gf_status st =
        reserve_items(&rows->items, &rows->capacity, rows->n + 1, sizeof *rows->items, err);
    if (st != GF_OK) return st;
    gf_slice copy = gf_arena_copy(&s->memory, key);
    if (!copy.ptr) return gf_fail_memory(err, "a batch of tweets");
    rows->items[rows->n++] = (gf_staged){.prefix = prefix_of(copy.ptr, copy.len),
                                         .key = copy.ptr,
                                         .row = row.ptr,
                                         .length = (uint32_t)key.len,
                                         .family = family,
                                         .n = n};
    s->bytes += key.len + EACH;
    return GF_OK;
}

/* A tweet on its way into the stage. */
typedef struct adding {
    gf_tweets_stage *stage;
    gf_buffer *key;
} adding;

static gf_status add_place(gf_tweets_stage *s, const gf_tweets_cell *cell, gf_error *err)
{
    char key[GF_TWEET_GEO_ROW + 8];
    memcpy(key, cell->key.ptr, GF_TWEET_GEO_ROW);
    memcpy(key + GF_TWEET_GEO_ROW, cell->value.ptr, 8);
    gf_status st =
        add_row(s, &s->places, gf_slice_of(key, sizeof key), cell->qualifier, cell->family, 1, err);
    if (st != GF_OK) return st;
    s->places.items[s->places.n - 1].length = GF_TWEET_GEO_ROW;
    s->with_place++;
    return GF_OK;
}

static gf_status add_cell(void *context, const gf_tweets_cell *cell, gf_error *err)
{
    adding *a = context;
    if (cell->index == GF_TWEETS_MINUTES) return count_minute(a->stage, a->key, cell, err);
    if (cell->index == GF_TWEETS_PLACES) return add_place(a->stage, cell, err);
    gf_staged_rows *rows = cell->index == GF_TWEETS_IDS ? &a->stage->ids : &a->stage->terms;
    return add_row(a->stage, rows, cell->key, cell->qualifier, cell->family, cell->count, err);
}

gf_status gf_tweets_stage_add(gf_tweets_stage *s, gf_tweets_hash hash, gf_tweets_rules rules,
                              gf_tweets_scratch *w, gf_slice row, gf_slice json, const gf_tweet *t,
                              gf_error *err)
{
    adding a = {s, &w->key};
    gf_status st = keep_json(s, row, json, err);
    if (st != GF_OK) return st;
    row = gf_strings_at(&s->rows, s->rows.n - 1);
    s->bytes += json.len;
    st = add_row(s, &s->raws, row, row, GF_TWEETS_RAW_T, s->rows.n - 1, err);
    if (st != GF_OK) return st;
    return gf_tweets_derive(&w->deriving, hash, rules, row, t, add_cell, &a, err);
}

/* ---- into the batch ---------------------------------------------------------------------------
 *
 * A batch that comes in the order of its keys need not be put in order, and by their prefixes that
 * is done faster here.
 */

static int compare_staged(const void *a, const void *b)
{
    const gf_staged *x = a, *y = b;
    if (x->prefix != y->prefix) return x->prefix < y->prefix ? -1 : 1;
    int order = gf_slice_compare(gf_slice_of(x->key, x->length), gf_slice_of(y->key, y->length));
    if (order == 0 && x->family != y->family) order = x->family < y->family ? -1 : 1;
    return order ? order : memcmp(x->row, y->row, GF_TWEET_ROW);
}

static gf_status put_rows(const gf_tweets *tweets, gf_tweets_stage *s, gf_staged_rows *rows,
                          gf_table *table, gf_buffer *key, gf_error *err)
{
    gf_status st = GF_OK;
    if (rows->n) qsort(rows->items, rows->n, sizeof *rows->items, compare_staged);
    for (size_t i = 0; i < rows->n && st == GF_OK; i++) {
        const gf_staged *r = &rows->items[i];
        gf_number_digits digits;
        gf_slice row = gf_slice_of(r->row, GF_TWEET_ROW), value = GF_SLICE("");
        if (rows == &s->raws) value = s->json[r->n];
        if (rows == &s->terms && r->n > 1) value = gf_number_write(&digits, r->n);
        if (rows == &s->places) value = gf_slice_of(r->key + r->length, 8);
        gf_tweets_key(tweets, key, gf_slice_of(r->key, r->length));
        st = gf_buffer_check(key, err);
        if (rows == &s->raws) row = GF_SLICE("");
        if (st == GF_OK && s->removes)
            gf_batch_delete_cell(s->batch, table, gf_buffer_view(key), r->family, row);
        else if (st == GF_OK)
            gf_batch_put(s->batch, table, gf_buffer_view(key), r->family, row, value, 0);
    }
    return st;
}

gf_status gf_tweets_stage_put_rows(gf_tweets_stage *s, const gf_tweets *tweets,
                                   gf_tweets_scratch *w, gf_error *err)
{
    if (s->settled) return GF_OK;
    gf_status st = put_rows(tweets, s, &s->raws, tweets->raw, &w->key, err);
    if (st == GF_OK) st = put_rows(tweets, s, &s->terms, tweets->terms, &w->key, err);
    s->settled = true;
    return st;
}

static gf_status put_frequency(gf_tweets_stage *s, const gf_tweets *tweets, gf_tweets_scratch *w,
                               uint32_t i, gf_error *err)
{
    gf_slice minute = gf_strings_at(&s->minutes, i);
    gf_slice language = gf_slice_skip(minute, GF_TWEET_MINUTE);
    uint64_t n = 0;
    gf_number_digits digits;
    minute.len = GF_TWEET_MINUTE;
    gf_tweets_key(tweets, &w->key, minute);
    gf_status st = gf_buffer_check(&w->key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(tweets->frequency, NULL, gf_buffer_view(&w->key),
                               GF_TWEETS_FREQUENCY_LANGUAGE, language, 1, &w->row, err);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    if (st == GF_OK && !gf_rows_cell_number(&w->row.cells[0], &n))
        return gf_fail(err, GF_ECORRUPT, "table TweetFrequency: a count is no number");
    if (s->removes && n < s->counts[i])
        return gf_fail(err, GF_ECORRUPT,
                       "table TweetFrequency: a minute has fewer tweets than there "
                       "are; grouperfish repair makes it anew");
    n = s->removes ? n - s->counts[i] : n + s->counts[i];
    if (n)
        gf_batch_put(s->batch, tweets->frequency, gf_buffer_view(&w->key),
                     GF_TWEETS_FREQUENCY_LANGUAGE, language, gf_number_write(&digits, n), 0);
    else
        gf_batch_delete_cell(s->batch, tweets->frequency, gf_buffer_view(&w->key),
                             GF_TWEETS_FREQUENCY_LANGUAGE, language);
    return GF_OK;
}

static int compare_ids(const void *a, const void *b, void *strings)
{
    return gf_slice_compare(gf_strings_at(strings, *(const uint32_t *)a),
                            gf_strings_at(strings, *(const uint32_t *)b));
}

/* By minute and language, as their rows lie. */
static gf_status put_frequencies(gf_tweets_stage *s, const gf_tweets *tweets, gf_tweets_scratch *w,
                                 gf_error *err)
{
    uint32_t *ids = gf_array(s->minutes.n, sizeof *ids);
    gf_status st = ids ? GF_OK : gf_fail_memory(err, "a batch of tweets");
    for (uint32_t i = 0; i < s->minutes.n && st == GF_OK; i++)
        ids[i] = i;
    if (st == GF_OK) qsort_r(ids, s->minutes.n, sizeof *ids, compare_ids, &s->minutes);
    for (uint32_t i = 0; i < s->minutes.n && st == GF_OK; i++)
        st = put_frequency(s, tweets, w, ids[i], err);
    gf_free(ids);
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static gf_status count_settings(const gf_tweets_stage *s, gf_tweets_info *info, gf_error *err)
{
    info->any = true;
    if (!s->removes) {
        info->tweets += s->rows.n;
        info->with_place += s->with_place;
        return GF_OK;
    }
    if (info->tweets < s->rows.n || info->with_place < s->with_place)
        return gf_fail(err, GF_ECORRUPT,
                       "table TweetSettings: there are more tweets than it says; "
                       "grouperfish repair counts them");
    info->tweets -= s->rows.n;
    info->with_place -= s->with_place;
    return GF_OK;
}

gf_status gf_tweets_stage_write(gf_tweets_stage *s, const gf_tweets *tweets, gf_tweets_info *info,
                                gf_buffer *version, gf_tweets_scratch *w, gf_error *err)
{
    gf_tweets_info after = *info;
    if (gf_tweets_by_rows(tweets) && !gf_hold_of_thread(tweets->db))
        return gf_fail(err, GF_ECONFLICT, "the tweets are to be held for this");
    gf_slice expected = gf_buffer_view(version);
    uint64_t number = 0;
    gf_number_digits digits;
    gf_number_read(expected, &number);
    gf_slice next = gf_number_write(&digits, number + 1);
    gf_status st = count_settings(s, &after, err);
    if (st == GF_OK) st = gf_tweets_stage_put_rows(s, tweets, w, err);
    if (st == GF_OK) st = put_frequencies(s, tweets, w, err);
    if (st == GF_OK) st = put_rows(tweets, s, &s->places, tweets->geo, &w->key, err);
    if (st == GF_OK) st = put_rows(tweets, s, &s->ids, tweets->ids, &w->key, err);
    if (st != GF_OK) return st;
    gf_tweets_put_settings(tweets, s->batch, &after, next);
    st = gf_batch_write_if(s->batch, tweets->settings, gf_tweets_settings_key(tweets),
                           GF_TWEETS_SETTINGS_MAIN, GF_SLICE("version"),
                           expected.len ? &expected : NULL, GF_SYNC_ON, err);
    if (st != GF_OK) return st;
    *info = after;
    gf_buffer_reset(version);
    gf_buffer_slice(version, next);
    return gf_buffer_check(version, err);
}
