#include "server/remote/remote.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/http/curl.h"
#include "base/json/json.h"
#include "server/socket/internal.h"
#include "server/socket/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { POLL_MS = 100, LEAST_TOKEN = 16, MOST_TOKEN = 256, MOST_FILE = 4 << 20 };

/* A connection to a server, and what it has sent. */
typedef struct remote_line {
    const gf_remote *remote;
    CURL *curl;
    int fd;
    gf_buffer got; /* received, and not taken yet: got_at.. */
    size_t got_at;
    double answer_by;
    const gf_cancel *cancel;
    char why[CURL_ERROR_SIZE];
} remote_line;

/* ---- URLs ------------------------------------------------------------------------------------ */

typedef struct url_parts {
    char *scheme, *host, *port, *path;
} url_parts;

static void free_parts(url_parts *p)
{
    curl_free(p->scheme);
    curl_free(p->host);
    curl_free(p->port);
    curl_free(p->path);
}

static bool has_part(CURLU *u, CURLUPart which)
{
    char *part = NULL;
    bool has = curl_url_get(u, which, &part, 0) == CURLUE_OK;
    curl_free(part);
    return has;
}

static bool take_apart(const char *url, url_parts *p)
{
    CURLU *u = curl_url();
    *p = (url_parts){0};
    bool good = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
                !has_part(u, CURLUPART_USER) && !has_part(u, CURLUPART_QUERY) &&
                !has_part(u, CURLUPART_FRAGMENT) &&
                curl_url_get(u, CURLUPART_SCHEME, &p->scheme, 0) == CURLUE_OK &&
                curl_url_get(u, CURLUPART_HOST, &p->host, 0) == CURLUE_OK &&
                curl_url_get(u, CURLUPART_PATH, &p->path, 0) == CURLUE_OK &&
                (strcmp(p->scheme, "http") == 0 || strcmp(p->scheme, "https") == 0);
    if (good) (void)curl_url_get(u, CURLUPART_PORT, &p->port, 0);
    curl_url_cleanup(u);
    for (size_t n = good ? strlen(p->path) : 0; n && p->path[n - 1] == '/'; n--)
        p->path[n - 1] = '\0';
    return good;
}

gf_status gf_remote_check(const char *url, gf_error *err)
{
    url_parts parts;
    gf_status st = gf_curl_load(err);
    if (st != GF_OK) return st;
    bool good = take_apart(url, &parts);
    free_parts(&parts);
    if (good) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "server: \"%.200s\" is not the URL of a server, such as http://127.0.0.1:61732",
                   url);
}

gf_status gf_remote_read_token(const char *path, gf_buffer *token, gf_error *err)
{
    gf_buffer file = {.max = MOST_FILE};
    gf_status st = gf_file_read_secret(path, &file, err);
    gf_slice text = gf_buffer_view(&file);
    size_t n = 0;
    while (n < text.len && (unsigned char)text.ptr[n] > ' ' && text.ptr[n] != 0x7f)
        n++;
    if (st == GF_OK && (n < LEAST_TOKEN || n > MOST_TOKEN))
        st = gf_fail(err, GF_EINVAL, "%s does not begin with a token: one has %d to %d bytes", path,
                     LEAST_TOKEN, MOST_TOKEN);
    if (st == GF_OK) {
        gf_buffer_append(token, text.ptr, n);
        st = gf_buffer_check(token, err);
    }
    gf_buffer_release(&file);
    return st;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* libcurl's code as errno has it. */
static ssize_t moved(CURLcode code, size_t n)
{
    if (code == CURLE_OK) return (ssize_t)n;
    errno = code == CURLE_AGAIN ? EAGAIN : ECONNRESET;
    return -1;
}

static ssize_t send_bytes(void *context, const char *bytes, size_t n)
{
    size_t sent = 0;
    CURLcode code = curl_easy_send(((remote_line *)context)->curl, bytes, n, &sent);
    return moved(code, sent);
}

static ssize_t receive_bytes(void *context, char *to, size_t n)
{
    remote_line *line = context;
    size_t kept = line->got.len - line->got_at, got = 0;
    if (kept == 0) {
        CURLcode code = curl_easy_recv(line->curl, to, n, &got);
        return moved(code, got);
    }
    if (n > kept) n = kept;
    memcpy(to, line->got.ptr + line->got_at, n);
    line->got_at += n;
    return (ssize_t)n;
}

static gf_status wait_for_line(remote_line *line, bool sending, gf_error *err)
{
    struct pollfd p = {.fd = line->fd, .events = sending ? POLLOUT : POLLIN};
    if (poll(&p, 1, POLL_MS) < 0 && errno != EINTR)
        return gf_fail_errno(err, "cannot wait at a socket");
    gf_status st = gf_cancel_check(line->cancel, err);
    if (st != GF_OK || gf_clock_seconds() < line->answer_by) return st;
    return gf_fail(err, GF_EBUSY, "%s does not answer", line->remote->url);
}

/* ---- connecting ------------------------------------------------------------------------------ */

static int look_for_cancel(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return gf_cancel_check(context, NULL) != GF_OK;
}

/* HTTP/1.1 alone can be switched; a proxy of the environment's is gone through, not asked. */
static bool set_options(remote_line *line, double wait)
{
    CURL *c = line->curl;
    const char *authorities = getenv("SSL_CERT_FILE");
    return curl_easy_setopt(c, CURLOPT_URL, line->remote->url) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_CONNECT_ONLY, 1L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_HTTPPROXYTUNNEL, 1L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_SSL_ENABLE_ALPN, 0L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_ERRORBUFFER, line->why) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)(wait * 1000)) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, look_for_cancel) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_XFERINFODATA, line->cancel) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
           (!authorities || !*authorities ||
            curl_easy_setopt(c, CURLOPT_CAINFO, authorities) == CURLE_OK);
}

