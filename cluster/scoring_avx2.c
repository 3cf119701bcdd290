/* The kernels for processors with AVX2 and FMA; compiled with -mavx2 -mfma. */
#define GF_KERNEL(name) name##_avx2
#define GF_KERNEL_NAME  "avx2"
#define GF_LANES        8

#include "cluster/scoring_kernel.inc"
#include "cluster/scoring_variants.h"
