#include "cluster/indexes.h"
#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/passes/nearest_centres.h"

#include <string.h>

/* Three centres that share no term, by hand. */
static void by_hand(void **state)
{
    (void)state;
    static const float centres[] = {1, 0, 0, 0, 0.6f, 0.8f, 1, 1, 0}, row[] = {0, 0.8f, 0.6f};
    gf_error err;
    gf_csr x = rows_by_hand(centres, 3, 3), y = rows_by_hand(row, 1, 3);
    gf_centres c;
    gf_nearest_centres l;
    assert_ok(gf_centres_init(&c, 3, 3, &err));
    for (uint32_t j = 0; j < 3; j++)
        assert_ok(gf_centres_set_row(&c, j, gf_csr_row(&x, j), &err));
    assert_ok(gf_nearest_centres_init(&l, &c, NULL, &err));
    gf_nearest_two two = gf_nearest_centres_find(&l, 0, gf_csr_row(&y, 0));
    assert_int_equal(two.cluster, 1);
    assert_int_equal(two.runner_up, 2);
    assert_near(two.similarity, 0.96, 1e-6);
    assert_near(two.of_second, 0.56568542, 1e-6);
    gf_nearest_centres_release(&l);
    gf_centres_release(&c);
    gf_csr_release(&x);
    gf_csr_release(&y);
}

/*
 * The result of all dot products, with some centres and with so many that blocks are left out, in
 * whatever order they lie.
 */
static void check(const gf_csr *x, const gf_centres *c, const float *key)
{
    gf_error err;
    gf_nearest_centres l;
    assert_ok(gf_nearest_centres_init(&l, c, key, &err));
    for (uint32_t j = 1; key && j < c->k; j++)
        assert_true(key[l.index.cluster_of[j - 1]] >= key[l.index.cluster_of[j]]);
    assert_int_equal(l.index.ceiling != NULL, c->k >= GF_CEILINGS);
    for (uint32_t i = 0; i < x->n_rows; i++)
        check_nearest(&l.index, c, gf_csr_row(x, i),
                      gf_nearest_centres_find(&l, 0, gf_csr_row(x, i)));
    gf_nearest_centres_release(&l);
}

static void the_best_two_are_found(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 40, GF_CEILINGS - 1, GF_CEILINGS, GF_CEILINGS + 50};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
        uint32_t group[1200];
        float key[GF_CEILINGS + 50];
        for (uint32_t j = 0; j < ks[i]; j++)
            key[j] = (float)gf_random_below(&random, ks[i]);
        gf_csr x = rows_planted(1200, 60, 3, &random, group), y = rows_random(40, 60, 20, &random);
        gf_centres distinct = rows_as_centres(&x, ks[i], &random);
        gf_centres mixed = rows_random_centres(&x, ks[i], &random);
        y.n_cols = x.n_cols;
        check(&y, &distinct, NULL);
        check(&y, &distinct, key);
        check(&y, &mixed, NULL);
        check(&y, &mixed, key);
        gf_centres_release(&distinct);
        gf_centres_release(&mixed);
        gf_csr_release(&x);
        gf_csr_release(&y);
    }
}

/* ---- rows that have all terms ---------------------------------------------------------------- */

static gf_csr full_rows(uint32_t n, uint32_t n_cols, gf_random *random)
{
    float *values = gf_array((size_t)n * n_cols, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < (size_t)n * n_cols; i++)
        values[i] = (float)gf_random_unit(random) - 0.4f;
    gf_csr x = rows_by_hand(values, n, n_cols);
    gf_free(values);
    assert_int_equal(gf_csr_nnz(&x), (uint64_t)n * n_cols);
    return x;
}

/* Rows side by side are told what each alone is, bit for bit, by every kernel and for any number of
 * rows at once. */
