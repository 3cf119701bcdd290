/**
 * Groups of similar clusters, so that a row can be compared with the few clusters around its own
 * in place of all.
 *
 * A cluster that is drawn at random and the most similar of those that are in no group yet become
 * the next one, and so on; a group and the next that fit into one become one. Every time the
 * clusters are drawn in another order, so that clusters at the border of a group once lie within
 * one another time. Similarities are those of the centres' strongest terms alone.
 *
 * Source: Wang, Wang, Ke, Zeng & Li, CVPR 2012 (k-means over clusters that are near each other;
 * there found by random trees over the rows).
 */
#ifndef GF_CLUSTER_MOVES_GROUPS_H
#define GF_CLUSTER_MOVES_GROUPS_H

#include "cluster/passes/centre_index.h"

/** The strongest terms of centres as they were, and groups of them. */
typedef struct gf_groups {
    uint32_t k, n;
    uint32_t *start;  /* n + 1: where each group's clusters lie in `member` */
    uint32_t *member; /* k: each cluster once */
    struct gf_groups_memory *memory;
} gf_groups;

/** No groups yet. The centres are not needed any more afterwards. Cost O(entries of the centres).
 */
gf_status gf_groups_init(gf_groups *g, const gf_centres *centres, gf_error *err);
void gf_groups_release(gf_groups *g);

/** Draw groups anew. Cost O(k * terms * k / 32) at worst, with the strongest terms of a centre. */
void gf_groups_draw(gf_groups *g, gf_random *random);

#endif
