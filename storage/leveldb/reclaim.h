/**
 * Giving back the room of rows that were deleted, in the background.
 *
 * LevelDB merges files where many bytes lie above them. A build is deleted by few small entries, so
 * its files would stay for long: here the files that have keys of a range are merged with what lies
 * above them. Files that nothing lies above are left as they are. A merging under way is broken off
 * when the database is closed.
 */
#ifndef GF_STORAGE_LEVELDB_RECLAIM_H
#define GF_STORAGE_LEVELDB_RECLAIM_H

#include "base/background.h"
#include "grouperfish/buffer.h"

#include <stdatomic.h>

typedef struct gf_leveldb_reclaiming {
    pthread_mutex_t lock; /* of the next two */
    gf_buffer waiting;    /* prefixes of keys, as strings */
    bool working;
    atomic_bool stopping;
    gf_background background;
} gf_leveldb_reclaiming;

void gf_leveldb_reclaim_init(gf_leveldb_reclaiming *r);

/** Begin nothing more: the caller has the database break off what is under way, and then releases. */
void gf_leveldb_reclaim_stop(gf_leveldb_reclaiming *r);

/** Wait until it has stopped. The database is open still. */
void gf_leveldb_reclaim_release(gf_leveldb_reclaiming *r);

#endif
