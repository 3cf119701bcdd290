#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/moves/seed.h"

#include <math.h>
#include <string.h>

/* Rows at right angles: row i has column i alone, so that a centre says which row it is. */
static gf_csr rows_apart(uint32_t n)
{
    gf_error err;
    gf_csr x;
    assert_ok(gf_csr_init(&x, n, n, n, &err));
    for (uint32_t i = 0; i < n; i++) {
        x.start[i + 1] = i + 1;
        x.col[i] = i;
        x.val[i] = 1;
    }
    return x;
}

static gf_centres seed(const gf_points *points, uint32_t k, gf_random *random)
{
    gf_error err;
    gf_centres c;
    assert_ok(gf_centres_init(&c, k, points->x->n_cols, &err));
    assert_ok(gf_seed_centres(NULL, points, random, &c, NULL, &err));
    return c;
}

/* ---- which rows ------------------------------------------------------------------------------ */

/* Chi-square of `draws` first seeds of 100 rows against their weights, 99 degrees of freedom. */
static double first_seed_chi_square(const float *weight, int draws, gf_random *random)
{
    enum { N = 100 };
    gf_csr x = rows_apart(N);
    gf_points points = {&x, weight};
    double count[N] = {0}, total = 0, chi_square = 0;
    for (int i = 0; i < draws; i++) {
        gf_centres c = seed(&points, 1, random);
        count[c.at[0].term[0]]++;
        gf_centres_release(&c);
    }
    for (uint32_t i = 0; i < N; i++)
        total += (double)gf_points_weight(&points, i);
    for (uint32_t i = 0; i < N; i++) {
        double expected = draws * (double)gf_points_weight(&points, i) / total;
        chi_square += (count[i] - expected) * (count[i] - expected) / expected;
    }
    gf_csr_release(&x);
    return chi_square;
}

/* Above 200 once in ten million. */
static void the_first_seed_is_drawn_by_weight(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    float weight[100];
    for (int i = 0; i < 100; i++)
        weight[i] = (float)(1 + i % 5);
    assert_true(first_seed_chi_square(NULL, 10000, &random) < 200);
    assert_true(first_seed_chi_square(weight, 20000, &random) < 200);
}

/*
 * Two groups of 100 rows with cosines of 0.9 within and 0 across. After a first seed, the second
 * comes from its group with the odds 99 * 0.6 to 100 * 1.5.
 */
static void further_seeds_are_drawn_by_distance(void **state)
{
    (void)state;
    enum { N = 200, DRAWS = 4000 };
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_csr x;
    assert_ok(gf_csr_init(&x, N, N + 2, 2 * N, &err));
    for (uint32_t i = 0; i < N; i++) {
        x.start[i + 1] = 2 * (uint64_t)i + 2;
        x.col[2 * i] = i % 2;
        x.col[2 * i + 1] = 2 + i;
        x.val[2 * i] = sqrtf(0.9f);
        x.val[2 * i + 1] = sqrtf(0.1f);
    }
    gf_points points = {&x, NULL};
    int together = 0;
    for (int i = 0; i < DRAWS; i++) {
        gf_centres c = seed(&points, 2, &random);
        assert_int_not_equal(c.at[0].term[1], c.at[1].term[1]);
        together += c.at[0].term[0] == c.at[1].term[0];
        gf_centres_release(&c);
    }
    double share = 59.4 / 209.4;
    assert_near(together, DRAWS * share, 6 * sqrt(DRAWS * share * (1 - share)));
    gf_csr_release(&x);
}

/* Greedy seeds (fewer than 100 rows each) find every one of well separated groups. */
static void greedy_seeds_are_spread(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    uint32_t from[60];
    for (uint32_t i = 0; i < 60; i++)
        from[i] = i % 4;
    gf_csr apart = rows_apart(4), x = rows_pick(&apart, from, 60);
    gf_points points = {&x, NULL};
    for (int i = 0; i < 50; i++) {
        gf_centres c = seed(&points, 4, &random);
        uint32_t seen = 0;
        for (uint32_t j = 0; j < 4; j++)
            seen |= 1u << c.at[j].term[0];
        assert_int_equal(seen, 15);
        gf_centres_release(&c);
    }
    gf_csr_release(&apart);
    gf_csr_release(&x);
}

/* As many seeds as rows are all rows, each once, also where they are equal. */
static void no_row_is_taken_twice(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    gf_csr x = rows_apart(70);
    gf_points points = {&x, NULL};
    for (uint32_t k = 60; k <= 70; k += 5) {
        bool taken[70] = {false};
        gf_centres c = seed(&points, k, &random);
        for (uint32_t j = 0; j < k; j++) {
            assert_int_equal(c.at[j].n, 1);
            assert_false(taken[c.at[j].term[0]]);
            taken[c.at[j].term[0]] = true;
        }
        gf_centres_release(&c);
    }
    const float same[] = {1, 2, 1, 2, 1, 2};
    gf_csr equal = rows_by_hand(same, 3, 2);
    points.x = &equal;
    gf_centres c = seed(&points, 3, &random);
    for (uint32_t j = 0; j < 3; j++)
        assert_int_equal(c.at[j].n, 2);
    gf_centres_release(&c);
    gf_csr_release(&equal);
    gf_csr_release(&x);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Fewer than 100 rows a cluster: candidates are compared, on threads. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 7);
    gf_csr x = rows_random(5000, 300, 10, &random);
    gf_points points = {&x, NULL};
    gf_random alone = gf_random_seed(3, 0);
    gf_centres expected = seed(&points, 60, &alone);
    for (unsigned threads = 1; threads < 5; threads += 2) {
        gf_pool *pool = rows_pool(threads);
        gf_random same = gf_random_seed(3, 0);
        gf_centres c;
        assert_ok(gf_centres_init(&c, 60, x.n_cols, &err));
        assert_ok(gf_seed_centres(pool, &points, &same, &c, NULL, &err));
        rows_assert_same_centres(&c, &expected);
        gf_centres_release(&c);
        gf_pool_free(pool);
    }
    gf_centres_release(&expected);
    gf_csr_release(&x);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static gf_status seed_three(const gf_points *points, uint32_t k, const gf_cancel *cancel,
                            gf_error *err)
{
    gf_random random = gf_random_seed(1, 0);
    gf_centres c;
    gf_status st = gf_centres_init(&c, k, points->x->n_cols, err);
    if (st != GF_OK) return st;
    st = gf_seed_centres(NULL, points, &random, &c, cancel, err);
    gf_centres_release(&c);
    return st;
}

static gf_status seed_swept(void *context, gf_error *err)
{
    return seed_three(context, 3, NULL, err);
}

static void failures_are_reported(void **state)
{
    (void)state;
    gf_error err;
    float weight[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    gf_csr x = rows_apart(12);
    gf_points points = {&x, weight};
    gf_cancel cancel = {0};
    assert_status(GF_EINVAL, seed_three(&points, 0, NULL, &err));
    assert_status(GF_EINVAL, seed_three(&points, 13, NULL, &err));
    assert_string_equal(err.message, "13 clusters of 12 rows");
    gf_test_sweep(seed_swept, NULL, &points);
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, seed_three(&points, 3, &cancel, &err));
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_seed_is_drawn_by_weight),
        cmocka_unit_test(further_seeds_are_drawn_by_distance),
        cmocka_unit_test(greedy_seeds_are_spread),
        cmocka_unit_test(no_row_is_taken_twice),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(failures_are_reported),
    };
    return cmocka_run_group_tests_name("seed", tests, NULL, NULL);
}
