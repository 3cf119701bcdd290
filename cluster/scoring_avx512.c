/* The kernels for processors with AVX-512; compiled with -mavx512f -mavx512vl -mavx512dq -mfma. */
#define GF_KERNEL(name) name##_avx512
#define GF_KERNEL_NAME  "avx512"
#define GF_LANES        16

#include "cluster/scoring_kernel.inc"
#include "cluster/scoring_variants.h"
