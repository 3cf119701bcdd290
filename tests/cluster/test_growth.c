#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/measure/separation.h"
#include "cluster/moves/growth.h"

#include <string.h>

/* The partition's centres are its rows' sums, and none is empty. */
static void check_partition(const gf_csr *x, const gf_partition *p, uint32_t k)
{
    assert_int_equal(p->k, k);
    assert_int_equal(p->n, x->n_rows);
    double *sum = rows_dense_sums(x, NULL, p->label, k);
    for (uint32_t j = 0; j < k; j++) {
        double length = rows_length(sum + (size_t)j * x->n_cols, x->n_cols);
        assert_true(length > 0);
        assert_near(p->centres.at[j].length, length, 1e-9 * (1 + length));
    }
    for (uint32_t i = 0; i < p->n; i++) {
        gf_row_view centre = gf_centre_row(&p->centres.at[p->label[i]]);
        assert_near(p->own[i], gf_csr_row_dot(gf_csr_row(x, i), centre), 1e-6);
    }
    gf_free(sum);
}

static void grows_step_by_step(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_random(200, 80, 6, &random);
    gf_points points = {&x, NULL};
    gf_growth *g;
    assert_ok(gf_growth_create(NULL, &points, UINT32_MAX, 1, NULL, &g, &err));
    check_partition(&x, gf_growth_partition(g), 1);
    double objective = 0, separation;
    for (uint32_t k = 1; k < 40; k = gf_growth_next(k)) {
        assert_ok(gf_growth_step(g, k, &err));
        check_partition(&x, gf_growth_partition(g), k);
        assert_true(gf_centres_objective(&gf_growth_partition(g)->centres) > objective);
        objective = gf_centres_objective(&gf_growth_partition(g)->centres);
        assert_ok(gf_growth_separation(g, &separation, &err));
        check_partition(&x, gf_growth_partition(g), k);
        assert_near(separation, gf_separation(&points, gf_growth_partition(g)), 0);
    }
    assert_ok(gf_growth_step(g, 5, &err)); /* fewer than there are: nothing to do */
    assert_ok(gf_growth_step(g, 1000, &err));
    assert_true(gf_growth_partition(g)->k <= 200);
    gf_growth_free(g);
    gf_growth_free(NULL);
    gf_csr_release(&x);
}

static void steps_grow_by_a_fifth(void **state)
{
    (void)state;
    static const uint32_t steps[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 19, 22, 26};
    for (size_t i = 1; i < sizeof steps / sizeof steps[0]; i++)
        assert_int_equal(gf_growth_next(steps[i - 1]), steps[i]);
}

/* A part of the rows is looked at, by its own terms alone. */
static void grows_on_a_sample(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_csr x = rows_random(500, 3000, 6, &random);
    gf_points points = {&x, NULL};
    gf_growth *g;
    assert_ok(gf_growth_create(NULL, &points, 60, 1, NULL, &g, &err));
    assert_ok(gf_growth_step(g, 2, &err));
    const gf_partition *p = gf_growth_partition(g);
    assert_int_equal(p->n, 60);
    assert_true(p->centres.n_terms <= 60 * 6);
    gf_growth_free(g);
    gf_csr_release(&x);
}

/* Clusters found on a part of the rows go on over a larger part, and over all. */
static void goes_on_over_a_larger_sample(void **state)
{
    (void)state;
    gf_error err;
    enum { N = 600, GROUPS = 4 };
    gf_random random = gf_random_seed(gf_test_seed(), 5);
    static uint32_t group[N];
    gf_csr x = rows_planted(N, GROUPS, 2, &random, group);
    gf_points points = {&x, NULL};
    gf_growth *g;
    assert_ok(gf_growth_create(NULL, &points, 100, 1, NULL, &g, &err));
    for (uint32_t k = 2; k <= GROUPS; k++)
        assert_ok(gf_growth_step(g, k, &err));
    assert_ok(gf_growth_change_sample(g, 300, &err));
    assert_int_equal(gf_growth_partition(g)->n, 300);
    assert_int_equal(gf_growth_partition(g)->k, GROUPS);
    assert_ok(gf_growth_change_sample(g, N, &err));
    check_partition(&x, gf_growth_partition(g), GROUPS);
    const uint32_t *label = gf_growth_partition(g)->label;
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t other = 0; other < i; other += 7)
            assert_true((group[i] == group[other]) == (label[i] == label[other]));
    assert_ok(gf_growth_step(g, GROUPS + 3, &err));
    check_partition(&x, gf_growth_partition(g), GROUPS + 3);
    gf_growth_free(g);
    gf_csr_release(&x);
}

/* Two groups that share a cluster gain more from a split than one that is alone. */
static void splits_what_gains_most(void **state)
{
    (void)state;
    gf_error err;
    enum { N = 500 };
    gf_random random = gf_random_seed(gf_test_seed(), 4);
    uint32_t group[N];
    for (uint32_t groups = 3; groups < 6; groups++) {
        gf_csr x = rows_planted(N, groups, 2, &random, group);
        gf_points points = {&x, NULL};
        gf_growth *g;
        assert_ok(gf_growth_create(NULL, &points, N, 1, NULL, &g, &err));
        for (uint32_t k = 2; k <= groups; k++)
            assert_ok(gf_growth_step(g, k, &err));
        const gf_partition *p = gf_growth_partition(g);
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t other = 0; other < i; other += 7)
                assert_true((group[i] == group[other]) == (p->label[i] == p->label[other]));
        gf_growth_free(g);
        gf_csr_release(&x);
    }
}

