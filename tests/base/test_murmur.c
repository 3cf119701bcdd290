/* MurmurHash 2 and 3 against values that others published, and their tails of 0 to 3 bytes. */
#include "base/murmur.h"

#include "support/test.h"

/* SYSTEMS B, check 1. */
static void test_tweets__check_1(void **state)
{
    (void)state;
    assert_int_equal(gf_murmur2(GF_SLICE("abc"), 0), 0x13577c9b);
    assert_int_equal(gf_murmur2(GF_SLICE("hello"), 0), 0xe56129cb);
    assert_int_equal(gf_murmur3(GF_SLICE(""), 0), 0x00000000);
    assert_int_equal(gf_murmur3(GF_SLICE("abc"), 0), 0xb3dd93fa);
    assert_int_equal(gf_murmur3(GF_SLICE("hello"), 0), 0x248bfa47);
}

/*
 * SMHasher's VerificationTest: hashes of the keys {}, {0}, {0, 1}, ... with seeds 256, 255, ...,
 * hashed again, give one number for each function.
 */
static uint32_t verification(uint32_t (*hash)(gf_slice, uint32_t))
{
    char key[256], hashes[256 * 4];
    for (int i = 0; i < 256; i++) {
        key[i] = (char)i;
        uint32_t h = hash(gf_slice_of(key, (size_t)i), (uint32_t)(256 - i));
        for (int b = 0; b < 4; b++)
            hashes[4 * i + b] = (char)(h >> (8 * b));
    }
    return hash(gf_slice_of(hashes, sizeof hashes), 0);
}

static void test_smhasher_verification(void **state)
{
    (void)state;
    assert_int_equal(verification(gf_murmur2), 0x27864C1E);
    assert_int_equal(verification(gf_murmur3), 0xB0F57EE3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tweets__check_1),
                                       cmocka_unit_test(test_smhasher_verification)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
