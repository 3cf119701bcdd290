#include "support/test.h"

#include "base/memory.h"
#include "cluster/measure/k_curve.h"

#include <math.h>
#include <string.h>

/* A point of a curve by its worth, which is what the rules are about. */
typedef struct point {
    uint32_t k;
    double worth;
} point;

#define POINTS(points) points, sizeof(points) / sizeof(points)[0]

static gf_k_curve curve_of(const point *points, size_t n)
{
    gf_error err;
    gf_k_curve c = {0};
    for (size_t i = 0; i < n; i++)
        assert_ok(gf_k_curve_add(&c, points[i].k, points[i].worth * pow(points[i].k, 0.02), &err));
    assert_int_equal(c.n, n);
    return c;
}

static uint32_t choice(const point *points, size_t n)
{
    gf_k_curve c = curve_of(points, n);
    uint32_t k = gf_k_curve_choose(&c);
    gf_k_curve_release(&c);
    return k;
}

/* A bit for each point, the first lowest: the curve would go on behind it. */
static uint64_t going_on(const point *points, size_t n)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        gf_k_curve c = curve_of(points, i + 1);
        bits |= (uint64_t)gf_k_curve_goes_on(&c) << i;
        gf_k_curve_release(&c);
    }
    return bits;
}

/* ---- the peak -------------------------------------------------------------------------------- */

static void a_single_peak_is_chosen(void **state)
{
    (void)state;
    const point peak[] = {{1, 0.02}, {2, 0.2}, {3, 0.3}, {4, 0.4}, {5, 0.5}, {6, 0.4}, {7, 0.3}};
    assert_int_equal(choice(POINTS(peak)), 5);
    const point rising[] = {{1, 0.02}, {2, 0.2}, {3, 0.3}, {4, 0.4}};
    assert_int_equal(choice(POINTS(rising)), 4);
}

static void without_separation_there_is_one_cluster(void **state)
{
    (void)state;
    const point none[] = {{1, 0.02}, {2, 0.015}, {3, 0.019}, {4, -0.5}, {5, 0.01}};
    assert_int_equal(choice(POINTS(none)), 1);
    assert_int_equal(choice(none, 1), 1);
    const point late[] = {{1, 0.02}, {2, 0.015}, {3, 0.01}, {4, 0.021}};
    assert_int_equal(choice(POINTS(late)), 4);
}

/* A valley of 8 % must be left by more than 8 %; without a valley whatever is higher is the peak.
 */
static void a_rise_behind_a_valley_must_outweigh_it(void **state)
{
    (void)state;
    point c[] = {{1, 0.02},  {2, 0.06},  {3, 0.08}, {4, 0.1},    {5, 0.094},
                 {6, 0.092}, {8, 0.095}, {10, 0.1}, {12, 0.103}, {15, 0.07}};
    assert_int_equal(choice(POINTS(c)), 4);
    c[8].worth = 0.1079;
    assert_int_equal(choice(POINTS(c)), 4);
    c[8].worth = 0.1081;
    assert_int_equal(choice(POINTS(c)), 12);
    c[8].worth = 0.103;
    c[4].worth = c[5].worth = 0.096; /* no valley: 96 % */
    assert_int_equal(choice(POINTS(c)), 12);
}

/* The depth of the deepest place counts. */
static void a_valley_is_as_deep_as_its_deepest_place(void **state)
{
    (void)state;
    point c[] = {{1, 0.02}, {2, 0.06}, {4, 0.1}, {5, 0.09}, {6, 0.1}, {7, 0.08}, {8, 0.115}};
    assert_int_equal(choice(POINTS(c)), 4);
    c[6].worth = 0.121;
    assert_int_equal(choice(POINTS(c)), 8);
}

/* Behind two or three clusters 95 % of their worth are enough, behind four they are not. */
static void few_clusters_give_way_to_what_comes_near(void **state)
{
    (void)state;
    point c[] = {{1, 0.02}, {2, 0.3}, {3, 0.27}, {4, 0.26}, {8, 0.286}, {10, 0.2}};
    assert_int_equal(choice(POINTS(c)), 8);
    c[4].worth = 0.284;
    assert_int_equal(choice(POINTS(c)), 2);
    point three[] = {{1, 0.02}, {2, 0.2}, {3, 0.3}, {4, 0.26}, {8, 0.286}, {10, 0.2}};
    assert_int_equal(choice(POINTS(three)), 8);
    three[4].worth = 0.284;
    assert_int_equal(choice(POINTS(three)), 3);
    const point four[] = {{1, 0.02}, {2, 0.2}, {4, 0.3}, {5, 0.26}, {8, 0.286}, {10, 0.2}};
    assert_int_equal(choice(POINTS(four)), 4);
}

