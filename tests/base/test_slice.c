#include "support/test.h"

#include "base/random.h"

static const gf_slice empty_null = {NULL, 0};

static void empty_slices_are_equal(void **state)
{
    (void)state;
    gf_slice empty = GF_SLICE(""), word = GF_SLICE("word");
    assert_true(gf_slice_equal(empty, empty_null));
    assert_int_equal(gf_slice_compare(empty, empty_null), 0);
    assert_true(gf_slice_starts(empty_null, empty_null));
    assert_true(gf_slice_starts(word, empty_null));
    assert_true(gf_slice_ends(word, empty_null));
    assert_false(gf_slice_starts(empty_null, word));
    assert_false(gf_slice_ends(empty_null, word));
    assert_true(gf_slice_compare(empty_null, word) < 0);
    assert_int_equal(gf_slice_skip(empty_null, 0).len, 0);
    assert_int_equal(gf_slice_str(NULL).len, 0);
}

static void bytes_order_as_unsigned_numbers(void **state)
{
    (void)state;
    gf_slice rising[] = {GF_SLICE(""),     GF_SLICE("\0"),      GF_SLICE("\0\0"), GF_SLICE("a"),
                         GF_SLICE("a\0"),  GF_SLICE("ab"),      GF_SLICE("b"),    GF_SLICE("\x80"),
                         GF_SLICE("\xFF"), GF_SLICE("\xFF\xFF")};
    size_t n = sizeof rising / sizeof rising[0];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            int order = gf_slice_compare(rising[i], rising[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
            assert_int_equal(gf_slice_equal(rising[i], rising[j]), i == j);
        }
}

/* Byte by byte, without memcmp. */
static int compare_bytes(gf_slice a, gf_slice b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++)
        if (a.ptr[i] != b.ptr[i]) return (unsigned char)a.ptr[i] < (unsigned char)b.ptr[i] ? -1 : 1;
    return (a.len > b.len) - (a.len < b.len);
}

static gf_slice random_slice(gf_random *r, char *bytes)
{
    static const char alphabet[] = {0, 'a', '\x7F', '\x80', '\xFF'};
    size_t n = gf_random_below(r, 5);
    for (size_t i = 0; i < n; i++)
        bytes[i] = alphabet[gf_random_below(r, sizeof alphabet)];
    return gf_slice_of(bytes, n);
}

static void agrees_with_a_loop_over_the_bytes(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    char a_bytes[5], b_bytes[5];
    for (int i = 0; i < 100000; i++) {
        gf_slice a = random_slice(&r, a_bytes), b = random_slice(&r, b_bytes);
        int order = gf_slice_compare(a, b);
        assert_int_equal((order > 0) - (order < 0), compare_bytes(a, b));
        assert_int_equal(gf_slice_equal(a, b), compare_bytes(a, b) == 0);
        int starts = b.len <= a.len && compare_bytes(gf_slice_of(a.ptr, b.len), b) == 0;
        int ends = b.len <= a.len && compare_bytes(gf_slice_skip(a, a.len - b.len), b) == 0;
        assert_int_equal(gf_slice_starts(a, b), starts);
        assert_int_equal(gf_slice_ends(a, b), ends);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_slices_are_equal),
        cmocka_unit_test(bytes_order_as_unsigned_numbers),
        cmocka_unit_test(agrees_with_a_loop_over_the_bytes),
    };
    return cmocka_run_group_tests_name("slice", tests, NULL, NULL);
}
