#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"

#include <string.h>
#include <wchar.h>

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

static void counts_are_in_groups_of_three(void **state)
{
    (void)state;
    gf_buffer b = {0};
    const uint64_t counts[] = {0, 999, 1000, 123456, 1234567, UINT64_MAX};
    for (size_t i = 0; i < 6; i++) {
        gf_buffer_count(&b, counts[i]);
        gf_buffer_byte(&b, ' ');
    }
    assert_slice(gf_buffer_view(&b), "0 999 1,000 123,456 1,234,567 18,446,744,073,709,551,615 ");
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
        assert_true(gf_slice_take_varint(&s, &v));
        assert_true(v == values[i]);
    }
    assert_false(gf_slice_take_varint(&s, &v));
    gf_slice cut = GF_SLICE("\xFF\xFF"),
             too_long = GF_SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02");
    assert_false(gf_slice_take_varint(&cut, &v));
    assert_false(gf_slice_take_varint(&too_long, &v));
    gf_buffer_release(&b);
}

/* The NUL behind formatted text and behind gf_buffer_cstr does not count towards the maximum. */
static void the_maximum_is_exact(void **state)
{
    (void)state;
    gf_error err;
    for (size_t max = 1; max < 200; max += 7) {
        gf_buffer b;
        gf_buffer_init(&b, max);
        gf_buffer_format(&b, "%*d", (int)max, 5);
        assert_ok(gf_buffer_check(&b, &err));
        assert_int_equal(b.len, max);
        assert_int_equal(strlen(gf_buffer_cstr(&b)), max);
        assert_ok(gf_buffer_check(&b, &err));
        gf_buffer_format(&b, "%s", "");
        gf_buffer_append(&b, NULL, 0);
        assert_ok(gf_buffer_check(&b, &err));
        assert_null(gf_buffer_reserve(&b, 1));
        assert_status(GF_ELIMIT, gf_buffer_check(&b, &err));
        assert_string_equal(gf_buffer_cstr(&b), "");
        gf_buffer_reset(&b);
        gf_buffer_format(&b, "%*d", (int)max + 1, 5);
        assert_status(GF_ELIMIT, gf_buffer_check(&b, &err));
        assert_int_equal(b.len, 0);
        gf_buffer_release(&b);
    }
}

static void text_that_cannot_be_formatted_is_a_failure(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer b = {0};
    gf_buffer_format(&b, "%lc", (wint_t)0x20AC); /* which the C locale cannot encode */
    assert_status(GF_ENOMEM, gf_buffer_check(&b, &err));
    assert_int_equal(b.len, 0);
    gf_buffer_release(&b);
}

/* All writers in random order, and their readers; each start of the bytes is told from the whole.
 */
static void what_is_written_is_taken(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 2000; round++) {
        gf_random again = r;
        gf_buffer b = {0};
        for (int i = 0; i < 20; i++) {
            uint64_t kind = gf_random_below(&r, 4);
            uint64_t v = gf_random_u64(&r) >> gf_random_below(&r, 64);
            if (kind == 0) gf_buffer_varint(&b, v);
            if (kind == 1) gf_buffer_u32be(&b, (uint32_t)v);
            if (kind == 2) gf_buffer_u64be(&b, v);
            if (kind == 3) gf_buffer_string(&b, gf_slice_of("0123456789", v % 11));
        }
        gf_slice s = gf_buffer_view(&b), text;
        for (int i = 0; i < 20; i++) {
            uint64_t kind = gf_random_below(&again, 4), wide;
            uint64_t v = gf_random_u64(&again) >> gf_random_below(&again, 64);
            uint32_t narrow;
            gf_slice before = s;
            if (kind == 0) {
                bool fits = gf_slice_take_varint32(&s, &narrow);
                assert_int_equal(fits, v <= UINT32_MAX);
                if (fits) assert_int_equal(narrow, v);
                assert_ptr_equal(s.ptr, before.ptr + (fits ? before.len - s.len : 0));
                s = before;
            }
            if (kind == 0) assert_true(gf_slice_take_varint(&s, &wide) && wide == v);
            if (kind == 1) assert_true(gf_slice_take_u32be(&s, &narrow) && narrow == (uint32_t)v);
            if (kind == 2) assert_true(gf_slice_take_u64be(&s, &wide) && wide == v);
            if (kind == 3) assert_true(gf_slice_take_string(&s, &text) && text.len == v % 11);
            gf_slice cut = gf_slice_of(before.ptr, before.len - s.len - 1), cut_before = cut;
            if (kind == 0) assert_false(gf_slice_take_varint(&cut, &wide));
            if (kind == 1) assert_false(gf_slice_take_u32be(&cut, &narrow));
            if (kind == 2) assert_false(gf_slice_take_u64be(&cut, &wide));
            if (kind == 3) assert_false(gf_slice_take_string(&cut, &text));
            assert_true(cut.ptr == cut_before.ptr && cut.len == cut_before.len);
        }
        assert_int_equal(s.len, 0);
        gf_buffer_release(&b);
    }
}

/* A length of 2^64 - 1 before a few bytes. */
static void wild_lengths_are_refused(void **state)
{
    (void)state;
    gf_slice s = GF_SLICE("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"
                          "abc"),
             before = s, text;
    assert_false(gf_slice_take_string(&s, &text));
    assert_false(gf_slice_take_bytes(&s, SIZE_MAX, &text));
    assert_true(s.ptr == before.ptr && s.len == before.len);
    gf_buffer b = {0};
    assert_null(gf_buffer_reserve(&b, SIZE_MAX));
    assert_status(GF_ENOMEM, gf_buffer_check(&b, NULL));
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

static void the_first_bytes_order_as_a_number(void **state)
{
    (void)state;
    static const gf_slice rising[] = {{NULL, 0},    {"\0\1", 2},     {"a", 1},
                                      {"a\1", 2},   {"aaaaaaab", 8}, {"aaaaaaac-and-more", 17},
                                      {"b\xFF", 2}, {"\xFF", 1}};
    for (size_t i = 1; i < sizeof rising / sizeof rising[0]; i++)
        assert_true(gf_leading_u64be(rising[i - 1]) < gf_leading_u64be(rising[i]));
    assert_true(gf_leading_u64be(GF_SLICE("12345678")) == 0x3132333435363738);
    assert_true(gf_leading_u64be(GF_SLICE("123456789")) == 0x3132333435363738);
    assert_true(gf_leading_u64be(GF_SLICE("12")) == 0x3132000000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_and_grows),
        cmocka_unit_test(counts_are_in_groups_of_three),
        cmocka_unit_test(keeps_the_first_failure),
        cmocka_unit_test(varints_round_trip),
        cmocka_unit_test(the_first_bytes_order_as_a_number),
        cmocka_unit_test(the_maximum_is_exact),
        cmocka_unit_test(text_that_cannot_be_formatted_is_a_failure),
        cmocka_unit_test(what_is_written_is_taken),
        cmocka_unit_test(wild_lengths_are_refused),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
