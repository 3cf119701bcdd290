/**
 * How probable word counts are, given groups of documents: what tells the better of two clusterings
 * of the same documents, however each was found. The objective of k-means does not, for it says
 * nothing about how the words of a document go together.
 *
 * Of a mixture of multinomials whose word and size distributions have a symmetric Dirichlet prior,
 * both integrated out (b = 0.1 for each word, a = 0.1 for each cluster):
 *
 *     sum over clusters  lnG(V b) - lnG(n_c + V b)
 *                        + sum over its words  lnG(n_cw + b) - lnG(b)
 *                        + lnG(m_c + a) - lnG(a)
 *     + lnG(k a) - lnG(n + k a)
 *
 * with the words of all documents V, a cluster's occurrences n_cw of a word and n_c of all, its
 * documents m_c, all documents n.
 *
 * Source: Biernacki, Celeux & Govaert, IEEE PAMI 22 (2000) 719-725 (integrated likelihood of the
 * data with their labels).
 */
#ifndef GF_CLUSTER_MIXTURE_LIKELIHOOD_H
#define GF_CLUSTER_MIXTURE_LIKELIHOOD_H

#include "cluster/mixture/refinement.h"

/**
 * @param x      [n x V]: values are looked at by refinement->count alone, which must not be NULL
 * @param label  n: 0..k-1
 * @param k      at least 1; clusters may be empty
 * @param[out] likelihood  its logarithm, below 0
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED. The same bits for any number of threads.
 * Cost:   a pass over the entries, and a logarithm of gamma for each word of each cluster; memory
 *         13 x threads x V, 4 x n.
 */
gf_status gf_mixture_likelihood(gf_pool *pool, const gf_refinement *refinement, const gf_csr *x,
                                const uint32_t *label, uint32_t k, const gf_cancel *cancel,
                                double *likelihood, gf_error *err);

#endif
