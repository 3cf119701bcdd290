/**
 * Products of dense matrices, in an order of operations of our own: every entry is a sum over its
 * terms in their order, each product and each sum rounded by itself. The vectors of a processor run
 * over entries and never over the terms of one, so every processor gives the same bytes.
 *
 * Threads: any number of them.
 */
#ifndef GF_CLUSTER_DENSE_PRODUCTS_H
#define GF_CLUSTER_DENSE_PRODUCTS_H

#include <stdint.h>

enum { GF_PRODUCTS_WIDTH = 8 /* columns of a matrix for gf_products_add_gram: a multiple of it */ };

/** scores[n x k] = x[n x d] times the transpose of y[k x d], all row by row. */
void gf_products(const float *x, uint32_t n, const float *y, uint32_t k, uint32_t d, float *scores);

/**
 * gram[d x d] += the products of the columns of x[n x d] with each other, for columns up to the
 * row; entries behind the diagonal are undefined. d is a multiple of GF_PRODUCTS_WIDTH.
 */
void gf_products_add_gram(const double *x, uint32_t n, uint32_t d, double *gram);

#endif
