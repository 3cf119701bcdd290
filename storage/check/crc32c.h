/**
 * CRC-32C (Castagnoli), as LevelDB's files carry it, and its masked form.
 */
#ifndef GF_STORAGE_CHECK_CRC32C_H
#define GF_STORAGE_CHECK_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/** The CRC of `bytes` behind those that gave `crc` (0 to begin). */
uint32_t gf_crc32c(uint32_t crc, const void *bytes, size_t n);

/** A CRC as LevelDB stores it, so that a CRC over stored CRCs stays meaningful. */
static inline uint32_t gf_crc32c_mask(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

#endif
