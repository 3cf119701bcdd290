/**
 * The rows of a collection's documents in the space of a view's build, worked out again from their
 * texts by all threads: of all documents that the build's settings select, those put since too.
 */
#ifndef GF_ENGINE_VIEW_TEXT_ROWS_H
#define GF_ENGINE_VIEW_TEXT_ROWS_H

#include "engine/view/view.h"

/** {0} to begin with. */
typedef struct gf_text_rows {
    gf_csr x;        /* by id, in bytes */
    gf_slice *id;    /* x.n_rows */
    int64_t *moment; /* x.n_rows: INT64_MAX where it has no time */
    size_t start_capacity, col_capacity, val_capacity, id_capacity, moment_capacity;
    gf_arena memory; /* of ids */
} gf_text_rows;

/**
 * Read them.
 *
 * @param view     of a build of texts
 * @param workers  of the view's model
 * @param cancel   may be NULL
 * @param rows     {0}; to be released on failure too
 * Cost: reading and analysing all texts, by the workers' pool. The same for any number of threads.
 */
gf_status gf_text_rows_read(gf_view *view, const gf_model_workers *workers, const gf_cancel *cancel,
                            gf_text_rows *rows, gf_error *err);
void gf_text_rows_release(gf_text_rows *rows);

#endif
