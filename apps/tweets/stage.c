/* The rows of tweets that wait: kept as they come, put into a batch in the order of their keys. */
#include "apps/tweets/stage_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"

#include <stdlib.h>

/* ---- sides ----------------------------------------------------------------------------------- */

void gf_tweets_stage_reset(gf_tweets_stage *s)
{
    gf_batch_reset(s->batch);
    gf_strings_release(&s->rows);
    gf_strings_release(&s->minutes);
    gf_arena_reset(&s->memory);
    s->raws.n = s->terms.n = s->places.n = 0;
    s->with_place = s->unchanged = 0;
    s->settled = false;
    s->bytes = 0;
}

void gf_tweets_stage_release(gf_tweets_stage *s)
{
    gf_batch_free(s->batch);
    gf_strings_release(&s->rows);
    gf_strings_release(&s->minutes);
    gf_arena_release(&s->memory);
    gf_free(s->raws.items);
    gf_free(s->terms.items);
    gf_free(s->places.items);
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

static gf_status count_minute(gf_tweets_stage *s, gf_tweets_scratch *w, const gf_tweet *t,
                              gf_error *err)
{
    char minute[GF_TWEET_MINUTE];
    uint32_t id;
    bool added;
    gf_tweets_minute(t->seconds, minute);
    gf_buffer_reset(&w->key);
    gf_buffer_append(&w->key, minute, sizeof minute);
    gf_buffer_slice(&w->key, t->lang);
    gf_status st = gf_buffer_check(&w->key, err);
    if (st == GF_OK)
        st = reserve_items(&s->counts, &s->count_capacity, (size_t)s->minutes.n + 1,
                           sizeof *s->counts, err);
    if (st == GF_OK) st = gf_strings_add(&s->minutes, gf_buffer_view(&w->key), &id, &added, err);
    if (st == GF_OK) s->counts[id] = added ? 1 : s->counts[id] + 1;
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

static gf_status add_terms(gf_tweets_stage *s, gf_slice row, gf_tweets_scratch *w, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < w->terms.n && st == GF_OK; i++) {
        const gf_tweets_term *t = &w->terms.terms[i];
        gf_buffer_reset(&w->key);
        gf_key_string(&w->key, t->term);
        st = gf_buffer_check(&w->key, err);
        if (st == GF_OK)
            st = add_row(s, &s->terms, gf_buffer_view(&w->key), row,
                         t->of_user ? GF_TWEETS_TERMS_USER : GF_TWEETS_TERMS_TEXT, t->count, err);
    }
    return st;
}

static gf_status add_place(gf_tweets_hash hash, gf_tweets_stage *s, gf_slice row, const gf_tweet *t,
                           gf_error *err)
{
    char key[GF_TWEET_GEO_ROW + 8];
    unsigned char spread = gf_tweets_spread(hash, gf_read_u32be(row.ptr + 8));
    gf_tweets_geo_row(spread, t->seconds, gf_geohash(t->place), key);
    gf_tweets_geo_value(t->place, key + GF_TWEET_GEO_ROW);
    gf_status st =
        add_row(s, &s->places, gf_slice_of(key, sizeof key), row, GF_TWEETS_GEO_PLACES, 1, err);
    if (st != GF_OK) return st;
    s->places.items[s->places.n - 1].length = GF_TWEET_GEO_ROW;
    s->with_place++;
    return GF_OK;
}

gf_status gf_tweets_stage_add(gf_tweets_stage *s, gf_tweets_hash hash, gf_tweets_scratch *w,
                              gf_slice row, gf_slice json, const gf_tweet *t, gf_error *err)
{
    gf_status st = gf_tweets_find_terms(&w->terms, t, err);
    if (st == GF_OK) st = count_minute(s, w, t, err);
    if (st == GF_OK) st = keep_json(s, row, json, err);
    if (st != GF_OK) return st;
    row = gf_strings_at(&s->rows, s->rows.n - 1);
    s->bytes += json.len;
    st = add_row(s, &s->raws, row, row, GF_TWEETS_RAW_T, s->rows.n - 1, err);
    if (st == GF_OK) st = add_terms(s, row, w, err);
    return st == GF_OK && t->has_place ? add_place(hash, s, row, t, err) : st;
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
        if (st == GF_OK)
            gf_batch_put(s->batch, table, gf_buffer_view(key), r->family,
                         rows == &s->raws ? GF_SLICE("") : row, value, 0);
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

gf_status gf_tweets_stage_put_places(gf_tweets_stage *s, const gf_tweets *tweets,
                                     gf_tweets_scratch *w, gf_error *err)
{
    return put_rows(tweets, s, &s->places, tweets->geo, &w->key, err);
}
