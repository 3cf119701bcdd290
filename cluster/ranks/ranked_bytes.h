/**
 * Rows and centres as bytes, on their way between ranks of one build: of the same program on the
 * same kind of processor, so that numbers travel as they lie in memory.
 *
 *     rows     u32 n, columns; u64 entries; n lengths, the columns, the values: 4 bytes each
 *     centre   varint cluster, n; length, weight, drift as doubles; gaps of the terms as varints;
 *              n values as floats
 */
#ifndef GF_CLUSTER_RANKS_RANKED_BYTES_H
#define GF_CLUSTER_RANKS_RANKED_BYTES_H

#include "cluster/passes/centres.h"
#include "grouperfish/buffer.h"

/** Append rows first .. first + n - 1; failures stay in the buffer. */
void gf_ranked_bytes_put_rows(gf_buffer *out, const gf_csr *x, uint32_t first, uint32_t n);

/**
 * The rows of several such buffers, one behind the other, as one matrix.
 * @return GF_OK; GF_ECORRUPT, GF_ENOMEM, and *x is unchanged
 */
gf_status gf_ranked_bytes_take_rows(const gf_buffer *parts, unsigned n_parts, uint32_t n_cols,
                                    gf_csr *x, gf_error *err);

/**
 * Take rows behind the first *row ones of a matrix that has room for so many rows and entries; the
 * bytes move on behind them, *row to the next one.
 *
 * @return GF_OK; GF_ECORRUPT (other columns, or more rows or entries than there is room for)
 */
gf_status gf_ranked_bytes_add_rows(gf_slice *bytes, uint64_t most_rows, uint64_t most_entries,
                                   uint32_t *row, gf_csr *x, gf_error *err);

/** Append a centre; failures stay in the buffer. */
void gf_ranked_bytes_put_centre(gf_buffer *out, uint32_t cluster, const gf_centre *centre);

/**
 * Take centres until the bytes end; they take the place of those of the same clusters.
 *
 * @param changed  NULL, or k flags, which are set for those that came
 * @return GF_OK; GF_ECORRUPT, GF_ENOMEM: some are then new
 */
gf_status gf_ranked_bytes_take_centres(gf_slice bytes, gf_centres *centres, bool *changed,
                                       gf_error *err);

#endif
