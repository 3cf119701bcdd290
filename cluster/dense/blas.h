/**
 * The products of OpenBLAS, which is loaded when the first is asked for.
 *
 * Only dense rows need it, and loading it starts a thread for each further processor, which spin for
 * a while: more than all else that a process does to look up one document.
 */
#ifndef GF_CLUSTER_DENSE_BLAS_H
#define GF_CLUSTER_DENSE_BLAS_H

#include "grouperfish/status.h"

#include <stdint.h>

/** Load it, with one thread for each call. May be called again. GF_EIO where it cannot be. */
gf_status gf_blas_load(gf_error *err);

/**
 * scores[n x k] = x[n x d] times the transpose of y[k x d], all row by row. Once it is loaded; by
 * any number of threads.
 */
void gf_blas_products(const float *x, uint32_t n, const float *y, uint32_t k, uint32_t d,
                      float *scores);

#endif
