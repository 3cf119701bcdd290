/**
 * Similarities of documents to all centres, by a hybrid inverted index over the centres.
 *
 *     term ->  dense row   k floats in column order, where many centres have the term
 *              postings    (column, value), where few do
 *
 * Columns are the centres by a falling key that the caller gives, in dense rows and in postings
 * alike, so that a document can be scored against the first few alone. The passes of k-means take
 * for key how far the last update moved a centre; the polish takes how much a centre could offer.
 * A term is dense from more than k/12 centres on: a posting costs about as much as a dozen columns
 * of a dense row.
 *
 * Similarity of row x to a centre c: sum over shared terms of x_t * c_t, in single precision, by
 * fused multiply-add, dense terms first, each group in the order of the terms. That order is the
 * same in the AVX2, AVX-512 and NEON kernels, whose results are therefore equal bit for bit; the
 * portable kernel rounds products too. Either differs from the true sum by at most 2^-23 for each
 * term of the row, times the sum of |x_t * c_t|.
 *
 * Source: Aoyama, Saito & Ikeda, arXiv 2002.09094 (inverted file over the means); Aoyama & Saito,
 * arXiv 2103.16141 (invariant centroids last, here generalised to an order by drift).
 */
#ifndef GF_CLUSTER_PASSES_CENTRE_INDEX_H
#define GF_CLUSTER_PASSES_CENTRE_INDEX_H

#include "cluster/passes/centres.h"

enum {
    GF_COLUMN_BLOCK = 16, /* dense rows and score arrays are padded to multiples of this */
    GF_ALL_DENSE = 32,    /* up to this k every term is dense */
    GF_ROWS_BESIDE = 4,   /* full rows that are scored side by side */
    GF_CEILINGS = 1000    /* from this k on ceilings save more than they cost */
};

typedef struct gf_posting {
    uint32_t column;
    float value;
} gf_posting;

typedef struct gf_term_entry {
    uint32_t start; /* first posting, or number of the dense row */
    uint32_t n;     /* postings; GF_DENSE_TERM for a dense row */
} gf_term_entry;

#define GF_DENSE_TERM UINT32_MAX

typedef struct gf_centre_index {
    uint32_t k, n_terms;
    uint32_t stride;      /* floats of a dense row: k padded */
    uint32_t *column_of;  /* k: column of a cluster */
    uint32_t *cluster_of; /* k: cluster of a column */
    float *key;           /* k: of each column's centre, falling */
    gf_term_entry *term;  /* n_terms */
    float *dense;         /* n_dense * stride, aligned to 64 bytes */
    float *
        ceiling; /* n_dense * ceiling_stride: see gf_centre_index_set_ceilings; NULL: there are none */
    uint32_t ceiling_stride; /* blocks of columns, padded like a row */
    gf_posting *postings;    /* of a term together, by rising column */
    uint32_t n_dense;
    uint64_t n_postings;
    bool huge_pages; /* ask for them for dense rows, before the first build: worth it where rows are
                        met at random and nothing is built again */
    struct gf_centre_index_memory *memory;
} gf_centre_index;

/** An empty index that gf_centre_index_build fills again and again, reusing its memory. */
gf_status gf_centre_index_init(gf_centre_index *index, uint32_t k, uint32_t n_terms, gf_error *err);
void gf_centre_index_release(gf_centre_index *index);

/**
 * Index the centres, with the columns by falling key and, of equal ones, rising cluster.
 *
 * @param key  k, by cluster; no NaN
 * @return GF_OK; GF_ENOMEM; GF_ELIMIT (2^32 postings); the index can then only be built again or
 *         released. The result does not depend on the number of threads.
 * Cost: O(k log k + terms + entries of the centres + dense rows); memory 8 x entries + 4 x k x
 * dense rows.
 */
gf_status gf_centre_index_build(gf_centre_index *index, const gf_centres *centres, const float *key,
                                gf_pool *pool, gf_error *err);

/**
 * Find the largest |value| of each dense row in every block of GF_COLUMN_BLOCK columns. With it
 * gf_centre_index_nearest leaves out the blocks whose centres cannot be near. They hold until the
 * index is built again.
 *
 * @return GF_OK; GF_ENOMEM
 * Cost: reads the dense rows once; memory 4 x k / 16 x dense rows.
 */
gf_status gf_centre_index_set_ceilings(gf_centre_index *index, gf_pool *pool, gf_error *err);

/** Columns whose key is above that: the first ones. Cost O(log k). */
uint32_t gf_centre_index_above(const gf_centre_index *index, float key);

/** The highest score and the second highest of some columns. */
typedef struct gf_best {
    uint32_t column; /* of the highest; of equal ones the lowest cluster's */
    float score;
    float second; /* -INFINITY where there is one column */
} gf_best;

/** The two columns with the highest scores; of equal ones the lowest clusters'. */
typedef struct gf_best_two {
    uint32_t column, runner_up; /* runner_up: UINT32_MAX where there is one column */
    float score, second;        /* second: -INFINITY where there is one column */
} gf_best_two;

/** The moves of one document that the first-variation polish looks at. */
typedef struct gf_move_terms {
    const float *length;  /* stride: length of each column's sum */
    const float *squared; /* stride: its square */
    float weight;         /* of the document */
} gf_move_terms;

/** The gain that a document's move must reach, for gf_kernels.move. */
typedef struct gf_move_wanted {
    gf_move_terms terms;
    const float *offer; /* a block of columns each: at least 1 / (2 |S|) of any of them */
    uint32_t own;       /* column that the document is in */
    float least;        /* a gain that counts is above it */
} gf_move_wanted;

