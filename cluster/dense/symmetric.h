/**
 * Small symmetric matrices: an orthogonal basis by their products, and their eigenvectors. Sums are
 * made in one order, and of libm only sqrt is called, which IEEE 754 rounds exactly: every
 * processor gives the same bytes.
 */
#ifndef GF_CLUSTER_DENSE_SYMMETRIC_H
#define GF_CLUSTER_DENSE_SYMMETRIC_H

#include "grouperfish/status.h"

#include <stdint.h>

/**
 * Combinations of d vectors that are orthogonal and of unit length, from the vectors' Gram matrix:
 * the inverse of its Cholesky factor, the vector with the longest remainder first.
 *
 * @param gram        d * d, symmetric
 * @param[out] basis  d * d, of which *rank rows are set: the coefficients of a combination each
 * @param[out] rank   0..d: vectors whose remainder is a smaller share of the longest vector (both
 *                    squared) than `least` are left out
 * @return GF_OK; GF_ENOMEM
 * Cost:   d^3 / 3 multiplications.
 */
gf_status gf_symmetric_basis(const double *gram, uint32_t d, double least, double *basis,
                             uint32_t *rank, gf_error *err);

/**
 * Eigenvalues and eigenvectors.
 *
 * @param[in,out] a   d * d, symmetric; then eigenvector i, of unit length, in a[i * d ..]
 * @param[out] value  d, falling
 * @return GF_OK; GF_ENOMEM; GF_EINVAL where it does not converge, as with entries not finite
 * Cost:   about 8 d^3 multiplications.
 * Source: Golub & Van Loan, Matrix Computations, 4th edition, algorithms 8.3.1 (Householder's
 *         tridiagonalisation) and 8.3.3 (the symmetric QL algorithm with implicit shifts).
 */
gf_status gf_symmetric_eigen(double *a, uint32_t d, double *value, gf_error *err);

#endif
