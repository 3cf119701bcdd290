/**
 * Whether a cluster's rise is more than its making: a rebuild that goes on from served clusters is not blind to
 * time, and documents that fit nowhere among the last gather in one of them, which then rises by z whatever
 * comes. Words do not know how the clusters were made.
 *
 *     terms of a cluster     the heaviest of its centre
 *     documents with a term  recent ones of all, those of no cluster too: binomial
 *     p                      the least of them, times the terms of the build
 *
 * Where times are random, one term or more of a build has such a p below x with a chance of at most x, whatever
 * clusters there are and whichever terms they have.
 */
#ifndef GF_ENGINE_WATCH_RISING_H
#define GF_ENGINE_WATCH_RISING_H

#include "engine/view/view.h"
#include "grouperfish/changes.h"

/** A cluster that rises by z. */
typedef struct gf_watch_rise {
    uint32_t cluster;
    double p; /* set */
} gf_watch_rise;

/**
 * Set p of each.
 *
 * @param trends  whose periods say which documents are recent
 * @param cancel  may be NULL
 * @return GF_OK; GF_ECONFLICT (the build's rows are no texts'), GF_ENOMEM, GF_ECANCELLED, GF_ECORRUPT, GF_EIO
 * Cost: that of analysing all documents of the build that are still there.
 */
gf_status gf_watch_judge_rises(gf_view *view, const gf_trends *trends, const gf_cancel *cancel,
                               gf_watch_rise *rises, size_t n, gf_error *err);

#endif
