/**
 * Rows to their most similar centres, however many there are: exactly, by all centres; of very many
 * (gf_branches_serve) by the tree of centres, which may miss one.
 *
 * That depends on the centres alone, so whoever looks a row up among the same centres
 * (cluster/passes/nearest_centres.h for single rows) finds the same.
 */
#ifndef GF_CLUSTER_LARGE_ASSIGN_H
#define GF_CLUSTER_LARGE_ASSIGN_H

#include "cluster/passes/lloyd.h"

/**
 * @param p          labels, which say where to look first; label, own and other are set
 * @param runner_up  NULL, or p->n: the second most similar; UINT32_MAX where k is 1
 * @return as gf_passes_assign_all and gf_branches_assign
 */
gf_status gf_assign_rows(gf_pool *pool, const gf_points *points, gf_partition *p,
                         uint32_t *runner_up, const gf_cancel *cancel, gf_error *err);

/*
 * An assignment may take a cluster's last row. Of very many clusters some nearly always lose all
 * theirs, and to take those out would change the tree, and with it the places of others: so such a
 * cluster gets back the row that fitted it best before.
 */

/** A row that its cluster may get back. */
typedef struct gf_keeper {
    uint32_t row, cluster;
} gf_keeper;

/** keeper[c] becomes the row of cluster c with the largest `own`; UINT32_MAX where it has none. */
void gf_assign_find_keepers(const gf_partition *p, uint32_t *keeper);

/**
 * The keepers of clusters that have no row now, by rising row.
 *
 * @param weight  p->k: of each cluster's rows
 * @param lost    room for p->k
 * @return how many
 */
uint32_t gf_assign_list_lost(const gf_partition *p, const double *weight, const uint32_t *keeper,
                             gf_keeper *lost);

/**
 * Give those clusters their rows back, but for one that is another cluster's last. The row's
 * runner-up is then the cluster that it would have been in, with the same similarity as its own.
 *
 * @param x           n rows: those of `lost`
 * @param row_weight  NULL, or n
 */
void gf_assign_give_back(gf_partition *p, const gf_keeper *lost, uint32_t n, const gf_csr *x,
                         const float *row_weight, double *weight, uint32_t *runner_up);

#endif
