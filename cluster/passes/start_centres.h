/**
 * Centres to begin with from clusters that there were: the sums of the rows that were in each, as
 * the rows are now. So a clustering goes on from the one before it, also where terms have come and
 * gone and weigh otherwise.
 */
#ifndef GF_CLUSTER_PASSES_START_CENTRES_H
#define GF_CLUSTER_PASSES_START_CENTRES_H

#include "cluster/passes/centres.h"
#include "cluster/passes/fold.h"

/** In a label: the row was in no cluster. */
#define GF_NO_START UINT32_MAX

/**
 * @param points   the distinct rows of fold, of n rows before
 * @param label    n: 0..k_before-1, or GF_NO_START; of equal rows the first that has one decides
 * @param k        of more clusters than that the heaviest are taken; centres that lack are empty
 * @param of_point NULL, or points: the centre of each point's label, or k where it has none of them
 * @param centres  k, the caller's to release; untouched after a failure
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED
 */
gf_status gf_start_centres(gf_pool *pool, const gf_points *points, const gf_fold *fold, uint32_t n,
                           const uint32_t *label, uint32_t k_before, uint32_t k,
                           const gf_cancel *cancel, uint32_t *of_point, gf_centres *centres,
                           gf_error *err);

#endif
