/**
 * Numbers on a grid, whose sums are exact in any order.
 *
 * Values of rows are multiples of 2^-24, at most 1. A double holds whole multiples up to 2^53 of
 * them, so every partial sum of up to 2^29 such values (or of fewer, times whole weights) is exact:
 * no order of additions, no number of threads and no way of parting the rows changes a bit of it,
 * and what is taken away leaves what was there before. Rounding moves a value by at most 2^-25 =
 * 3e-8; a float of 0.5 or more is on the grid as it is.
 *
 * Scores are added as whole multiples of 2^-32 in 64 bits, to the same end.
 */
#ifndef GF_BASE_GRID_H
#define GF_BASE_GRID_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/** The largest change that gf_grid_round makes. */
#define GF_GRID_ERROR 0x1p-25

/** The multiple of 2^-24 nearest to v, of two the even one; beyond 2^27 coarser ones. */
static inline float gf_grid_round(double v)
{
    const double shift = 0x1.8p28; /* the last bit of such a double is worth 2^-24 */
    return (float)((v + shift) - shift);
}

static inline bool gf_grid_has(float v)
{
    return gf_grid_round((double)v) == v;
}

/** A score, times 2^32: sums of up to 2^31 scores of at most 1 fit. */
static inline int64_t gf_grid_score(double score)
{
    return (int64_t)llrint(score * 0x1p32);
}

/** The value of such a sum. */
static inline double gf_grid_sum(int64_t scores)
{
    return (double)scores * 0x1p-32;
}

#endif
