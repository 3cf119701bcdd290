/**
 * Figures of clusters that need no classes: do their terms stand together in documents, and does
 * the label find the members?
 *
 * Documents are rows, and "a document has a term" means that its row has an entry for it. In one
 * walk over all rows, for each cluster that a row has a watched term of, a mask of 32 bits says
 * which of them it has:
 *
 *     bit   0 .. 9     the cluster's heaviest terms: pairs of them are counted
 *           10 .. 31   terms of the words of its label: the label finds the row where it has all
 *                      those of one of the label's parts ("gas / electricity" has two)
 *
 * With n documents, of which n_i have term i and n_ij both i and j:
 *
 *     npmi(i, j) = ln(n n_ij / (n_i n_j)) / ln(n / n_ij)      -1..1; -1: never together, 0: as
 *                                                             chance has it, 1: always
 *     npmi       = the mean over all pairs of the cluster's terms
 *
 * Sums are of integers: the results depend neither on the order of the rows nor on who counts them.
 *
 * Source: Lau, Newman & Baldwin, EACL (2014) 530-539, and Roeder, Both & Hinneburg, WSDM (2015)
 *         399-408: normalised pointwise mutual information of a topic's ten terms, here over whole
 *         documents of the collection itself.
 */
#ifndef GF_CLUSTER_MEASURE_FIGURES_H
#define GF_CLUSTER_MEASURE_FIGURES_H

#include "grouperfish/csr.h"
#include "grouperfish/status.h"

enum {
    GF_FIGURES_TERMS = 10,
    GF_FIGURES_PAIRS = GF_FIGURES_TERMS * (GF_FIGURES_TERMS - 1) / 2,
    GF_FIGURES_WORDS = 32 - GF_FIGURES_TERMS, /* of a label, all its parts together */
    GF_FIGURES_PARTS = 2
};

/** The terms that are watched for one cluster. */
typedef struct gf_figures_watch {
    uint32_t term[GF_FIGURES_TERMS]; /* n_terms: distinct, heaviest first */
    uint32_t word[GF_FIGURES_WORDS]; /* n_words: distinct terms of the label's words */
    uint32_t n_terms, n_words;
    uint32_t part[GF_FIGURES_PARTS]; /* bit w: the part has word[w]; 0: there is no such part */
} gf_figures_watch;

/** The documents of a cluster's terms and of its label. */
typedef struct gf_figures_count {
    uint32_t with[GF_FIGURES_TERMS];     /* documents that have the term */
    uint32_t together[GF_FIGURES_PAIRS]; /* both of a pair: see gf_figures_pair */
    uint32_t found, members;             /* documents that the label finds; members among them */
} gf_figures_count;

/** The place of the pair of terms i < j. */
static inline uint32_t gf_figures_pair(uint32_t i, uint32_t j)
{
    return j * (j - 1) / 2 + i;
}

/** The clusters that watch each term. */
typedef struct gf_figures_index {
    uint32_t k, n_cols;
    const gf_figures_watch *watch; /* k: borrowed */
    uint32_t *start;               /* n_cols + 1 */
    uint32_t *cluster;             /* start[n_cols] */
    uint8_t *bit;                  /* start[n_cols] */
} gf_figures_index;

/** GF_OK; GF_ENOMEM, and *index is empty. Memory: 4 bytes a column, at most 160 a cluster. */
gf_status gf_figures_index_init(gf_figures_index *index, const gf_figures_watch *watch, uint32_t k,
                                uint32_t n_cols, gf_error *err);
void gf_figures_index_release(gf_figures_index *index);

/** Counts of one thread. */
typedef struct gf_figures_tally {
    gf_figures_count *counts; /* k: but `with` */
    uint32_t *with;           /* n_cols: documents that have the term */
    uint32_t *mask;           /* k: 0 between rows */
    uint32_t *touched;        /* k */
} gf_figures_tally;

/** GF_OK; GF_ENOMEM, and *tally is empty. Memory: 240 bytes a cluster, 4 a column. */
gf_status gf_figures_tally_init(gf_figures_tally *tally, const gf_figures_index *index,
                                gf_error *err);
void gf_figures_tally_release(gf_figures_tally *tally);

/**
 * Count a row.
 * @param cluster  the row's own, or any number from k on where it is in none
 * Cost: its entries, for each the clusters that watch its term, and for each of these that watches
 * another term of the row the pairs that it has of them.
 */
void gf_figures_tally_add(gf_figures_tally *tally, const gf_figures_index *index, gf_row_view row,
                          uint32_t cluster);

/** Add what a thread counted of a cluster. */
void gf_figures_count_add(gf_figures_count *count, const gf_figures_tally *tally,
                          const gf_figures_index *index, uint32_t cluster);

/** The mean NPMI of n_terms terms, -1..1; NAN where there are not two. */
double gf_figures_npmi(const gf_figures_count *count, uint32_t n_terms, uint64_t n_documents);

#endif
