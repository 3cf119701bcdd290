/* serve: the store over HTTP, until a signal. */
#include "base/memory.h"
#include "cli/session.h"
#include "formats/reader.h"
#include "server/http/http.h"
#include "server/service/watching.h"
#include "server/socket/socket.h"
#include "storage/hbase/client.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { GRACE_SECONDS = 30, MOST_HOST_NAMES = 64, LOOK_MICROSECONDS = 100000 };

static const gf_parameter parameters[] = {
    {"listen", GF_PARAMETER_TEXT, false, "ADDRESS:PORT", "where to answer (127.0.0.1:61732)", 0, 0},
    {"tokens", GF_PARAMETER_TEXT, false, "FILE",
     "who may do what; needed for other addresses than loopback", 0, 0},
    {"host-name", GF_PARAMETER_SEVERAL, false, "NAME",
     "a name that this server goes by, besides localhost", 0, 0},
    {"workers", GF_PARAMETER_NUMBER, false, "N", "rebuilds at a time (1)", 1, 64},
    {"connections", GF_PARAMETER_NUMBER, false, "N", "connections at a time (256)", 1, 512},
    {"connections-of-one", GF_PARAMETER_NUMBER, false, "N",
     "of one address (32; from loopback any number)", 1, 512},
    {"max-document", GF_PARAMETER_BYTES, false, "SIZE", "refuse larger documents (16M)", 1,
     GF_LARGEST_MAX_DOCUMENT},
    {"rebuild-after", GF_PARAMETER_TEXT, false, "N|N%|TIME",
     "rebuild by itself after so many changes, such a share, or so long (30m, 6h, 1d)", 0, 0},
    {"log-format", GF_PARAMETER_CHOICE, false, "text|json", "of the log on standard error (text)",
     0, 0},
    {"log-level", GF_PARAMETER_CHOICE, false, "error|warn|info|debug", "what is logged (info)", 0,
     0}};
static const gf_operation serve_operation = {.name = "serve",
                                             .meaning = "Answer over HTTP until told to stop",
                                             .parameters = parameters,
                                             .n_parameters = GF_COUNT(parameters)};

static volatile sig_atomic_t reread;

static void on_hangup(int number)
{
    (void)number;
    reread = 1;
}

/* ---- options --------------------------------------------------------------------------------- */

typedef struct http_server {
    gf_session *session;
    gf_log log;
    gf_store *store;
    gf_service *service;
    gf_tasks *tasks;
    gf_tokens *tokens;
    gf_http *http;
    gf_rebuild_after after;
    gf_watching *watching;
    gf_socket *socket;
    gf_slice host_names[MOST_HOST_NAMES];
    size_t n_host_names;
} http_server;

static gf_status read_log_options(http_server *v, gf_error *err)
{
    gf_slice level = gf_session_argument(v->session, "log-level");
    gf_slice format = gf_session_argument(v->session, "log-format");
    v->log = (gf_log){.out = stderr, .level = GF_LOG_INFO};
    v->log.json = gf_slice_equal(format, GF_SLICE("json"));
    if (level.len && !gf_log_level_named(level, &v->log.level))
        return gf_fail(err, GF_EINVAL, "log-level is none of error, warn, info, debug");
    return GF_OK;
}

