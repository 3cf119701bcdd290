#include "support/test.h"

#include "base/random.h"
#include "grouperfish/key.h"

#include <stdlib.h>

/* ---- by hand --------------------------------------------------------------------------------- */

static void encodes_as_written(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer key = {0};
    gf_key_string(&key, GF_SLICE("a\0b"));
    gf_key_u64(&key, 1247443200000);
    gf_key_string(&key, GF_SLICE(""));
    assert_ok(gf_buffer_check(&key, &err));
    static const unsigned char want[] = {'a',  0x00, 0xFF, 'b',  0x00, 0x01,             /* a\0b */
                                         0x00, 0x00, 0x01, 0x22, 0x71, 0x68, 0xA8, 0x00, /* time */
                                         0x00, 0x01 /* the empty string */};
    assert_int_equal(key.len, sizeof want);
    assert_memory_equal(key.ptr, want, sizeof want);
    gf_buffer_release(&key);
}

static void slashes_do_not_mix_parts(void **state)
{
    (void)state;
    gf_buffer x = {0}, y = {0};
    gf_key_string(&x, GF_SLICE("a/b"));
    gf_key_string(&x, GF_SLICE("c"));
    gf_key_string(&y, GF_SLICE("a"));
    gf_key_string(&y, GF_SLICE("b/c"));
    assert_false(gf_slice_equal(gf_buffer_view(&x), gf_buffer_view(&y)));
    gf_buffer_release(&x);
    gf_buffer_release(&y);
}

static void a_collection_is_no_prefix_of_another(void **state)
{
    (void)state;
    gf_buffer ck = {0}, ck2 = {0}, start = {0};
    gf_key_string(&ck, GF_SLICE("ns"));
    gf_key_string(&ck, GF_SLICE("ck"));
    gf_key_string(&ck2, GF_SLICE("ns"));
    gf_key_string(&ck2, GF_SLICE("ck2"));
    gf_key_string(&ck2, GF_SLICE("id"));
    assert_false(gf_slice_starts(gf_buffer_view(&ck2), gf_buffer_view(&ck)));
    gf_key_string(&start, GF_SLICE("ns"));
    gf_key_string_start(&start, GF_SLICE("ck"));
    assert_true(gf_slice_starts(gf_buffer_view(&ck), gf_buffer_view(&start)));
    assert_true(gf_slice_starts(gf_buffer_view(&ck2), gf_buffer_view(&start)));
    gf_buffer_release(&ck);
    gf_buffer_release(&ck2);
    gf_buffer_release(&start);
}

