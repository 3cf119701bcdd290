/*
 * From a line to a tweet. Members are looked at in one pass over the object; of several of one name
 * the last counts. A place that is not one (a number out of range, too few corners) is passed over:
 * the tweet is then not on the map, but everywhere else.
 */
#include "apps/tweets/tweets.h"
#include "formats/json_record.h"

#include "base/clock.h"
#include "base/json/writer.h"
#include "base/memory.h"

#include <inttypes.h>

struct gf_tweets_parser {
    gf_json_record_parser reading;
    gf_parsed_record parsed;
    gf_buffer id, user_id; /* of numbers as text */
    gf_buffer padded;      /* of gf_tweets_parse_stored */
};

gf_status gf_tweets_parser_create(gf_tweets_parser **parser, gf_error *err)
{
    gf_tweets_parser *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a parser");
    gf_status st = gf_json_record_parser_init(&p->reading, err);
    if (st != GF_OK) {
        gf_tweets_parser_free(p);
        return st;
    }
    *parser = p;
    return GF_OK;
}

void gf_tweets_parser_free(gf_tweets_parser *p)
{
    if (!p) return;
    gf_json_record_parser_release(&p->reading);
    gf_buffer_release(&p->id);
    gf_buffer_release(&p->user_id);
    gf_buffer_release(&p->padded);
    gf_free(p);
}

/* ---- members --------------------------------------------------------------------------------- */

/* Text; null counts as absent. False where it is something else. */
static bool read_text(gf_json_value v, gf_slice *text)
{
    gf_json_kind kind = gf_json_kind_of(v);
    if (kind == GF_JSON_STRING) *text = gf_json_get_string(v);
    return kind == GF_JSON_STRING || kind == GF_JSON_NULL;
}

static void read_number_as_text(gf_json_value v, gf_buffer *digits, gf_slice *text)
{
    gf_json_kind kind = gf_json_kind_of(v);
    if (kind != GF_JSON_INT && kind != GF_JSON_UINT) return;
    gf_buffer_reset(digits);
    if (kind == GF_JSON_INT)
        gf_buffer_format(digits, "%" PRId64, gf_json_get_int(v));
    else
        gf_buffer_format(digits, "%" PRIu64, gf_json_get_uint(v));
    *text = gf_buffer_view(digits);
}

static bool is_named(gf_slice name, const char *what, size_t n)
{
    return name.len == n && memcmp(name.ptr, what, n) == 0;
}
#define IS(name, what) is_named((name), "" what, sizeof(what) - 1)

static bool read_user(gf_tweets_parser *p, gf_json_value user, gf_tweet *t)
{
    gf_slice name, id_str = {0};
    gf_json_value v;
    if (gf_json_kind_of(user) == GF_JSON_NULL) return true;
    if (gf_json_kind_of(user) != GF_JSON_OBJECT) return false;
    gf_json_iterator it = gf_json_items(user);
    bool good = true;
    while (good && gf_json_next(&it, &name, &v)) {
        if (IS(name, "name"))
            good = read_text(v, &t->name);
        else if (IS(name, "screen_name"))
            good = read_text(v, &t->screen_name);
        else if (IS(name, "id_str"))
            good = read_text(v, &id_str);
        else if (IS(name, "id"))
            read_number_as_text(v, &p->user_id, &t->user_id);
    }
    if (id_str.len) t->user_id = id_str;
    return good;
}

/* Values that are put together from several members. */
typedef struct found {
    gf_slice id_str, created_at, full_text, text;
    bool has_text, has_time, has_box, has_point;
    gf_geo_point box, point;
    bool is_message; /* of the stream, such as {"delete": ...} */
} found;

static bool is_message(gf_slice name)
{
    static const char *const names[] = {
        "delete",  "limit", "scrub_geo", "status_withheld", "user_withheld", "disconnect",
        "warning", "event", "friends",   "friends_str",     "direct_message"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gf_slice_equal(name, gf_slice_str(names[i]))) return true;
    return false;
}

