/* Listening: an address in words, a socket at it, and the words of the address that it has. */
#include "server/http/guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} address;

static bool parse_port(gf_slice s, in_port_t *port)
{
    unsigned v = 0;
    if (s.len == 0 || s.len > 5) return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') return false;
        v = v * 10 + (unsigned)(s.ptr[i] - '0');
    }
    *port = htons((uint16_t)v);
    return v <= 65535;
}

static gf_status parse_address(gf_slice listen, address *a, bool *loopback, gf_error *err)
{
    char text[64];
    size_t colon = listen.len;
    while (colon && listen.ptr[colon - 1] != ':')
        colon--;
    bool six = listen.len && listen.ptr[0] == '[';
    size_t start = six, end = colon ? colon - 1 - six : 0;
    *a = (address){.any = {.sa_family = six ? AF_INET6 : AF_INET}};
    bool good = colon > 1 && end > start && end - start < sizeof text &&
                (!six || listen.ptr[end] == ']') &&
                parse_port(gf_slice_skip(listen, colon), six ? &a->v6.sin6_port : &a->v4.sin_port);
    if (good) {
        memcpy(text, listen.ptr + start, end - start);
        text[end - start] = '\0';
        if (strcmp(text, "localhost") == 0) memcpy(text, "127.0.0.1", 10);
        good = inet_pton(a->any.sa_family, text,
                         six ? (void *)&a->v6.sin6_addr : (void *)&a->v4.sin_addr) == 1;
    }
    if (!good)
        return gf_fail(err, GF_EINVAL,
                       "listen: \"%.*s\" is not an address with a port, such as "
                       "127.0.0.1:61732",
                       GF_SLICE_ARG(listen));
    *loopback =
        six ? IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr) : ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
    return GF_OK;
}

static void name_address(gf_http *http, int listening)
{
    address a;
    socklen_t n = sizeof a;
    char text[INET6_ADDRSTRLEN] = "";
    if (getsockname(listening, &a.any, &n) != 0) return;
    bool six = a.any.sa_family == AF_INET6;
    inet_ntop(a.any.sa_family, six ? (const void *)&a.v6.sin6_addr : (const void *)&a.v4.sin_addr,
              text, sizeof text);
    snprintf(http->address, sizeof http->address, six ? "[%s]:%u" : "%s:%u", text,
             (unsigned)ntohs(six ? a.v6.sin6_port : a.v4.sin_port));
}

/* A socket of our own: MHD's would share the port with another server. */
static gf_status open_socket(gf_http *http, const address *a, int *listening, gf_error *err)
{
    int on = 1, s = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool good = s >= 0 && setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                bind(s, &a->any, a->any.sa_family == AF_INET6 ? sizeof a->v6 : sizeof a->v4) == 0 &&
                listen(s, SOMAXCONN) == 0;
    if (!good) {
        gf_fail_errno(err, "cannot listen at %.*s", GF_SLICE_ARG(http->options.listen));
        if (s >= 0) close(s);
        return GF_EIO;
    }
    name_address(http, s);
    *listening = s;
    return GF_OK;
}

gf_status gf_http_listen(gf_http *http, int *listening, gf_error *err)
{
    address a;
    gf_status st = parse_address(http->options.listen, &a, &http->loopback, err);
    if (st == GF_OK && !http->loopback && !http->options.tokens)
        st = gf_fail(err, GF_EINVAL, "listen: others can reach %.*s: that needs --tokens",
                     GF_SLICE_ARG(http->options.listen));
    http->six = a.any.sa_family == AF_INET6;
    return st == GF_OK ? open_socket(http, &a, listening, err) : st;
}
