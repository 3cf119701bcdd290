#include "engine/ranks/frames.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { LOOKS_MS = 100 /* between looks for a cancel */ };

typedef struct frame_head {
    uint32_t kind, zero;
    uint64_t length;
} frame_head;

/* Wait until the socket can be read or written. */
static gf_status wait_for(int fd, short event, double until, const gf_cancel *cancel, gf_error *err)
{
    struct pollfd p = {.fd = fd, .events = event};
    for (;;) {
        gf_status st = gf_cancel_check(cancel, err);
        if (st != GF_OK) return st;
        int n = poll(&p, 1, LOOKS_MS);
        if (n > 0) return GF_OK;
        if (n < 0 && errno != EINTR) return gf_fail_errno(err, "a socket");
        if (until > 0 && gf_clock_seconds() > until)
            return gf_fail(err, GF_ELIMIT, "nothing is heard any more");
    }
}

static double until_in(double seconds)
{
    return seconds > 0 ? gf_clock_seconds() + seconds : 0;
}

static gf_status send_all(int fd, gf_slice s, double seconds, const gf_cancel *cancel,
                          gf_error *err)
{
    while (s.len) {
        gf_status st = wait_for(fd, POLLOUT, until_in(seconds), cancel, err);
        if (st != GF_OK) return st;
        ssize_t n = send(fd, s.ptr, s.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return gf_fail(err, GF_ENOTFOUND, "the other end is gone");
        if (n > 0) s = gf_slice_skip(s, (size_t)n);
    }
    return GF_OK;
}

static gf_status receive_all(int fd, char *to, uint64_t n, double seconds, const gf_cancel *cancel,
                             gf_error *err)
{
    while (n) {
        gf_status st = wait_for(fd, POLLIN, until_in(seconds), cancel, err);
        if (st != GF_OK) return st;
        ssize_t got = recv(fd, to, (size_t)n, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
            return gf_fail(err, GF_ENOTFOUND, "the other end is gone");
        if (got < 0) continue;
        to += got;
        n -= (uint64_t)got;
    }
    return GF_OK;
}

gf_status gf_frames_write(int fd, uint32_t kind, gf_slice a, gf_slice b, double seconds,
                          const gf_cancel *cancel, gf_error *err)
{
    const frame_head head = {kind, 0, (uint64_t)a.len + b.len};
    gf_status st =
        send_all(fd, gf_slice_of((const char *)&head, sizeof head), seconds, cancel, err);
    if (st == GF_OK) st = send_all(fd, a, seconds, cancel, err);
    return st == GF_OK ? send_all(fd, b, seconds, cancel, err) : st;
}

gf_status gf_frames_read(int fd, double seconds, const gf_cancel *cancel, uint32_t *kind,
                         gf_buffer *bytes, gf_error *err)
{
    frame_head head;
    gf_status st = receive_all(fd, (char *)&head, sizeof head, seconds, cancel, err);
    if (st != GF_OK) return st;
    gf_buffer_reset(bytes);
    char *to = gf_buffer_reserve(bytes, (size_t)head.length);
    if (head.length && !to) return gf_fail_memory(err, "a message");
    st = receive_all(fd, to, head.length, seconds, cancel, err);
    if (st != GF_OK) return st;
    bytes->len = (size_t)head.length;
    *kind = head.kind;
    return GF_OK;
}
