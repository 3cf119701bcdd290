#include "storage/hbase/connection.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE = 256 << 10 /* of an answer that is received */, LONGEST_POLL = 3600 * 1000 };

/* Wait until the socket can be read, or written; GF_EIO at the deadline. */
static gf_status wait_until(int socket, short events, double deadline, bool breakable,
                            const char *what, gf_error *err)
{
    for (;;) {
        double left = (deadline - gf_clock_seconds()) * 1000;
        if (left <= 0) return gf_fail(err, GF_EIO, "%s: no answer in time", what);
        struct pollfd p = {socket, events, 0};
        int n = poll(&p, 1, left < LONGEST_POLL ? (int)left + 1 : LONGEST_POLL);
        if (n > 0) return GF_OK;
        if (n < 0 && (errno != EINTR || breakable)) return gf_fail_errno(err, "%s", what);
    }
}

static gf_status finish_connecting(int socket, double deadline, gf_error *err)
{
    int problem = 0;
    socklen_t size = sizeof problem;
    gf_status st = wait_until(socket, POLLOUT, deadline, true, "connecting", err);
    if (st != GF_OK) return st;
    if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &problem, &size) == 0 && problem == 0)
        return GF_OK;
    if (problem) errno = problem;
    return gf_fail_errno(err, "connecting");
}

static gf_status connect_to(const struct addrinfo *a, double deadline, int *connected,
                            gf_error *err)
{
    int s = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (s < 0) return gf_fail_errno(err, "connecting");
    /* Small requests go at once: two of them would else wait for each other's receipt. */
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    gf_status st = GF_OK;
    if (connect(s, a->ai_addr, a->ai_addrlen) != 0)
        st = errno == EINPROGRESS || errno == EINTR ? finish_connecting(s, deadline, err)
                                                    : gf_fail_errno(err, "connecting");
    if (st != GF_OK) {
        close(s);
        return st;
    }
    *connected = s;
    return GF_OK;
}

gf_status gf_hbase_connection_open(const char *host, const char *port, double deadline,
                                   gf_hbase_connection **connection, gf_error *err)
{
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    int problem = getaddrinfo(host, port, &hints, &found);
    if (problem) return gf_fail(err, GF_EIO, "%s: %s", host, gai_strerror(problem));
    gf_hbase_connection *c = gf_calloc(1, sizeof *c);
    gf_status st = c ? GF_EIO : gf_fail_memory(err, "a connection");
    int left = 0;
    for (const struct addrinfo *a = found; a; a = a->ai_next)
        left++;
    for (const struct addrinfo *a = found; a && st == GF_EIO; a = a->ai_next) {
        double now = gf_clock_seconds();
        st = connect_to(a, now + (deadline - now) / left--, &c->socket, err);
    }
    freeaddrinfo(found);
    if (st != GF_OK) {
        if (c) gf_error_prefix(err, "%s port %s", host, port);
        gf_free(c);
        return st;
    }
    *connection = c;
    return GF_OK;
}

void gf_hbase_connection_close(gf_hbase_connection *c)
{
    if (!c) return;
    close(c->socket);
    gf_free(c);
}

bool gf_hbase_connection_is_idle(const gf_hbase_connection *c)
{
    struct pollfd p = {c->socket, POLLIN, 0};
    return poll(&p, 1, 0) == 0;
}

gf_status gf_hbase_connection_send(gf_hbase_connection *c, gf_slice bytes, double deadline,
                                   size_t *sent, gf_error *err)
{
    *sent = 0;
    while (*sent < bytes.len) {
        ssize_t n = send(c->socket, bytes.ptr + *sent, bytes.len - *sent, MSG_NOSIGNAL);
        if (n >= 0) {
            *sent += (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            gf_status st = wait_until(c->socket, POLLOUT, deadline, c->breakable, "sending", err);
            if (st != GF_OK) return st;
        } else if (errno != EINTR) {
            return gf_fail_errno(err, "sending");
        }
    }
    return GF_OK;
}

/* Up to n bytes, at least one. */
static gf_status receive_some(gf_hbase_connection *c, char *to, size_t n, double deadline,
                              size_t *received, gf_error *err)
{
    for (;;) {
        ssize_t got = recv(c->socket, to, n, 0);
        if (got > 0) {
            *received = (size_t)got;
            return GF_OK;
        }
        if (got == 0) return gf_fail(err, GF_EIO, "the gateway has closed the connection");
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            gf_status st = wait_until(c->socket, POLLIN, deadline, c->breakable, "waiting", err);
            if (st != GF_OK) return st;
        } else if (errno != EINTR) {
            return gf_fail_errno(err, "waiting");
        }
    }
}

static gf_status receive_all(gf_hbase_connection *c, char *to, size_t n, double deadline,
                             gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t at = 0, got = 0; at < n && st == GF_OK; at += got)
        st = receive_some(c, to + at, n - at, deadline, &got, err);
    return st;
}

/* Letters in the place of a length, as of an answer by HTTP; or the head of one without a frame. */
static bool is_no_length(const char *head)
{
    bool is_text = true;
    for (int i = 0; i < 4; i++)
        is_text &= (unsigned char)head[i] >= ' ' && (unsigned char)head[i] < 0x7F;
    return is_text || (unsigned char)head[0] > 0x7F;
}

gf_status gf_hbase_connection_receive(gf_hbase_connection *c, gf_buffer *frame, double deadline,
                                      gf_error *err)
{
    char head[4];
    gf_buffer_reset(frame);
    gf_status st = receive_all(c, head, sizeof head, deadline, err);
    if (st != GF_OK) return st;
    size_t n = gf_read_u32be(head);
    if (is_no_length(head)) return gf_fail(err, GF_ECORRUPT, "what answers is no gateway of HBase");
    if (n > GF_HBASE_LARGEST_FRAME)
        return gf_fail(err, GF_ELIMIT, "an answer of %zu bytes, more than %d", n,
                       GF_HBASE_LARGEST_FRAME);
    while (frame->len < n) {
        size_t piece = n - frame->len < PIECE ? n - frame->len : PIECE;
        char *to = gf_buffer_reserve(frame, piece);
        if (!to) return gf_buffer_check(frame, err);
        st = receive_all(c, to, piece, deadline, err);
        if (st != GF_OK) return st;
        frame->len += piece;
    }
    return GF_OK;
}
