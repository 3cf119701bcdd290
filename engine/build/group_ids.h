/**
 * Ids of the groups of a build's tree, which last as those of clusters do: in builds:model the cell
 * "groups", beside "tree":
 *
 *     varint n | n ids, varints: of the inner nodes, in their order; 0: it has none
 *
 * A group is the one before whose documents were most alike, by Jaccard over the documents of both
 * builds, where that is half or more. Groups of a tree lie in one another, so that the pairs are
 * taken greedily, the most alike first. Ids of groups that went are never given again: the build's
 * row keeps the first that was never used, "next_group".
 */
#ifndef GF_ENGINE_BUILD_GROUP_IDS_H
#define GF_ENGINE_BUILD_GROUP_IDS_H

#include "cluster/label/tree.h"
#include "cluster/measure/match.h"
#include "engine/build/match.h"

#include "grouperfish/buffer.h"

/** Inner nodes of a tree: k - 1, or none. */
uint32_t gf_tree_inner(const gf_tree *tree);

/**
 * Hand on the ids of groups.
 *
 * @param before     a tree and groups, the ids of its inner nodes (0: none)
 * @param shared     n: documents that a leaf of `before` (a) and one of `after` (b) share; any order
 * @param[out] now   gf_tree_inner(after) ids; 0: it is none of those before
 * @return GF_OK, GF_ENOMEM
 * Cost: O(k^2) steps, and the sum over inner nodes of their leaves' overlaps.
 */
gf_status gf_group_ids_match(const gf_tree *before, const uint32_t *groups, const gf_tree *after,
                             const gf_overlap *shared, size_t n, uint32_t *now, gf_error *err);

/**
 * Give each group of the build's tree its id: out->groups and out->next_group.
 * @return GF_OK; GF_ENOMEM; GF_ELIMIT (all ids are used up); GF_ECORRUPT
 */
gf_status gf_build_match_groups(const gf_build_plan *plan, const gf_build_gathered *documents,
                                const gf_build_previous *previous,
                                const gf_build_clustered *clustered, const gf_tree *tree,
                                gf_build_matched *out, gf_error *err);

void gf_group_ids_write(const uint32_t *groups, uint32_t n, gf_buffer *out);

/** Read n ids, none but 0 twice; GF_ECORRUPT. */
gf_status gf_group_ids_read(gf_slice bytes, uint32_t *groups, uint32_t n, gf_error *err);

#endif
