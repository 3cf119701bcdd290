/**
 * The rows that a build clustered, where they are not the texts' own: in builds:model the cells
 *
 *     rows        a byte 1 for the format, 'd' (dense) or 's' (sparse), columns and rows (varints)
 *     rows:<id>   the rows from that of this document on, as many as fit some 64 KB: for each the
 *                 id (varint length, bytes), then
 *                 dense    a scale (float, little-endian) and a signed byte for each column: the
 *                          value is their product
 *                 sparse   as gf_model_vector_write has it, behind its length (varint)
 *
 * Rows stand in the order of ids, so that of one document is found by one read of the last cell
 * whose id is not above it. A dense row takes 4 bytes, its id and a byte for each column; its
 * values are wrong by at most 1/254 of the largest.
 */
#ifndef GF_ENGINE_ROWS_KEPT_ROWS_H
#define GF_ENGINE_ROWS_KEPT_ROWS_H

#include "grouperfish/csr.h"
#include "grouperfish/table.h"

#include <stdbool.h>

/* ---- writing --------------------------------------------------------------------------------- */

/** Writes a cell of builds:model; the value may be changed. */
typedef gf_status gf_put_kept_rows(void *context, gf_slice qualifier, gf_buffer *value,
                                   gf_error *err);

/** To begin with: put, context, sparse and n_cols; all else 0. */
typedef struct gf_kept_rows_writer {
    gf_put_kept_rows *put;
    void *context;
    bool sparse;
    uint32_t n_cols;
    uint64_t n;
    gf_buffer qualifier, block;
} gf_kept_rows_writer;

/** Add a row of unit length; ids rise. */
gf_status gf_kept_rows_add(gf_kept_rows_writer *w, gf_slice id, gf_row_view row, gf_error *err);

/** Write what is left; without a row nothing is written. */
gf_status gf_kept_rows_end(gf_kept_rows_writer *w, gf_error *err);
void gf_kept_rows_writer_release(gf_kept_rows_writer *w);

/* ---- reading --------------------------------------------------------------------------------- */

/** A build's rows; {0} where none are open. */
typedef struct gf_kept_rows {
    gf_table *builds;
    const gf_snapshot *snapshot;
    gf_slice key; /* borrowed, as are both above */
    bool sparse;
    uint32_t n_cols;
    uint64_t n;
    gf_row row;
    gf_slice rest;    /* of the cell at hand, behind the row of */
    gf_buffer before; /* this document */
    uint32_t *col;    /* capacity: of the row that was given last */
    float *val;
    uint32_t capacity;
} gf_kept_rows;

/** GF_OK; GF_ENOTFOUND where the build keeps none; GF_ECORRUPT, GF_ENOMEM, GF_EIO. */
gf_status gf_kept_rows_open(gf_kept_rows *rows, gf_table *builds, const gf_snapshot *snapshot,
                            gf_slice build_key, gf_error *err);
void gf_kept_rows_release(gf_kept_rows *rows);

/**
 * The row of a document, borrowed until the next call; GF_ENOTFOUND where it has none.
 * Cost: a read of some 64 KB; hardly any where ids rise from call to call.
 */
gf_status gf_kept_rows_find(gf_kept_rows *rows, gf_slice id, gf_row_view *row, gf_error *err);

/** Called with each row; both are borrowed. */
typedef gf_status gf_each_kept_row(void *context, gf_slice id, gf_row_view row, gf_error *err);

/** All rows by id; GF_ECORRUPT also where ids do not rise, or rows are fewer than was said. */
gf_status gf_kept_rows_each(gf_kept_rows *rows, gf_each_kept_row *each, void *context,
                            gf_error *err);

#endif
