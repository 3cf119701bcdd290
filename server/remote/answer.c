/* The answer to the request to switch: a server's, a proxy's, anything's. */
#include "server/remote/internal.h"

#include "base/json/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_HEAD = 32 << 10, MOST_BODY = 64 << 10 };

typedef struct answer {
    unsigned status;
    gf_slice head, body; /* of the line's bytes */
    gf_buffer detail;    /* what a problem says; empty: it was none of ours */
} answer;

/* ---- receiving ------------------------------------------------------------------------------- */

/* Some more bytes; *ended where there are none. */
static gf_status receive_more(gf_remote_line *line, bool *ended, gf_error *err)
{
    char piece[4096];
    size_t got = 0;
    CURLcode code = curl_easy_recv(line->curl, piece, sizeof piece, &got);
    if (code == CURLE_AGAIN) return gf_remote_wait(line, false, err);
    *ended = code != CURLE_OK || got == 0;
    if (*ended) return GF_OK;
    gf_buffer_append(&line->got, piece, got);
    return gf_buffer_check(&line->got, err);
}

static const char *end_of_head(const gf_buffer *got)
{
    const char *end = got->len ? memmem(got->ptr, got->len, "\r\n\r\n", 4) : NULL;
    return end ? end + 4 : NULL;
}

static gf_status fail_stranger(const gf_remote_line *line, gf_error *err)
{
    return gf_fail(err, GF_EIO, "what answers at %s is no Grouperfish", line->remote->url);
}

/* "HTTP/1.1 503 Service Unavailable" */
static bool read_status(gf_slice head, unsigned *status)
{
    if (head.len < 13 || strncmp(head.ptr, "HTTP/1.", 7) != 0 || head.ptr[8] != ' ') return false;
    *status = 0;
    for (size_t i = 9; i < 12; i++) {
        if (head.ptr[i] < '0' || head.ptr[i] > '9') return false;
        *status = *status * 10 + (unsigned)(head.ptr[i] - '0');
    }
    return *status >= 100;
}

/* The bytes may move while they come: slices of them are made at the end. */
static gf_status receive_head(gf_remote_line *line, answer *a, gf_error *err)
{
    bool ended = false;
    gf_status st = GF_OK;
    while (st == GF_OK && !ended && !end_of_head(&line->got) && line->got.len < MOST_HEAD)
        st = receive_more(line, &ended, err);
    if (st != GF_OK) return st;
    const char *end = end_of_head(&line->got);
    if (ended && line->got.len == 0)
        return gf_fail(err, GF_EIO, "%s hung up without an answer", line->remote->url);
    if (!end) return fail_stranger(line, err);
    a->head = gf_slice_of(line->got.ptr, (size_t)(end - line->got.ptr));
    line->got_at = a->head.len;
    return read_status(a->head, &a->status) ? GF_OK : fail_stranger(line, err);
}

/* A header's value; empty where there is none. */
static gf_slice header(gf_slice head, const char *name)
{
    size_t n = strlen(name);
    while (head.len) {
        const char *end = memmem(head.ptr, head.len, "\r\n", 2);
        size_t length = end ? (size_t)(end - head.ptr) : head.len;
        if (length > n && head.ptr[n] == ':' && strncasecmp(head.ptr, name, n) == 0) {
            gf_slice value = gf_slice_of(head.ptr + n + 1, length - n - 1);
            while (value.len && *value.ptr == ' ')
                value = gf_slice_skip(value, 1);
            return value;
        }
        head = gf_slice_skip(head, end ? length + 2 : length);
    }
    return (gf_slice){"", 0};
}

