/*
 * Workers: each thread has a place of its own for a job, and a condition that wakes it alone. Idle
 * ones form a stack, so that the last one used, whose memory is warm, is the next.
 */
#include "server/service/workers.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct worker {
    gf_workers *all;
    struct worker *next; /* of the idle, or of those that have ended */
    pthread_t thread;
    pthread_cond_t wake;
    void (*job)(void *context);
    void *context;
} worker;

struct gf_workers {
    pthread_mutex_t lock;
    pthread_cond_t idle_more;
    worker *idle;
    unsigned n, n_idle, most;
    bool ending;
};

gf_status gf_workers_create(unsigned most, gf_workers **workers, gf_error *err)
{
    gf_workers *w = gf_calloc(1, sizeof *w);
    if (!w) return gf_fail_memory(err, "threads");
    w->most = most;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->idle_more, NULL);
    *workers = w;
    return GF_OK;
}

static void be_idle(worker *me)
{
    gf_workers *all = me->all;
    me->job = NULL;
    me->next = all->idle;
    all->idle = me;
    all->n_idle++;
    pthread_cond_signal(&all->idle_more);
}

static void *work(void *context)
{
    worker *me = context;
    gf_workers *all = me->all;
    pthread_mutex_lock(&all->lock);
    for (;;) {
        while (!me->job && !all->ending)
            pthread_cond_wait(&me->wake, &all->lock);
        if (!me->job) break;
        pthread_mutex_unlock(&all->lock);
        me->job(me->context);
        pthread_mutex_lock(&all->lock);
        be_idle(me);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

static void give(worker *me, void (*job)(void *), void *context)
{
    me->job = job;
    me->context = context;
}

/* With the lock held: nothing of the new thread's moves before it is released. */
static gf_status hire(gf_workers *w, void (*job)(void *), void *context, gf_error *err)
{
    if (w->n == w->most) return gf_fail(err, GF_EBUSY, "all %u threads are at work", w->most);
    worker *me = gf_calloc(1, sizeof *me);
    if (!me) return gf_fail_memory(err, "a thread");
    me->all = w;
    pthread_cond_init(&me->wake, NULL);
    give(me, job, context);
    if (pthread_create(&me->thread, NULL, work, me) != 0) {
        pthread_cond_destroy(&me->wake);
        gf_free(me);
        return gf_fail(err, GF_ENOMEM, "cannot make a further thread");
    }
    w->n++;
    return GF_OK;
}

gf_status gf_workers_run(gf_workers *w, void (*job)(void *), void *context, gf_error *err)
{
    gf_status st = GF_OK;
    pthread_mutex_lock(&w->lock);
    worker *me = w->idle;
    if (me) {
        w->idle = me->next;
        w->n_idle--;
        give(me, job, context);
        pthread_cond_signal(&me->wake);
    } else {
        st = hire(w, job, context, err);
    }
    pthread_mutex_unlock(&w->lock);
    return st;
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
    pthread_mutex_unlock(&w->lock);
    for (worker *me = w->idle, *next; me; me = next) {
        next = me->next;
        pthread_join(me->thread, NULL);
        pthread_cond_destroy(&me->wake);
        gf_free(me);
    }
    pthread_cond_destroy(&w->idle_more);
    pthread_mutex_destroy(&w->lock);
    gf_free(w);
}
