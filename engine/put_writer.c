/*
 * Two sets of documents change places: one is collected by the caller's thread, the other written.
 *
 *     caller   check, copy | hand over | check, copy | hand over (waits for the writing) | ...
 *     writer                 compare, encode, sync     ...
 *
 * A put of few documents never starts the thread. How the writing ended is told to the caller when
 * it next hands over or flushes; after a failure nothing more is written.
 */
#include "engine/put_internal.h"

static gf_status write_locked(gf_put *p, gf_collected *c, gf_put_counts *counts, gf_error *err)
{
    gf_status st = gf_lock(p->store, err);
    if (st == GF_OK) st = gf_put_write(p, c, counts, err);
    gf_unlock(p->store);
    return st;
}

/* Write those that are not in front; what they came to waits to be counted. */
static gf_status write_back(void *context, gf_error *err)
{
    gf_put *p = context;
    gf_collected *c = &p->collected[1 - p->front];
    gf_put_counts counts = {0};
    gf_status st = write_locked(p, c, &counts, err);
    gf_arena_reset(&c->arena);
    c->n = c->bytes = 0;
    if (st != GF_OK) return st;
    p->written = counts;
    p->collections += counts.collections;
    return GF_OK;
}

gf_status gf_put_wait(gf_put *p, gf_error *err)
{
    gf_status st = gf_background_wait(&p->writer, err);
    const gf_put_counts *w = &p->written;
    p->counts.created += w->created;
    p->counts.changed += w->changed;
    p->counts.unchanged += w->unchanged;
    p->counts.deleted += w->deleted;
    p->counts.absent += w->absent;
    p->counts.collections += w->collections;
    p->written = (gf_put_counts){0};
    return st;
}

gf_status gf_put_hand_over(gf_put *p, gf_error *err)
{
    gf_status st = gf_put_wait(p, err);
    if (st != GF_OK) return st;
    p->front = 1 - p->front;
    gf_background_start(&p->writer, write_back, p);
    return GF_OK;
}

gf_status gf_put_write_here(gf_put *p, gf_error *err)
{
    p->front = 1 - p->front;
    gf_status st = write_back(p, err);
    return st == GF_OK ? gf_put_wait(p, err) : st;
}
