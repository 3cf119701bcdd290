#include "cli/store_access.h"

#include "base/clock.h"
#include "cli/terminal/text.h"
#include "server/socket/client.h"
#include "server/socket/wire.h"

#include <assert.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_SLEEP_MS = 2, LAST_SLEEP_MS = 50 };

/* Seconds after which a command that waits says so. */
static const double SAY_AFTER = 1;

/* ---- holding the store ----------------------------------------------------------------------- */

/* Where there can be no socket, others wait until the store is free. */
static void answer_others(gf_store_access *c)
{
    gf_service_options service = {
        .store_path = c->store_path, .purpose = c->command, .cancel = c->cancel};
    gf_socket_options socket = {.store_path = c->store_path, .purpose = c->command};
    if (gf_service_open(c->store, &service, &c->service, NULL) == GF_OK)
        (void)gf_socket_open(c->service, &socket, &c->socket, NULL);
}

/* Nothing was printed yet, and all that was read can be read again. */
static bool can_begin_again(const gf_store_access *c)
{
    return gf_wire_carries(c->operation) && !c->told && gf_rewind_can(&c->input);
}

gf_status gf_store_access_store(gf_store_access *c, bool create, gf_store **store, gf_error *err)
{
    if (c->store) {
        *store = c->store;
        return GF_OK;
    }
    bool again = can_begin_again(c);
    gf_store_options o = {.create = create,
                          .wait_seconds = again ? 0 : c->wait_seconds,
                          .purpose = c->command,
                          .cancel = c->cancel,
                          .small_buffers = c->small_buffers};
    gf_status st = gf_store_open(c->store_path, &o, &c->store, err);
    c->held = again && st == GF_EBUSY;
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st,
                       "there is no store at %s; grouperfish %s makes one, --store names another",
                       c->store_path, c->maker);
    if (st != GF_OK) return st;
    gf_rewind_end(&c->input);
    if (gf_store_is_new(c->store) && c->announces)
        fprintf(stderr, "made a store at %s\n", c->store_path);
    if (c->answers) answer_others(c);
    *store = c->store;
    return GF_OK;
}

static void close_store(gf_store_access *c)
{
    gf_socket_close(c->socket);
    gf_service_close(c->service);
    gf_store_close(c->store);
    c->socket = NULL;
    c->service = NULL;
    c->store = NULL;
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

static void finish_for_others(gf_store_access *c)
{
    if (!c->socket) return;
    give_up_output();
    if (gf_socket_drain(c->socket, c->cancel, SAY_AFTER)) return;
    if (!c->quiet)
        fprintf(stderr, "grouperfish %s: done; finishing what other commands asked of the store\n",
                c->command);
    gf_socket_drain(c->socket, c->cancel, 0);
}

void gf_store_access_close(gf_store_access *c)
{
    bool purged = c->store && c->purges;
    finish_for_others(c);
    close_store(c);
    if (purged) {
        /*
         * LevelDB's MANIFEST names the ends of deleted files until the store is opened again: the
         * last step of a purge. An error here will come up at the next opening.
         */
        gf_store *store;
        gf_error ignored;
        if (gf_store_access_store(c, false, &store, &ignored) == GF_OK) close_store(c);
    }
    gf_rewind_release(&c->input);
}

/* ---- asking the holder, or holding ----------------------------------------------------------- */

/* How long a call waits for its turn. */
typedef struct patience {
    double deadline;
    unsigned sleep_ms;
    bool said; /* that it waits */
} patience;

/* The message may be another process's: no control characters of it come out. */
static void say_waiting(const gf_store_access *c, const gf_error *why)
{
    fprintf(stderr, "grouperfish %s: waiting: ", c->command);
    gf_text_print(stderr, gf_slice_str(why->message), 0);
    fputc('\n', stderr);
}

/* Rebuilds wait for as long as the holder lives, unless --wait says how long. */
static void wait_for_holder(const gf_store_access *c, patience *p, const gf_error *why)
{
    if (!c->wait_given) p->deadline = gf_clock_seconds() + c->wait_seconds;
    p->sleep_ms = LAST_SLEEP_MS;
    if (p->said || c->quiet || gf_clock_seconds() >= p->deadline) return;
    p->said = true;
    say_waiting(c, why);
}

static gf_status sleep_ms(const gf_store_access *c, unsigned milliseconds, gf_error *err)
{
    gf_status st = gf_cancel_check(c->cancel, err);
    if (st == GF_OK) nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000L}, NULL);
    return st;
}

