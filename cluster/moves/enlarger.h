/**
 * A partition of more clusters, by cutting some in two.
 *
 * Every cluster is split to see what that would gain, and so are the halves of those that gain
 * most; then the cuts are made by falling gain. So three or four groups that share a cluster come
 * apart in one step, where cutting each cluster once would halve a sound one for want of a better.
 *
 * Source: Zhao & Karypis, Data Min. Knowl. Discov. 10 (2005) 141-168 (repeated bisection, best
 * first).
 */
#ifndef GF_CLUSTER_MOVES_ENLARGER_H
#define GF_CLUSTER_MOVES_ENLARGER_H

#include "cluster/passes/lloyd.h"

/** Scratch memory of each thread and streams of random numbers for the steps of a growth. */
typedef struct gf_enlarger gf_enlarger;

gf_status gf_enlarger_create(gf_pool *pool, uint32_t n_terms, uint64_t seed, gf_enlarger **enlarger,
                             gf_error *err);
void gf_enlarger_free(gf_enlarger *e);

/**
 * Make p a partition of k clusters, more than it has and at most twice as many; fewer come out only
 * where too few can be split.
 *
 * @param[in,out] p     a cluster that is cut keeps its number for one half, and the other has a new
 *                      one; the centres, and own, are still those of the clusters before. After a
 *                      failure p is only good for being released
 * @param[out] changed  k flags, false before: clusters that are halves
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED
 * Cost: up to eight readings of the rows, and as many of those in the clusters that gain most.
 */
gf_status gf_enlarge(gf_enlarger *e, const gf_points *points, gf_partition *p, uint32_t k,
                     bool *changed, const gf_cancel *cancel, gf_error *err);

#endif
