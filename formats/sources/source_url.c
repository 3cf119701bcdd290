/*
 * The items of pages of JSON, which are asked for over HTTP one after the other.
 *
 *     {"tickets": [{...}, {...}], "next_page": "https://.../tickets?page=2"}
 *
 * The place is an object:
 *
 *     since    all that is not newer was read, in an earlier run
 *     next     address of the page to go on with; absent: the last run came to the end
 *     most     the newest of the run so far, which becomes `since` at its end: items may come in any order
 *     etag     of the only page, which is not sent again while it is the same
 *     of       hash of the address that the etag is of: a source may be named, and get another
 *
 * A page is asked for again, after 1, 2, 4, ... 60 seconds or what the server says (Retry-After), where the connection
 * broke, the status is 429 or 5xx, or the JSON was cut. Redirections are followed by ourselves: a page
 * of another origin is refused, or asked for without the headers.
 */
#include "formats/sources/json_path.h"
#include "formats/sources/source_internal.h"

#include "base/grow.h"
#include "base/http/address.h"
#include "base/http/client.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/murmur.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    ATTEMPTS = 6,
    MOST_REDIRECTS = 5,
    MOST_PAGE = 64 << 20, /* bytes */
    MOST_WAIT = 300,      /* seconds that a server may ask for */
    SILENT_SECONDS = 60,
    PAGE_SECONDS = 600,
    MEMBERS = 5,      /* of a place */
    MOST_VALUE = 1000 /* bytes of a value of `since`, of an etag */
};

typedef struct url_source {
    gf_source source;
    gf_source_url options;
    gf_json_path *items, *next;
    gf_http_client *http;
    CURLU *base;       /* the address that was given: the origin */
    gf_slice *headers; /* n_headers, in `header_lines` */
    size_t n_headers;
    gf_buffer header_lines;
    gf_json_parser *parser;

    gf_buffer since, most, etag, tag_of; /* tag_of: hash of the etag's address */
    gf_buffer page;                      /* address of the page to ask for next */
    bool resumed;                        /* that came from the place */
    uint64_t n_pages, power;
    gf_buffer tortoise; /* an earlier page's address: that one again is a loop (Brent) */

    gf_http_answer answer;
    gf_buffer answered; /* the address that gave it, after redirections */
    bool conditional;   /* the answer was asked for unless the page is the same */
} url_source;

/* ---- addresses ------------------------------------------------------------------------------- */

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
    char *x = gf_http_address_part(a, part), *y = gf_http_address_part(b, part);
    bool same = x && y && strcasecmp(x, y) == 0;
    curl_free(x);
    curl_free(y);
    return same;
}

static bool same_origin(CURLU *a, CURLU *b)
{
    return same_part(a, b, CURLUPART_SCHEME) && same_part(a, b, CURLUPART_HOST) &&
           same_part(a, b, CURLUPART_PORT);
}

static gf_status read_address(const char *url, CURLU **out, gf_error *err)
{
    return gf_http_address_read(
        url, "pages", "put the header Authorization into a file (--header-file)", out, err);
}

static gf_status set_from(gf_buffer *out, CURLU *u, gf_error *err)
{
    char *text = NULL;
    if (curl_url_get(u, CURLUPART_URL, &text, 0) != CURLUE_OK || !text)
        return gf_fail_memory(err, "an address");
    gf_buffer_reset(out);
    gf_buffer_str(out, text);
    curl_free(text);
    return gf_buffer_check(out, err);
}

