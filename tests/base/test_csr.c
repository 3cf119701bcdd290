#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "grouperfish/csr.h"

#include <math.h>
#include <string.h>

/*
 *     1 . 2 .
 *     . . . .
 *     . 3 . 4
 */
static const uint64_t example_start[] = {0, 2, 2, 4};
static const uint32_t example_col[] = {0, 2, 1, 3};
static const float example_val[] = {1, 2, 3, 4};

static void fill_example(gf_csr *x)
{
    gf_error err;
    assert_ok(gf_csr_init(x, 3, 4, 4, &err));
    memcpy(x->start, example_start, sizeof example_start);
    memcpy(x->col, example_col, sizeof example_col);
    memcpy(x->val, example_val, sizeof example_val);
    assert_ok(gf_csr_check(x, &err));
}

static void rows_are_views(void **state)
{
    (void)state;
    gf_csr x;
    fill_example(&x);
    assert_int_equal(gf_csr_nnz(&x), 4);
    gf_row_view row = gf_csr_row(&x, 2);
    assert_int_equal(row.n, 2);
    assert_int_equal(row.col[0], 1);
    assert_int_equal(row.col[1], 3);
    assert_near(row.val[1], 4, 0);
    assert_int_equal(gf_csr_row(&x, 1).n, 0);
    gf_csr_release(&x);
    assert_null(x.start);
    gf_csr_release(&x);
}

static void transposes_the_example(void **state)
{
    (void)state;
    gf_error err;
    gf_csr x, t;
    fill_example(&x);
    assert_ok(gf_csr_transpose(&x, &t, &err));
    const uint64_t start[] = {0, 1, 2, 3, 4};
    const uint32_t col[] = {0, 2, 0, 2};
    const float val[] = {1, 3, 2, 4};
    assert_int_equal(t.n_rows, 4);
    assert_int_equal(t.n_cols, 3);
    assert_memory_equal(t.start, start, sizeof start);
    assert_memory_equal(t.col, col, sizeof col);
    assert_memory_equal(t.val, val, sizeof val);
    gf_csr_release(&x);
    gf_csr_release(&t);
}

static void empty_matrices_work(void **state)
{
    (void)state;
    gf_error err;
    gf_csr zero = {0}, none, t;
    assert_int_equal(gf_csr_nnz(&zero), 0);
    assert_ok(gf_csr_check(&zero, &err));
    assert_ok(gf_csr_init(&none, 0, 5, 0, &err));
    assert_ok(gf_csr_check(&none, &err));
    assert_ok(gf_csr_transpose(&none, &t, &err));
    assert_int_equal(t.n_rows, 5);
    assert_int_equal(gf_csr_nnz(&t), 0);
    assert_ok(gf_csr_check(&t, &err));
    gf_csr_release(&t);
    assert_ok(gf_csr_transpose(&zero, &t, &err));
    assert_int_equal(gf_csr_nnz(&t), 0);
    gf_csr_release(&t);
    gf_csr_release(&none);
}

static void check_refuses(gf_csr *x, const char *message)
{
    gf_error err;
    assert_status(GF_EINVAL, gf_csr_check(x, &err));
    assert_string_equal(err.message, message);
    assert_status(GF_EINVAL, gf_csr_check(x, NULL));
    memcpy(x->start, example_start, sizeof example_start);
    memcpy(x->col, example_col, sizeof example_col);
    memcpy(x->val, example_val, sizeof example_val);
}

static void damage_is_told(void **state)
{
    (void)state;
    gf_csr x;
    fill_example(&x);
    x.start[0] = 1;
    check_refuses(&x, "row 0 does not start at 0");
    x.start[2] = 1;
    check_refuses(&x, "row 1 ends before it starts");
    x.col[1] = 4;
    check_refuses(&x, "row 0: column 4 of 4");
    x.col[3] = UINT32_MAX;
    check_refuses(&x, "row 2: column 4294967295 of 4");
    x.col[1] = 0;
    check_refuses(&x, "row 0: column 0 does not rise");
    x.col[2] = 3;
    x.col[3] = 1;
    check_refuses(&x, "row 2: column 1 does not rise");
    x.val[0] = NAN;
    check_refuses(&x, "row 0: column 0 is not finite");
    x.val[3] = -INFINITY;
    check_refuses(&x, "row 2: column 3 is not finite");
    gf_csr_release(&x);
}

