#include "server/remote/internal.h"

#include "base/clock.h"
#include "server/http/tokens.h"
#include "server/socket/internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { POLL_MS = 100, LEAST_TOKEN = 16, MOST_TOKEN = 256 };

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
    gf_buffer file = {0};
    gf_status st = gf_tokens_read_file(path, &file, err);
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

ssize_t gf_remote_send(void *context, const char *bytes, size_t n)
{
    size_t sent = 0;
    CURLcode code = curl_easy_send(((gf_remote_line *)context)->curl, bytes, n, &sent);
    return moved(code, sent);
}

ssize_t gf_remote_receive(void *context, char *to, size_t n)
{
    gf_remote_line *line = context;
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

gf_status gf_remote_wait(gf_remote_line *line, bool sending, gf_error *err)
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
static bool set_options(gf_remote_line *line, double wait)
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

static gf_status connect_line(gf_remote_line *line, double wait, gf_error *err)
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

static gf_status send_request(gf_remote_line *line, const gf_operation *o, gf_slice name_space,
                              gf_error *err)
{
    gf_buffer request = {0};
    size_t sent = 0;
    gf_status st = write_request(&request, line->remote, o, name_space, err);
    while (st == GF_OK && sent < request.len) {
        ssize_t n = gf_remote_send(line, request.ptr + sent, request.len - sent);
        if (n >= 0)
            sent += (size_t)n;
        else if (errno == EAGAIN)
            st = gf_remote_wait(line, true, err);
        else
            break; /* it may have said why */
    }
    gf_buffer_release(&request);
    return st;
}

gf_status gf_remote_run(const gf_remote *remote, double wait, const gf_operation *operation,
                        gf_call *call, gf_asked *asked, double *after, gf_error *err)
{
    static const gf_wire_transport transport = {gf_remote_send, gf_remote_receive};
    gf_error own;
    if (!err) err = &own;
    if (wait < 1) wait = 1;
    gf_remote_line line = {
        .remote = remote, .fd = -1, .cancel = call->cancel, .answer_by = gf_clock_seconds() + wait};
    *asked = GF_CLIENT_ASKED;
    *after = 0;
    gf_status st = gf_remote_check(remote->url, err);
    if (st == GF_OK) st = connect_line(&line, wait, err);
    if (st == GF_OK) st = send_request(&line, operation, call->name_space, err);
    if (st == GF_OK) st = gf_remote_take_answer(&line, after, err);
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
