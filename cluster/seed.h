/**
 * Seeds for spherical k-means: k rows, each likely to be far from those before it.
 *
 * Spherical k-means++: the next seed is row i with probability in proportion to
 * weight_i * (1.5 - largest similarity to a seed), on a sample of max(25 k, 12,000) rows; where
 * there are fewer than 100 rows a cluster, the best of 2 + ln k candidates is taken ("greedy").
 *
 * Sources: Arthur & Vassilvitskii, SODA 2007; Endo & Miyamoto, MDAI 2015 (spherical, alpha = 1.5).
 */
#ifndef GF_CLUSTER_SEED_H
#define GF_CLUSTER_SEED_H

#include "base/random.h"
#include "cluster/centres.h"

/**
 * Choose k distinct rows and make them the centres.
 *
 * @param centres  initialised for k
 * @return GF_OK; GF_EINVAL (fewer than k rows); GF_ENOMEM, GF_ECANCELLED
 * Cost: O(k * candidates * entries of the sample that share a term with a row).
 */
gf_status gf_seed_centres(const gf_points *points, gf_random *random, gf_centres *centres,
                          const gf_cancel *cancel, gf_error *err);

/**
 * m distinct numbers below n, rising, each set equally likely (Knuth, TAOCP 2, 3.4.2, algorithm S).
 */
void gf_sample_rows(uint32_t n, uint32_t m, gf_random *random, uint32_t *rows);

/** The rows of that list as a matrix of their own, and their weights (NULL where x has none). */
gf_status gf_gather_rows(const gf_points *points, const uint32_t *rows, uint32_t m, gf_csr *x,
                         float **weight, gf_error *err);

#endif
