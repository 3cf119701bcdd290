/**
 * The sums of clusters whose rows lie at several ranks, and the centres made of them.
 *
 *     each rank    finds its rows that changed cluster, and what they change of the sums
 *     owner        of cluster c is rank c mod n: it gets the changes of c from all, and keeps c's sum
 *     all          get the centre of each cluster that changed
 *
 * Values are on a grid (base/grid.h), so a change of a sum is a whole number of 2^-24, and what
 * rows add and take away is exact, in whatever order and whoever has the rows: the centres depend on
 * rows and labels alone, not on the ranks or threads. What travels is sparse: a change is its terms
 * (their gaps, a byte or two) and numbers (about four bytes); a centre four bytes a term beside the
 * gaps.
 */
#ifndef GF_CLUSTER_RANKS_RANKED_SUMS_H
#define GF_CLUSTER_RANKS_RANKED_SUMS_H

#include "base/ranks.h"
#include "cluster/passes/centres.h"

typedef struct gf_ranked_sums gf_ranked_sums;

/** Bytes that this rank gave to others. */
typedef struct gf_ranked_sent {
    uint64_t changes; /* of sums, to the clusters' owners */
    uint64_t centres; /* of own clusters, to all */
} gf_ranked_sent;

/** Sums of k clusters without rows. Memory: 12 bytes x terms a thread; 12 x terms of own sums. */
gf_status gf_ranked_sums_create(gf_ranks *ranks, gf_pool *pool, uint32_t k, uint32_t n_terms,
                                gf_ranked_sums **sums, gf_error *err);
void gf_ranked_sums_free(gf_ranked_sums *sums);

/**
 * Take rows from the clusters that they were in to those that they are in now, and make the centres
 * of the clusters that this changes. All ranks call it. A cluster that has no rows now keeps its
 * centre.
 *
 * @param points   this rank's
 * @param before   points: where each is counted so far, or any number from k on: nowhere; NULL:
 *                 all are nowhere
 * @param label    points: where it is now; from k on: nowhere
 * @param centres  k; drift is set, 0 of those that did not change
 * @param changed  NULL, or k flags: whether the centre is new
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED, GF_ECORRUPT, and what the ranks fail by
 * Cost: O(entries of the rows that moved, over all ranks; terms of the clusters that changed).
 */
gf_status gf_ranked_sums_move(gf_ranked_sums *sums, const gf_points *points, const uint32_t *before,
                              const uint32_t *label, gf_centres *centres, bool *changed,
                              const gf_cancel *cancel, gf_error *err);

/** Bytes of all moves so far. */
gf_ranked_sent gf_ranked_sums_sent(const gf_ranked_sums *sums);

/**
 * own[i] becomes the similarity of each point of a changed cluster to its centre, in double
 * precision. Each rank by itself. Memory: 4 bytes a point.
 */
gf_status gf_ranked_sums_score(gf_ranked_sums *sums, const gf_points *points, const uint32_t *label,
                               const gf_centres *centres, const bool *changed, float *own,
                               const gf_cancel *cancel, gf_error *err);

#endif
