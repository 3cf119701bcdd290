/* Bodies of requests: bytes come when they come, and are read when they are wanted. */
#include "server/http/answer.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"

#include <poll.h>

enum { LEAST_RATE = 1024 };
static const double patience = 10; /* seconds before the rate counts */
static const double half_open = 2; /* seconds that a client may wait which sends no more */

/* ---- rings ----------------------------------------------------------------------------------- */

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

/* ---- coming in ------------------------------------------------------------------------------- */

/* While the connection is suspended it is us who keep the client waiting. */
static double seconds_waited(const gf_request *r, double now)
{
    return r->waited + (r->suspended || r->body_ended ? 0 : now - r->asked);
}

bool gf_body_is_slow(const gf_request *r, double now)
{
    double waited = seconds_waited(r, now);
    return !r->suspended && !r->body_ended && waited > patience &&
           (double)r->body_bytes < LEAST_RATE * (waited - 1);
}

static void collect(gf_request *r, const char *bytes, size_t n)
{
    if (r->collected.state == GF_OK) gf_buffer_append(&r->collected, bytes, n);
}

enum MHD_Result gf_body_take(gf_request *r, const char *bytes, size_t *n)
{
    pthread_mutex_lock(&r->lock);
    r->waited = seconds_waited(r, gf_clock_seconds());
    if (r->passed_over || r->route->body == GF_BODY_NONE) {
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
    return MHD_YES;
}

/* ---- being read ------------------------------------------------------------------------------ */

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
    struct timespec until = gf_condition_deadline(milliseconds);
    pthread_mutex_lock(&r->lock);
    bool empty = true;
    for (bool in_time = true; empty && in_time;) {
        empty = r->body.used == 0 && !r->body_ended && !r->gone;
        if (empty) in_time = gf_condition_wait(&r->changed, &r->lock, &until);
    }
    pthread_mutex_unlock(&r->lock);
    return empty;
}

/*
 * MHD does not look at a connection that it was asked to leave alone, so the socket is asked. It is
 * closed only once the request is gone. A client that has ended its own side may still read, but
 * one that has closed the connection looks the same: it is taken to be gone when this goes on.
 */
static bool has_gone(void *context)
{
    gf_request *r = context;
    pthread_mutex_lock(&r->lock);
    if (!r->gone && r->suspended && r->body_ended && gf_clock_seconds() - r->asked > half_open) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct pollfd p = {.fd = info ? info->connect_fd : -1, .events = POLLRDHUP};
        r->gone = poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
        if (r->gone) gf_cancel_request(&r->cancel);
    }
    bool gone = r->gone;
    pthread_mutex_unlock(&r->lock);
    return gone;
}

gf_input gf_body_input(gf_request *r)
{
    return (gf_input){
        .context = r, .next = next, .read = read_body, .waits = waits, .gone = has_gone};
}
