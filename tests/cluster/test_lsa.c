#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/dense/lsa.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

static gf_lsa reduce(gf_pool *pool, const gf_csr *x, uint32_t dimensions)
{
    gf_error err;
    gf_lsa r;
    assert_ok(gf_lsa_reduce(pool, x, dimensions, 1, NULL, &r, &err));
    return r;
}

/* ---- the independent checker ----------------------------------------------------------------- */

/* All singular values, falling, by LAPACK over the dense matrix, transposed. */
static double *full_svd(const gf_csr *x)
{
    uint32_t n = x->n_rows, m = x->n_cols, least = n < m ? n : m;
    double *a = gf_calloc((size_t)n * m, sizeof *a), *s = gf_array(least, sizeof *s), none;
    assert_non_null(a);
    assert_non_null(s);
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t e = x->start[i]; e < x->start[i + 1]; e++)
            a[(size_t)i * m + x->col[e]] = (double)x->val[e];
    lapack_int info = LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'N', (lapack_int)m, (lapack_int)n, a,
                                     (lapack_int)m, s, &none, 1, &none, 1);
    assert_int_equal(info, 0);
    gf_free(a);
    return s;
}

static double dot(const gf_lsa *r, uint32_t i, uint32_t j)
{
    double s = 0;
    for (uint32_t t = 0; t < r->d; t++)
        s += (double)r->rows[(size_t)i * r->d + t] * (double)r->rows[(size_t)j * r->d + t];
    return s;
}

/* Columns of the reduced rows are orthogonal, each as long as its singular value. */
static void check_columns(const gf_lsa *r)
{
    for (uint32_t c = 0; c < r->d; c++) {
        for (uint32_t e = 0; e <= c; e++) {
            double s = 0;
            for (uint32_t i = 0; i < r->n; i++)
                s += (double)r->rows[(size_t)i * r->d + c] * (double)r->rows[(size_t)i * r->d + e];
            double both = r->sigma[c] * r->sigma[e];
            assert_near(s / both, c == e ? 1 : 0, 1e-4);
        }
        if (c) assert_true(r->sigma[c] <= r->sigma[c - 1]);
    }
}

/* ---- the decomposition ----------------------------------------------------------------------- */

/* Two equal rows and one apart: sqrt 2 and 1. */
static void by_hand(void **state)
{
    (void)state;
    const float values[] = {0.6f, 0.8f, 0, 0.6f, 0.8f, 0, 0, 0, 1};
    gf_csr x = rows_by_hand(values, 3, 3);
    gf_lsa r = reduce(NULL, &x, 3);
    assert_int_equal(r.n, 3);
    assert_int_equal(r.d, 2); /* there are no more */
    assert_near(r.sigma[0], sqrt(2), 1e-6);
    assert_near(r.sigma[1], 1, 1e-6);
    assert_near(fabs((double)r.rows[0]), 1, 1e-6);
    assert_near(r.rows[2], r.rows[0], 1e-6);
    assert_near(r.rows[1], 0, 1e-6);
    assert_near(fabs((double)r.rows[5]), 1, 1e-6);
    gf_lsa_release(&r);
    r = reduce(NULL, &x, 1);
    assert_int_equal(r.d, 1);
    assert_near(r.rows[2], 0, 1e-6);
    gf_lsa_release(&r);
    gf_csr_release(&x);
}

/* Column c times 0.9^c: singular values fall from one to the next, as a range finder needs it. */
static void let_columns_fall(gf_csr *x)
{
    for (uint64_t e = 0; e < gf_csr_nnz(x); e++)
        x->val[e] = (float)((double)x->val[e] * pow(0.9, x->col[e]));
}

/* The largest singular values are those of a full decomposition; wide matrices and tall ones. */
static void singular_values_are_those_of_a_full_decomposition(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 20; round++) {
        uint32_t n = 2 + (uint32_t)gf_random_below(&random, 400);
        uint32_t m = 2 + (uint32_t)gf_random_below(&random, 300);
        uint32_t dimensions = 1 + (uint32_t)gf_random_below(&random, 40);
        gf_csr x = rows_random(n, m, m < 30 ? m : 30, &random);
        let_columns_fall(&x);
        double *s = full_svd(&x);
        gf_lsa r = reduce(NULL, &x, dimensions);
        assert_true(r.d > 0 && r.d <= dimensions && r.d <= n && r.d <= m);
        for (uint32_t c = 0; c < r.d; c++)
            assert_near(r.sigma[c] / s[c], 1, 1e-3);
        if (r.d < dimensions && r.d < n && r.d < m) assert_true(s[r.d] < 2e-3 * s[0]);
        check_columns(&r);
        gf_lsa_release(&r);
        gf_free(s);
        gf_csr_release(&x);
    }
}

