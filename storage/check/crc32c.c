/*
 * CRC-32C by tables, eight bytes a step ("slicing by 8").
 * Source: Kounavis & Berry, "A systematic approach to building high performance software-based CRC
 * generators", ISCC 2005.
 */
#include "storage/check/crc32c.h"

#include <pthread.h>

enum { POLYNOMIAL_TABLES = 8 };
#define POLYNOMIAL 0x82F63B78u /* reflected */

static uint32_t tables[POLYNOMIAL_TABLES][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
        tables[0][i] = crc;
    }
    for (int t = 1; t < POLYNOMIAL_TABLES; t++)
        for (int i = 0; i < 256; i++)
            tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xFF];
}

static uint32_t read_u32le(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t gf_crc32c(uint32_t crc, const void *bytes, size_t n)
{
    pthread_once(&once, fill_tables);
    const unsigned char *p = bytes;
    crc = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t low = read_u32le(p) ^ crc, high = read_u32le(p + 4);
        crc = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^
              tables[4][low >> 24] ^ tables[3][high & 0xFF] ^ tables[2][high >> 8 & 0xFF] ^
              tables[1][high >> 16 & 0xFF] ^ tables[0][high >> 24];
    }
    for (; n; n--, p++)
        crc = crc >> 8 ^ tables[0][(crc ^ *p) & 0xFF];
    return ~crc;
}
