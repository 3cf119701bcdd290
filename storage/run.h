/**
 * Blocks of a run: entries of one family that are written once, in rising order, and never changed.
 *
 *     entries   row key [| encoded qualifier] -> value      as a store would keep them one by one
 *     block     some 16 KiB of them, under the key of the first; compressed where that helps
 *
 * A family is a run by its schema (gf_family.run). A block never crosses its granule: one row of a
 * wide family, all rows of a packed one whose keys differ in their last part alone. So whoever
 * deletes a granule, or any prefix of keys that has whole ones, deletes whole blocks.
 *
 * The bytes of a block, before compression:
 *
 *     shared (varint)      bytes that all keys begin with: the first ones of the block's own key
 *     groups (varint)      then the bytes of each group (varints), then the groups
 *     group                GF_RUN_GROUP entries, the last group's may be fewer
 *     entry                bytes shared with the key before in the group, further bytes of the key,
 *                          bytes of the value (varints); then the further bytes, the value
 *
 * A group's first entry shares nothing, so an entry is found by halving the groups and reading one
 * of them. A value is what the store keeps: of a packed family all columns (storage/packed.h).
 */
#ifndef GF_STORAGE_RUN_H
#define GF_STORAGE_RUN_H

#include "storage/packed.h"
#include "storage/table_internal.h"

enum { GF_RUN_GROUP = 16, GF_RUN_BYTES = 16 << 10, GF_RUN_ENTRIES = 2048 };

/* ---- writing --------------------------------------------------------------------------------- */

/**
 * A block in the making: {0}, then begin, add..., finish, put; begin again for the next, which keeps
 * the memory; release at the end. Blocks are made by any thread, each by one at a time.
 */
typedef struct gf_run_block {
    gf_table *table;
    unsigned family;
    gf_buffer keys, values;  /* of the entries, one behind the other */
    struct gf_run_end *ends; /* n of capacity: where each entry's key and value end */
    size_t n, capacity;
    size_t granule;          /* bytes that each key begins with */
    size_t size;             /* about the bytes of the block */
    gf_buffer bytes, memory; /* the block, and as it was compressed */
    gf_compressed stored;    /* once finished; borrows from these */
    gf_packed columns;       /* of the row at work */
    gf_arena arena;
} gf_run_block;

/** Empty the block. The family must be a run. */
void gf_run_block_begin(gf_run_block *block, gf_table *table, unsigned family);

/**
 * Add a cell of a wide family; the columns of a row of a packed one. All is copied.
 * @return GF_OK; GF_EINVAL (not behind the entry before, another granule, no such key or column);
 *         GF_ELIMIT, GF_ENOMEM
 */
gf_status gf_run_block_add_cell(gf_run_block *block, gf_slice key, gf_slice qualifier,
                                gf_slice value, gf_error *err);
gf_status gf_run_block_add_row(gf_run_block *block, gf_slice key, const gf_column *columns,
                               size_t n_columns, gf_error *err);

/** True where the block has what one should have: the next entry belongs into another. */
bool gf_run_block_is_full(const gf_run_block *block);

/** Encode and compress the block, which has an entry at least. GF_ELIMIT, GF_ENOMEM. */
gf_status gf_run_block_finish(gf_run_block *block, gf_error *err);

/** The key of its first entry, under which a block is kept; borrowed until the next addition. */
gf_slice gf_run_block_key(const gf_run_block *block);

/** Bytes of a finished block as it is stored, its key included. */
size_t gf_run_block_bytes(const gf_run_block *block);

/**
 * Put a finished block, which is copied. What the database has within its keys is to be gone before
 * and nothing else in the batch may be of its rows: a reader tells of entries that overlap
 * (GF_ECORRUPT).
 */
void gf_batch_put_block(gf_batch *batch, const gf_run_block *block);

void gf_run_block_release(gf_run_block *block);

/* ---- reading --------------------------------------------------------------------------------- */

/** Where a reader is in a block. {0}, open, go somewhere, read, move...; release. */
typedef struct gf_run_reader {
    gf_slice groups; /* their bytes, borrowed */
    size_t *end;     /* n of capacity: where each group ends in them */
    size_t n, capacity, group;
    size_t shared;  /* bytes of `keys` that all keys begin with */
    gf_buffer keys; /* first the shared ones, then the further ones of the group */
    struct {
        size_t key, length; /* in keys: the further bytes of its key */
        gf_slice value;     /* borrowed */
    } of[GF_RUN_GROUP];     /* the group that the reader is in */
    size_t n_of, at;
    gf_buffer key, before; /* the key that it is at; the last one of another group */
} gf_run_reader;

/**
 * Open a block by its key and its bytes, not compressed, which stay as they are until the end. The
 * reader is nowhere yet. All keys, that which is given and those which it gives, have `outer` bytes
 * of the store's in front, which the block does not know.
 * @return GF_OK; GF_ECORRUPT, GF_ENOMEM
 */
gf_status gf_run_reader_open(gf_run_reader *r, gf_slice first, size_t outer, gf_slice bytes,
                             gf_error *err);

/** Go to the first entry, to the last one. */
gf_status gf_run_reader_first(gf_run_reader *r, gf_error *err);
gf_status gf_run_reader_last(gf_run_reader *r, gf_error *err);

/** Go to the first entry whose key is not below; GF_ENOTFOUND, without a message: there is none. */
gf_status gf_run_reader_seek(gf_run_reader *r, gf_slice key, gf_error *err);

/** Go on, go back by one entry; GF_ENOTFOUND, without a message, at the end. */
gf_status gf_run_reader_next(gf_run_reader *r, gf_error *err);
gf_status gf_run_reader_previous(gf_run_reader *r, gf_error *err);

/** The entry that the reader is at: the key until it moves, the value as long as the bytes. */
gf_slice gf_run_reader_key(const gf_run_reader *r);
gf_slice gf_run_reader_value(const gf_run_reader *r);

void gf_run_reader_release(gf_run_reader *r);

#endif