static gf_status read_host_names(http_server *v, gf_error *err)
{
    for (size_t i = 0; i < v->session->n_arguments; i++) {
        if (!gf_slice_equal(v->session->arguments[i].name, GF_SLICE("host-name"))) continue;
        if (v->n_host_names == MOST_HOST_NAMES)
            return gf_fail(err, GF_EINVAL, "host-name: more than %d", MOST_HOST_NAMES);
        v->host_names[v->n_host_names++] = v->session->arguments[i].value;
    }
    return GF_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static gf_status open_all(http_server *v, gf_error *err)
{
    const gf_session *s = v->session;
    gf_call call = {.arguments = s->arguments, .n_arguments = s->n_arguments};
    gf_store_options store = GF_STORE_OPTIONS(.create = true, .wait_seconds = s->wait_seconds,
                                              .purpose = "serve", .cancel = &gf_session_stop);
    gf_service_options service = {.store_path = s->store_path,
                                  .purpose = "serve",
                                  .rebuilds = true,
                                  .reopens = true,
                                  .workers = (unsigned)gf_call_number(&call, "workers", 1)};
    gf_slice tokens = gf_session_argument(s, "tokens");
    gf_slice after = gf_session_argument(s, "rebuild-after");
    gf_status st = gf_operation_check(&serve_operation, &call, err);
    if (st != GF_OK) return st;
    if ((st = read_log_options(v, err)) || (st = read_host_names(v, err))) return st;
    if (after.len && (st = gf_tasks_after_parse(after, &v->after, err))) return st;
    if (tokens.len && (st = gf_tokens_open(tokens.ptr, &v->tokens, err))) return st;
    if ((st = gf_store_open(s->store_path, &store, &v->store, err))) return st;
    if ((st = gf_service_open(v->store, &service, &v->service, err))) return st;
    return gf_tasks_open(v->service, &v->log, &v->tasks, err);
}

static gf_status keep_up(http_server *v, gf_error *err)
{
    gf_call call = {.arguments = v->session->arguments, .n_arguments = v->session->n_arguments};
    if (!gf_session_argument(v->session, "rebuild-after").len) return GF_OK;
    return gf_tasks_after_watch(v->tasks, &v->after, (unsigned)gf_call_number(&call, "workers", 1),
                                err);
}

static gf_status listen_here(http_server *v, gf_error *err)
{
    gf_call call = {.arguments = v->session->arguments, .n_arguments = v->session->n_arguments};
    gf_slice listen = gf_session_argument(v->session, "listen");
    gf_http_options o = {.listen = listen.len ? listen : GF_SLICE("127.0.0.1:61732"),
                         .service = v->service,
                         .tasks = v->tasks,
                         .socket = v->socket,
                         .tokens = v->tokens,
                         .host_names = v->host_names,
                         .n_host_names = v->n_host_names,
                         .log = &v->log};
    o.connections = (unsigned)gf_call_number(&call, "connections", 0);
    o.connections_of_one = (unsigned)gf_call_number(&call, "connections-of-one", 0);
    o.max_document = gf_call_number(&call, "max-document", 16 << 20);
    gf_status st = gf_http_start(&o, &v->http, err);
    if (st != GF_OK) return st;
    GF_LOG(&v->log, GF_LOG_INFO, "listening", GF_LOG_STR("address", gf_http_address(v->http)),
           GF_LOG_STR("store", v->session->store_path), GF_LOG_NUMBER("process", getpid()));
    return GF_OK;
}

/* Commands are answered too; a folder that can have no socket is not worth failing for. */
static void answer_commands(http_server *v)
{
    gf_error err = {GF_OK, ""};
    gf_socket_options o = {
        .store_path = v->session->store_path, .purpose = "serve", .rebuilds = true, .log = &v->log};
    if (gf_hbase_is_url(v->session->store_path)) return; /* which they open themselves */
    if (gf_socket_open(v->service, &o, &v->socket, &err) != GF_OK)
        GF_LOG(&v->log, GF_LOG_WARN, "no_socket", GF_LOG_STR("error", err.message));
}

/* ---- running and closing --------------------------------------------------------------------- */

static void read_tokens(http_server *v)
{
    gf_error err = {GF_OK, ""};
    reread = 0;
    if (!v->tokens) return;
    if (gf_tokens_read_again(v->tokens, &err) == GF_OK)
        GF_LOG(&v->log, GF_LOG_INFO, "tokens_read", GF_LOG_STR("by", "SIGHUP"));
    else
        GF_LOG(&v->log, GF_LOG_ERROR, "tokens_kept", GF_LOG_STR("error", err.message));
}

static void wait_for_end(http_server *v)
{
    while (gf_cancel_check(&gf_session_stop, NULL) == GF_OK) {
        usleep(LOOK_MICROSECONDS); /* a signal ends it early */
        if (reread) read_tokens(v);
    }
}

static void close_all(http_server *v)
{
    bool served = v->http != NULL;
    if (served) GF_LOG(&v->log, GF_LOG_INFO, "closing", GF_LOG_STR("by", "signal"));
    gf_watching_end(v->watching);
    if (v->tasks) gf_tasks_stop(v->tasks);
    gf_http_stop(v->http, GRACE_SECONDS);
    gf_tasks_close(v->tasks);
    if (v->socket) gf_socket_drain(v->socket, NULL, GRACE_SECONDS);
    gf_socket_close(v->socket);
    if (v->service) gf_service_drain(v->service);
    gf_service_close(v->service);
    gf_store_close(v->store);
    gf_tokens_close(v->tokens);
    if (served) GF_LOG(&v->log, GF_LOG_INFO, "closed", GF_LOG_STR("store", v->session->store_path));
}

static gf_status run_serve(gf_session *s, gf_error *err)
{
    struct sigaction hangup = {.sa_handler = on_hangup};
    http_server v = {.session = s};
    sigaction(SIGHUP, &hangup, NULL);
    gf_memory_keep_little();
    gf_status st = open_all(&v, err);
    if (st == GF_OK) answer_commands(&v);
    if (st == GF_OK) st = listen_here(&v, err);
    if (st == GF_OK) st = keep_up(&v, err);
    if (st == GF_OK && !gf_hbase_is_url(s->store_path)) /* where nobody keeps watches */
        st = gf_watching_begin(v.service, &v.log, &v.watching, err);
    if (st == GF_OK) wait_for_end(&v);
    close_all(&v);
    return st;
}

static const gf_command serve_command = {
    .name = "serve",
    .operation = &serve_operation,
    .examples = "    grouperfish serve\n"
                "    grouperfish serve --listen 127.0.0.1:8080 --log-format json\n"
                "    grouperfish serve --listen 0.0.0.0:61732 --tokens tokens --host-name "
                "cluster.example\n",
    .notes =
        "The store is made where it is missing. A line of FILE is a token of 16 bytes or more,\n"
        "read or write, a namespace or *, and a name for the log, if it is to have one; others\n"
        "must not be able to read the file, and SIGHUP has it read again. SIGINT or SIGTERM end "
        "the server once what it has accepted\n"
        "is answered; rebuilds that are under way are cancelled.\n",
    .run = run_serve,
};

const gf_commands gf_commands_serve = {NULL, GF_LIST(&serve_command)};