static double number_of(gf_slice s)
{
    double n = 0;
    for (size_t i = 0; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9' && n < 1e9; i++)
        n = n * 10 + (s.ptr[i] - '0');
    return n;
}

/*
 * Without a length it goes to the end of the connection, or comes in chunks: as no server of ours
 * sends it. What does not come in time is done without: the status says most of it.
 */
static gf_status receive_body(gf_remote_line *line, answer *a, gf_error *err)
{
    gf_slice length = header(a->head, "Content-Length");
    size_t head = a->head.len, most = MOST_BODY;
    bool ended = false;
    gf_status st = GF_OK;
    if (length.len && number_of(length) < MOST_BODY) most = (size_t)number_of(length);
    if (header(a->head, "Transfer-Encoding").len || a->status == 204 || a->status == 304) most = 0;
    while (st == GF_OK && !ended && line->got.len - head < most)
        st = receive_more(line, &ended, err);
    a->head = gf_slice_of(line->got.ptr, head);
    a->body = gf_slice_of(line->got.ptr + head, line->got.len - head);
    return st == GF_EBUSY ? GF_OK : st;
}

/* ---- what it means --------------------------------------------------------------------------- */

static void read_problem(answer *a)
{
    gf_json_parser *parser = NULL;
    gf_json_value root, detail;
    if (!gf_slice_starts(header(a->head, "Content-Type"), GF_SLICE("application/problem+json")))
        return;
    if (gf_json_parser_create(&parser, NULL) == GF_OK &&
        gf_json_parse_copy(parser, a->body, &root, NULL) == GF_OK &&
        gf_json_member(root, "detail", &detail) && gf_json_kind_of(detail) == GF_JSON_STRING)
        gf_buffer_slice(&a->detail, gf_json_get_string(detail));
    gf_json_parser_free(parser);
}

static gf_status fail_token(const gf_remote_line *line, const answer *a, gf_error *err)
{
    if (line->remote->token.len == 0)
        return gf_fail(err, GF_EINVAL,
                       "%s wants a token: --token-file or GROUPERFISH_TOKEN_FILE names a file that "
                       "begins with one",
                       line->remote->url);
    return gf_fail(err, GF_EINVAL, "%s: %s", line->remote->url,
                   a->detail.len ? gf_buffer_cstr((gf_buffer *)&a->detail) : "no such token");
}

/* A problem of a server like ours, by what it is. */
static gf_status fail_problem(const gf_remote_line *line, answer *a, gf_error *err)
{
    const char *url = line->remote->url, *detail = gf_buffer_cstr(&a->detail);
    switch (a->status) {
    case 400:
    case 403:
    case 421:
        return gf_fail(err, GF_EINVAL, "%s: %s", url, detail);
    case 404:
        return gf_fail(err, GF_EINVAL, "%s does not know this command: it is of another version",
                       url);
    case 413:
    case 431:
        return gf_fail(err, GF_ELIMIT, "%s: %s", url, detail);
    case 426:
        return gf_fail(err, GF_EIO, "%s: a proxy before it does not let the connection be upgraded",
                       url);
    case 429:
    case 503:
        return gf_fail(err, GF_EBUSY, "%s: %s", url, detail);
    default:
        return gf_fail(err, GF_EIO, "%s: %s", url, detail);
    }
}

/* An answer that no server of ours gives: a proxy's, or something else's. */
static gf_status fail_other(const gf_remote_line *line, const answer *a, gf_error *err)
{
    const char *url = line->remote->url;
    gf_slice to = header(a->head, "Location");
    if (a->status >= 300 && a->status < 400 && to.len)
        return gf_fail(err, GF_EIO, "%s sends on to %.*s: --server may have to name that", url,
                       (int)(to.len > 200 ? 200 : to.len), to.ptr);
    if (a->status == 429 || a->status == 503)
        return gf_fail(err, GF_EBUSY, "%s is busy (HTTP status %u)", url, a->status);
    if (a->status == 502 || a->status == 504)
        return gf_fail(err, GF_EIO, "the proxy at %s does not reach a server (HTTP status %u)", url,
                       a->status);
    return gf_fail(err, GF_EIO, "what answers at %s is no Grouperfish (HTTP status %u)", url,
                   a->status);
}

gf_status gf_remote_take_answer(gf_remote_line *line, double *after, gf_error *err)
{
    answer a = {0};
    gf_status st = receive_head(line, &a, err);
    if (st != GF_OK || a.status == 101) return st;
    st = receive_body(line, &a, err);
    if (st != GF_OK) return st;
    *after = number_of(header(a.head, "Retry-After"));
    read_problem(&a);
    if (a.status == 401)
        st = fail_token(line, &a, err);
    else
        st = a.detail.len ? fail_problem(line, &a, err) : fail_other(line, &a, err);
    gf_buffer_release(&a.detail);
    return st;
}