static void full_rows_side_by_side(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 16, 33, 200, GF_CEILINGS + 7};
    static const char *const kernels[] = {"portable", "avx2", "avx512", "neon"};
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
        gf_csr x = full_rows(GF_CEILINGS + 20, 19, &random);
        gf_centres c;
        gf_nearest_centres l;
        assert_ok(gf_centres_init(&c, ks[i], x.n_cols, &err));
        for (uint32_t j = 0; j < ks[i]; j++)
            assert_ok(gf_centres_set_row(&c, j, gf_csr_row(&x, j / 2 * 2), &err)); /* some twice */
        assert_ok(gf_nearest_centres_init(&l, &c, NULL, &err));
        assert_int_equal(l.beside, GF_NEAREST_ROWS);
        for (size_t n_kernel = 0; n_kernel < sizeof kernels / sizeof kernels[0]; n_kernel++) {
            l.kernels = gf_scoring_kernels_named(kernels[n_kernel]);
            for (uint32_t n = 1, at = 0; l.kernels && n <= l.beside; at += n++) {
                gf_row_view rows[GF_NEAREST_ROWS];
                gf_nearest_two two[GF_NEAREST_ROWS];
                for (uint32_t r = 0; r < n; r++)
                    rows[r] = gf_csr_row(&x, at + r);
                gf_nearest_centres_find_full(&l, 0, rows, n, two);
                for (uint32_t r = 0; r < n; r++) {
                    gf_nearest_two alone = gf_nearest_centres_find(&l, 0, rows[r]);
                    assert_int_equal(two[r].cluster, alone.cluster);
                    assert_int_equal(two[r].runner_up, alone.runner_up);
                    assert_true(two[r].similarity == alone.similarity);
                    assert_true(two[r].of_second == alone.of_second);
                }
            }
        }
        gf_nearest_centres_release(&l);
        gf_centres_release(&c);
        gf_csr_release(&x);
    }
}

/* Where a centre lacks a term that few have, rows are looked up one by one. */
static void other_centres_take_no_full_rows(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 4);
    gf_csr x = rows_random(50, 100, 20, &random);
    gf_centres c = rows_random_centres(&x, 40, &random);
    gf_nearest_centres l;
    assert_ok(gf_nearest_centres_init(&l, &c, NULL, &err));
    assert_int_equal(l.beside, 0);
    gf_nearest_centres_release(&l);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

/* ---- several workers ------------------------------------------------------------------------- */

typedef struct finding {
    const gf_nearest_centres *locator;
    const gf_csr *x;
    gf_nearest_two *found; /* of each row */
} finding;

static gf_status find_task(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)err;
    const finding *f = context;
    gf_row_view row = gf_csr_row(f->x, (uint32_t)i);
    memset(&f->found[i], 0, sizeof f->found[i]);
    f->found[i] = gf_nearest_centres_find(f->locator, worker, row);
    return GF_OK;
}

/* The same as one alone, bit for bit. */
static void workers_do_not_disturb_each_other(void **state)
{
    (void)state;
    enum { N = 2000 };
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_csr x = rows_random(N, 300, 40, &random);
    gf_centres c = rows_random_centres(&x, 1100, &random);
    gf_pool *pool = rows_pool(4);
    gf_nearest_centres l;
    gf_nearest_two *found = gf_calloc(N, sizeof *found);
    assert_non_null(found);
    assert_ok(gf_nearest_centres_init(&l, &c, NULL, &err));
    assert_ok(gf_nearest_centres_make_room(&l, 4, &err));
    finding f = {&l, &x, found};
    assert_ok(gf_pool_run(pool, N, find_task, &f, NULL, &err));
    for (uint32_t i = 0; i < N; i++) {
        gf_nearest_two two = gf_nearest_centres_find(&l, 0, gf_csr_row(&x, i));
        assert_int_equal(found[i].cluster, two.cluster);
        assert_int_equal(found[i].runner_up, two.runner_up);
        assert_true(found[i].similarity == two.similarity && found[i].of_second == two.of_second);
    }
    gf_free(found);
    gf_nearest_centres_release(&l);
    gf_pool_free(pool);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

/* ---- failing allocations --------------------------------------------------------------------- */

static gf_status locate_swept(void *context, gf_error *err)
{
    gf_nearest_centres l;
    gf_status st = gf_nearest_centres_init(&l, context, NULL, err);
    if (st != GF_OK) return st;
    st = gf_nearest_centres_make_room(&l, 3, err);
    gf_nearest_centres_release(&l);
    return st;
}

static void failing_allocations(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    gf_csr x = rows_random(50, 100, 20, &random);
    gf_centres c = rows_random_centres(&x, GF_CEILINGS, &random);
    gf_test_sweep(locate_swept, NULL, &c);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(the_best_two_are_found),
        cmocka_unit_test(full_rows_side_by_side),
        cmocka_unit_test(other_centres_take_no_full_rows),
        cmocka_unit_test(workers_do_not_disturb_each_other),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests_name("locate", tests, NULL, NULL);
}
