/**
 * The passes of spherical k-means: every row goes to its most similar centre, the centres become
 * the unit sums of their rows, again and again.
 *
 * Exact, yet most rows are scored against few centres. Each row keeps its similarity `own` to its
 * centre (always exact) and an upper bound `other` of all its others. A centre c that moved by d
 * can have gained at most d, since |<x, c'> - <x, c>| <= |c' - c| for unit x. So only centres that
 * drifted by more than own - other can have overtaken, and those are the first columns of the
 * index: a row is
 *
 *     skipped           where there are none
 *     scored on those   where the best of them and its own stays above `other` + the drift of the
 *                       rest
 *     scored on all     else
 *
 * Bounds are compared with a slack for single precision: rounding can make a row be scored once
 * more, never be left wrong. Of equally similar centres the lowest cluster's wins.
 *
 * Sources: Dhillon & Modha, Machine Learning 42 (2001) 143-175; Hamerly, SDM 2010 (one lower
 * bound); Aoyama & Saito, arXiv 2103.16141 (moved centroids only).
 */
#ifndef GF_CLUSTER_PASSES_LLOYD_H
#define GF_CLUSTER_PASSES_LLOYD_H

#include "cluster/passes/centre_index.h"

/** A partition under way. All arrays belong to it. */
typedef struct gf_partition {
    uint32_t n, k;
    uint32_t *label; /* n: 0..k-1 */
    float *own;      /* n: similarity to the own centre */
    float *other;    /* n: at least the similarity to every other centre before its last drift */
    gf_centres centres;
} gf_partition;

gf_status gf_partition_init(gf_partition *p, uint32_t n, uint32_t k, uint32_t n_terms,
                            gf_error *err);
void gf_partition_release(gf_partition *p);

/** Threads, scratch memory and the index, which all passes reuse. */
typedef struct gf_passes gf_passes;

typedef struct gf_pass_report {
    uint64_t changed;                          /* rows that went to another cluster */
    uint64_t scored_all, scored_some, skipped; /* rows, by what was done for them */
} gf_pass_report;

/** points, pool and cancel (which may be NULL) are used until gf_passes_free. */
gf_status gf_passes_create(gf_pool *pool, const gf_points *points, uint32_t k,
                           const gf_cancel *cancel, gf_passes **passes, gf_error *err);
void gf_passes_free(gf_passes *passes);

/*
 * The calls below take a partition of the same points and k, and return GF_OK; GF_ENOMEM,
 * GF_ECANCELLED, GF_ELIMIT (see gf_centre_index_build). After a failure passes and partition are
 * only good for being freed.
 */

/**
 * Assign every row by scoring all centres, whose drift is of no matter; own and other become exact.
 *
 * @param runner_up  not NULL: n; the second most similar cluster of each row, UINT32_MAX where k is
 *                   1
 */
gf_status gf_passes_assign_all(gf_passes *s, gf_partition *p, uint32_t *runner_up,
                               gf_pass_report *report, gf_error *err);

/**
 * The same for other rows: `points` take the place of those before, have the same columns and are
 * at most as many as those that the passes were created for. The centres are those of the last
 * assignment, unchanged: they are not indexed anew.
 */
gf_status gf_passes_assign_others(gf_passes *s, const gf_points *points, gf_partition *p,
                                  uint32_t *runner_up, gf_pass_report *report, gf_error *err);

/** Assign after an update, by the rule above. */
gf_status gf_passes_assign(gf_passes *s, gf_partition *p, gf_pass_report *report, gf_error *err);

/**
 * Make the centres of clusters that gained or lost rows since the last update, after giving each
 * empty cluster the worst fitting row of a larger one. A cluster stays empty only where there are
 * fewer rows than clusters.
 */
gf_status gf_passes_update(gf_passes *s, gf_partition *p, gf_error *err);

typedef struct gf_passes_made {
    unsigned passes; /* assignments after the first */
    bool converged;  /* in the last of them few rows changed cluster */
} gf_passes_made;

/**
 * Passes until at most `tolerance` * rows change cluster, or max_passes.
 * On return labels, own and other belong to the centres of the last update.
 *
 * @param p  centres set (the seeds); its labels need not be
 */
gf_status gf_passes_run(gf_passes *s, gf_partition *p, double tolerance, unsigned max_passes,
                        gf_passes_made *made, gf_error *err);

/* For polish and exchange: what they share with the passes. */
gf_pool *gf_passes_pool(gf_passes *s);
const gf_points *gf_passes_points(const gf_passes *s);
const gf_cancel *gf_passes_cancel(const gf_passes *s);
gf_centre_index *gf_passes_index(gf_passes *s);
const gf_kernels *gf_passes_kernels(const gf_passes *s);
/** Score memory of a worker: two arrays of index->stride floats, aligned to 64 bytes. */
float *gf_passes_scores(gf_passes *s, unsigned worker);
/** k flags: clusters that changed and are to be summed by the next update. */
bool *gf_passes_changed(gf_passes *s);

enum { GF_ROWS_PER_TASK = 1024 };

#endif
