/**
 * Seeded pseudo-random numbers: the same seed gives the same numbers on every machine.
 * Source: Blackman & Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47 (2021)
 * (xoshiro256**), seeded by splitmix64. Not for secrets.
 */
#ifndef GF_BASE_RANDOM_H
#define GF_BASE_RANDOM_H

#include <stdint.h>

typedef struct gf_random {
    uint64_t s[4];
} gf_random;

/** A generator; different streams of one seed are independent. */
gf_random gf_random_seed(uint64_t seed, uint64_t stream);

uint64_t gf_random_u64(gf_random *r);

/** Uniform in 0..bound-1, without bias; bound >= 1. */
uint64_t gf_random_below(gf_random *r, uint64_t bound);

/** Uniform in [0, 1), a multiple of 2^-53. */
double gf_random_unit(gf_random *r);

#endif
