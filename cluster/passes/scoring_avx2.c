/* The kernels for processors with AVX2 and FMA; compiled with -mavx2 -mfma. */
#include <immintrin.h>

#define GF_KERNEL(name) name##_avx2
#define GF_KERNEL_NAME  "avx2"
#define GF_LANES        8
#define GF_REACHES(a, b)                                                                           \
    (uint32_t) _mm256_movemask_ps(_mm256_cmp_ps((__m256)(a), (__m256)(b), _CMP_GE_OQ))

#include "cluster/passes/scoring_kernel.inc"
#include "cluster/passes/scoring_variants.h"
