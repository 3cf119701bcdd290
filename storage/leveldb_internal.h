/**
 * What the files of the LevelDB backend share.
 */
#ifndef GF_STORAGE_LEVELDB_INTERNAL_H
#define GF_STORAGE_LEVELDB_INTERNAL_H

#include "storage/backend.h"
#include "storage/leveldb_keys.h"
#include "storage/value.h"

#include <leveldb/c.h>
#include <pthread.h>

enum { GF_MAX_TABLES = 1024 };

/** A table of the catalogue. Schemas are replaced, never changed: readers may hold an old one. */
typedef struct gf_catalogued {
    const gf_schema *schema;
    uint32_t cut; /* bit f: family f has held a cut value, so a put must look for old blocks */
} gf_catalogued;

typedef struct gf_leveldb {
    gf_backend base;
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_cache_t *cache;
    leveldb_filterpolicy_t *filter;
    leveldb_readoptions_t *read; /* of the newest state, into the cache */

    pthread_mutex_t catalogue_lock; /* of the fields down to n_tables */
    gf_arena catalogue_memory;
    gf_catalogued tables[GF_MAX_TABLES]; /* by number; 0 is not used */
    unsigned n_tables;                   /* highest number + 1 */

    pthread_mutex_t rows_lock; /* of the fields below */
    pthread_cond_t rows_free;
    uint64_t rows_held; /* bit h: a write holds the rows that hash to h */
    bool failed;        /* a write failed: LevelDB takes no more */
} gf_leveldb;

/** The schema of a table that was opened. */
const gf_schema *gf_leveldb_schema(gf_leveldb *b, unsigned table);

/** The catalogue: read it all; make a table known; remember in `batch` that a family holds cuts. */
gf_status gf_catalogue_load(gf_leveldb *b, gf_error *err);
gf_status gf_catalogue_open_table(gf_backend *b, const gf_schema *schema, unsigned *number,
                                  const gf_schema **stored, gf_error *err);
gf_status gf_catalogue_mark_cut(gf_leveldb *b, unsigned table, unsigned family,
                                leveldb_writebatch_t *batch, gf_error *err);
bool gf_catalogue_is_cut(gf_leveldb *b, unsigned table, unsigned family);

/** GF_OK for NULL; else the status that LevelDB's message means. Frees the message. */
gf_status gf_leveldb_failure(char *message, gf_error *err);

/** leveldb_get into a buffer (emptied first); GF_ENOTFOUND without a message. */
gf_status gf_leveldb_read(gf_leveldb *b, const leveldb_readoptions_t *options, gf_slice key,
                          gf_buffer *value, gf_error *err);

/** Read options for a snapshot (NULL: newest state); the caller destroys them. */
leveldb_readoptions_t *gf_leveldb_read_options(const void *snapshot, bool fill_cache);

/** GF_OK, or what the iterator met. */
gf_status gf_leveldb_iterator_status(const leveldb_iterator_t *it, gf_error *err);

gf_slice gf_leveldb_iterator_key(const leveldb_iterator_t *it);
gf_slice gf_leveldb_iterator_value(const leveldb_iterator_t *it);

/* leveldb_read.c */
gf_status gf_leveldb_get(gf_backend *b, const void *snapshot, unsigned table, gf_slice key,
                         const gf_selection *what, gf_row *row, gf_error *err);

/* leveldb_scan.c */
gf_status gf_leveldb_scan_open(gf_backend *b, const void *snapshot, unsigned table,
                               const gf_scan_options *options, gf_backend_scan **scan,
                               gf_error *err);
gf_status gf_leveldb_scan_next(gf_backend_scan *scan, gf_row *row, gf_error *err);
void gf_leveldb_scan_close(gf_backend_scan *scan);

/* leveldb_write.c */
gf_status gf_leveldb_write(gf_backend *b, const gf_change *changes, size_t n,
                           const gf_condition *condition, gf_sync sync, gf_error *err);
gf_status gf_leveldb_increment(gf_backend *b, const gf_change *put, int64_t delta, gf_sync sync,
                               int64_t *result, gf_error *err);

/**
 * Walks the cells of one family between two physical keys. leveldb_cells.c
 *
 * A cell's value is put together from its blocks and decompressed; cells past their time to live
 * are left out; of several versions the newest `versions` are given.
 */
typedef struct gf_cells {
    gf_leveldb *b;
    const gf_schema *schema;
    const gf_family *family;
    leveldb_readoptions_t *options;
    leveldb_iterator_t *it;
    gf_buffer lower, upper; /* physical keys: lower <= key < upper; upper empty: no end */
    gf_buffer last;         /* physical key of the last cell, where there are versions */
    uint32_t versions, seen;
    bool reverse, keys_only, started;
    int64_t now;
    gf_buffer blocks, unpacked, place;
} gf_cells;

typedef struct gf_found_cell {
    gf_physical_key key; /* borrowed until the next call */
    gf_slice value;      /* likewise */
    int64_t timestamp;
} gf_found_cell;

/** Begin; lower and upper are set by the caller before the first gf_cells_next. */
gf_status gf_cells_open(gf_cells *c, gf_leveldb *b, const void *snapshot, unsigned table,
                        unsigned family, uint32_t versions, gf_error *err);
/** GF_ENOTFOUND at the end. */
gf_status gf_cells_next(gf_cells *c, gf_found_cell *cell, gf_error *err);
void gf_cells_close(gf_cells *c);

#endif
