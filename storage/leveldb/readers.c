/*
 * Readers: iterators and snapshots, which keep what was deleted meanwhile.
 *
 * Each belongs to one of two sides, that which is current when it begins. Whoever waits for the
 * readers of this moment makes the other side current, and waits until the side behind is empty. A
 * side is only left when the other one is empty, so that who begins later is never among them.
 */
#include "storage/leveldb/readers.h"

#include "base/condition.h"

#include <assert.h>

void gf_leveldb_readers_init(gf_leveldb_readers *r)
{
    *r = (gf_leveldb_readers){0};
    pthread_mutex_init(&r->lock, NULL);
    gf_condition_init(&r->changed);
}

void gf_leveldb_readers_release(gf_leveldb_readers *r)
{
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
}

unsigned gf_leveldb_readers_begin(gf_leveldb_readers *r)
{
    pthread_mutex_lock(&r->lock);
    unsigned side = r->current;
    r->n[side]++;
    pthread_mutex_unlock(&r->lock);
    return side;
}

void gf_leveldb_readers_end(gf_leveldb_readers *r, unsigned side)
{
    pthread_mutex_lock(&r->lock);
    assert(r->n[side] > 0);
    if (--r->n[side] == 0) pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static bool wait_for_side(gf_leveldb_readers *r, unsigned side, const struct timespec *until)
{
    bool waits = true;
    while (r->n[side] && waits)
        waits = gf_condition_wait(&r->changed, &r->lock, until);
    return r->n[side] == 0;
}

bool gf_leveldb_readers_pass(gf_leveldb_readers *r, const struct timespec *until)
{
    pthread_mutex_lock(&r->lock);
    bool passed = wait_for_side(r, !r->current, until);
    if (passed) {
        assert(r->n[!r->current] == 0);
        unsigned behind = r->current;
        r->current = !behind;
        passed = wait_for_side(r, behind, until);
    }
    pthread_mutex_unlock(&r->lock);
    return passed;
}
