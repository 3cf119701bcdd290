#include "base/murmur.h"

static uint32_t read_u32le(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The up to three bytes behind the last whole word, as a little-endian number. */
static uint32_t read_rest(const unsigned char *p, size_t n)
{
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++)
        v |= (uint32_t)p[i] << (8 * i);
    return v;
}

uint32_t gf_murmur2(gf_slice bytes, uint32_t seed)
{
    const uint32_t m = 0x5bd1e995;
    const unsigned char *p = (const unsigned char *)bytes.ptr;
    size_t n = bytes.len;
    uint32_t h = seed ^ (uint32_t)n;
    for (; n >= 4; p += 4, n -= 4) {
        uint32_t k = read_u32le(p) * m;
        k = (k ^ k >> 24) * m;
        h = h * m ^ k;
    }
    if (n) h = (h ^ read_rest(p, n)) * m;
    h = (h ^ h >> 13) * m;
    return h ^ h >> 15;
}

static uint32_t rotate(uint32_t v, int by)
{
    return v << by | v >> (32 - by);
}

static uint32_t scramble(uint32_t k)
{
    return rotate(k * 0xcc9e2d51, 15) * 0x1b873593;
}

uint32_t gf_murmur3(gf_slice bytes, uint32_t seed)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr;
    size_t n = bytes.len;
    uint32_t h = seed;
    for (; n >= 4; p += 4, n -= 4)
        h = rotate(h ^ scramble(read_u32le(p)), 13) * 5 + 0xe6546b64;
    if (n) h ^= scramble(read_rest(p, n));
    h ^= (uint32_t)bytes.len;
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}
