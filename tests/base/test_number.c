/* Numbers as text: what is read, what is refused, in any locale. */
#include "base/number.h"
#include "tests/support/test.h"

#include <locale.h>

static void whole_numbers_are_read(void **state)
{
    uint64_t v = 7;
    gf_number_digits digits;
    (void)state;
    assert_true(gf_number_read(GF_SLICE("0"), &v) && v == 0);
    assert_true(gf_number_read(GF_SLICE("0042"), &v) && v == 42);
    assert_true(gf_number_read(GF_SLICE("18446744073709551615"), &v) && v == UINT64_MAX);
    assert_slice(gf_number_write(&digits, UINT64_MAX), "18446744073709551615");
    assert_slice(gf_number_write(&digits, 0), "0");
}

static void other_text_is_no_number(void **state)
{
    uint64_t v = 7;
    (void)state;
    const char *const wrong[] = {"",
                                 "-1",
                                 "+1",
                                 " 1",
                                 "1 ",
                                 "1.0",
                                 "0x1",
                                 "1e3",
                                 "18446744073709551616",
                                 "000000000000000000001"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(gf_number_read(gf_slice_str(wrong[i]), &v));
    assert_int_equal(v, 7);
}

static void digits_are_taken_off_a_text(void **state)
{
    gf_slice text = GF_SLICE("20150221T08");
    uint64_t v;
    (void)state;
    assert_true(gf_number_take(&text, 4, &v) && v == 2015);
    assert_true(gf_number_take(&text, 2, &v) && v == 2);
    assert_true(gf_number_take(&text, 9, &v) && v == 21);
    assert_slice(text, "T08");
    assert_false(gf_number_take(&text, 9, &v));
    assert_slice(text, "T08");
}

static void numbers_may_have_a_sign(void **state)
{
    int64_t v = 7;
    (void)state;
    assert_true(gf_number_read_signed(GF_SLICE("-9223372036854775808"), &v) && v == INT64_MIN);
    assert_true(gf_number_read_signed(GF_SLICE("9223372036854775807"), &v) && v == INT64_MAX);
    assert_true(gf_number_read_signed(GF_SLICE("-0"), &v) && v == 0);
    assert_true(gf_number_read_signed(GF_SLICE("0000000000000000000000012"), &v) && v == 12);
    const char *const wrong[] = {"",   "-", "+1", "9223372036854775808", "-9223372036854775809",
                                 "1-", " 1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(gf_number_read_signed(gf_slice_str(wrong[i]), &v));
    assert_int_equal(v, 12);
}

static void decimals_have_a_point_in_any_locale(void **state)
{
    double v = 7;
    (void)state;
    const char *before = setlocale(LC_ALL, NULL);
    char kept[64];
    snprintf(kept, sizeof kept, "%s", before);
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) setlocale(LC_ALL, "");
    assert_true(gf_number_read_decimal(GF_SLICE("-1.5e3"), &v) && v == -1500);
    assert_true(gf_number_read_decimal(GF_SLICE("0.25"), &v) && v == 0.25);
    const char *const wrong[] = {"", "1,5", "nan", "inf", "1e999", "0x10", "1 ", " 1", "1.5.2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(gf_number_read_decimal(gf_slice_str(wrong[i]), &v));
    assert_true(v == 0.25);
    setlocale(LC_ALL, kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_read),
        cmocka_unit_test(other_text_is_no_number),
        cmocka_unit_test(digits_are_taken_off_a_text),
        cmocka_unit_test(numbers_may_have_a_sign),
        cmocka_unit_test(decimals_have_a_point_in_any_locale),
    };
    return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
