/* Listening, and how many talk at a time. */
#include "server/socket/internal.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 128, MOST_CALLERS = 64, PATIENCE = 30, GREET_SECONDS = 10, LOOK_MS = 100 };

/* After a request to stop: when calls are cancelled, and when their connections are cut. */
static const double CANCEL_AFTER = 2, CUT_AFTER = 7;

/* ---- calls ----------------------------------------------------------------------------------- */

bool gf_socket_begin_call(gf_socket *s, gf_connection *c)
{
    pthread_mutex_lock(&s->lock);
    bool begins = !s->closing;
    if (begins) {
        c->called = true;
        c->early = !s->lingering;
        s->calls++;
        s->early += c->early;
    }
    pthread_mutex_unlock(&s->lock);
    return begins;
}

void gf_socket_end_call(gf_socket *s, gf_connection *c)
{
    pthread_mutex_lock(&s->lock);
    if (c->called) {
        s->calls--;
        s->early -= c->early;
        c->called = false;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
}

size_t gf_socket_callers(gf_socket *s)
{
    pthread_mutex_lock(&s->lock);
    size_t n = s->calls;
    pthread_mutex_unlock(&s->lock);
    return n;
}

bool gf_socket_drains(gf_socket *s)
{
    pthread_mutex_lock(&s->lock);
    bool drains = s->lingering;
    pthread_mutex_unlock(&s->lock);
    return drains;
}

/* ---- connections ----------------------------------------------------------------------------- */

static void free_connection(gf_connection *c)
{
    close(c->fd);
    gf_wire_release(&c->wire);
    gf_buffer_release(&c->message);
    gf_buffer_release(&c->answer_bytes);
    gf_buffer_release(&c->stream_name);
    gf_buffer_release(&c->path);
    pthread_mutex_destroy(&c->sending);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->answered);
    gf_free(c);
}

static void leave(gf_connection *c)
{
    gf_socket *s = c->socket;
    gf_remote_caller remote = c->remote;
    pthread_mutex_lock(&s->lock);
    gf_connection **at = &s->connections;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free_connection(c);
    s->n--;
    s->remote_callers -= remote.run != NULL;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (remote.end) remote.end(remote.context);
}

static void *talk(void *connection)
{
    gf_connection *c = connection;
    gf_call_connection_run(c);
    gf_socket_end_call(c->socket, c);
    leave(c);
    return NULL;
}

/* Signals are the other threads'. */
static int start_thread(pthread_t *thread, const pthread_attr_t *a, void *(*run)(void *), void *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, a, run, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static bool may_call(int fd, struct ucred *peer)
{
    socklen_t size = sizeof *peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) != 0) return false;
    return peer->uid == 0 || peer->uid == geteuid();
}

static gf_connection *make_connection(gf_socket *s, const gf_remote_caller *remote)
{
    gf_connection *c = gf_calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (gf_connection){.socket = s,
                         .remote = *remote,
                         .fd = remote->fd,
                         .greeted_by = gf_clock_seconds() + GREET_SECONDS};
    pthread_mutex_init(&c->sending, NULL);
    pthread_mutex_init(&c->lock, NULL);
    gf_condition_init(&c->answered);
    pthread_mutex_lock(&s->lock);
    c->next = s->connections;
    s->connections = c;
    s->n++;
    s->remote_callers += remote->run != NULL;
    pthread_mutex_unlock(&s->lock);
    return c;
}

/* After a failure the connection is closed, and its remote caller not told. */
static gf_status start_talking(gf_connection *c, gf_error *err)
{
    pthread_t thread;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    bool started = start_thread(&thread, &detached, talk, c) == 0;
    pthread_attr_destroy(&detached);
    if (started) return GF_OK;
    c->remote.end = NULL;
    leave(c);
    return gf_fail(err, GF_ENOMEM, "cannot start a thread");
}

/* A connection that cannot be served is closed: the caller tries again. */
static void take_in(gf_socket *s, int fd)
{
    struct ucred peer;
    gf_connection *c =
        may_call(fd, &peer) ? make_connection(s, &(gf_remote_caller){.fd = fd}) : NULL;
    if (!c) {
        close(fd);
        return;
    }
    c->uid = peer.uid;
    c->process = peer.pid;
    (void)start_talking(c, NULL);
}

bool gf_socket_reserve(gf_socket *s)
{
    pthread_mutex_lock(&s->lock);
    bool room = s->remote_callers + s->kept < s->most / 2 && !s->closing;
    s->kept += room;
    pthread_mutex_unlock(&s->lock);
    return room;
}

void gf_socket_give_place(gf_socket *s)
{
    pthread_mutex_lock(&s->lock);
    s->kept--;
    pthread_mutex_unlock(&s->lock);
}

gf_status gf_socket_take_remote(gf_socket *s, const gf_remote_caller *remote, gf_error *err)
{
    gf_connection *c = make_connection(s, remote);
    gf_socket_give_place(s); /* it counts itself now */
    if (c) return start_talking(c, err);
    close(remote->fd);
    return gf_fail_memory(err, "a connection");
}

/* ---- listening ------------------------------------------------------------------------------- */

