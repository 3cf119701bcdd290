#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/passes/points.h"

#include <math.h>
#include <string.h>

static void unsound_rows_are_refused(void **state)
{
    (void)state;
    gf_error err;
    const float values[] = {1, 2, 0, 3, 0, 4};
    gf_csr x = rows_by_hand(values, 2, 3), y = rows_with_empty(&x, 2);
    assert_ok(gf_points_check(NULL, &y, &err));
    y.val[3] *= 1.0004f;
    assert_ok(gf_points_check(NULL, &y, &err));
    y.val[3] *= 1.01f;
    assert_status(GF_EINVAL, gf_points_check(NULL, &y, &err));
    y.val[3] = INFINITY;
    assert_status(GF_EINVAL, gf_points_check(NULL, &y, &err));
    gf_csr_release(&y);
    y = rows_with_empty(&x, 2);
    y.val[0] = nextafterf(y.val[0], 1); /* a bit below 2^-24 */
    assert_status(GF_EINVAL, gf_points_check(NULL, &y, &err));
    assert_string_equal(err.message, "row 0 has values that are no multiples of 2^-24");
    gf_csr_release(&x);
    gf_csr_release(&y);
}

/* Each of the 10 pairs of 5 is as likely: chi-square of 9 degrees, above 60 once in 10^9. */
static void samples_are_uniform(void **state)
{
    (void)state;
    enum { DRAWS = 10000 };
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    double count[5][5] = {{0}}, chi_square = 0;
    uint32_t rows[5];
    for (int i = 0; i < DRAWS; i++) {
        gf_points_sample(5, 2, &random, rows);
        assert_true(rows[0] < rows[1] && rows[1] < 5);
        count[rows[0]][rows[1]]++;
    }
    for (int a = 0; a < 5; a++)
        for (int b = a + 1; b < 5; b++)
            chi_square += pow(count[a][b] - DRAWS / 10.0, 2) / (DRAWS / 10.0);
    assert_true(chi_square < 60);
    gf_points_sample(5, 5, &random, rows);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(rows[i], i);
    gf_points_sample(5, 0, &random, rows);
}

/* Rows are gathered, and packed so that no column is empty; each entry is what it was. */
static void gathers_and_packs(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    for (int run = 0; run < 10; run++) {
        gf_csr all = rows_random(100, 400, 6, &random), x = rows_with_empty(&all, 20), part;
        float weight[120], *w = NULL;
        uint32_t rows[50], *term = NULL, used = 0;
        gf_points points = {&x, run % 2 ? weight : NULL};
        for (uint32_t i = 0; i < 120; i++)
            weight[i] = (float)i;
        gf_points_sample(120, 50, &random, rows);
        assert_ok(gf_points_gather(NULL, &points, rows, 50, &part, &w, &err));
        assert_ok(gf_points_pack_columns(&part, &term, &err));
        assert_ok(gf_csr_check(&part, &err));
        bool *seen = gf_calloc(400, sizeof *seen);
        assert_non_null(seen);
        for (uint32_t r = 0; r < 50; r++) {
            gf_row_view from = gf_csr_row(&x, rows[r]), to = gf_csr_row(&part, r);
            assert_int_equal(from.n, to.n);
            if (w) assert_near(w[r], weight[rows[r]], 0);
            for (uint32_t p = 0; p < to.n; p++) {
                assert_int_equal(term[to.col[p]], from.col[p]);
                assert_near(to.val[p], from.val[p], 0);
                used += !seen[to.col[p]];
                seen[to.col[p]] = true;
            }
        }
        assert_int_equal(part.n_cols, used);
        assert_true((w != NULL) == (points.weight != NULL));
        gf_free(seen);
        gf_free(term);
        gf_free(w);
        gf_csr_release(&part);
        gf_csr_release(&x);
        gf_csr_release(&all);
    }
}

static gf_status gather_swept(void *context, gf_error *err)
{
    const float weight[] = {1, 2, 3};
    const uint32_t rows[] = {0, 2};
    gf_points points = {context, weight};
    gf_csr x;
    float *w;
    uint32_t *term;
    gf_status st = gf_points_gather(NULL, &points, rows, 2, &x, &w, err);
    if (st != GF_OK) return st;
    st = gf_points_pack_columns(&x, &term, err);
    if (st == GF_OK) gf_free(term);
    gf_free(w);
    gf_csr_release(&x);
    return st;
}

/* Products of rows with each other's sums stay, and no entry more is there than needed. */
static void joins_what_one_row_has(void **state)
{
    (void)state;
    gf_error err;
    const float values[] = {3, 4, 0, 0, 0, 5, /* columns 0, 1 and 5: all but 5 its own */
                            0, 0, 2, 0, 0, 1, /* 2 is shared, too */
                            0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0};
    gf_csr x = rows_by_hand(values, 4, 6), y;
    assert_ok(gf_points_join_lone_columns(&x, &y, &err));
    assert_ok(gf_csr_check(&y, &err));
    assert_int_equal(y.n_rows, 4);
    assert_int_equal(y.n_cols, 4); /* 2, 5, and one each of rows 0 and 3 */
    static const uint32_t col[] = {1, 2, 0, 1, 0, 3}, ends[] = {2, 4, 5, 6};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(y.start[i + 1], ends[i]);
    assert_memory_equal(y.col, col, sizeof col);
    assert_near(y.val[1], 5 / sqrt(50), 1e-6);
    assert_near(y.val[0], 5 / sqrt(50), 1e-6);
    gf_csr_release(&x);
    gf_csr_release(&y);
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    x = rows_random(50, 300, 12, &random);
    assert_ok(gf_points_join_lone_columns(&x, &y, &err));
    assert_true(gf_csr_nnz(&y) < gf_csr_nnz(&x));
    for (uint32_t i = 0; i < x.n_rows; i++)
        for (uint32_t other = 0; other <= i; other++)
            assert_near(gf_csr_row_dot(gf_csr_row(&y, i), gf_csr_row(&y, other)),
                        gf_csr_row_dot(gf_csr_row(&x, i), gf_csr_row(&x, other)), 1e-6);
    gf_csr_release(&x);
    gf_csr_release(&y);
}

static gf_status join_swept(void *context, gf_error *err)
{
    gf_csr y;
    gf_status st = gf_points_join_lone_columns(context, &y, err);
    if (st == GF_OK) gf_csr_release(&y);
    return st;
}

static void a_failed_allocation_is_reported(void **state)
{
    (void)state;
    const float values[] = {1, 2, 0, 3, 0, 4, 0, 1, 0};
    gf_csr x = rows_by_hand(values, 3, 3);
    gf_test_sweep(gather_swept, NULL, &x);
    gf_test_sweep(join_swept, NULL, &x);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsound_rows_are_refused),
        cmocka_unit_test(samples_are_uniform),
        cmocka_unit_test(gathers_and_packs),
        cmocka_unit_test(joins_what_one_row_has),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("points", tests, NULL, NULL);
}
