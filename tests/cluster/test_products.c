#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "cluster/dense/products.h"
#include "cluster/dense/symmetric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float *random_floats(size_t n, gf_random *random)
{
    float *x = gf_array(n, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(gf_random_unit(random) - 0.5);
    return x;
}

/* The sums as products.h defines them; volatile: nothing is fused. */
static float product(const float *x, const float *y, uint32_t d)
{
    volatile float sum = 0;
    for (uint32_t t = 0; t < d; t++) {
        volatile float p = x[t] * y[t];
        sum = sum + p;
    }
    return sum;
}

/* Every bit is that of the definition, with every variant of the kernels. */
static void products_are_those_of_the_definition(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 60; round++) {
        uint32_t n = 1 + (uint32_t)gf_random_below(&random, round < 5 ? 600 : 40);
        uint32_t k = 1 + (uint32_t)gf_random_below(&random, 50);
        uint32_t d = 1 + (uint32_t)gf_random_below(&random, round % 3 ? 40 : 600);
        float *x = random_floats((size_t)n * d, &random),
              *y = random_floats((size_t)k * d, &random);
        float *scores = random_floats((size_t)n * k, &random);
        assert_int_equal(setenv("GROUPERFISH_SIMD", round % 2 ? "portable" : "avx2", 1), 0);
        gf_products(x, n, y, k, d, scores);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < k; j++) {
                float wanted = product(x + (size_t)i * d, y + (size_t)j * d, d);
                assert_memory_equal(&scores[(size_t)i * k + j], &wanted, sizeof wanted);
            }
        gf_free(x);
        gf_free(y);
        gf_free(scores);
    }
    unsetenv("GROUPERFISH_SIMD");
}

/* m'm of n random rows of d single-precision numbers, by the kernels; d is a multiple of 8. */
static double *random_gram(uint32_t n, uint32_t d, double **rows, gf_random *random)
{
    double *x = gf_array((size_t)n * d, sizeof *x), *gram = gf_calloc((size_t)d * d, sizeof *gram);
    assert_non_null(x);
    assert_non_null(gram);
    for (size_t e = 0; e < (size_t)n * d; e++)
        x[e] = (double)(float)(gf_random_unit(random) - 0.5);
    gf_products_add_gram(x, n, d, gram);
    for (uint32_t i = 0; i < d; i++)
        for (uint32_t j = i + 1; j < d; j++)
            gram[(size_t)i * d + j] = gram[(size_t)j * d + i];
    *rows = x;
    return gram;
}

static void gram_matrices_are_those_of_the_definition(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    for (int round = 0; round < 20; round++) {
        uint32_t n = 1 + (uint32_t)gf_random_below(&random, 200);
        uint32_t d = GF_PRODUCTS_WIDTH * (1 + (uint32_t)gf_random_below(&random, 5));
        double *x;
        assert_int_equal(setenv("GROUPERFISH_SIMD", round % 2 ? "portable" : "avx2", 1), 0);
        double *gram = random_gram(n, d, &x, &random);
        for (uint32_t i = 0; i < d; i++)
            for (uint32_t j = 0; j <= i; j++) {
                double wanted = 0;
                for (uint32_t e = 0; e < n; e++)
                    wanted += x[(size_t)e * d + i] * x[(size_t)e * d + j];
                assert_memory_equal(&gram[(size_t)i * d + j], &wanted, sizeof wanted);
            }
        gf_free(x);
        gf_free(gram);
    }
    unsetenv("GROUPERFISH_SIMD");
}

static double dot(const double *x, const double *y, uint32_t d)
{
    double sum = 0;
    for (uint32_t i = 0; i < d; i++)
        sum += x[i] * y[i];
    return sum;
}

