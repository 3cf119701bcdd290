/* The kernels for processors with AVX-512; compiled with -mavx512f -mavx512vl -mavx512dq -mfma. */
#include <immintrin.h>

#define GF_KERNEL(name)  name##_avx512
#define GF_KERNEL_NAME   "avx512"
#define GF_LANES         16
#define GF_REACHES(a, b) _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_GE_OQ)

#include "cluster/passes/scoring_kernel.inc"
#include "cluster/passes/scoring_variants.h"
