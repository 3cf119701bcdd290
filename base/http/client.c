#include "base/http/client.h"

#include "base/http/curl.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    CONNECT_SECONDS = 20,
    MOST_ETAG = 1000,
    MOST_HEADERS = 256 << 10, /* bytes, of one answer */
    MOST_PAUSE = 60,          /* seconds */
    STEP_MS = 100
};

struct gf_http_client {
    gf_http_client_options options;
    CURL *curl;
    gf_http_answer *answer; /* of the request at hand */
    size_t header_bytes;    /* of it, so far */
};

void gf_http_answer_release(gf_http_answer *a)
{
    gf_buffer_release(&a->body);
    gf_buffer_release(&a->etag);
    gf_buffer_release(&a->where);
    *a = (gf_http_answer){0};
}

/* ---- an answer as it comes ------------------------------------------------------------------- */

static size_t take_body(char *bytes, size_t size, size_t n, void *context)
{
    gf_http_client *h = context;
    gf_http_answer *a = h->answer;
    (void)size;
    a->is_long = n > h->options.most_bytes - a->body.len;
    if (a->is_long) return 0;
    gf_buffer_append(&a->body, bytes, n);
    return a->body.state == GF_OK ? n : 0;
}

/* An entity tag is sent back in a header, and kept where a control byte is refused. */
static bool is_tag(gf_slice value)
{
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.ptr[i] < ' ' || value.ptr[i] == 0x7f) return false;
    return value.len <= MOST_ETAG;
}

static size_t take_header(char *bytes, size_t size, size_t n, void *context)
{
    gf_http_client *h = context;
    gf_slice line = gf_slice_of(bytes, size * n);
    h->header_bytes += line.len;
    h->answer->is_long = h->header_bytes > MOST_HEADERS;
    if (h->answer->is_long) return 0;
    if (line.len > 5 && strncasecmp(line.ptr, "etag:", 5) == 0) {
        gf_slice value = gf_slice_skip(line, 5);
        while (value.len && strchr(" \t", value.ptr[0]))
            value = gf_slice_skip(value, 1);
        while (value.len && strchr(" \t\r\n", value.ptr[value.len - 1]))
            value.len--;
        gf_buffer_reset(&h->answer->etag);
        if (is_tag(value)) gf_buffer_slice(&h->answer->etag, value);
    }
    return size * n;
}

static int look_for_stop(void *context, curl_off_t down, curl_off_t downloaded, curl_off_t up,
                         curl_off_t uploaded)
{
    const gf_http_client *h = context;
    (void)down, (void)downloaded, (void)up, (void)uploaded;
    return gf_cancel_check(h->options.cancel, NULL) != GF_OK;
}

/* ---- a client -------------------------------------------------------------------------------- */

static gf_status set_options(gf_http_client *h, gf_error *err)
{
    CURL *c = h->curl;
    long silent = h->options.silent_seconds;
    bool set = curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "") == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_USERAGENT, "grouperfish") == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, silent ? 1L : 0L) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, silent) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)h->options.answer_seconds) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_WRITEDATA, h) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_HEADERDATA, h) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, look_for_stop) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_XFERINFODATA, h) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
    return set ? GF_OK : gf_fail(err, GF_EIO, "libcurl is too old: 7.85 is wanted");
}

gf_status gf_http_client_open(const gf_http_client_options *options, gf_http_client **client,
                              gf_error *err)
{
    gf_status st = gf_curl_load(err);
    if (st != GF_OK) return st;
    gf_http_client *h = gf_calloc(1, sizeof *h);
    if (!h) return gf_fail_memory(err, "an HTTP client");
    h->options = *options;
    h->curl = curl_easy_init();
    st = h->curl ? set_options(h, err) : gf_fail_memory(err, "libcurl");
    if (st == GF_OK)
        *client = h;
    else
        gf_http_client_close(h);
    return st;
}

