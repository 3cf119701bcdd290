/**
 * HTTP: the operations by their methods and paths, and a few routes more (docs/http.md).
 *
 *     listening -> request line and headers -> guard (guard.c) -> route (route.c)
 *          `-> what reads no store: answered on the thread that listens
 *          `-> all else: on a thread of its own, with bounded pipes for body and answer; a read
 *              that takes long steps back behind the others
 */
#ifndef GF_SERVER_HTTP_HTTP_H
#define GF_SERVER_HTTP_HTTP_H

#include "server/http/tokens.h"
#include "server/service/log.h"
#include "server/service/service.h"
#include "server/service/tasks.h"
#include "server/socket/socket.h"

typedef struct gf_http gf_http;

typedef struct gf_http_options {
    gf_slice listen; /* "127.0.0.1:61732", "[::1]:61732"; port 0 takes a free one */
    gf_service *service;
    gf_tasks *tasks;
    gf_socket *socket;          /* talks with commands that came by HTTP; NULL: they are refused */
    gf_tokens *tokens;          /* NULL: whoever reaches the address may do anything */
    const gf_slice *host_names; /* n_host_names, besides those of loopback */
    size_t n_host_names;
    unsigned connections;        /* at a time; 0: 256 */
    unsigned connections_of_one; /* of one address; 0: 32, and any number from loopback */
    uint64_t max_document;       /* bytes; 0: 16 MiB */
    const gf_log *log;           /* may be NULL */
} gf_http_options;

/**
 * Begin to answer. What options point at must outlive the server.
 * @return GF_OK; GF_EINVAL (no address; one that is not loopback without tokens), GF_EIO (the
 *         address is taken), GF_ENOMEM
 */
gf_status gf_http_start(const gf_http_options *options, gf_http **http, gf_error *err);

/** The address that it listens at: "127.0.0.1:61732"; borrowed until it is stopped. */
const char *gf_http_address(const gf_http *http);

/**
 * Accept no more requests, wait until those that are under way have been answered, but not longer
 * than so many seconds (then they are cancelled), and end. NULL is allowed.
 */
void gf_http_stop(gf_http *http, double seconds);

#endif
