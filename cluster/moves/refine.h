/**
 * Refinement among similar clusters: single rows move to another cluster of their cluster's group
 * wherever that raises the objective, each at once, so that every gain is exact.
 *
 * Groups (cluster/moves/groups.h) share no rows, so one thread sees to one group, and the result
 * does not depend on their number. A row is compared with at most 31 clusters in place of k - 1: a
 * round costs as much for thousands of clusters as for 32. What lies further away the polish finds
 * (cluster/moves/polish.h), which looks at all clusters and has less to do afterwards.
 *
 * The sums of a group's clusters lie side by side, 32 floats for each of its terms:
 *
 *     term -> slot -> sum of cluster 0, 1, ... 31
 *
 * Sources: Dhillon, Guan & Kogan, ICDM 2002 (the gain of a move); Wang et al., CVPR 2012 (the
 * clusters near a row's own).
 */
#ifndef GF_CLUSTER_MOVES_REFINE_H
#define GF_CLUSTER_MOVES_REFINE_H

#include "cluster/passes/lloyd.h"

/**
 * @param p       labels, and centres that belong to them at least roughly: the groups are made by
 *                them; on return labels alone have changed, and no cluster is empty that was not
 * @param rounds  each with other groups
 * @param[in,out] changed  k flags: set for clusters that gained or lost rows
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED; labels may then have changed
 * Cost of a round: O(entries * 32) at worst; memory 4 bytes x rows, and per thread 4 x terms and
 * 132 x terms of a group.
 */
gf_status gf_refine(gf_pool *pool, const gf_points *points, gf_partition *p, unsigned rounds,
                    uint64_t seed, bool *changed, const gf_cancel *cancel, gf_error *err);

#endif
