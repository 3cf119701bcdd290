/*
 * Connections: how many there may be, and for how long they may keep us waiting.
 *
 *     at rest        nothing of a request has come             60 s (MHD)
 *     in the head    some of it has, not all of its headers    10 s, then 408
 *     in the body    the rest is still coming                  1 KiB/s (body.c), then 408
 *     being answered           some of it is there to take     1 KiB/s (slow_reader.c); and 60 s
 *                                                              without a byte (MHD)
 *     left                     a command speaks to us          (upgrade.c)
 *
 * A connection that is one too many is marked: its request gets 429 or 503, for which it has two
 * seconds. Where there are too many in all, the address that has most of them loses the one that
 * has waited longest without a request, so that one address cannot keep the others out.
 *
 * MHD closes none of its own accord before 60 s of silence, forgets the time with every byte, and
 * misses the end of a connection that comes together with the last bytes. So a thread looks at all
 * of them four times a second. It shuts sockets down and leaves the closing to MHD, which tells of
 * that before it closes: under the lock a descriptor in the list is the connection's.
 *
 * Locks: a request's is taken while this one is held, never the other way round.
 */
#include "server/http/callers.h"
#include "server/http/answer.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"

#include <linux/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { MOST_OF_ONE = 32, MOST_REFUSED = 32, LOOK_MS = 250 };
static const double head_seconds = 10, refused_seconds = 2;

typedef enum stage { AT_REST, IN_HEAD, IN_BODY, ANSWERED, LEFT } stage;

typedef struct peer peer;

/* An address, with its connections: all, and those that count. */
struct peer {
    peer *next;
    unsigned char address[16];
    unsigned references, n;
};

typedef struct caller {
    struct caller *next, *before;
    peer *peer;
    int fd;
    unsigned refusal; /* status that its requests get; 0: none */
    bool going;       /* it was shut down, and counts no more */
    bool ended_early; /* the last look found that nothing more will come */
    stage stage;
    double since; /* when the stage began */
    bool known;   /* how much had come when the stage began */
    uint64_t received;
    gf_request *request;   /* in the body; NULL otherwise */
    gf_slow_reader reader; /* while it is answered */
} caller;

struct gf_callers {
    unsigned most, most_of_one;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    caller *first;
    peer *peers;
    unsigned n, refused; /* connections that count; those that are marked */
    bool closed;         /* nobody is let in any more */
    bool ending;
    pthread_t looking;
};

/* ---- addresses ------------------------------------------------------------------------------- */

/* As IPv6 has it; of IPv6 the /64, which is one household's. Whether it is this machine. */
static bool read_address(const struct sockaddr *from, unsigned char to[16])
{
    memset(to, 0, 16);
    if (!from) return false;
    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)from;
        to[10] = to[11] = 0xff;
        memcpy(to + 12, &v4->sin_addr, 4);
        return to[12] == 127;
    }
    const struct sockaddr_in6 *v6 = (const void *)from;
    if (IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr)) return true;
    memcpy(to, &v6->sin6_addr, 8);
    return false;
}

static peer *find_peer(const struct gf_callers *all, const unsigned char address[16])
{
    peer *g = all->peers;
    while (g && memcmp(g->address, address, 16) != 0)
        g = g->next;
    return g;
}

static peer *take_peer(struct gf_callers *all, const unsigned char address[16])
{
    peer *g = find_peer(all, address);
    if (g || !(g = gf_calloc(1, sizeof *g))) return g;
    memcpy(g->address, address, 16);
    g->next = all->peers;
    return all->peers = g;
}

static void leave_peer(struct gf_callers *all, peer *g)
{
    peer **at = &all->peers;
    if (--g->references) return;
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    gf_free(g);
}

/* ---- too many -------------------------------------------------------------------------------- */

static void count(struct gf_callers *all, caller *c, unsigned one)
{
    if (c->refusal) {
        all->refused += one;
    } else {
        all->n += one;
        c->peer->n += one;
    }
}

static void count_no_more(struct gf_callers *all, caller *c)
{
    if (!c->going) count(all, c, -1U);
    c->going = true;
}

static void shut_down(struct gf_callers *all, caller *c)
{
    count_no_more(all, c);
    shutdown(c->fd, SHUT_RDWR);
}

static caller *longest_waiting(const struct gf_callers *all, const peer *g)
{
    caller *found = NULL;
    for (caller *c = all->first; c; c = c->next) {
        bool waits = !c->going && !c->refusal && (c->stage == AT_REST || c->stage == IN_HEAD);
        if (waits && c->peer == g && (!found || c->since < found->since)) found = c;
    }
    return found;
}

