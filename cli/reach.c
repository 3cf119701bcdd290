#include "cli/session.h"

#include "base/clock.h"
#include "server/socket/client.h"
#include "server/socket/wire.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_SLEEP_MS = 2, LAST_SLEEP_MS = 50 };

/* A holder that others still use says so after this many seconds. */
static const double TELL_AFTER = 1;

/* ---- holding --------------------------------------------------------------------------------- */

/* A purge is alone with the store: what others read then would stay in the files. */
static bool answers(const gf_session *s)
{
    return s->command->answers && gf_session_argument(s, "purge").len == 0;
}

/* Where there can be no socket, others wait until the store is free. */
static void answer_others(gf_session *s)
{
    gf_reach_state *r = &s->reach;
    gf_service_options service = {
        .store_path = s->store_path, .purpose = s->command->name, .cancel = &gf_stop};
    gf_socket_options socket = {.store_path = s->store_path, .purpose = s->command->name};
    if (gf_service_open(r->store, &service, &r->service, NULL) == GF_OK)
        (void)gf_socket_open(r->service, &socket, &r->socket, NULL);
}

/* Nothing was told yet, and all that was read can be read again. */
static bool can_begin_again(const gf_session *s)
{
    return gf_wire_carries(s->operation) && s->output.n_rows == 0 && s->n_notices == 0 &&
           gf_rewind_can(&s->reach.input);
}

/* What makes a store, of the kind of data that the command is for. */
static const char *maker(const gf_session *s)
{
    static const char *const makers[] = {"tweets import", "papers import-cdx", "log import",
                                         "table create"};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        size_t group = strcspn(makers[i], " ") + 1;
        if (strncmp(s->command->name, makers[i], group) == 0) return makers[i];
    }
    return "put";
}

static gf_status open_store(void *context, bool create, gf_store **store, gf_error *err)
{
    gf_session *s = context;
    gf_reach_state *r = &s->reach;
    if (r->store) {
        *store = r->store;
        return GF_OK;
    }
    bool again = can_begin_again(s);
    gf_store_options o = {.create = create,
                          .wait_seconds = again ? 0 : s->wait_seconds,
                          .purpose = s->command->name,
                          .cancel = &gf_stop,
                          .small_buffers = gf_session_argument(s, "memory").len > 0};
    gf_status st = gf_store_open(s->store_path, &o, &r->store, err);
    r->held = again && st == GF_EBUSY;
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st,
                       "there is no store at %s; grouperfish %s makes one, --store names another",
                       s->store_path, maker(s));
    if (st != GF_OK) return st;
    gf_rewind_end(&r->input);
    if (gf_store_is_new(r->store) && strcmp(s->command->name, "init") != 0)
        fprintf(stderr, "made a store at %s\n", s->store_path);
    if (answers(s)) answer_others(s);
    *store = r->store;
    return GF_OK;
}

static void close_store(gf_reach_state *r)
{
    gf_socket_close(r->socket);
    gf_service_close(r->service);
    gf_store_close(r->store);
    r->socket = NULL;
    r->service = NULL;
    r->store = NULL;
}

/* Nothing more will be printed: who reads it may be one of the others, and wait for the end. */
static void end_output(void)
{
    int nowhere = fflush(stdout) == 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nowhere < 0) return;
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
}

static void finish_for_others(gf_session *s)
{
    if (!s->reach.socket) return;
    end_output();
    if (gf_socket_drain(s->reach.socket, &gf_stop, TELL_AFTER)) return;
    if (s->meter.kind != GF_METER_NONE)
        fprintf(stderr, "grouperfish %s: done; finishing what other commands asked of the store\n",
                s->command->name);
    gf_socket_drain(s->reach.socket, &gf_stop, 0);
}

/*
 * LevelDB's MANIFEST names the ends of files that are gone, until the store is opened again: the
 * last of a purge. What goes wrong here, the next opening tells.
 */