/* Add "name=value" to the query, in place of one of that name. */
static gf_status set_parameter(CURLU *u, const char *name, gf_slice value, gf_error *err)
{
    gf_buffer query = {0}, pair = {0};
    size_t n = strlen(name);
    char *before = gf_http_address_part(u, CURLUPART_QUERY);
    for (const char *at = before; at && *at;) {
        size_t length = strcspn(at, "&");
        bool is_it = length > n && strncmp(at, name, n) == 0 && at[n] == '=';
        if (!is_it) gf_buffer_format(&query, "%s%.*s", query.len ? "&" : "", (int)length, at);
        at += length + (at[length] == '&');
    }
    curl_free(before);
    gf_buffer_format(&pair, "%s=%.*s", name, GF_SLICE_ARG(value));
    const char *rest = gf_buffer_cstr(&query), *added = gf_buffer_cstr(&pair);
    gf_status st = gf_buffer_check(&query, err);
    if (st == GF_OK) st = gf_buffer_check(&pair, err);
    if (st == GF_OK &&
        (curl_url_set(u, CURLUPART_QUERY, query.len ? rest : NULL, 0) != CURLUE_OK ||
         curl_url_set(u, CURLUPART_QUERY, added, CURLU_URLENCODE | CURLU_APPENDQUERY) != CURLUE_OK))
        st = gf_fail_memory(err, "an address");
    gf_buffer_release(&query);
    gf_buffer_release(&pair);
    return st;
}

static const char *since_parameter(const url_source *s)
{
    return s->options.since_param ? s->options.since_param : s->options.since;
}

/* The first page: the address, with what is newer than the place alone. */
static gf_status go_to_first(url_source *s, gf_error *err)
{
    CURLU *u = NULL;
    gf_status st = read_address(s->options.url, &u, err);
    if (st == GF_OK && s->options.since && s->since.len)
        st = set_parameter(u, since_parameter(s), gf_buffer_view(&s->since), err);
    if (st == GF_OK) st = set_from(&s->page, u, err);
    if (u) curl_url_cleanup(u);
    s->resumed = false;
    gf_buffer_reset(&s->most);
    return st;
}

/* ---- the place ------------------------------------------------------------------------------- */

/* The address may hold a secret: its hash says whether it is the same. */
static void hash_address(const url_source *s, gf_buffer *out)
{
    gf_slice url = gf_slice_str(s->options.url);
    gf_buffer_format(out, "%08" PRIx32 "%08" PRIx32, gf_murmur3(url, 0), gf_murmur3(url, 1));
}

static gf_status put_place(url_source *s, gf_error *err)
{
    gf_buffer place = {0};
    gf_json_writer w = gf_json_writer_to(&place);
    const struct {
        const char *name;
        const gf_buffer *value;
    } members[] = {{"since", &s->since},
                   {"next", &s->page},
                   {"most", &s->most},
                   {"etag", &s->etag},
                   {"of", &s->tag_of}};
    gf_json_begin(&w, '{');
    for (size_t i = 0; i < MEMBERS; i++)
        if (members[i].value->len)
            gf_json_put_string(&w, members[i].name, gf_buffer_view(members[i].value));
    gf_json_end(&w, '}');
    gf_status st = gf_buffer_check(&place, err);
    if (st == GF_OK) gf_source_put_place(&s->source, gf_buffer_view(&place));
    gf_buffer_release(&place);
    return st;
}

/* A text with a control byte is no moment, and not taken from a place either. */
static bool is_printable(gf_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ') return false;
    return true;
}

static gf_status take_place(gf_source *source, gf_error *err)
{
    url_source *s = (url_source *)source;
    gf_json_value root, v;
    const struct {
        const char *name;
        gf_buffer *value;
    } members[] = {{"since", &s->since},
                   {"next", &s->page},
                   {"most", &s->most},
                   {"etag", &s->etag},
                   {"of", &s->tag_of}};
    if (source->place.len == 0) return GF_OK;
    gf_status st = gf_json_parse_copy(s->parser, gf_buffer_view(&source->place), &root, err);
    if (st == GF_ENOMEM) return st;
    if (st != GF_OK || gf_json_kind_of(root) != GF_JSON_OBJECT)
        return gf_fail(err, GF_EINVAL, "the place of the source is damaged; --again reads all");
    for (size_t i = 0; i < MEMBERS; i++) {
        gf_buffer_reset(members[i].value);
        if (!gf_json_member(root, members[i].name, &v) || gf_json_kind_of(v) != GF_JSON_STRING)
            continue;
        gf_slice text = gf_json_get_string(v);
        if (!is_printable(text))
            return gf_fail(err, GF_EINVAL, "the place of the source is damaged; --again reads all");
        gf_buffer_slice(members[i].value, text);
        st = gf_buffer_check(members[i].value, err);
        if (st != GF_OK) return st;
    }
    s->resumed = s->page.len > 0;
    gf_buffer of = {0};
    hash_address(s, &of);
    st = gf_buffer_check(&of, err);
    if (st == GF_OK && !gf_slice_equal(gf_buffer_view(&of), gf_buffer_view(&s->tag_of)))
        gf_buffer_reset(&s->etag);
    gf_buffer_release(&of);
    return st;
}

