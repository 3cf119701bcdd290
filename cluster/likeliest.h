/**
 * K-means with refinement from several kinds of start, of which the result is kept that makes the
 * documents' words most probable: the default start, and two from groups of documents as sums of
 * term vectors in latent semantic space (dense/lsa.h), in which a text of few words is near others
 * that say the same in other words. Where refinement does not pay (mixture/refinement.h), counts of
 * words tell too little, and the default start is the only one.
 */
#ifndef GF_CLUSTER_LIKELIEST_H
#define GF_CLUSTER_LIKELIEST_H

#include "cluster/kmeans.h"

/**
 * @param x        CSR [n x terms], rows of unit L2 length, each with an entry
 * @param options  with a refinement that counts words; those of the default start
 * @return as gf_kmeans_run; choice is that of the default start, passes and runs are those of the
 *         start that is kept. The likelihood (mixture/likelihood.h) is never below that of
 *         gf_kmeans_run. The same for any number of threads.
 * Cost:   some 2 runs more, and 2 latent semantic analyses of up to 200 dimensions: memory 1.7 KB
 *         a row and term.
 */
gf_status gf_kmeans_run_likeliest(gf_pool *pool, const gf_csr *x, const gf_kmeans_options *options,
                                  gf_kmeans *out, gf_error *err);

#endif
