#include "apps/tweets/arguments_internal.h"

#include "base/clock.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/filter.h"

#include <stdio.h>

/* ---- the tables ------------------------------------------------------------------------------ */

gf_status gf_tweets_of_call(const gf_call *call, gf_tweets **tweets, gf_error *err)
{
    gf_store *store;
    gf_tweets *opened = NULL;
    gf_tweets_info info;
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_tweets_open(store, call->name_space, &opened, err);
    if (st == GF_OK) st = gf_tweets_read_info(opened, &info, err);
    if (st == GF_OK && !info.any)
        st = gf_fail(err, GF_ENOTFOUND,
                     "namespace \"%.*s\" has no tweets; grouperfish tweets import makes some",
                     GF_SLICE_ARG(call->name_space));
    if (st != GF_OK) {
        gf_tweets_close(opened);
        return st;
    }
    *tweets = opened;
    return GF_OK;
}

/* ---- times ----------------------------------------------------------------------------------- */

static bool is_digits(gf_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9') return false;
    return s.len > 0;
}

/* 201605051430 */
static bool read_minute(gf_slice s, int64_t *ms)
{
    char iso[17];
    if (s.len != 12 || !is_digits(s)) return false;
    snprintf(iso, sizeof iso, "%.4s-%.2s-%.2sT%.2s:%.2s", s.ptr, s.ptr + 4, s.ptr + 6, s.ptr + 8,
             s.ptr + 10);
    return gf_clock_parse_iso(gf_slice_str(iso), ms);
}

/* Seconds to the end of what the text names: a day, a minute, or a second. */
static int64_t length_of(gf_slice text)
{
    bool dated = text.len >= 10 && text.ptr[4] == '-';
    if (dated && text.len == 10) return 86399;
    return (dated && text.len == 16) || (text.len == 12 && is_digits(text)) ? 59 : 0;
}

gf_status gf_tweets_time_of_call(const gf_call *call, const char *name, bool is_end,
                                 int64_t otherwise, int64_t *seconds, gf_error *err)
{
    gf_slice text = gf_call_text(call, name);
    int64_t ms;
    *seconds = otherwise;
    if (text.len == 0) return GF_OK;
    if (!read_minute(text, &ms) && !gf_filter_read_moment(text, gf_clock_ms(), &ms))
        return gf_fail(err, GF_EINVAL,
                       "%s: \"%.*s\" is no time, such as 201605051430, 2016-05-05T14:30:00Z or 30d",
                       name, GF_SLICE_ARG(text));
    *seconds = ms / 1000 - (ms % 1000 < 0) + (is_end ? length_of(text) : 0);
    if (*seconds >= 0 && *seconds <= GF_TWEET_LAST_SECOND) return GF_OK;
    return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is not in the days 1970-01-01 to 2059-09-18", name,
                   GF_SLICE_ARG(text));
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static bool read_box(gf_slice text, gf_geo_box *box)
{
    double edges[4];
    for (int i = 0; i < 4; i++) {
        const char *comma = memchr(text.ptr, ',', text.len);
        if ((comma != NULL) != (i < 3)) return false;
        size_t n = comma ? (size_t)(comma - text.ptr) : text.len;
        if (!gf_number_read_decimal(gf_slice_of(text.ptr, n), &edges[i])) return false;
        text = gf_slice_skip(text, comma ? n + 1 : n);
    }
    *box = (gf_geo_box){edges[0], edges[1], edges[2], edges[3]};
    return gf_geo_box_is_valid(box);
}

