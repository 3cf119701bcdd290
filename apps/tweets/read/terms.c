/* The terms of a tweet: what TermIndex has of it, and what is looked for in it. */
#include "apps/tweets/tweets.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <unicode/ucasemap.h>

/* ---- lower case ------------------------------------------------------------------------------ */

static bool is_ascii(gf_slice s)
{
    unsigned char all = 0;
    for (size_t i = 0; i < s.len; i++)
        all |= (unsigned char)s.ptr[i];
    return all < 0x80;
}

static void lower_ascii(gf_slice text, char *to)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        to[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
}

static gf_status icu_failed(UErrorCode code, gf_error *err)
{
    if (code == U_MEMORY_ALLOCATION_ERROR) return gf_fail_memory(err, "a text in lower case");
    return gf_fail(err, GF_ELIMIT, "a text cannot be lowered: %s", u_errorName(code));
}

/* A case map without a language is one for all threads; ICU takes none of ours to allocate it. */
static gf_status lower_unicode(gf_slice text, gf_buffer *out, gf_error *err)
{
    if (text.len > INT32_MAX / 4) return gf_fail(err, GF_ELIMIT, "a text of %zu bytes", text.len);
    UErrorCode code = U_ZERO_ERROR;
    UCaseMap *map = ucasemap_open("", 0, &code);
    if (U_FAILURE(code)) return icu_failed(code, err);
    size_t room = text.len * 3; /* U+0130 becomes i and U+0307: of two bytes three */
    char *to = gf_buffer_reserve(out, room);
    int32_t n = 0;
    if (to) n = ucasemap_utf8ToLower(map, to, (int32_t)room, text.ptr, (int32_t)text.len, &code);
    ucasemap_close(map);
    if (!to) return gf_buffer_check(out, err);
    if (U_FAILURE(code)) return icu_failed(code, err);
    out->len += (size_t)n;
    return GF_OK;
}

