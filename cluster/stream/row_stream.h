/**
 * Passes over rows that lie in a file (base/row_file.h), some thousands of them in memory at a
 * time.
 *
 * The result depends on rows and centres alone: not on the number of threads, and not on the
 * memory that there is.
 */
#ifndef GF_CLUSTER_STREAM_ROW_STREAM_H
#define GF_CLUSTER_STREAM_ROW_STREAM_H

#include "base/row_file.h"
#include "cluster/passes/lloyd.h"

typedef struct gf_row_stream {
    gf_pool *pool;
    const gf_row_file *rows; /* of unit length, none empty */
    uint32_t window;         /* rows that are in memory at a time; gf_row_stream_window */
    const gf_cancel *cancel; /* may be NULL */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* after a window; or NULL */
    void *progress_context;
    uint32_t most_terms; /* sums keep so many of their strongest terms, or half as many more
                                while they are added to; 0: all */
} gf_row_stream;

enum { GF_ROW_STREAM_TERMS = 512 /* most_terms of very many clusters (gf_branches_serve) */ };

/**
 * Rows of a window: so many that indexing k centres for them costs little beside scoring them. The
 * centres of more rows have more terms, so that windows grow with the rows, too: there are 65 at most,
 * or those of 8,192 rows.
 */
uint32_t gf_row_stream_window(uint32_t n_rows, uint32_t k);

/**
 * Assign every row to its most similar centre: as gf_assign_rows does (cluster/large/assign.h).
 *
 * @param p          n, k and centres are given; label, own and other are set
 * @param runner_up  NULL, or n: the second most similar
 * @return GF_OK; GF_EIO, GF_ENOMEM, GF_ECANCELLED, GF_ELIMIT (gf_centre_index_build)
 * Cost: entries * k, and for each window the index; of very many clusters their tree once. Memory:
 * the index or the tree, a window.
 */
gf_status gf_row_stream_assign(const gf_row_stream *s, gf_partition *p, uint32_t *runner_up,
                               gf_error *err);

/** The same for rows in memory, of which only the labels are wanted: x->n_rows. */
gf_status gf_row_stream_label(const gf_row_stream *s, const gf_csr *x, const gf_centres *centres,
                              uint32_t *label, gf_error *err);

/** Leave each sum its strongest most_terms terms, where the stream says so. */
gf_status gf_row_stream_trim(const gf_row_stream *s, gf_centres *sums, gf_error *err);

/**
 * Add rows to sums: each cluster's centre becomes the unit vector of what it was (value * length)
 * and of the rows that are labelled so; length and weight grow accordingly. In parallel, one thread
 * a cluster.
 *
 * @param label  x->n_rows: below k, or k for a row that is left out
 */
gf_status gf_row_stream_add(const gf_row_stream *s, const gf_csr *x, const uint32_t *label,
                            gf_centres *sums, gf_error *err);

/**
 * The sums of all rows by their labels, as fresh centres.
 *
 * @param label  rows->n_rows: below k, or anything else for a row that is left out
 */
gf_status gf_row_stream_sum(const gf_row_stream *s, const uint32_t *label, uint32_t k,
                            gf_centres *sums, gf_error *err);

/** How many of the rows differ from all others: told by hashes of 64 bits. Memory: 8 bytes a row.
 */
gf_status gf_row_stream_distinct(const gf_row_stream *s, uint32_t *distinct, gf_error *err);

/**
 * The rows that fit their clusters worst, each different from the others.
 *
 * @param own         rows->n_rows: similarity of each to its centre
 * @param most        how many are wanted, 1 at least
 * @param[out] rows   room for so many: by rising similarity, of equal ones the first row first
 * @param[out] found  how many: fewer only where fewer rows are different
 */
gf_status gf_row_stream_worst(const gf_row_stream *s, const float *own, uint32_t most,
                              uint32_t *rows, uint32_t *found, gf_error *err);

#endif
