/* Requests from their first line to their end, and the server's own beginning and end. */
#include "server/http/answer.h"
#include "server/http/callers.h"
#include "server/http/guard.h"
#include "server/http/route.h"
#include "server/http/strict.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"
#include "server/service/audit.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

GF_LIBRARY_DEFINE(gf_microhttpd, GF_LIBMICROHTTPD, GF_MICROHTTPD_FUNCTIONS)

enum {
    CONNECTIONS = 256,
    MEMORY = 32 << 10, /* of a connection: headers, and a piece of the body */
    IDLE_SECONDS = 60,
    MOST_THREADS = 600
};

/* ---- a request ------------------------------------------------------------------------------- */

static void *on_request_line(void *context, const char *uri, struct MHD_Connection *connection)
{
    gf_http *http = context;
    gf_request *r = gf_calloc(1, sizeof *r);
    if (!r) return NULL;
    r->http = http;
    r->connection = connection;
    r->references = 1;
    r->upgraded_fd = -1;
    r->begun = gf_clock_seconds();
    pthread_mutex_init(&r->lock, NULL);
    gf_condition_init(&r->changed);
    r->target_at = uri;
    r->target = gf_arena_copy(&r->memory, gf_slice_str(uri));
    pthread_mutex_lock(&http->lock);
    r->next = http->active;
    if (r->next) r->next->before = r;
    http->active = r;
    pthread_mutex_unlock(&http->lock);
    return r;
}

/* An upgraded one says for itself what it wrote (upgrade.c). */
static bool is_write(const gf_request *r)
{
    return r->route && r->route->writes && !r->called;
}

/* Once both threads are done with it: a write may end after its connection. */
static void tell(const gf_request *r)
{
    double seconds = gf_clock_seconds() - r->begun;
    const gf_log *log = r->http->options.log;
    bool fails = r->told >= 500 && r->told != 503, refused = r->told == 401 || r->told == 403;
    gf_log_level level = fails ? GF_LOG_WARN : refused ? GF_LOG_INFO : GF_LOG_DEBUG;
    if (is_write(r) && !refused)
        gf_audit_write(log, fails ? GF_LOG_WARN : GF_LOG_INFO,
                       &(gf_audited_call){.operation = r->route->name,
                                          .name_space = r->name_space,
                                          .arguments = r->arguments,
                                          .n_arguments = r->n_arguments,
                                          .status = r->told ? r->told : r->status,
                                          .result = r->told ? NULL : "the connection ended",
                                          .address = r->address,
                                          .token = r->token,
                                          .seconds = seconds});
    GF_LOG(log, level, refused ? "refused" : "request",
           GF_LOG_STR("route", r->route ? r->route->name : "none"),
           GF_LOG_STR("method", r->route ? r->route->method : ""), GF_LOG_TEXT("target", r->target),
           GF_LOG_NUMBER("status", r->told), GF_LOG_STR("address", r->address),
           GF_LOG_STR("token", r->token), GF_LOG_NUMBER("seconds", seconds));
}

static void let_go(gf_request *r)
{
    pthread_mutex_lock(&r->lock);
    bool last = --r->references == 0;
    pthread_mutex_unlock(&r->lock);
    if (!last) return;
    tell(r);
    if (r->has_reservation) gf_socket_give_place(r->http->options.socket);
    if (r->spool) fclose(r->spool);
    gf_free(r->body.bytes);
    gf_free(r->outgoing.bytes);
    gf_buffer_release(&r->collected);
    gf_buffer_release(&r->answer);
    gf_buffer_release(&r->refusal);
    gf_arena_release(&r->memory);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    gf_free(r);
}

static void on_end(void *context, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode code)
{
    gf_http *http = context;
    gf_request *r = *state;
    (void)connection, (void)code;
    if (!r) return;
    gf_callers_ended(r);
    double seconds = gf_clock_seconds() - r->begun;
    gf_metrics_count(&http->metrics, r->route ? (size_t)(r->route - http->routes) : http->n_routes,
                     r->told, seconds);
    pthread_mutex_lock(&r->lock);
    r->gone = true;
    r->upgraded_fd = -1;
    if (!r->finished) gf_cancel_request(&r->cancel);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    *state = NULL;
    pthread_mutex_lock(&http->lock);
    *(r->before ? &r->before->next : &http->active) = r->next;
    if (r->next) r->next->before = r->before;
    pthread_mutex_unlock(&http->lock);
    let_go(r);
}

