#include "cli/store_access.h"

#include "base/clock.h"
#include "cli/terminal/text.h"
#include "server/socket/client.h"
#include "server/socket/wire.h"
#include "storage/hbase/client.h"

#include <assert.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_SLEEP_MS = 2, LAST_SLEEP_MS = 50, SHARED_SLEEP_MS = 500 };

/* Seconds after which a process that was at something in a store of several has ended, and somewhat more. */
static const double LEASE_SECONDS = 40;

/* Seconds after which a command that waits says so. */
static const double SAY_AFTER = 1;

/* ---- holding the store ----------------------------------------------------------------------- */

/* A folder that can have no socket is no failure: others then wait until the store is free. */
static void answer_others(gf_store_access *a)
{
    gf_service_options service = {
        .store_path = a->store_path, .purpose = a->command, .cancel = a->cancel};
    gf_socket_options socket = {.store_path = a->store_path, .purpose = a->command};
    if (gf_service_open(a->store, &service, &a->service, NULL) == GF_OK)
        (void)gf_socket_open(a->service, &socket, &a->socket, NULL);
}

/* Nothing was printed yet, and all that was read can be read again. */
static bool can_begin_again(const gf_store_access *a)
{
    return a->operation->use == GF_USE_SHARED && !a->told && gf_rewind_can(&a->input);
}

static gf_status open_store(void *context, bool create, gf_store **store, gf_error *err)
{
    gf_store_access *a = context;
    if (a->store) {
        *store = a->store;
        return GF_OK;
    }
    bool again = can_begin_again(a);
    gf_store_options o =
        GF_STORE_OPTIONS(.create = create, .wait_seconds = again ? 0 : a->wait_seconds,
                         .purpose = a->command, .cancel = a->cancel,
                         .small_buffers = a->small_buffers, .read_only = a->read_only,
                         .reads = !gf_operation_changes_store(a->operation));
    gf_status st = gf_store_open(a->store_path, &o, &a->store, err);
    a->held = again && st == GF_EBUSY;
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st,
                       "there is no store at %s; grouperfish %s makes one, --store names another",
                       a->store_path, a->maker);
    if (st != GF_OK) return st;
    gf_rewind_end(&a->input);
    if (gf_store_is_new(a->store) && a->announces)
        fprintf(stderr, "made a store at %s\n", a->store_path);
    bool alone = gf_store_is_read_only(a->store) || gf_hbase_is_url(a->store_path);
    if (a->answers && !alone) answer_others(a);
    *store = a->store;
    return GF_OK;
}

static void close_store(gf_store_access *a)
{
    gf_socket_close(a->socket);
    gf_service_close(a->service);
    gf_store_close(a->store);
    a->socket = NULL;
    a->service = NULL;
    a->store = NULL;
}

/*
 * Nothing more will be printed: give standard output up, since a reader that waits for its end may
 * be the very command that is still to be answered.
 */
static void give_up_output(void)
{
    int nowhere = fflush(stdout) == 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nowhere < 0) return;
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
}

static void finish_for_others(gf_store_access *a)
{
    if (!a->socket) return;
    give_up_output();
    if (gf_socket_drain(a->socket, a->cancel, SAY_AFTER)) return;
    if (!a->quiet)
        fprintf(stderr, "grouperfish %s: done; finishing what other commands asked of the store\n",
                a->command);
    gf_socket_drain(a->socket, a->cancel, 0);
}

void gf_store_access_close(gf_store_access *a)
{
    bool purged = a->store && a->purges;
    finish_for_others(a);
    close_store(a);
    if (purged) {
        /*
         * The last step of a purge: LevelDB's MANIFEST names the last keys of deleted files until
         * the store is opened again. An error here will come up at the next opening.
         */
        gf_store *store;
        gf_error ignored;
        if (open_store(a, false, &store, &ignored) == GF_OK) close_store(a);
    }
    gf_rewind_release(&a->input);
}

/* ---- asking the holder, or holding ----------------------------------------------------------- */

/* How long a call waits for its turn. */
typedef struct patience {
    double deadline;
    unsigned sleep_ms;
    bool said; /* that it waits */
} patience;

/* The message may be another process's: no control characters of it come out. */
static void say_waiting(const gf_store_access *a, const gf_error *why)
{
    fprintf(stderr, "grouperfish %s: waiting: ", a->command);
    gf_text_print(stderr, gf_slice_str(why->message), 0);
    fputc('\n', stderr);
}

/* Rebuilds wait for as long as the holder lives, unless --wait says how long. */
static void wait_for_holder(const gf_store_access *a, patience *p, const gf_error *why)
{
    if (!a->wait_given) p->deadline = gf_clock_seconds() + a->wait_seconds;
    p->sleep_ms = LAST_SLEEP_MS;
    if (p->said || a->quiet || gf_clock_seconds() >= p->deadline) return;
    p->said = true;
    say_waiting(a, why);
}

