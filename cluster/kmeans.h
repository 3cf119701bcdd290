/**
 * Spherical k-means from rows to clusters: equal rows folded, the number of clusters chosen where
 * it is open, seeds grown on a sample (of many clusters: a partition grown over all rows), exact
 * passes, polish, the best of several runs, and a last assignment.
 *
 * Deterministic: the same rows and options give the same result, bit for bit, for any number of
 * threads; but for the seconds that it took.
 */
#ifndef GF_CLUSTER_KMEANS_H
#define GF_CLUSTER_KMEANS_H

#include "cluster/measure/choose_k.h"
#include "cluster/mixture/refinement.h"
#include "cluster/passes/lloyd.h"

/** Told now and then how far a clustering is; never from two threads at once. */
typedef void gf_kmeans_progress(void *context, const char *phase, uint64_t done, uint64_t total);

typedef struct gf_kmeans_options {
    uint32_t k;     /* most clusters, clamped to the distinct rows; 0: choose */
    uint32_t max_k; /* where k is 0: at most this many; 0: a third of the distinct rows, 1,000 */
    uint32_t reach; /* where k is 0: see gf_choose_k */
    bool settled;   /* with start_refined: without sweeps; rows only go to the nearest centre */
    /*
     * Clusters to begin with, in place of seeds: n labels, 0..start_k-1, or GF_NO_CLUSTER for rows
     * that had none; NULL for seeds. Of more than k clusters the heaviest are taken; what lacks
     * begins with the worst fitting rows. One run is made. Needs k.
     */
    const uint32_t *start;
    uint32_t start_k;
    bool start_refined; /* they were refined, and are swept as they are: k-means would undo it */
    uint64_t seed;
    unsigned restarts;   /* runs, of which the best objective is kept; 0: by the amount of work */
    unsigned max_passes; /* of k-means over all rows, per run; 0: 100 */
    /* Rounds of polish per run; GF_NO_POLISH: none; 0: 20, less where clusters are many. */
    unsigned max_rounds;
    double tolerance; /* share of rows that may still move at the end; 0: 0.001 */
    /*
     * Up to 500 clusters: seeds drawn, not grown; at most two passes and two rounds; one run
     * where restarts is 0. About half the time or less; the objective is some percent lower.
     */
    bool quick;
    /* Word counts that make the clusters sharper (cluster/mixture/refinement.h); NULL: none. */
    const gf_refinement *refinement;
    const gf_cancel *cancel;
    gf_kmeans_progress *progress; /* may be NULL */
    void *progress_context;
} gf_kmeans_options;

#define GF_NO_POLISH  UINT32_MAX
#define GF_NO_CLUSTER UINT32_MAX

/** Time of a stage, over all runs: for whoever measures; nothing is decided by it. */
typedef struct gf_kmeans_stage {
    double seconds; /* of the wall clock */
    gf_pool_account account;
} gf_kmeans_stage;

typedef struct gf_kmeans_stages {
    gf_kmeans_stage folding, choosing, seeding, warming, passing, polishing, exchanging, sweeping,
        finishing;
} gf_kmeans_stages;

typedef struct gf_kmeans {
    uint32_t n;          /* rows */
    uint32_t distinct;   /* distinct rows that have entries */
    uint32_t k;          /* clusters, each with at least one row; largest first */
    uint32_t *label;     /* n: 0..k-1, the argmax over the centres, or of very many over those that
                            the row reaches: see cluster/large/assign.h */
    float *score;        /* n: similarity to the own centre, 0..1 */
    uint32_t *runner_up; /* n: the second most similar cluster; GF_NO_CLUSTER where k is 1 */
    float *second;       /* n: similarity to that centre; 0 where there is none */
    gf_centres centres;  /* k; length and weight are those of the rows that they were summed of,
                            before the last assignment */
    double objective;    /* sum of score, 0..n */
    unsigned passes, rounds, restarts; /* of the best run; runs made */
    bool converged;                    /* the best run's passes did; of many clusters: polish */
    gf_choice choice; /* the curve by which k was chosen; empty where it was given */
    gf_kmeans_stages stages;
} gf_kmeans;

/**
 * @param x  CSR [n x terms], rows of unit L2 length, of multiples of 2^-24 (base/grid.h). An empty row has similarity 0 to everything:
 *           it takes no part, and is labelled 0, with score 0.
 * @return GF_OK; GF_EINVAL (no row with entries, one that is not of unit length or not on the grid, a matrix that is
 *         not sound); GF_ENOMEM, GF_ECANCELLED, GF_ELIMIT (see gf_centre_index_build). On failure
 *         *out is unchanged.
 * Owner:  the caller calls gf_kmeans_release(out). Threads: x is only read.
 * Cost:   a pass is O(entries * k) at worst, far less once few centres drift; memory 8 bytes x
 *         entries where rows are equal, 40 x n, 16 x entries of the centres, 4 x k x frequent terms
 *         (docs/algorithms.md has the formula).
 * Source: Dhillon & Modha, Machine Learning 42 (2001) 143-175.
 */
gf_status gf_kmeans_run(gf_pool *pool, const gf_csr *x, const gf_kmeans_options *options,
                        gf_kmeans *out, gf_error *err);
void gf_kmeans_release(gf_kmeans *r);

/**
 * Only choose the number of clusters, as gf_kmeans_run does where options->k is 0 (which is not
 * looked at): the same curve and the same choice.
 *
 * @param[out] out  the caller's to free: out->steps
 * @return as gf_kmeans_run
 */
gf_status gf_kmeans_choose(gf_pool *pool, const gf_csr *x, const gf_kmeans_options *options,
                           gf_choice *out, gf_error *err);

#endif
