/*
 * The service: who may run, and when.
 *
 * One mutex guards the counts and the line of those who wait for a worker. The line is a list of
 * tickets that live on the waiting threads' stacks; a worker goes to its head. Waiting looks at
 * cancels every tenth of a second, since whoever requests one (a signal handler) cannot signal a
 * condition.
 */
#include "server/service/service.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOK_MS = 100, REOPEN_MS = 500, QUIET_MS = 5000, CLOSED_MS = 2000 };

typedef struct ticket {
    struct ticket *next;
} ticket;

struct gf_service {
    gf_store *store;
    gf_service_options options;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a call ended, a worker is free */
    pthread_cond_t end;     /* `ending` is set */
    size_t running;         /* calls that were accepted and have not ended */
    unsigned rebuilding;    /* of these: that have a worker */
    ticket *first;          /* of the line */
    bool draining;
    bool closed;        /* no call is accepted: the store is opened again */
    bool ending;        /* the thread below is to end */
    pthread_t reopener; /* where options.reopens */
    gf_error failure;   /* why the store was not opened again; GF_OK: it need not be */
    gf_rebuild_counts rebuilds;
    char holder[96];
};

/* ---- beginning and ending -------------------------------------------------------------------- */

static gf_status accept_call(gf_service *s, gf_error *err)
{
    pthread_mutex_lock(&s->lock);
    bool draining = s->draining, closed = s->closed;
    s->running += !draining && !closed;
    pthread_mutex_unlock(&s->lock);
    if (draining) return gf_fail(err, GF_EBUSY, "the server is closing; try again");
    if (closed) return gf_fail(err, GF_EBUSY, "the store is being opened again; try again");
    return GF_OK;
}

static void end_call(gf_service *s)
{
    pthread_mutex_lock(&s->lock);
    s->running--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

gf_status gf_service_take(gf_service *s, gf_store **store, gf_error *err)
{
    gf_status st = accept_call(s, err);
    if (st == GF_OK) *store = s->store;
    return st;
}

void gf_service_give(gf_service *s)
{
    end_call(s);
}

size_t gf_service_running(gf_service *s)
{
    pthread_mutex_lock(&s->lock);
    size_t n = s->running;
    pthread_mutex_unlock(&s->lock);
    return n;
}

void gf_service_drain(gf_service *s)
{
    pthread_mutex_lock(&s->lock);
    s->draining = true;
    while (s->running)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

/* ---- workers --------------------------------------------------------------------------------- */

bool gf_service_rebuilds(const gf_operation *o, const gf_argument *arguments, size_t n)
{
    if (o->rebuilds) return !gf_operations_have_flag(arguments, n, "dry-run");
    return gf_operations_have_flag(arguments, n, "purge") ||
           gf_operations_have_flag(arguments, n, "stability");
}

static void leave_line(gf_service *s, const ticket *mine)
{
    ticket **at = &s->first;
    while (*at != mine)
        at = &(*at)->next;
    *at = mine->next;
}

static void join_line(gf_service *s, ticket *mine)
{
    ticket **at = &s->first;
    while (*at)
        at = &(*at)->next;
    *at = mine;
}

/* The collection of the call, for whoever is told that it waits. */
static gf_slice collection_of(const gf_call *call)
{
    for (size_t i = 0; i < call->n_arguments; i++)
        if (gf_slice_equal(call->arguments[i].name, GF_SLICE("collection")))
            return call->arguments[i].value;
    return (gf_slice){"", 0};
}

static gf_status take_worker(gf_service *s, const gf_call *call, gf_error *err)
{
    ticket mine = {NULL};
    bool told = false;
    gf_status st = GF_OK;
    pthread_mutex_lock(&s->lock);
    join_line(s, &mine);
    while (st == GF_OK && (s->first != &mine || s->rebuilding >= s->options.workers)) {
        if (!told) {
            pthread_mutex_unlock(&s->lock);
            gf_call_progress(call, collection_of(call), "waiting", 0, 0);
            pthread_mutex_lock(&s->lock);
            told = true;
            continue;
        }
        gf_condition_wait_ms(&s->changed, &s->lock, LOOK_MS);
        st = gf_cancel_check(call->cancel, err);
        if (st == GF_OK) st = gf_cancel_check(s->options.cancel, err);
    }
    leave_line(s, &mine);
    s->rebuilding += st == GF_OK;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static void give_worker_back(gf_service *s)
{
    pthread_mutex_lock(&s->lock);
    s->rebuilding--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* ---- the call, as the operation sees it ------------------------------------------------------ */

static gf_status give_store(void *context, bool create, gf_store **store, gf_error *err)
{
    (void)create, (void)err;
    *store = ((gf_service *)context)->store;
    return GF_OK;
}

/* The caller's name of the store counts, where it gives one. */
static gf_status run(gf_service *s, const gf_operation *o, gf_call *call, gf_error *err)
{
    gf_holder outer = call->holder;
    call->holder = (gf_holder){.context = s,
                               .store = give_store,
                               .path = outer.path ? outer.path : s->options.store_path,
                               .name = s->holder};
    gf_status st = gf_operation_run(o, call, err);
    call->holder = outer;
    return st;
}

/* ---- rebuilding ------------------------------------------------------------------------------ */

typedef struct aside {
    gf_service *service;
    const gf_operation *operation;
    gf_call *call;
    gf_status status;
    gf_error error;
} aside;

/* Reads have priority over rebuilds; a rebuild's own threads inherit its niceness. */
static void step_back(void)
{
    enum { POLITE = 10 };
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), POLITE);
}

static void *run_politely(void *context)
{
    aside *a = context;
    step_back();
    a->status = run(a->service, a->operation, a->call, &a->error);
    return NULL;
}

/* On a thread of its own, since a thread that has stepped back may not come forward again. */
static gf_status run_aside(gf_service *s, const gf_operation *o, gf_call *call, gf_error *err)
{
    pthread_t thread;
    sigset_t all, before;
    aside a = {.service = s, .operation = o, .call = call};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, run_politely, &a);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) return run(s, o, call, err);
    pthread_join(thread, NULL);
    if (a.status != GF_OK && err) *err = a.error;
    return a.status;
}

