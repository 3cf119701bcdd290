/**
 * .npz files: zip archives of .npy arrays, as numpy and scipy write and read them. See
 * docs/formats.md for the arrays that are given and taken.
 *
 * Source: numpy.savez and numpy.load; scipy.sparse.save_npz and load_npz.
 */
#ifndef GF_FORMATS_MATRIX_NPZ_H
#define GF_FORMATS_MATRIX_NPZ_H

#include "formats/bytes/input.h"
#include "grouperfish/cancel.h"
#include "grouperfish/csr.h"

/* ---- reading --------------------------------------------------------------------------------- */

/** Rows with ids, as they were read; it must stay where it is. */
typedef struct gf_npz_matrix {
    gf_matrix matrix; /* borrows from what follows */
    gf_csr sparse;    /* columns rise in each row, of equal ones the sum, without zeros */
    float *dense;
    gf_slice *id;
    char *id_bytes;
} gf_npz_matrix;

/**
 * Read a matrix from the input's next stream:
 *
 *     data, indices, indptr, shape (, format)   a CSR, as scipy.sparse.save_npz writes it, or
 *     rows (or vectors)                         dense rows
 *     ids                                       text, bytes (UTF-8) or whole numbers, or
 *     ids_utf8, ids_offsets                     the ids' bytes, and where each begins
 *
 * Other arrays are passed over. Arrays are read as their bytes come, so a shape that promises more
 * than there is costs no memory.
 *
 * @return GF_OK; GF_ENOTFOUND (no stream); GF_EINVAL, naming the array: missing, of another type or
 *         shape, cut, not finite, ids that are not UTF-8; GF_ECORRUPT (the archive is damaged);
 *         GF_ELIMIT, GF_ENOMEM, GF_ECANCELLED. On failure *out is unchanged.
 * Cost:   memory twice that of the largest array, and once that of all.
 */
gf_status gf_npz_read_matrix(const gf_input *input, const gf_cancel *cancel, gf_npz_matrix *out,
                             gf_error *err);
void gf_npz_matrix_release(gf_npz_matrix *m);

/* ---- writing --------------------------------------------------------------------------------- */

/** Takes the file's bytes, in order. */
typedef gf_status gf_npz_sink(void *context, gf_slice bytes, gf_error *err);

typedef struct gf_npz_writer gf_npz_writer;

/** A file without arrays; they are stored, not compressed. */
gf_status gf_npz_writer_create(gf_npz_sink *sink, void *context, gf_npz_writer **writer,
                               gf_error *err);
void gf_npz_writer_free(gf_npz_writer *w);

/**
 * An array: its name, numpy's type without byte order ("f4", "i8", "b1"), its shape, and its
 * elements, of this machine's byte order. After any failure the writer is only good to be freed.
 */
gf_status gf_npz_write_array(gf_npz_writer *w, const char *name, const char *type,
                             const uint64_t *shape, unsigned n_dimensions, const void *elements,
                             gf_error *err);

/** The same with one dimension. */
gf_status gf_npz_write_list(gf_npz_writer *w, const char *name, const char *type, uint64_t n,
                            const void *elements, gf_error *err);

/** A text without dimensions, as bytes: what scipy wants for `format`. */
gf_status gf_npz_write_word(gf_npz_writer *w, const char *name, const char *word, gf_error *err);

/** The i-th of some texts, borrowed until the next. */
typedef gf_slice gf_npz_text_at(void *context, uint64_t i);

/**
 * n texts (valid UTF-8) as an array of numpy's text, all as wide as the longest. Where that would
 * take over 64 MiB and over eight times the bytes of the texts, or one ends in U+0000 (which
 * numpy's text cannot), there are two arrays instead: `<name>_utf8`, the bytes of all, and
 * `<name>_offsets` (n + 1), where each begins.
 */
gf_status gf_npz_write_texts(gf_npz_writer *w, const char *name, uint64_t n, gf_npz_text_at *at,
                             void *context, gf_error *err);

/** Write the archive's end. */
gf_status gf_npz_writer_end(gf_npz_writer *w, gf_error *err);

#endif
