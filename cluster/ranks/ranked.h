/**
 * Spherical k-means of rows that lie at several ranks: each has a part, neighbouring rows of all.
 *
 *     seeds     k-means (cluster/kmeans.h) of a sample at rank 0, or clusters that there were
 *     passes    each rank assigns its own rows; what they change of the clusters' sums goes to the
 *               clusters' owners, and the new centres to all (cluster/ranks/ranked_sums.h)
 *     sweeps    where asked for, rank 0 is given all labels, and gives others
 *     the end   clusters summed, all rows assigned once more, clusters numbered by size
 *
 * Passes are exact, with the bounds of cluster/passes/lloyd.h, until few rows change cluster.
 *
 * What comes out depends on the rows and options alone, bit for bit: not on the number of ranks or
 * threads, nor on where the rows are cut. Everything is of one row and the centres, of one cluster in
 * the order of terms, or a sum of whole numbers. Ranks must have kernels of the same name
 * (cluster/passes/centre_index.h).
 *
 * Up to GF_BRANCHES_ABOVE clusters.
 */
#ifndef GF_CLUSTER_RANKS_RANKED_H
#define GF_CLUSTER_RANKS_RANKED_H

#include "base/ranks.h"
#include "cluster/kmeans.h"

/** A rank's rows. Those of rank 0 are the first of all, and so on. */
typedef struct gf_ranked_rows {
    const gf_csr *x; /* unit rows on the grid (base/grid.h), none empty; all columns of all ranks */
    const uint32_t *start; /* own rows: the cluster to begin with, or GF_NO_CLUSTER; NULL: seeds */
} gf_ranked_rows;

/** Give every row of all ranks another label, 0..k-1; at rank 0. */
typedef gf_status gf_ranked_sweep(void *context, uint32_t n, uint32_t k, uint32_t *label,
                                  gf_error *err);

/** Bytes and documents of the passes, for whoever compares them with what was reckoned. */
typedef struct gf_ranked_account {
    uint64_t first_changes, first_centres; /* bytes that this rank sent in the first pass */
    uint64_t later_changes, later_centres; /* likewise in all others */
    uint64_t moved;          /* documents of all ranks that changed cluster in those */
    uint64_t centre_entries; /* of all centres, after the first pass */
    unsigned later_passes;
} gf_ranked_account;

typedef struct gf_ranked_options {
    /*
     * The same at all ranks, but for progress, which rank 0 tells; `start` is not looked at (start_k
     * is), nor is refinement->count. Rounds and restarts are those of the sample.
     */
    gf_kmeans_options kmeans;
    uint32_t sample;        /* rows that rank 0 finds seeds in, 1 at least */
    bool sweeps;            /* where the rows are such that they pay (gf_refinement_pays) */
    gf_ranked_sweep *sweep; /* at rank 0, where there are sweeps */
    void *sweep_context;
    gf_ranked_account *account; /* NULL, or set */
} gf_ranked_options;

/**
 * @param ranks  NULL: this process has all rows
 * @param out    n, label, score, runner_up, second are of this rank's rows; all else of all, and the
 *               same at every rank, but for the choice, which rank 0 has; rounds are 0
 * @return GF_OK; GF_EINVAL (no rows, too many clusters); GF_ENOMEM, GF_ECANCELLED, GF_ELIMIT, and
 *         what ranks and sweeps fail by. On failure *out is unchanged, and the ranks are to be ended.
 * Owner:  gf_kmeans_release(out).
 * Cost:   of a pass, a rank: its entries * k at worst, and what cluster/ranks/ranked_sums.h says.
 *         Memory: own rows, a copy of them where some are equal; 40 bytes an own row; the centres, twice;
 *         at rank 0 the sample's k-means.
 */
gf_status gf_ranked_run(gf_ranks *ranks, gf_pool *pool, const gf_ranked_rows *rows,
                        const gf_ranked_options *options, gf_kmeans *out, gf_error *err);

#endif
