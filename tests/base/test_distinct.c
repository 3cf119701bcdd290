/* HyperLogLog sketches: registers worked by hand, exact small numbers, the error over many sizes. */
#include "base/distinct.h"

#include "base/memory.h"
#include "base/random.h"
#include "support/test.h"

#include <math.h>

static void registers(void **state)
{
    (void)state;
    gf_distinct *d = gf_calloc(1, sizeof *d);
    assert_non_null(d);
    assert_int_equal(gf_distinct_estimate(d), 0);
    /* upper 14 bits 3; of the other 50 the first that is set is the second */
    uint64_t hash = UINT64_C(3) << 50 | UINT64_C(1) << 48;
    assert_int_equal(gf_distinct_add(d, hash), 3);
    assert_int_equal(d->rank[3], 2);
    assert_int_equal(gf_distinct_add(d, hash), -1);                                  /* again */
    assert_int_equal(gf_distinct_add(d, UINT64_C(3) << 50 | UINT64_C(1) << 49), -1); /* rank 1 */
    assert_int_equal(gf_distinct_estimate(d), 1);
    assert_int_equal(gf_distinct_add(d, 0), 0);
    assert_int_equal(d->rank[0], 51);
    assert_int_equal(gf_distinct_add(d, UINT64_MAX), 16383);
    assert_int_equal(d->rank[16383], 1);
    assert_int_equal(gf_distinct_estimate(d), 3);
    gf_free(d);
}

/* A sketch of both is the two merged, whatever they share. */
static void merging(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(5, 0);
    gf_distinct *d = gf_calloc(3, sizeof *d);
    assert_non_null(d);
    for (int i = 0; i < 60000; i++) {
        uint64_t hash = gf_random_u64(&r);
        if (i < 40000) gf_distinct_add(&d[0], hash);
        if (i >= 20000) gf_distinct_add(&d[1], hash);
        gf_distinct_add(&d[2], hash);
    }
    gf_distinct_merge(&d[0], &d[1]);
    assert_memory_equal(&d[0], &d[2], sizeof *d);
    gf_free(d);
}

/*
 * The error over 200 sketches of each size: as the paper has it, without a bias, also where simple
 * estimates have one (2.5 registers' worth), and within three up to a hundred.
 */
static void error(void **state)
{
    static const unsigned sizes[] = {1, 10, 100, 1000, 10000, 30000, 41000, 60000, 100000, 300000};
    enum { SKETCHES = 200 };
    (void)state;
    gf_distinct *d = gf_calloc(1, sizeof *d);
    assert_non_null(d);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double sum = 0, squares = 0, worst = 0;
        for (unsigned stream = 0; stream < SKETCHES; stream++) {
            gf_random r = gf_random_seed(2007, stream);
            *d = (gf_distinct){{0}};
            for (unsigned i = 0; i < sizes[s]; i++)
                gf_distinct_add(d, gf_random_u64(&r));
            double e = (double)gf_distinct_estimate(d) / sizes[s] - 1;
            sum += e, squares += e * e;
            if (fabs(e) > worst) worst = fabs(e);
        }
        double deviation = sqrt(squares / SKETCHES);
        print_message("%6u values: standard error %.2f %%, bias %+.2f %%, worst %.2f %%\n",
                      sizes[s], 100 * deviation, 100 * sum / SKETCHES, 100 * worst);
        assert_true(deviation < 0.0092);
        assert_true(fabs(sum / SKETCHES) < 0.002 + 0.5 / sizes[s]); /* the estimate is whole */
        if (sizes[s] <= 100) assert_true(worst * sizes[s] < 3.5);
    }
    gf_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(registers), cmocka_unit_test(merging),
                                       cmocka_unit_test(error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
