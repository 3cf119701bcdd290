/**
 * A client of HTTP: one request at a time over a connection that is kept, by libcurl, which is
 * loaded with the first client.
 *
 * Redirections are not followed: whoever asks knows whether a secret may go there. A client is for
 * one thread.
 */
#ifndef GF_BASE_HTTP_CLIENT_H
#define GF_BASE_HTTP_CLIENT_H

#include "grouperfish/buffer.h"
#include "grouperfish/cancel.h"

#include <stdbool.h>

typedef struct gf_http_client gf_http_client;

typedef struct gf_http_client_options {
    size_t most_bytes;       /* of an answer */
    unsigned answer_seconds; /* that an answer may take, to its end */
    unsigned silent_seconds; /* without a byte of it; 0: that is not looked at */
    const gf_cancel *cancel; /* may be NULL */
} gf_http_client_options;

/** A request: without a body (body.ptr is NULL) it is GET, else POST. */
typedef struct gf_http_request {
    const char *url;
    const gf_slice *headers; /* n_headers: "Name: value" */
    size_t n_headers;
    gf_slice body;
} gf_http_request;

/** The answer; {0} to begin with. */
typedef struct gf_http_answer {
    long status;         /* 0: none came */
    double wait;         /* seconds that the server asks for (Retry-After); 0: it does not */
    bool is_long;        /* it has more than most_bytes, or 256 KiB of headers, and was cut */
    bool is_not_trusted; /* the other's certificate, or our list of them, is no good */
    char fault[96];      /* why none came whole, in libcurl's words where they say it; "": it did */
    gf_buffer body, etag, where; /* where: that a redirection leads to */
} gf_http_answer;

void gf_http_answer_release(gf_http_answer *answer);

/** @return GF_OK; GF_EIO (libcurl is missing, or too old); GF_ENOMEM */
gf_status gf_http_client_open(const gf_http_client_options *options, gf_http_client **client,
                              gf_error *err);
void gf_http_client_close(gf_http_client *client);

/**
 * Ask once. That no answer came, or one that says no, is no failure of this call.
 * @return GF_OK; GF_ECANCELLED, GF_ENOMEM
 */
gf_status gf_http_client_ask(gf_http_client *client, const gf_http_request *request,
                             gf_http_answer *answer, gf_error *err);

/** Is the same request worth sending again: no whole answer, or 408, 429 or 5xx? */
bool gf_http_may_again(const gf_http_answer *answer);

/** The seconds to wait after a pause in vain: twice as long, a minute at most. */
double gf_http_longer_pause(double pause);

/** Sleep; GF_ECANCELLED at once where a stop is requested. */
gf_status gf_http_sleep(const gf_cancel *cancel, double seconds, gf_error *err);

#endif
