#include "support/test.h"

#include "base/random.h"
#include "storage/check/crc32c.h"

#include <string.h>

/* Bit by bit, from the definition. */
static uint32_t slow_crc(const unsigned char *p, size_t n)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
    }
    return ~crc;
}

/* RFC 3720, appendix B.4, and the usual check value. */
static void known_vectors(void **state)
{
    (void)state;
    unsigned char bytes[32];
    assert_int_equal(gf_crc32c(0, "123456789", 9), 0xE3069283u);
    assert_int_equal(gf_crc32c(0, "", 0), 0);
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(gf_crc32c(0, bytes, 32), 0x8A9136AAu);
    memset(bytes, 0xFF, sizeof bytes);
    assert_int_equal(gf_crc32c(0, bytes, 32), 0x62A8AB43u);
    for (unsigned char i = 0; i < 32; i++)
        bytes[i] = i;
    assert_int_equal(gf_crc32c(0, bytes, 32), 0x46DD794Eu);
    for (unsigned char i = 0; i < 32; i++)
        bytes[i] = (unsigned char)(31 - i);
    assert_int_equal(gf_crc32c(0, bytes, 32), 0x113FDB5Cu);
}

/* LevelDB's mask: rotate right by 15 bits, add a constant. */
static void masks(void **state)
{
    (void)state;
    assert_int_equal(gf_crc32c_mask(0), 0xA282EAD8u);
    assert_int_equal(gf_crc32c_mask(0x00008000u), 0xA282EAD9u);
    assert_int_equal(gf_crc32c_mask(0x00000001u), 0xA284EAD8u);
}

static void equals_the_definition(void **state)
{
    (void)state;
    static unsigned char bytes[600];
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)gf_random_below(&r, 256);
    for (int i = 0; i < 2000; i++) {
        size_t from = (size_t)gf_random_below(&r, 16), n = (size_t)gf_random_below(&r, 500);
        size_t first = (size_t)gf_random_below(&r, n + 1);
        uint32_t want = slow_crc(bytes + from, n);
        assert_int_equal(gf_crc32c(0, bytes + from, n), want);
        uint32_t crc = gf_crc32c(0, bytes + from, first);
        assert_int_equal(gf_crc32c(crc, bytes + from + first, n - first), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_vectors),
        cmocka_unit_test(masks),
        cmocka_unit_test(equals_the_definition),
    };
    return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
