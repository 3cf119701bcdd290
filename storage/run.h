/**
 * Blocks of a run: entries of one family that are written once, in rising order, and never changed.
 *
 *     entries   row key [| encoded qualifier] -> value      as a store would keep them one by one
 *     block     some 16 KiB of them, under the key of the last; compressed where that helps
 *
 * A family is a run by its schema (gf_family.run). A block never crosses its granule: one row of a
 * wide family, all rows of a packed one whose keys differ in their last part alone. So whoever
 * deletes a granule, or any prefix of keys that has whole ones, deletes whole blocks; and the block of
 * an entry is the first whose key is not below: it is found by reading no other.
 *
 * The bytes of a block, before compression: keys by groups, values by columns.
 *
 *     kind (1 byte)        1: cells, of one column; 2: rows, of one or more; with 4, each key ends in
 *                          00 01 (the end of a string), which is left out below
 *     shared (varint)      bytes that all keys begin with: the first ones of the block's own key
 *     entries (varint)
 *     columns (varint)     then what is told of each:
 *       tag                of rows: varint of a known column's number + 1, or 0 and the name
 *       form (1 byte)      gf_run_form; with 128, some entries lack the column
 *       base (varint)      of numbers: the smallest; of bytes: how many they are in all
 *       width (1 byte)     bits of each number: 0 to 32
 *     lengths              bytes of each group (varints)
 *     groups               each of GF_RUN_GROUP keys, the last may have fewer:
 *       sizes (1 byte)     of a key: bytes shared with the one before, further bytes, 4 bits each;
 *                          15: a varint of what is beyond follows
 *       further bytes
 *     columns, of each     a bit for each entry, where some lack it (the lowest bit first)
 *                          a number for each entry, less the base, likewise in `width` bits; of bytes
 *                          where those of each entry end
 *                          the bytes
 *
 * A group's first key shares nothing, so an entry is found by halving the groups and reading one of
 * them; its values are then read by its number alone. What a reader gives is what a store would
 * keep: of a packed family all columns (storage/packed.h), known ones first.
 */
#ifndef GF_STORAGE_RUN_H
#define GF_STORAGE_RUN_H

#include "storage/packed.h"
#include "storage/table_internal.h"

enum { GF_RUN_GROUP = 16, GF_RUN_BYTES = 16 << 10, GF_RUN_ENTRIES = 2048 };

/** How a column's values lie in a block; those of a form other than bytes are given as numbers. */
typedef enum gf_run_form {
    GF_RUN_AS_BYTES,  /* any */
    GF_RUN_AS_VARINT, /* of up to 32 bits */
    GF_RUN_AS_FLOAT,  /* its bits, 4 bytes, big-endian */
    GF_RUN_AS_DECIMAL /* its bits: the value is the float's shortest text, as in JSON */
} gf_run_form;

/* ---- writing --------------------------------------------------------------------------------- */

/** A column that gf_run_block_add has values for; of a wide family's cells there is one, "". */
typedef struct gf_run_column {
    const char *name;
    gf_run_form form;
} gf_run_column;

/** A value of such a column; GF_RUN_AS_BYTES: bytes, else the number. */
typedef struct gf_run_value {
    bool there;
    uint32_t number;
    gf_slice bytes;
} gf_run_value;

/**
 * A block in the making: {0}, then begin, add..., finish, put; begin again for the next, which keeps
 * the memory; release at the end. Blocks are made by any thread, each by one at a time.
 */
typedef struct gf_run_block {
    gf_table *table;
    unsigned family;
    gf_buffer keys;  /* of the entries, one behind the other */
    size_t *key_end; /* n of key_capacity */
    size_t n, key_capacity;
    size_t granule;                /* bytes that each key begins with */
    size_t size;                   /* about the bytes of the block */
    bool is_ended;                 /* each key ends in 00 01 */
    struct gf_run_values *columns; /* n_columns of n_made of capacity */
    size_t n_columns, n_made, column_capacity;
    gf_buffer bytes, memory; /* the block, and as it was compressed */
    gf_compressed stored;    /* once finished; borrows from these */
} gf_run_block;

