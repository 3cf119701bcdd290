/**
 * Splitting one cluster in two, by k-means with two centres over its rows alone.
 */
#ifndef GF_CLUSTER_SPLIT_H
#define GF_CLUSTER_SPLIT_H

#include "cluster/lloyd.h"

/** A cluster cut in two. */
typedef struct gf_split {
    double gain;    /* of the objective: lengths of the halves less the length of the whole */
    uint32_t *rows; /* n: the cluster's rows, rising */
    bool *second;   /* n: belongs to the second half */
    uint32_t n;
    gf_centres halves; /* 2: of the rows that are not `second`, and of those that are */
} gf_split;

/**
 * Split the rows of a cluster.
 *
 * @param rows    n_rows numbers of points, rising, at least two
 * @param length  of the cluster's sum, weights included
 * @return GF_OK; GF_EINVAL (fewer than two rows); GF_ENOMEM, GF_ECANCELLED; then *out is unchanged
 * Owner: the caller calls gf_split_release. Cost: a few passes over the rows with two centres.
 */
gf_status gf_split_rows(const gf_points *points, const uint32_t *rows, uint32_t n_rows,
                        double length, gf_random *random, const gf_cancel *cancel, gf_split *out,
                        gf_error *err);
void gf_split_release(gf_split *s);

#endif
