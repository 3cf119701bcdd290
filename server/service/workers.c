/*
 * Workers: each thread has a place of its own for a job, and a condition that wakes it alone. Idle
 * ones form a stack, so that the last one used, whose memory is warm, is the next.
 *
 * One thread more looks at those at work every LOOK_MS, for as long as jobs come, sets the priority
 * of those that have been at it for LONG_SECONDS, and joins those that have ended for that.
 */
#include "server/service/workers.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOK_MS = 20, NICENESS = 5 /* rebuilds have 10 (service.c) */ };
static const double LONG_SECONDS = 0.05;

typedef struct worker {
    gf_workers *all;
    struct worker *next, *before; /* of the idle, of those at work, or of those that have ended */
    pthread_t thread;
    pid_t id; /* the kernel's */
    pthread_cond_t wake;
    void (*job)(void *context);
    void *context;
    double begun; /* the job; 0: it does not step back, or has */
    bool stepped_back;
} worker;

struct gf_workers {
    pthread_mutex_t lock;
    pthread_cond_t idle_more, look;
    worker *idle, *at_work, *ended;
    unsigned n, n_idle, most;
    unsigned may_step_back; /* of those at work: that are looked at */
    bool ending, looks;
    pthread_t looking;
};

/* ---- looking --------------------------------------------------------------------------------- */

static void look(gf_workers *all)
{
    double now = gf_clock_seconds();
    for (worker *w = all->at_work; w; w = w->next) {
        if (!w->id || w->begun == 0 || now - w->begun < LONG_SECONDS) continue;
        w->stepped_back = setpriority(PRIO_PROCESS, (id_t)w->id, NICENESS) == 0;
        w->begun = 0;
        all->may_step_back--;
    }
}

/* With the lock held, which is released meanwhile. */
static void join_ended(gf_workers *all)
{
    for (worker *w; (w = all->ended) != NULL;) {
        all->ended = w->next;
        pthread_mutex_unlock(&all->lock);
        pthread_join(w->thread, NULL);
        pthread_cond_destroy(&w->wake);
        gf_free(w);
        pthread_mutex_lock(&all->lock);
    }
}

/* A new job finds it looking, or wakes it. */
static void *keep_looking(void *context)
{
    gf_workers *all = context;
    pthread_mutex_lock(&all->lock);
    while (!all->ending) {
        join_ended(all);
        all->looks = all->may_step_back > 0;
        if (all->looks) {
            look(all);
            gf_condition_wait_ms(&all->look, &all->lock, LOOK_MS);
        } else if (!all->ended && !all->ending) {
            pthread_cond_wait(&all->look, &all->lock);
        }
    }
    join_ended(all);
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* ---- working --------------------------------------------------------------------------------- */

static void begin_work(worker *me, void (*job)(void *), void *context, bool steps_back)
{
    gf_workers *all = me->all;
    me->job = job;
    me->context = context;
    me->begun = steps_back ? gf_clock_seconds() : 0;
    me->before = NULL;
    me->next = all->at_work;
    if (me->next) me->next->before = me;
    all->at_work = me;
    all->may_step_back += steps_back;
    if (steps_back && !all->looks) {
        all->looks = true;
        pthread_cond_signal(&all->look);
    }
}

static void end_work(worker *me)
{
    gf_workers *all = me->all;
    all->may_step_back -= me->begun > 0;
    me->begun = 0;
    me->job = NULL;
    *(me->before ? &me->before->next : &all->at_work) = me->next;
    if (me->next) me->next->before = me->before;
}

static void be_idle(worker *me)
{
    gf_workers *all = me->all;
    me->next = all->idle;
    all->idle = me;
    all->n_idle++;
    pthread_cond_signal(&all->idle_more);
}

static void leave(worker *me)
{
    gf_workers *all = me->all;
    me->next = all->ended;
    all->ended = me;
    all->n--;
    pthread_cond_signal(&all->look);
    pthread_cond_signal(&all->idle_more);
}

static void *work(void *context)
{
    worker *me = context;
    gf_workers *all = me->all;
    pthread_mutex_lock(&all->lock);
    me->id = (pid_t)syscall(SYS_gettid);
    for (;;) {
        while (!me->job && !all->ending)
            pthread_cond_wait(&me->wake, &all->lock);
        if (!me->job) break;
        pthread_mutex_unlock(&all->lock);
        me->job(me->context);
        pthread_mutex_lock(&all->lock);
        end_work(me);
        if (me->stepped_back) {
            leave(me);
            break;
        }
        be_idle(me);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* With the lock held: nothing of the new thread's moves before it is released. */
static gf_status hire(gf_workers *w, worker **hired, gf_error *err)
{
    if (w->n == w->most) return gf_fail(err, GF_EBUSY, "all %u threads are at work", w->most);
    worker *me = gf_calloc(1, sizeof *me);
    if (!me) return gf_fail_memory(err, "a thread");
    me->all = w;
    pthread_cond_init(&me->wake, NULL);
    if (pthread_create(&me->thread, NULL, work, me) != 0) {
        pthread_cond_destroy(&me->wake);
        gf_free(me);
        return gf_fail(err, GF_ENOMEM, "cannot make a further thread");
    }
    w->n++;
    *hired = me;
    return GF_OK;
}

gf_status gf_workers_run(gf_workers *w, void (*job)(void *), void *context, bool steps_back,
                         gf_error *err)
{
    gf_status st = GF_OK;
    pthread_mutex_lock(&w->lock);
    worker *me = w->idle;
    if (me) {
        w->idle = me->next;
        w->n_idle--;
        pthread_cond_signal(&me->wake);
    } else {
        st = hire(w, &me, err);
    }
    if (st == GF_OK) begin_work(me, job, context, steps_back);
    pthread_mutex_unlock(&w->lock);
    return st;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void release(gf_workers *w)
{
    pthread_cond_destroy(&w->look);
    pthread_cond_destroy(&w->idle_more);
    pthread_mutex_destroy(&w->lock);
    gf_free(w);
}

gf_status gf_workers_create(unsigned most, gf_workers **workers, gf_error *err)
{
    gf_workers *w = gf_calloc(1, sizeof *w);
    if (!w) return gf_fail_memory(err, "threads");
    w->most = most;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->idle_more, NULL);
    gf_condition_init(&w->look);
    if (pthread_create(&w->looking, NULL, keep_looking, w) != 0) {
        release(w);
        return gf_fail(err, GF_ENOMEM, "cannot make a further thread");
    }
    *workers = w;
    return GF_OK;
}

void gf_workers_free(gf_workers *w)
{
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    while (w->n_idle < w->n)
        pthread_cond_wait(&w->idle_more, &w->lock);
    w->ending = true;
    for (worker *me = w->idle; me; me = me->next)
        pthread_cond_signal(&me->wake);
    pthread_cond_signal(&w->look);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->looking, NULL);
    for (worker *me = w->idle, *next; me; me = next) {
        next = me->next;
        pthread_join(me->thread, NULL);
        pthread_cond_destroy(&me->wake);
        gf_free(me);
    }
    release(w);
}