static void end_purge(gf_session *s)
{
    gf_store *store;
    gf_error ignored;
    if (open_store(s, false, &store, &ignored) == GF_OK) close_store(&s->reach);
}

void gf_session_leave(gf_session *s)
{
    bool purged = s->reach.store && gf_session_argument(s, "purge").len;
    finish_for_others(s);
    close_store(&s->reach);
    if (purged) end_purge(s);
    gf_rewind_release(&s->reach.input);
    gf_buffer_release(&s->reach.token);
}

/* ---- the input ------------------------------------------------------------------------------- */

enum { LOOK_MS = 100 };

static gf_status next_file(void *context, gf_slice *name, gf_error *err)
{
    gf_session *s = context;
    return s->reach.files.next(s->reach.files.context, name, err);
}

/* Where nothing comes, what was printed is seen. */
static bool waits(void *context, unsigned milliseconds)
{
    gf_session *s = context;
    if (!s->reach.files.waits(s->reach.files.context, milliseconds)) return false;
    if (s->out) fflush(s->out);
    return true;
}

/* And a request to stop is heard, also within a line that does not end. */
static gf_status read_file(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_session *s = context;
    do {
        gf_status st = gf_cancel_check(&gf_stop, err);
        if (st != GF_OK) return st;
    } while (waits(s, LOOK_MS));
    return s->reach.files.read(s->reach.files.context, to, n, got, err);
}

static bool is_in_folder(void *context)
{
    gf_session *s = context;
    return s->reach.files.in_folder(s->reach.files.context);
}

static gf_input input_of(gf_session *s)
{
    s->reach.files = gf_files_input(s->files);
    return (gf_input){s, next_file, read_file, is_in_folder, waits};
}

/* ---- asking, or holding ---------------------------------------------------------------------- */

typedef struct waiting {
    double deadline;
    unsigned sleep_ms;
    bool told;
} waiting;

/* The message may be another's: no control characters of it come out. */
static void tell_waiting(const gf_session *s, const gf_error *why)
{
    fprintf(stderr, "grouperfish %s: waiting: ", s->command->name);
    gf_print_text(stderr, gf_slice_str(why->message), 0);
    fputc('\n', stderr);
}

/* Rebuilds wait for as long as the holder lives, unless --wait says how long. */
static void wait_for_holder(gf_session *s, waiting *w, const gf_error *why)
{
    if (!s->wait_given) w->deadline = gf_clock_seconds() + s->wait_seconds;
    w->sleep_ms = LAST_SLEEP_MS;
    if (w->told || s->meter.kind == GF_METER_NONE || gf_clock_seconds() >= w->deadline) return;
    w->told = true;
    tell_waiting(s, why);
}

static gf_status sleep_a_little(waiting *w, gf_error *err)
{
    gf_status st = gf_cancel_check(&gf_stop, err);
    if (st == GF_OK) nanosleep(&(struct timespec){.tv_nsec = w->sleep_ms * 1000000L}, NULL);
    w->sleep_ms = w->sleep_ms * 2 < LAST_SLEEP_MS ? w->sleep_ms * 2 : LAST_SLEEP_MS;
    return st;
}

static gf_status run_here(gf_session *s, gf_error *err)
{
    s->reach.held = false;
    gf_status st = gf_operation_run(s->operation, &s->call, err);
    if (s->reach.held) gf_rewind_start(&s->reach.input);
    return st;
}

/* *again where the store was in other hands, and nothing was done. */
static gf_status try_once(gf_session *s, waiting *w, bool *again, gf_error *err)
{
    gf_asked asked = GF_NOBODY;
    gf_status st = GF_OK;
    if (gf_wire_carries(s->operation))
        st = gf_client_run(s->store_path, s->wait_seconds, s->operation, &s->call, &asked, err);
    if (asked == GF_NOBODY) {
        st = run_here(s, err);
        *again = s->reach.held;
        return st;
    }
    *again = asked != GF_ASKED;
    if (asked == GF_LATER) wait_for_holder(s, w, err);
    return st;
}

