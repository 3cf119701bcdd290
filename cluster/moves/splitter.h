/**
 * Splitting one cluster in two, by k-means with two centres over its rows alone.
 *
 * Two rows, drawn as by k-means++, gather the others around them; then single rows change sides
 * wherever that raises the objective, each at once, so that every gain is exact. With two sums this
 * costs a row no more than its similarities do, and few sweeps are enough.
 *
 * Source: Zhao & Karypis, Data Min. Knowl. Discov. 10 (2005) 141-168 (bisection with incremental
 * refinement).
 */
#ifndef GF_CLUSTER_MOVES_SPLITTER_H
#define GF_CLUSTER_MOVES_SPLITTER_H

#include "cluster/passes/points.h"
#include "grouperfish/cancel.h"
#include "grouperfish/status.h"

/** One thread's scratch memory for splits: 16 bytes a term, and 4 for each row of a cluster. */
typedef struct gf_splitter gf_splitter;

gf_status gf_splitter_create(uint32_t n_terms, gf_splitter **splitter, gf_error *err);
void gf_splitter_free(gf_splitter *splitter);

/** A cluster cut in two. */
typedef struct gf_split {
    double gain;      /* of the objective: lengths of the halves less the length of the whole */
    double length[2]; /* of the halves */
    bool *second;     /* n: belongs to the second half */
    uint32_t n;       /* the cluster's rows */
} gf_split;

/**
 * Split the rows of a cluster; neither half is empty.
 *
 * @param rows    n_rows numbers of points, rising, at least two
 * @param length  of the cluster's sum, weights included
 * @return GF_OK; GF_EINVAL (fewer than two rows); GF_ENOMEM, GF_ECANCELLED; then *out is unchanged
 * Owner: the caller calls gf_split_release. Cost: up to eight times the rows' entries.
 */
gf_status gf_split_rows(gf_splitter *s, const gf_points *points, const uint32_t *rows,
                        uint32_t n_rows, double length, gf_random *random, const gf_cancel *cancel,
                        gf_split *out, gf_error *err);
void gf_split_release(gf_split *s);

#endif