/* The connection to close, so that an address with n of them can have one more; may be NULL. */
static caller *find_room(const struct gf_callers *all, unsigned n)
{
    const peer *most = NULL;
    for (const peer *g = all->peers; g; g = g->next)
        if (g->n > n + 1 && (!most || g->n > most->n)) most = g;
    return most ? longest_waiting(all, most) : NULL;
}

/* The HTTP status that refuses one more connection of the address (NULL: one that has none), or 0
 * and the connection to close for it. */
static unsigned refusal_of(const struct gf_callers *all, const peer *g, bool local, caller **goes)
{
    unsigned n = g ? g->n : 0, most = all->most_of_one ? all->most_of_one : MOST_OF_ONE;
    *goes = NULL;
    if (n >= most && !(local && !all->most_of_one)) return 429;
    if (all->n < all->most) return 0;
    *goes = find_room(all, n);
    return *goes ? 0 : 503;
}

/* Connections that wait for their refusal must not keep others out: more of them are closed at once. */
enum MHD_Result gf_callers_admit(void *context, const struct sockaddr *from, socklen_t size)
{
    struct gf_callers *all = context;
    unsigned char address[16];
    caller *goes;
    bool local = read_address(from, address);
    (void)size;
    pthread_mutex_lock(&all->lock);
    bool good = !all->closed && (all->refused < MOST_REFUSED ||
                                 refusal_of(all, find_peer(all, address), local, &goes) == 0);
    pthread_mutex_unlock(&all->lock);
    return good ? MHD_YES : MHD_NO;
}

void gf_callers_close(struct gf_callers *all)
{
    pthread_mutex_lock(&all->lock);
    all->closed = true;
    pthread_mutex_unlock(&all->lock);
}

/* ---- one connection -------------------------------------------------------------------------- */

static caller *caller_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static int descriptor_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/* With the lock held. Without memory it is one that nobody looks after, and that asks for nothing.
 */
static caller *begin(struct gf_callers *all, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    unsigned char address[16];
    caller *goes;
    bool local = read_address(info ? info->client_addr : NULL, address);
    caller *c = gf_calloc(1, sizeof *c);
    peer *g = c ? take_peer(all, address) : NULL;
    if (!g) {
        gf_free(c);
        return NULL;
    }
    *c = (caller){.next = all->first,
                  .peer = g,
                  .fd = descriptor_of(connection),
                  .since = gf_clock_seconds(),
                  .known = true};
    g->references++;
    gf_slow_reader_limit(c->fd);
    c->refusal = refusal_of(all, g, local, &goes);
    if (goes) shut_down(all, goes);
    count(all, c, 1);
    if (c->next) c->next->before = c;
    return all->first = c;
}

static void end(struct gf_callers *all, caller *c)
{
    count_no_more(all, c);
    *(c->before ? &c->before->next : &all->first) = c->next;
    if (c->next) c->next->before = c->before;
    leave_peer(all, c->peer);
    gf_free(c);
}

void gf_callers_notice(void *context, struct MHD_Connection *connection, void **socket_context,
                       enum MHD_ConnectionNotificationCode code)
{
    struct gf_callers *all = context;
    pthread_mutex_lock(&all->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        *socket_context = begin(all, connection);
    else if (*socket_context)
        end(all, *socket_context);
    pthread_mutex_unlock(&all->lock);
}

unsigned gf_callers_check(gf_request *r, gf_error *err)
{
    const caller *c = caller_of(r->connection);
    unsigned status = c ? c->refusal : 503; /* which is settled when the connection begins */
    if (status) r->close_after = true;
    if (status == 429) gf_fail(err, GF_EBUSY, "too many connections from one address");
    if (status == 503) gf_fail(err, GF_EBUSY, "too many connections");
    return status;
}

static void enter(gf_request *r, stage next)
{
    struct gf_callers *all = r->http->callers;
    caller *c = caller_of(r->connection);
    if (!c) return;
    pthread_mutex_lock(&all->lock);
    c->stage = next;
    c->request = next == IN_BODY ? r : NULL;
    c->since = next == AT_REST ? gf_clock_seconds() : c->since;
    c->known = c->ended_early = false;
    c->reader = (gf_slow_reader){0};
    pthread_mutex_unlock(&all->lock);
}

void gf_callers_asked(gf_request *r, bool wants_body)
{
    enter(r, wants_body ? IN_BODY : ANSWERED);
}

void gf_callers_ended(gf_request *r)
{
    enter(r, AT_REST);
}

void gf_callers_left(gf_request *r)
{
    enter(r, LEFT);
}

/* ---- looking --------------------------------------------------------------------------------- */

/* MHD cannot answer before all has come: so this goes out past it, and the connection ends. */
static bool tell_late(const caller *c, const char *what)
{
    char body[128], answer[512];
    int n = snprintf(body, sizeof body,
                     "{\"type\":\"about:blank\",\"title\":\"Request Timeout\",\"status\":408,"
                     "\"detail\":\"the %s came too slowly\"}",
                     what);
    n = snprintf(answer, sizeof answer,
                 "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
                 "Content-Type: application/problem+json\r\n"
                 "Content-Security-Policy: " GF_STRICT_POLICY "\r\n"
                 "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"
                 "Content-Length: %d\r\n\r\n%s",
                 n, body);
    return send(c->fd, answer, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) == n;
}

static uint64_t bytes_received(const caller *c)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    return getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_received
                                                                       : 0;
}