/* ---- asking a server ------------------------------------------------------------------------- */

/* An option counts more than the environment, and of two of the latter the server's. */
gf_status gf_session_take_server(gf_session *s, gf_error *err)
{
    const char *url = getenv("GROUPERFISH_SERVER"), *token = getenv("GROUPERFISH_TOKEN_FILE");
    gf_remote *r = &s->reach.remote;
    if (s->server_option && s->store_option)
        return gf_fail(err, GF_EINVAL, "either --store or --server");
    r->url = s->server_option ? s->server_option : s->store_option ? NULL : url;
    if (r->url && !*r->url) r->url = NULL;
    if (s->command->run) { /* which no server does for others */
        if (s->server_option) return gf_fail(err, GF_EINVAL, "--server is not for this command");
        r->url = NULL;
    }
    if (s->token_option) token = s->token_option;
    if (s->token_option && !r->url)
        return gf_fail(err, GF_EINVAL, "--token-file goes with --server");
    gf_status st = r->url ? gf_remote_check(r->url, err) : GF_OK;
    if (st != GF_OK || !r->url || !token || !*token) return st;
    st = gf_remote_read_token(token, &s->reach.token, err);
    r->token = gf_buffer_view(&s->reach.token);
    return st;
}

/* Whatever the server wants, it is waited for in pieces; GF_EBUSY where that is longer than --wait.
 */
static gf_status sleep_for(gf_session *s, const waiting *w, double seconds, gf_error *err)
{
    double until = gf_clock_seconds() + seconds;
    if (until > w->deadline) return GF_EBUSY;
    if (seconds >= TELL_AFTER && s->meter.kind != GF_METER_NONE && !w->told) tell_waiting(s, err);
    while (gf_clock_seconds() < until) {
        gf_status st = gf_cancel_check(&gf_stop, err);
        if (st != GF_OK) return st;
        nanosleep(&(struct timespec){.tv_nsec = LAST_SLEEP_MS * 1000000L}, NULL);
    }
    return GF_OK;
}

static gf_status reach_server(gf_session *s, gf_error *err)
{
    static const double otherwise = 0.2; /* seconds, where the server does not say */
    waiting w = {.deadline = gf_clock_seconds() + s->wait_seconds};
    for (;;) {
        gf_asked asked;
        double after;
        gf_status st = gf_remote_run(&s->reach.remote, s->wait_seconds, s->operation, &s->call,
                                     &asked, &after, err);
        if (asked == GF_ASKED) return st;
        gf_status slept = sleep_for(s, &w, after > 0 ? after : otherwise, err);
        if (slept != GF_OK) return slept;
        w.told = true;
    }
}

/* ---- either ---------------------------------------------------------------------------------- */

static gf_status reach_store(gf_session *s, gf_error *err)
{
    waiting w = {.deadline = gf_clock_seconds() + s->wait_seconds, .sleep_ms = FIRST_SLEEP_MS};
    if (s->files) {
        gf_rewind_init(&s->reach.input, input_of(s));
        s->call.input = gf_rewind_input(&s->reach.input);
    }
    for (;;) {
        bool again;
        gf_status st = try_once(s, &w, &again, err);
        if (!again || gf_clock_seconds() >= w.deadline) return st;
        st = sleep_a_little(&w, err);
        if (st != GF_OK) return st;
    }
}

gf_status gf_session_reach(gf_session *s, gf_error *err)
{
    s->call.holder = (gf_holder){
        .context = s, .store = open_store, .path = s->store_path, .wait_seconds = s->wait_seconds};
    if (!s->reach.remote.url) return reach_store(s, err);
    if (s->files) s->call.input = input_of(s);
    return reach_server(s, err);
}
