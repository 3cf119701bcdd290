#include "base/pool.h"

#include "base/memory.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the account ----------------------------------------------------------------------------- */

/* A run's tasks, dealt to 2^c threads: seconds of each, for each c. */
typedef struct dealt {
    double busy[GF_POOL_COUNTS][1 << (GF_POOL_COUNTS - 1)];
    double longest, all;
    uint64_t tasks;
} dealt;

static atomic_bool keeps_account;
static pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;
static gf_pool_account account;           /* under account_lock */
static _Thread_local double serial_since; /* a thread's processor clock; 0: it called no run yet */

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The calling thread's time outside of runs, up to now, becomes part of the account. */
static void count_serial(void)
{
    double now = thread_seconds();
    pthread_mutex_lock(&account_lock);
    if (serial_since > 0) account.serial += now - serial_since;
    pthread_mutex_unlock(&account_lock);
    serial_since = now;
}

static void deal_task(dealt *d, double seconds)
{
    d->tasks++;
    d->all += seconds;
    if (seconds > d->longest) d->longest = seconds;
    for (unsigned c = 0; c < GF_POOL_COUNTS; c++) {
        double *busy = d->busy[c];
        unsigned first = 0;
        for (unsigned t = 1; t < 1u << c; t++)
            if (busy[t] < busy[first]) first = t;
        busy[first] += seconds;
    }
}

static void count_run(const dealt *d)
{
    pthread_mutex_lock(&account_lock);
    account.runs++;
    account.tasks += d->tasks;
    account.parallel += d->all;
    account.longest += d->longest;
    for (unsigned c = 0; c < GF_POOL_COUNTS; c++) {
        double most = 0;
        for (unsigned t = 0; t < 1u << c; t++)
            if (d->busy[c][t] > most) most = d->busy[c][t];
        account.with[c] += most;
    }
    pthread_mutex_unlock(&account_lock);
    serial_since = thread_seconds();
}

void gf_pool_keep_account(bool keep)
{
    pthread_mutex_lock(&account_lock);
    account = (gf_pool_account){0};
    pthread_mutex_unlock(&account_lock);
    serial_since = thread_seconds();
    atomic_store(&keeps_account, keep);
}

gf_pool_account gf_pool_read_account(void)
{
    if (atomic_load(&keeps_account) && serial_since > 0) count_serial();
    pthread_mutex_lock(&account_lock);
    gf_pool_account now = account;
    pthread_mutex_unlock(&account_lock);
    return now;
}

gf_pool_account gf_pool_account_sum(const gf_pool_account *a, const gf_pool_account *b)
{
    gf_pool_account sum = {.runs = a->runs + b->runs,
                           .tasks = a->tasks + b->tasks,
                           .serial = a->serial + b->serial,
                           .parallel = a->parallel + b->parallel,
                           .longest = a->longest + b->longest};
    for (unsigned c = 0; c < GF_POOL_COUNTS; c++)
        sum.with[c] = a->with[c] + b->with[c];
    return sum;
}

gf_pool_account gf_pool_account_between(const gf_pool_account *earlier,
                                        const gf_pool_account *later)
{
    gf_pool_account b = {.runs = later->runs - earlier->runs,
                         .tasks = later->tasks - earlier->tasks,
                         .serial = later->serial - earlier->serial,
                         .parallel = later->parallel - earlier->parallel,
                         .longest = later->longest - earlier->longest};
    for (unsigned c = 0; c < GF_POOL_COUNTS; c++)
        b.with[c] = later->with[c] - earlier->with[c];
    return b;
}

/* ---- the pool -------------------------------------------------------------------------------- */

/*
 * The threads wait until `generation` changes, take task indices from `next` until none is left,
 * and the last one out ends the wait of the caller. Whoever waits looks for a while, for the next
 * run is often some microseconds away, and then sleeps: on `wake` the threads, on `done` the
 * caller. The job is fixed while a generation runs; what it fails by and its account are read and
 * written under `lock`.
 */
struct gf_pool {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    pthread_t *threads; /* n - 1 */
    unsigned n;         /* the caller included */
    unsigned started;   /* threads that run */
    unsigned looks; /* how often a thread looks before it sleeps; 0: more threads than processors */
    _Atomic unsigned busy; /* threads in the current generation */
    _Atomic uint64_t generation;
    atomic_bool stopping;

    gf_pool_task *task;
    void *context;
    const gf_cancel *cancel;
    size_t n_tasks;
    _Atomic size_t next;
    atomic_bool failed;
    gf_status status; /* of the failed task with the lowest index */
    size_t failed_index;
    gf_error error;
    dealt *dealt; /* the account of the run; NULL: none is kept */
};

enum { LOOKS = 2000 }; /* some 20 to 50 us */

typedef struct worker_start {
    gf_pool *pool;
    unsigned worker;
} worker_start;

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static void note_failure(gf_pool *p, size_t index, gf_status st, const gf_error *error)
{
    pthread_mutex_lock(&p->lock);
    if (p->status == GF_OK || index < p->failed_index) {
        p->status = st;
        p->failed_index = index;
        p->error = *error;
    }
    pthread_mutex_unlock(&p->lock);
    atomic_store(&p->failed, true);
}

/* A thread that has taken a task runs it: so all before one that fails are run. */
static void work_through_tasks(gf_pool *p, unsigned worker)
{
    while (!atomic_load_explicit(&p->failed, memory_order_relaxed)) {
        size_t index = atomic_fetch_add(&p->next, 1);
        if (index >= p->n_tasks) return;
        gf_error error = {GF_OK, ""};
        double begin = p->dealt ? thread_seconds() : 0;
        gf_status st = gf_cancel_check(p->cancel, &error);
        if (st == GF_OK) st = p->task(p->context, index, worker, &error);
        if (p->dealt) {
            double seconds = thread_seconds() - begin;
            pthread_mutex_lock(&p->lock);
            deal_task(p->dealt, seconds);
            pthread_mutex_unlock(&p->lock);
        }
        if (st != GF_OK) note_failure(p, index, st, &error);
    }
}

