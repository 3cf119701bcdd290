/**
 * The terms of several workers as one set.
 *
 * Each worker's terms are dealt to partitions by their hash; then each partition is merged on its
 * own, in parallel; the terms of a single worker are taken as they are. The merged ids leave gaps
 * (a partition has room for as many as its terms were before merging) and depend on which worker
 * did what: they are for looking up, never for output.
 */
#ifndef GF_VECTORIZE_ROWS_MERGE_TERMS_INTERNAL_H
#define GF_VECTORIZE_ROWS_MERGE_TERMS_INTERNAL_H

#include "vectorize/rows/vectorizer_internal.h"

typedef struct gf_merged {
    uint32_t n;     /* ids: 0 .. n-1 */
    gf_slice *term; /* n; ptr NULL where the id is a gap; borrowed from the workers */
    uint32_t *df;   /* n: documents that have the term in GF_TIER_TERMS */
    unsigned n_workers;
    uint32_t **of; /* n_workers: merged id of each of the worker's terms; NULL for an idle worker */
} gf_merged;

gf_status gf_merge_terms(const gf_vectorizer *v, gf_merged *merged, const gf_cancel *cancel,
                         gf_error *err);
void gf_merge_terms_release(gf_merged *merged);

#endif
