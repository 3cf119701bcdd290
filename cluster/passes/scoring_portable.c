/* The kernels for every processor: products and sums round one after the other. */
#define GF_KERNEL(name) name##_portable
#define GF_KERNEL_NAME  "portable"
#define GF_LANES        4

#include "cluster/passes/scoring_kernel.inc"
#include "cluster/passes/scoring_variants.h"