gf_status gf_tweets_query_of_call(const gf_call *call, uint64_t limit, gf_geo_box *box,
                                  gf_tweets_query *query, gf_error *err)
{
    gf_slice text = gf_call_text(call, "box"), user = gf_call_text(call, "user");
    if (gf_slice_starts(user, GF_SLICE("@"))) user = gf_slice_skip(user, 1);
    if (gf_call_has(call, "user") && !user.len)
        return gf_fail(err, GF_EINVAL, "user: \"@\" is no name");
    *query = (gf_tweets_query){.box = text.len ? box : NULL,
                               .user = user,
                               .user_id = gf_call_text(call, "user-id"),
                               .languages = gf_call_text(call, "lang"),
                               .limit = gf_call_number(call, "limit", limit),
                               .cancel = call->cancel};
    if (text.len && !read_box(text, box))
        return gf_fail(err, GF_EINVAL,
                       "box: \"%.*s\" is none: WEST,SOUTH,EAST,NORTH in degrees, latitudes -90 to "
                       "90, south first, longitudes -180 to 180",
                       GF_SLICE_ARG(text));
    gf_status st = gf_tweets_time_of_call(call, "from", false, 0, &query->from, err);
    if (st == GF_OK)
        st = gf_tweets_time_of_call(call, "to", true, GF_TWEET_LAST_SECOND, &query->to, err);
    if (st == GF_OK && query->to < query->from)
        st = gf_fail(err, GF_EINVAL, "the range ends before it begins");
    return st;
}

static unsigned fields_of(const gf_call *call)
{
    gf_slice field = gf_call_text_or(call, "field", "both");
    if (gf_slice_equal(field, GF_SLICE("text"))) return GF_TWEETS_TERM_TEXT;
    if (gf_slice_equal(field, GF_SLICE("user"))) return GF_TWEETS_TERM_USER;
    return GF_TWEETS_TERM_TEXT | GF_TWEETS_TERM_USER;
}

gf_status gf_tweets_tokens_of_call(const gf_call *call, gf_slice **tokens, gf_tweets_query *query,
                                   gf_error *err)
{
    size_t n = gf_call_count(call, "token");
    gf_slice *all = gf_array(n, sizeof *all);
    if (!all) return gf_fail_memory(err, "arguments");
    for (size_t i = 0; i < n; i++)
        all[i] = gf_call_nth(call, "token", i);
    *tokens = all;
    query->tokens = all;
    query->n_tokens = n;
    query->fields = fields_of(call);
    return GF_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static gf_status put_json(gf_json_writer *w, const gf_tweets_parser *parser, gf_error *err)
{
    gf_buffer json = {0};
    gf_status st = gf_tweets_write_json(parser, &json, err);
    gf_json_key(w, "tweet");
    if (st == GF_OK) gf_json_raw(w, gf_buffer_view(&json));
    gf_buffer_release(&json);
    return st;
}

static void put_text(gf_json_writer *w, const char *name, gf_slice text)
{
    if (text.len) gf_json_put_string(w, name, text);
}

static void put_row(gf_json_writer *w, gf_slice row)
{
    gf_buffer digits = {0};
    gf_hex_append(&digits, row);
    gf_json_put_string(w, "row", gf_buffer_view(&digits));
    if (digits.state != GF_OK) w->out->state = digits.state;
    gf_buffer_release(&digits);
}

static gf_status emit_tweet(gf_row_writer *row, const gf_tweet *t, const gf_tweets_parser *parser,
                            bool whole, gf_error *err)
{
    gf_json_writer *w = gf_row_writer_begin(row);
    put_text(w, "id", t->id);
    gf_row_put_time(w, "time", t->seconds * 1000);
    gf_json_put_string(w, "lang", t->lang);
    put_text(w, "screen_name", t->screen_name);
    put_text(w, "name", t->name);
    if (t->has_place) {
        gf_json_put_double(w, "latitude", t->place.latitude);
        gf_json_put_double(w, "longitude", t->place.longitude);
    }
    gf_json_put_string(w, "text", t->text);
    put_row(w, t->row);
    gf_status st = whole ? put_json(w, parser, err) : GF_OK;
    return st == GF_OK ? gf_row_writer_emit(row, err) : st;
}

gf_status gf_tweets_emit(void *row_writer, gf_slice json, const gf_tweet *t,
                         const gf_tweets_parser *parser, gf_error *err)
{
    gf_row_writer *row = row_writer;
    (void)json;
    return emit_tweet(row, t, parser, gf_call_flag(row->call, "json"), err);
}

gf_status gf_tweets_emit_whole(void *row_writer, gf_slice json, const gf_tweet *t,
                               const gf_tweets_parser *parser, gf_error *err)
{
    (void)json;
    return emit_tweet(row_writer, t, parser, true, err);
}
