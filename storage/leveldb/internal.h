/**
 * What the files of the LevelDB backend share.
 *
 * Order of the locks: compaction, rows (write.c), then the catalogue's, then the queue of
 * commits.
 */
#ifndef GF_STORAGE_LEVELDB_INTERNAL_H
#define GF_STORAGE_LEVELDB_INTERNAL_H

#include "storage/backend.h"
#include "storage/leveldb/keys.h"
#include "storage/leveldb/value.h"

#include <leveldb/c.h>
#include <pthread.h>
#include <stdatomic.h>

/** How many iterators and snapshots there are, by side (readers.c). */
typedef struct gf_leveldb_readers {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned n[2], current;
} gf_leveldb_readers;

/** A state to read from. */
typedef struct gf_leveldb_view {
    const leveldb_snapshot_t *snapshot; /* NULL: the newest state at each read */
    leveldb_readoptions_t *get;         /* into the cache */
    leveldb_readoptions_t *scan;        /* past the cache */
    unsigned side;                      /* of the readers; where there is a snapshot */
} gf_leveldb_view;

/**
 * A table of the catalogue. A schema is replaced, never changed: readers may hold an old one. It is
 * published before anything is written by it, so what is read first and then taken apart by the
 * schema of that moment never has a family or a column that the schema lacks.
 */
typedef struct gf_catalogued {
    _Atomic(const gf_schema *) schema;
    atomic_uint_least32_t
        cut;      /* bit f: family f has held a cut value; a put looks for old blocks */
    bool dropped; /* since the database was opened: its number is not given again until then */
} gf_catalogued;

/** Rows, told apart by a hash: bit h stands for all that hash to h. */
typedef struct gf_row_set {
    uint64_t bits[8];
} gf_row_set;

typedef struct gf_leveldb {
    gf_backend base;
    leveldb_t *db;
    char *folder;
    leveldb_options_t *options;
    leveldb_cache_t *cache;
    leveldb_filterpolicy_t *filter;
    _Atomic(leveldb_writebatch_t *) spare_batch; /* empty, its memory kept; may be NULL */
    atomic_uint_least64_t removed;               /* entries, since the opening */
    struct gf_leveldb_env *env;                  /* env.h; may be NULL */
    leveldb_writeoptions_t *write[2];            /* by gf_sync */
    gf_leveldb_view newest;
    gf_leveldb_readers readers;
    pthread_mutex_t compact_lock; /* one compaction at a time */

    pthread_mutex_t catalogue_lock; /* of changes of the fields down to n_tables */
    gf_arena catalogue_memory;
    gf_catalogued tables[GF_MAX_TABLES]; /* by number; 0 is not used */
    unsigned n_tables;                   /* highest number + 1 */

    pthread_mutex_t rows_lock; /* of the fields down to last_waiter */
    gf_row_set rows_held;      /* those that writes hold */
    struct gf_row_waiter *first_waiter, *last_waiter;

    pthread_mutex_t commit_lock; /* of the fields below */
    struct gf_commit *first_commit, *last_commit;
    uint64_t written; /* bytes */
    bool failed;      /* a commit failed, by `failure`: no more are made */
    gf_error failure;
} gf_leveldb;

enum { GF_LEVELDB_MUCH = 256 << 10 /* bytes written that are worth a table and compactions */ };

/* ---- backend.c ------------------------------------------------------------------------------- */

/** GF_OK for NULL; else the status that LevelDB's message means. Frees the message. */
gf_status gf_leveldb_failure(char *message, gf_error *err);

/** A view of the newest state (fixed: of the state as it is now). GF_ENOMEM. */
gf_status gf_leveldb_view_open(gf_leveldb *b, bool fixed, gf_leveldb_view *view, gf_error *err);
void gf_leveldb_view_close(gf_leveldb *b, gf_leveldb_view *view);

/** leveldb_get into a buffer (emptied first); GF_ENOTFOUND without a message. */
gf_status gf_leveldb_read(gf_leveldb *b, const gf_leveldb_view *view, gf_slice key,
                          gf_buffer *value, gf_error *err);

/** GF_OK, or what the iterator met. */
gf_status gf_leveldb_iterator_status(const leveldb_iterator_t *it, gf_error *err);
gf_slice gf_leveldb_iterator_key(const leveldb_iterator_t *it);
gf_slice gf_leveldb_iterator_value(const leveldb_iterator_t *it);

/* ---- catalogue.c ----------------------------------------------------------------------------- */

/** The schema of a table that was opened, as it is now; borrowed for the backend's life. */
static inline const gf_schema *gf_leveldb_schema(const gf_leveldb *b, unsigned table)
{
    return atomic_load_explicit(&b->tables[table].schema, memory_order_acquire);
}

/** Mark a new database as one of ours. */
gf_status gf_catalogue_create(gf_leveldb *b, gf_error *err);
/** Read the whole catalogue. GF_ECORRUPT where the database is none of ours. */
gf_status gf_catalogue_load(gf_leveldb *b, gf_error *err);
gf_status gf_catalogue_open_table(gf_backend *b, const gf_schema *schema, unsigned *number,
                                  const gf_schema **stored, gf_error *err);

const gf_schema *gf_catalogue_schema_of(gf_backend *b, unsigned number);

/** Take the table, of which no entry is left, out of the catalogue (synced). */
gf_status gf_catalogue_remove(gf_leveldb *b, unsigned table, gf_error *err);

/** Whether the family has held a cut value; to be remembered in the batch that puts the first one,
 * and here once that is written. */
