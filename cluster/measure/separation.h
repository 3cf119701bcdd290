/**
 * How well the clusters of a partition are separated: a simplified silhouette in cosines that
 * leaves each row out of its own centre,
 *
 *     s_i = (own_i' - other_i) / max(own_i', other_i),   own_i' = (S_a.x_i - 1) / |S_a - x_i|
 *     separation(k) = sqrt(1 - 1/k) * mean of s_i
 *
 * and s_i = 0 where both are 0. Leaving out keeps small clusters honest (a row alone has own' = 0);
 * the factor takes back the advantage that few clusters have. On labelled collections the curve
 * over k flattens near the number of classes, and hardly depends on the number of rows:
 * docs/algorithms.md has the curves.
 *
 * Sources: Rousseeuw, J. Comput. Appl. Math. 20 (1987) 53-65; Vendramin, Campello & Hruschka, Stat.
 * Anal. Data Min. 3 (2010) 209-235 (simplified silhouette).
 */
#ifndef GF_CLUSTER_MEASURE_SEPARATION_H
#define GF_CLUSTER_MEASURE_SEPARATION_H

#include "cluster/passes/lloyd.h"

/**
 * The separation of a partition whose own is exact; other may be older than the centres, as long as
 * it was exact when it was worked out. -1..1, and 0 for one cluster. Cost O(rows).
 */
double gf_separation(const gf_points *points, const gf_partition *p);

#endif
