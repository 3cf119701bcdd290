#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/split.h"

#include <string.h>

static gf_split split(const gf_points *points, const uint32_t *rows, uint32_t n, double length,
                      uint64_t seed)
{
    gf_error err;
    gf_random random = gf_random_seed(seed, 0);
    gf_split s;
    assert_ok(gf_split_rows(points, rows, n, length, &random, NULL, &s, &err));
    return s;
}

/* Rows 1, 3 and 4 of five: (1,0), (0,1), (0,1); sums of length 1 + 2 against sqrt(5). */
static void splits_by_hand(void **state)
{
    (void)state;
    const float values[] = {1, 1, 1, 0, 3, 4, 0, 1, 0, 1};
    const uint32_t rows[] = {1, 3, 4};
    gf_csr x = rows_by_hand(values, 5, 2);
    gf_points points = {&x, NULL};
    gf_split s = split(&points, rows, 3, 2.2360679775, 1);
    assert_near(s.gain, 3 - 2.2360679775, 1e-6);
    assert_int_equal(s.n, 3);
    assert_memory_equal(s.rows, rows, sizeof rows);
    assert_true(s.second[1] == s.second[2] && s.second[0] != s.second[1]);
    assert_int_equal(s.halves.at[s.second[0]].term[0], 0);
    assert_int_equal(s.halves.at[s.second[1]].term[0], 1);
    assert_int_equal(s.halves.n_terms, 2);
    gf_split_release(&s);
    gf_split_release(&s);
    gf_csr_release(&x);
}

/* The halves are the unit sums of their rows, over all columns, and gain what they say. */
static void check_split(const gf_points *points, const uint32_t *rows, uint32_t n, uint64_t seed)
{
    gf_csr part = rows_pick(points->x, rows, n);
    float weight[200];
    uint32_t half[200], one[200] = {0}, size[2] = {0};
    for (uint32_t i = 0; i < n; i++)
        weight[i] = gf_points_weight(points, rows[i]);
    double whole = rows_objective(&part, weight, one, 1);
    gf_split s = split(points, rows, n, whole, seed);
    for (uint32_t i = 0; i < n; i++) {
        half[i] = s.second[i];
        size[half[i]]++;
    }
    assert_true(size[0] > 0 && size[1] > 0);
    assert_near(s.gain, rows_objective(&part, weight, half, 2) - whole, 1e-6 * (1 + whole));
    double *sum = rows_dense_sums(&part, weight, half, 2);
    for (uint32_t j = 0; j < 2; j++) {
        const gf_centre *c = &s.halves.at[j];
        double length = rows_length(sum + (size_t)j * part.n_cols, part.n_cols);
        assert_near(c->length, length, 1e-9 * (1 + length));
        for (uint32_t p = 0; p < c->n; p++)
            assert_near(c->value[p], sum[(size_t)j * part.n_cols + c->term[p]] / length, 1e-6);
    }
    gf_free(sum);
    gf_split_release(&s);
    gf_csr_release(&part);
}

static void halves_are_the_sums_of_their_rows(void **state)
{
    (void)state;
    uint64_t seed = gf_test_seed();
    gf_random random = gf_random_seed(seed, 0);
    for (int i = 0; i < 30; i++) {
        gf_csr x = rows_random(200, 90, 7, &random);
        float weight[200];
        uint32_t rows[200], n = 0;
        for (uint32_t r = 0; r < 200; r++) {
            weight[r] = (float)(1 + gf_random_below(&random, 3));
            if (r < 2 || gf_random_below(&random, 3)) rows[n++] = r;
        }
        gf_points points = {&x, i % 2 ? weight : NULL};
        check_split(&points, rows, i < 5 ? 2 : n, seed + (uint64_t)i);
        gf_csr_release(&x);
    }
}

static void tells_two_groups_apart(void **state)
{
    (void)state;
    uint64_t seed = gf_test_seed();
    gf_random random = gf_random_seed(seed, 1);
    uint32_t group[300], rows[300];
    for (uint64_t i = 0; i < 10; i++) {
        gf_csr x = rows_planted(300, 2, 1, &random, group);
        gf_points points = {&x, NULL};
        for (uint32_t r = 0; r < 300; r++)
            rows[r] = r;
        gf_split s = split(&points, rows, 300, 0, seed + i);
        for (uint32_t r = 1; r < 300; r++)
            assert_true((group[r] == group[0]) == (s.second[r] == s.second[0]));
        gf_split_release(&s);
        gf_csr_release(&x);
    }
}

static gf_split untouched, result;

static gf_status split_swept(void *context, gf_error *err)
{
    gf_random random = gf_random_seed(1, 0);
    const uint32_t rows[] = {0, 2, 3, 5, 6, 7};
    gf_status st = gf_split_rows(context, rows, 6, 1, &random, NULL, &result, err);
    if (st == GF_OK) gf_split_release(&result);
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
    gf_csr x = rows_random(8, 12, 4, &random);
    const float weight[] = {1, 2, 1, 2, 1, 2, 1, 2};
    const uint32_t rows[] = {4, 5};
    gf_points points = {&x, weight};
    gf_cancel cancel = {0};
    memset(&untouched, 0x55, sizeof untouched);
    memcpy(&result, &untouched, sizeof result);
    assert_status(GF_EINVAL, gf_split_rows(&points, rows, 1, 1, &random, NULL, &result, &err));
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED,
                  gf_split_rows(&points, rows, 2, 1, &random, &cancel, &result, &err));
    is_untouched(NULL);
    gf_test_sweep(split_swept, is_untouched, &points);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_by_hand),
        cmocka_unit_test(halves_are_the_sums_of_their_rows),
        cmocka_unit_test(tells_two_groups_apart),
        cmocka_unit_test(failures_change_nothing),
    };
    return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
