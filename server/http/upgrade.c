/*
 * The upgrade for commands: any operation, as over the store's own socket.
 *
 *     POST /v1/operations/{operation}?namespace=N      Connection: Upgrade, Upgrade: grouperfish/1
 *     101 Switching Protocols                          and then the wire (server/socket/wire.h)
 *
 * Path and namespace say what may be called, and the token is checked for that before anything is
 * switched: the conversation can call nothing else. A rebuild is a task here, which goes on where
 * the connection is lost.
 */
#include "server/http/answer.h"
#include "server/http/callers.h"
#include "server/http/route.h"
#include "server/http/rows.h"

#include "base/clock.h"
#include "base/memory.h"
#include "server/service/audit.h"
#include "server/socket/wire.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROTOCOL "grouperfish/1"

/* A peer whose machine has gone is noticed after so many seconds, and so many questions more. */
enum { ALIVE_AFTER = 30, ALIVE_EVERY = 10, ALIVE_TIMES = 3 };

void gf_upgrade_find(gf_request *r)
{
    char name[64];
    gf_slice asked = gf_route_argument(r, "operation");
    if (asked.len < sizeof name) {
        memcpy(name, asked.ptr, asked.len);
        name[asked.len] = '\0';
        if (strlen(name) == asked.len) r->called = gf_operation_find(name);
    }
}

/* ---- what is called -------------------------------------------------------------------------- */

static gf_status run_limited(gf_request *r, const gf_operation *o, gf_call *call,
                             const bool *stopped, gf_error *err)
{
    if (o->rebuilds && !gf_tasks_is_answered_now(call->arguments, call->n_arguments)) {
        gf_status st = gf_operation_check(o, call, err);
        return st == GF_OK ? gf_tasks_follow(r->http->options.tasks, call, stopped, err) : st;
    }
    return gf_service_run(r->http->options.service, o, call, err);
}

static gf_status run_call(void *context, const gf_operation *o, gf_call *call, const bool *stopped,
                          gf_error *err)
{
    gf_request *r = context;
    gf_argument added[GF_ROWS_MOST_ADDED];
    size_t n = 0;
    /* How the caller names the store is for its eyes: what opens a store opens the server's. */
    if (o->use != GF_USE_SHARED) call->holder.path = NULL;
    gf_status st = gf_rows_add(r, o, call, added, &n, err);
    if (st != GF_OK) return st;
    if (n == 0) return run_limited(r, o, call, stopped, err);
    gf_argument *all = gf_array(call->n_arguments + n, sizeof *all);
    if (!all) return gf_fail_memory(err, "a call");
    for (size_t i = 0; i < call->n_arguments; i++)
        all[i] = call->arguments[i];
    for (size_t i = 0; i < n; i++)
        all[call->n_arguments++] = added[i];
    call->arguments = all;
    st = run_limited(r, o, call, stopped, err);
    gf_free(all);
    return st;
}

/* ---- the conversation ------------------------------------------------------------------------ */

