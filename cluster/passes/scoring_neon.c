/* The kernels for 64-bit ARM processors, which all have NEON and fuse multiply-add. */
#include <arm_neon.h>
#include <stdint.h>

static inline uint32_t bits_that_reach(float32x4_t a, float32x4_t b)
{
    const uint32x4_t bit = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcgeq_f32(a, b), bit));
}

#define GF_KERNEL(name)  name##_neon
#define GF_KERNEL_NAME   "neon"
#define GF_LANES         4
#define GF_REACHES(a, b) bits_that_reach((float32x4_t)(a), (float32x4_t)(b))

#include "cluster/passes/scoring_kernel.inc"
#include "cluster/passes/scoring_variants.h"
