/**
 * The eigenvectors of LAPACKE, which is loaded when they are first asked for, as OpenBLAS is
 * (blas.h): from OpenBLAS where that has it, else from the library of that name.
 */
#ifndef GF_CLUSTER_DENSE_LAPACK_H
#define GF_CLUSTER_DENSE_LAPACK_H

#include "grouperfish/status.h"

#include <stdint.h>

/** Load it and OpenBLAS. May be called again. GF_EIO where one of them cannot be. */
gf_status gf_lapack_load(gf_error *err);

/**
 * Eigenvalues and eigenvectors of a symmetric matrix, by divide and conquer (dsyevd). Once LAPACKE
 * is loaded.
 *
 * @param[in,out] a  d * d, of which one triangle is read (that of columns up to the row); then
 *                   eigenvector i, of unit length, in a[i * d ..]
 * @param[out] value d, rising
 * @return GF_OK; GF_ENOMEM; GF_EINVAL where it does not converge, as with entries not finite
 */
gf_status gf_lapack_eigen(double *a, uint32_t d, double *value, gf_error *err);

#endif