/*
 * If they hardly fall, the last ones are only about right: no value is above the true one, and
 * together they keep nearly as much as the best space of that many dimensions.
 */
static void flat_spectra_lose_little(void **state)
{
    (void)state;
    enum { D = 20 };
    gf_random random = gf_random_seed(gf_test_seed(), 5);
    for (int round = 0; round < 5; round++) {
        gf_csr x = rows_random(400, 300, 30, &random);
        double *s = full_svd(&x), best = 0, found = 0;
        gf_lsa r = reduce(NULL, &x, D);
        assert_int_equal(r.d, D);
        for (uint32_t c = 0; c < D; c++) {
            assert_true(r.sigma[c] <= s[c] * (1 + 1e-5));
            best += s[c] * s[c];
            found += r.sigma[c] * r.sigma[c];
        }
        assert_true(found > 0.98 * best);
        check_columns(&r);
        gf_lsa_release(&r);
        gf_free(s);
        gf_csr_release(&x);
    }
}

/* With all dimensions nothing is lost: products of rows are what they were. */
static void all_dimensions_keep_all_products(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_csr x = rows_random(50, 30, 12, &random);
    gf_lsa r = reduce(NULL, &x, 30);
    for (uint32_t i = 0; i < 50; i++)
        for (uint32_t j = 0; j < 50; j++)
            assert_near(dot(&r, i, j), gf_csr_row_dot(gf_csr_row(&x, i), gf_csr_row(&x, j)), 2e-4);
    gf_lsa_release(&r);
    gf_csr_release(&x);
}

/* More dimensions than there are; equal rows have one. */
static void dimensions_are_at_most_what_there_is(void **state)
{
    (void)state;
    const float equal[] = {0.6f, 0.8f, 0.6f, 0.8f, 0.6f, 0.8f};
    gf_csr x = rows_by_hand(equal, 3, 2);
    gf_lsa r = reduce(NULL, &x, 1000);
    assert_int_equal(r.d, 1);
    assert_near(r.sigma[0], sqrt(3), 1e-6);
    gf_lsa_release(&r);
    gf_csr_release(&x);
}

