#include "base/distinct.h"

#include <math.h>

enum { RANK_BITS = 64 - GF_DISTINCT_BITS }; /* ranks: 1..RANK_BITS + 1; 0: no value */

int gf_distinct_add(gf_distinct *d, uint64_t hash)
{
    unsigned i = (unsigned)(hash >> RANK_BITS);
    uint64_t rest = hash << GF_DISTINCT_BITS;
    uint8_t rank = rest ? (uint8_t)(__builtin_clzll(rest) + 1) : RANK_BITS + 1;
    if (rank <= d->rank[i]) return -1;
    d->rank[i] = rank;
    return (int)i;
}

void gf_distinct_merge(gf_distinct *d, const gf_distinct *other)
{
    for (int i = 0; i < GF_DISTINCT_REGISTERS; i++)
        if (d->rank[i] < other->rank[i]) d->rank[i] = other->rank[i];
}

/* x + sum of x^(2^k) 2^(k-1), k = 1, 2, ...; x in 0..1. Ertl, (15). */
static double sigma(double x)
{
    double y = 1, z = x, before;
    if (x >= 1) return INFINITY;
    do {
        x *= x;
        before = z;
        z += x * y;
        y += y;
    } while (z > before);
    return z;
}

/* (1 - x - sum of (1 - x^(2^-k))^2 2^-k, k = 1, 2, ...) / 3; x in 0..1. Ertl, (22). */
static double tau(double x)
{
    double y = 1, z = 1 - x, before;
    if (x <= 0 || x >= 1) return 0;
    do {
        x = sqrt(x);
        before = z;
        y *= 0.5;
        z -= (1 - x) * (1 - x) * y;
    } while (z < before);
    return z / 3;
}

uint64_t gf_distinct_estimate(const gf_distinct *d)
{
    static const double m = GF_DISTINCT_REGISTERS, ln_2 = 0.69314718055994530942;
    uint32_t counts[RANK_BITS + 2] = {0};
    for (int i = 0; i < GF_DISTINCT_REGISTERS; i++)
        counts[d->rank[i] <= RANK_BITS ? d->rank[i] : RANK_BITS + 1]++;
    double z = m * tau(1 - counts[RANK_BITS + 1] / m);
    for (int k = RANK_BITS; k >= 1; k--)
        z = 0.5 * (z + counts[k]);
    z += m * sigma(counts[0] / m);
    return (uint64_t)(m * m / (2 * ln_2 * z) + 0.5);
}
