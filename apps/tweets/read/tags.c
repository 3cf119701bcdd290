/*
 * The hashtags of a tweet: as its entities have them, else those of its text, which are # and the
 * word characters behind it (letters, marks, digits, _ and the like of all scripts), as the regular
 * expression #\w+ finds them. One behind & is none: "&#39;" is an apostrophe.
 */
#include "apps/tweets/tweets.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <unicode/uchar.h>

void gf_tweets_tags_release(gf_tweets_tags *t)
{
    gf_free(t->tags);
    gf_free(t->ends);
    gf_buffer_release(&t->bytes);
    *t = (gf_tweets_tags){.n = 0};
}

/* Append "#" and the tag in lower case; where they end is kept, as the bytes may still move. */
static gf_status add_tag(gf_tweets_tags *t, gf_slice tag, gf_error *err)
{
    if (!gf_grow(&t->ends, &t->end_capacity, t->n + 1, sizeof *t->ends))
        return gf_fail_memory(err, "hashtags");
    gf_buffer_byte(&t->bytes, '#');
    gf_status st = gf_tweets_lower_case(tag, &t->bytes, err);
    t->ends[t->n] = t->bytes.len;
    t->n++;
    return st == GF_OK ? gf_buffer_check(&t->bytes, err) : st;
}

/* ---- from the entities ----------------------------------------------------------------------- */

/* "text" of the API 1.1, "tag" of the API 2. */
static bool read_entity(gf_json_value entity, gf_slice *tag)
{
    static const char *const names[] = {"text", "tag"};
    gf_json_value v;
    if (gf_json_kind_of(entity) != GF_JSON_OBJECT) return false;
    for (size_t i = 0; i < 2; i++) {
        if (!gf_json_member(entity, names[i], &v) || gf_json_kind_of(v) != GF_JSON_STRING) continue;
        *tag = gf_json_get_string(v);
        return tag->len > 0 && tag->len <= GF_TWEETS_MOST_TERM;
    }
    return false;
}

static gf_status add_entities(gf_tweets_tags *t, gf_json_value hashtags, gf_error *err)
{
    gf_json_iterator it = gf_json_items(hashtags);
    gf_json_value entity;
    gf_slice tag;
    gf_status st = GF_OK;
    while (st == GF_OK && gf_json_next(&it, NULL, &entity))
        if (read_entity(entity, &tag)) st = add_tag(t, tag, err);
    return st;
}

/* ---- from the text --------------------------------------------------------------------------- */

/* Unicode's \w (UTS 18, annex C). */
static bool is_word_character(uint32_t c)
{
    const uint32_t marks_digits_connectors = U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK;
    return u_isUAlphabetic((UChar32)c) || (U_GET_GC_MASK((UChar32)c) & marks_digits_connectors) ||
           u_hasBinaryProperty((UChar32)c, UCHAR_JOIN_CONTROL);
}

/* Bytes of the word characters that the text begins with. */
static size_t word_length(gf_slice text)
{
    size_t end = 0;
    while (end < text.len) {
        size_t next = end;
        if (!is_word_character(gf_utf8_next(text, &next))) break;
        end = next;
    }
    return end;
}

static gf_status add_words(gf_tweets_tags *t, gf_slice text, gf_error *err)
{
    gf_status st = GF_OK;
    const char *begin = text.ptr, *sign;
    while (st == GF_OK && text.len && (sign = memchr(text.ptr, '#', text.len))) {
        text = gf_slice_skip(text, (size_t)(sign - text.ptr) + 1);
        size_t n = word_length(text);
        if (n && (sign == begin || sign[-1] != '&')) st = add_tag(t, gf_slice_of(text.ptr, n), err);
        text = gf_slice_skip(text, n);
    }
    return st;
}

/* ---- all of a tweet -------------------------------------------------------------------------- */

static int compare_tags(const void *a, const void *b)
{
    return gf_slice_compare(*(const gf_slice *)a, *(const gf_slice *)b);
}

/* In order of their bytes, each once. */
static gf_status settle_tags(gf_tweets_tags *t, gf_error *err)
{
    size_t begin = 0, n = 0;
    if (t->n == 0) return GF_OK;
    if (!gf_grow(&t->tags, &t->capacity, t->n, sizeof *t->tags))
        return gf_fail_memory(err, "hashtags");
    for (size_t i = 0; i < t->n; begin = t->ends[i++])
        t->tags[i] = gf_slice_of(t->bytes.ptr + begin, t->ends[i] - begin);
    qsort(t->tags, t->n, sizeof *t->tags, compare_tags);
    for (size_t i = 0; i < t->n; i++)
        if (n == 0 || !gf_slice_equal(t->tags[n - 1], t->tags[i])) t->tags[n++] = t->tags[i];
    t->n = n;
    return GF_OK;
}

gf_status gf_tweets_find_tags(gf_tweets_tags *t, const gf_tweet *tweet, gf_error *err)
{
    t->n = 0;
    gf_buffer_reset(&t->bytes);
    gf_status st = tweet->has_hashtags ? add_entities(t, tweet->hashtags, err)
                                       : add_words(t, tweet->text, err);
    return st == GF_OK ? settle_tags(t, err) : st;
}
