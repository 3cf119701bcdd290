/**
 * A map of the rows of a clustering: a place in the plane for each, with near rows near.
 *
 *     1. the clusters' places: a map of their centres, by the steps 3 and 4
 *     2. rows begin at the places of their own cluster and those of their nearest rows
 *     3. nearest rows by cosine (cluster/map/neighbours.h), in both directions
 *     4. sweeps: all rows move at once, each by the places of the sweep before
 *
 *            velocity = MOMENTUM * velocity + attraction - repulsion * n / (exaggeration * total)
 *            attraction   mean over its nearest rows j of (y_j - y_i) / (1 + d^2)
 *            repulsion    sum over all rows j of (y_i - y_j) / (1 + d^2)^2, total that of 1 / (1 + d^2)
 *
 * which is t-SNE with equal weights for the nearest rows, and so many steps as 1 and 2 leave to do. The
 * exaggeration falls from EARLY to LATE: first groups find together, then they spread. A row only reads
 * other rows' places, so nothing depends on the number of threads.
 *
 * Units mean nothing, only ratios of distances do; far apart is not how different, as in any such map.
 *
 * Source: L. van der Maaten, G. Hinton, "Visualizing Data using t-SNE", JMLR 9 (2008) 2579-2605; G. Linderman
 *         and others, Nature Methods 16 (2019) 243-245 (the repulsion by a grid); D. Kobak, P. Berens, "The art of
 *         using t-SNE for single-cell transcriptomics", Nature Communications 10 (2019) 5416 (how to begin,
 *         exaggeration); A. Belkina and others, ibid. 5415 (steps).
 */
#ifndef GF_CLUSTER_MAP_MAP_H
#define GF_CLUSTER_MAP_MAP_H

#include "cluster/map/field.h"
#include "grouperfish/csr.h"

/**
 * Lay out a map.
 *
 * @param x        rows of unit length; one without entries has no place
 * @param cluster  n_rows: 0 .. centres->n_rows - 1; another number for a row that is in none
 * @param centres  [k x n_cols], of unit length
 * @param sweeps   0: GF_MAP_SWEEPS
 * @param cancel   may be NULL
 * @param[out] place     n_rows; NaN, NaN of a row that has no place
 * @param[out] of_cluster  k: the middle of the cluster's rows; NaN where none has a place. May be NULL
 * @return GF_OK; GF_ENOMEM; GF_ECANCELLED. The same bytes for any number of threads, and on any
 *         processor of IEEE 754.
 * Cost: gf_map_find_neighbours, then for each sweep some 2 * GF_MAP_NEIGHBOURS rows of each row and a
 *       convolution of at most 256 * 256 nodes. Memory: 164 bytes a row, 8 an entry, and 5.5 MB.
 */
gf_status gf_map_lay_out(gf_pool *pool, const gf_csr *x, const uint32_t *cluster,
                         const gf_csr *centres, unsigned sweeps, const gf_cancel *cancel,
                         gf_map_place *place, gf_map_place *of_cluster, gf_error *err);

enum { GF_MAP_NEIGHBOURS = 10, GF_MAP_SWEEPS = 120 };

#endif