/* ---- counting them --------------------------------------------------------------------------- */

const double gf_rebuild_bounds[GF_REBUILD_BUCKETS - 1] = {0.1, 1, 5, 15, 60, 300, 1800, 7200};

static void count_rebuild(gf_service *s, const gf_call *call, gf_status st, double seconds)
{
    gf_rebuild_counts *c = &s->rebuilds;
    bool done = st == GF_OK && call->outcome == GF_OUTCOME_DONE;
    size_t b = 0;
    while (b < GF_REBUILD_BUCKETS - 1 && seconds > gf_rebuild_bounds[b])
        b++;
    pthread_mutex_lock(&s->lock);
    c->bucket[b]++;
    c->seconds += seconds;
    *(done ? &c->done : st == GF_ECANCELLED ? &c->cancelled : &c->failed) += 1;
    if (done) c->done_ms = gf_clock_ms();
    pthread_mutex_unlock(&s->lock);
}

gf_rebuild_counts gf_service_count_rebuilds(gf_service *s)
{
    pthread_mutex_lock(&s->lock);
    gf_rebuild_counts counts = s->rebuilds;
    pthread_mutex_unlock(&s->lock);
    return counts;
}

/* ---- running a call -------------------------------------------------------------------------- */

static gf_status refuse_rebuild(const gf_service *s, gf_error *err)
{
    const char *purpose = s->options.purpose;
    return gf_fail(err, GF_EBUSY, "process %ld holds the store%s%s and does not rebuild for others",
                   (long)getpid(), purpose ? " for " : "", purpose ? purpose : "");
}

static gf_status check_namespace(gf_slice name, gf_error *err)
{
    if (name.len == 0) return gf_fail(err, GF_EINVAL, "the name of a namespace cannot be empty");
    if (name.len > GF_MAX_NAME)
        return gf_fail(err, GF_EINVAL, "the name of a namespace has at most %d bytes, not %zu",
                       GF_MAX_NAME, name.len);
    if (gf_utf8_valid_length(name) != name.len)
        return gf_fail(err, GF_EINVAL, "the name of a namespace is not valid UTF-8");
    return GF_OK;
}

