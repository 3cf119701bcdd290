/**
 * The documents of a view's build that are still there, by cluster and by the hour of their time.
 */
#ifndef GF_ENGINE_VIEW_HOURS_H
#define GF_ENGINE_VIEW_HOURS_H

#include "engine/view/view.h"

/** Documents of one cluster in one hour. */
typedef struct gf_hour_count {
    uint32_t cluster; /* its place in the view's list, plus 1; 0: without terms */
    int32_t hour;     /* since 1970-01-01T00:00Z */
    uint32_t documents;
} gf_hour_count;

/** In any order; a cluster and an hour may come several times, or with 0 documents. */
typedef struct gf_hour_counts {
    gf_hour_count *at; /* n of capacity */
    size_t n, capacity;
    uint64_t *undated; /* view->n_clusters + 1: documents without a time, by place plus 1 */
} gf_hour_counts;

/**
 * Count them: from what the build keeps, and what has changed since, or, where an earlier version
 * made the build, from its memberships and their documents. A document that was put again since
 * counts with the time that it has now.
 *
 * @param cancel  may be NULL
 * @param[out] out  to be released, also after a failure
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED, GF_ECORRUPT, GF_EIO
 * Cost: what is kept is read in a second for some 50 million documents; each document that changed
 * since takes two look-ups. A walk reads all memberships and documents.
 */
gf_status gf_view_count_hours(gf_view *view, const gf_cancel *cancel, gf_hour_counts *out,
                              gf_error *err);
void gf_hour_counts_release(gf_hour_counts *counts);

#endif