/* The member's name where its type is wrong, else NULL. */
static const char *read_member(gf_tweets_parser *p, const gf_member *m, gf_tweet *t, found *f)
{
    gf_slice name = m->name;
    if (IS(name, "text")) {
        f->has_text = gf_json_kind_of(m->json) != GF_JSON_NULL;
        return read_text(m->json, &f->text) ? NULL : "text";
    }
    if (IS(name, "created_at")) {
        f->has_time = gf_json_kind_of(m->json) != GF_JSON_NULL;
        return read_text(m->json, &f->created_at) ? NULL : "created_at";
    }
    if (IS(name, "id_str")) return read_text(m->json, &f->id_str) ? NULL : "id_str";
    if (IS(name, "id")) read_number_as_text(m->json, &p->id, &t->id);
    if (IS(name, "user")) return read_user(p, m->json, t) ? NULL : "user";
    if (IS(name, "lang")) return read_text(m->json, &t->lang) ? NULL : "lang";
    if (IS(name, "full_text")) return read_text(m->json, &f->full_text) ? NULL : "full_text";
    if (IS(name, "coordinates")) f->has_point = gf_geo_point_read_coordinates(m->json, &f->point);
    if (IS(name, "place")) f->has_box = gf_geo_point_read_bounding_box(m->json, &f->box);
    f->is_message = f->is_message || is_message(name);
    return NULL;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void check_time(gf_parsed_record *d, const found *f, gf_tweet *t)
{
    int64_t ms;
    if (!f->has_time) {
        gf_parsed_record_refuse(d, "no_time", "no field \"created_at\"");
    } else if (!gf_clock_parse_words(f->created_at, &ms) &&
               !gf_clock_parse_iso(f->created_at, &ms)) {
        gf_parsed_record_refuse(d, "bad_time", "field \"created_at\" is not a time: \"%.*s\"",
                                (int)(f->created_at.len > 40 ? 40 : f->created_at.len),
                                f->created_at.ptr);
    } else if (ms < 0 || ms / 1000 > GF_TWEET_LAST_SECOND) {
        gf_parsed_record_refuse(
            d, "bad_time",
            "its day is not one of 1970-01-01 to 2059-09-18, which the index can name");
    } else {
        t->seconds = ms / 1000;
    }
}

static void check_lengths(gf_parsed_record *d, const gf_tweet *t)
{
    if (t->name.len > GF_TWEETS_MOST_TERM || t->screen_name.len > GF_TWEETS_MOST_TERM ||
        t->lang.len > GF_TWEETS_MOST_TERM)
        gf_parsed_record_refuse(d, "too_long", "a name of more than %d bytes",
                                (int)GF_TWEETS_MOST_TERM);
    size_t run = 0; /* a key has NUL as two bytes */
    for (size_t i = 0; i < t->text.len && d->kind == GF_RECORD_DOCUMENT; i++) {
        char c = t->text.ptr[i];
        run = c == ' ' || (c >= 9 && c <= 13) ? 0 : run + 1 + (c == 0);
        if (run > GF_TWEETS_MOST_TERM)
            gf_parsed_record_refuse(d, "too_long", "a word of more than %d bytes",
                                    (int)GF_TWEETS_MOST_TERM);
    }
}

static void put_together(gf_parsed_record *d, const found *f, gf_tweet *t)
{
    if (f->is_message && !f->has_text && !f->full_text.len) {
        gf_parsed_record_skip(d, "stream_message", "a message of the stream, and no tweet");
        return;
    }
    if (!f->has_text && !f->full_text.len) {
        gf_parsed_record_refuse(d, "no_text", "no field \"text\"");
        return;
    }
    check_time(d, f, t);
    t->text = f->has_text ? f->text : f->full_text;
    if (f->id_str.len) t->id = f->id_str;
    if (!t->lang.len) t->lang = GF_SLICE("und");
    t->has_place = f->has_point || f->has_box;
    if (t->has_place) t->place = f->has_point ? f->point : f->box;
    if (d->kind == GF_RECORD_DOCUMENT) check_lengths(d, t);
}

static void read_members(gf_tweets_parser *p, gf_tweet *t)
{
    found f = {.has_text = false};
    const char *wrong = NULL;
    for (size_t i = 0; i < p->parsed.n_members && !wrong; i++)
        wrong = read_member(p, &p->parsed.members[i], t, &f);
    if (wrong)
        gf_parsed_record_refuse(&p->parsed, "bad_type", "field \"%s\" is of a wrong type", wrong);
    else
        put_together(&p->parsed, &f, t);
}

gf_status gf_tweets_parse(gf_tweets_parser *p, gf_slice json, gf_tweet *tweet, gf_record *record,
                          gf_error *err)
{
    gf_tweet t = {0};
    p->parsed.kind = GF_RECORD_DOCUMENT;
    p->parsed.replaced = 0;
    p->parsed.members = NULL;
    p->parsed.n_members = 0;
    gf_status st = gf_json_record_parse(&p->reading, json, &p->parsed, err);
    if (st != GF_OK) return st;
    if (p->parsed.kind == GF_RECORD_DOCUMENT) read_members(p, &t);
    if (p->id.state != GF_OK || p->user_id.state != GF_OK) return gf_fail_memory(err, "a tweet");
    record->kind = p->parsed.kind;
    record->reason = p->parsed.reason;
    record->message = p->parsed.why.message;
    record->replaced = (uint32_t)p->parsed.replaced;
    if (p->parsed.kind == GF_RECORD_DOCUMENT) *tweet = t;
    return GF_OK;
}

gf_status gf_tweets_parse_stored(gf_tweets_parser *p, gf_slice json, gf_tweet *tweet, gf_error *err)
{
    gf_record record = {.kind = GF_RECORD_DOCUMENT};
    gf_buffer_reset(&p->padded);
    gf_buffer_slice(&p->padded, json);
    gf_buffer_reserve(&p->padded, GF_JSON_PADDING);
    gf_status st = gf_buffer_check(&p->padded, err);
    if (st == GF_OK) st = gf_tweets_parse(p, gf_buffer_view(&p->padded), tweet, &record, err);
    if (st != GF_OK || record.kind == GF_RECORD_DOCUMENT) return st;
    return gf_fail(err, GF_ECORRUPT, "table RawTwitterData: a row is no tweet: %s", record.message);
}

gf_status gf_tweets_write_json(const gf_tweets_parser *p, gf_buffer *out, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < p->parsed.n_members && st == GF_OK; i++) {
        gf_buffer_byte(out, i ? ',' : '{');
        gf_json_append_string(out, p->parsed.members[i].name);
        gf_buffer_byte(out, ':');
        st = gf_json_write(p->parsed.members[i].json, out, err);
    }
    gf_buffer_str(out, p->parsed.n_members ? "}" : "{}");
    return st == GF_OK ? gf_buffer_check(out, err) : st;
}