/* ---- one answer ------------------------------------------------------------------------------ */

static gf_status make_client(url_source *s, gf_error *err)
{
    const gf_http_client_options o = {.most_bytes = MOST_PAGE,
                                      .answer_seconds = PAGE_SECONDS,
                                      .silent_seconds = SILENT_SECONDS,
                                      .cancel = s->source.cancel};
    return gf_http_client_open(&o, &s->http, err);
}

/* The headers of a request: those of the file, for the first origin alone. */
static gf_status ask_once(url_source *s, gf_slice url, bool is_own, bool conditional, gf_error *err)
{
    gf_buffer line = {0};
    gf_slice *list = gf_array(s->n_headers + 2, sizeof *list);
    s->conditional = conditional;
    if (!list) return gf_fail_memory(err, "headers");
    gf_http_request r = {.url = url.ptr, .headers = list};
    list[r.n_headers++] = GF_SLICE("Accept: application/json");
    for (size_t i = 0; is_own && i < s->n_headers; i++)
        list[r.n_headers++] = s->headers[i];
    if (conditional) {
        gf_buffer_format(&line, "If-None-Match: %.*s", GF_SLICE_ARG(gf_buffer_view(&s->etag)));
        list[r.n_headers++] = gf_buffer_view(&line);
    }
    gf_status st = gf_buffer_check(&line, err);
    if (st == GF_OK) st = gf_http_client_ask(s->http, &r, &s->answer, err);
    gf_buffer_release(&line);
    gf_free(list);
    return st;
}

/* ---- one page -------------------------------------------------------------------------------- */

/* Is the address one of pages that may be asked for; *is_own: of the first origin? */
static gf_status check_address(url_source *s, const char *url, bool *is_own, gf_error *err)
{
    CURLU *u = NULL;
    gf_status st = gf_http_address_read(url, "pages", NULL, &u, err);
    if (st != GF_OK) return st;
    *is_own = same_origin(s->base, u);
    if (!*is_own && !s->options.other_origins) {
        gf_buffer shown = {0};
        gf_http_address_show(u, &shown);
        st =
            gf_fail(err, GF_EINVAL,
                    "%s leads to %s, which is another origin (--other-origins asks it, without the "
                    "headers)",
                    gf_buffer_cstr(&s->source.shown), gf_buffer_cstr(&shown));
        gf_buffer_release(&shown);
    }
    curl_url_cleanup(u);
    return st;
}

/* Ask, and follow redirections. */
static gf_status ask_following(url_source *s, bool conditional, gf_error *err)
{
    gf_buffer *url = &s->answered;
    gf_buffer_reset(url);
    gf_buffer_slice(url, gf_buffer_view(&s->page));
    gf_status st = GF_OK;
    for (int n = 0; st == GF_OK; n++) {
        bool is_own;
        const char *text = gf_buffer_cstr(url);
        st = gf_buffer_check(url, err);
        if (st == GF_OK) st = check_address(s, text, &is_own, err);
        if (st == GF_OK) st = ask_once(s, gf_buffer_view(url), is_own, conditional && is_own, err);
        const gf_http_answer *a = &s->answer;
        if (st != GF_OK || a->fault[0] || a->status / 100 != 3 || a->where.len == 0) break;
        if (n == MOST_REDIRECTS)
            st = gf_fail(err, GF_EIO, "%s: more than %d redirections",
                         gf_buffer_cstr(&s->source.shown), (int)MOST_REDIRECTS);
        gf_buffer_reset(url);
        gf_buffer_slice(url, gf_buffer_view(&a->where));
    }
    return st;
}

