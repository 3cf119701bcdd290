#include "support/test.h"

#include "base/grid.h"
#include "base/random.h"

static void a_value_goes_to_the_nearest_multiple(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    assert_true(gf_grid_round(0) == 0 && gf_grid_round(1) == 1);
    assert_true(gf_grid_round(0x1.8p-24) == 0x1p-23f); /* of two the even one */
    assert_true(gf_grid_round(0x1p-25) == 0 && gf_grid_round(-0x1.1p-25) == -0x1p-24f);
    for (int i = 0; i < 100000; i++) {
        double v = 2 * gf_random_unit(&random) - 1;
        float on = gf_grid_round(v);
        assert_true(fabs((double)on - v) <= GF_GRID_ERROR);
        assert_true(gf_grid_has(on) && (double)on * 0x1p24 == rint((double)on * 0x1p24));
        float large = (float)(0.5 + 100 * gf_random_unit(&random));
        assert_true(gf_grid_has(large)); /* a float of a half or more always is */
    }
    assert_false(gf_grid_has(0x1p-25f));
    assert_false(gf_grid_has(0.1f + 0x1p-27f) && gf_grid_has(0.1f));
}

enum { N = 20000 };

/* Whole weights times values: in any order the sum is the same double; so is what a part leaves. */
static void sums_are_exact_in_any_order(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    static float value[N], weight[N];
    double forward = 0, without = 0;
    int64_t whole = 0, scores = 0, backward_scores = 0;
    for (int i = 0; i < N; i++) {
        value[i] = gf_grid_round(gf_random_unit(&random));
        weight[i] = (float)(1 + gf_random_below(&random, 1000));
        forward += (double)weight[i] * (double)value[i];
        whole += (int64_t)weight[i] * (int64_t)((double)value[i] * 0x1p24);
        scores += gf_grid_score((double)value[i] / 3);
        if (i % 3) without += (double)weight[i] * (double)value[i];
    }
    double backward = 0, differed = forward;
    for (int i = N; i-- > 0;) {
        backward += (double)weight[i] * (double)value[i];
        backward_scores += gf_grid_score((double)value[i] / 3);
        if (i % 3 == 0) differed -= (double)weight[i] * (double)value[i];
    }
    assert_true(forward == (double)whole * 0x1p-24);
    assert_true(backward == forward);
    assert_true(differed == without);
    assert_true(scores == backward_scores);
    assert_true(fabs(gf_grid_sum(gf_grid_score(0.3)) - 0.3) <= 0x1p-33);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_goes_to_the_nearest_multiple),
        cmocka_unit_test(sums_are_exact_in_any_order),
    };
    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
