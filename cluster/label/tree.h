/**
 * The hierarchy over the clusters of a build: the two groups whose joining costs least are joined
 * until one is left.
 *
 * A group stands where the mean of its centres is, each centre of length 1 and counted with its
 * weight. The cost of joining two groups of weights w and v is what the squared distances of the
 * centres to their means grow by, w v / (w + v) |mean - mean|^2 (Ward). So of two pairs that are as
 * near to each other the lighter one joins first, and groups grow side by side: by similarity alone
 * clusters join a large group one by one, and a cut of such a tree into five is one group of nearly
 * all and four of one cluster. A joined group costs a third no less than the cheaper of its parts
 * did, so that chains of nearest neighbours find the same tree as looking for the best pair each
 * time, in O(k^2) instead of O(k^3); and costs only grow towards the root.
 *
 * Sources: Ward, J. Am. Stat. Assoc. 58 (1963) 236-244; Murtagh, Comput. J. 26 (1983) 354-359 and
 * Muellner, arXiv 1109.2378 (chains of nearest neighbours; the formula of Lance & Williams, Comput.
 * J. 9 (1967) 373-380).
 */
#ifndef GF_CLUSTER_LABEL_TREE_H
#define GF_CLUSTER_LABEL_TREE_H

#include "base/pool.h"
#include "grouperfish/cancel.h"
#include "grouperfish/csr.h"

#include <stdbool.h>

#define GF_TREE_NONE UINT32_MAX

enum { GF_TREE_MOST = 10000 }; /* leaves */

/**
 * A binary tree. Leaves are the nodes 0..k-1, inner nodes k..2k-2 by rising cost, so that a node
 * comes behind its children and the root is the last.
 */
typedef struct gf_tree {
    uint32_t k;
    uint32_t n_nodes;        /* 2k - 1; 0 where k is */
    uint32_t *parent;        /* n_nodes; GF_TREE_NONE of the root */
    uint32_t *child;         /* 2 * n_nodes: of node v at 2v and 2v + 1, the heavier first;
                                GF_TREE_NONE of leaves */
    float *height;           /* n_nodes: 1 - the mean similarity of a centre of one child to one of
                                the other, 0..1; of leaves 0 */
    uint32_t *order;         /* k: the leaves depth first, so that each node's lie together */
    uint32_t *first, *count; /* n_nodes: the node's leaves are order[first .. first + count) */
} gf_tree;

/**
 * Build the tree.
 *
 * @param rows    k centres: columns strictly rising, 0..n_cols-1; of any length but 0 (a row
 *                without entries is similar to nothing)
 * @param weight  k, above 0: how much each counts, such as its documents
 * @return GF_OK; GF_ELIMIT (k > GF_TREE_MOST); GF_ENOMEM, GF_ECANCELLED. On failure *tree is
 *         unchanged. The same for any number of threads.
 * Owner: the caller calls gf_tree_release.
 * Cost: O(k^2 + the sum over columns of their entries squared); memory 4 k^2 bytes.
 */
gf_status gf_tree_build(gf_pool *pool, const gf_row_view *rows, uint32_t k, uint32_t n_cols,
                        const double *weight, const gf_cancel *cancel, gf_tree *tree,
                        gf_error *err);
void gf_tree_release(gf_tree *tree);

/**
 * Set order, first and count from k, child and the number of nodes: what need not be stored.
 * False where child is not a tree in which each node comes behind its children.
 */
bool gf_tree_arrange(gf_tree *tree);

/** A tree with its arrays, not initialised but for k and n_nodes. */
gf_status gf_tree_alloc(uint32_t k, gf_tree *tree, gf_error *err);

#endif
