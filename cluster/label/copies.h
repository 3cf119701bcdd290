/**
 * Near-duplicates among the members of a cluster: which documents are like one that is ranked
 * before them, so that the best documents that are shown are different ones.
 *
 * The members come best first. Each is compared with the different ones before it, in their order,
 * and is a copy of the first with which its row has a cosine of GF_COPIES_LEAST or more; else it is
 * different itself. Only the first GF_COPIES_DIFFERENT different ones are compared with.
 *
 * Exact copies have a cosine of 1. At .8, texts that differ in a number, a link or a few words are
 * copies, and two that merely have a subject in common are not (docs/algorithms.md has a table). A
 * row of fewer than GF_COPIES_FEW terms says too little: there it is GF_COPIES_LEAST_OF_FEW.
 */
#ifndef GF_CLUSTER_LABEL_COPIES_H
#define GF_CLUSTER_LABEL_COPIES_H

#include "grouperfish/csr.h"

#define GF_COPIES_LEAST        .8
#define GF_COPIES_LEAST_OF_FEW .99

enum { GF_COPIES_DIFFERENT = 100, GF_COPIES_FEW = 3 };

/** Room for one thread; {0} to begin with. */
typedef struct gf_copies gf_copies;

/** @param n_terms  columns of the rows: 4 bytes of memory for each */
gf_status gf_copies_create(uint32_t n_terms, gf_copies **copies, gf_error *err);
void gf_copies_free(gf_copies *copies);

/**
 * @param x      [any x n_terms], rows of unit length; an empty one is like no other
 * @param row    n: the row of each member, best first
 * @param[out] first  n: the place of the member that each is a copy of, before it; its own place
 *                    where it is none
 * Cost: a step for each entry and each different member before it that has the term among its
 * heaviest; products of whole rows only where these may come to GF_COPIES_LEAST.
 * Source: R. J. Bayardo, Y. Ma, R. Srikant, "Scaling Up All Pairs Similarity Search", WWW 2007;
 * D. C. Anastasiu, G. Karypis, "L2AP: Fast Cosine Similarity Search With Prefix L-2 Norm Bounds",
 * ICDE 2014.
 */
gf_status gf_copies_find(gf_copies *copies, const gf_csr *x, const uint32_t *row, uint32_t n,
                         uint32_t *first, gf_error *err);

#endif
