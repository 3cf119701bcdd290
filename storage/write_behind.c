#include "storage/write_behind.h"

#include <assert.h>

void gf_write_behind_begin(gf_write_behind *w, gf_database *db, gf_batch *first)
{
    *w = (gf_write_behind){.batch = first, .db = db, .first = first};
    gf_background_init(&w->background);
}

static gf_status write_batch(void *batch, gf_error *err)
{
    return gf_batch_write(batch, GF_SYNC_ON, err);
}

static gf_status write_unsynced(void *batch, gf_error *err)
{
    return gf_batch_write(batch, GF_SYNC_OFF, err);
}

gf_status gf_write_behind_next(gf_write_behind *w, gf_error *err)
{
    gf_status st = gf_background_wait(&w->background, err);
    if (st == GF_OK && !w->other) st = gf_batch_create(w->db, &w->other, err);
    if (st != GF_OK) return st;
    assert(gf_batch_changes(w->other) == 0);
    gf_batch *full = w->batch;
    w->batch = w->other;
    w->other = full;
    gf_background_start(&w->background, w->unsynced ? write_unsynced : write_batch, full);
    return GF_OK;
}

gf_status gf_write_behind_wait(gf_write_behind *w, gf_error *err)
{
    return gf_background_wait(&w->background, err);
}

gf_status gf_write_behind_end(gf_write_behind *w, gf_status st, gf_error *err)
{
    gf_status written = gf_background_wait(&w->background, st == GF_OK ? err : NULL);
    gf_background_release(&w->background);
    if (st == GF_OK) st = written;
    if (w->batch == w->first) {
        gf_batch_free(w->other);
        return st;
    }
    if (st == GF_OK) st = gf_batch_write(w->batch, GF_SYNC_ON, err);
    gf_batch_free(w->batch);
    return st;
}
