/**
 * The backend over LevelDB: one process, one folder of files.
 *
 * Reads verify checksums always, and every step of a scan asks its iterator for an error, since an
 * iterator with checksums on steps over a bad block and goes on. Writes whose rows overlap wait for
 * each other, in the order of their coming; those that do not are written and synced together.
 *
 * Durability: a write with GF_SYNC that returned GF_OK survives power loss. One without may be lost
 * even if a later one was synced: LevelDB does not sync a log file that it has left behind.
 */
#ifndef GF_STORAGE_LEVELDB_BACKEND_H
#define GF_STORAGE_LEVELDB_BACKEND_H

#include "storage/backend.h"

typedef enum gf_leveldb_mode {
    GF_LEVELDB_EXISTING, /* open what is there */
    GF_LEVELDB_CREATE    /* make a new one; there must be none */
} gf_leveldb_mode;

/**
 * @return GF_OK; GF_EBUSY, GF_ECORRUPT (also: no database of ours), GF_EIO, GF_EINVAL (a newer
 *         format), GF_ENOMEM
 */
gf_status gf_leveldb_open(const char *folder, gf_leveldb_mode mode, gf_backend **backend,
                          gf_error *err);

#endif
