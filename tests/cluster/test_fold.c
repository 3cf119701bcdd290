#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/passes/fold.h"

#include <string.h>

static bool same(gf_row_view a, gf_row_view b)
{
    if (a.n != b.n) return false;
    for (uint32_t p = 0; p < a.n; p++)
        if (a.col[p] != b.col[p] || memcmp(&a.val[p], &b.val[p], sizeof(float)) != 0) return false;
    return true;
}

/* Rows a, empty, b, a, b, a: two points that stand for three rows and two. */
static void folds_by_hand(void **state)
{
    (void)state;
    gf_error err;
    const float values[] = {1, 2, 0, 0, 1, 1, 1, 2, 1, 1, 1, 2};
    const uint32_t point_of[] = {0, GF_NO_POINT, 1, 0, 1, 0};
    gf_csr x = rows_by_hand(values, 6, 2);
    gf_fold f;
    assert_ok(gf_fold_rows(NULL, &x, &f, &err));
    assert_int_equal(f.n, 2);
    assert_memory_equal(f.point_of, point_of, sizeof point_of);
    assert_near(f.weight[0], 3, 0);
    assert_near(f.weight[1], 2, 0);
    gf_points points = gf_fold_points(&f, &x);
    assert_ptr_equal(points.x, &f.x);
    assert_near(gf_csr_row_dot(gf_csr_row(points.x, 1), gf_csr_row(&x, 2)), 1, 1e-6);
    gf_fold_release(&f);
    assert_null(f.point_of);
    gf_fold_release(&f);
    gf_csr_release(&x);
}

/* Rows a, b, a, a, empty, b, a, a: none of a fold stands for more than two. */
static void rows_that_are_too_many_are_several(void **state)
{
    (void)state;
    gf_error err;
    const float values[] = {1, 2, 1, 1, 1, 2, 1, 2, 0, 0, 1, 1, 1, 2, 1, 2};
    const uint32_t point_of[] = {0, 1, 0, 2, GF_NO_POINT, 1, 2, 3};
    const float weight[] = {2, 2, 2, 1};
    gf_csr x = rows_by_hand(values, 8, 2);
    gf_fold f;
    assert_ok(gf_fold_rows_up_to(NULL, &x, 2, &f, &err));
    assert_int_equal(f.n, 4);
    assert_memory_equal(f.point_of, point_of, sizeof point_of);
    assert_memory_equal(f.weight, weight, sizeof weight);
    for (uint32_t i = 0; i < x.n_rows; i++)
        if (f.point_of[i] != GF_NO_POINT)
            assert_true(same(gf_csr_row(&x, i), gf_csr_row(&f.x, f.point_of[i])));
    gf_fold_release(&f);
    assert_ok(gf_fold_rows_up_to(NULL, &x, 5, &f, &err));
    assert_int_equal(f.n, 2);
    assert_near(f.weight[0], 5, 0);
    gf_fold_release(&f);
    gf_csr_release(&x);
}

static void distinct_rows_are_not_copied(void **state)
{
    (void)state;
    gf_error err;
    const float values[] = {1, 2, 2, 1, 1, 0};
    gf_csr x = rows_by_hand(values, 3, 2), none = rows_by_hand(values, 0, 2);
    gf_csr empty = rows_with_empty(&none, 3);
    gf_fold f;
    assert_ok(gf_fold_rows(NULL, &x, &f, &err));
    assert_int_equal(f.n, 3);
    assert_null(f.weight);
    assert_ptr_equal(gf_fold_points(&f, &x).x, &x);
    assert_null(gf_fold_points(&f, &x).weight);
    gf_fold_release(&f);
    assert_ok(gf_fold_rows(NULL, &none, &f, &err));
    assert_int_equal(f.n, 0);
    gf_fold_release(&f);
    assert_ok(gf_fold_rows(NULL, &empty, &f, &err));
    assert_int_equal(f.n, 0);
    assert_int_equal(f.point_of[2], GF_NO_POINT);
    gf_fold_release(&f);
    gf_csr_release(&x);
    gf_csr_release(&none);
    gf_csr_release(&empty);
}

