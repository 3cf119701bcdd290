#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/dense/dense.h"

#include <math.h>
#include <string.h>

static gf_kmeans run(gf_pool *pool, const float *x, uint32_t n, uint32_t d, gf_kmeans_options o)
{
    gf_error err;
    gf_kmeans r;
    assert_ok(gf_dense_kmeans(pool, x, n, d, GF_DENSE_FAST, &o, &r, &err));
    return r;
}

static void scale_rows(float *x, uint32_t n, uint32_t d)
{
    for (uint32_t i = 0; i < n; i++) {
        double squares = 0;
        for (uint32_t t = 0; t < d; t++)
            squares += (double)x[i * d + t] * (double)x[i * d + t];
        for (uint32_t t = 0; t < d; t++)
            x[i * d + t] = (float)((double)x[i * d + t] / sqrt(squares));
    }
}

/* Rows around `groups` random directions, or anywhere where noise is large; group may be NULL. */
static float *random_rows(uint32_t n, uint32_t d, uint32_t groups, double noise, gf_random *random,
                          uint32_t *group)
{
    float *x = gf_array((size_t)n * d, sizeof *x),
          *middle = gf_array((size_t)groups * d, sizeof *x);
    assert_non_null(x);
    assert_non_null(middle);
    for (uint32_t i = 0; i < groups * d; i++)
        middle[i] = (float)(gf_random_unit(random) - 0.5);
    scale_rows(middle, groups, d);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t g = (uint32_t)gf_random_below(random, groups);
        if (group) group[i] = g;
        for (uint32_t t = 0; t < d; t++)
            x[i * d + t] = middle[g * d + t] + (float)(noise * (gf_random_unit(random) - 0.5));
    }
    scale_rows(x, n, d);
    gf_free(middle);
    return x;
}

/* ---- the independent checker ----------------------------------------------------------------- */

static double dot(const float *a, const float *b, uint32_t d)
{
    double s = 0;
    for (uint32_t t = 0; t < d; t++)
        s += (double)a[t] * (double)b[t];
    return s;
}