/* ---- its headers ----------------------------------------------------------------------------- */

static const char *header_of(const gf_request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

static const char *name_of_body(const char *type)
{
    if (!type) return "body";
    if (strncmp(type, "text/csv", 8) == 0) return "body.csv";
    if (strncmp(type, "text/tab-separated-values", 25) == 0) return "body.tsv";
    if (strncmp(type, "application/x-ndjson", 20) == 0) return "body.jsonl";
    return "body";
}

/* "application/json", "application/merge-patch+json"; what stands behind a ; says nothing. */
static bool is_json(const char *type)
{
    size_t n = type ? strcspn(type, "; \t") : 0;
    return (n == 16 && strncasecmp(type, "application/json", n) == 0) ||
           (n > 5 && strncasecmp(type + n - 5, "+json", 5) == 0);
}

static void read_address(gf_request *r)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *from = info ? info->client_addr : NULL;
    const struct sockaddr_in *v4 = (const void *)from;
    const struct sockaddr_in6 *v6 = (const void *)from;
    if (!from) return;
    bool six = from->sa_family == AF_INET6;
    inet_ntop(from->sa_family, six ? (const void *)&v6->sin6_addr : (const void *)&v4->sin_addr,
              r->address, sizeof r->address);
}

static void read_headers(gf_request *r, const char *method)
{
    read_address(r);
    const char *length = header_of(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const char *accept = header_of(r, MHD_HTTP_HEADER_ACCEPT);
    const char *known = header_of(r, MHD_HTTP_HEADER_IF_NONE_MATCH);
    r->head = strcmp(method, "HEAD") == 0;
    r->body_length = length ? strtoull(length, NULL, 10) : 0;
    if (header_of(r, MHD_HTTP_HEADER_TRANSFER_ENCODING)) r->body_length = UINT64_MAX;
    r->has_body = r->body_length > 0;
    r->type_given = header_of(r, MHD_HTTP_HEADER_CONTENT_TYPE) != NULL;
    r->json_given = is_json(header_of(r, MHD_HTTP_HEADER_CONTENT_TYPE));
    r->body_name = name_of_body(header_of(r, MHD_HTTP_HEADER_CONTENT_TYPE));
    r->lines_wanted = accept && strstr(accept, "application/x-ndjson");
    r->page_wanted = accept && strncmp(accept, "text/html", 9) == 0;
    if (known) r->if_none_match = gf_arena_copy(&r->memory, gf_slice_str(known));
}

static gf_status prepare_body(gf_request *r, gf_error *err)
{
    r->asked = gf_clock_seconds();
    if (r->route->body == GF_BODY_COLLECT) {
        gf_buffer_init(&r->collected, GF_MOST_COLLECTED);
        if (r->body_length != UINT64_MAX && r->body_length > GF_MOST_COLLECTED)
            return gf_fail(err, GF_ELIMIT, "the body has more than %d bytes", GF_MOST_COLLECTED);
    }
    if (!r->has_body || r->route->body != GF_BODY_STREAM) return GF_OK;
    r->body.size = r->body_length < GF_RING_BYTES ? (size_t)r->body_length : GF_RING_BYTES;
    r->body.bytes = gf_malloc(r->body.size);
    return r->body.bytes ? GF_OK : gf_fail_memory(err, "a request");
}

/* Nobody knows where a request of the wrong form ends: the connection ends with it. */
static unsigned check_form(gf_request *r, const char *method, const char *version, gf_error *err)
{
    unsigned status = gf_strict_check(r, method, version, err);
    if (status) r->close_after = true;
    return status;
}

static unsigned check(gf_request *r, const char *method, const char *version, gf_error *err)
{
    if (!r->target.ptr) {
        gf_fail_memory(err, "a request");
        return 503;
    }
    if (gf_cancel_check(&r->http->stopping, NULL) != GF_OK) {
        gf_fail(err, GF_EBUSY, "the server is closing; try again");
        return 503;
    }
    unsigned status = check_form(r, method, version, err);
    if (status == 0) status = gf_guard_early(r, method, err);
    if (status == 0) status = gf_route_find(r, method, err);
    if (status == 0) status = gf_guard_route(r, err);
    if (status == 0 && prepare_body(r, err) != GF_OK) status = gf_http_status_of(err);
    return status;
}

/* ---- running it ------------------------------------------------------------------------------ */

static void end_route(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    if (r->collected.state == GF_ELIMIT) gf_answer_problem(r, 413, "the body is too large");
    if ((r->streams || r->spool) && gf_answer_flush(r, &err) != GF_OK) r->broken = true;
    if (r->spool && !r->broken) return;
    if (r->spool) gf_answer_failure(r, &err);
}

static void work(void *context)
{
    gf_request *r = context;
    r->route->run(r);
    end_route(r);
    pthread_mutex_lock(&r->lock);
    r->finished = r->ready = r->passed_over = true;
    gf_request_wake(r);
    pthread_mutex_unlock(&r->lock);
    let_go(r);
}

/* Nobody else has the request yet, or MHD's thread alone runs it. */
static void start(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    r->started = true;
    if (r->route->quick && !r->has_body) {
        r->whole = true; /* nobody would take pieces meanwhile */
        r->route->run(r);
        r->finished = r->ready = true;
        return;
    }
    r->references++;
    if (gf_workers_run(r->http->workers, work, r, !r->route->writes, &err) == GF_OK) return;
    r->references--;
    gf_answer_failure(r, &err);
    r->finished = r->ready = r->passed_over = true;
}

/* A body that the ring does not hold as a whole is read while it comes. */
static bool starts_before_body(const gf_request *r)
{
    return r->has_body && r->route->body == GF_BODY_STREAM && r->body_length > r->body.size;
}

static enum MHD_Result begin(gf_request *r, const char *method, const char *version)
{
    gf_error err = {GF_OK, ""};
    r->seen = true;
    read_headers(r, method);
    unsigned status = check(r, method, version, &err);
    if (status == 0) {
        if (starts_before_body(r)) start(r);
        gf_callers_asked(r, r->has_body);
        return MHD_YES;
    }
    gf_answer_problem(r, status, err.message);
    r->started = r->finished = r->ready = r->passed_over = true;
    gf_callers_asked(r, false);
    if (!r->has_body) return MHD_YES;
    r->close_after = true; /* the body is not waited for */
    return gf_answer_queue(r);
}

/* The body has ended, or somebody resumed the connection. */
static enum MHD_Result go_on(gf_request *r)
{
    pthread_mutex_lock(&r->lock);
    bool ends = !r->body_ended;
    r->body_ended = true;
    if (ends) pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    if (ends && r->has_body) gf_callers_asked(r, false);
    if (!r->started) start(r);
    pthread_mutex_lock(&r->lock);
    bool ready = r->ready;
    if (!ready) {
        r->suspended = true;
        MHD_suspend_connection(r->connection);
    }
    pthread_mutex_unlock(&r->lock);
    return ready ? gf_answer_queue(r) : MHD_YES;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *bytes, size_t *n,
                              void **state)
{
    gf_request *r = *state;
    (void)context, (void)connection, (void)url;
    if (!r) return MHD_NO;
    if (!r->seen) return begin(r, method, version);
    if (*n) return gf_body_take(r, bytes, n);
    return go_on(r);
}

/* ---- beginning ------------------------------------------------------------------------------- */

static size_t leave_as_it_is(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

/* There is always room for one connection more: who has to go is for callers.c to say. */
static gf_status answer_at(gf_http *http, int listening, gf_error *err)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = processors < 2 ? 2 : (unsigned)processors;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO | MHD_USE_SUSPEND_RESUME |
                     MHD_ALLOW_UPGRADE | (http->six ? MHD_USE_IPv6 : 0);
    http->daemon = MHD_start_daemon(
        flags, 0, gf_callers_admit, http->callers, handle, http, MHD_OPTION_LISTEN_SOCKET,
        listening, MHD_OPTION_THREAD_POOL_SIZE, threads, MHD_OPTION_CONNECTION_LIMIT,
        threads * (http->options.connections + GF_CALLERS_RESERVED),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_URI_LOG_CALLBACK,
        on_request_line, http, MHD_OPTION_NOTIFY_COMPLETED, on_end, http,
        MHD_OPTION_NOTIFY_CONNECTION, gf_callers_notice, http->callers,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_as_it_is, NULL, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_STRICT_FOR_CLIENT, gf_strict_level(), MHD_OPTION_END);
    if (http->daemon) return GF_OK;
    close(listening);
    return gf_fail(err, GF_ENOMEM, "cannot begin to answer at %s", http->address);
}

static void release(gf_http *http)
{
    gf_workers_free(http->workers);
    gf_routes_free(http);
    gf_metrics_release(&http->metrics);
    gf_callers_free(http->callers);
    pthread_mutex_destroy(&http->lock);
    gf_free(http);
}

static gf_status start_all(gf_http *http, gf_error *err)
{
    int listening = -1;
    gf_status st = gf_library_load(&gf_microhttpd, err);
    if (st == GF_OK) st = gf_routes_make(http, err);
    if (st == GF_OK) st = gf_metrics_init(&http->metrics, http->n_routes, err);
    if (st == GF_OK) st = gf_workers_create(MOST_THREADS, &http->workers, err);
    if (st == GF_OK)
        st = gf_callers_create(http->options.connections, http->options.connections_of_one,
                               &http->callers, err);
    if (st == GF_OK) st = gf_http_listen(http, &listening, err);
    return st == GF_OK ? answer_at(http, listening, err) : st;
}

gf_status gf_http_start(const gf_http_options *options, gf_http **http, gf_error *err)
{
    gf_http *h = gf_calloc(1, sizeof *h);
    if (!h) return gf_fail_memory(err, "a server");
    h->options = *options;
    pthread_mutex_init(&h->lock, NULL);
    h->started_ms = gf_clock_ms();
    if (!h->options.connections) h->options.connections = CONNECTIONS;
    gf_status st = start_all(h, err);
    if (st == GF_OK)
        *http = h;
    else
        release(h);
    return st;
}

const char *gf_http_address(const gf_http *http)
{
    return http->address;
}

/* ---- ending ---------------------------------------------------------------------------------- */

static bool is_active(gf_http *http, bool only_upgraded)
{
    pthread_mutex_lock(&http->lock);
    const gf_request *r = http->active;
    while (r && only_upgraded && !__atomic_load_n(&r->upgrades, __ATOMIC_ACQUIRE))
        r = r->next;
    pthread_mutex_unlock(&http->lock);
    return r != NULL;
}

static void wait_for_requests(gf_http *http, double until)
{
    while (is_active(http, false) && gf_clock_seconds() < until)
        usleep(5000);
}

/* End all waiting for clients. */
static void cancel_requests(gf_http *http)
{
    pthread_mutex_lock(&http->lock);
    for (gf_request *r = http->active; r; r = r->next) {
        pthread_mutex_lock(&r->lock);
        gf_cancel_request(&r->cancel);
        r->gone = true;
        if (r->upgraded_fd >= 0) shutdown(r->upgraded_fd, SHUT_RDWR);
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
    }
    pthread_mutex_unlock(&http->lock);
}

/* MHD's daemon cannot end while somebody else has one of its sockets. */
static void wait_for_upgraded(gf_http *http)
{
    while (is_active(http, true))
        usleep(5000);
}

void gf_http_stop(gf_http *http, double seconds)
{
    if (!http) return;
    gf_cancel_request(&http->stopping);
    gf_callers_close(http->callers);
    wait_for_requests(http, gf_clock_seconds() + seconds);
    cancel_requests(http);
    wait_for_upgraded(http);
    gf_workers_free(http->workers); /* every connection is resumed then */
    http->workers = NULL;
    MHD_stop_daemon(http->daemon); /* closes the listening socket, too */
    release(http);
}
