#include "storage/write_queue.h"

#include "base/memory.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>

enum { SYNC_BYTES = 4 << 20 };

typedef struct place {
    gf_batch *batch; /* NULL: not yet made */
    bool given;
} place;

struct gf_write_queue {
    gf_database *db;
    unsigned n_places;
    place *places;        /* n_places: number i has the place i % n_places */
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    uint64_t next;    /* number that is written next, or being written */
    uint64_t stopped; /* numbers from this one on are not written; UINT64_MAX: none */
    gf_error why;     /* of that */
    bool closing, writing;
    bool threaded;
    pthread_t thread;
    size_t unsynced; /* bytes; of whoever writes */
};

static place *place_of(gf_write_queue *q, uint64_t number)
{
    return &q->places[number % q->n_places];
}

/* Note a failure at that number; the lowest counts. The lock is held. */
static void note_failure(gf_write_queue *q, uint64_t number, const gf_error *why)
{
    if (number >= q->stopped) return;
    q->stopped = number;
    q->why = *why;
    pthread_cond_broadcast(&q->changed);
}

/* Write what follows what is written, as far as it was given. The lock is held, but not meanwhile. */
static void write_given(gf_write_queue *q)
{
    while (q->next < q->stopped && place_of(q, q->next)->given) {
        place *p = place_of(q, q->next);
        gf_error error = {GF_OK, ""};
        pthread_mutex_unlock(&q->lock);
        q->unsynced += gf_batch_bytes(p->batch);
        bool sync = q->unsynced >= SYNC_BYTES;
        if (sync) q->unsynced = 0;
        gf_status st = gf_batch_write(p->batch, sync ? GF_SYNC_ON : GF_SYNC_OFF, &error);
        pthread_mutex_lock(&q->lock);
        p->given = false;
        if (st != GF_OK) note_failure(q, q->next, &error);
        q->next++;
        pthread_cond_broadcast(&q->changed);
    }
}

static void *run_writer(void *context)
{
    gf_write_queue *q = context;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        write_given(q);
        if (q->closing || q->next >= q->stopped) break;
        pthread_cond_wait(&q->changed, &q->lock);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* Signals go to the owner's threads, which know what to do with them. */
static bool start_writer(gf_write_queue *q)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&q->thread, NULL, run_writer, q) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

gf_status gf_write_queue_open(gf_database *db, unsigned places, gf_write_queue **queue,
                              gf_error *err)
{
    assert(places > 0);
    gf_write_queue *q = gf_calloc(1, sizeof *q);
    place *all = gf_calloc(places, sizeof *all);
    if (!q || !all) {
        gf_free(q);
        gf_free(all);
        return gf_fail_memory(err, "a queue of batches");
    }
    *q = (gf_write_queue){.db = db, .n_places = places, .places = all, .stopped = UINT64_MAX};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->threaded = start_writer(q);
    *queue = q;
    return GF_OK;
}

gf_status gf_write_queue_take(gf_write_queue *q, uint64_t number, gf_batch **batch, gf_error *err)
{
    pthread_mutex_lock(&q->lock);
    while (number < q->stopped && number >= q->next + q->n_places)
        pthread_cond_wait(&q->changed, &q->lock);
    gf_status st = number < q->stopped ? GF_OK : q->why.status;
    if (st != GF_OK && err) *err = q->why;
    place *p = place_of(q, number);
    pthread_mutex_unlock(&q->lock);
    if (st == GF_OK && !p->batch) st = gf_batch_create(q->db, &p->batch, err);
    if (st != GF_OK) return st;
    assert(gf_batch_changes(p->batch) == 0);
    *batch = p->batch;
    return GF_OK;
}

void gf_write_queue_give(gf_write_queue *q, uint64_t number)
{
    pthread_mutex_lock(&q->lock);
    place_of(q, number)->given = true;
    pthread_cond_broadcast(&q->changed);
    if (!q->threaded && !q->writing) {
        q->writing = true;
        write_given(q);
        q->writing = false;
    }
    pthread_mutex_unlock(&q->lock);
}

void gf_write_queue_stop(gf_write_queue *q, uint64_t number, const gf_error *why)
{
    assert(why->status != GF_OK);
    pthread_mutex_lock(&q->lock);
    note_failure(q, number, why);
    pthread_mutex_unlock(&q->lock);
}

gf_status gf_write_queue_close(gf_write_queue *q, gf_error *err)
{
    if (!q) return GF_OK;
    pthread_mutex_lock(&q->lock);
    q->closing = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    if (q->threaded) pthread_join(q->thread, NULL);
    gf_status st = q->stopped == UINT64_MAX ? GF_OK : q->why.status;
    if (st != GF_OK && err) *err = q->why;
    for (unsigned i = 0; i < q->n_places; i++)
        gf_batch_free(q->places[i].batch);
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->changed);
    gf_free(q->places);
    gf_free(q);
    return st;
}
