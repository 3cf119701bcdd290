/**
 * The backend over LevelDB: one process, one folder of files.
 *
 * Reads verify checksums always, and every step of a scan asks its iterator for an error, since an
 * iterator with checksums on steps over a bad block and goes on. Writes whose rows overlap wait for
 * each other, in the order of their coming; those that do not are written and synced together.
 *
 * Durability: a write with GF_SYNC_ON that returned GF_OK survives power loss, and so do those before
 * it: the environment syncs a log that LevelDB leaves behind (environment.hpp).
 */
#ifndef GF_STORAGE_LEVELDB_BACKEND_H
#define GF_STORAGE_LEVELDB_BACKEND_H

#include "grouperfish/cancel.h"
#include "storage/backend.h"

typedef enum gf_leveldb_mode {
    GF_LEVELDB_EXISTING, /* open what is there */
    GF_LEVELDB_CLEAN,    /* the same of what gf_check_logs found clean: nothing is synced */
    GF_LEVELDB_CREATE,   /* make a new one; there must be none */
    GF_LEVELDB_READ_ONLY, /* open what is there, and change no file: what is in the logs, and a longer
                             catalogue, is kept in memory; changes of rows are refused */
    GF_LEVELDB_MEMORY,    /* make a new one without a folder, whose name is for messages */
    GF_LEVELDB_SMALL = 8 /* a bit beside these: write buffers and cache as below */
} gf_leveldb_mode;

/** Bytes that write buffers and cache of blocks take at most, and take where small. */
enum { GF_LEVELDB_BYTES = 192 << 20, GF_LEVELDB_SMALL_BYTES = 12 << 20 };

/**
 * @return GF_OK; GF_EBUSY, GF_ECORRUPT (also: no database of ours), GF_EIO, GF_EINVAL (a newer
 *         format), GF_ENOMEM
 */
gf_status gf_leveldb_open(const char *folder, gf_leveldb_mode mode, gf_backend **backend,
                          gf_error *err);

/** Have a database that was just filled know the tables it was filled with. As gf_leveldb_open. */
gf_status gf_leveldb_reload(gf_backend *backend, gf_error *err);

/**
 * Put every entry of a database, as it is in one state, into another, which is new; synced. Both
 * may be in use by others.
 * @return GF_OK; GF_ECORRUPT, GF_EIO, GF_ENOMEM, GF_ECANCELLED
 */
gf_status gf_leveldb_copy(gf_backend *from, gf_backend *to, const gf_cancel *cancel, gf_error *err);

/** Entries put into a new database, as they lie and by rising keys. */
typedef struct gf_backend_fill gf_backend_fill;

/** The tables whose entries were put. */
typedef struct gf_backend_filled {
    bool names;                            /* the name of any table */
    unsigned char used[GF_MAX_TABLES / 8]; /* bit n: an entry of table n */
} gf_backend_filled;

gf_status gf_leveldb_fill_begin(gf_backend *to, const gf_cancel *cancel, gf_backend_fill **fill,
                                gf_error *err);
gf_status gf_leveldb_fill_put(gf_backend_fill *fill, gf_slice key, gf_slice value, gf_error *err);

/**
 * Write and sync the rest where `st`, how the filling went, is GF_OK; free the fill (NULL: none).
 * *filled may be NULL.
 */
gf_status gf_leveldb_fill_end(gf_backend_fill *fill, gf_status st, gf_backend_filled *filled,
                              gf_error *err);

#endif
