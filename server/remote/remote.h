/**
 * Asking a server elsewhere: the caller's side of the upgrade (server/http/upgrade.c).
 *
 *     URL -> connection (libcurl: names, TLS, proxies) -> request to switch -> the wire
 *
 * Calls and their results are as with the store's own socket (server/socket/client.h).
 */
#ifndef GF_SERVER_REMOTE_REMOTE_H
#define GF_SERVER_REMOTE_REMOTE_H

#include "server/socket/client.h"

typedef struct gf_remote {
    const char *url; /* "http://127.0.0.1:61732", or https; a path before those of the server's */
    gf_slice token;  /* empty: none */
} gf_remote;

/** @return GF_EINVAL where it is not the URL of a server */
gf_status gf_remote_check(const char *url, gf_error *err);

/**
 * Read a token from a file: its first word. Others must not be able to look at it.
 * @return GF_EINVAL where they are, or there is no token in it; GF_ENOTFOUND, GF_EIO, GF_ENOMEM
 */
gf_status gf_remote_read_token(const char *path, gf_buffer *token, gf_error *err);

/**
 * Have a call run by the server, as gf_client_run does.
 *
 * @param wait  seconds until it must have answered at all; at least one
 * @param[out] asked  GF_CLIENT_ASKED; GF_CLIENT_AGAIN where the server is busy, or ended before anything was done
 * @param[out] after  with GF_CLIENT_AGAIN: seconds before it wants to be asked again; 0: it did not say
 * @return the operation's status; before it ran: GF_EIO (nobody there, no Grouperfish, no TLS),
 *         GF_EINVAL (the token, the name), GF_EBUSY; and GF_EIO where the connection is lost
 */
gf_status gf_remote_run(const gf_remote *remote, double wait, const gf_operation *operation,
                        gf_call *call, gf_asked *asked, double *after, gf_error *err);

#endif
