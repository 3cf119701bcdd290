/*
 * From a line to a tweet. Members are looked at in one pass over the object; of several of one name
 * the last counts. A place that is not one (a number out of range, too few corners) is passed over:
 * the tweet is then not on the map, but everywhere else. So is a whole text that is none, or has a
 * word of more bytes than a term may have: the short one is then the whole.
 *
 *     note_tweet.note_tweet_results.result.text    a long post of the API 1.1, cut in the others
 *     note_tweet.text                              of the API 2
 *     extended_tweet.full_text                     of a stream, where text is cut at 140 characters
 *     full_text                                    tweet_mode=extended
 *     text
 *     retweeted_status                             a tweet, whose own text here is "RT @x: ..." cut
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
    gf_buffer retweet;     /* a retweet's whole text */
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
    gf_buffer_release(&p->retweet);
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
    gf_json_value note, extended, retweeted, entities; /* objects, where the has_ say so */
    bool has_note, has_extended, has_retweeted, has_entities;
    const char *message; /* of the stream, such as {"delete": ...}; or NULL */
    gf_json_value deletion;
} found;

static const char *message_named(gf_slice name)
{
    static const char *const names[] = {
        "delete",  "limit", "scrub_geo", "status_withheld", "user_withheld", "disconnect",
        "warning", "event", "friends",   "friends_str",     "direct_message"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gf_slice_equal(name, gf_slice_str(names[i]))) return names[i];
    return NULL;
}

static bool take_object(gf_json_value v, gf_json_value *object)
{
    if (gf_json_kind_of(v) != GF_JSON_OBJECT) return false;
    *object = v;
    return true;
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
    if (IS(name, "note_tweet")) f->has_note = take_object(m->json, &f->note);
    if (IS(name, "extended_tweet")) f->has_extended = take_object(m->json, &f->extended);
    if (IS(name, "entities")) f->has_entities = take_object(m->json, &f->entities);
    if (IS(name, "retweeted_status")) f->has_retweeted = take_object(m->json, &f->retweeted);
    const char *message = message_named(name);
    if (message) f->message = message;
    if (message && IS(name, "delete")) f->deletion = m->json;
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

/* Whether no word has more bytes than a term may have; a key has NUL as two bytes. */
static bool words_fit(gf_slice text)
{
    size_t run = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        run = c == ' ' || (c >= 9 && c <= 13) ? 0 : run + 1 + (c == 0);
        if (run > GF_TWEETS_MOST_TERM) return false;
    }
    return true;
}

static void check_lengths(gf_parsed_record *d, const gf_tweet *t)
{
    if (t->name.len > GF_TWEETS_MOST_TERM || t->screen_name.len > GF_TWEETS_MOST_TERM ||
        t->lang.len > GF_TWEETS_MOST_TERM)
        gf_parsed_record_refuse(d, "too_long", "a name of more than %d bytes",
                                (int)GF_TWEETS_MOST_TERM);
    else if (!words_fit(t->short_text))
        gf_parsed_record_refuse(d, "too_long", "a word of more than %d bytes",
                                (int)GF_TWEETS_MOST_TERM);
}

/* ---- the whole text -------------------------------------------------------------------------- */

/* A member that is a string with something in it. */
static bool member_text(gf_json_value object, const char *name, gf_slice *text)
{
    gf_json_value v;
    if (!gf_json_member(object, name, &v) || gf_json_kind_of(v) != GF_JSON_STRING) return false;
    gf_slice all = gf_json_get_string(v);
    if (all.len) *text = all;
    return all.len > 0;
}

static bool member_object(gf_json_value object, const char *name, gf_json_value *member)
{
    return gf_json_member(object, name, member) && gf_json_kind_of(*member) == GF_JSON_OBJECT;
}

/* A text, and the hashtags of the entities that go with it. */
typedef struct whole {
    gf_slice text;
    gf_json_value hashtags;
    bool has_hashtags;
} whole;

/* Take the text that is a member of one name, and the hashtags of the entities that are of another. */
static bool take_whole(gf_json_value object, const char *text, const char *entities, whole *w)
{
    gf_json_value found_in;
    if (!member_text(object, text, &w->text)) return false;
    w->has_hashtags = member_object(object, entities, &found_in) &&
                      gf_json_member(found_in, "hashtags", &w->hashtags) &&
                      gf_json_kind_of(w->hashtags) == GF_JSON_ARRAY;
    return true;
}

static bool take_note(gf_json_value note, whole *w)
{
    gf_json_value results, result;
    if (member_object(note, "note_tweet_results", &results) &&
        member_object(results, "result", &result))
        return take_whole(result, "text", "entity_set", w);
    return take_whole(note, "text", "entities", w);
}

/* The whole text of a tweet that is a member. */
static bool take_tweet(gf_json_value tweet, whole *w)
{
    gf_json_value v;
    if (member_object(tweet, "note_tweet", &v) && take_note(v, w)) return true;
    if (member_object(tweet, "extended_tweet", &v) && take_whole(v, "full_text", "entities", w))
        return true;
    return take_whole(tweet, "full_text", "entities", w) ||
           take_whole(tweet, "text", "entities", w);
}

