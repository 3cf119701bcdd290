/**
 * The columns of a packed family in one value.
 *
 *     column, column, ...    known columns first, by number, then the others, by name
 *     column   tag (varint: number + 1 of a known column, or 0 and the name) | value
 *     name and value are each a varint length and that many bytes
 *
 * The order is fixed, so that equal columns give equal bytes.
 */
#ifndef GF_STORAGE_PACKED_H
#define GF_STORAGE_PACKED_H

#include "base/arena.h"
#include "grouperfish/table.h"

/** A column and its number in the family's list of known ones, -1 where it is not in it. */
typedef struct gf_packed_column {
    gf_slice name, value;
    int number;
    uint32_t order; /* of its coming, among those behind n_sorted */
} gf_packed_column;

/**
 * The columns of a row; the slices are the caller's. The first n_sorted are in stored order and
 * distinct; of the others, which gf_packed_settle puts in order, the last of a name counts.
 */
typedef struct gf_packed {
    const gf_family *family;
    gf_packed_column *columns; /* n of capacity, in the arena */
    size_t n, n_sorted, capacity;
    gf_arena *arena;
} gf_packed;

/** No columns. */
static inline void gf_packed_clear(gf_packed *p)
{
    p->n = p->n_sorted = 0;
}

/**
 * Set one column. Cost O(1) where columns come nearly in stored order; else it waits for
 * gf_packed_settle. GF_ENOMEM; GF_ELIMIT with 2^32 columns that wait.
 */
gf_status gf_packed_set(gf_packed *p, gf_slice name, gf_slice value, gf_error *err);

/** Put all columns in stored order, each once. Cost O(n log n) where any wait for it. */
void gf_packed_settle(gf_packed *p);

/** Remove a column; false where there was none. Settles. */
bool gf_packed_remove(gf_packed *p, gf_slice name);

/** Append the columns' bytes. Settles. */
void gf_packed_write(gf_packed *p, gf_buffer *out);

/** Walks the columns of a stored value. */
typedef struct gf_packed_reader {
    const gf_family *family;
    gf_slice rest;
    uint32_t known; /* the family has this many columns at least */
} gf_packed_reader;

/** The next column, borrowed from the value and the family. GF_ENOTFOUND at the end; GF_ECORRUPT.
 */
gf_status gf_packed_next(gf_packed_reader *r, gf_column *column, gf_error *err);

#endif
