/**
 * Groups of k-means made sharper by the counts of words: the sweeps of a mixture (mixture.h) behind
 * the last pass, and then the nearest of the groups' centres. The rows have rare terms heavier,
 * which k-means of short texts needs, and which misleads the choice of k: that is over rows with
 * such a weight taken back.
 */
#ifndef GF_CLUSTER_MIXTURE_REFINEMENT_H
#define GF_CLUSTER_MIXTURE_REFINEMENT_H

#include "base/row_file.h"
#include "cluster/mixture/mixture.h"
#include "cluster/passes/fold.h"

enum { GF_MIXTURE_PRIOR_CLUSTERS = 100 /* up to so many clusters their sizes count */ };

/** How often row `row` has each of its terms: n counts, each 1..GF_MIXTURE_REPEATS. */
typedef void gf_count_terms(void *context, uint32_t row, gf_row_view view, uint8_t *count);

typedef struct gf_refinement {
    const float *factor;   /* n_terms: k is chosen over rows times these; NULL: as they are */
    gf_count_terms *count; /* called by several threads at once; NULL: nothing is swept */
    void *context;
    unsigned sweeps; /* 0: by the number of documents */
} gf_refinement;

/** x times the factors, made unit rows: the columns are borrowed, the caller frees out->val. */
gf_status gf_refinement_weigh(gf_pool *pool, const gf_csr *x, const float *factor,
                              const gf_cancel *cancel, gf_csr *out, gf_error *err);

/**
 * Whether sweeps make clusters better: of long documents they do only where there are many, since what
 * a few documents say of a cluster's words is not enough to judge as many words by. Each cluster has
 * to have three times as many documents as a document has different words.
 *
 * @param entries  of all n rows
 */
bool gf_refinement_pays(uint64_t n, uint64_t entries, uint32_t k);

/** The sweeps that n documents in k clusters get, and the mixture's constants for them. */
gf_mixture_options gf_refinement_options(const gf_refinement *refinement, uint32_t n, uint32_t k,
                                         const gf_cancel *cancel);

/**
 * Sweep over points: what each stands for is counted in its first row.
 *
 * @param fold   of n_rows rows; its distinct rows are the points
 * @param label  points: 0..k-1, which becomes that of the sweeps' groups; after a failure some have
 * @return as gf_mixture_run
 */
gf_status gf_refinement_sweep(gf_pool *pool, const gf_refinement *refinement,
                              const gf_points *points, const gf_fold *fold, uint32_t n_rows,
                              uint32_t k, const gf_cancel *cancel, uint32_t *label, gf_error *err);

/** The same over rows that lie in a file, a block of which is read at a time; GF_EIO as well. */
gf_status gf_refinement_sweep_file(gf_pool *pool, const gf_refinement *refinement,
                                   const gf_row_file *rows, uint32_t k, const gf_cancel *cancel,
                                   uint32_t *label, gf_error *err);

#endif
