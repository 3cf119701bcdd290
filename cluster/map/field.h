/**
 * The repulsion of all points of a map from all others, by a grid.
 *
 *     potential at a point   sum over all points j of 1 / (1 + d^2), d the distance from it
 *
 * Points are spread over the nodes of a square grid, the nodes' weights are convolved with the kernel
 * by a Fourier transform, and what comes out is read back between nodes, with its slope: the sum of
 * (y_j - y_i) / (1 + d^2)^2 over all points is half of it. Quadratic splines on both ways.
 *
 * Nodes are at most .6 apart while the map is at most GF_MAP_NODES of them across; in a wider one they
 * are farther apart, and the push of points that are nearer than nodes is smoothed.
 *
 * Threads: a task's outcome depends on its index alone. No function of the C library but sqrt, so the
 * bytes are the same on every processor of IEEE 754.
 *
 * Source: G. Linderman, M. Rachh, J. Hoskins, S. Steinerberger, Y. Kluger, "Fast interpolation-based t-SNE
 *         for improved visualization of single-cell RNA-seq data", Nature Methods 16 (2019) 243-245;
 *         J. Cooley, J. Tukey, Math. Comp. 19 (1965) 297-301.
 */
#ifndef GF_CLUSTER_MAP_FIELD_H
#define GF_CLUSTER_MAP_FIELD_H

#include "base/pool.h"

typedef struct gf_map_place {
    float x, y;
} gf_map_place;

typedef struct gf_map_field gf_map_field;

enum { GF_MAP_NODES = 256 };

gf_status gf_map_field_create(gf_map_field **field, gf_error *err);
void gf_map_field_free(gf_map_field *field);

/**
 * @param place    n, finite
 * @param[out] push  n: sum over j of (y_i - y_j) / (1 + d^2)^2
 * @param[out] total sum over all i and j != i of 1 / (1 + d^2)
 * Cost: O(n + g^2 log g), with a grid of g * g; memory 5.5 MB at most.
 */
gf_status gf_map_field_work_out(gf_map_field *field, gf_pool *pool, const gf_map_place *place,
                                uint32_t n, gf_map_place *push, double *total,
                                const gf_cancel *cancel, gf_error *err);

#endif