void gf_http_client_close(gf_http_client *h)
{
    if (!h) return;
    if (h->curl) curl_easy_cleanup(h->curl);
    gf_free(h);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static gf_status list_headers(const gf_http_request *r, struct curl_slist **list, gf_error *err)
{
    for (size_t i = 0; i < r->n_headers; i++) {
        char *line = gf_copy_string(r->headers[i].ptr, r->headers[i].len);
        struct curl_slist *longer = line ? curl_slist_append(*list, line) : NULL;
        gf_free(line);
        if (!longer) return gf_fail_memory(err, "headers");
        *list = longer;
    }
    return GF_OK;
}

/* The method and what is sent; the body is borrowed by libcurl until the next request. */
static bool set_request(CURL *c, const gf_http_request *r, struct curl_slist *headers)
{
    bool set = curl_easy_setopt(c, CURLOPT_URL, r->url) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
    if (!set || !r->body.ptr) return set && curl_easy_setopt(c, CURLOPT_HTTPGET, 1L) == CURLE_OK;
    return curl_easy_setopt(c, CURLOPT_POST, 1L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_POSTFIELDS, r->body.ptr) == CURLE_OK;
}

static void note_answer(gf_http_client *h, CURLcode code)
{
    gf_http_answer *a = h->answer;
    char *where = NULL;
    curl_off_t after = 0;
    if (h->header_bytes > MOST_HEADERS)
        snprintf(a->fault, sizeof a->fault, "an answer with more than %d KiB of headers",
                 (int)(MOST_HEADERS >> 10));
    else if (a->is_long)
        snprintf(a->fault, sizeof a->fault, "an answer of more than %zu MiB",
                 h->options.most_bytes >> 20);
    else if (code != CURLE_OK)
        snprintf(a->fault, sizeof a->fault, "%s", curl_easy_strerror(code));
    a->is_not_trusted = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
    curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &a->status);
    curl_easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &after);
    curl_easy_getinfo(h->curl, CURLINFO_REDIRECT_URL, &where);
    a->wait = (double)after;
    if (where) gf_buffer_str(&a->where, where);
}

gf_status gf_http_client_ask(gf_http_client *h, const gf_http_request *r, gf_http_answer *a,
                             gf_error *err)
{
    struct curl_slist *headers = NULL;
    gf_buffer_reset(&a->body);
    gf_buffer_reset(&a->etag);
    gf_buffer_reset(&a->where);
    a->status = 0;
    a->wait = 0;
    a->is_long = a->is_not_trusted = false;
    a->fault[0] = '\0';
    h->answer = a;
    h->header_bytes = 0;
    gf_status st = list_headers(r, &headers, err);
    if (st == GF_OK && !set_request(h->curl, r, headers)) st = gf_fail_memory(err, "a request");
    if (st == GF_OK) {
        note_answer(h, curl_easy_perform(h->curl));
        st = gf_cancel_check(h->options.cancel, err);
    }
    curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    if (st == GF_OK) st = gf_buffer_check(&a->body, err);
    if (st == GF_OK) st = gf_buffer_check(&a->etag, err);
    return st == GF_OK ? gf_buffer_check(&a->where, err) : st;
}

bool gf_http_may_again(const gf_http_answer *a)
{
    if (a->is_long) return false;
    if (a->fault[0]) return !a->is_not_trusted;
    return a->status == 429 || a->status == 408 || a->status >= 500;
}

double gf_http_longer_pause(double pause)
{
    return pause < MOST_PAUSE / 2 ? 2 * pause : MOST_PAUSE;
}

gf_status gf_http_sleep(const gf_cancel *cancel, double seconds, gf_error *err)
{
    for (double left = seconds; left > 0; left -= STEP_MS / 1000.0) {
        double now = left < STEP_MS / 1000.0 ? left : STEP_MS / 1000.0;
        gf_status st = gf_cancel_check(cancel, err);
        if (st != GF_OK) return st;
        nanosleep(&(struct timespec){.tv_nsec = (long)(now * 1e9)}, NULL);
    }
    return gf_cancel_check(cancel, err);
}
