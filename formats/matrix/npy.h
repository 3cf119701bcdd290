/**
 * The .npy format of numpy: one array behind a short header.
 *
 *     "\x93NUMPY"  major minor  length of the header (2 bytes little-endian; 4 from major 2 on)
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   padded by blanks, then LF
 *     the elements
 *
 * Types that are read: booleans, integers, floating point of 4 and 8 bytes, and text of fixed width, in
 * either order and little-endian. Nothing is ever unpickled.
 *
 * Source: numpy/lib/format.py, "NumPy's NPY format" (NEP 1).
 */
#ifndef GF_FORMATS_MATRIX_NPY_H
#define GF_FORMATS_MATRIX_NPY_H

#include "grouperfish/buffer.h"

enum {
    GF_NPY_DIMENSIONS = 4,
    GF_NPY_PREFIX = 12,         /* bytes that hold the length of the header, at most */
    GF_NPY_MOST_HEADER = 65536, /* bytes; numpy's own are under 200 */
    GF_NPY_MOST_ITEM = 65536    /* bytes of an element: a text of 16,384 characters */
};

typedef struct gf_npy_header {
    char kind;     /* 'b' boolean, 'i', 'u', 'f'; 'S' bytes, 'U' text in UTF-32 */
    uint32_t size; /* bytes of an element */
    bool fortran;  /* the first index runs fastest, not the last; only of several dimensions */
    unsigned n_dimensions;
    uint64_t shape[GF_NPY_DIMENSIONS];
    uint64_t n; /* elements: the product of the shape; n * size fits 64 bits */
} gf_npy_header;

/**
 * The length of the header in all, from its first GF_NPY_PREFIX bytes (or all there are).
 * @return GF_OK; GF_EINVAL (no .npy, or an unknown version)
 */
gf_status gf_npy_header_length(gf_slice start, size_t *length, gf_error *err);

/**
 * Read a header of just that many bytes.
 * @return GF_OK; GF_EINVAL, saying what cannot be read: Python objects, records, big-endian
 *         numbers, sizes past 64 bits
 */
gf_status gf_npy_header_read(gf_slice bytes, gf_npy_header *header, gf_error *err);

/** Write a header; type is numpy's, such as "<f4". Failures stay in the buffer. */
void gf_npy_header_write(const char *type, const uint64_t *shape, unsigned n_dimensions,
                         gf_buffer *out);

#endif
