#include "base/random.h"

#include <assert.h>

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

gf_random gf_random_seed(uint64_t seed, uint64_t stream)
{
    uint64_t state = seed;
    state = splitmix64(&state) ^ stream;
    gf_random r;
    for (int i = 0; i < 4; i++)
        r.s[i] = splitmix64(&state);
    return r;
}

static uint64_t rotate_left(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

uint64_t gf_random_u64(gf_random *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t gf_random_below(gf_random *r, uint64_t bound)
{
    assert(bound >= 1);
    /* Numbers below 2^64 mod bound are drawn again, so that every remainder is equally likely. */
    uint64_t lowest = (0 - bound) % bound;
    for (;;) {
        uint64_t x = gf_random_u64(r);
        if (x >= lowest) return x % bound;
    }
}

double gf_random_unit(gf_random *r)
{
    return (double)(gf_random_u64(r) >> 11) * 0x1p-53;
}
