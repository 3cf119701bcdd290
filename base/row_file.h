/**
 * A sparse matrix whose entries lie in a temporary file: for more rows than memory is to hold.
 *
 *     memory   start   8 bytes a row
 *     file     start[n_rows] columns, 4 bytes each, then as many values, 4 bytes each
 *
 * So neighbouring rows are two reads, and their entries come as a gf_csr has them.
 */
#ifndef GF_BASE_ROW_FILE_H
#define GF_BASE_ROW_FILE_H

#include "base/spill.h"
#include "grouperfish/csr.h"

typedef struct gf_row_file {
    uint32_t n_rows, n_cols;
    const uint64_t *start; /* n_rows + 1, start[0] is 0: the caller's */
    uint64_t entries;      /* of the file: start[n_rows] at least */
    gf_spill *spill;       /* the caller's */
} gf_row_file;

/** Write n entries, the first of which is entry `at`, of a file of `entries` in all. */
gf_status gf_row_file_write(gf_spill *spill, uint64_t entries, uint64_t at, uint64_t n,
                            const uint32_t *col, const float *val, gf_error *err);

/** Rows first .. first + n - 1 as a matrix of the caller's. On failure *x is unchanged. */
gf_status gf_row_file_read(const gf_row_file *file, uint32_t first, uint32_t n, gf_csr *x,
                           gf_error *err);

/** The rows of that list, rising, which may have a row twice. On failure *x is unchanged. */
gf_status gf_row_file_pick(const gf_row_file *file, const uint32_t *rows, uint32_t n, gf_csr *x,
                           gf_error *err);

#endif
