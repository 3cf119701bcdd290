/**
 * Where a number is, or would be, among numbers that rise: by halves.
 */
#ifndef GF_BASE_LOWER_BOUND_H
#define GF_BASE_LOWER_BOUND_H

#include <stdint.h>

/**
 * The place of the first number that is not below; n: there is none.
 *
 * @param rising  n
 * Cost: log2(n) comparisons.
 */
static inline uint32_t gf_lower_bound(const uint32_t *rising, uint32_t n, uint32_t number)
{
    uint32_t from = 0, to = n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (rising[middle] < number)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

#endif