/* Labels and runners-up are the two most similar centres by all products; centres are unit. */
static void check_result(const float *x, uint32_t n, uint32_t d, const gf_kmeans *r)
{
    double objective = 0;
    assert_int_equal(r->n, n);
    assert_int_equal(r->centres.k, r->k);
    uint32_t *size = gf_calloc(r->k, sizeof *size);
    assert_non_null(size);
    for (uint32_t c = 0; c < r->k; c++) {
        assert_int_equal(r->centres.at[c].n, d);
        assert_near(dot(r->centres.at[c].value, r->centres.at[c].value, d), 1, 1e-5);
    }
    for (uint32_t i = 0; i < n; i++) {
        const float *row = x + (size_t)i * d;
        uint32_t own = r->label[i], second = r->runner_up[i];
        assert_true(own < r->k);
        assert_near(r->score[i], dot(row, r->centres.at[own].value, d), 1e-5);
        assert_true(r->k == 1 ? second == GF_NO_CLUSTER : second < r->k && second != own);
        for (uint32_t c = 0; c < r->k; c++) {
            double s = dot(row, r->centres.at[c].value, d);
            if (c != own) assert_true(s <= (double)r->score[i] + 1e-5);
            if (c != own && c != second) assert_true(s <= (double)r->second[i] + 1e-5);
        }
        size[own]++;
        objective += (double)r->score[i];
    }
    for (uint32_t c = 0; c < r->k; c++)
        assert_true(size[c] > 0 && (c == 0 || size[c] <= size[c - 1]));
    assert_near(r->objective, objective, 1e-3);
    gf_free(size);
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* Two directions, three rows and two: sums (2.8, 0.6) and (0, 2), lengths 2.8636 and 2. */
static void by_hand(void **state)
{
    (void)state;
    const float x[] = {1, 0, 0.8f, 0.6f, 1, 0, 0, 1, 0, 1};
    gf_kmeans r = run(NULL, x, 5, 2, (gf_kmeans_options){.k = 2});
    check_result(x, 5, 2, &r);
    static const uint32_t label[] = {0, 0, 0, 1, 1};
    assert_memory_equal(r.label, label, sizeof label);
    assert_int_equal(r.distinct, 3);
    assert_near(r.centres.at[0].length, 2.863564, 1e-5);
    assert_near(r.objective, 4.863564, 1e-5);
    assert_near(r.centres.at[0].value[0], 0.977802, 1e-5);
    gf_kmeans_release(&r);
}

/* Opposite rows have no common direction; equal ones give one cluster, whatever k is. */
static void degenerate_rows(void **state)
{
    (void)state;
    const float opposite[] = {1, 0, -1, 0}, equal[] = {0.6f, 0.8f, 0.6f, 0.8f, 0.6f, 0.8f};
    gf_kmeans r = run(NULL, opposite, 2, 2, (gf_kmeans_options){.k = 1});
    check_result(opposite, 2, 2, &r);
    gf_kmeans_release(&r);
    r = run(NULL, equal, 3, 2, (gf_kmeans_options){.k = 3});
    check_result(equal, 3, 2, &r);
    assert_int_equal(r.k, 1);
    assert_int_equal(r.distinct, 1);
    gf_kmeans_release(&r);
    r = run(NULL, equal, 1, 2, (gf_kmeans_options){.k = 0});
    assert_int_equal(r.k, 1);
    gf_kmeans_release(&r);
}

static void refusals(void **state)
{
    (void)state;
    gf_error err;
    gf_kmeans r;
    const float x[] = {1, 0, 2, 0}, nan_row[] = {NAN, 0};
    gf_kmeans_options o = {.k = 1};
    assert_status(GF_EINVAL, gf_dense_kmeans(NULL, x, 2, 2, GF_DENSE_FAST, &o, &r, &err));
    assert_non_null(strstr(err.message, "row 1"));
    assert_status(GF_EINVAL, gf_dense_kmeans(NULL, nan_row, 1, 2, GF_DENSE_FAST, &o, &r, &err));
    assert_status(GF_EINVAL, gf_dense_kmeans(NULL, x, 0, 2, GF_DENSE_FAST, &o, &r, &err));
    gf_cancel stop = {0};
    gf_cancel_request(&stop);
    o.cancel = &stop;
    assert_status(GF_ECANCELLED, gf_dense_kmeans(NULL, x, 1, 2, GF_DENSE_FAST, &o, &r, &err));
}

/* ---- random rows ----------------------------------------------------------------------------- */

static void random_cases(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 30; round++) {
        uint32_t n = 1 + (uint32_t)gf_random_below(&random, 300);
        uint32_t d = 1 + (uint32_t)gf_random_below(&random, 40);
        uint32_t k = 1 + (uint32_t)gf_random_below(&random, n < 30 ? n : 30);
        float *x = random_rows(n, d, 1 + k / 2, 2 * gf_random_unit(&random), &random, NULL);
        gf_kmeans r = run(NULL, x, n, d, (gf_kmeans_options){.k = k, .restarts = 2});
        check_result(x, n, d, &r);
        assert_true(r.k <= k);
        gf_kmeans_release(&r);
        gf_free(x);
    }
}

/* All partitions of nine rows or fewer can be tried: none is better. */
static void best_of_all_partitions(void **state)
{
    (void)state;
    enum { N = 9, D = 3, K = 2, ROUNDS = 40 };
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    int reached = 0;
    for (int round = 0; round < ROUNDS; round++) {
        float *x = random_rows(N, D, 2, 1.5, &random, NULL);
        double best = 0;
        for (uint32_t bits = 0; bits < 1u << (N - 1); bits++) {
            double sum[2][D] = {{0}}, objective = 0;
            for (uint32_t i = 0; i < N; i++)
                for (uint32_t t = 0; t < D; t++)
                    sum[bits >> i & 1][t] += (double)x[i * D + t];
            for (int c = 0; c < 2; c++)
                objective += rows_length(sum[c], D);
            if (objective > best) best = objective;
        }
        gf_kmeans r =
            run(NULL, x, N, D, (gf_kmeans_options){.k = K, .restarts = 8, .tolerance = 1e-9});
        assert_true(r.objective <= best + 1e-4);
        reached += r.objective >= best - 1e-4;
        gf_kmeans_release(&r);
        gf_free(x);
    }
    assert_true(reached >= ROUNDS * 9 / 10);
}

/* Groups that lie apart are found, with k given and with k chosen. */
static void planted_groups(void **state)
{
    (void)state;
    enum { N = 1200, D = 64, GROUPS = 12 };
    gf_random random = gf_random_seed(7, 0);
    uint32_t group[N], label_of[GROUPS];
    float *x = random_rows(N, D, GROUPS, 0.2, &random, group);
    for (uint32_t k = 0; k <= GROUPS; k += GROUPS) {
        gf_kmeans r = run(NULL, x, N, D, (gf_kmeans_options){.k = k});
        check_result(x, N, D, &r);
        assert_int_equal(r.k, GROUPS);
        assert_int_equal(r.choice.n_steps > 0, k == 0);
        for (uint32_t g = 0; g < GROUPS; g++)
            label_of[g] = UINT32_MAX;
        for (uint32_t i = 0; i < N; i++) {
            if (label_of[group[i]] == UINT32_MAX) label_of[group[i]] = r.label[i];
            assert_int_equal(r.label[i], label_of[group[i]]);
        }
        gf_kmeans_release(&r);
    }
    gf_free(x);
}