/* As many as there may be are there: wait until one leaves. */
static void wait_for_room(gf_socket *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->n - s->remote_callers >= s->most && !s->closing)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static void *listen_for_callers(void *socket)
{
    gf_socket *s = socket;
    struct pollfd p[2] = {{.fd = s->listener, .events = POLLIN},
                          {.fd = s->wake[0], .events = POLLIN}};
    for (;;) {
        wait_for_room(s);
        if (poll(p, 2, -1) < 0 && errno != EINTR) return NULL;
        if (p[1].revents) return NULL;
        int fd = p[0].revents ? accept4(s->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0)
            take_in(s, fd);
        else if (p[0].revents && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
            nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    }
}

/* The mode is set before the file is there; one that a killed process left is in the way. */
static gf_status bind_and_listen(gf_socket *s, const char *store_path, gf_error *err)
{
    struct sockaddr_un address;
    int folder;
    gf_status st = gf_socket_address(store_path, &address, &folder, err);
    if (st != GF_OK) return st;
    s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool bound = s->listener >= 0 && fchmod(s->listener, 0600) == 0 &&
                 (unlink(s->file) == 0 || errno == ENOENT) &&
                 bind(s->listener, (const struct sockaddr *)&address, sizeof address) == 0;
    if (!bound || listen(s->listener, BACKLOG) != 0)
        st = gf_fail_errno(err, "cannot answer on %s", s->file);
    if (folder >= 0) close(folder);
    if (bound && st != GF_OK) unlink(s->file);
    return st;
}

static char *file_in(const char *store_path, gf_error *err)
{
    gf_buffer b = {0};
    gf_buffer_format(&b, "%s/socket", store_path);
    gf_buffer_byte(&b, '\0');
    if (gf_buffer_check(&b, err) == GF_OK) return b.ptr;
    gf_buffer_release(&b);
    return NULL;
}

static gf_status start(gf_socket *s, const char *store_path, gf_error *err)
{
    s->file = file_in(store_path, err);
    if (!s->file) return GF_ENOMEM;
    if (pipe2(s->wake, O_CLOEXEC) != 0) return gf_fail_errno(err, "cannot make a pipe");
    gf_status st = bind_and_listen(s, store_path, err);
    if (st != GF_OK) return st;
    if (start_thread(&s->thread, NULL, listen_for_callers, s) == 0) return GF_OK;
    unlink(s->file);
    return gf_fail(err, GF_ENOMEM, "cannot start a thread");
}

static void release(gf_socket *s)
{
    const int fds[] = {s->listener, s->wake[0], s->wake[1]};
    for (size_t i = 0; i < 3; i++)
        if (fds[i] >= 0) close(fds[i]);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    gf_free(s->file);
    gf_free(s);
}

gf_status gf_socket_open(gf_service *service, const gf_socket_options *o, gf_socket **socket,
                         gf_error *err)
{
    gf_socket *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a socket");
    s->service = service;
    s->rebuilds = o->rebuilds;
    s->most = o->most ? o->most : MOST_CALLERS;
    s->patience = o->patience > 0 ? o->patience : PATIENCE;
    s->begun = gf_clock_seconds();
    s->log = o->log;
    s->listener = s->wake[0] = s->wake[1] = -1;
    snprintf(s->holder, sizeof s->holder, "process %ld (grouperfish%s%s)", (long)getpid(),
             o->purpose ? " " : "", o->purpose ? o->purpose : "");
    pthread_mutex_init(&s->lock, NULL);
    gf_condition_init(&s->changed);
    gf_status st = start(s, o->store_path, err);
    if (st == GF_OK)
        *socket = s;
    else
        release(s);
    return st;
}

/* ---- ending ---------------------------------------------------------------------------------- */

static void stop_all(gf_socket *s, bool cut)
{
    for (gf_connection *c = s->connections; c; c = c->next)
        gf_call_connection_stop(c, cut);
}

/* With the lock held. */
static bool has_drained(gf_socket *s, const gf_cancel *cancel)
{
    bool stops = gf_cancel_check(cancel, NULL) != GF_OK;
    double now = gf_clock_seconds();
    if (stops && s->stopped == 0) s->stopped = now;
    if (stops || s->early == 0) s->closing = true;
    if (stops && now - s->stopped >= CANCEL_AFTER) stop_all(s, now - s->stopped >= CUT_AFTER);
    return s->closing && s->calls == 0;
}

bool gf_socket_drain(gf_socket *s, const gf_cancel *cancel, double seconds)
{
    double begun = gf_clock_seconds();
    bool drained;
    pthread_mutex_lock(&s->lock);
    s->lingering = true;
    while (!(drained = has_drained(s, cancel))) {
        if (seconds > 0 && gf_clock_seconds() - begun >= seconds) break;
        gf_condition_wait_ms(&s->changed, &s->lock, LOOK_MS);
    }
    pthread_mutex_unlock(&s->lock);
    return drained;
}

/* The file goes first: newcomers then wait for the store's lock. */
void gf_socket_close(gf_socket *s)
{
    if (!s) return;
    unlink(s->file);
    pthread_mutex_lock(&s->lock);
    s->lingering = s->closing = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    close(s->wake[1]); /* the listener sees the end of the pipe; a write could fail */
    s->wake[1] = -1;
    pthread_join(s->thread, NULL);
    pthread_mutex_lock(&s->lock);
    while (s->n) {
        stop_all(s, true);
        gf_condition_wait_ms(&s->changed, &s->lock, LOOK_MS);
    }
    pthread_mutex_unlock(&s->lock);
    release(s);
}
