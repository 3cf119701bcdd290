/**
 * Readers: iterators and snapshots, which keep what was deleted meanwhile.
 *
 * Threads: any.
 */
#ifndef GF_STORAGE_LEVELDB_READERS_H
#define GF_STORAGE_LEVELDB_READERS_H

#include <pthread.h>
#include <stdbool.h>

typedef struct gf_leveldb_readers {
    pthread_mutex_t lock; /* of the fields below */
    pthread_cond_t changed;
    unsigned n[2];    /* readers of each side */
    unsigned current; /* the side of those that begin */
} gf_leveldb_readers;

void gf_leveldb_readers_init(gf_leveldb_readers *readers);
void gf_leveldb_readers_release(gf_leveldb_readers *readers);

/** A reader begins; the side that is returned is for its end. */
unsigned gf_leveldb_readers_begin(gf_leveldb_readers *readers);
void gf_leveldb_readers_end(gf_leveldb_readers *readers, unsigned side);

/**
 * Wait until the readers of this moment have ended, or until then; whether they have. Others may
 * begin meanwhile. One call at a time.
 */
bool gf_leveldb_readers_pass(gf_leveldb_readers *readers, const struct timespec *until);

#endif