/* The answer's fault in words; *again: it may be right the next time. NULL: nothing. */
static const char *fault_of(url_source *s, gf_json_value *root, bool *again, char *text, size_t n)
{
    const gf_http_answer *a = &s->answer;
    gf_error why = {GF_OK, ""};
    *again = gf_http_may_again(a);
    if (a->fault[0]) {
        snprintf(text, n, "%s", a->fault);
    } else if (a->status == 304 && s->conditional) {
        return NULL;
    } else if (a->status == 304) {
        *again = false;
        snprintf(text, n,
                 "status 304 (the same as before), and that was not asked: is there a cache "
                 "between?");
    } else if (a->status != 200) {
        snprintf(text, n, "status %ld%s", a->status,
                 a->status == 401 || a->status == 403 ? " (is the header right? --header-file)"
                                                      : "");
    } else if (gf_json_parse_copy(s->parser, gf_buffer_view(&a->body), root, &why) != GF_OK) {
        *again = why.status != GF_ENOMEM;
        snprintf(text, n, "no JSON: %s", why.message);
    } else {
        return NULL;
    }
    return text;
}

/* Get the page: *root is its JSON, or *is_same. */
static gf_status get_page(url_source *s, gf_json_value *root, bool *is_same, gf_error *err)
{
    unsigned attempts = s->options.attempts ? s->options.attempts : ATTEMPTS;
    bool conditional = s->n_pages == 0 && !s->resumed && s->etag.len;
    double pause = 1;
    for (unsigned n = 1;; n++, pause = gf_http_longer_pause(pause)) {
        const gf_http_answer *a = &s->answer;
        char text[200];
        bool again;
        gf_status st = ask_following(s, conditional, err);
        if (st != GF_OK) return st;
        const char *fault = fault_of(s, root, &again, text, sizeof text);
        *is_same = !fault && a->status == 304;
        if (!fault) return GF_OK;
        const char *shown = gf_buffer_cstr(&s->source.shown);
        if (!again && s->resumed && (a->status == 400 || a->status == 404 || a->status == 410)) {
            st = go_to_first(s, err); /* the address of the page has expired */
            if (st != GF_OK) return st;
            continue;
        }
        if (!again) return gf_fail(err, a->fault[0] ? GF_EIO : GF_EINVAL, "%s: %s", shown, fault);
        if (a->wait > MOST_WAIT)
            return gf_fail(err, GF_EIO,
                           "%s: %s, and wants to be asked in %.0f s: the same command goes on then",
                           shown, fault, a->wait);
        if (n >= attempts)
            return gf_fail(err, GF_EIO, "%s: %s, %u times; the same command goes on", shown, fault,
                           n);
        st = gf_http_sleep(s->source.cancel, a->wait > 0 ? a->wait : pause, err);
        if (st != GF_OK) return st;
    }
}

/* ---- items ----------------------------------------------------------------------------------- */

/* The value as text; *is_text: it is a string or a number. */
static gf_status text_of(gf_json_value v, gf_buffer *out, bool *is_text, gf_error *err)
{
    bool is_number = gf_json_is_number(v);
    gf_buffer_reset(out);
    *is_text = is_number || gf_json_kind_of(v) == GF_JSON_STRING;
    if (is_number) return gf_json_write(v, out, err);
    if (*is_text) gf_buffer_slice(out, gf_json_get_string(v));
    return gf_buffer_check(out, err);
}

/* Numbers by value, all else by bytes, as ISO 8601 is ordered. */
static bool is_newer(const gf_buffer *a, const gf_buffer *b)
{
    double x, y;
    bool numbers = gf_number_read_decimal(gf_buffer_view(a), &x) &&
                   gf_number_read_decimal(gf_buffer_view(b), &y);
    if (b->len == 0 || (numbers && x != y)) return b->len == 0 || x > y;
    return gf_slice_compare(gf_buffer_view(a), gf_buffer_view(b)) > 0;
}

