/*
 * Two sets of documents change places: one is collected by the caller's thread, the other written.
 *
 *     caller   check, copy | hand over | check, copy | hand over (waits for the writing) | ...
 *     writer                 compare, encode, sync     ...
 *
 * A put of few documents never starts the thread. How the writing ended is told to the caller when
 * it next hands over or flushes; after a failure nothing more is written.
 */
#include "engine/put/internal.h"

static void add_counts(gf_put_counts *to, const gf_put_counts *from)
{
    to->created += from->created;
    to->changed += from->changed;
    to->unchanged += from->unchanged;
    to->deleted += from->deleted;
    to->absent += from->absent;
    to->collections += from->collections;
}

/* Write what was collected; what that came to waits to be counted. */
static gf_status write_collected(gf_put *p, gf_collected *c, bool last, gf_error *err)
{
    gf_put_counts counts = {0};
    if (c->n == 0) return GF_OK;
    gf_status st = gf_put_commit(&(gf_put_part){p, c, last}, &counts, err);
    gf_arena_reset(&c->arena);
    c->n = c->bytes = 0;
    if (st != GF_OK) return st;
    add_counts(&p->written, &counts);
    p->collections += counts.collections;
    return GF_OK;
}

/* What is held back is collected again, batch by batch, and now it is the last of its id. */
static gf_status write_held(gf_put *p, gf_collected *c, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < p->hold.keys.n && st == GF_OK; i++) {
        gf_put_held *held = &p->hold.entries[i];
        if (held->block)
            st = gf_collect(c, held->waiting.collection, &held->waiting.document, false, err);
        gf_put_hold_drop(&p->hold, held);
        if (st == GF_OK && gf_collected_is_full(c)) st = write_collected(p, c, true, err);
    }
    if (st == GF_OK) st = write_collected(p, c, true, err);
    gf_put_hold_release(&p->hold);
    return st;
}

/* Write those that are not in front. */
static gf_status write_back(void *context, gf_error *err)
{
    gf_put *p = context;
    gf_collected *c = &p->collected[1 - p->front];
    gf_status st = write_collected(p, c, false, err);
    return st == GF_OK && gf_put_hold_is_full(&p->hold) ? write_held(p, c, err) : st;
}

static void count_written(gf_put *p)
{
    add_counts(&p->counts, &p->written);
    p->written = (gf_put_counts){0};
}

gf_status gf_put_wait(gf_put *p, gf_error *err)
{
    gf_status st = gf_background_wait(&p->writer, err);
    count_written(p);
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
    gf_collected *c = &p->collected[p->front];
    gf_status st = write_collected(p, c, true, err);
    if (st == GF_OK) st = write_held(p, c, err);
    count_written(p);
    return st;
}
