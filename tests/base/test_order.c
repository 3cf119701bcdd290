#include "support/test.h"

#include "base/order.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 3000 };

static void keeps_equal_numbers_in_order(void **state)
{
    (void)state;
    static uint64_t a[MOST], scratch[MOST];
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (uint32_t high = 3; high; high = high > UINT32_MAX / 40 ? 0 : high * 40) {
        for (uint32_t i = 0; i < MOST; i++)
            a[i] = gf_random_below(&r, (uint64_t)high + 1) << 32 | i;
        gf_order_by_high(a, MOST, scratch, high);
        for (size_t i = 1; i < MOST; i++)
            assert_true(a[i - 1] < a[i]);
    }
}

/* Strings over few bytes, NUL among them, so that many are equal, or agree for long. */
static void orders_strings(void **state)
{
    (void)state;
    static char bytes[MOST][12];
    static gf_slice strings[MOST];
    static uint32_t order[MOST];
    static bool seen[MOST];
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 1);
    for (uint32_t run = 0; run < 60; run++) {
        uint32_t n = run < 40 ? run : MOST;
        for (uint32_t i = 0; i < n; i++) {
            size_t length = (size_t)gf_random_below(&r, sizeof bytes[i]);
            for (size_t b = 0; b < length; b++)
                bytes[i][b] = "\0a\xFF"[gf_random_below(&r, run % 2 ? 3 : 2)];
            strings[i] = gf_slice_of(bytes[i], length);
            seen[i] = false;
        }
        assert_ok(gf_order_slices(strings, n, order, &err));
        for (uint32_t i = 0; i < n; i++) {
            assert_true(order[i] < n && !seen[order[i]]);
            seen[order[i]] = true;
            if (i == 0) continue;
            int c = gf_slice_compare(strings[order[i - 1]], strings[order[i]]);
            assert_true(c < 0 || (c == 0 && order[i - 1] < order[i]));
        }
    }
}

/* Rising ranks; of equal ones strings in order; of equal strings as they stand. */
static void orders_by_rank_first(void **state)
{
    (void)state;
    enum { N = 500 };
    static const char *const words[] = {"", "a", "ab", "abcd", "abcde", "abcdf", "b"};
    gf_slice strings[N];
    uint32_t rank[N], order[N];
    bool seen[N] = {false};
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 2);
    for (uint32_t highest = 0; highest < 70000; highest = highest * 7 + 1) {
        memset(seen, 0, sizeof seen);
        for (uint32_t i = 0; i < N; i++) {
            strings[i] = gf_slice_str(words[gf_random_below(&r, sizeof words / sizeof *words)]);
            rank[i] = (uint32_t)gf_random_below(&r, (uint64_t)highest + 1);
        }
        assert_ok(gf_order_ranked(strings, rank, highest, N, order, &err));
        for (uint32_t i = 0; i < N; i++) {
            assert_true(order[i] < N && !seen[order[i]]);
            seen[order[i]] = true;
            if (i == 0) continue;
            uint32_t a = order[i - 1], b = order[i];
            int c = gf_slice_compare(strings[a], strings[b]);
            assert_true(rank[a] < rank[b] || (rank[a] == rank[b] && (c < 0 || (c == 0 && a < b))));
        }
    }
}

static gf_status order_some(void *context, gf_error *err)
{
    const gf_slice strings[] = {GF_SLICE("pear"), GF_SLICE("apple")};
    const uint32_t rank[] = {3, 3};
    uint32_t *order = context;
    return gf_order_ranked(strings, rank, 3, 2, order, err);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    uint32_t order[2] = {7, 7};
    gf_test_sweep(order_some, NULL, order);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_equal_numbers_in_order),
        cmocka_unit_test(orders_strings),
        cmocka_unit_test(orders_by_rank_first),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