/* Every pair of rows shares a point where they are equal, and no other does. */
static void groups_as_pairs_do(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    enum { N = 300 };
    uint32_t from[N];
    for (int run = 0; run < 6; run++) {
        gf_csr few = rows_random(40 * (uint32_t)(run + 1), run % 2 ? 3 : 60, 3, &random);
        gf_csr distinct = rows_with_empty(&few, 3);
        for (uint32_t i = 0; i < N; i++)
            from[i] = (uint32_t)gf_random_below(&random, distinct.n_rows);
        gf_csr x = rows_pick(&distinct, from, N);
        gf_fold f;
        float weight = 0, entries = 0;
        assert_ok(gf_fold_rows(NULL, &x, &f, &err));
        for (uint32_t i = 0; i < N; i++) {
            gf_row_view row = gf_csr_row(&x, i);
            assert_true((f.point_of[i] == GF_NO_POINT) == (row.n == 0));
            entries += row.n > 0;
            if (row.n) assert_true(same(row, gf_csr_row(&f.x, f.point_of[i])));
            for (uint32_t other = 0; row.n && other < i; other++)
                assert_true((f.point_of[i] == f.point_of[other]) ==
                            same(row, gf_csr_row(&x, other)));
        }
        for (uint32_t p = 0; p < f.n; p++)
            weight += f.weight[p];
        assert_near(weight, entries, 0);
        gf_fold_release(&f);
        gf_csr_release(&x);
        gf_csr_release(&few);
        gf_csr_release(&distinct);
    }
}

/* Rows of several tasks, by threads and by none. */
static void threads_fold_alike(void **state)
{
    (void)state;
    gf_error err;
    enum { N = 10000 };
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_csr few = rows_random(7000, 50, 4, &random);
    uint32_t *from = gf_array(N, sizeof *from);
    assert_non_null(from);
    for (uint32_t i = 0; i < N; i++)
        from[i] = (uint32_t)gf_random_below(&random, few.n_rows);
    gf_csr x = rows_pick(&few, from, N);
    gf_pool *pool = rows_pool(3);
    gf_fold one, three;
    assert_ok(gf_fold_rows(NULL, &x, &one, &err));
    assert_ok(gf_fold_rows(pool, &x, &three, &err));
    assert_int_equal(one.n, three.n);
    assert_true(one.n < N);
    assert_memory_equal(one.point_of, three.point_of, N * sizeof *one.point_of);
    assert_memory_equal(one.weight, three.weight, one.n * sizeof *one.weight);
    assert_memory_equal(one.x.start, three.x.start, (one.n + 1) * sizeof *one.x.start);
    assert_memory_equal(one.x.col, three.x.col, gf_csr_nnz(&one.x) * sizeof *one.x.col);
    assert_memory_equal(one.x.val, three.x.val, gf_csr_nnz(&one.x) * sizeof *one.x.val);
    for (uint32_t i = 0; i < N; i++)
        assert_true(same(gf_csr_row(&x, i), gf_csr_row(&three.x, three.point_of[i])));
    gf_fold_release(&one);
    gf_fold_release(&three);
    gf_pool_free(pool);
    gf_free(from);
    gf_csr_release(&x);
    gf_csr_release(&few);
}

static gf_fold untouched, result;

static gf_status fold_swept(void *context, gf_error *err)
{
    gf_status st = gf_fold_rows_up_to(NULL, context, 2, &result, err);
    if (st == GF_OK) gf_fold_release(&result);
    return st;
}

static void is_untouched(void *context)
{
    (void)context;
    assert_memory_equal(&result, &untouched, sizeof untouched);
}

static void a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    const float values[] = {1, 2, 1, 2, 1, 0, 0, 0};
    gf_csr x = rows_by_hand(values, 4, 2);
    memset(&untouched, 0x55, sizeof untouched);
    memcpy(&result, &untouched, sizeof result);
    gf_test_sweep(fold_swept, is_untouched, &x);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_by_hand),
        cmocka_unit_test(rows_that_are_too_many_are_several),
        cmocka_unit_test(distinct_rows_are_not_copied),
        cmocka_unit_test(groups_as_pairs_do),
        cmocka_unit_test(threads_fold_alike),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
