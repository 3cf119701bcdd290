/**
 * LevelDB behind C functions: one open database, its snapshots, iterators and batches.
 *
 * The backend is C and knows LevelDB by this header alone. database.cpp calls LevelDB's C++
 * interface: its statuses have codes, and its options and environment have what the C interface
 * lacks.
 *
 * LevelDB allocates by itself. Where it gets no memory the program ends, if that was asked for
 * (gf_leveldb_set_ending). Else the call fails (GF_ENOMEM), or the next one that returns a status, and
 * so does each that follows: an iterator is then nowhere, a batch fails where it is written. But
 * LevelDB's own thread can then only abort, and other threads that are within a call may wait for ever.
 *
 * Threads: a database may be used by several at once, an iterator or a batch by one at a time.
 */
#ifndef GF_STORAGE_LEVELDB_DATABASE_H
#define GF_STORAGE_LEVELDB_DATABASE_H

#include "grouperfish/buffer.h"

typedef struct gf_leveldb_database gf_leveldb_database;
typedef struct gf_leveldb_snapshot gf_leveldb_snapshot; /* a leveldb::Snapshot */
typedef struct gf_leveldb_iterator gf_leveldb_iterator;
typedef struct gf_leveldb_batch gf_leveldb_batch;

/**
 * Have `end` called, which does not return, where LevelDB gets no memory once a database is open.
 * Called once, before any is opened.
 */
void gf_leveldb_set_ending(void (*end)(const char *why));

/**
 * Tables (16 MiB) that the process maps at most, over all databases; 500 unless set. Files of others are
 * opened for each reading. Holds for those that are opened from now on.
 */
void gf_leveldb_set_mapped_tables(int most);

/* ---- the database ---------------------------------------------------------------------------- */

typedef struct gf_leveldb_settings {
    bool create;         /* make a new database; there must be none */
    bool clean;          /* the MANIFEST and the log that are there are written on */
    bool read_only;      /* nothing in the folder is changed: what is written stays in memory */
    bool in_memory;      /* there is no folder, and nothing outlasts the closing; with `create` */
    bool patient;        /* compactions wait for some seconds, or for gf_leveldb_database_begin */
    size_t write_buffer; /* bytes */
    size_t cache;        /* bytes */
} gf_leveldb_settings;

/** Every byte that is read is checked. @return GF_OK; GF_EBUSY, GF_ECORRUPT, GF_EIO, GF_EINVAL */
gf_status gf_leveldb_database_open(const char *folder, const gf_leveldb_settings *settings,
                                   gf_leveldb_database **db, gf_error *err);

/** A compaction that is under way is broken off. NULL is allowed. */
void gf_leveldb_database_close(gf_leveldb_database *db);

/** Begin the compactions that an opening is patient with. Cheap. */
void gf_leveldb_database_begin(gf_leveldb_database *db);

/**
 * Have a table made of what is in the log, and wait for that, but for no compaction. What others
 * write meanwhile is in the next log. Where it fails, the log stays as it is.
 */
void gf_leveldb_database_empty_log(gf_leveldb_database *db);

/** Tables that may lie over each other: those of level 0. */
unsigned gf_leveldb_database_overlapping(gf_leveldb_database *db);

/** Have all compactions done that are due, and wait for them so long; UINT_MAX: to their end. */
void gf_leveldb_database_settle(gf_leveldb_database *db, unsigned milliseconds);

/**
 * Have a compaction that is under way fail at its next reading or writing of a table, and all after
 * it: whoever waits for one goes on. Nothing may be done with the database any more but to close it.
 */
void gf_leveldb_database_break_off(gf_leveldb_database *db);

/** Compact the keys from begin to end, both included; a slice without ptr: no bound. */
void gf_leveldb_database_compact(gf_leveldb_database *db, gf_slice begin, gf_slice end);

/** About the bytes that the keys from begin to before end take in tables. */
uint64_t gf_leveldb_database_bytes(gf_leveldb_database *db, gf_slice begin, gf_slice end);

/* ---- reading; snapshot NULL: the newest state ------------------------------------------------ */

const gf_leveldb_snapshot *gf_leveldb_snapshot_create(gf_leveldb_database *db);
void gf_leveldb_snapshot_free(gf_leveldb_database *db, const gf_leveldb_snapshot *snapshot);

/** Replace the value's content. GF_ENOTFOUND comes without a message. */
gf_status gf_leveldb_database_get(gf_leveldb_database *db, const gf_leveldb_snapshot *snapshot,
                                  gf_slice key, gf_buffer *value, gf_error *err);

/** An iterator that is nowhere yet; the blocks that it reads stay in the cache, or do not. */
gf_leveldb_iterator *gf_leveldb_iterator_create(gf_leveldb_database *db,
                                                const gf_leveldb_snapshot *snapshot, bool cached);
void gf_leveldb_iterator_free(gf_leveldb_iterator *it);

void gf_leveldb_iterator_seek(gf_leveldb_iterator *it, gf_slice key);
void gf_leveldb_iterator_first(gf_leveldb_iterator *it);
void gf_leveldb_iterator_last(gf_leveldb_iterator *it);
void gf_leveldb_iterator_next(gf_leveldb_iterator *it);
void gf_leveldb_iterator_prev(gf_leveldb_iterator *it);
bool gf_leveldb_iterator_valid(const gf_leveldb_iterator *it);

/** The entry that the iterator is at, borrowed until it moves. */
gf_slice gf_leveldb_iterator_key(const gf_leveldb_iterator *it);
gf_slice gf_leveldb_iterator_value(const gf_leveldb_iterator *it);

/** The first error that the iterator met: it steps over what it cannot read. */
gf_status gf_leveldb_iterator_status(const gf_leveldb_iterator *it, gf_error *err);

/* ---- writing --------------------------------------------------------------------------------- */

gf_leveldb_batch *gf_leveldb_batch_create(void);
void gf_leveldb_batch_free(gf_leveldb_batch *batch);
void gf_leveldb_batch_clear(gf_leveldb_batch *batch);
void gf_leveldb_batch_put(gf_leveldb_batch *batch, gf_slice key, gf_slice value);
void gf_leveldb_batch_delete(gf_leveldb_batch *batch, gf_slice key);
void gf_leveldb_batch_append(gf_leveldb_batch *batch, const gf_leveldb_batch *more);

/** Bytes of its entries; 0 where there is none. */
size_t gf_leveldb_batch_bytes(const gf_leveldb_batch *batch);

gf_status gf_leveldb_database_write(gf_leveldb_database *db, gf_leveldb_batch *batch, bool sync,
                                    gf_error *err);

#ifdef __cplusplus
namespace leveldb
{
class Status;
}

/** GF_OK, or the failure in LevelDB's words, without its name of the code ("IO error: "). */
gf_status gf_leveldb_database_failure(const leveldb::Status &status, gf_error *err);
#endif

#endif