/* Another process does the like on a store in HBase, and nothing was done or said here. */
static bool is_another_at_it(const gf_store_access *a, const gf_call *call, gf_status st)
{
    return st == GF_EBUSY && gf_hbase_is_url(a->store_path) && !a->told && !call->input.next;
}

/* Unless --wait says how long: rebuilds while the other one lives, all else until it would have ended. */
static void wait_for_lease(const gf_store_access *a, patience *p, const gf_error *why)
{
    if (a->operation->rebuilds) {
        wait_for_holder(a, p, why);
        return;
    }
    if (!p->said && !a->wait_given) p->deadline += LEASE_SECONDS;
    if (!p->said && !a->quiet) say_waiting(a, why);
    p->said = true;
}

static gf_status sleep_ms(const gf_store_access *a, unsigned milliseconds, gf_error *err)
{
    gf_status st = gf_cancel_check(a->cancel, err);
    if (st == GF_OK) nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000L}, NULL);
    return st;
}

/* *again where another process has the store, and nothing was done. */
static gf_status try_once(gf_store_access *a, gf_call *call, patience *p, bool *again,
                          gf_error *err)
{
    gf_asked asked = GF_CLIENT_NOBODY;
    gf_status st = GF_OK;
    /* A store in HBase is held by nobody: each opens it. */
    if (a->operation->use == GF_USE_SHARED && !gf_hbase_is_url(a->store_path))
        st = gf_client_run(a->store_path, a->wait_seconds, a->operation, call, &asked, err);
    if (asked == GF_CLIENT_NOBODY) {
        a->held = false;
        st = gf_operation_run(a->operation, call, err);
        if (a->held) gf_rewind_start(&a->input);
        *again = a->held;
        if (is_another_at_it(a, call, st)) {
            *again = true;
            wait_for_lease(a, p, err);
        }
        return st;
    }
    *again = asked != GF_CLIENT_ASKED;
    if (asked == GF_CLIENT_LATER) wait_for_holder(a, p, err);
    return st;
}

static gf_status run_on_store(gf_store_access *a, gf_call *call, gf_error *err)
{
    patience p = {.deadline = gf_clock_seconds() + a->wait_seconds, .sleep_ms = FIRST_SLEEP_MS};
    for (;;) {
        bool again;
        gf_status st = try_once(a, call, &p, &again, err);
        if (!again || gf_clock_seconds() >= p.deadline) return st;
        st = sleep_ms(a, p.sleep_ms, err);
        if (st != GF_OK) return st;
        p.sleep_ms = p.sleep_ms * 2 < LAST_SLEEP_MS ? p.sleep_ms * 2 : LAST_SLEEP_MS;
        if (gf_hbase_is_url(a->store_path)) p.sleep_ms = SHARED_SLEEP_MS;
    }
}

/* ---- asking a server ------------------------------------------------------------------------- */

/* Wait for as long as a busy server says; GF_EBUSY where that is longer than --wait. */
static gf_status wait_for_server(const gf_store_access *a, const patience *p, double seconds,
                                 gf_error *err)
{
    double until = gf_clock_seconds() + seconds;
    if (until > p->deadline) return GF_EBUSY;
    if (seconds >= SAY_AFTER && !a->quiet && !p->said) say_waiting(a, err);
    while (gf_clock_seconds() < until) {
        gf_status st = sleep_ms(a, LAST_SLEEP_MS, err);
        if (st != GF_OK) return st;
    }
    return GF_OK;
}

static gf_status run_on_server(gf_store_access *a, gf_call *call, gf_error *err)
{
    static const double otherwise = 0.2; /* seconds, where the server does not say */
    patience p = {.deadline = gf_clock_seconds() + a->wait_seconds};
    gf_rewind_end(&a->input);
    for (;;) {
        gf_asked asked;
        double after;
        gf_status st =
            gf_remote_run(&a->remote, a->wait_seconds, a->operation, call, &asked, &after, err);
        if (asked == GF_CLIENT_ASKED) return st;
        gf_status slept = wait_for_server(a, &p, after > 0 ? after : otherwise, err);
        if (slept != GF_OK) return slept;
        p.said = true;
    }
}

gf_status gf_store_access_run(gf_store_access *a, const gf_operation *operation, gf_call *call,
                              gf_error *err)
{
    assert(a->command && a->store_path && a->maker && !a->operation);
    a->operation = operation;
    if (a->from.next) call->input = a->from;
    if (call->input.next) {
        gf_rewind_init(&a->input, call->input, a->out, a->cancel);
        call->input = gf_rewind_input(&a->input);
    }
    call->holder = (gf_holder){
        .context = a, .store = open_store, .path = a->store_path, .wait_seconds = a->wait_seconds};
    return a->remote.url ? run_on_server(a, call, err) : run_on_store(a, call, err);
}
