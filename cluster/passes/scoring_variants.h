/**
 * The variants of the scoring kernels. For cluster/ itself.
 */
#ifndef GF_CLUSTER_PASSES_SCORING_VARIANTS_H
#define GF_CLUSTER_PASSES_SCORING_VARIANTS_H

#include "cluster/passes/centre_index.h"

extern const gf_kernels gf_kernels_portable;
#if defined(__x86_64__)
extern const gf_kernels gf_kernels_avx2;
extern const gf_kernels gf_kernels_avx512;
#elif defined(__aarch64__)
extern const gf_kernels gf_kernels_neon;
#endif

#endif
