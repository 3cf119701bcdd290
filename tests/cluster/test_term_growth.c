#include "support/test.h"

#include "cluster/measure/term_growth.h"

#include <math.h>

/* a = 4, n = 12: 2 x 4 (sqrt(1 + 3) - 1) = 8. */
static void follows_the_formula(void **state)
{
    (void)state;
    assert_near(gf_term_growth_terms(4, 12), 8, 1e-12);
    assert_near(gf_term_growth_fit(12, 8), 4, 1e-12);
    assert_near(gf_term_growth_terms(1e6, 10), 10, 1e-3); /* few: none repeats */
    assert_near(gf_term_growth_terms(100, 1e12) / (2 * sqrt(1e14)), 1, 1e-4);
    assert_near(gf_term_growth_terms(200, 0), 0, 0);
}

static void what_was_fitted_comes_out(void **state)
{
    (void)state;
    for (double a = .5; a < 1e5; a *= 3)
        for (double n = 10; n < 1e9; n *= 7) {
            double terms = gf_term_growth_terms(a, n);
            if (n - terms < n / 500) continue; /* so few repeat that a cannot be told */
            assert_near(gf_term_growth_fit(n, terms) / a, 1, 1e-6);
        }
}

/* Terms that never repeat, and none at all: nothing is divided by 0. */
static void limits_are_numbers(void **state)
{
    (void)state;
    double a = gf_term_growth_fit(1000, 1000);
    assert_true(isfinite(a) && a > 1000);
    assert_near(gf_term_growth_terms(a, 1000), 1000, 5);
    assert_true(isfinite(gf_term_growth_fit(0, 0)) && gf_term_growth_fit(0, 0) > 0);
    assert_true(gf_term_growth_fit(10, 0) > 0);
    assert_true(isfinite(gf_term_growth_fit(10, 12)));
}

/* The process itself: an entry has a new term by the chance (a + T / 2) / (a + n). */
static void the_process_is_followed(void **state)
{
    (void)state;
    static const double as[] = {20, 200, 3000};
    for (size_t i = 0; i < sizeof as / sizeof *as; i++) {
        double terms = 0;
        for (double n = 0; n < 1e6; n++)
            terms += (as[i] + terms / 2) / (as[i] + n);
        assert_near(gf_term_growth_terms(as[i], 1e6) / terms, 1, .02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_formula), cmocka_unit_test(what_was_fitted_comes_out),
        cmocka_unit_test(limits_are_numbers), cmocka_unit_test(the_process_is_followed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
