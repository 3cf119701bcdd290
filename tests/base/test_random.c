#include "support/test.h"

#include "base/random.h"

#include <math.h>

/*
 * Published outputs: splitmix64 of the seed 1234567, and xoshiro256** of the state {1, 2, 3, 4}.
 * The stream that turns the seed's first output into 1234567 lays the first open to us.
 */
static void gives_the_published_numbers(void **state)
{
    (void)state;
    const uint64_t split[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                              4593380528125082431u};
    gf_random seeded = gf_random_seed(1234567, split[0] ^ 1234567);
    for (int i = 0; i < 4; i++)
        assert_true(seeded.s[i] == split[i]);

    const uint64_t expected[] = {11520,
                                 0,
                                 1509978240,
                                 1215971899390074240u,
                                 1216172134540287360u,
                                 607988272756665600u,
                                 16172922978634559625u,
                                 8476171486693032832u,
                                 10595114339597558777u,
                                 2904607092377533576u};
    gf_random r = {{1, 2, 3, 4}};
    for (int i = 0; i < 10; i++)
        assert_true(gf_random_u64(&r) == expected[i]);
}

static void seeds_and_streams_differ(void **state)
{
    (void)state;
    gf_random a = gf_random_seed(1, 0), again = gf_random_seed(1, 0);
    gf_random other_seed = gf_random_seed(2, 0), other_stream = gf_random_seed(1, 1);
    int same_seed = 0, same_stream = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = gf_random_u64(&a);
        assert_true(gf_random_u64(&again) == x);
        same_seed += gf_random_u64(&other_seed) == x;
        same_stream += gf_random_u64(&other_stream) == x;
    }
    assert_int_equal(same_seed, 0);
    assert_int_equal(same_stream, 0);
}

/*
 * Pearson's statistic over `cells` equally likely outcomes has mean cells - 1 and variance
 * 2 (cells - 1); what is refused here happens less than once in 10^7 runs.
 */
static void check_even(const uint64_t *count, size_t cells, uint64_t draws)
{
    double expected = (double)draws / (double)cells, statistic = 0;
    for (size_t i = 0; i < cells; i++)
        statistic += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
    double freedom = (double)cells - 1;
    if (fabs(statistic - freedom) > 7 * sqrt(2 * freedom) + 20)
        fail_msg("chi-square %.1f with %.0f degrees of freedom", statistic, freedom);
}

static void every_number_below_the_bound_is_as_likely(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    static uint64_t count[1000];
    const size_t bounds[] = {2, 3, 10, 256, 1000};
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        size_t bound = bounds[b];
        for (size_t i = 0; i < bound; i++)
            count[i] = 0;
        for (int i = 0; i < 200000; i++) {
            uint64_t x = gf_random_below(&r, bound);
            assert_true(x < bound);
            count[x]++;
        }
        check_even(count, bound, 200000);
    }
}

/* A plain remainder would draw the lower third of 3 * 2^62 twice as often as the others. */
static void large_bounds_are_without_bias(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    const uint64_t bound = (uint64_t)3 << 62, third = (uint64_t)1 << 62;
    uint64_t count[3] = {0};
    for (int i = 0; i < 90000; i++)
        count[gf_random_below(&r, bound) / third]++;
    check_even(count, 3, 90000);
}

static void the_extreme_bounds_work(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 100; i++) {
        assert_true(gf_random_below(&r, 1) == 0);
        assert_true(gf_random_below(&r, UINT64_MAX) < UINT64_MAX);
    }
}

/* Uniform in [0, 1): even in 100 cells, a multiple of 2^-53, and with all low bits in use. */
static void unit_numbers_are_even(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    uint64_t count[100] = {0}, bits = 0;
    for (int i = 0; i < 200000; i++) {
        double u = gf_random_unit(&r);
        assert_true(u >= 0 && u < 1);
        double scaled = u * 0x1p53;
        assert_true(scaled >= floor(scaled) && scaled <= floor(scaled));
        bits |= (uint64_t)scaled;
        count[(int)(u * 100)]++;
    }
    assert_true(bits == ((uint64_t)1 << 53) - 1);
    check_even(count, 100, 200000);
}

/* Bits of neighbouring numbers, and of the same number in two streams, agree half of the time. */
static void neighbours_and_streams_are_unrelated(void **state)
{
    (void)state;
    uint64_t seed = gf_test_seed();
    gf_random a = gf_random_seed(seed, 0), b = gf_random_seed(seed, 1);
    uint64_t before = gf_random_u64(&a), neighbour[2] = {0}, stream[2] = {0};
    for (int i = 0; i < 20000; i++) {
        uint64_t x = gf_random_u64(&a), y = gf_random_u64(&b);
        for (int bit = 0; bit < 64; bit++) {
            neighbour[(x ^ before) >> bit & 1]++;
            stream[(x ^ y) >> bit & 1]++;
        }
        before = x;
    }
    check_even(neighbour, 2, 64 * 20000);
    check_even(stream, 2, 64 * 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_published_numbers),
        cmocka_unit_test(seeds_and_streams_differ),
        cmocka_unit_test(every_number_below_the_bound_is_as_likely),
        cmocka_unit_test(large_bounds_are_without_bias),
        cmocka_unit_test(the_extreme_bounds_work),
        cmocka_unit_test(unit_numbers_are_even),
        cmocka_unit_test(neighbours_and_streams_are_unrelated),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
