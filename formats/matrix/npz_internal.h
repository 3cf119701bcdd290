/**
 * The arrays of an .npz file that a matrix is made of, as they were read.
 */
#ifndef GF_FORMATS_MATRIX_NPZ_INTERNAL_H
#define GF_FORMATS_MATRIX_NPZ_INTERNAL_H

#include "formats/bytes/input.h"
#include "formats/matrix/npy.h"
#include "grouperfish/cancel.h"

typedef enum gf_npz_part {
    GF_NPZ_DATA,
    GF_NPZ_INDICES,
    GF_NPZ_INDPTR,
    GF_NPZ_SHAPE,
    GF_NPZ_FORMAT,
    GF_NPZ_ROWS,
    GF_NPZ_VECTORS,
    GF_NPZ_IDS,
    GF_NPZ_IDS_UTF8,
    GF_NPZ_IDS_OFFSETS,
    GF_NPZ_PARTS
} gf_npz_part;

typedef struct gf_npz_array {
    const char *name;
    bool there;
    gf_npy_header header;
    gf_buffer bytes; /* header.n * header.size */
} gf_npz_array;

/** Read those of the parts that are in the input's stream; release them also on failure. */
gf_status gf_npz_read_arrays(const gf_input *input, const gf_cancel *cancel,
                             gf_npz_array parts[GF_NPZ_PARTS], gf_error *err);

#endif
