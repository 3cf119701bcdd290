/* Bodies of requests: bytes come when they come, and are read when they are wanted. */
#include "server/http_internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

enum { LEAST_RATE = 1024 };
static const double patience = 10; /* seconds before the rate counts */

/* ---- rings ------------------------------------------------------------------------------------
 */

size_t gf_ring_write(gf_ring *r, const char *bytes, size_t n)
{
    size_t taken = 0;
    if (n > r->size - r->used) n = r->size - r->used;
    while (taken < n) {
        size_t end = (r->start + r->used) % r->size;
        size_t piece = r->size - end < n - taken ? r->size - end : n - taken;
        memcpy(r->bytes + end, bytes + taken, piece);
        r->used += piece;
        taken += piece;
    }
    return taken;
}

size_t gf_ring_read(gf_ring *r, char *to, size_t n)
{
    size_t given = 0;
    if (n > r->used) n = r->used;
    while (given < n) {
        size_t piece = r->size - r->start < n - given ? r->size - r->start : n - given;
        memcpy(to + given, r->bytes + r->start, piece);
        r->start = (r->start + piece) % r->size;
        r->used -= piece;
        given += piece;
    }
    return given;
}

/* ---- coming in --------------------------------------------------------------------------------
 */

/* MHD cannot answer while a body comes: so this goes out past it, and the connection ends. */
static enum MHD_Result end_slow(gf_request *r)
{
    static const char answer[] =
        "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
        "Content-Type: application/problem+json\r\nContent-Security-Policy: default-src 'none'\r\n"
        "Content-Length: 97\r\n\r\n"
        "{\"type\":\"about:blank\",\"title\":\"Request Timeout\",\"status\":408,"
        "\"detail\":\"the body came too slowly\"}";
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    r->told = 408;
    if (info && send(info->connect_fd, answer, sizeof answer - 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        r->told = 0;
    return MHD_NO;
}

static bool is_slow(gf_request *r, size_t came)
{
    r->waited += gf_clock_seconds() - r->asked;
    r->body_bytes += came;
    return r->waited > patience && (double)r->body_bytes < LEAST_RATE * (r->waited - 1);
}

static void collect(gf_request *r, const char *bytes, size_t n)
{
    if (r->collected.state == GF_OK) gf_buffer_append(&r->collected, bytes, n);
}

enum MHD_Result gf_body_take(gf_request *r, const char *bytes, size_t *n)
{
    enum MHD_Result result = MHD_YES;
    pthread_mutex_lock(&r->lock);
    if (is_slow(r, 0)) {
        result = end_slow(r);
    } else if (r->passed_over || r->route->body == GF_BODY_NONE) {
        r->body_bytes += *n;
        *n = 0;
    } else if (r->route->body == GF_BODY_COLLECT) {
        r->body_bytes += *n;
        collect(r, bytes, *n);
        *n = 0;
    } else {
        size_t taken = gf_ring_write(&r->body, bytes, *n);
        r->body_bytes += taken;
        *n -= taken;
        pthread_cond_broadcast(&r->changed);
        /* MHD gives what is left of a part again once resumed, and not always by itself. */
        if (*n) {
            r->suspended = true;
            MHD_suspend_connection(r->connection);
        }
    }
    r->asked = gf_clock_seconds();
    pthread_mutex_unlock(&r->lock);
    return result;
}

/* ---- being read -------------------------------------------------------------------------------
 */

static gf_status next(void *context, gf_slice *name, gf_error *err)
{
    gf_request *r = context;
    if (r->input_given) return gf_fail(err, GF_ENOTFOUND, "no more input");
    r->input_given = true;
    *name = gf_slice_str(r->body_name);
    return GF_OK;
}

static gf_status read_body(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_request *r = context;
    gf_status st = GF_OK;
    pthread_mutex_lock(&r->lock);
    while (r->body.used == 0 && !r->body_ended && !r->gone)
        pthread_cond_wait(&r->changed, &r->lock);
    if (r->gone)
        st = gf_fail(err, GF_ECANCELLED, "the connection ended before the body did");
    else
        *got = gf_ring_read(&r->body, to, n);
    if (!r->ready) gf_request_wake(r);
    pthread_mutex_unlock(&r->lock);
    return st;
}

static bool waits(void *context, unsigned milliseconds)
{
    gf_request *r = context;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until); /* as the condition has it */
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&r->lock);
    bool empty = true;
    for (int late = 0; empty && !late;) {
        empty = r->body.used == 0 && !r->body_ended && !r->gone;
        if (empty) late = pthread_cond_timedwait(&r->changed, &r->lock, &until);
    }
    pthread_mutex_unlock(&r->lock);
    return empty;
}

gf_input gf_body_input(gf_request *r)
{
    return (gf_input){r, next, read_body, NULL, waits};
}