/* "RT @name: " and the whole text of the tweet that is told on. */
static bool take_retweet(gf_tweets_parser *p, gf_json_value retweeted, whole *w)
{
    gf_json_value user;
    gf_slice name;
    whole of_other;
    if (!member_object(retweeted, "user", &user) || !member_text(user, "screen_name", &name) ||
        !take_tweet(retweeted, &of_other))
        return false;
    gf_buffer_reset(&p->retweet);
    gf_buffer_str(&p->retweet, "RT @");
    gf_buffer_slice(&p->retweet, name);
    gf_buffer_str(&p->retweet, ": ");
    gf_buffer_slice(&p->retweet, of_other.text);
    if (p->retweet.state != GF_OK) return false; /* gf_tweets_parse says so */
    *w = of_other;
    w->text = gf_buffer_view(&p->retweet);
    return true;
}

static bool find_whole(gf_tweets_parser *p, const found *f, whole *w)
{
    return (f->has_retweeted && take_retweet(p, f->retweeted, w)) ||
           (f->has_note && take_note(f->note, w)) ||
           (f->has_extended && take_whole(f->extended, "full_text", "entities", w));
}

static void find_text(gf_tweets_parser *p, const found *f, gf_tweet *t)
{
    whole w = {.text = f->full_text.len && words_fit(f->full_text) ? f->full_text : t->short_text};
    whole longer;
    w.has_hashtags = f->has_entities && gf_json_member(f->entities, "hashtags", &w.hashtags) &&
                     gf_json_kind_of(w.hashtags) == GF_JSON_ARRAY;
    if (find_whole(p, f, &longer) && words_fit(longer.text)) w = longer;
    t->text = w.text;
    t->hashtags = w.hashtags;
    t->has_hashtags = w.has_hashtags;
}

/* ---- deletions of a stream ------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Digits, with white space around; false where it is something else, and *id stays. */
static bool take_digits(gf_slice text, gf_slice *id)
{
    while (text.len && is_space(text.ptr[0]))
        text = gf_slice_skip(text, 1);
    while (text.len && is_space(text.ptr[text.len - 1]))
        text.len--;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
    if (text.len == 0 || text.len > GF_MAX_ID) return false;
    *id = text;
    return true;
}

/* {"status": {"id": 1, "id_str": "1", "user_id": 3}}: false where no tweet is named. */
static bool read_deletion(gf_tweets_parser *p, gf_json_value deletion, gf_slice *id)
{
    gf_json_value status, v;
    gf_slice text = {0};
    if (gf_json_kind_of(deletion) != GF_JSON_OBJECT || !member_object(deletion, "status", &status))
        return false;
    if (member_text(status, "id_str", &text) && take_digits(text, id)) return true;
    if (member_text(status, "id", &text)) return take_digits(text, id);
    text = (gf_slice){0};
    if (gf_json_member(status, "id", &v)) read_number_as_text(v, &p->id, &text);
    return take_digits(text, id);
}

/* {"direct_message": {...}}: of no tweet. */
static bool is_of_direct_message(gf_json_value deletion)
{
    gf_json_value v;
    return gf_json_kind_of(deletion) == GF_JSON_OBJECT && !gf_json_member(deletion, "status", &v) &&
           member_object(deletion, "direct_message", &v);
}

static void take_message(gf_tweets_parser *p, const found *f, gf_tweet *t)
{
    gf_parsed_record *d = &p->parsed;
    *t = (gf_tweet){.message = f->message};
    if (strcmp(f->message, "delete") == 0) {
        if (is_of_direct_message(f->deletion)) {
            t->message = "direct_message";
        } else if (!read_deletion(p, f->deletion, &t->id)) {
            t->message = NULL;
            gf_parsed_record_refuse(d, "bad_deletion",
                                    "a \"delete\" whose status has no id_str or id of digits");
            return;
        }
    }
    gf_parsed_record_skip(d, "stream_message", "a message of the stream, and no tweet");
}

/* ---- the record ------------------------------------------------------------------------------ */

static void put_together(gf_tweets_parser *p, const found *f, gf_tweet *t)
{
    gf_parsed_record *d = &p->parsed;
    if (f->message && !f->has_text && !f->full_text.len) {
        take_message(p, f, t);
        return;
    }
    if (!f->has_text && !f->full_text.len) {
        gf_parsed_record_refuse(d, "no_text", "no field \"text\"");
        return;
    }
    check_time(d, f, t);
    t->short_text = f->has_text ? f->text : f->full_text;
    if (f->id_str.len) t->id = f->id_str;
    if (!t->lang.len) t->lang = GF_SLICE("und");
    t->has_place = f->has_point || f->has_box;
    if (t->has_place) t->place = f->has_point ? f->point : f->box;
    if (d->kind == GF_RECORD_DOCUMENT) check_lengths(d, t);
    if (d->kind == GF_RECORD_DOCUMENT) find_text(p, f, t);
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
        put_together(p, &f, t);
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
    if (p->id.state != GF_OK || p->user_id.state != GF_OK || p->retweet.state != GF_OK)
        return gf_fail_memory(err, "a tweet");
    record->kind = p->parsed.kind;
    record->reason = p->parsed.reason;
    record->message = p->parsed.why.message;
    record->replaced = (uint32_t)p->parsed.replaced;
    if (p->parsed.kind == GF_RECORD_DOCUMENT || t.message) *tweet = t;
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
