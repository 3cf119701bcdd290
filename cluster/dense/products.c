#include "cluster/dense/products.h"

#include "cluster/passes/centre_index.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum {
    TILE_ROWS = 6,  /* of a tile: with two vectors a row its sums fill twelve registers */
    DEPTH = 256,    /* terms of a panel, which the first cache holds */
    BLOCK = 256,    /* rows whose part of a panel's terms the second cache holds */
    GRAM_ROWS = 4,  /* of a tile of a Gram matrix */
    GRAM_BLOCK = 64 /* rows that are added to all tiles of it at once */
};

#define LANES   4
#define NAME(n) n##_portable
#define TARGET
#include "cluster/dense/products_kernel.inc"

#if defined(__x86_64__)
#define LANES   8
#define NAME(n) n##_avx2
#define TARGET  __attribute__((target("avx2")))
#include "cluster/dense/products_kernel.inc"

static bool has_avx2(void)
{
    return gf_scoring_kernels_choose() != gf_scoring_kernels_named("portable");
}
#endif

void gf_products(const float *x, uint32_t n, const float *y, uint32_t k, uint32_t d, float *scores)
{
    void (*multiply)(const float *, uint32_t, const float *, uint32_t, uint32_t, float *) =
        multiply_portable;
#if defined(__x86_64__)
    if (has_avx2()) multiply = multiply_avx2;
#endif
    for (uint32_t i = 0; i < n; i += BLOCK)
        multiply(x + (size_t)i * d, n - i < BLOCK ? n - i : BLOCK, y, k, d, scores + (size_t)i * k);
}

void gf_products_add_gram(const double *x, uint32_t n, uint32_t d, double *gram)
{
    void (*add_gram)(const double *, uint32_t, uint32_t, double *) = add_gram_portable;
    assert(d % GF_PRODUCTS_WIDTH == 0);
#if defined(__x86_64__)
    if (has_avx2()) add_gram = add_gram_avx2;
#endif
    for (uint32_t i = 0; i < n; i += GRAM_BLOCK)
        add_gram(x + (size_t)i * d, n - i < GRAM_BLOCK ? n - i : GRAM_BLOCK, d, gram);
}
