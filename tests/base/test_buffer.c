#include "support/test.h"

#include "base/memory.h"

#include <string.h>

static void appends_and_grows(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer b = {0};
    for (int i = 0; i < 1000; i++)
        gf_buffer_format(&b, "%d,", i % 10);
    assert_ok(gf_buffer_check(&b, &err));
    assert_int_equal(b.len, 2000);
    assert_memory_equal(b.ptr + 1990, "5,6,7,8,9,", 10);
    assert_int_equal(strlen(gf_buffer_cstr(&b)), 2000);
    gf_buffer_release(&b);
}

static void keeps_the_first_failure(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer b;
    gf_buffer_init(&b, 8);
    gf_buffer_str(&b, "12345678");
    assert_ok(gf_buffer_check(&b, &err));
    gf_buffer_byte(&b, '9');
    gf_buffer_str(&b, "");
    assert_status(GF_ELIMIT, gf_buffer_check(&b, &err));
    assert_string_equal(err.message, "more than 8 bytes");
    assert_slice(gf_buffer_view(&b), "12345678");
    gf_buffer_reset(&b);
    gf_buffer_str(&b, "again");
    assert_ok(gf_buffer_check(&b, &err));
    gf_buffer_release(&b);
}

static void varints_round_trip(void **state)
{
    (void)state;
    const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
    gf_buffer b = {0};
    for (size_t i = 0; i < 8; i++)
        gf_buffer_varint(&b, values[i]);
    gf_slice s = gf_buffer_view(&b);
    uint64_t v;
    for (size_t i = 0; i < 8; i++) {
        assert_true(gf_take_varint(&s, &v));
        assert_true(v == values[i]);
    }
    assert_false(gf_take_varint(&s, &v));
    gf_slice cut = GF_SLICE("\xFF\xFF"),
             too_long = GF_SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02");
    assert_false(gf_take_varint(&cut, &v));
    assert_false(gf_take_varint(&too_long, &v));
    gf_buffer_release(&b);
}

static gf_status append_much(void *context, gf_error *err)
{
    (void)context;
    gf_buffer b = {0};
    for (int i = 0; i < 100; i++)
        gf_buffer_str(&b, "some text that makes the buffer grow");
    gf_status st = gf_buffer_check(&b, err);
    gf_buffer_release(&b);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(append_much, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_and_grows),
        cmocka_unit_test(keeps_the_first_failure),
        cmocka_unit_test(varints_round_trip),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
