/**
 * A clustering under way: its rows, its options and its runs. For cluster/ itself.
 */
#ifndef GF_CLUSTER_KMEANS_INTERNAL_H
#define GF_CLUSTER_KMEANS_INTERNAL_H

#include "cluster/kmeans.h"
#include "cluster/passes/fold.h"
#include "cluster/small/small_kmeans.h"

/** A clustering under way. */
typedef struct gf_kmeans_job {
    gf_pool *pool;
    gf_points points; /* distinct rows */
    gf_points whole;  /* the same, as they came */
    gf_csr joined;    /* of few rows: points without lone columns */
    gf_small *small;  /* of few points that start anew: their products */
    const gf_fold *fold;
    const gf_kmeans_options *options;
    uint32_t k;
    uint32_t n_rows; /* before folding */
    unsigned restarts, max_passes, max_rounds;
    double tolerance;
    gf_choice choice;
    gf_kmeans_stages stages;
    double mark; /* seconds when the stage began */
} gf_kmeans_job;

/** One run's outcome. */
typedef struct gf_kmeans_run_made {
    gf_partition p;
    gf_passes_made made;
    unsigned rounds;
    double objective;
} gf_kmeans_run_made;

/** Tell the caller's progress how far it is. */
void gf_kmeans_tell(const gf_kmeans_job *j, const char *phase, uint64_t done, uint64_t total);

/** Add the seconds since the last call to a stage, which may be NULL. */
void gf_kmeans_clock(gf_kmeans_job *j, double *stage);

/**
 * Make as many runs as are asked for or cost little (j->restarts becomes that), and keep the one
 * with the highest objective.
 *
 * @param j  k set
 * @return GF_OK; as gf_kmeans_run. After a failure *best is only good for being released, too.
 */
gf_status gf_kmeans_runs_best(gf_kmeans_job *j, gf_kmeans_run_made *best, gf_error *err);

#endif
