/**
 * Writes a run: entries go into blocks, full blocks into a batch.
 *
 *     {0}, begin, add..., end; release, also after a failure
 *
 * A block ends where it is full, where its granule does, and at the end. So blocks depend on the
 * entries alone, and several threads may each write a range of them into a batch of its own.
 */
#ifndef GF_STORAGE_RUN_WRITER_H
#define GF_STORAGE_RUN_WRITER_H

#include "storage/run.h"

typedef struct gf_run_writer {
    gf_run_block block;
    gf_batch *batch;
    gf_table *table;
    unsigned family;
    const gf_run_column *columns; /* n_columns, borrowed */
    size_t n_columns;
    bool open; /* the block was begun */
} gf_run_writer;

/** Columns are borrowed until the end. */
void gf_run_writer_begin(gf_run_writer *w, gf_batch *batch, gf_table *table, unsigned family,
                         const gf_run_column *columns, size_t n);

/** As gf_run_block_add; of a wide family another row than that before it is another granule. */
gf_status gf_run_writer_add(gf_run_writer *w, gf_slice key, gf_slice qualifier,
                            const gf_run_value *values, gf_error *err);

/** Put the last block. GF_ELIMIT, GF_ENOMEM; what the batch failed with, its write says. */
gf_status gf_run_writer_end(gf_run_writer *w, gf_error *err);

void gf_run_writer_release(gf_run_writer *w);

#endif
