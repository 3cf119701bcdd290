/**
 * Folding equal rows into one weighted row: equal documents must always share a cluster, and need
 * to be scored only once.
 */
#ifndef GF_CLUSTER_FOLD_H
#define GF_CLUSTER_FOLD_H

#include "cluster/points.h"

typedef struct gf_fold {
    uint32_t n;         /* distinct rows */
    uint32_t *point_of; /* rows of x: number of the distinct row that stands for each */
    gf_csr x;      /* n rows, in order of first appearance; empty where all rows are distinct */
    float *weight; /* n: rows that each stands for; NULL where all rows are distinct */
} gf_fold;

/**
 * Find the rows of x that are equal bit for bit.
 * Owner: the caller calls gf_fold_release. Cost: O(entries); memory 12 bytes a row, and a copy of
 * the distinct rows where some are equal.
 */
gf_status gf_fold_rows(const gf_csr *x, gf_fold *out, gf_error *err);
void gf_fold_release(gf_fold *fold);

#endif