bool gf_catalogue_is_cut(const gf_leveldb *b, unsigned table, unsigned family);
gf_status gf_catalogue_put_cut(unsigned table, unsigned family, leveldb_writebatch_t *batch,
                               gf_error *err);
void gf_catalogue_set_cut(gf_leveldb *b, unsigned table, unsigned family);

/* ---- read.c, scan.c, write.c: operations ----------------------------------------------------- */

gf_status gf_leveldb_get(gf_backend *b, const void *snapshot, unsigned table, gf_slice key,
                         const gf_selection *what, gf_row *row, gf_error *err);
gf_status gf_leveldb_scan_open(gf_backend *b, const void *snapshot, unsigned table,
                               const gf_scan_options *options, gf_backend_scan **scan,
                               gf_error *err);
gf_status gf_leveldb_scan_next(gf_backend_scan *scan, gf_row *row, gf_error *err);
void gf_leveldb_scan_close(gf_backend_scan *scan);
gf_status gf_leveldb_write(gf_backend *b, const gf_change *changes, size_t n,
                           const gf_condition *condition, gf_sync sync, gf_error *err);
gf_status gf_leveldb_increment(gf_backend *b, const gf_change *put, int64_t delta, gf_sync sync,
                               int64_t *result, gf_error *err);

/** Keep all writes of rows out until they are let in again; waits for those under way. */
void gf_leveldb_hold_all_rows(gf_leveldb *b);
void gf_leveldb_let_all_rows(gf_leveldb *b);

/* ---- drop.c ---------------------------------------------------------------------------------- */

gf_status gf_leveldb_drop_table(gf_backend *b, unsigned table, const gf_cancel *cancel,
                                gf_error *err);

/* ---- compact.c ------------------------------------------------------------------------------- */

gf_status gf_leveldb_compact(gf_backend *b, unsigned milliseconds, gf_error *err);

/* ---- readers.c ------------------------------------------------------------------------------- */

void gf_leveldb_readers_init(gf_leveldb_readers *readers);
void gf_leveldb_readers_release(gf_leveldb_readers *readers);

/** A reader begins; what is returned is for its end. */
unsigned gf_leveldb_reader_begin(gf_leveldb_readers *readers);
void gf_leveldb_reader_end(gf_leveldb_readers *readers, unsigned side);

/**
 * Wait until the readers of this moment have ended, or until then; whether they have. Others may
 * begin meanwhile. One call at a time.
 */
bool gf_leveldb_readers_pass(gf_leveldb_readers *readers, const struct timespec *until);

/* ---- commit.c -------------------------------------------------------------------------------- */

/**
 * Write a batch of about `bytes` bytes. Those that wait at the same time are written together, with
 * one sync; the batch may be added to. After a failure every later commit fails (GF_EIO).
 */
gf_status gf_leveldb_commit(gf_leveldb *b, leveldb_writebatch_t *batch, size_t bytes, gf_sync sync,
                            gf_error *err);
bool gf_leveldb_has_failed(gf_backend *b);

/* ---- cells.c --------------------------------------------------------------------------------- */

/**
 * Walks the cells of one family between two physical keys.
 *
 * A cell's value is put together from its blocks and decompressed; cells past their time to live
 * are left out; of several versions the newest `versions` are given. An error of the iterator is
 * told before the next cell is given.
 */
typedef struct gf_cells {
    gf_leveldb_readers *readers; /* among which it is, by `side`, once there is an iterator */
    unsigned side;
    const gf_schema *schema;
    const gf_family *family;
    leveldb_iterator_t *it;
    gf_buffer lower, upper; /* physical keys: lower <= key < upper; upper empty: no end */
    gf_buffer last;         /* physical key of the last cell, where that is needed */
    uint32_t versions, seen;
    bool reverse, keys_only, with_expired, started, moved;
    int64_t now;
    gf_buffer blocks, unpacked, place;
} gf_cells;

typedef struct gf_found_cell {
    gf_physical_key key; /* borrowed until the next call */
    gf_slice value;      /* likewise; empty where keys_only or expired */
    int64_t timestamp;
    bool expired; /* only where with_expired */
} gf_found_cell;

/** Whether a cell of that time is past the family's time to live. */
static inline bool gf_cell_is_expired(const gf_family *family, int64_t timestamp, int64_t now)
{
    uint64_t ttl = family->ttl_seconds;
    return ttl && timestamp < now && ((uint64_t)now - (uint64_t)timestamp) / 1000 >= ttl;
}

/** Begin; lower and upper are set by the caller before the first gf_cells_next. */
gf_status gf_cells_open(gf_cells *c, gf_leveldb *b, const leveldb_readoptions_t *options,
                        unsigned table, unsigned family, uint32_t versions, gf_error *err);

/** Let the walk be over all physical keys that start with `prefix`. */
void gf_cells_within(gf_cells *c, gf_slice prefix);

/** GF_ENOTFOUND at the end, behind which the walk cannot go on. */
gf_status gf_cells_next(gf_cells *c, gf_found_cell *cell, gf_error *err);
void gf_cells_close(gf_cells *c);

/* ---- scan.c, cut.c: ranges of rows ----------------------------------------------------------- */

/** The cells of a scan's range, from nothing; to be closed whatever comes of it. */
gf_status gf_leveldb_range(gf_cells *cells, gf_leveldb *b, const gf_leveldb_view *view,
                           unsigned table, const gf_scan_options *options, gf_error *err);

gf_status gf_leveldb_scan_cut(gf_backend *b, const void *snapshot, unsigned table,
                              const gf_scan_options *options, uint64_t bytes, gf_buffer *key,
                              gf_error *err);

#endif