/* ---- the plateau ----------------------------------------------------------------------------- */

static void the_middle_of_a_plateau_is_chosen(void **state)
{
    (void)state;
    /* from 10 to 18, whose middle by logarithms is 13.4: 12 is nearer to it than 16 */
    point c[] = {{1, 0.02},   {6, 0.4},    {8, 0.47}, {10, 0.496},
                 {12, 0.492}, {16, 0.494}, {18, 0.5}, {22, 0.45}};
    assert_int_equal(choice(POINTS(c)), 12);
    c[3].worth = 0.48; /* from 12 to 18: 14.7 */
    assert_int_equal(choice(POINTS(c)), 16);
    c[2].worth = 0.491; /* from 8 to 18, over 10: 12 */
    assert_int_equal(choice(POINTS(c)), 12);
    c[3].worth = 0.5;
    c[5].worth = c[6].worth = 0.48; /* from 8 to 12: 9.8 */
    assert_int_equal(choice(POINTS(c)), 10);
}

/* The worthier of two that lie as near to the middle. */
static void of_two_in_the_middle_the_worthier_is_chosen(void **state)
{
    (void)state;
    point c[] = {{1, 0.02}, {3, 0.3}, {4, 0.5}, {8, 0.499}, {16, 0.3}};
    assert_int_equal(choice(POINTS(c)), 4);
    c[2].worth = 0.498;
    assert_int_equal(choice(POINTS(c)), 8);
}

static void a_plateau_ends_at_a_valley(void **state)
{
    (void)state;
    const point c[] = {{1, 0.02}, {3, 0.3}, {4, 0.5}, {6, 0.46}, {10, 0.499}, {16, 0.498}};
    assert_int_equal(choice(POINTS(c)), 4);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void a_valley_ends_the_search_far_behind_its_peak(void **state)
{
    (void)state;
    const point four[] = {{1, 0.02}, {4, 0.5}, {6, 0.4}, {16, 0.4}, {23, 0.4}, {24, 0.4}};
    assert_int_equal(going_on(POINTS(four)), 0x1f);
    const point three[] = {{1, 0.02}, {3, 0.5}, {6, 0.4}, {18, 0.4}, {29, 0.4}, {36, 0.3}};
    assert_int_equal(going_on(POINTS(three)), 0x1f); /* behind few clusters as without a valley */
}

static void the_search_goes_on_while_the_worth_rises(void **state)
{
    (void)state;
    point c[] = {{1, 0.02},   {10, 0.3},   {29, 0.31},  {36, 0.32},   {45, 0.33},
                 {56, 0.329}, {70, 0.329}, {87, 0.329}, {108, 0.329}, {135, 0.329}};
    assert_int_equal(going_on(POINTS(c)), 0x1ff); /* five steps without a rise */
    c[7].worth = 0.319;                           /* 97 % of 0.33 are 0.3201 */
    assert_int_equal(going_on(c, 8), 0x7f);
    c[7].worth = 0.321;
    assert_int_equal(going_on(c, 8), 0xff);
}

/* ---- too little memory ----------------------------------------------------------------------- */

static gf_status add_many(void *context, gf_error *err)
{
    (void)context;
    gf_k_curve c = {0};
    gf_status st = GF_OK;
    for (uint32_t k = 1; k <= 100 && st == GF_OK; k++) {
        st = gf_k_curve_add(&c, k, 0.5, err);
        assert_int_equal(c.n, st == GF_OK ? k : k - 1);
    }
    for (uint32_t i = 0; i < c.n; i++)
        assert_int_equal(c.steps[i].k, i + 1);
    gf_k_curve_release(&c);
    return st;
}

static void failing_memory(void **state)
{
    (void)state;
    gf_test_sweep(add_many, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_peak_is_chosen),
        cmocka_unit_test(without_separation_there_is_one_cluster),
        cmocka_unit_test(a_rise_behind_a_valley_must_outweigh_it),
        cmocka_unit_test(a_valley_is_as_deep_as_its_deepest_place),
        cmocka_unit_test(few_clusters_give_way_to_what_comes_near),
        cmocka_unit_test(the_middle_of_a_plateau_is_chosen),
        cmocka_unit_test(of_two_in_the_middle_the_worthier_is_chosen),
        cmocka_unit_test(a_plateau_ends_at_a_valley),
        cmocka_unit_test(a_valley_ends_the_search_far_behind_its_peak),
        cmocka_unit_test(the_search_goes_on_while_the_worth_rises),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests_name("curve", tests, NULL, NULL);
}
