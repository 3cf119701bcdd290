/* Tweets as documents of a collection. */
#include "apps/tweets/tweets.h"

#include "base/clock.h"
#include "base/json/writer.h"
#include "base/number.h"

void gf_tweets_document_release(gf_tweets_document *d)
{
    gf_buffer_release(&d->bytes);
    gf_tweets_tags_release(&d->tags);
    *d = (gf_tweets_document){.bytes = {0}};
}

/* ---- a tweet's document ---------------------------------------------------------------------- */

/* Ends of the parts in d->bytes, which moves while it grows. */
typedef struct parts {
    size_t id, time;
    size_t fields[GF_TWEET_FIELDS];
} parts;

static void write_row(gf_buffer *b, gf_slice json, int64_t seconds)
{
    char row[GF_TWEET_ROW];
    gf_tweets_row(GF_TWEETS_MURMUR2, seconds, json, row);
    for (int i = 0; i < GF_TWEET_ROW; i++)
        gf_buffer_format(b, "%02x", (unsigned char)row[i]);
}

static void write_text(gf_buffer *b, gf_slice text)
{
    if (text.len) gf_json_append_string(b, text);
}

static void write_tags(gf_buffer *b, const gf_tweets_tags *tags)
{
    for (size_t i = 0; i < tags->n; i++) {
        gf_buffer_byte(b, i ? ',' : '[');
        gf_json_append_string(b, tags->tags[i]);
    }
    if (tags->n) gf_buffer_byte(b, ']');
}

static void write_parts(gf_tweets_document *d, gf_slice json, const gf_tweet *t, parts *ends)
{
    gf_buffer *b = &d->bytes;
    gf_buffer_reset(b);
    if (!t->id.len || t->id.len > GF_MAX_ID) write_row(b, json, t->seconds);
    ends->id = b->len;
    gf_buffer_byte(b, '"');
    gf_clock_write_iso(b, t->seconds * 1000);
    gf_buffer_byte(b, '"');
    ends->time = b->len;
    for (int i = 0; i < GF_TWEET_FIELDS; i++) {
        if (i == 0) write_text(b, t->screen_name);
        if (i == 1) write_text(b, t->name);
        if (i == 2) write_text(b, t->user_id);
        if (i == 3 && t->has_place) gf_json_append_double(b, t->place.latitude);
        if (i == 4 && t->has_place) gf_json_append_double(b, t->place.longitude);
        if (i == 5) write_tags(b, &d->tags);
        ends->fields[i] = b->len;
    }
}

static gf_slice slice_between(const gf_buffer *b, size_t begin, size_t end)
{
    return gf_slice_of(b->ptr + begin, end - begin);
}

gf_status gf_tweets_to_document(gf_tweets_document *d, gf_slice json, const gf_tweet *t,
                                gf_error *err)
{
    static const char *const names[GF_TWEET_FIELDS] = {"screen_name", "name",      "user_id",
                                                       "latitude",    "longitude", "hashtags"};
    parts ends;
    gf_status st = gf_tweets_find_tags(&d->tags, t, err);
    if (st != GF_OK) return st;
    write_parts(d, json, t, &ends);
    st = gf_buffer_check(&d->bytes, err);
    if (st != GF_OK) return st;
    gf_document *to = &d->document;
    *to = (gf_document){.id = ends.id ? slice_between(&d->bytes, 0, ends.id) : t->id,
                        .text = t->text,
                        .time = slice_between(&d->bytes, ends.id, ends.time),
                        .fields = d->fields};
    if (!gf_slice_equal(t->lang, GF_SLICE("und"))) to->language = t->lang;
    size_t begin = ends.time;
    for (int i = 0; i < GF_TWEET_FIELDS; begin = ends.fields[i++])
        if (ends.fields[i] > begin)
            d->fields[to->n_fields++] =
                (gf_field){gf_slice_str(names[i]), slice_between(&d->bytes, begin, ends.fields[i])};
    return GF_OK;
}
