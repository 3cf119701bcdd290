/*
 * Holds. The folder's lock keeps other processes out, so that a lock of this one suffices: one for
 * all rows, since whoever holds it only reads and writes what is in memory already, or waits for a
 * sync that holds up all writes anyhow.
 */
#include "storage/leveldb/internal.h"

gf_status gf_leveldb_hold(gf_backend *backend, unsigned table, const gf_slice *keys, size_t n,
                          gf_backend_hold **hold, gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    (void)table, (void)keys, (void)n, (void)err;
    pthread_mutex_lock(&b->hold_lock);
    *hold = &b->hold;
    return GF_OK;
}

void gf_leveldb_let_go(gf_backend *backend, gf_backend_hold *hold)
{
    (void)hold;
    pthread_mutex_unlock(&((gf_leveldb *)backend)->hold_lock);
}
