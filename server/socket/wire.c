#include "server/socket/wire.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { HEADER = 5, GOES_ON = 0x80, SEND_AT = 32 << 10, TICK_MS = 100 };

void gf_wire_init(gf_wire *w, int fd, gf_wire_tick *tick, void *context)
{
    *w = (gf_wire){.fd = fd, .tick = tick, .context = context};
}

void gf_wire_release(gf_wire *w)
{
    gf_buffer_release(&w->out);
    gf_buffer_release(&w->message);
    gf_free(w->in);
    *w = (gf_wire){.fd = -1};
}

/* Wait until something can be moved, a tick at most. */
static gf_status wait_to(gf_wire *w, bool sending, double since, gf_error *err)
{
    struct pollfd p = {.fd = w->fd, .events = sending ? POLLOUT : POLLIN};
    int n = poll(&p, 1, TICK_MS);
    if (n < 0 && errno != EINTR) return gf_fail_errno(err, "cannot wait at a socket");
    if (!w->tick) return GF_OK;
    return w->tick(w->context, sending, n > 0 ? 0 : gf_clock_seconds() - since, err);
}

static gf_status fail_gone(gf_error *err)
{
    return gf_fail(err, GF_EIO, "the other side of the store's socket has gone");
}

/* After a failed socket call: GF_OK where it can be tried again. */
static gf_status after_failure(gf_wire *w, bool sending, double *since, gf_error *err)
{
    if (errno == EINTR) return w->tick ? w->tick(w->context, sending, 0, err) : GF_OK;
    if (errno == EPIPE || errno == ECONNRESET) return fail_gone(err);
    if (errno != EAGAIN) return gf_fail_errno(err, "the store's socket failed");
    if (*since == 0) *since = gf_clock_seconds();
    return wait_to(w, sending, *since, err);
}

/* ---- sending --------------------------------------------------------------------------------- */

static ssize_t send_some(gf_wire *w, const char *bytes, size_t n)
{
    if (w->through) return w->through->send(w->through_context, bytes, n);
    return send(w->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

gf_status gf_wire_flush(gf_wire *w, gf_error *err)
{
    size_t sent = 0;
    double since = 0;
    gf_status st = gf_buffer_check(&w->out, err);
    while (st == GF_OK && sent < w->out.len) {
        ssize_t n = send_some(w, w->out.ptr + sent, w->out.len - sent);
        if (n < 0) {
            st = after_failure(w, true, &since, err);
        } else {
            sent += (size_t)n;
            since = 0;
        }
    }
    gf_buffer_reset(&w->out);
    return st;
}

gf_status gf_wire_send(gf_wire *w, gf_wire_type type, gf_slice bytes, gf_error *err)
{
    bool goes_on = true;
    while (goes_on) {
        size_t n = bytes.len > GF_WIRE_FRAME ? GF_WIRE_FRAME : bytes.len;
        goes_on = n < bytes.len;
        gf_buffer_u32be(&w->out, (uint32_t)n);
        gf_buffer_byte(&w->out, (char)(type | (goes_on ? GOES_ON : 0)));
        if (n) gf_buffer_append(&w->out, bytes.ptr, n);
        bytes = gf_slice_skip(bytes, n);
        gf_status st =
            w->out.len >= SEND_AT ? gf_wire_flush(w, err) : gf_buffer_check(&w->out, err);
        if (st != GF_OK) return st;
    }
    return GF_OK;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static ssize_t receive_some(gf_wire *w, char *to, size_t n)
{
    if (w->through) return w->through->receive(w->through_context, to, n);
    return recv(w->fd, to, n, MSG_DONTWAIT);
}

static bool make_buffer(gf_wire *w)
{
    if (!w->in) w->in = gf_malloc(HEADER + GF_WIRE_FRAME);
    return w->in != NULL;
}

/* A transport may hold what it has received, so that the descriptor tells nothing of it. */
bool gf_wire_has_more(gf_wire *w)
{
    if (w->in_end > w->in_at || !make_buffer(w)) return true;
    w->in_at = w->in_end = 0;
    ssize_t got = receive_some(w, w->in, HEADER + GF_WIRE_FRAME);
    if (got > 0) w->in_end = (size_t)got;
    return got >= 0 || (errno != EAGAIN && errno != EINTR);
}

/* Have n bytes, a frame at most, in the buffer. */
static gf_status fill(gf_wire *w, size_t n, gf_error *err)
{
    double since = 0;
    gf_status st = GF_OK;
    if (!make_buffer(w)) return gf_fail_memory(err, "a connection");
    if (w->in_at + n > HEADER + GF_WIRE_FRAME) {
        memmove(w->in, w->in + w->in_at, w->in_end - w->in_at);
        w->in_end -= w->in_at;
        w->in_at = 0;
    }
    while (st == GF_OK && w->in_end - w->in_at < n) {
        ssize_t got = receive_some(w, w->in + w->in_end, HEADER + GF_WIRE_FRAME - w->in_end);
        if (got == 0) return fail_gone(err);
        if (got < 0) {
            st = after_failure(w, false, &since, err);
        } else {
            w->in_end += (size_t)got;
            since = 0;
        }
    }
    return st;
}

static gf_status take_frame(gf_wire *w, unsigned *type, gf_slice *bytes, gf_error *err)
{
    if (w->in_at == w->in_end) w->in_at = w->in_end = 0;
    gf_status st = fill(w, HEADER, err);
    if (st != GF_OK) return st;
    uint32_t length = gf_read_u32be(w->in + w->in_at);
    if (length > GF_WIRE_FRAME)
        return gf_fail(err, GF_EINVAL, "the store's socket: what came is no frame");
    st = fill(w, HEADER + length, err);
    if (st != GF_OK) return st;
    *type = (unsigned char)w->in[w->in_at + 4];
    *bytes = gf_slice_of(w->in + w->in_at + HEADER, length);
    w->in_at += HEADER + length;
    return GF_OK;
}

gf_status gf_wire_receive(gf_wire *w, gf_wire_type *type, gf_slice *bytes, gf_error *err)
{
    unsigned got = 0, before = 0;
    bool first = true, goes_on = true;
    if (w->message.len) gf_buffer_release(&w->message);
    while (goes_on) {
        gf_status st = take_frame(w, &got, bytes, err);
        if (st != GF_OK) return st;
        goes_on = got & GOES_ON;
        got &= ~(unsigned)GOES_ON;
        if ((!first && got != before) || (goes_on && bytes->len == 0))
            return gf_fail(err, GF_EINVAL, "the store's socket: a message breaks off");
        if (w->most && w->message.len + bytes->len > w->most)
            return gf_fail(err, GF_ELIMIT, "the store's socket: a message has more than %zu bytes",
                           w->most);
        if (!first || goes_on) gf_buffer_slice(&w->message, *bytes);
        st = gf_buffer_check(&w->message, err);
        if (st != GF_OK) return st;
        if (!first) *bytes = gf_buffer_view(&w->message);
        before = got;
        first = false;
    }
    *type = (gf_wire_type)got;
    return GF_OK;
}
