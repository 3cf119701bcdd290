/*
 * Two sets of documents change places: one is collected by the caller's thread, the other written.
 *
 *     caller   check, copy | hand over | check, copy | hand over (waits for the writing) | ...
 *     writer                 compare, encode, sync     ...
 *
 * A put of few documents never starts the thread. How the writing ended is told to the caller when
 * it next hands over, flushes or closes; after a failure nothing more is written.
 */
#include "engine/put_internal.h"

#include <signal.h>

static gf_status write_collected(gf_put *p, gf_collected *c, gf_put_counts *counts, gf_error *err)
{
    gf_status st = gf_lock(p->store, err);
    if (st == GF_OK) st = gf_put_write(p, c, counts, err);
    gf_unlock(p->store);
    if (st == GF_OK) p->collections += counts->collections;
    gf_arena_reset(&c->arena);
    c->n = c->bytes = 0;
    return st;
}

static void add_counts(gf_put_counts *to, const gf_put_counts *from)
{
    to->created += from->created;
    to->changed += from->changed;
    to->unchanged += from->unchanged;
    to->deleted += from->deleted;
    to->absent += from->absent;
    to->collections += from->collections;
}

static void *run(void *context)
{
    gf_put *p = context;
    gf_put_writer *w = &p->writer;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->work && !w->stopping)
            pthread_cond_wait(&w->changed, &w->lock);
        if (!w->work) break;
        pthread_mutex_unlock(&w->lock);
        gf_error error = {GF_OK, ""};
        gf_put_counts counts = {0};
        gf_status st = write_collected(p, w->work, &counts, &error);
        pthread_mutex_lock(&w->lock);
        w->work = NULL;
        w->status = st;
        w->error = error;
        if (st == GF_OK) add_counts(&w->counts, &counts);
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void gf_put_writer_init(gf_put_writer *w)
{
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
}

gf_status gf_put_wait(gf_put *p, gf_error *err)
{
    gf_put_writer *w = &p->writer;
    if (!w->started) return GF_OK;
    pthread_mutex_lock(&w->lock);
    while (w->work)
        pthread_cond_wait(&w->changed, &w->lock);
    gf_status st = w->status;
    if (st != GF_OK && err) *err = w->error;
    add_counts(&p->counts, &w->counts);
    w->counts = (gf_put_counts){0};
    pthread_mutex_unlock(&w->lock);
    return st;
}

gf_status gf_put_write_here(gf_put *p, gf_error *err)
{
    gf_put_counts counts = {0};
    gf_status st = write_collected(p, &p->collected[p->front], &counts, err);
    if (st == GF_OK) add_counts(&p->counts, &counts);
    return st;
}

/* Signals go to the caller's thread, which knows what to do with them. */
static bool start(gf_put *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->writer.started = pthread_create(&p->writer.thread, NULL, run, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return p->writer.started;
}

gf_status gf_put_hand_over(gf_put *p, gf_error *err)
{
    gf_put_writer *w = &p->writer;
    gf_status st = gf_put_wait(p, err);
    if (st != GF_OK) return st;
    if (!w->started && !start(p)) return gf_put_write_here(p, err);
    pthread_mutex_lock(&w->lock);
    w->work = &p->collected[p->front];
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    p->front = 1 - p->front;
    return GF_OK;
}

void gf_put_writer_release(gf_put *p)
{
    gf_put_writer *w = &p->writer;
    if (w->started) {
        pthread_mutex_lock(&w->lock);
        w->stopping = true;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
}
