/* Hexadecimal digits: written, read back, and refused where they are none. */
#include "base/hex.h"
#include "tests/support/test.h"

static void bytes_are_written_and_read_back(void **state)
{
    gf_buffer digits = {0}, bytes = {0};
    char all[256];
    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    gf_hex_append(&digits, gf_slice_of(all, 256));
    assert_int_equal(digits.len, 512);
    assert_slice(gf_slice_of(digits.ptr + 2 * 0xa5, 4), "a5a6");
    assert_true(gf_hex_read(gf_buffer_view(&digits), &bytes));
    assert_int_equal(bytes.len, 256);
    assert_memory_equal(bytes.ptr, all, 256);
    gf_buffer_reset(&bytes);
    assert_true(gf_hex_read(GF_SLICE("DEADbeef"), &bytes));
    assert_memory_equal(bytes.ptr, "\xde\xad\xbe\xef", 4);
    gf_buffer_release(&digits);
    gf_buffer_release(&bytes);
}

static void other_characters_are_no_digits(void **state)
{
    gf_buffer bytes = {0};
    (void)state;
    const char *const wrong[] = {"a", "0g", "0x12", "12 ", "1/", "1:", "@1", "G0", "`0"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(gf_hex_read(gf_slice_str(wrong[i]), &bytes));
    assert_int_equal(bytes.len, 0);
    assert_true(gf_hex_read((gf_slice){"", 0}, &bytes));
    assert_int_equal(gf_hex_digit('f'), 15);
    assert_int_equal(gf_hex_digit('A'), 10);
    assert_int_equal(gf_hex_digit('g'), -1);
    assert_int_equal(gf_hex_digit((char)0xff), -1);
    gf_buffer_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_written_and_read_back),
        cmocka_unit_test(other_characters_are_no_digits),
    };
    return cmocka_run_group_tests_name("hex", tests, NULL, NULL);
}