static gf_status run_accepted(gf_service *s, const gf_operation *o, gf_call *call, gf_error *err)
{
    gf_status st = check_namespace(call->name_space, err);
    if (st != GF_OK) return st;
    if (!gf_service_rebuilds(o, call->arguments, call->n_arguments)) return run(s, o, call, err);
    if (!s->options.rebuilds) return refuse_rebuild(s, err);
    st = gf_operation_check(o, call, err); /* a wrong call does not wait first */
    if (st == GF_OK) st = take_worker(s, call, err);
    if (st != GF_OK) return st;
    double begun = gf_clock_seconds();
    st = run_aside(s, o, call, err);
    if (o->rebuilds) count_rebuild(s, call, st, gf_clock_seconds() - begun);
    give_worker_back(s);
    return st;
}

gf_status gf_service_run(gf_service *s, const gf_operation *o, gf_call *call, gf_error *err)
{
    call->outcome = GF_OUTCOME_DONE;
    call->partly = false;
    gf_status st = accept_call(s, err);
    if (st != GF_OK) return st;
    st = run_accepted(s, o, call, err);
    end_call(s);
    return st;
}

/* ---- opening the store again ----------------------------------------------------------------- */

/* With the lock held: whether no call runs, within so many milliseconds. */
static bool is_quiet(gf_service *s, unsigned milliseconds)
{
    struct timespec until = gf_condition_deadline(milliseconds);
    bool waits = true;
    while (s->running && waits && !s->ending)
        waits = gf_condition_wait(&s->changed, &s->lock, &until);
    return s->running == 0;
}

/* Whether no call runs, and none will: the service is closed then. */
static bool close_quietly(gf_service *s)
{
    pthread_mutex_lock(&s->lock);
    bool quiet = s->closed || is_quiet(s, QUIET_MS);
    s->closed = true;
    if (!quiet) quiet = is_quiet(s, CLOSED_MS);
    s->closed = quiet;
    pthread_mutex_unlock(&s->lock);
    return quiet;
}

static void reopen(gf_service *s)
{
    gf_error err = {GF_OK, ""};
    gf_status st = gf_store_check_room(s->store, &err);
    bool quiet = st == GF_OK && close_quietly(s);
    if (quiet) gf_store_reopen(s->store, &err);
    pthread_mutex_lock(&s->lock);
    if (quiet) s->closed = err.status != GF_OK;
    s->failure = err;
    pthread_mutex_unlock(&s->lock);
}

static bool is_ending(gf_service *s)
{
    pthread_mutex_lock(&s->lock);
    if (!s->ending) gf_condition_wait_ms(&s->end, &s->lock, REOPEN_MS);
    bool ending = s->ending;
    pthread_mutex_unlock(&s->lock);
    return ending;
}

/* Nobody but this thread opens the store again, so it may look at it without the lock. */
static void *keep_open(void *context)
{
    gf_service *s = context;
    while (!is_ending(s))
        if (gf_store_has_failed(s->store)) reopen(s);
    return NULL;
}

gf_status gf_service_check(gf_service *s, gf_error *err)
{
    pthread_mutex_lock(&s->lock);
    bool fails = s->closed || gf_store_has_failed(s->store);
    gf_error why = s->failure;
    pthread_mutex_unlock(&s->lock);
    if (!fails) return GF_OK;
    return gf_fail(err, GF_EBUSY, "the store takes no writes%s%s", why.status == GF_OK ? "" : ": ",
                   why.status == GF_OK ? "" : why.message);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void release(gf_service *s)
{
    pthread_cond_destroy(&s->end);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    gf_free(s);
}

gf_status gf_service_open(gf_store *store, const gf_service_options *options, gf_service **service,
                          gf_error *err)
{
    gf_service *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a service");
    s->store = store;
    s->options = *options;
    if (s->options.workers == 0) s->options.workers = 1;
    snprintf(s->holder, sizeof s->holder, "process %ld (grouperfish%s%s)", (long)getpid(),
             s->options.purpose ? " " : "", s->options.purpose ? s->options.purpose : "");
    pthread_mutex_init(&s->lock, NULL);
    gf_condition_init(&s->changed);
    gf_condition_init(&s->end);
    if (options->reopens && pthread_create(&s->reopener, NULL, keep_open, s) != 0) {
        release(s);
        return gf_fail(err, GF_ENOMEM, "cannot make a further thread");
    }
    *service = s;
    return GF_OK;
}

void gf_service_close(gf_service *s)
{
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    pthread_cond_signal(&s->end);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->options.reopens) pthread_join(s->reopener, NULL);
    release(s);
}
