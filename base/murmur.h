/**
 * Austin Appleby's MurmurHash in its two 32-bit forms. Not for hash tables of hostile keys: they
 * are here because stored formats name them.
 *
 * Source: MurmurHash2.cpp and MurmurHash3.cpp of SMHasher (public domain). Bytes are read
 * little-endian on every machine, so that the values are the same everywhere.
 */
#ifndef GF_BASE_MURMUR_H
#define GF_BASE_MURMUR_H

#include "grouperfish/slice.h"

#include <stdint.h>

/** MurmurHash2, 32 bits, of at most 4 GB. Cost: O(bytes). */
uint32_t gf_murmur2(gf_slice bytes, uint32_t seed);

/** MurmurHash3_x86_32, likewise. */
uint32_t gf_murmur3(gf_slice bytes, uint32_t seed);

#endif