/** The column whose sum gains most by a document. */
typedef struct gf_move_found {
    uint32_t column; /* of equal ones the lowest cluster's; UINT32_MAX: none gains enough */
    float gain, score;
    float other; /* at least the score of every column but the own */
} gf_move_found;

enum { GF_GROUP = 32 /* most clusters of a group: cluster/moves/groups.h */ };

/** The sums of a group of clusters side by side, and a document that may move among them. */
typedef struct gf_near_sums {
    const float *sum;     /* slots * GF_GROUP, aligned to 64 bytes */
    const uint32_t *slot; /* terms: of each of the document's terms */
    const float *length;  /* GF_GROUP, aligned: |S| */
    const float *squared; /* GF_GROUP, aligned: |S|^2 */
    uint32_t n;           /* clusters, 2..GF_GROUP */
    float weight;         /* of the document */
} gf_near_sums;

/** The best move of a document; `to` is undefined unless the gain is above 0. */
typedef struct gf_near_move {
    uint32_t to;
    float gain; /* of the objective, leaving its own cluster included */
} gf_near_move;

typedef struct gf_kernels {
    const char *name; /* "portable", "avx2", "avx512", "neon" */

    /* scores[c] of the first `columns` columns; scores has room for `stride` floats, aligned to 64
     * bytes, and may be overwritten up to there. */
    void (*score)(const gf_centre_index *index, gf_row_view row, uint32_t columns, float *scores);

    /*
     * The scores of several rows on all columns, of an index whose terms are all dense: what score
     * tells of each row, and the same bits. value: n pointers to n_terms floats, n a multiple of
     * GF_ROWS_BESIDE; scores: n * stride, aligned to 64 bytes.
     */
    void (*score_full)(const gf_centre_index *index, const float *const *value, uint32_t n,
                       float *scores);

    /* The best two of scores[0..columns-1], columns >= 1. The padding behind is overwritten. */
    gf_best (*best)(const gf_centre_index *index, uint32_t columns, float *scores);

    /* The column of best.second, of equal ones the lowest cluster's; columns >= 2, after best(). */
    uint32_t (*runner_up)(const gf_centre_index *index, uint32_t columns, const float *scores,
                          gf_best best);

    /*
     * The best two of all columns of an index with ceilings. A block of columns is scored only
     * where sum of |x_t| * ceiling over the dense terms, with the exact sum over the others,
     * reaches the second best score so far. scores: 2 * stride floats, aligned to 64 bytes.
     *
     * @param likely  a column that is probably among them, whose block is scored first; UINT32_MAX:
     *                none is known, and the block with the highest bound is
     */
    gf_best_two (*search)(const gf_centre_index *index, gf_row_view row, uint32_t likely,
                          float *scores);

    /*
     * Gain of adding a document to each column's sum: |S + w x| - |S|
     * = (2 w |S| score + w^2) / (sqrt(|S|^2 + 2 w |S| score + w^2) + |S|), into
     * gains[0..columns-1].
     */
    void (*gains)(const gf_move_terms *terms, const float *scores, uint32_t columns, float *gains);

    /*
     * The column that gains most, of all of an index with ceilings. Since |S + w x| - |S| is at
     * most w score + w^2 / (2 |S|), blocks whose scores are bounded too low are left out, as by
     * search. scores as there.
     */
    gf_move_found (*move)(const gf_centre_index *index, gf_row_view row,
                          const gf_move_wanted *wanted, float *scores);

    /* The best move of a document out of cluster `own` of a group to another of it; of equal ones
     * the first. dot[GF_GROUP], aligned to 64 bytes, becomes its products with the sums. */
    gf_near_move (*near)(const gf_near_sums *sums, gf_row_view row, uint32_t own, float *dot);
} gf_kernels;

/**
 * The fastest kernels that this processor runs, or those that GROUPERFISH_SIMD names ("portable",
 * "avx2", "avx512", "neon") where it runs them.
 */
const gf_kernels *gf_scoring_kernels_choose(void);

/** Kernels by name; NULL where they are unknown or this processor cannot run them. */
const gf_kernels *gf_scoring_kernels_named(const char *name);

/**
 * Similarity of a row to one column's centre, in double precision: the sum over the row's terms in
 * their order. Cost: a step for each term of the row; where the term has postings log of them.
 */
double gf_centre_index_similarity(const gf_centre_index *index, gf_row_view row, uint32_t column);

/** The most similar centre and the second. */
typedef struct gf_nearest_two {
    uint32_t cluster, runner_up;  /* runner_up: UINT32_MAX where k is 1 */
    double similarity, of_second; /* of_second: 0 where k is 1 */
} gf_nearest_two;

/**
 * The kernels find the two among all centres; their similarities are then worked out, and compared
 * once more, in double precision. So what is told of a row does not depend on the kernel, but where
 * a third centre is as near as its error.
 *
 * @param likely  a cluster that is probably among them, which saves time where it is; UINT32_MAX:
 *                none is known
 * @param scores  room as for gf_kernels.score; where the index has ceilings, as for search
 */
gf_nearest_two gf_centre_index_nearest(const gf_centre_index *index, const gf_kernels *kernels,
                                       gf_row_view row, uint32_t likely, float *scores);

/** Whether rows that have all terms may be scored by score_full: each term is dense. */
static inline bool gf_centre_index_is_full(const gf_centre_index *index)
{
    return index->n_terms && index->n_dense == index->n_terms;
}

/** The same of a row whose scores on all columns are known; the padding is overwritten. */
gf_nearest_two gf_centre_index_nearest_scored(const gf_centre_index *index,
                                              const gf_kernels *kernels, gf_row_view row,
                                              float *scores);

#endif