static gf_centres grow(gf_pool *pool, const gf_points *points, uint32_t k)
{
    gf_error err;
    gf_centres c;
    assert_ok(gf_grow_centres(pool, points, k, 3, NULL, &c, &err));
    return c;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    gf_csr x = rows_random(6000, 700, 6, &random);
    gf_points points = {&x, NULL};
    gf_centres alone = grow(NULL, &points, 30); /* from 26 on over all rows */
    assert_int_equal(alone.k, 30);
    assert_int_equal(alone.n_terms, 700);
    for (unsigned threads = 2; threads < 4; threads++) {
        gf_pool *pool = rows_pool(threads);
        gf_centres c = grow(pool, &points, 30);
        rows_assert_same_centres(&alone, &c);
        gf_centres_release(&c);
        gf_pool_free(pool);
    }
    gf_centres_release(&alone);
    gf_csr_release(&x);
}

/* Twenty groups across which forty frequent terms cut, one in each row: all are found. */
static void frequent_terms_do_not_mislead(void **state)
{
    (void)state;
    enum { N = 1500, GROUPS = 20, RUNS = 8 };
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    static uint32_t group[N];
    for (int i = 0; i < RUNS; i++) {
        gf_csr x = rows_planted(N, GROUPS, 1, &random, group);
        gf_points points = {&x, NULL};
        gf_centres c = grow(NULL, &points, GROUPS);
        double planted = rows_objective(&x, NULL, group, GROUPS);
        assert_near(gf_centres_objective(&c), planted, 1e-6 * planted);
        gf_centres_release(&c);
        gf_csr_release(&x);
    }
}

/* Beyond 500 clusters, on a sample first, and beyond 1,000, where steps double them. */
static void grows_many_over_all_rows(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 6);
    static const uint32_t ks[] = {600, 1300};
    gf_csr x = rows_random(7000, 400, 8, &random);
    gf_points points = {&x, NULL};
    gf_pool *pool = rows_pool(3);
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
        gf_partition p, q;
        assert_ok(gf_grow_partition(NULL, &points, ks[i], 3, i % 2, NULL, &p, &err));
        check_partition(&x, &p, ks[i]);
        assert_ok(gf_grow_partition(pool, &points, ks[i], 3, i % 2, NULL, &q, &err));
        assert_memory_equal(p.label, q.label, x.n_rows * sizeof *p.label);
        rows_assert_same_centres(&p.centres, &q.centres);
        gf_partition_release(&p);
        gf_partition_release(&q);
    }
    gf_pool_free(pool);
    gf_csr_release(&x);
}

static gf_centres untouched, result;
static gf_partition no_partition, partition;

static gf_status many_swept(void *context, gf_error *err)
{
    gf_points points = {context, NULL};
    gf_status st = gf_grow_partition(NULL, &points, 4, 1, false, NULL, &partition, err);
    if (st == GF_OK) gf_partition_release(&partition);
    return st;
}

static void partition_is_untouched(void *context)
{
    (void)context;
    assert_memory_equal(&partition, &no_partition, sizeof partition);
}

static gf_status grow_swept(void *context, gf_error *err)
{
    gf_points points = {context, NULL};
    gf_status st = gf_grow_centres(NULL, &points, 4, 1, NULL, &result, err);
    if (st == GF_OK) gf_centres_release(&result);
    return st;
}

static void is_untouched(void *context)
{
    (void)context;
    assert_memory_equal(&result, &untouched, sizeof untouched);
}

static gf_status sample_swept(void *context, gf_error *err)
{
    gf_points points = {context, NULL};
    gf_growth *g = NULL;
    double separation;
    gf_status st = gf_growth_create(NULL, &points, 12, 1, NULL, &g, err);
    if (st == GF_OK) st = gf_growth_separation(g, &separation, err);
    if (st == GF_OK) st = gf_growth_step(g, 2, err);
    if (st == GF_OK) st = gf_growth_change_sample(g, 16, err);
    if (st == GF_OK) st = gf_growth_change_sample(g, UINT32_MAX, err);
    gf_growth_free(g);
    return st;
}

static void failures_change_nothing(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(2, 0);
    gf_csr x = rows_random(24, 20, 4, &random);
    gf_points points = {&x, NULL};
    gf_cancel cancel = {0};
    memset(&untouched, 0x55, sizeof untouched);
    memcpy(&result, &untouched, sizeof result);
    gf_test_sweep(grow_swept, is_untouched, &x);
    memcpy(&result, &untouched, sizeof result);
    gf_test_sweep(sample_swept, is_untouched, &x);
    memset(&no_partition, 0x55, sizeof no_partition);
    memcpy(&partition, &no_partition, sizeof partition);
    gf_test_sweep(many_swept, partition_is_untouched, &x);
    gf_cancel_request(&cancel);
    memcpy(&result, &untouched, sizeof result);
    assert_status(GF_ECANCELLED, gf_grow_centres(NULL, &points, 4, 1, &cancel, &result, &err));
    is_untouched(NULL);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_step_by_step),
        cmocka_unit_test(steps_grow_by_a_fifth),
        cmocka_unit_test(grows_on_a_sample),
        cmocka_unit_test(splits_what_gains_most),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(frequent_terms_do_not_mislead),
        cmocka_unit_test(goes_on_over_a_larger_sample),
        cmocka_unit_test(grows_many_over_all_rows),
        cmocka_unit_test(failures_change_nothing),
    };
    return cmocka_run_group_tests_name("grow", tests, NULL, NULL);
}
