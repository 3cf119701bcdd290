#include "engine/search/query.h"

#include "base/utf8.h"

typedef struct parsing {
    gf_slice text;
    size_t at; /* byte */
    gf_query *q;
} parsing;

/* Characters up to a byte, from 1. */
static size_t position_of(const parsing *p, size_t byte)
{
    return gf_utf8_count(gf_slice_of(p->text.ptr, byte)) + 1;
}

static gf_status fail_at(const parsing *p, size_t byte, const char *what, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "query, character %zu: %s", position_of(p, byte), what);
}

static bool is_space(char c)
{
    unsigned char u = (unsigned char)c;
    return u <= ' ' || u == 0x7f;
}

static void skip_spaces(parsing *p)
{
    while (p->at < p->text.len && is_space(p->text.ptr[p->at]))
        p->at++;
}

/* From the opening quote on. */
static gf_status take_phrase(parsing *p, gf_query_item *item, gf_error *err)
{
    size_t open = p->at++;
    const char *start = p->text.ptr + p->at;
    const char *end = memchr(start, '"', p->text.len - p->at);
    if (!end) return fail_at(p, open, "this quote is not closed", err);
    item->text = gf_slice_of(start, (size_t)(end - start));
    item->is_phrase = true;
    p->at += item->text.len + 1;
    if (p->at < p->text.len && p->text.ptr[p->at] == '*')
        return fail_at(p, p->at, "a star goes behind a word, not behind a quote", err);
    return GF_OK;
}

static gf_status take_word(parsing *p, gf_query_item *item, gf_error *err)
{
    size_t start = p->at;
    while (p->at < p->text.len && !is_space(p->text.ptr[p->at]) && p->text.ptr[p->at] != '"')
        p->at++;
    item->text = gf_slice_of(p->text.ptr + start, p->at - start);
    if (!gf_slice_ends(item->text, GF_SLICE("*"))) return GF_OK;
    item->is_prefix = true;
    while (gf_slice_ends(item->text, GF_SLICE("*")))
        item->text.len--;
    if (item->text.len == 0) return fail_at(p, start, "a star needs a word before it", err);
    return GF_OK;
}

static gf_status take_item(parsing *p, gf_error *err)
{
    gf_query_item item = {.position = position_of(p, p->at)};
    size_t start = p->at;
    if (p->q->n == GF_QUERY_ITEMS)
        return gf_fail(err, GF_EINVAL, "query, character %zu: more than %d words", item.position,
                       GF_QUERY_ITEMS);
    item.excludes = p->text.ptr[p->at] == '-';
    p->at += item.excludes;
    if (p->at == p->text.len || is_space(p->text.ptr[p->at]))
        return fail_at(p, start, "a minus needs a word behind it", err);
    gf_status st =
        p->text.ptr[p->at] == '"' ? take_phrase(p, &item, err) : take_word(p, &item, err);
    if (st == GF_OK) p->q->items[p->q->n++] = item;
    return st;
}

static bool seeks_anything(const gf_query *q)
{
    for (size_t i = 0; i < q->n; i++)
        if (!q->items[i].excludes) return true;
    return false;
}

gf_status gf_query_parse(gf_slice text, gf_query *query, gf_error *err)
{
    gf_query q;
    parsing p = {.text = text, .q = &q};
    gf_status st = GF_OK;
    q.n = 0;
    if (text.len > GF_QUERY_BYTES)
        return gf_fail(err, GF_EINVAL, "the query is longer than %d bytes", GF_QUERY_BYTES);
    size_t valid = gf_utf8_valid_length(text);
    if (valid < text.len) return fail_at(&p, valid, "this is not valid UTF-8", err);
    skip_spaces(&p);
    while (st == GF_OK && p.at < text.len) {
        st = take_item(&p, err);
        skip_spaces(&p);
    }
    if (st != GF_OK) return st;
    if (q.n == 0) return gf_fail(err, GF_EINVAL, "the query is empty");
    if (!seeks_anything(&q)) return gf_fail(err, GF_EINVAL, "the query only says what not to find");
    *query = q;
    return GF_OK;
}