static void set_options(int fd)
{
    const struct {
        int level, name, value;
    } options[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                   {IPPROTO_TCP, TCP_KEEPIDLE, ALIVE_AFTER},
                   {IPPROTO_TCP, TCP_KEEPINTVL, ALIVE_EVERY},
                   {IPPROTO_TCP, TCP_KEEPCNT, ALIVE_TIMES},
                   {IPPROTO_TCP, TCP_NODELAY, 1}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        (void)setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

/* A conversation: its request, and MHD's handle of the connection. */
typedef struct conversation {
    gf_request *request;
    struct MHD_UpgradeResponseHandle *handle;
} conversation;

/* A write is told with the token that let its connection in. */
static gf_status run_conversation(void *context, const gf_operation *o, gf_call *call,
                                  const bool *stopped, gf_error *err)
{
    const gf_request *r = ((conversation *)context)->request;
    gf_error why = {GF_OK, ""};
    double begun = gf_clock_seconds();
    const gf_argument *given =
        call->arguments; /* those that are run with may have the limit, too */
    size_t n_given = call->n_arguments;
    gf_status st = gf_operation_check_from_afar(o, given, n_given, &why);
    if (st == GF_OK) st = run_call(((conversation *)context)->request, o, call, stopped, &why);
    call->arguments = given;
    call->n_arguments = n_given;
    if (gf_operation_writes(o))
        gf_audit_write(r->http->options.log, GF_LOG_INFO,
                       &(gf_audited_call){.operation = o->name,
                                          .name_space = call->name_space,
                                          .arguments = given,
                                          .n_arguments = n_given,
                                          .result = st == GF_OK ? "done" : why.message,
                                          .address = r->address,
                                          .token = r->token,
                                          .seconds = gf_clock_seconds() - begun});
    if (st != GF_OK && err) *err = why;
    return st;
}

/* The request lives until MHD is told, and not longer. */
static void end_conversation(void *context)
{
    conversation v = *(conversation *)context;
    gf_free(context);
    MHD_upgrade_action(v.handle, MHD_UPGRADE_ACTION_CLOSE);
}

/* On MHD's thread. Whoever speaks before it was answered is not one of ours. */
static void switch_over(void *context, struct MHD_Connection *connection, void *state,
                        const char *extra, size_t n_extra, MHD_socket fd,
                        struct MHD_UpgradeResponseHandle *handle)
{
    gf_request *r = context;
    conversation *v = n_extra == 0 ? gf_calloc(1, sizeof *v) : NULL;
    int own = v ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    (void)connection, (void)state, (void)extra;
    gf_remote_caller remote = {own, r->called, r->name_space, run_conversation, end_conversation,
                               v};
    gf_callers_left(r);
    set_options(fd);
    if (own >= 0) {
        *v = (conversation){r, handle};
        pthread_mutex_lock(&r->lock);
        r->upgraded_fd = fd;
        if (r->gone) shutdown(fd, SHUT_RDWR); /* the server is closing */
        pthread_mutex_unlock(&r->lock);
        r->has_reservation = false;
        if (gf_socket_take_remote(r->http->options.socket, &remote, NULL) == GF_OK) return;
    }
    gf_free(v);
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

struct MHD_Response *gf_upgrade_response(gf_request *r)
{
    struct MHD_Response *response = MHD_create_response_for_upgrade(switch_over, r);
    if (response) MHD_add_response_header(response, MHD_HTTP_HEADER_UPGRADE, PROTOCOL);
    return response;
}

/* ---- the route ------------------------------------------------------------------------------- */

static bool wants_to_switch(const gf_request *r)
{
    const char *to =
        MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_UPGRADE);
    return to && strcasecmp(to, PROTOCOL) == 0;
}

static void accept_upgrade(gf_request *r)
{
    gf_socket *socket = r->http->options.socket;
    if (!r->called)
        gf_answer_problem(r, 404, "there is no such operation");
    else if (r->called->local)
        gf_answer_problem(r, 403, GF_REFUSED_OVER_HTTP);
    else if (r->has_body || !wants_to_switch(r))
        gf_answer_problem(r, 426, "this address wants Upgrade: " PROTOCOL ", and no body");
    else if (!socket || !gf_socket_reserve(socket))
        gf_answer_problem(r, 503, "too many commands are served at once");
    else {
        r->status = MHD_HTTP_SWITCHING_PROTOCOLS;
        r->has_reservation = true;
        __atomic_store_n(&r->upgrades, true, __ATOMIC_RELEASE);
    }
}

const gf_route gf_routes_of_upgrade[] = {{.name = "operation",
                                          .method = "POST",
                                          .path = "/v1/operations/{operation}",
                                          .run = accept_upgrade,
                                          .scope = GF_SCOPE_CALLED,
                                          .writes = true,
                                          .quick = true,
                                          .body = GF_BODY_NONE,
                                          .meaning = "Run any operation for a command (Upgrade)"}};
const size_t gf_n_routes_of_upgrade = sizeof gf_routes_of_upgrade / sizeof gf_routes_of_upgrade[0];