static gf_status connect_line(remote_line *line, double wait, gf_error *err)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    line->curl = curl_easy_init();
    if (!line->curl || !set_options(line, wait)) return gf_fail_memory(err, "an HTTP client");
    CURLcode code = curl_easy_perform(line->curl);
    gf_status st = gf_cancel_check(line->cancel, err);
    if (st != GF_OK) return st;
    if (code == CURLE_OK) code = curl_easy_getinfo(line->curl, CURLINFO_ACTIVESOCKET, &fd);
    line->fd = fd;
    if (code == CURLE_OK && fd != CURL_SOCKET_BAD) return GF_OK;
    if (code == CURLE_COULDNT_CONNECT)
        return gf_fail(err, GF_EIO, "cannot reach %s: nothing answers there", line->remote->url);
    bool late = code == CURLE_OPERATION_TIMEDOUT;
    return gf_fail(err, late ? GF_EBUSY : GF_EIO, "cannot reach %s: %s", line->remote->url,
                   line->why[0] ? line->why : curl_easy_strerror(code));
}

enum { MOST_HEAD = 32 << 10, MOST_BODY = 64 << 10 };

typedef struct answer {
    unsigned status;
    gf_slice head, body; /* of the line's bytes */
    gf_buffer detail;    /* what a problem says; empty: it was none of ours */
} answer;

/* ---- receiving ------------------------------------------------------------------------------- */

/* Some more bytes; *ended where there are none. */
static gf_status receive_more(remote_line *line, bool *ended, gf_error *err)
{
    char piece[4096];
    size_t got = 0;
    CURLcode code = curl_easy_recv(line->curl, piece, sizeof piece, &got);
    if (code == CURLE_AGAIN) return wait_for_line(line, false, err);
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

static gf_status fail_stranger(const remote_line *line, gf_error *err)
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
static gf_status receive_head(remote_line *line, answer *a, gf_error *err)
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
static gf_status receive_body(remote_line *line, answer *a, gf_error *err)
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

static gf_status fail_token(const remote_line *line, const answer *a, gf_error *err)
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
static gf_status fail_problem(const remote_line *line, answer *a, gf_error *err)
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
static gf_status fail_other(const remote_line *line, const answer *a, gf_error *err)
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

static gf_status receive_answer(remote_line *line, double *after, gf_error *err)
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

/* ---- the request ----------------------------------------------------------------------------- */

static void write_encoded(gf_buffer *out, gf_slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c == '-' || c == '.' || c == '_';
        if (plain)
            gf_buffer_byte(out, (char)c);
        else
            gf_buffer_format(out, "%%%02X", (unsigned)c);
    }
}

static gf_status write_request(gf_buffer *out, const gf_remote *remote, const gf_operation *o,
                               gf_slice name_space, gf_error *err)
{
    url_parts p;
    if (!take_apart(remote->url, &p)) {
        free_parts(&p);
        return gf_remote_check(remote->url, err);
    }
    gf_buffer_format(out, "POST %s/v1/operations/", p.path);
    write_encoded(out, gf_slice_str(o->name));
    gf_buffer_str(out, "?namespace=");
    write_encoded(out, name_space);
    gf_buffer_format(out, " HTTP/1.1\r\nHost: %s%s%s\r\n", p.host, p.port ? ":" : "",
                     p.port ? p.port : "");
    gf_buffer_format(out,
                     "User-Agent: grouperfish/%s\r\nConnection: Upgrade\r\n"
                     "Upgrade: grouperfish/1\r\nContent-Length: 0\r\n",
                     gf_version());
    if (remote->token.len)
        gf_buffer_format(out, "Authorization: Bearer %.*s\r\n", GF_SLICE_ARG(remote->token));
    gf_buffer_str(out, "\r\n");
    free_parts(&p);
    return gf_buffer_check(out, err);
}

static gf_status send_request(remote_line *line, const gf_operation *o, gf_slice name_space,
                              gf_error *err)
{
    gf_buffer request = {0};
    size_t sent = 0;
    gf_status st = write_request(&request, line->remote, o, name_space, err);
    while (st == GF_OK && sent < request.len) {
        ssize_t n = send_bytes(line, request.ptr + sent, request.len - sent);
        if (n >= 0)
            sent += (size_t)n;
        else if (errno == EAGAIN)
            st = wait_for_line(line, true, err);
        else
            break; /* it may have said why */
    }
    gf_buffer_release(&request);
    return st;
}

gf_status gf_remote_run(const gf_remote *remote, double wait, const gf_operation *operation,
                        gf_call *call, gf_asked *asked, double *after, gf_error *err)
{
    static const gf_wire_transport transport = {send_bytes, receive_bytes};
    gf_error own;
    if (!err) err = &own;
    if (wait < 1) wait = 1;
    remote_line line = {
        .remote = remote, .fd = -1, .cancel = call->cancel, .answer_by = gf_clock_seconds() + wait};
    *asked = GF_CLIENT_ASKED;
    *after = 0;
    gf_status st = gf_remote_check(remote->url, err);
    if (st == GF_OK) st = connect_line(&line, wait, err);
    if (st == GF_OK) st = send_request(&line, operation, call->name_space, err);
    if (st == GF_OK) st = receive_answer(&line, after, err);
    if (st == GF_OK) {
        gf_client_line talk = {line.fd, &transport, &line, remote->url};
        st = gf_client_talk(&talk, wait, operation, call, asked, err);
    } else if (st == GF_EBUSY) {
        *asked = GF_CLIENT_AGAIN;
    }
    if (line.curl) curl_easy_cleanup(line.curl);
    gf_buffer_release(&line.got);
    return st;
}
