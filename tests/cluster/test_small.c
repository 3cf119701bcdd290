#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/kmeans.h"
#include "cluster/moves/growth.h"
#include "cluster/small/small_kmeans.h"

#include <string.h>

static const gf_small_limits limits = {0.05, 100, 20};

static gf_csr some_rows(int round, uint32_t n, gf_random *random)
{
    uint32_t group[GF_SMALL_POINTS];
    return round % 2 ? rows_planted(n, 4, 6, random, group) : rows_random(n, 120, 30, random);
}

/* Growth by products takes the steps of growth by terms, if no two choices are equally good. */
static void grows_as_larger_collections_do(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    uint32_t same = 0, all = 0;
    for (int round = 0; round < 100; round++) {
        uint32_t n = 2 + (uint32_t)gf_random_below(&random, GF_SMALL_POINTS - 1);
        gf_csr x = some_rows(round, n, &random);
        gf_points points = {&x, NULL};
        gf_growth *g;
        gf_small *small;
        gf_small_growth *f;
        assert_ok(gf_growth_create(NULL, &points, UINT32_MAX, (uint64_t)round, NULL, &g, &err));
        assert_ok(gf_small_create(&points, &small, &err));
        assert_ok(gf_small_growth_create(small, (uint64_t)round, &f, &err));
        for (uint32_t k = 2; k <= n / 3; k++) {
            double wanted, found;
            assert_ok(gf_growth_step(g, k, &err));
            assert_int_equal(gf_small_growth_step(f, k), gf_growth_partition(g)->k);
            assert_ok(gf_growth_separation(g, &wanted, &err));
            found = gf_small_growth_separation(f);
            all++;
            if (found < wanted - 1e-5 || found > wanted + 1e-5) break;
            same++;
        }
        gf_growth_free(g);
        gf_small_growth_free(f);
        gf_small_free(small);
        gf_csr_release(&x);
    }
    assert_true(same >= all - all / 50);
}

/* Weighted, equal to none: a run's objective is that of its labels, and no move raises it. */
static void a_run_ends_where_no_row_gains_by_moving(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    for (int round = 0; round < 40; round++) {
        uint32_t n = 1 + (uint32_t)gf_random_below(&random, GF_SMALL_POINTS);
        uint32_t k = 1 + (uint32_t)gf_random_below(&random, n);
        gf_csr x = some_rows(round, n, &random);
        float weight[GF_SMALL_POINTS];
        for (uint32_t i = 0; i < n; i++)
            weight[i] = 1 + (float)gf_random_below(&random, 4);
        gf_points points = {&x, round % 3 ? weight : NULL};
        gf_small *small;
        gf_small_run run;
        assert_ok(gf_small_create(&points, &small, &err));
        assert_ok(gf_small_cluster(small, k, 7, &limits, &run, &err));
        double objective = rows_objective(&x, points.weight, run.label, k);
        assert_near(run.objective, objective, 1e-5 * objective);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t own = run.label[i];
            assert_true(own < k);
            for (uint32_t j = 0; j < k && run.rounds < limits.max_rounds; j++) {
                run.label[i] = j;
                double moved = rows_objective(&x, points.weight, run.label, k);
                /* beyond what is no gain for rounding */
                assert_true(moved <= objective + 1e-4 * objective);
            }
            run.label[i] = own;
        }
        gf_small_free(small);
        gf_csr_release(&x);
    }
}

/* Two pairs of rows that share a term each, by hand. */
static void finds_the_pairs(void **state)
{
    (void)state;
    const float values[] = {1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0};
    gf_error err;
    gf_csr x = rows_by_hand(values, 4, 4);
    gf_points points = {&x, NULL};
    gf_small *small;
    gf_small_run run;
    assert_ok(gf_small_create(&points, &small, &err));
    assert_ok(gf_small_cluster(small, 2, 1, &limits, &run, &err));
    assert_int_equal(run.label[0], run.label[1]);
    assert_int_equal(run.label[2], run.label[3]);
    assert_int_not_equal(run.label[0], run.label[2]);
    assert_near(run.objective, 2 * 1.847759065, 1e-6); /* |(1, 1) / sqrt 2 + (1, 0)| each */
    assert_true(run.made.converged);
    assert_ok(gf_small_cluster(small, 4, 1, &limits, &run, &err));
    assert_near(run.objective, 4, 1e-6);
    gf_small_free(small);
    gf_small_free(NULL);
    gf_small_growth_free(NULL);
    gf_csr_release(&x);
}

/* Few points and one more: k-means is as good on both sides of the line. */
static void is_as_good_as_more_points(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    for (int round = 0; round < 10; round++) {
        uint32_t group[GF_SMALL_POINTS + 1];
        gf_csr x = rows_planted(GF_SMALL_POINTS + 1, 5, 6, &random, group);
        gf_kmeans_options options = {.k = 5, .seed = 3};
        gf_kmeans more, fewer;
        assert_ok(gf_kmeans_run(NULL, &x, &options, &more, &err));
        x.n_rows--;
        assert_ok(gf_kmeans_run(NULL, &x, &options, &fewer, &err));
        x.n_rows++;
        double less = more.objective;
        for (uint32_t i = 0; i <= GF_SMALL_POINTS; i++)
            if (i == GF_SMALL_POINTS) less -= (double)more.score[i];
        assert_true(fewer.objective >= 0.985 * less);
        assert_int_equal(fewer.restarts, 16);
        gf_kmeans_release(&more);
        gf_kmeans_release(&fewer);
        gf_csr_release(&x);
    }
}

static gf_small_run untouched, result;

static gf_status swept(void *context, gf_error *err)
{
    const gf_points *points = context;
    gf_small *small = NULL;
    gf_status st = gf_small_create(points, &small, err);
    if (st == GF_OK) st = gf_small_cluster(small, 3, 1, &limits, &result, err);
    gf_small_free(small);
    return st;
}

static void is_untouched(void *context)
{
    (void)context;
    assert_memory_equal(&result, &untouched, sizeof result);
}

static void out_of_memory(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(5, 0);
    gf_csr x = rows_random(20, 40, 8, &random);
    gf_points points = {&x, NULL};
    memset(&untouched, 0x55, sizeof untouched);
    memcpy(&result, &untouched, sizeof result);
    gf_test_sweep(swept, is_untouched, &points);
    assert_true(result.objective > 0);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_as_larger_collections_do),
        cmocka_unit_test(a_run_ends_where_no_row_gains_by_moving),
        cmocka_unit_test(finds_the_pairs),
        cmocka_unit_test(is_as_good_as_more_points),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