gf_status gf_tweets_lower_case(gf_slice text, gf_buffer *out, gf_error *err)
{
    if (!is_ascii(text)) return lower_unicode(text, out, err);
    char *to = gf_buffer_reserve(out, text.len ? text.len : 1);
    if (!to) return gf_buffer_check(out, err);
    lower_ascii(text, to);
    out->len += text.len;
    return GF_OK;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Bytes of the white space that s starts with (Unicode's White_Space); 0 where it is none. */
static size_t white_space(const char *p, size_t n)
{
    unsigned char c = (unsigned char)p[0];
    if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
    if (c != 0xC2 && c != 0xE1 && c != 0xE2 && c != 0xE3) return 0;
    size_t at = 0;
    uint32_t code = gf_utf8_next(gf_slice_of(p, n), &at);
    bool white = code == 0x85 || code == 0xA0 || code == 0x1680 ||
                 (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
                 code == 0x202F || code == 0x205F || code == 0x3000;
    return white ? at : 0;
}

static bool is_deleted(char c)
{
    static const bool deleted[128] = {
        ['.'] = true, [','] = true, [';'] = true,  [':'] = true, ['+'] = true,
        ['/'] = true, ['*'] = true, ['!'] = true,  ['?'] = true, ['('] = true,
        [')'] = true, ['['] = true, [']'] = true,  ['<'] = true, ['>'] = true,
        ['{'] = true, ['}'] = true, ['\''] = true, ['"'] = true};
    return (unsigned char)c < 128 && deleted[(unsigned char)c];
}

static gf_status add_term(gf_tweets_terms *t, gf_slice term, bool of_user, gf_error *err)
{
    if (!gf_grow(&t->terms, &t->capacity, t->n + 1, sizeof *t->terms))
        return gf_fail_memory(err, "terms");
    t->terms[t->n++] = (gf_tweets_term){term, of_user, 1};
    return GF_OK;
}

static gf_status add_word(gf_tweets_terms *t, gf_slice word, size_t characters, gf_error *err)
{
    gf_status st = characters >= 2 ? add_term(t, word, false, err) : GF_OK;
    if (st == GF_OK && characters >= 3 && (word.ptr[0] == '#' || word.ptr[0] == '@'))
        st = add_term(t, gf_slice_skip(word, 1), false, err);
    return st;
}

/* text is in lower case; the words go to t->bytes, which has room for them. */
static gf_status add_words(gf_tweets_terms *t, gf_slice text, gf_error *err)
{
    char *to = t->bytes.ptr + t->bytes.len, *word = to;
    size_t characters = 0;
    gf_status st = GF_OK;
    for (size_t i = 0; i < text.len && st == GF_OK;) {
        char c = text.ptr[i];
        size_t white = white_space(text.ptr + i, text.len - i);
        if (white) {
            st = add_word(t, gf_slice_of(word, (size_t)(to - word)), characters, err);
            word = to;
            characters = 0;
            i += white;
            continue;
        }
        i++;
        if (is_deleted(c)) continue;
        characters += ((unsigned char)c & 0xC0) != 0x80;
        *to++ = c;
    }
    if (st == GF_OK) st = add_word(t, gf_slice_of(word, (size_t)(to - word)), characters, err);
    t->bytes.len = (size_t)(to - t->bytes.ptr);
    return st;
}

/* ---- all of a tweet -------------------------------------------------------------------------- */

static int compare_terms(const void *a, const void *b)
{
    const gf_tweets_term *x = a, *y = b;
    if (x->of_user != y->of_user) return x->of_user ? 1 : -1;
    return gf_slice_compare(x->term, y->term);
}

/* Equal terms become one with their count. */
static void count_terms(gf_tweets_terms *t)
{
    size_t n = 0;
    if (t->n) qsort(t->terms, t->n, sizeof *t->terms, compare_terms);
    for (size_t i = 0; i < t->n; i++) {
        if (n && compare_terms(&t->terms[n - 1], &t->terms[i]) == 0)
            t->terms[n - 1].count++;
        else
            t->terms[n++] = t->terms[i];
    }
    t->n = n;
}

void gf_tweets_terms_release(gf_tweets_terms *t)
{
    gf_free(t->terms);
    gf_buffer_release(&t->lower);
    gf_buffer_release(&t->bytes);
    *t = (gf_tweets_terms){0};
}

/* The three texts in lower case, one behind the other; ends[i] is where the i-th ends. */
static gf_status lower_all(gf_tweets_terms *t, const gf_tweet *tweet, gf_tweets_rules rules,
                           size_t ends[3], gf_error *err)
{
    const gf_slice texts[3] = {tweet->name, tweet->screen_name,
                               rules == GF_TWEETS_RULES_SHORT ? tweet->short_text : tweet->text};
    gf_status st = GF_OK;
    gf_buffer_reset(&t->lower);
    for (int i = 0; i < 3 && st == GF_OK; i++) {
        st = gf_tweets_lower_case(texts[i], &t->lower, err);
        ends[i] = t->lower.len;
    }
    return st;
}

gf_status gf_tweets_find_terms(gf_tweets_terms *t, const gf_tweet *tweet, gf_tweets_rules rules,
                               gf_error *err)
{
    size_t ends[3];
    t->n = 0;
    gf_status st = lower_all(t, tweet, rules, ends, err);
    if (st != GF_OK) return st;
    gf_buffer_reset(&t->bytes);
    if (!gf_buffer_reserve(&t->bytes, t->lower.len + 1)) return gf_buffer_check(&t->bytes, err);
    gf_slice name = gf_slice_of(t->lower.ptr, ends[0]);
    gf_slice screen_name = gf_slice_of(t->lower.ptr + ends[0], ends[1] - ends[0]);
    if (name.len) st = add_term(t, name, true, err);
    if (st == GF_OK && screen_name.len) st = add_term(t, screen_name, true, err);
    gf_slice text = gf_slice_of(t->lower.ptr + ends[1], ends[2] - ends[1]);
    if (st == GF_OK) st = add_words(t, text, err);
    if (st == GF_OK) count_terms(t);
    return st;
}