static void finds_what_follows_a_prefix(void **state)
{
    (void)state;
    static const struct {
        gf_slice prefix, after;
        bool there;
    } cases[] = {
        {{"a", 1}, {"b", 1}, true},
        {{"a\xFF", 2}, {"b", 1}, true},
        {{"a\x00\xFF\xFF", 4}, {"a\x01", 2}, true},
        {{"\xFE", 1}, {"\xFF", 1}, true},
        {{"\xFF\xFF", 2}, {NULL, 0}, false},
        {{NULL, 0}, {NULL, 0}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gf_buffer out = {0};
        assert_int_equal(gf_key_after_prefix(cases[i].prefix, &out), cases[i].there);
        assert_true(gf_slice_equal(gf_buffer_view(&out), cases[i].after));
        gf_buffer_release(&out);
    }
}

static void refuses_what_is_no_part(void **state)
{
    (void)state;
    static const gf_slice bad[] = {{NULL, 0},      {"abc", 3},     {"abc\0", 4},
                                   {"a\0\x02", 3}, {"a\0\xFF", 3}, {"a\0\0\x01", 4}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gf_buffer part = {0};
        gf_slice rest = bad[i];
        assert_int_equal(gf_key_string_length(rest), 0);
        assert_false(gf_key_take_string(&rest, &part));
        assert_ptr_equal(rest.ptr, bad[i].ptr);
        assert_int_equal(rest.len, bad[i].len);
        assert_int_equal(part.len, 0);
        gf_buffer_release(&part);
    }
    gf_slice seven = GF_SLICE("1234567");
    uint64_t v = 5;
    assert_false(gf_key_take_u64(&seven, &v));
    assert_int_equal(seven.len, 7);
    assert_int_equal(v, 5);
}

/* ---- properties ------------------------------------------------------------------------------ */

enum { TUPLES = 400, PARTS = 3, LONGEST = 12 };

/* (string, integer, string): as documents and versions have them. */
typedef struct tuple {
    char bytes[2][LONGEST];
    size_t length[2];
    uint64_t number;
    gf_buffer key;
} tuple;

static gf_slice string_of(const tuple *t, int i)
{
    return gf_slice_of(t->bytes[i], t->length[i]);
}

/* Few different bytes, those that mean something among them, so that equal starts are common. */
static void fill(gf_random *r, tuple *t)
{
    static const char alphabet[] = {0,   1,   2,   (char)0xFF, (char)0xFE,
                                    '/', 'a', 'b', (char)0xC3, (char)0xA4};
    for (int i = 0; i < 2; i++) {
        t->length[i] = (size_t)gf_random_below(r, LONGEST);
        if (gf_random_below(r, 2)) t->length[i] %= 3;
        for (size_t k = 0; k < t->length[i]; k++)
            t->bytes[i][k] = alphabet[gf_random_below(r, sizeof alphabet)];
    }
    t->number = gf_random_u64(r) >> gf_random_below(r, 64);
    t->key = (gf_buffer){0};
    gf_key_string(&t->key, string_of(t, 0));
    gf_key_u64(&t->key, t->number);
    gf_key_string(&t->key, string_of(t, 1));
}

static int sign(int order)
{
    return order < 0 ? -1 : order > 0;
}

static int compare_tuples(const tuple *a, const tuple *b)
{
    int order = gf_slice_compare(string_of(a, 0), string_of(b, 0));
    if (order) return sign(order);
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return sign(gf_slice_compare(string_of(a, 1), string_of(b, 1)));
}

static void round_trips_and_keeps_order(void **state)
{
    (void)state;
    static tuple tuples[TUPLES];
    gf_random r = gf_random_seed(gf_test_seed(), 1);
    for (size_t i = 0; i < TUPLES; i++)
        fill(&r, &tuples[i]);
    for (size_t i = 0; i < TUPLES; i++) {
        gf_slice rest = gf_buffer_view(&tuples[i].key);
        gf_buffer part = {0};
        uint64_t number;
        assert_true(gf_key_take_string(&rest, &part));
        assert_true(gf_slice_equal(gf_buffer_view(&part), string_of(&tuples[i], 0)));
        assert_true(gf_key_take_u64(&rest, &number));
        assert_true(number == tuples[i].number);
        gf_buffer_reset(&part);
        assert_true(gf_key_take_string(&rest, &part));
        assert_true(gf_slice_equal(gf_buffer_view(&part), string_of(&tuples[i], 1)));
        assert_int_equal(rest.len, 0);
        gf_buffer_release(&part);
        for (size_t j = 0; j < TUPLES; j++)
            assert_int_equal(sign(gf_slice_compare(gf_buffer_view(&tuples[i].key),
                                                   gf_buffer_view(&tuples[j].key))),
                             compare_tuples(&tuples[i], &tuples[j]));
    }
    for (size_t i = 0; i < TUPLES; i++)
        gf_buffer_release(&tuples[i].key);
}

static int by_key(const void *a, const void *b)
{
    const tuple *x = a, *y = b;
    return gf_slice_compare(gf_buffer_view(&x->key), gf_buffer_view(&y->key));
}

/* In byte order, the keys of one first part, or of one start of it, are one run: none is between.
 */
static void what_starts_alike_is_contiguous(void **state)
{
    (void)state;
    static tuple tuples[TUPLES];
    gf_random r = gf_random_seed(gf_test_seed(), 2);
    for (size_t i = 0; i < TUPLES; i++)
        fill(&r, &tuples[i]);
    qsort(tuples, TUPLES, sizeof *tuples, by_key);
    for (size_t i = 0; i < TUPLES; i++) {
        gf_buffer prefix = {0}, start = {0}, after = {0};
        gf_key_string(&prefix, string_of(&tuples[i], 0));
        gf_slice first = gf_slice_of(tuples[i].bytes[0], tuples[i].length[0] / 2);
        gf_key_string_start(&start, first);
        bool bounded = gf_key_after_prefix(gf_buffer_view(&start), &after);
        for (size_t j = 0; j < TUPLES; j++) {
            gf_slice key = gf_buffer_view(&tuples[j].key);
            assert_int_equal(gf_slice_starts(key, gf_buffer_view(&prefix)),
                             gf_slice_equal(string_of(&tuples[i], 0), string_of(&tuples[j], 0)));
            bool within = gf_slice_compare(key, gf_buffer_view(&start)) >= 0 &&
                          (!bounded || gf_slice_compare(key, gf_buffer_view(&after)) < 0);
            assert_int_equal(within, gf_slice_starts(string_of(&tuples[j], 0), first));
        }
        gf_buffer_release(&prefix);
        gf_buffer_release(&start);
        gf_buffer_release(&after);
    }
    for (size_t i = 0; i < TUPLES; i++)
        gf_buffer_release(&tuples[i].key);
}

/* Random bytes that are read as a part are written as the same bytes again. */
static void reads_hostile_bytes(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 3);
    for (int i = 0; i < 20000; i++) {
        static const char alphabet[] = {0, 1, (char)0xFF, 'a', 2};
        char bytes[16];
        size_t n = (size_t)gf_random_below(&r, sizeof bytes + 1);
        for (size_t k = 0; k < n; k++)
            bytes[k] = alphabet[gf_random_below(&r, sizeof alphabet)];
        gf_slice rest = gf_slice_of(bytes, n);
        gf_buffer part = {0}, again = {0};
        size_t length = gf_key_string_length(rest);
        assert_int_equal(gf_key_take_string(&rest, &part), length > 0);
        if (length) {
            gf_key_string(&again, gf_buffer_view(&part));
            assert_true(gf_slice_equal(gf_buffer_view(&again), gf_slice_of(bytes, length)));
            assert_int_equal(rest.len, n - length);
        }
        gf_buffer_release(&part);
        gf_buffer_release(&again);
    }
}

static gf_status make_key(void *context, gf_error *err)
{
    (void)context;
    gf_buffer key = {0}, after = {0}, part = {0};
    for (int i = 0; i < 30; i++)
        gf_key_string(&key, GF_SLICE("a part of a key with a \0 in it"));
    gf_slice rest = gf_buffer_view(&key);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) gf_key_after_prefix(rest, &after);
    if (st == GF_OK) gf_key_take_string(&rest, &part);
    if (st == GF_OK) st = gf_buffer_check(&after, err);
    if (st == GF_OK) st = gf_buffer_check(&part, err);
    gf_buffer_release(&key);
    gf_buffer_release(&after);
    gf_buffer_release(&part);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(make_key, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_as_written),
        cmocka_unit_test(slashes_do_not_mix_parts),
        cmocka_unit_test(a_collection_is_no_prefix_of_another),
        cmocka_unit_test(finds_what_follows_a_prefix),
        cmocka_unit_test(refuses_what_is_no_part),
        cmocka_unit_test(round_trips_and_keeps_order),
        cmocka_unit_test(what_starts_alike_is_contiguous),
        cmocka_unit_test(reads_hostile_bytes),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("key", tests, NULL, NULL);
}
