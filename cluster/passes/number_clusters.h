/**
 * The end of every clustering: clusters without rows go, and the others are numbered by falling
 * size.
 */
#ifndef GF_CLUSTER_PASSES_NUMBER_CLUSTERS_H
#define GF_CLUSTER_PASSES_NUMBER_CLUSTERS_H

#include "cluster/passes/lloyd.h"

/**
 * Take out the clusters whose weight is 0; the others keep their order.
 *
 * @param weight  p->k: documents in each cluster
 * @param number  room for p->k
 * @return whether there were any
 */
bool gf_number_clusters_drop_empty(gf_partition *p, const double *weight, uint32_t *number);

/**
 * number[c] becomes c's rank by falling weight, and the centres take their new places in *centres.
 * On failure *centres is empty.
 */
gf_status gf_number_clusters_order(gf_partition *p, double *weight, uint32_t *number,
                                   gf_centres *centres, gf_error *err);

/** For qsort_r over numbers: by falling weight (double, the context), then by number. */
int gf_number_clusters_by_falling_weight(const void *a, const void *b, void *weight);

/** A similarity of unit vectors may be above 1 by rounding. */
static inline float gf_at_most_1(float score)
{
    return score < 1 ? score : 1;
}

#endif
