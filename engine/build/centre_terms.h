/**
 * How fast the terms of clusters grow (cluster/measure/term_growth.h), read off a sample of the
 * documents.
 */
#ifndef GF_ENGINE_BUILD_CENTRE_TERMS_H
#define GF_ENGINE_BUILD_CENTRE_TERMS_H

#include "base/pool.h"
#include "grouperfish/cancel.h"
#include "grouperfish/csr.h"

/**
 * The a of that law, by the terms of up to a hundred clusters of the sample, which are made quickly.
 *
 * @param x  rows of the sample
 * @param k  clusters that there will be of all documents: the sample's are no more
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED
 * Cost: some 0.1 s for 20,000 posts; memory: a copy of x, and k-means.
 */
gf_status gf_centre_terms_fit(gf_pool *pool, const gf_csr *x, uint32_t k, const gf_cancel *cancel,
                              double *a, gf_error *err);

#endif
