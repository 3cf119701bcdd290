/**
 * The LevelDB backend's state and operations, for its own files.
 *
 * Order of the locks: the hold's, compaction, rows (write.c), the catalogue's, the queue of commits.
 * Whoever holds one takes only those behind it.
 */
#ifndef GF_STORAGE_LEVELDB_INTERNAL_H
#define GF_STORAGE_LEVELDB_INTERNAL_H

#include "storage/backend.h"
#include "storage/leveldb/database.h"
#include "storage/leveldb/readers.h"
#include "storage/leveldb/reclaim.h"

#include <pthread.h>
#include <stdatomic.h>

/** A snapshot of the backend: a state to read from, among the readers of a side. */
typedef struct gf_leveldb_view {
    const gf_leveldb_snapshot *snapshot;
    unsigned side;
} gf_leveldb_view;

/**
 * A table of the catalogue. A schema is replaced, never changed: readers may hold an old one. It is
 * published before anything is written by it, so what is read first and then taken apart by the
 * schema of that moment never has a family or a column that the schema lacks.
 */
typedef struct gf_leveldb_table {
    _Atomic(const gf_schema *) schema;
    /* Bit f: family f has held a cut value; a put looks for old blocks. */
    atomic_uint_least32_t cut;
    /* Since the database was opened: its number is not given again until then. */
    bool dropped;
} gf_leveldb_table;

/** Rows by a hash: bit h stands for all that hash to h. */
typedef struct gf_leveldb_row_set {
    uint64_t bits[8];
} gf_leveldb_row_set;

/** The hold of all rows: whoever has it has hold_lock. */
struct gf_backend_hold {
    char of_all;
};

typedef struct gf_leveldb {
    gf_backend base;
    gf_leveldb_database *db;
    char *folder;
    bool read_only;                          /* rows are not changed */
    bool in_memory;                          /* there are no files in `folder` */
    _Atomic(gf_leveldb_batch *) spare_batch; /* empty, its memory kept; may be NULL */
    gf_leveldb_readers readers;
    gf_leveldb_reclaiming reclaiming;
    pthread_mutex_t compact_lock; /* one compaction at a time */
    pthread_mutex_t hold_lock;    /* hold.c */
    gf_backend_hold hold;

    pthread_mutex_t catalogue_lock; /* of changes of the fields down to n_tables */
    gf_arena catalogue_memory;
    gf_leveldb_table tables[GF_MAX_TABLES]; /* by number; 0 is not used */
    unsigned n_tables;                      /* highest number + 1 */

    pthread_mutex_t rows_lock;    /* of the fields down to last_waiter */
    gf_leveldb_row_set rows_held; /* by writes */
    struct gf_leveldb_row_waiter *first_waiter, *last_waiter;

    pthread_mutex_t commit_lock; /* of the fields below */
    struct gf_leveldb_queued *first_commit, *last_commit;
    uint64_t written; /* bytes */
    bool failed;      /* a commit failed, by `failure`: no more are made */
    gf_error failure;
} gf_leveldb;

/** Bytes written that are worth a table and compactions. */
enum { GF_LEVELDB_MUCH = 256 << 10 };

/** GF_EINVAL where rows may not be changed. */
gf_status gf_leveldb_check_writable(const gf_leveldb *b, gf_error *err);

/** A view of the state as it is now. */
gf_leveldb_view gf_leveldb_view_open(gf_leveldb *b);
void gf_leveldb_view_close(gf_leveldb *b, const gf_leveldb_view *view);

/** LevelDB's snapshot behind one of the backend's; NULL: the newest state at each read. */
static inline const gf_leveldb_snapshot *gf_leveldb_view_snapshot(const void *snapshot)
{
    return snapshot ? ((const gf_leveldb_view *)snapshot)->snapshot : NULL;
}

/** The schema of a table that was opened, as it is now; borrowed for the backend's life. */
static inline const gf_schema *gf_leveldb_schema(const gf_leveldb *b, unsigned table)
{
    return atomic_load_explicit(&b->tables[table].schema, memory_order_acquire);
}

/* ---- operations of the backend (storage/backend.h) ------------------------------------------- */

gf_status gf_leveldb_get(gf_backend *b, const void *snapshot, unsigned table, gf_slice key,
                         const gf_selection *what, gf_row *row, gf_error *err);
gf_status gf_leveldb_scan_open(gf_backend *b, const void *snapshot, unsigned table,
                               const gf_scan_options *options, gf_backend_scan **scan,
                               gf_error *err);
gf_status gf_leveldb_scan_next(gf_backend_scan *scan, gf_row *row, gf_error *err);
void gf_leveldb_scan_close(gf_backend_scan *scan);
gf_status gf_leveldb_scan_cut(gf_backend *b, const void *snapshot, unsigned table,
                              const gf_scan_options *options, uint64_t bytes, gf_buffer *key,
                              gf_error *err);
gf_status gf_leveldb_write(gf_backend *b, const gf_change *changes, size_t n,
                           const gf_expectation *condition, gf_backend_hold *hold, gf_sync sync,
                           gf_error *err);
gf_status gf_leveldb_hold(gf_backend *b, unsigned table, const gf_slice *keys, size_t n,
                          gf_backend_hold **hold, gf_error *err);
void gf_leveldb_let_go(gf_backend *b, gf_backend_hold *hold);
gf_status gf_leveldb_increment(gf_backend *b, const gf_change *put, int64_t delta, gf_sync sync,
                               int64_t *result, gf_error *err);
gf_status gf_leveldb_alter_family(gf_backend *b, unsigned table, unsigned family, uint32_t versions,
                                  uint64_t ttl_seconds, const gf_cancel *cancel,
                                  const gf_schema **stored, gf_error *err);
gf_status gf_leveldb_drop_table(gf_backend *b, unsigned table, const gf_cancel *cancel,
                                gf_error *err);
gf_status gf_leveldb_reclaim(gf_backend *b, unsigned table, gf_slice prefix, gf_error *err);
gf_status gf_leveldb_compact(gf_backend *b, unsigned milliseconds, const gf_cancel *cancel,
                             gf_error *err);
bool gf_leveldb_has_failed(gf_backend *b);

/* ---- writing --------------------------------------------------------------------------------- */

/** Keep all writes of rows out until the unlock; waits for those under way. write.c */
void gf_leveldb_lock_all_rows(gf_leveldb *b);
void gf_leveldb_unlock_all_rows(gf_leveldb *b);

/**
 * Write a batch. Those that wait at the same time are written together, with one sync; the batch
 * may be added to. After a failure every later commit fails (GF_EIO). commit.c
 */
gf_status gf_leveldb_commit(gf_leveldb *b, gf_leveldb_batch *batch, gf_sync sync, gf_error *err);

#endif
