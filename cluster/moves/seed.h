/**
 * Seeds for spherical k-means: k rows, each likely to be far from those before it.
 *
 * Spherical k-means++: the next seed is row i with probability in proportion to
 * weight_i * (1.5 - largest similarity to a seed), on a sample of max(25 k, 12,000) rows; where
 * there are fewer than 100 rows a cluster, the best of 2 + ln k candidates is taken ("greedy").
 * Rows that all but equal a seed are taken only where no others are left.
 *
 * Sources: Arthur & Vassilvitskii, SODA 2007; Endo & Miyamoto, MDAI 2015 (spherical, alpha = 1.5).
 */
#ifndef GF_CLUSTER_MOVES_SEED_H
#define GF_CLUSTER_MOVES_SEED_H

#include "cluster/passes/centres.h"

/**
 * Choose k rows, none twice, and make them the centres.
 *
 * @param pool     compares the candidates for a seed; the seeds do not depend on it
 * @param centres  initialised for k
 * @return GF_OK; GF_EINVAL (k 0, or fewer than k rows); GF_ENOMEM, GF_ECANCELLED; the centres are
 *         then partly set
 * Cost: O(k * candidates * entries of the sample that share a term with a row).
 */
gf_status gf_seed_centres(gf_pool *pool, const gf_points *points, gf_random *random,
                          gf_centres *centres, const gf_cancel *cancel, gf_error *err);

#endif
