/**
 * Folding equal rows into one weighted row: equal documents must always share a cluster, and need
 * to be scored only once. Empty rows, which resemble nothing, are left out.
 */
#ifndef GF_CLUSTER_PASSES_FOLD_H
#define GF_CLUSTER_PASSES_FOLD_H

#include "cluster/passes/points.h"

#define GF_NO_POINT UINT32_MAX

typedef struct gf_fold {
    uint32_t n;         /* distinct rows that have entries */
    uint32_t *point_of; /* rows of x: the distinct row that stands for each; GF_NO_POINT if empty */
    gf_csr x;      /* n rows, in order of first appearance; not made where those are all rows */
    float *weight; /* n: rows that each stands for; NULL where x is not made */
} gf_fold;

/** Equal rows, without a matrix of them. */
typedef struct gf_fold_list {
    uint32_t n;         /* distinct rows that have entries */
    uint32_t *point_of; /* rows of x: as of gf_fold */
    uint32_t *rows;     /* n: the first row that is equal to each */
} gf_fold_list;

/** Find them; on failure *out is unchanged. gf_fold_list_release. Cost as of gf_fold_rows. */
gf_status gf_fold_list_rows(gf_pool *pool, const gf_csr *x, gf_fold_list *out, gf_error *err);
void gf_fold_list_release(gf_fold_list *list);

/**
 * Find the rows of x that are equal bit for bit.
 *
 * @return GF_OK; GF_ENOMEM, and *out is unchanged
 * Owner: the caller calls gf_fold_release. Cost: O(entries); memory 4 bytes a row (16 to 24 while
 * it runs), and a copy of the distinct rows where some are equal or empty.
 */
gf_status gf_fold_rows(gf_pool *pool, const gf_csr *x, gf_fold *out, gf_error *err);

/**
 * The same, but that no row of the fold stands for more than `most`, 2 or more: where more are equal, several do,
 * and the later ones come behind all others. Up to GF_FOLD_EXACT each weight is the whole number that it should be,
 * so that sums do not depend on how rows are parted.
 */
enum { GF_FOLD_EXACT = 1 << 24 };
gf_status gf_fold_rows_up_to(gf_pool *pool, const gf_csr *x, uint32_t most, gf_fold *out,
                             gf_error *err);
void gf_fold_release(gf_fold *fold);

/** The distinct rows, borrowed from the fold or, where it made none, from x. */
gf_points gf_fold_points(const gf_fold *fold, const gf_csr *x);

#endif