static gf_status note_since(url_source *s, gf_json_value item, gf_error *err)
{
    gf_json_value v;
    gf_buffer text = {0};
    bool is_text;
    if (gf_json_kind_of(item) != GF_JSON_OBJECT || !gf_json_member(item, s->options.since, &v))
        return GF_OK;
    gf_status st = text_of(v, &text, &is_text, err);
    if (st == GF_OK && text.len && text.len <= MOST_VALUE && is_printable(gf_buffer_view(&text)) &&
        is_newer(&text, &s->most)) {
        gf_buffer_reset(&s->most);
        gf_buffer_slice(&s->most, gf_buffer_view(&text));
        st = gf_buffer_check(&s->most, err);
    }
    gf_buffer_release(&text);
    return st;
}

/* An item that looks like a place is written as a list, which the reader refuses. */
static bool is_like_place(gf_json_value item)
{
    gf_json_value v;
    gf_json_iterator it;
    if (gf_json_kind_of(item) != GF_JSON_OBJECT || !gf_json_member(item, "$place", &v))
        return false;
    it = gf_json_items(item);
    return gf_json_next(&it, NULL, &v) && !gf_json_next(&it, NULL, &v);
}

static gf_status put_items(url_source *s, gf_json_value root, gf_error *err)
{
    gf_json_value items, item;
    gf_buffer *out = &s->source.lines;
    const char *path = s->options.items ? s->options.items : "$";
    bool there = gf_json_path_find(s->items, root, &items);
    if (there && gf_json_kind_of(items) == GF_JSON_NULL) return GF_OK;
    if (!there || gf_json_kind_of(items) != GF_JSON_ARRAY)
        return gf_fail(err, GF_EINVAL, "%s: %s is %s; --items says where the records are",
                       gf_buffer_cstr(&s->source.shown), path,
                       there ? "no array" : "not in the page");
    gf_json_iterator it = gf_json_items(items);
    while (gf_json_next(&it, NULL, &item)) {
        bool is_place = is_like_place(item);
        if (is_place) gf_buffer_byte(out, '[');
        gf_status st = gf_json_write(item, out, err);
        if (st == GF_OK && s->options.since) st = note_since(s, item, err);
        if (st != GF_OK) return st;
        gf_buffer_str(out, is_place ? "]\n" : "\n");
    }
    return gf_buffer_check(out, err);
}

/* ---- the next page --------------------------------------------------------------------------- */

/* True where the value says that there is none. */
static bool is_end(gf_json_value v)
{
    gf_json_kind kind = gf_json_kind_of(v);
    return kind == GF_JSON_NULL || (kind == GF_JSON_BOOL && !gf_json_get_bool(v)) ||
           (kind == GF_JSON_STRING && gf_json_get_string(v).len == 0);
}

static gf_status set_next(url_source *s, gf_slice value, gf_error *err)
{
    CURLU *u = NULL;
    const char *param = s->options.next_param;
    const char *from = param ? s->options.url : gf_buffer_cstr(&s->answered);
    gf_status st = read_address(from, &u, err);
    if (st == GF_OK && param && s->options.since && s->since.len)
        st = set_parameter(u, since_parameter(s), gf_buffer_view(&s->since), err);
    if (st == GF_OK && param) st = set_parameter(u, param, value, err);
    if (st == GF_OK && !param && curl_url_set(u, CURLUPART_URL, value.ptr, 0) != CURLUE_OK)
        st = gf_fail(err, GF_EINVAL,
                     "%s: %s is no address; --next-param says which parameter it is of",
                     gf_buffer_cstr(&s->source.shown), s->options.next);
    if (st == GF_OK) st = set_from(&s->page, u, err);
    if (u) curl_url_cleanup(u);
    return st;
}

