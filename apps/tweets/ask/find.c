/*
 * Finding tweets by their ids. RawTwitterData lies by time, and an id of Twitter's says its time
 * (read/ids.c): the tweets of that second are looked at. A tweet whose id and time do not agree, an older one or
 * one that was made up, is odd: the index TweetIds has it. Tables that were made by rules without
 * that index are walked over, once for all ids that were not found.
 */
#include "apps/tweets/ask/query_internal.h"

#include "base/grow.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/strings.h"

/* Add the row if its tweet has the id; what does not even have its digits is not parsed. */
static gf_status look_at(gf_tweets_reading *r, gf_slice id, gf_raw_rows *rows, gf_error *err)
{
    gf_slice json = r->row.cells[0].value, raw;
    gf_tweet tweet;
    if (!memmem(json.ptr, json.len, id.ptr, id.len)) return GF_OK;
    gf_status st = gf_tweets_part(r->tweets, r->row.key, GF_TWEET_ROW, &raw, err);
    if (st == GF_OK) st = gf_tweets_parse_stored(r->parser, json, &tweet, err);
    if (st != GF_OK || !gf_slice_equal(tweet.id, id)) return st;
    return gf_raw_rows_add(rows, raw, err);
}

static gf_status look_at_second(gf_tweets_reading *r, gf_slice id, int64_t seconds,
                                gf_raw_rows *rows, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_status st = gf_tweets_open_time(r, seconds, seconds, false, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &r->row, err)) == GF_OK)
        st = look_at(r, id, rows, err);
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* 24 digits name a row, where there is one. */
static gf_status look_up_row(gf_tweets_reading *r, gf_slice id, gf_raw_rows *rows, gf_error *err)
{
    gf_buffer row = {0};
    if (id.len != 2 * (size_t)GF_TWEET_ROW || !gf_hex_read(id, &row)) {
        gf_buffer_release(&row);
        return GF_OK;
    }
    gf_tweets_key(r->tweets, &r->key, gf_buffer_view(&row));
    gf_status st = gf_buffer_check(&r->key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(r->tweets->raw, r->snapshot, gf_buffer_view(&r->key),
                               GF_TWEETS_RAW_T, GF_SLICE(""), 1, &r->row, err);
    if (st == GF_OK) st = gf_raw_rows_add(rows, gf_buffer_view(&row), err);
    gf_buffer_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status look_in_index(gf_tweets_reading *r, gf_slice id, gf_raw_rows *rows, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_tweets_term_key(r->tweets, &r->key, id);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = r->snapshot, .family = GF_TWEETS_IDS_ROWS,
                                        .prefix = gf_buffer_view(&r->key), .keys_only = true);
    gf_status st = gf_buffer_check(&r->key, err);
    if (st == GF_OK) st = gf_scan_open(r->tweets->ids, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &r->row, err)) == GF_OK)
        st = gf_raw_rows_add(rows, r->row.cells[0].qualifier, err);
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status select_id(gf_tweets_reading *r, gf_slice id, bool indexed, gf_raw_rows *rows,
                           gf_error *err)
{
    int64_t seconds;
    gf_status st = look_up_row(r, id, rows, err);
    if (st == GF_OK && gf_tweets_id_seconds(id, &seconds))
        st = look_at_second(r, id, seconds, rows, err);
    return st == GF_OK && indexed ? look_in_index(r, id, rows, err) : st;
}

/* Ids that were asked for, and those of them that were found. */
typedef struct wanted {
    gf_strings ids;
    bool *found; /* ids.n of capacity */
    size_t capacity;
    size_t missing;
} wanted;

static gf_status add_wanted(wanted *w, gf_slice id, bool found, gf_error *err)
{
    uint32_t at;
    bool added;
    gf_status st = gf_strings_add(&w->ids, id, &at, &added, err);
    if (st == GF_OK && !gf_grow(&w->found, &w->capacity, w->ids.n, sizeof *w->found))
        st = gf_fail_memory(err, "ids");
    if (st != GF_OK || !added) return st;
    w->found[at] = found;
    w->missing += !found;
    return GF_OK;
}

static gf_status look_for_all(gf_tweets_reading *r, wanted *w, gf_raw_rows *rows, gf_error *err)
{
    gf_slice raw, json = r->row.cells[0].value;
    gf_tweet tweet;
    gf_status st = gf_cancel_check(r->query->cancel, err);
    if (st == GF_OK) st = gf_tweets_part(r->tweets, r->row.key, GF_TWEET_ROW, &raw, err);
    if (st == GF_OK) st = gf_tweets_parse_stored(r->parser, json, &tweet, err);
    if (st != GF_OK || !gf_tweets_id_is_odd(&tweet)) return st;
    uint32_t at = gf_strings_find(&w->ids, tweet.id);
    if (at == GF_STRING_NONE) return GF_OK;
    w->found[at] = true;
    return gf_raw_rows_add(rows, raw, err);
}

/* Without the index: odd tweets of any id that was asked for. */
static gf_status walk_over_all(gf_tweets_reading *r, wanted *w, gf_raw_rows *rows, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_status st = gf_tweets_open_time(r, 0, GF_TWEET_LAST_SECOND, false, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &r->row, err)) == GF_OK)
        st = look_for_all(r, w, rows, err);
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_tweets_select_ids(gf_tweets_reading *r, bool indexed, gf_raw_rows *rows, gf_error *err)
{
    const gf_tweets_query *q = r->query;
    wanted w = {.missing = 0};
    gf_status st = GF_OK;
    for (size_t i = 0; i < q->n_ids && st == GF_OK; i++) {
        size_t before = rows->n;
        st = gf_cancel_check(q->cancel, err);
        if (st == GF_OK) st = select_id(r, q->ids[i], indexed, rows, err);
        if (st == GF_OK) st = add_wanted(&w, q->ids[i], rows->n > before, err);
    }
    if (st == GF_OK && w.missing && !indexed) st = walk_over_all(r, &w, rows, err);
    for (uint32_t i = 0; i < w.ids.n && st == GF_OK && q->absent; i++)
        if (!w.found[i]) st = q->absent(q->context, gf_strings_at(&w.ids, i), err);
    gf_raw_rows_sort(rows);
    gf_strings_release(&w.ids);
    gf_free(w.found);
    return st;
}

gf_status gf_tweets_any_odd(gf_tweets_reading *r, bool *any, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_tweet tweet;
    *any = false;
    gf_status st = gf_tweets_open_time(r, 0, GF_TWEET_LAST_SECOND, false, &scan, err);
    while (st == GF_OK && !*any && (st = gf_scan_next(scan, &r->row, err)) == GF_OK) {
        st = gf_tweets_parse_stored(r->parser, r->row.cells[0].value, &tweet, err);
        *any = st == GF_OK && gf_tweets_id_is_odd(&tweet);
    }
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}