/* a v = value v for orthogonal unit vectors; with fewer rows than columns some values are 0. */
static void eigenvectors_are_found(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    for (int round = 0; round < 20; round++) {
        uint32_t n = 1 + (uint32_t)gf_random_below(&random, 100);
        uint32_t d = GF_PRODUCTS_WIDTH * (1 + (uint32_t)gf_random_below(&random, 6));
        double *x, *a = random_gram(n, d, &x, &random);
        double *v = gf_array((size_t)d * d, sizeof *v), *value = gf_array(d, sizeof *value);
        assert_non_null(v);
        assert_non_null(value);
        memcpy(v, a, (size_t)d * d * sizeof *v);
        assert_ok(gf_symmetric_eigen(v, d, value, &err));
        for (uint32_t i = 0; i < d; i++) {
            const double *vi = v + (size_t)i * d;
            if (i) assert_true(value[i] <= value[i - 1]);
            for (uint32_t j = 0; j <= i; j++)
                assert_near(dot(vi, v + (size_t)j * d, d), i == j ? 1 : 0, 1e-12);
            for (uint32_t j = 0; j < d; j++)
                assert_near(dot(a + (size_t)j * d, vi, d), value[i] * vi[j], 1e-12 * value[0]);
        }
        gf_free(x);
        gf_free(a);
        gf_free(v);
        gf_free(value);
    }
}

static void eigenvectors_by_hand(void **state)
{
    (void)state;
    gf_error err;
    double value[3], one[] = {5}, a[] = {2, 1, 0, 1, 2, 0, 0, 0, 7}, none[] = {1, NAN, NAN, 1};
    assert_ok(gf_symmetric_eigen(one, 1, value, &err));
    assert_true(value[0] == 5 && one[0] == 1);
    assert_ok(gf_symmetric_eigen(a, 3, value, &err));
    assert_near(value[0], 7, 1e-14);
    assert_near(value[1], 3, 1e-14);
    assert_near(value[2], 1, 1e-14);
    assert_near(fabs(a[2]), 1, 1e-14);
    assert_near(a[3], a[4], 1e-14);
    assert_status(GF_EINVAL, gf_symmetric_eigen(none, 2, value, &err));
}

/* b gram b' = 1; vectors that depend on others are left out. */
static void a_basis_is_orthogonal(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    for (int round = 0; round < 20; round++) {
        uint32_t n = 1 + (uint32_t)gf_random_below(&random, 100);
        uint32_t d = GF_PRODUCTS_WIDTH * (1 + (uint32_t)gf_random_below(&random, 6)), rank;
        double *x, *gram = random_gram(n, d, &x, &random);
        double *basis = gf_array((size_t)d * d, sizeof *basis), *by = gf_array(d, sizeof *by);
        assert_non_null(basis);
        assert_non_null(by);
        assert_ok(gf_symmetric_basis(gram, d, 1e-10, basis, &rank, &err));
        assert_int_equal(rank, n < d ? n : d);
        for (uint32_t i = 0; i < rank; i++) {
            for (uint32_t e = 0; e < d; e++)
                by[e] = dot(gram + (size_t)e * d, basis + (size_t)i * d, d);
            for (uint32_t j = 0; j < rank; j++)
                assert_near(dot(by, basis + (size_t)j * d, d), i == j ? 1 : 0, 1e-5);
        }
        gf_free(x);
        gf_free(gram);
        gf_free(basis);
        gf_free(by);
    }
}

static gf_status sweep_call(void *context, gf_error *err)
{
    double gram[] = {2, 1, 1, 2}, value[2], basis[4];
    uint32_t *rank = context;
    gf_status st = gf_symmetric_basis(gram, 2, 1e-12, basis, rank, err);
    return st == GF_OK ? gf_symmetric_eigen(gram, 2, value, err) : st;
}

static void no_check(void *context)
{
    (void)context;
}

static void failing_memory(void **state)
{
    (void)state;
    uint32_t rank = 0;
    gf_test_sweep(sweep_call, no_check, &rank);
    assert_int_equal(rank, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_the_definition),
        cmocka_unit_test(gram_matrices_are_those_of_the_definition),
        cmocka_unit_test(eigenvectors_are_found),
        cmocka_unit_test(eigenvectors_by_hand),
        cmocka_unit_test(a_basis_is_orthogonal),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