/* Brent's way: an earlier page is kept, a later one each time that their number has doubled. */
static gf_status check_loop(url_source *s, gf_error *err)
{
    if (gf_slice_equal(gf_buffer_view(&s->page), gf_buffer_view(&s->tortoise)))
        return gf_fail(err, GF_EIO, "%s: the pages go round in a circle, and were read %llu times",
                       gf_buffer_cstr(&s->source.shown), (unsigned long long)s->n_pages);
    if (s->n_pages < s->power) return GF_OK;
    s->power = s->power ? s->power * 2 : 1;
    gf_buffer_reset(&s->tortoise);
    gf_buffer_slice(&s->tortoise, gf_buffer_view(&s->page));
    return gf_buffer_check(&s->tortoise, err);
}

static gf_status find_next(url_source *s, gf_json_value root, bool *is_last, gf_error *err)
{
    gf_json_value v;
    gf_buffer value = {0};
    *is_last = !s->next || !gf_json_path_find(s->next, root, &v) || is_end(v);
    if (*is_last) return GF_OK;
    bool is_text;
    gf_status st = text_of(v, &value, &is_text, err);
    gf_slice text = {gf_buffer_cstr(&value), value.len};
    if (st == GF_OK) st = gf_buffer_check(&value, err);
    bool is_address = gf_json_kind_of(v) == GF_JSON_STRING &&
                      (memmem(text.ptr, text.len, "://", 3) || strchr("/?", text.ptr[0]));
    if (st == GF_OK &&
        (!is_text || memchr(text.ptr, 0, text.len) || (!is_address && !s->options.next_param)))
        st = gf_fail(err, GF_EINVAL,
                     "%s: %s is no address of a page; --next-param NAME says of which parameter it "
                     "is the value",
                     gf_buffer_cstr(&s->source.shown), s->options.next);
    if (st == GF_OK) st = set_next(s, text, err);
    gf_buffer_release(&value);
    return st;
}

static gf_status end_run(url_source *s, gf_error *err)
{
    s->source.at_end = true;
    gf_buffer_reset(&s->page);
    if (s->most.len && is_newer(&s->most, &s->since)) {
        gf_buffer_reset(&s->since);
        gf_buffer_slice(&s->since, gf_buffer_view(&s->most));
    }
    gf_buffer_reset(&s->most);
    gf_status st = gf_buffer_check(&s->since, err);
    return st == GF_OK ? put_place(s, err) : st;
}

static gf_status more_items(gf_source *source, gf_error *err)
{
    url_source *s = (url_source *)source;
    gf_json_value root;
    bool is_same, is_last = true, was_resumed;
    gf_status st = check_loop(s, err);
    if (st == GF_OK) st = get_page(s, &root, &is_same, err);
    if (st != GF_OK) return st;
    if (is_same) {
        source->at_end = true;
        return GF_OK;
    }
    was_resumed = s->resumed;
    st = put_items(s, root, err);
    if (st == GF_OK) st = find_next(s, root, &is_last, err);
    if (st != GF_OK) return st;
    /* With `since` the address changes, and of several pages the first says nothing of the others. */
    gf_buffer_reset(&s->etag);
    gf_buffer_reset(&s->tag_of);
    if (is_last && s->n_pages == 0 && !was_resumed && !s->options.since && s->answer.etag.len) {
        gf_buffer_slice(&s->etag, gf_buffer_view(&s->answer.etag));
        hash_address(s, &s->tag_of);
    }
    s->resumed = false;
    s->n_pages++;
    return is_last ? end_run(s, err) : put_place(s, err);
}

/* ---- opening --------------------------------------------------------------------------------- */

static gf_status begin_url(gf_source *source, gf_error *err)
{
    url_source *s = (url_source *)source;
    return s->page.len ? GF_OK : go_to_first(s, err);
}

