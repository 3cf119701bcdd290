/**
 * A mixture of multinomials over word counts, with a Dirichlet prior: the sweeps that make groups
 * of k-means sharper. Each document in turn goes to the cluster that gives its words the highest
 * probability, its own words left out of the counts:
 *
 *     ln(m + alpha) + sum over words, j < t, of ln(n_w + beta + j)
 *                   - L ln(n + V beta + (L - 1) / 2)
 *
 * with the cluster's documents m, occurrences of the word n_w, of all words n; the document's
 * occurrences t of the word (50 at most), of all words L; the words of all documents V. The last
 * line is the middle of the sum over j < L of ln(n + V beta + j).
 *
 * Documents are taken in blocks of 4,096 against the counts before the block, but for each one's
 * own; all moves of the block are then made. So a block's documents can be looked at by any number
 * of threads, and the counts of different words be changed by any number, and the result is the
 * same. Of equally probable clusters a document's own wins, then the lowest.
 *
 * A document whose cluster is far more probable than any other (options->settled) stays there, and is
 * not looked at again.
 *
 * From 128 clusters on a document is compared with all in the first sweep (and, up to 512, in the
 * third), in the others with the eight that were most probable then, its own included.
 *
 * Equal documents may stand as one of a weight: it is judged like one of them, and all move.
 *
 * Source: Yin & Wang, KDD 2014, 233-242 (GSDMM; here the most probable cluster, not a drawn one).
 */
#ifndef GF_CLUSTER_MIXTURE_MIXTURE_H
#define GF_CLUSTER_MIXTURE_MIXTURE_H

#include "base/pool.h"
#include "cluster/mixture/logs.h"
#include "grouperfish/cancel.h"

enum {
    GF_MIXTURE_BLOCK = 4096,
    GF_MIXTURE_MANY = 128 /* from so many clusters on only two sweeps look at all */
};

/** Neighbouring documents: document i has entries start[i] .. start[i + 1] - 1. */
typedef struct gf_mixture_block {
    const uint64_t *start; /* n + 1 */
    const uint32_t *word;  /* of each entry */
    const uint8_t *count;  /* of each entry, 1..GF_MIXTURE_REPEATS */
    const float *weight;   /* n: equal documents that it stands for; NULL: one each */
} gf_mixture_block;

/** Documents `first` .. `first + n - 1`, borrowed until the next call. */
typedef gf_status gf_mixture_read(void *context, uint32_t first, uint32_t n,
                                  gf_mixture_block *block, gf_error *err);

typedef struct gf_mixture_documents {
    uint32_t n, n_words;
    gf_mixture_read *read;
    void *context;
} gf_mixture_documents;

typedef struct gf_mixture_options {
    uint32_t k;
    double alpha;            /* 0: the cluster's documents do not matter */
    double beta;             /* above 0 */
    float settled;           /* by how much, as a logarithm */
    unsigned sweeps;         /* at most; fewer where no document moves any more */
    const gf_cancel *cancel; /* may be NULL */
} gf_mixture_options;

/**
 * Sweep over the documents.
 *
 * @param label  n: 0..k-1, the clusters to begin with; after a failure some are new
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED, and what reading fails by
 * Cost:   a sweep is at most entries * k additions, of many clusters 8 * entries but in two;
 *         memory 32 bytes a document of many clusters, 8 bytes x words x k, or where that is
 *         more up to 64 bytes an entry (counts.h).
 */
gf_status gf_mixture_run(gf_pool *pool, const gf_mixture_documents *documents,
                         const gf_mixture_options *options, uint32_t *label, gf_error *err);

#endif
