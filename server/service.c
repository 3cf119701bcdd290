/*
 * The service: who may run, and when.
 *
 * One mutex guards the counts and the line of those who wait for a worker. The line is a list of
 * tickets that live on the waiting threads' stacks; a worker goes to its head. Waiting looks at
 * cancels every tenth of a second, since whoever requests one (a signal handler) cannot signal a
 * condition.
 */
#include "server/service.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 100 };

typedef struct ticket {
    struct ticket *next;
} ticket;

struct gf_service {
    gf_store *store;
    gf_service_options options;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a call ended, a worker is free */
    size_t running;         /* calls that were accepted and have not ended */
    unsigned rebuilding;    /* of these: that have a worker */
    ticket *first;          /* of the line */
    bool draining;
    char holder[96];
};

gf_status gf_service_open(gf_store *store, const gf_service_options *options, gf_service **service,
                          gf_error *err)
{
    pthread_condattr_t monotonic;
    gf_service *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a service");
    s->store = store;
    s->options = *options;
    if (s->options.workers == 0) s->options.workers = 1;
    snprintf(s->holder, sizeof s->holder, "process %ld (grouperfish%s%s)", (long)getpid(),
             s->options.purpose ? " " : "", s->options.purpose ? s->options.purpose : "");
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *service = s;
    return GF_OK;
}

void gf_service_close(gf_service *s)
{
    if (!s) return;
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    gf_free(s);
}

gf_store *gf_service_store(const gf_service *s)
{
    return s->store;
}

/* ---- beginning and ending ---------------------------------------------------------------------
 */

static gf_status accept_call(gf_service *s, gf_error *err)
{
    pthread_mutex_lock(&s->lock);
    bool accepted = !s->draining;
    s->running += accepted;
    pthread_mutex_unlock(&s->lock);
    return accepted ? GF_OK : gf_fail(err, GF_EBUSY, "the server is closing; try again");
}

static void end_call(gf_service *s)
{
    pthread_mutex_lock(&s->lock);
    s->running--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
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

/* ---- workers ----------------------------------------------------------------------------------
 */

static bool is_set(const gf_argument *arguments, size_t n, const char *flag)
{
    bool set = false;
    for (size_t i = 0; i < n; i++)
        if (gf_slice_equal(arguments[i].name, gf_slice_str(flag)))
            set = !gf_slice_equal(arguments[i].value, GF_SLICE("false"));
    return set;
}

bool gf_service_rebuilds(const gf_operation *o, const gf_argument *arguments, size_t n)
{
    if (strcmp(o->name, "rebuild") == 0) return !is_set(arguments, n, "dry-run");
    return is_set(arguments, n, "purge");
}

static void wait_a_little(gf_service *s)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(&s->changed, &s->lock, &until);
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

static void tell_waiting(const gf_call *call)
{
    if (call->progress) call->progress(call->context, collection_of(call), "waiting", 0, 0);
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
            tell_waiting(call);
            pthread_mutex_lock(&s->lock);
            told = true;
            continue;
        }
        wait_a_little(s);
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

/* ---- the call, as the operation sees it -------------------------------------------------------
 */

typedef struct serving {
    gf_service *service;
    gf_call *outer;
} serving;

static gf_status give_store(void *context, bool create, gf_store **store, gf_error *err)
{
    (void)create, (void)err;
    *store = ((serving *)context)->service->store;
    return GF_OK;
}

/* As the caller names the store, where it does. */
static const char *give_path(void *context)
{
    const serving *s = context;
    return s->outer->store_path ? s->outer->store_path(s->outer->context)
                                : s->service->options.store_path;
}

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    const gf_call *outer = ((serving *)context)->outer;
    return outer->emit(outer->context, row, err);
}

static gf_status write_bytes(void *context, gf_slice bytes, gf_error *err)
{
    const gf_call *outer = ((serving *)context)->outer;
    return outer->write(outer->context, bytes, err);
}

static void notice(void *context, const gf_notice *n)
{
    const gf_call *outer = ((serving *)context)->outer;
    outer->notice(outer->context, n);
}

static void progress(void *context, gf_slice what, const char *phase, uint64_t done, uint64_t total)
{
    const gf_call *outer = ((serving *)context)->outer;
    outer->progress(outer->context, what, phase, done, total);
}

static gf_status reject(void *context, gf_slice record, gf_error *err)
{
    const gf_call *outer = ((serving *)context)->outer;
    return outer->reject(outer->context, record, err);
}

static gf_status run(gf_service *s, const gf_operation *o, gf_call *call, gf_error *err)
{
    serving context = {s, call};
    gf_call inner = *call;
    inner.store = give_store;
    inner.store_path = give_path;
    inner.wait_seconds = 0;
    inner.holder = s->holder;
    inner.emit = emit;
    inner.write = call->write ? write_bytes : NULL;
    inner.notice = call->notice ? notice : NULL;
    inner.progress = call->progress ? progress : NULL;
    inner.reject = call->reject ? reject : NULL;
    inner.context = &context;
    gf_status st = gf_operation_run(o, &inner, err);
    call->outcome = inner.outcome;
    call->partly = inner.partly;
    return st;
}

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
    st = take_worker(s, call, err);
    if (st != GF_OK) return st;
    st = run(s, o, call, err);
    give_worker_back(s);
    return st;
}

gf_status gf_service_run(gf_service *s, const gf_operation *o, gf_call *call, gf_error *err)
{
    call->outcome = GF_DONE;
    call->partly = false;
    gf_status st = accept_call(s, err);
    if (st != GF_OK) return st;
    st = run_accepted(s, o, call, err);
    end_call(s);
    return st;
}