static bool has_news(gf_pool *p, uint64_t seen)
{
    return atomic_load(&p->generation) != seen || atomic_load(&p->stopping);
}

static void wait_for_run(gf_pool *p, uint64_t seen)
{
    for (unsigned i = 0; i < p->looks; i++) {
        if (has_news(p, seen)) return;
        pause_briefly();
    }
    pthread_mutex_lock(&p->lock);
    while (!has_news(p, seen))
        pthread_cond_wait(&p->wake, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void wait_for_threads(gf_pool *p)
{
    for (unsigned i = 0; i < p->looks; i++) {
        if (atomic_load(&p->busy) == 0) return;
        pause_briefly();
    }
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->busy))
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void *thread_main(void *argument)
{
    worker_start start = *(worker_start *)argument;
    gf_free(argument);
    gf_pool *p = start.pool;
    uint64_t seen = 0;
    for (;;) {
        wait_for_run(p, seen);
        if (atomic_load(&p->stopping)) break;
        seen = atomic_load(&p->generation);
        work_through_tasks(p, start.worker);
        if (atomic_fetch_sub(&p->busy, 1) != 1) continue;
        pthread_mutex_lock(&p->lock); /* between the caller's look and its sleep none gets in */
        pthread_cond_signal(&p->done);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

static gf_status start_thread(gf_pool *p, gf_error *err)
{
    worker_start *start = gf_malloc(sizeof *start);
    if (!start) return gf_fail_memory(err, "a thread");
    *start = (worker_start){p, p->started + 1};
    int code = pthread_create(&p->threads[p->started], NULL, thread_main, start);
    if (code) {
        gf_free(start);
        return gf_fail(err, GF_ENOMEM, "cannot start thread %u of %u", p->started + 2, p->n);
    }
    p->started++;
    return GF_OK;
}

gf_status gf_pool_create(unsigned n, gf_pool **pool, gf_error *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned processors = cpus > 0 ? (unsigned)cpus : 1;
    if (n == 0) n = processors;
    gf_pool *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "threads");
    p->n = n;
    p->looks = n <= processors ? LOOKS : 0;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->done, NULL);
    gf_status st = GF_OK;
    p->threads = gf_calloc(n, sizeof *p->threads);
    if (!p->threads) st = gf_fail_memory(err, "threads");
    while (st == GF_OK && p->started + 1 < n)
        st = start_thread(p, err);
    if (st != GF_OK) {
        gf_pool_free(p);
        return st;
    }
    *pool = p;
    return GF_OK;
}

void gf_pool_free(gf_pool *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->stopping, true);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->started; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
    gf_free(p->threads);
    gf_free(p);
}

unsigned gf_pool_size(const gf_pool *p)
{
    return p ? p->n : 1;
}

static gf_status run_here(size_t n, gf_pool_task *task, void *context, const gf_cancel *cancel,
                          dealt *d, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        double begin = d ? thread_seconds() : 0;
        st = gf_cancel_check(cancel, err);
        if (st == GF_OK) st = task(context, i, 0, err);
        if (d) deal_task(d, thread_seconds() - begin);
    }
    return st;
}

static gf_status run_on_all(gf_pool *p, size_t n, gf_pool_task *task, void *context,
                            const gf_cancel *cancel, dealt *d, gf_error *err)
{
    assert(atomic_load(&p->busy) == 0); /* one call at a time */
    p->task = task;
    p->context = context;
    p->cancel = cancel;
    p->n_tasks = n;
    p->status = GF_OK;
    p->dealt = d;
    atomic_store(&p->next, 0);
    atomic_store(&p->failed, false);
    atomic_store(&p->busy, p->started);
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->generation, 1);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    work_through_tasks(p, 0);
    wait_for_threads(p);
    if (p->status != GF_OK && err) *err = p->error;
    return p->status;
}

static gf_status run(gf_pool *p, size_t n, gf_pool_task *task, void *context,
                     const gf_cancel *cancel, dealt *d, gf_error *err)
{
    if (!p || p->started == 0 || n <= 1) return run_here(n, task, context, cancel, d, err);
    return run_on_all(p, n, task, context, cancel, d, err);
}

gf_status gf_pool_run(gf_pool *p, size_t n, gf_pool_task *task, void *context,
                      const gf_cancel *cancel, gf_error *err)
{
    /* Without a pool the caller is a task of one itself, or nothing is to be parallel. */
    if (!p || !atomic_load_explicit(&keeps_account, memory_order_relaxed))
        return run(p, n, task, context, cancel, NULL, err);
    dealt d;
    memset(&d, 0, sizeof d);
    count_serial();
    gf_status st = run(p, n, task, context, cancel, &d, err);
    count_run(&d);
    return st;
}

typedef struct both {
    const gf_pool_tasks *first, *second;
} both;

static gf_status run_either(void *context, size_t index, unsigned worker, gf_error *err)
{
    const both *b = context;
    bool is_first = index < b->first->n;
    const gf_pool_tasks *of = is_first ? b->first : b->second;
    return of->task(of->context, is_first ? index : index - b->first->n, worker, err);
}

gf_status gf_pool_run_both(gf_pool *pool, const gf_pool_tasks *first, const gf_pool_tasks *second,
                           const gf_cancel *cancel, gf_error *err)
{
    both b = {first, second};
    return gf_pool_run(pool, first->n + second->n, run_either, &b, cancel, err);
}
