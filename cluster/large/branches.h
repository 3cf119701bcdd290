/**
 * A tree of very many centres, so that a row is compared with those of a few branches in place of
 * all.
 *
 *     top        2 sqrt(k) branches, each a unit vector: of every term the largest value that a
 *                centre of it has, of the strongest 8,192 terms
 *       branch   about sqrt(k) / 2 centres that are similar to each other
 *
 * A row descends into the branches that are most similar to it, GF_BRANCHES_WIDTH of them, and is
 * scored on all their centres: some thousand in place of 80,000. What it finds is the most similar
 * of the centres that it reached; one in a branch that is further away is missed. With the largest
 * values rather than sums a branch is near wherever one of its centres is.
 *
 * The tree is made of the centres alone, of their vectors and not of their order: whoever has the
 * same centres makes the same tree, and finds the same for a row. So a row of a clustering and an
 * equal row that comes later get the same cluster, and nothing of the tree is kept. It does not depend on
 * the number of threads either.
 *
 * Source: De Vries, De Vine & Geva, arXiv 1505.05613 (EM-tree: rows find their places by a tree of
 * centres); here made from the centres upwards, and searched by the largest values of a branch.
 */
#ifndef GF_CLUSTER_LARGE_BRANCHES_H
#define GF_CLUSTER_LARGE_BRANCHES_H

#include "cluster/passes/centre_index.h"

enum {
    GF_BRANCHES_WIDTH = 8,    /* branches that a row reaches */
    GF_BRANCHES_ABOVE = 10000 /* clusters: of more, places are found by the tree */
};

typedef struct gf_branches {
    const gf_centres *centres; /* borrowed */
    uint32_t n;                /* branches */
    uint32_t *start;           /* n + 1: where each branch's clusters lie in `leaf` */
    uint32_t *leaf;            /* clusters whose centres are not empty, rising in each branch */
    gf_centre_index top;       /* n columns in the order of the branches */
    const gf_kernels *kernels;
} gf_branches;

/**
 * Whether rows find their places by the tree: of more than GF_BRANCHES_ABOVE centres, that are not
 * dense (with half of all terms or more). The order of the centres has no part in that.
 */
bool gf_branches_serve(const gf_centres *centres);

/**
 * Make the tree; the centres are used until it is released.
 *
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED, and *b is empty
 * Cost: that of k-means of k rows of 64 entries in sqrt(k) clusters; O(entries of the centres).
 */
gf_status gf_branches_init(gf_branches *b, const gf_centres *centres, gf_pool *pool,
                           const gf_cancel *cancel, gf_error *err);
void gf_branches_release(gf_branches *b);

/** Floats of scratch for one worker: scores at 64 bytes alignment. */
uint32_t gf_branches_stride(const gf_branches *b);

/**
 * The branches that are most similar to a row, the most similar first.
 *
 * @param scores  gf_branches_stride floats, aligned to 64 bytes
 * @return how many: fewer than GF_BRANCHES_WIDTH where there are fewer
 */
uint32_t gf_branches_route(const gf_branches *b, gf_row_view row, float *scores,
                           uint32_t branch[GF_BRANCHES_WIDTH]);

/** Index the centres of a branch; columns are its clusters, in their order. To be released. */
gf_status gf_branches_index(const gf_branches *b, uint32_t branch, gf_centre_index *index,
                            gf_error *err);

/** The index of a branch over the terms that its centres have alone, to be kept. */
typedef struct gf_branch_packed {
    gf_centre_index index; /* its columns are the places in `term` */
    uint32_t *term;        /* n_terms, rising */
    uint32_t n_terms;
} gf_branch_packed;

/** The same as gf_branches_index in less memory; where it fails *packed is empty. */
gf_status gf_branches_pack(const gf_branches *b, uint32_t branch, gf_branch_packed *packed,
                           gf_error *err);
void gf_branches_unpack(gf_branch_packed *packed);

/** A row over those terms; what it scores on `index` is the same. col, val: room for row.n. */
gf_row_view gf_branches_pack_row(const gf_branch_packed *packed, gf_row_view row, uint32_t *col,
                                 float *val);

/** No cluster yet: what gf_branches_look begins with. */
#define GF_BRANCHES_NOTHING ((gf_nearest_two){UINT32_MAX, UINT32_MAX, -1, -1})

/** Compare a row with the centres of one branch; *two becomes the two best of it and of those. */
void gf_branches_look(const gf_branches *b, uint32_t branch, const gf_centre_index *index,
                      gf_row_view row, float *scores, gf_nearest_two *two);

/**
 * The two most similar centres of each row, as gf_branches_route and gf_branches_look find them.
 * Rows that reach the same branch are scored together, while its index is in the cache.
 *
 * @param label      rows: the best
 * @param runner_up  NULL, or rows: the second; UINT32_MAX where there is none
 * @param own        rows: similarity to the best
 * @param other      rows: similarity to the second; 0 where there is none
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED; what is returned is then undefined
 * Memory: 270 bytes a row, of 4 k rows (2^16 to 2^19) at a time; an index of one branch a thread.
 */
gf_status gf_branches_assign(const gf_branches *b, gf_pool *pool, const gf_csr *x, uint32_t *label,
                             uint32_t *runner_up, float *own, float *other, const gf_cancel *cancel,
                             gf_error *err);

#endif
