/**
 * Near-duplicates: rows whose cosine is at least a bound, in groups around representatives.
 *
 * Rows come in an order, such as that of time; rows that are equal bit for bit count as one row, at
 * the place of the first. In this order a row is
 *
 *     a representative   where no representative before it has a cosine >= least with it
 *     a member           of the representative before it that has the largest cosine, else
 *
 * (of several with the same cosine the first). So each member is at least so near to what stands for it,
 * no two representatives are as near to each other, each group is begun by its first row, and rows
 * that come later change no group of those before them. The groups of a partition into connected
 * components promise none of this: a chain of small changes joins rows that have nothing in common.
 *
 *     cosine(x, y) = x.y / (|x| |y|)     products in double by rising column; at most 1
 *
 * A row without entries, or of zeros, is like no other.
 *
 * What is told is exact: no bound leaves out a pair whose cosine, as computed so, is >= least.
 */
#ifndef GF_CLUSTER_NEAR_DUPLICATES_H
#define GF_CLUSTER_NEAR_DUPLICATES_H

#include "base/pool.h"
#include "grouperfish/csr.h"

typedef struct gf_duplicates {
    uint32_t n;      /* rows */
    uint32_t *of;    /* n: the row of the representative; its own where it is one, or alone */
    double *cosine;  /* n: with that row; 1 of a representative */
    uint32_t groups; /* representatives that have members */
    uint32_t copies; /* members of all groups */

    /* For whoever measures. */
    uint64_t distinct; /* rows that differ and have entries */
    uint64_t posted;   /* entries of these that may be posted */
    uint64_t met;      /* pairs that share a posted term, counted for each */
    uint64_t weighed;  /* pairs whose cosine was computed */
} gf_duplicates;

/**
 * Find the groups.
 *
 * @param pool    may be NULL; what comes out is the same for any number of threads
 * @param x       rows of any length, with values of any sign
 * @param order   n_rows: all rows, the first one first; NULL: as they are numbered
 * @param least   0 < least <= 1
 * @param cancel  may be NULL
 * @param[out] out  to be released; unchanged after a failure
 * @return GF_OK; GF_EINVAL (least); GF_ENOMEM; GF_ECANCELLED
 * Cost: for each row the postings of its rarest terms, until what is left of it is shorter than
 *       `least`, among representatives; a product of rows for each pair that may come to `least`.
 *       Time falls with a rising bound. Memory: 152 bytes a row, 36 for each posted entry (of short
 *       texts two or three a row at .8), 16 a term, and for each thread 4 a row and a term; 64 MiB
 *       at most for pairs of a block. No pairs are kept beyond it.
 * Source: S. Chaudhuri, V. Ganti, R. Kaushik, "A Primitive Operator for Similarity Joins in Data
 *         Cleaning", ICDE 2006 (prefixes of both sides); R. J. Bayardo, Y. Ma, R. Srikant, "Scaling
 *         Up All Pairs Similarity Search", WWW 2007; D. C. Anastasiu, G. Karypis, "L2AP: Fast Cosine
 *         Similarity Search With Prefix L-2 Norm Bounds", ICDE 2014.
 */
gf_status gf_duplicates_find(gf_pool *pool, const gf_csr *x, const uint32_t *order, double least,
                             const gf_cancel *cancel, gf_duplicates *out, gf_error *err);
void gf_duplicates_release(gf_duplicates *duplicates);

#endif
