/**
 * Shared by remote.c and answer.c: the connection to a server, and its answer to a request.
 */
#ifndef GF_SERVER_REMOTE_INTERNAL_H
#define GF_SERVER_REMOTE_INTERNAL_H

#include "formats/curl.h"
#include "server/remote/remote.h"
#include "server/socket/wire.h"

typedef struct gf_remote_line {
    const gf_remote *remote;
    CURL *curl;
    int fd;
    gf_buffer got; /* received, and not taken yet: got_at.. */
    size_t got_at;
    double answer_by;
    const gf_cancel *cancel;
    char why[CURL_ERROR_SIZE];
} gf_remote_line;

/** Send and receive without waiting, as send(2) and recv(2): of a gf_remote_line. */
ssize_t gf_remote_send(void *line, const char *bytes, size_t n);
ssize_t gf_remote_receive(void *line, char *to, size_t n);

/** Wait until something can be moved, or for a moment; GF_ECANCELLED, GF_EBUSY (answer_by). */
gf_status gf_remote_wait(gf_remote_line *line, bool sending, gf_error *err);

/**
 * Take the answer to a request to switch. GF_OK: it was 101, and what follows is the wire.
 * @param[out] after  seconds of Retry-After; 0: none
 * @return GF_EBUSY where asking again may help; else as gf_remote_run
 */
gf_status gf_remote_take_answer(gf_remote_line *line, double *after, gf_error *err);

#endif
