/**
 * A write in the making: changes on their way into one LevelDB batch. For the backend's own files.
 *
 * A change of single columns of a packed family needs the columns that are there: those rows are
 * put together in memory (`pending`), across all changes of the batch, and written at its end. All
 * other changes go straight into the batch, in their order.
 */
#ifndef GF_STORAGE_LEVELDB_WRITING_H
#define GF_STORAGE_LEVELDB_WRITING_H

#include "base/strings.h"
#include "storage/leveldb_internal.h"

/* The columns of one packed row while its changes are applied. */
typedef struct gf_pending_row {
    unsigned table, family;
    gf_slice key;
    gf_column *columns; /* n of capacity, in no order */
    size_t n, capacity;
    int64_t timestamp;
} gf_pending_row;

/* A cut value that this batch has put: its blocks are not in the database yet. */
typedef struct gf_cut_put {
    gf_slice head; /* physical key */
    uint32_t blocks;
} gf_cut_put;

typedef struct gf_writing {
    gf_leveldb *b;
    leveldb_writebatch_t *batch;
    const gf_change *changes;
    size_t n;
    bool merges; /* packed families are put together in `pending` */
    int64_t now;
    gf_arena arena;
    gf_strings pending_keys; /* physical key -> index in pending */
    gf_pending_row *pending;
    size_t pending_capacity;
    gf_cut_put *cuts;
    size_t n_cuts, cuts_capacity;
    gf_buffer key, block_key, value, entry, packed, unpacked;
} gf_writing;

/* leveldb_batch.c: entries of the batch */

/** w->key becomes the physical key of a cell, without version. */
void gf_writing_cell_key(gf_writing *w, unsigned table, unsigned family, gf_slice row,
                         gf_slice qualifier);
/** Put a value under the cell key in w->key. */
gf_status gf_writing_put_value(gf_writing *w, unsigned table, unsigned family, gf_slice value,
                               int64_t timestamp, gf_error *err);
/** Delete the entry under a head key, and its blocks. */
gf_status gf_writing_delete_head(gf_writing *w, unsigned table, unsigned family, gf_slice head,
                                 gf_error *err);
/** Delete every entry whose physical key starts with `prefix`. */
gf_status gf_writing_delete_prefix(gf_writing *w, unsigned table, unsigned family, gf_slice prefix,
                                   gf_error *err);

/** Turn all changes into entries of the batch. leveldb_apply.c */
gf_status gf_writing_apply(gf_writing *w, gf_error *err);

#endif
