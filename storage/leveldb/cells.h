/**
 * Walks the cells of one family between two physical keys, in either direction.
 *
 * A cell's value is put together from its blocks and decompressed; cells past their time to live
 * are left out; of several versions the newest `versions` are given. A block of a run is opened, and
 * its cells given one by one; its key is behind a walk's upper bound where that is amid it. An error
 * of the iterator is returned before the next cell.
 */
#ifndef GF_STORAGE_LEVELDB_CELLS_H
#define GF_STORAGE_LEVELDB_CELLS_H

#include "storage/leveldb/internal.h"
#include "storage/leveldb/keys.h"
#include "storage/run.h"

typedef struct gf_leveldb_cells {
    gf_leveldb_readers *readers; /* among which it is, by `side`, once there is an iterator */
    unsigned side;
    const gf_schema *schema;
    const gf_family *family;
    gf_leveldb_iterator *it;
    gf_buffer lower, upper; /* physical keys: lower <= key < upper; upper empty: no end */
    gf_buffer last;         /* physical key of the last cell, where that is needed */
    uint32_t versions, seen;
    /* Set by the caller before the first step; as_stored: a block is one cell, its last. */
    bool reverse, keys_only, as_stored, with_expired;
    bool started, moved;
    int64_t now;
    gf_buffer blocks, unpacked, place;
    bool in_block; /* the cell given last was of the block that is open */
    gf_run_reader block;
    gf_buffer edge; /* of a run: the cell of the entry before that is next; empty at the start */
} gf_leveldb_cells;

typedef struct gf_leveldb_cell {
    gf_leveldb_key key; /* borrowed until the next call */
    gf_slice value;     /* likewise; empty where keys_only or expired */
    int64_t timestamp;
    bool expired; /* only where with_expired */
} gf_leveldb_cell;

/** True where a cell of that time is past the family's time to live; without a time it never is. */
static inline bool gf_leveldb_cells_are_expired(const gf_family *family, int64_t timestamp,
                                                int64_t now)
{
    uint64_t ttl = family->ttl_seconds;
    return ttl && timestamp && timestamp < now &&
           ((uint64_t)now - (uint64_t)timestamp) / 1000 >= ttl;
}

/** Begin; lower and upper are set by the caller before the first gf_leveldb_cells_next. */
void gf_leveldb_cells_open(gf_leveldb_cells *c, gf_leveldb *b, const gf_leveldb_snapshot *snapshot,
                           bool cached, unsigned table, unsigned family, uint32_t versions);

/** Let the walk be over all physical keys that start with `prefix`. */
void gf_leveldb_cells_within(gf_leveldb_cells *c, gf_slice prefix);

/** GF_ENOTFOUND at the end, behind which the walk cannot go on. */
gf_status gf_leveldb_cells_next(gf_leveldb_cells *c, gf_leveldb_cell *cell, gf_error *err);
void gf_leveldb_cells_close(gf_leveldb_cells *c);

/** The cells of a scan's range, from {0}; to be closed also after a failure. scan.c */
gf_status gf_leveldb_scan_range(gf_leveldb_cells *cells, gf_leveldb *b,
                                const gf_leveldb_snapshot *snapshot, unsigned table,
                                const gf_scan_options *options, gf_error *err);

#endif
