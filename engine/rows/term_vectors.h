/**
 * The vectors of a build's terms, by which documents are rows without the table that they came
 * from: in builds:model the cells
 *
 *     words           a byte 1 for the format, columns and terms (varints), the table's hash (8
 *                     bytes, big-endian)
 *     words:<n, u32 BE>  the terms from this number on, as many as fit some 64 KB: for each a scale
 *                     (float, little-endian; 0: the table lacks it), and if it is above 0 a signed
 *                     byte for each column, whose product is the value
 *
 * A document's row is the sum of the vectors of its terms, each times the term's weight in the row
 * over terms, scaled to unit length. A build clusters rows of the vectors as they are kept, so a text
 * gets later the row that it had.
 */
#ifndef GF_ENGINE_ROWS_TERM_VECTORS_H
#define GF_ENGINE_ROWS_TERM_VECTORS_H

#include "engine/rows/kept_rows.h"

/** {0} to begin with. */
typedef struct gf_term_vectors {
    uint32_t n, d;
    float *scale;       /* n; 0: not known */
    signed char *value; /* n * d */
    uint64_t hash;      /* of the table */
} gf_term_vectors;

/** Take n * d values, of terms that are known; values are finite. */
gf_status gf_term_vectors_take(gf_term_vectors *v, uint32_t n, uint32_t d, const float *row,
                               const bool *known, gf_error *err);
void gf_term_vectors_release(gf_term_vectors *v);

/**
 * The row of a document that has these terms, of unit length, into to[d].
 * @param sum  d, scratch
 * @return its length before it was scaled; 0 where no term is known, and to[] is not written
 */
double gf_term_vectors_row(const gf_term_vectors *v, gf_row_view terms, double *sum, float *to);

gf_status gf_term_vectors_write(const gf_term_vectors *v, gf_put_kept_rows *put, void *context,
                                gf_error *err);

/** Read those of a build; GF_ECORRUPT, GF_ENOMEM, GF_EIO. On failure *v is empty. */
gf_status gf_term_vectors_load(gf_table *builds, const gf_snapshot *snapshot, gf_slice build_key,
                               gf_term_vectors *v, gf_error *err);

#endif