/* "Name: value" in each line; empty ones, and those that begin with #, are passed over. */
static gf_status read_headers(url_source *s, gf_slice all, gf_error *err)
{
    size_t capacity = 0;
    gf_buffer_slice(&s->header_lines, all);
    gf_status st = gf_buffer_check(&s->header_lines, err);
    gf_slice text = gf_buffer_view(&s->header_lines);
    for (int number = 1; text.len && st == GF_OK; number++) {
        const char *end = memchr(text.ptr, '\n', text.len);
        gf_slice line = end ? gf_slice_of(text.ptr, (size_t)(end - text.ptr)) : text;
        text = gf_slice_skip(text, line.len + (end != NULL));
        while (line.len && strchr(" \t\r", line.ptr[line.len - 1]))
            line.len--;
        if (line.len == 0 || line.ptr[0] == '#') continue;
        const char *colon = memchr(line.ptr, ':', line.len);
        bool is_good = colon && colon > line.ptr;
        for (size_t i = 0; i < line.len; i++)
            is_good &= (unsigned char)line.ptr[i] >= ' ' || line.ptr[i] == '\t';
        if (!is_good)
            return gf_fail(err, GF_EINVAL, "line %d of the headers is not \"Name: value\"", number);
        if (!gf_grow(&s->headers, &capacity, s->n_headers + 1, sizeof *s->headers))
            return gf_fail_memory(err, "headers");
        s->headers[s->n_headers++] = line;
    }
    return st;
}

static gf_status name_url(url_source *s, gf_error *err)
{
    /* Other pages are another source: what one has read says nothing of them. */
    const char *texts[] = {s->options.url, s->options.items, s->options.since, s->options.next,
                           s->options.next_param};
    gf_slice parts[5];
    for (size_t i = 0; i < 5; i++)
        parts[i] = gf_slice_str(texts[i] ? texts[i] : "");
    return gf_source_set_name(&s->source, "url", parts, 5, err);
}

static gf_status prepare_url(url_source *s, gf_error *err)
{
    const gf_source_url *o = &s->options;
    gf_status st = read_address(o->url, &s->base, err);
    if (st != GF_OK) return st;
    gf_http_address_show(s->base, &s->source.shown);
    st = gf_buffer_check(&s->source.shown, err);
    if (st == GF_OK) st = gf_json_path_create(o->items ? o->items : "$", &s->items, err);
    if (st == GF_OK && o->next) st = gf_json_path_create(o->next, &s->next, err);
    if (st == GF_OK && o->next_param && !o->next)
        st = gf_fail(err, GF_EINVAL, "next-param: --next says where its value is");
    if (st == GF_OK && o->since_param && !o->since)
        st = gf_fail(err, GF_EINVAL, "since-param: --since-field says what it is compared with");
    if (st == GF_OK) st = read_headers(s, o->headers, err);
    if (st == GF_OK) st = make_client(s, err);
    if (st == GF_OK) st = gf_json_parser_create(&s->parser, err);
    if (st == GF_OK) st = name_url(s, err);
    return st == GF_OK ? gf_source_set_place(&s->source, o->place, err) : st;
}

static void close_url(gf_source *source)
{
    url_source *s = (url_source *)source;
    gf_buffer *buffers[] = {&s->since, &s->most,     &s->etag,         &s->tag_of,
                            &s->page,  &s->tortoise, &s->header_lines, &s->answered};
    gf_json_path_free(s->items);
    gf_json_path_free(s->next);
    gf_http_client_close(s->http);
    gf_http_answer_release(&s->answer);
    if (s->base) curl_url_cleanup(s->base);
    gf_free(s->headers);
    gf_json_parser_free(s->parser);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        gf_buffer_release(buffers[i]);
}

static const gf_source_kind url_kind = {begin_url, more_items, take_place, close_url};

gf_status gf_source_open_url(const gf_source_url *o, gf_source **source, gf_error *err)
{
    gf_status st = gf_curl_load(err);
    if (st != GF_OK) return st;
    url_source *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a source");
    s->options = *o;
    s->source.kind = &url_kind;
    s->source.cancel = o->cancel;
    st = prepare_url(s, err);
    if (st != GF_OK) {
        gf_source_close(&s->source);
        return st;
    }
    *source = &s->source;
    return GF_OK;
}