/**
 * Empty the block. The family must be a run.
 *
 * @param columns  n, that gf_run_block_add has values for; names are copied. Without any, entries are
 *                 added by gf_run_block_add_cell or gf_run_block_add_row
 * @return GF_OK; GF_EINVAL (a column of another family), GF_ENOMEM
 */
gf_status gf_run_block_begin(gf_run_block *block, gf_table *table, unsigned family,
                             const gf_run_column *columns, size_t n, gf_error *err);

/**
 * Add an entry; all is copied.
 *
 * @param qualifier  of a wide family's cell
 * @param values     one for each column that the block began with; one at least is there
 * @return GF_OK; GF_EINVAL (not behind the entry before, another granule, no such key, no value);
 *         GF_ELIMIT, GF_ENOMEM. On failure the block is as it was.
 */
gf_status gf_run_block_add(gf_run_block *block, gf_slice key, gf_slice qualifier,
                           const gf_run_value *values, gf_error *err);

/** Likewise a cell of a wide family, the columns of a row of a packed one, as bytes. */
gf_status gf_run_block_add_cell(gf_run_block *block, gf_slice key, gf_slice qualifier,
                                gf_slice value, gf_error *err);
gf_status gf_run_block_add_row(gf_run_block *block, gf_slice key, const gf_column *columns,
                               size_t n_columns, gf_error *err);

/** How many bytes of a row key are its granule: 0 where the key is none. */
size_t gf_run_block_granule(const gf_schema *schema, unsigned family, gf_slice key);

/** True where a row key is of the block's granule, which has an entry at least. */
bool gf_run_block_takes(const gf_run_block *block, gf_slice key);

/** True where the block has what one should have: the next entry belongs into another. */
bool gf_run_block_is_full(const gf_run_block *block);

/** Encode and compress the block, which has an entry at least. GF_ELIMIT, GF_ENOMEM. */
gf_status gf_run_block_finish(gf_run_block *block, gf_error *err);

/** The key of its last entry, under which a block is kept; borrowed until the next addition. */
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

/** The place of a reader in a block. {0}, open, go somewhere, read, move...; release. */
typedef struct gf_run_reader {
    gf_slice groups; /* their bytes, borrowed */
    size_t *end;     /* n of capacity: where each group ends in them */
    size_t n, capacity, group;
    size_t entries;
    struct gf_run_stored *columns; /* n_columns of column_capacity */
    size_t n_columns, column_capacity;
    bool has_rows;
    gf_slice ending; /* of each key: 00 01, or empty */
    size_t shared;   /* bytes that all keys begin with: the first of `key` */
    gf_buffer keys;  /* the further bytes of the group's keys */
    struct {
        size_t key, length; /* in keys */
    } of[GF_RUN_GROUP];     /* the group that the reader is in */
    size_t n_of, at;
    gf_buffer key, before; /* the key that it is at; the last one of another group */
    gf_buffer value;
} gf_run_reader;

/**
 * Open a block by its key and its bytes, not compressed, which stay as they are until the end. The
 * reader is nowhere yet. All keys, that which is given and those which it gives, have `outer` bytes
 * of the store's in front, which the block does not know.
 * @return GF_OK; GF_ECORRUPT, GF_ENOMEM
 */
gf_status gf_run_reader_open(gf_run_reader *r, gf_slice last, size_t outer, gf_slice bytes,
                             gf_error *err);

/** Go to the first entry, to the last one. */
gf_status gf_run_reader_first(gf_run_reader *r, gf_error *err);
gf_status gf_run_reader_last(gf_run_reader *r, gf_error *err);

/** Go to the first entry whose key is not below; GF_ENOTFOUND, without a message: there is none. */
gf_status gf_run_reader_seek(gf_run_reader *r, gf_slice key, gf_error *err);

/** Go on, go back by one entry; GF_ENOTFOUND, without a message, at the end. */
gf_status gf_run_reader_next(gf_run_reader *r, gf_error *err);
gf_status gf_run_reader_previous(gf_run_reader *r, gf_error *err);

/** The key of the entry that the reader is at, and its value: until it moves. */
gf_slice gf_run_reader_key(const gf_run_reader *r);
gf_status gf_run_reader_value(gf_run_reader *r, gf_slice *value, gf_error *err);

void gf_run_reader_release(gf_run_reader *r);

#endif
