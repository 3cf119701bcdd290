#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/moves/splitter.h"

#include <string.h>

static gf_split split(const gf_points *points, const uint32_t *rows, uint32_t n, double length,
                      uint64_t seed)
{
    gf_error err;
    gf_random random = gf_random_seed(seed, 0);
    gf_splitter *splitter;
    gf_split s, again;
    assert_ok(gf_splitter_create(points->x->n_cols, &splitter, &err));
    gf_random same = random;
    assert_ok(gf_split_rows(splitter, points, rows, n, length, &random, NULL, &s, &err));
    /* A split leaves nothing in the scratch memory that another one would see. */
    assert_ok(gf_split_rows(splitter, points, rows, n, length, &same, NULL, &again, &err));
    assert_memory_equal(s.second, again.second, n * sizeof *s.second);
    assert_true(s.gain == again.gain);
    gf_split_release(&again);
    gf_splitter_free(splitter);
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
    assert_near(s.length[s.second[0]], 1, 1e-6);
    assert_near(s.length[s.second[1]], 2, 1e-6);
    assert_int_equal(s.n, 3);
    assert_true(s.second[1] == s.second[2] && s.second[0] != s.second[1]);
    gf_split_release(&s);
    gf_split_release(&s);
    gf_csr_release(&x);
}

/* Neither half is empty, and they gain what is said. */
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
    assert_near(s.length[0] + s.length[1], whole + s.gain, 1e-6 * (1 + whole));
    gf_split_release(&s);
    gf_csr_release(&part);
}

static void halves_gain_what_is_said(void **state)
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

/* All rows, but for one split of a thousand or so, whose two seeds mix the groups for good. */
static void tells_two_groups_apart(void **state)
{
    (void)state;
    uint64_t seed = gf_test_seed();
    gf_random random = gf_random_seed(seed, 1);
    uint32_t group[300], rows[300], apart = 0;
    for (uint64_t i = 0; i < 10; i++) {
        gf_csr x = rows_planted(300, 2, 1, &random, group);
        gf_points points = {&x, NULL};
        for (uint32_t r = 0; r < 300; r++)
            rows[r] = r;
        gf_split s = split(&points, rows, 300, 0, seed + i);
        uint32_t alike = 0;
        for (uint32_t r = 0; r < 300; r++)
            alike += (group[r] == group[0]) == (s.second[r] == s.second[0]);
        apart += alike == 300;
        gf_split_release(&s);
        gf_csr_release(&x);
    }
    assert_true(apart >= 9);
}

/*
 * No row gains by changing sides, beyond what ends the sweeps; but for one split of a thousand or
 * so, whose six sweeps were too few.
 */
static void no_row_gains_by_a_move(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    enum { N = 60 };
    uint32_t rows[N], half[N], ended = 0;
    for (uint32_t r = 0; r < N; r++)
        rows[r] = r;
    for (uint64_t i = 0; i < 10; i++) {
        gf_csr x = rows_random(N, 12, 4, &random);
        gf_points points = {&x, NULL};
        gf_split s = split(&points, rows, N, 0, i);
        for (uint32_t r = 0; r < N; r++)
            half[r] = s.second[r];
        double objective = rows_objective(&x, NULL, half, 2), best = objective;
        for (uint32_t r = 0; r < N; r++) {
            half[r] ^= 1;
            double moved = rows_objective(&x, NULL, half, 2);
            best = moved > best ? moved : best;
            half[r] ^= 1;
        }
        ended += best < objective * 1.01;
        gf_split_release(&s);
        gf_csr_release(&x);
    }
    assert_true(ended >= 9);
}

static gf_split untouched, result;

static gf_status split_swept(void *context, gf_error *err)
{
    gf_random random = gf_random_seed(1, 0);
    const uint32_t rows[] = {0, 2, 3, 5, 6, 7};
    const gf_points *points = context;
    gf_splitter *splitter = NULL;
    gf_status st = gf_splitter_create(points->x->n_cols, &splitter, err);
    if (st == GF_OK) st = gf_split_rows(splitter, points, rows, 6, 1, &random, NULL, &result, err);
    if (st == GF_OK) gf_split_release(&result);
    gf_splitter_free(splitter);
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
    gf_splitter *splitter;
    assert_ok(gf_splitter_create(12, &splitter, &err));
    memset(&untouched, 0x55, sizeof untouched);
    memcpy(&result, &untouched, sizeof result);
    assert_status(GF_EINVAL,
                  gf_split_rows(splitter, &points, rows, 1, 1, &random, NULL, &result, &err));
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED,
                  gf_split_rows(splitter, &points, rows, 2, 1, &random, &cancel, &result, &err));
    is_untouched(NULL);
    gf_splitter_free(splitter);
    gf_test_sweep(split_swept, is_untouched, &points);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_by_hand),          cmocka_unit_test(halves_gain_what_is_said),
        cmocka_unit_test(tells_two_groups_apart),  cmocka_unit_test(no_row_gains_by_a_move),
        cmocka_unit_test(failures_change_nothing),
    };
    return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
