#include "base/background.h"

#include <assert.h>
#include <signal.h>

static void *run_tasks(void *context)
{
    gf_background *b = context;
    pthread_mutex_lock(&b->lock);
    for (;;) {
        while (!b->task && !b->stopping)
            pthread_cond_wait(&b->changed, &b->lock);
        if (!b->task) break;
        pthread_mutex_unlock(&b->lock);
        gf_error error = {GF_OK, ""};
        gf_status st = b->task(b->context, &error);
        pthread_mutex_lock(&b->lock);
        b->task = NULL;
        b->status = st;
        b->error = error;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

void gf_background_init(gf_background *b)
{
    *b = (gf_background){.status = GF_OK};
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
}

/* Signals go to the owner's threads, which know what to do with them. */
static bool start_thread(gf_background *b)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    b->started = pthread_create(&b->thread, NULL, run_tasks, b) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return b->started;
}

void gf_background_start(gf_background *b, gf_background_task *task, void *context)
{
    if (!b->started && !start_thread(b)) {
        b->status = task(context, &b->error);
        return;
    }
    pthread_mutex_lock(&b->lock);
    assert(!b->task); /* one at a time */
    b->task = task;
    b->context = context;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

gf_status gf_background_wait(gf_background *b, gf_error *err)
{
    pthread_mutex_lock(&b->lock);
    while (b->task)
        pthread_cond_wait(&b->changed, &b->lock);
    gf_status st = b->status;
    if (st != GF_OK && err) *err = b->error;
    b->status = GF_OK;
    pthread_mutex_unlock(&b->lock);
    return st;
}

void gf_background_release(gf_background *b)
{
    if (b->started) {
        pthread_mutex_lock(&b->lock);
        b->stopping = true;
        pthread_cond_broadcast(&b->changed);
        pthread_mutex_unlock(&b->lock);
        pthread_join(b->thread, NULL);
    }
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->changed);
}
