/**
 * The tree over a build's clusters, as it is kept: in builds:model the cell "tree".
 *
 *     varint k | k cluster ids, varints: the leaves
 *     for each of the k - 1 inner nodes, each behind its children:
 *         two varints: its children (leaves from 0 on, inner nodes from k on)
 *         height, a float's bits, big-endian | label: varint length and bytes, empty for none
 *
 * It is made with the build, since labels of inner nodes are phrases of the documents, which are
 * read then anyway; and reading it takes no more than reading its cell.
 */
#ifndef GF_ENGINE_BUILD_TREE_H
#define GF_ENGINE_BUILD_TREE_H

#include "cluster/label/tree.h"
#include "grouperfish/buffer.h"

struct gf_build_clustered;

/** Build the tree over the clusters; it is empty where there are more than GF_TREE_MOST. */
gf_status gf_build_tree(gf_pool *pool, const struct gf_build_clustered *clustered,
                        const gf_cancel *cancel, gf_tree *tree, gf_error *err);

/** Append the cell's bytes: ids of the k clusters, labels of all nodes. */
void gf_tree_write(const gf_tree *tree, const uint32_t *ids, const gf_slice *labels,
                   gf_buffer *out);

/** A tree as it was kept. */
typedef struct gf_kept_tree {
    gf_tree tree;
    uint32_t *ids;    /* k: clusters of the leaves */
    gf_slice *labels; /* n_nodes: of inner nodes, borrowed from the bytes; empty for none */
    uint32_t *groups; /* n_nodes - k: ids of inner nodes, set by group_ids.h; 0: none */
} gf_kept_tree;

/** @return GF_OK; GF_ECORRUPT, GF_ENOMEM; *kept is then unchanged */
gf_status gf_tree_read(gf_slice bytes, gf_kept_tree *kept, gf_error *err);
void gf_tree_kept_release(gf_kept_tree *kept);

#endif