/* Whether something of the next request has come. */
static void look_for_bytes(caller *c, double now)
{
    uint64_t received = bytes_received(c);
    if (c->known && received != c->received) {
        c->stage = IN_HEAD;
        c->since = now;
    }
    c->received = received;
    c->known = true;
}

/* All that the client sent has been read, and no more will come. */
static bool nothing_comes(const caller *c)
{
    int unread = 0;
    struct pollfd p = {.fd = c->fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) == 1 && (p.revents & POLLRDHUP) && ioctl(c->fd, FIONREAD, &unread) == 0 &&
           unread == 0;
}

static void look_at_body(struct gf_callers *all, caller *c, double now)
{
    gf_request *r = c->request;
    pthread_mutex_lock(&r->lock);
    bool waits = !r->body_ended && !r->suspended, slow = gf_body_is_slow(r, now);
    if (slow && tell_late(c, "body")) r->told = 408;
    pthread_mutex_unlock(&r->lock);
    bool ended = waits && nothing_comes(c);
    if (slow || (ended && c->ended_early)) shut_down(all, c);
    c->ended_early = ended;
}

static void look_at_head(struct gf_callers *all, caller *c, double now)
{
    if (c->stage == AT_REST) look_for_bytes(c, now);
    bool ended = nothing_comes(c);
    bool slow = c->stage == IN_HEAD && now - c->since > head_seconds;
    if (slow) tell_late(c, "headers");
    if (slow || (ended && c->ended_early) || (c->refusal && now - c->since > refused_seconds))
        shut_down(all, c);
    c->ended_early = ended;
}

/* Bytes that the kernel still has for the connection are dropped, too. */
static void cut_off(struct gf_callers *all, caller *c)
{
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    shut_down(all, c);
}

static void look(struct gf_callers *all)
{
    double now = gf_clock_seconds();
    for (caller *c = all->first; c; c = c->next) {
        if (c->going || c->stage == LEFT) continue;
        if (c->stage == IN_BODY)
            look_at_body(all, c, now);
        else if (c->stage != ANSWERED)
            look_at_head(all, c, now);
        else if (gf_slow_reader_is_slow(&c->reader, c->fd, now))
            cut_off(all, c);
    }
}

static void *keep_looking(void *context)
{
    struct gf_callers *all = context;
    pthread_mutex_lock(&all->lock);
    while (!all->ending) {
        look(all);
        gf_condition_wait_ms(&all->changed, &all->lock, LOOK_MS);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void release(struct gf_callers *all)
{
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    gf_free(all);
}

gf_status gf_callers_create(unsigned most, unsigned most_of_one, struct gf_callers **callers,
                            gf_error *err)
{
    struct gf_callers *all = gf_calloc(1, sizeof *all);
    if (!all) return gf_fail_memory(err, "a server");
    all->most = most;
    all->most_of_one = most_of_one;
    pthread_mutex_init(&all->lock, NULL);
    gf_condition_init(&all->changed);
    if (pthread_create(&all->looking, NULL, keep_looking, all) != 0) {
        release(all);
        return gf_fail(err, GF_ENOMEM, "cannot make a further thread");
    }
    *callers = all;
    return GF_OK;
}

/* MHD's daemon has ended, and with it all connections. */
void gf_callers_free(struct gf_callers *all)
{
    if (!all) return;
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->looking, NULL);
    release(all);
}