static void refusals(void **state)
{
    (void)state;
    gf_error err;
    gf_lsa r;
    const float values[] = {1, 0, 0, 1};
    gf_csr x = rows_by_hand(values, 2, 2), none = {0, 2, x.start, NULL, NULL};
    assert_status(GF_EINVAL, gf_lsa_reduce(NULL, &x, 0, 1, NULL, &r, &err));
    assert_status(GF_EINVAL, gf_lsa_reduce(NULL, &none, 1, 1, NULL, &r, &err));
    gf_cancel stop = {0};
    gf_cancel_request(&stop);
    assert_status(GF_ECANCELLED, gf_lsa_reduce(NULL, &x, 1, 1, &stop, &r, &err));
    gf_csr_release(&x);
    const float zeros[] = {1, 0};
    gf_csr one = rows_by_hand(zeros, 1, 2), empty = rows_with_empty(&one, 2);
    uint64_t start[] = {0, 0, 0};
    gf_csr nothing = {2, 2, start, empty.col, empty.val};
    assert_status(GF_EINVAL, gf_lsa_reduce(NULL, &nothing, 1, 1, NULL, &r, &err));
    gf_csr_release(&empty);
    gf_csr_release(&one);
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* Groups that lie apart are found in fewer dimensions than there are terms. */
static void check_planted_groups(gf_lsa_space space)
{
    enum { N = 1200, GROUPS = 12 };
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    uint32_t group[N], label[N], k, label_of[GROUPS], group_of[GROUPS];
    gf_csr x = rows_planted(N, GROUPS, 2, &random, group);
    gf_kmeans_options o = {.k = GROUPS, .seed = 3};
    assert_ok(gf_lsa_clusters(NULL, &x, 20, space, &o, label, &k, &err));
    assert_int_equal(k, GROUPS);
    memset(label_of, 0xff, sizeof label_of);
    memset(group_of, 0xff, sizeof group_of);
    for (uint32_t i = 0; i < N; i++) {
        assert_true(label[i] < k);
        if (label_of[group[i]] == UINT32_MAX) label_of[group[i]] = label[i];
        if (group_of[label[i]] == UINT32_MAX) group_of[label[i]] = group[i];
        assert_int_equal(label[i], label_of[group[i]]);
        assert_int_equal(group[i], group_of[label[i]]);
    }
    gf_csr_release(&x);
}

static void planted_groups(void **state)
{
    (void)state;
    check_planted_groups(GF_LSA_ROWS);
}

static void planted_groups_of_term_sums(void **state)
{
    (void)state;
    check_planted_groups(GF_LSA_TERM_SUMS);
}

/* A row without a part in any dimension has no label: those kept are the heaviest. */
static void rows_without_direction_have_no_label(void **state)
{
    (void)state;
    gf_error err;
    const float values[] = {1, 1, 0, 1, 1, 0, 0, 0, 1};
    uint32_t label[3], k;
    gf_csr x = rows_by_hand(values, 3, 3);
    gf_kmeans_options o = {.k = 2};
    assert_ok(gf_lsa_clusters(NULL, &x, 1, GF_LSA_ROWS, &o, label, &k, &err));
    assert_int_equal(k, 1);
    assert_int_equal(label[0], 0);
    assert_int_equal(label[1], 0);
    assert_int_equal(label[2], GF_NO_CLUSTER);
    gf_csr_release(&x);
}

/* ---- any number of threads, and too little memory -------------------------------------------- */

static void same_for_any_threads(void **state)
{
    (void)state;
    enum { N = 3000 };
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 4);
    gf_csr x = rows_random(N, 2000, 40, &random);
    gf_lsa a = reduce(NULL, &x, 30);
    uint32_t *label = gf_array(2 * N, sizeof *label), k;
    assert_non_null(label);
    gf_kmeans_options o = {.k = 15, .seed = 5};
    assert_ok(gf_lsa_clusters(NULL, &x, 30, GF_LSA_ROWS, &o, label, &k, &err));
    for (unsigned threads = 2; threads <= 3; threads++) {
        gf_pool *pool = rows_pool(threads);
        gf_lsa b = reduce(pool, &x, 30);
        assert_int_equal(a.d, b.d);
        assert_memory_equal(a.sigma, b.sigma, a.d * sizeof *a.sigma);
        assert_memory_equal(a.rows, b.rows, (size_t)N * a.d * sizeof *a.rows);
        gf_lsa_release(&b);
        assert_ok(gf_lsa_clusters(pool, &x, 30, GF_LSA_ROWS, &o, label + N, &k, &err));
        assert_memory_equal(label, label + N, N * sizeof *label);
        gf_pool_free(pool);
    }
    gf_free(label);
    gf_lsa_release(&a);
    gf_csr_release(&x);
}

typedef struct sweep {
    gf_csr x;
    uint32_t label[60], k;
} sweep;

static gf_status sweep_call(void *context, gf_error *err)
{
    sweep *s = context;
    gf_kmeans_options o = {.k = 3, .restarts = 2};
    s->k = UINT32_MAX;
    return gf_lsa_clusters(NULL, &s->x, 5, GF_LSA_ROWS, &o, s->label, &s->k, err);
}

static void sweep_after(void *context)
{
    sweep *s = context;
    assert_int_equal(s->k, UINT32_MAX);
}

static void failing_memory(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(11, 0);
    sweep s = {.x = rows_random(60, 40, 8, &random)};
    gf_test_sweep(sweep_call, sweep_after, &s);
    assert_true(s.k >= 1 && s.k <= 3);
    gf_csr_release(&s.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(singular_values_are_those_of_a_full_decomposition),
        cmocka_unit_test(flat_spectra_lose_little),
        cmocka_unit_test(all_dimensions_keep_all_products),
        cmocka_unit_test(dimensions_are_at_most_what_there_is),
        cmocka_unit_test(refusals),
        cmocka_unit_test(planted_groups),
        cmocka_unit_test(planted_groups_of_term_sums),
        cmocka_unit_test(rows_without_direction_have_no_label),
        cmocka_unit_test(same_for_any_threads),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