/* The polish raises what passes alone reach; never less, and more on overlapping groups. */
static void polish_raises_the_objective(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    double plain = 0, polished = 0;
    for (int round = 0; round < 10; round++) {
        float *x = random_rows(400, 10, 20, 1.5, &random, NULL);
        gf_kmeans_options o = {
            .k = 20, .restarts = 1, .tolerance = 1e-9, .max_rounds = GF_NO_POLISH};
        gf_kmeans a = run(NULL, x, 400, 10, o);
        o.max_rounds = 0;
        gf_kmeans b = run(NULL, x, 400, 10, o);
        plain += a.objective;
        polished += b.objective;
        gf_kmeans_release(&a);
        gf_kmeans_release(&b);
        gf_free(x);
    }
    assert_true(polished > plain + 0.1);
}

/* ---- any number of threads, and too little memory -------------------------------------------- */

static void same_for_any_threads(void **state)
{
    (void)state;
    enum { N = 3000, D = 24 };
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    float *x = random_rows(N, D, 30, 1, &random, NULL);
    gf_kmeans_options o = {.k = 40, .restarts = 2};
    gf_kmeans a = run(NULL, x, N, D, o);
    for (unsigned threads = 2; threads <= 5; threads++) {
        gf_pool *pool = rows_pool(threads);
        gf_kmeans b = run(pool, x, N, D, o);
        assert_int_equal(a.k, b.k);
        assert_memory_equal(a.label, b.label, N * sizeof *a.label);
        assert_memory_equal(a.runner_up, b.runner_up, N * sizeof *a.label);
        assert_memory_equal(a.score, b.score, N * sizeof *a.score);
        rows_assert_same_centres(&a.centres, &b.centres);
        gf_kmeans_release(&b);
        gf_pool_free(pool);
    }
    gf_kmeans_release(&a);
    gf_free(x);
}

typedef struct sweep {
    const float *x;
    gf_kmeans r;
} sweep;

static gf_status sweep_call(void *context, gf_error *err)
{
    sweep *s = context;
    gf_kmeans_options o = {.k = 0, .max_k = 3, .restarts = 2};
    return gf_dense_kmeans(NULL, s->x, 60, 8, GF_DENSE_FAST, &o, &s->r, err);
}

static void sweep_after(void *context)
{
    sweep *s = context;
    assert_null(s->r.label);
}

static void failing_memory(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(11, 0);
    float *x = random_rows(60, 8, 3, 0.3, &random, NULL);
    sweep s = {.x = x};
    gf_test_sweep(sweep_call, sweep_after, &s);
    gf_kmeans_release(&s.r);
    gf_free(x);
}

/* Rows in groups that lie well apart: rounding decides nothing, and both arithmetics agree. */
static void both_arithmetics_find_the_same(void **state)
{
    enum { N = 400, D = 24, GROUPS = 7 };
    gf_random random = gf_random_seed(gf_test_seed(), 9);
    gf_error err;
    gf_kmeans fast, same;
    gf_kmeans_options o = {.k = GROUPS, .seed = 1, .restarts = 3};
    (void)state;
    float *x = random_rows(N, D, GROUPS, 0.02, &random, NULL);
    assert_ok(gf_dense_kmeans(NULL, x, N, D, GF_DENSE_FAST, &o, &fast, &err));
    assert_ok(gf_dense_kmeans(NULL, x, N, D, GF_DENSE_SAME, &o, &same, &err));
    assert_int_equal(fast.k, same.k);
    assert_near(fast.objective, same.objective, 1e-4 * N);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(fast.label[i], same.label[i]);
    gf_kmeans_release(&fast);
    gf_kmeans_release(&same);
    gf_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(degenerate_rows),
        cmocka_unit_test(refusals),
        cmocka_unit_test(random_cases),
        cmocka_unit_test(best_of_all_partitions),
        cmocka_unit_test(planted_groups),
        cmocka_unit_test(polish_raises_the_objective),
        cmocka_unit_test(same_for_any_threads),
        cmocka_unit_test(both_arithmetics_find_the_same),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