/* A start beyond the entries, with a fall behind it: told without a look at entries not there. */
static void wild_starts_are_not_followed(void **state)
{
    (void)state;
    gf_csr x;
    fill_example(&x);
    x.start[1] = (uint64_t)1 << 40;
    check_refuses(&x, "row 1 ends before it starts");
    x.start[1] = 5;
    x.start[2] = UINT64_MAX;
    check_refuses(&x, "row 2 ends before it starts");
    gf_csr_release(&x);
}

enum { MOST_ROWS = 12, MOST_COLS = 9 };

static void random_matrix(gf_random *r, gf_csr *x, float dense[MOST_ROWS][MOST_COLS])
{
    gf_error err;
    uint32_t rows = (uint32_t)gf_random_below(r, MOST_ROWS + 1);
    uint32_t cols = (uint32_t)gf_random_below(r, MOST_COLS + 1);
    uint64_t keep = gf_random_below(r, 5), nnz = 0;
    assert_ok(gf_csr_init(x, rows, cols, (uint64_t)rows * cols, &err));
    memset(dense, 0, sizeof(float) * MOST_ROWS * MOST_COLS);
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t j = 0; j < cols; j++) {
            if (gf_random_below(r, 4) >= keep) continue;
            dense[i][j] = 1 + (float)gf_random_unit(r);
            x->col[nnz] = j;
            x->val[nnz++] = dense[i][j];
        }
        x->start[i + 1] = nnz;
    }
    assert_ok(gf_csr_check(x, &err));
}

static void agrees_with_dense_matrices(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_error err;
    static float dense[MOST_ROWS][MOST_COLS];
    for (int round = 0; round < 2000; round++) {
        gf_csr x, t;
        random_matrix(&r, &x, dense);
        assert_ok(gf_csr_transpose(&x, &t, &err));
        assert_ok(gf_csr_check(&t, &err));
        assert_int_equal(t.n_rows, x.n_cols);
        assert_int_equal(t.n_cols, x.n_rows);
        assert_int_equal(gf_csr_nnz(&t), gf_csr_nnz(&x));
        for (uint32_t j = 0; j < t.n_rows; j++) {
            gf_row_view row = gf_csr_row(&t, j);
            for (uint32_t p = 0; p < row.n; p++)
                assert_near(row.val[p], dense[row.col[p]][j], 0);
        }
        for (uint32_t a = 0; a < x.n_rows; a++)
            for (uint32_t b = 0; b < x.n_rows; b++) {
                double sum = 0;
                for (uint32_t j = 0; j < x.n_cols; j++)
                    sum += (double)dense[a][j] * (double)dense[b][j];
                assert_near(gf_csr_row_dot(gf_csr_row(&x, a), gf_csr_row(&x, b)), sum, 1e-12);
            }
        gf_csr_release(&x);
        gf_csr_release(&t);
    }
}

static gf_status transpose_example(void *context, gf_error *err)
{
    gf_csr t = {.n_rows = 77};
    gf_status st = gf_csr_transpose(context, &t, err);
    if (st == GF_OK)
        gf_csr_release(&t);
    else
        assert_true(t.n_rows == 77 && !t.start && !t.col && !t.val);
    return st;
}

static void a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    gf_csr x;
    fill_example(&x);
    gf_test_sweep(transpose_example, NULL, &x);
    gf_csr_release(&x);
    gf_csr none = {.n_rows = 77};
    assert_status(GF_ENOMEM, gf_csr_init(&none, 1, 1, UINT64_MAX / 2, NULL));
    assert_int_equal(none.n_rows, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_views),
        cmocka_unit_test(transposes_the_example),
        cmocka_unit_test(empty_matrices_work),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(wild_starts_are_not_followed),
        cmocka_unit_test(agrees_with_dense_matrices),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests_name("csr", tests, NULL, NULL);
}