/* *again where another process has the store, and nothing was done. */
static gf_status try_once(gf_store_access *c, gf_call *call, patience *p, bool *again,
                          gf_error *err)
{
    gf_asked asked = GF_NOBODY;
    gf_status st = GF_OK;
    if (gf_wire_carries(c->operation))
        st = gf_client_run(c->store_path, c->wait_seconds, c->operation, call, &asked, err);
    if (asked == GF_NOBODY) {
        c->held = false;
        st = gf_operation_run(c->operation, call, err);
        if (c->held) gf_rewind_start(&c->input);
        *again = c->held;
        return st;
    }
    *again = asked != GF_ASKED;
    if (asked == GF_LATER) wait_for_holder(c, p, err);
    return st;
}

static gf_status run_on_store(gf_store_access *c, gf_call *call, gf_error *err)
{
    patience p = {.deadline = gf_clock_seconds() + c->wait_seconds, .sleep_ms = FIRST_SLEEP_MS};
    for (;;) {
        bool again;
        gf_status st = try_once(c, call, &p, &again, err);
        if (!again || gf_clock_seconds() >= p.deadline) return st;
        st = sleep_ms(c, p.sleep_ms, err);
        if (st != GF_OK) return st;
        p.sleep_ms = p.sleep_ms * 2 < LAST_SLEEP_MS ? p.sleep_ms * 2 : LAST_SLEEP_MS;
    }
}

/* ---- asking a server ------------------------------------------------------------------------- */

/* Wait for as long as a busy server says; GF_EBUSY where that is longer than --wait. */
static gf_status wait_for_server(const gf_store_access *c, const patience *p, double seconds,
                                 gf_error *err)
{
    double until = gf_clock_seconds() + seconds;
    if (until > p->deadline) return GF_EBUSY;
    if (seconds >= SAY_AFTER && !c->quiet && !p->said) say_waiting(c, err);
    while (gf_clock_seconds() < until) {
        gf_status st = sleep_ms(c, LAST_SLEEP_MS, err);
        if (st != GF_OK) return st;
    }
    return GF_OK;
}

static gf_status run_on_server(gf_store_access *c, gf_call *call, gf_error *err)
{
    static const double otherwise = 0.2; /* seconds, where the server does not say */
    patience p = {.deadline = gf_clock_seconds() + c->wait_seconds};
    gf_rewind_end(&c->input);
    for (;;) {
        gf_asked asked;
        double after;
        gf_status st =
            gf_remote_run(&c->remote, c->wait_seconds, c->operation, call, &asked, &after, err);
        if (asked == GF_ASKED) return st;
        gf_status slept = wait_for_server(c, &p, after > 0 ? after : otherwise, err);
        if (slept != GF_OK) return slept;
        p.said = true;
    }
}

gf_status gf_store_access_run(gf_store_access *c, const gf_operation *operation, gf_call *call,
                              gf_error *err)
{
    assert(c->command && c->store_path && c->maker && !c->operation);
    c->operation = operation;
    if (c->files) {
        gf_rewind_init(&c->input, gf_files_input(c->files), c->out, c->cancel);
        call->input = gf_rewind_input(&c->input);
    }
    return c->remote.url ? run_on_server(c, call, err) : run_on_store(c, call, err);
}
