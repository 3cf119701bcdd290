#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/measure/choose_k.h"

#include <string.h>

static gf_choice choose(gf_pool *pool, const gf_csr *x, uint32_t max_k)
{
    gf_error err;
    gf_points points = {x, NULL};
    gf_choice c;
    assert_ok(gf_choose_k(pool, &points, max_k, 0, 1, NULL, &c, &err));
    assert_true(c.k >= 1 && c.k <= max_k && c.n_steps >= 1);
    bool among = false;
    for (uint32_t i = 0; i < c.n_steps; i++) {
        among = among || c.steps[i].k == c.k;
        assert_true(c.steps[i].separation >= -1 && c.steps[i].separation <= 1);
        if (i) assert_true(c.steps[i].k > c.steps[i - 1].k && c.steps[i].k <= max_k);
    }
    assert_true(among);
    return c;
}

/*
 * Of five collections the number is that of three at least: of some 200 with two groups in one, a partition
 * of the four comes from a start that it does not get away from, and their agreement is lost.
 */
static void finds_planted_numbers(void **state)
{
    (void)state;
    enum { DRAWS = 5 };
    static const uint32_t planted[] = {2, 3, 5, 8, 12};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    static uint32_t group[1200];
    for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++) {
        unsigned found = 0, missed = 0;
        while (found <= DRAWS / 2 && missed <= DRAWS / 2) {
            gf_csr x = rows_planted(1200, planted[i], 2, &random, group);
            gf_choice c = choose(NULL, &x, 30);
            if (c.k == planted[i])
                found++;
            else
                missed++;
            gf_free(c.steps);
            gf_csr_release(&x);
        }
        if (missed > found)
            fail_msg("%u planted clusters are found %u of %u times", planted[i], found,
                     found + missed);
    }
}

/* Rows that differ in one column each from what they share: any split is as good as another. */
static void rows_without_structure_are_one_cluster(void **state)
{
    (void)state;
    gf_error err;
    enum { N = 400 };
    gf_csr x;
    assert_ok(gf_csr_init(&x, N, N + 1, 2 * N, &err));
    for (uint32_t i = 0; i < N; i++) {
        x.start[i + 1] = 2 * (uint64_t)i + 2;
        x.col[2 * i] = 0;
        x.col[2 * i + 1] = 1 + i;
        x.val[2 * i] = x.val[2 * i + 1] = 0.70710678f;
    }
    gf_choice c = choose(NULL, &x, 100);
    assert_int_equal(c.k, 1);
    gf_free(c.steps);
    gf_csr_release(&x);
}

/* Walked on to a number that is to be judged, the curve is longer, and the choice the same. */
static void reach_lengthens_the_curve_alone(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    static uint32_t group[1200];
    gf_csr x = rows_planted(1200, 5, 2, &random, group);
    gf_points points = {&x, NULL};
    gf_choice plain = choose(NULL, &x, 300), far;
    uint32_t last = plain.steps[plain.n_steps - 1].k;
    assert_true(last < 100);
    assert_false(gf_choice_keeps(&plain, 100)); /* not known */
    assert_ok(gf_choose_k(NULL, &points, 300, 100, 1, NULL, &far, &err));
    assert_int_equal(far.k, plain.k);
    assert_int_equal(far.reason.best, plain.reason.best);
    assert_int_equal(far.reason.from, plain.reason.from);
    assert_int_equal(far.reason.to, plain.reason.to);
    assert_near(far.reason.worth, plain.reason.worth, 0);
    assert_true(far.n_steps > plain.n_steps && far.steps[far.n_steps - 1].k >= 100);
    for (uint32_t i = 0; i < plain.n_steps; i++)
        assert_near(far.steps[i].separation, plain.steps[i].separation, 0);
    assert_true(gf_choice_keeps(&far, far.k));
    assert_false(gf_choice_keeps(&far, 100));
    gf_free(plain.steps);
    gf_free(far.steps);
    gf_csr_release(&x);
}

static void few_rows_are_few_clusters(void **state)
{
    (void)state;
    const float values[] = {1, 0, 0, 1};
    gf_csr one = rows_by_hand(values, 1, 2), two = rows_by_hand(values, 2, 2);
    gf_choice c = choose(NULL, &one, 5);
    assert_int_equal(c.k, 1);
    gf_free(c.steps);
    c = choose(NULL, &two, 5);
    assert_int_equal(c.k, 1);
    gf_free(c.steps);
    c = choose(NULL, &two, 1);
    assert_int_equal(c.n_steps, 1);
    gf_free(c.steps);
    gf_csr_release(&one);
    gf_csr_release(&two);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_csr x = rows_random(700, 200, 8, &random);
    gf_choice alone = choose(NULL, &x, 16);
    for (unsigned threads = 2; threads < 6; threads += 3) {
        gf_pool *pool = rows_pool(threads);
        gf_choice c = choose(pool, &x, 16);
        assert_int_equal(c.k, alone.k);
        assert_int_equal(c.n_steps, alone.n_steps);
        for (uint32_t i = 0; i < c.n_steps; i++)
            assert_near(c.steps[i].separation, alone.steps[i].separation, 0);
        gf_free(c.steps);
        gf_pool_free(pool);
    }
    gf_free(alone.steps);
    gf_csr_release(&x);
}

static gf_choice untouched, result;

static gf_status choose_swept(void *context, gf_error *err)
{
    gf_points points = {context, NULL};
    gf_status st = gf_choose_k(NULL, &points, 3, 0, 1, NULL, &result, err);
    if (st == GF_OK) gf_free(result.steps);
    return st;
}

static void is_untouched(void *context)
{
    (void)context;
    assert_memory_equal(&result, &untouched, sizeof untouched);
}

static void failures_change_nothing(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(2, 0);
    gf_csr x = rows_random(15, 20, 4, &random), none = rows_by_hand(NULL, 0, 4);
    gf_points points = {&x, NULL}, empty = {&none, NULL};
    gf_cancel cancel = {0};
    memset(&untouched, 0x55, sizeof untouched);
    memcpy(&result, &untouched, sizeof result);
    assert_status(GF_EINVAL, gf_choose_k(NULL, &points, 0, 0, 1, NULL, &result, &err));
    assert_status(GF_EINVAL, gf_choose_k(NULL, &empty, 4, 0, 1, NULL, &result, &err));
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_choose_k(NULL, &points, 4, 0, 1, &cancel, &result, &err));
    is_untouched(NULL);
    gf_test_sweep(choose_swept, is_untouched, &x);
    gf_csr_release(&x);
    gf_csr_release(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_planted_numbers),
        cmocka_unit_test(rows_without_structure_are_one_cluster),
        cmocka_unit_test(reach_lengthens_the_curve_alone),
        cmocka_unit_test(few_rows_are_few_clusters),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(failures_change_nothing),
    };
    return cmocka_run_group_tests_name("choose", tests, NULL, NULL);
}
