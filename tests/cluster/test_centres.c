#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/passes/centres.h"
#include "cluster/passes/sort_rows.h"

#include <math.h>
#include <string.h>

/* Rows (1,0), (0,1), (.6,.8) with weights 1, 3, 2 in cluster 1 of 2; cluster 0 has none. */
static void sums_by_hand(void **state)
{
    (void)state;
    gf_error err;
    const float values[] = {1, 0, 0, 1, 3, 4}, weight[] = {1, 3, 2};
    const uint32_t label[] = {1, 1, 1};
    float own[3];
    gf_csr x = rows_by_hand(values, 3, 2);
    gf_points points = {&x, weight};
    gf_centres c;
    gf_centre_summer *summer;
    assert_ok(gf_centres_init(&c, 2, 2, &err));
    assert_ok(gf_centre_summer_create(NULL, 3, 2, 2, &summer, &err));
    assert_ok(gf_centre_summer_run(summer, &points, label, NULL, &c, own, NULL, &err));
    double length = sqrt(2.2 * 2.2 + 4.6 * 4.6);
    assert_near(c.at[1].length, length, 1e-6);
    assert_near(c.at[1].weight, 6, 0);
    assert_near(c.at[1].value[0], 2.2 / length, 1e-7);
    assert_near(c.at[1].value[1], 4.6 / length, 1e-7);
    assert_near(own[2], (0.6 * 2.2 + 0.8 * 4.6) / length, 1e-7);
    assert_int_equal(c.at[0].n, 0);
    assert_near(c.at[0].length, 0, 0);
    assert_near(gf_centres_objective(&c), length, 1e-6);
    gf_centre_summer_free(summer);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

static void sorts_rows_by_cluster(void **state)
{
    (void)state;
    const uint32_t label[] = {2, 0, 2, 3, 0, 0}, starts[] = {0, 3, 3, 5, 6};
    const uint32_t order[] = {1, 4, 5, 0, 2, 3};
    uint32_t start[5], rows[6];
    gf_centres_sort_rows(label, 6, 4, start, rows);
    assert_memory_equal(start, starts, sizeof starts);
    assert_memory_equal(rows, order, sizeof order);
}

static void threads_sort_rows_alike(void **state)
{
    (void)state;
    enum { ROWS = 70000, MOST = 3000 };
    static uint32_t label[ROWS], rows[ROWS], alone[ROWS], start[MOST + 1], alone_start[MOST + 1];
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 9);
    static const uint32_t ks[] = {1, 7, MOST};
    for (int round = 0; round < 3; round++) {
        uint32_t k = ks[round];
        for (uint32_t i = 0; i < ROWS; i++)
            label[i] = (uint32_t)gf_random_below(&random, k);
        gf_centres_sort_rows(label, ROWS, k, alone_start, alone);
        for (unsigned threads = 1; threads <= 8; threads++) {
            gf_pool *pool = rows_pool(threads);
            gf_parts parts = gf_parts_for(pool, ROWS, 1000);
            assert_true(threads == 1 ? parts.count == 1 : parts.count > threads);
            assert_int_equal(gf_parts_to(&parts, parts.count - 1), ROWS);
            assert_true(gf_parts_from(&parts, parts.count - 1) < ROWS);
            memset(rows, 0xFF, sizeof rows);
            assert_ok(gf_sort_rows(pool, label, ROWS, k, start, rows, &err));
            assert_memory_equal(start, alone_start, (k + 1) * sizeof *start);
            assert_memory_equal(rows, alone, sizeof rows);
            gf_pool_free(pool);
        }
    }
}

/* ---- sums against dense ones ----------------------------------------------------------------- */

enum { N = 500, COLUMNS = 130 };

static void to_dense(const gf_centre *c, double *v)
{
    memset(v, 0, COLUMNS * sizeof *v);
    for (uint32_t p = 0; p < c->n; p++)
        v[c->term[p]] = (double)c->value[p];
}

/* The centre is the unit sum, and has moved from `before` by its drift, which is rounded up. */
static void check_centre(const gf_centre *c, double *sum, const double *before)
{
    double now[COLUMNS], moved[COLUMNS], length = rows_length(sum, COLUMNS);
    to_dense(c, now);
    assert_near(c->length, length, 1e-9 * (1 + length));
    for (uint32_t t = 0; t < COLUMNS; t++) {
        assert_near(now[t], length > 0 ? sum[t] / length : 0, 1e-7);
        moved[t] = now[t] - before[t];
    }
    double drift = rows_length(moved, COLUMNS);
    assert_true(c->drift >= drift);
    assert_near(c->drift, drift, 3e-6);
}

static void check_own(const gf_points *points, const uint32_t *label, const bool *changed,
                      const gf_centres *c, const float *own)
{
    for (uint32_t i = 0; i < N; i++) {
        double dot = gf_csr_row_dot(gf_csr_row(points->x, i), gf_centre_row(&c->at[label[i]]));
        assert_near(own[i], changed[label[i]] ? dot : -1, 1e-6);
    }
}

static void sums_what_changed(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_random(N, COLUMNS, 9, &random);
    uint32_t k = 1 + (uint32_t)gf_random_below(&random, 40), label[N];
    float weight[N], own[N];
    bool changed[40];
    double before[COLUMNS];
    gf_points points = {&x, weight};
    gf_centres c, old;
    gf_centre_summer *summer;
    assert_ok(gf_centres_init(&c, k, COLUMNS, &err));
    assert_ok(gf_centre_summer_create(NULL, N, COLUMNS, k, &summer, &err));
    for (int run = 0; run < 5; run++) {
        for (uint32_t i = 0; i < N; i++) {
            label[i] = (uint32_t)gf_random_below(&random, k);
            weight[i] = (float)(1 + gf_random_below(&random, 4));
            own[i] = -1;
        }
        for (uint32_t j = 0; j < k; j++)
            changed[j] = run == 0 || gf_random_below(&random, 2);
        assert_ok(gf_centres_copy(&c, &old, &err));
        rows_assert_same_centres(&c, &old);
        assert_ok(gf_centre_summer_run(summer, &points, label, changed, &c, own, NULL, &err));
        double *sum = rows_dense_sums(&x, weight, label, k);
        for (uint32_t j = 0; j < k; j++) {
            to_dense(&old.at[j], before);
            if (changed[j]) check_centre(&c.at[j], sum + (size_t)j * COLUMNS, before);
            if (!changed[j]) assert_near(c.at[j].drift, 0, 0);
        }
        check_own(&points, label, changed, &c, own);
        gf_free(sum);
        gf_centres_release(&old);
    }
    gf_centre_summer_free(summer);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

static gf_centres sum_with(unsigned threads, const gf_csr *x, const uint32_t *label, uint32_t k)
{
    gf_error err;
    gf_points points = {x, NULL};
    gf_pool *pool = rows_pool(threads);
    gf_centre_summer *summer;
    gf_centres c;
    assert_ok(gf_centres_init(&c, k, x->n_cols, &err));
    assert_ok(gf_centre_summer_create(pool, x->n_rows, x->n_cols, k, &summer, &err));
    assert_ok(gf_centre_summer_run(summer, &points, label, NULL, &c, NULL, NULL, &err));
    gf_centre_summer_free(summer);
    gf_pool_free(pool);
    return c;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_csr x = rows_random(N, COLUMNS, 9, &random);
    uint32_t label[N];
    for (uint32_t i = 0; i < N; i++)
        label[i] = (uint32_t)gf_random_below(&random, 20);
    gf_centres alone = sum_with(1, &x, label, 20);
    for (unsigned threads = 2; threads < 5; threads++) {
        gf_centres c = sum_with(threads, &x, label, 20);
        rows_assert_same_centres(&alone, &c);
        gf_centres_release(&c);
    }
    gf_centres_release(&alone);
    gf_csr_release(&x);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void unpacks_columns(void **state)
{
    (void)state;
    gf_error err;
    const float values[] = {1, 1, 0, 0, 0, 1};
    const uint32_t term[] = {4, 7, 900}, first[] = {4, 7};
    gf_csr x = rows_by_hand(values, 2, 3);
    gf_centres c;
    assert_ok(gf_centres_init(&c, 2, 3, &err));
    for (uint32_t j = 0; j < 2; j++)
        assert_ok(gf_centres_set_row(&c, j, gf_csr_row(&x, j), &err));
    gf_centres_unpack(&c, term, 1000);
    assert_int_equal(c.n_terms, 1000);
    assert_memory_equal(c.at[0].term, first, sizeof first);
    assert_int_equal(c.at[1].term[0], 900);
    assert_near(c.at[1].length, 1, 0);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

static void stops_on_request(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(1, 0);
    gf_csr x = rows_random(10, 10, 3, &random);
    gf_points points = {&x, NULL};
    uint32_t label[10] = {0};
    gf_cancel cancel = {0};
    gf_centres c;
    gf_centre_summer *summer;
    assert_ok(gf_centres_init(&c, 1, 10, &err));
    assert_ok(gf_centre_summer_create(NULL, 10, 10, 1, &summer, &err));
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED,
                  gf_centre_summer_run(summer, &points, label, NULL, &c, NULL, &cancel, NULL));
    assert_ok(gf_centre_summer_run(summer, &points, label, NULL, &c, NULL, NULL, &err));
    assert_near(c.at[0].length, rows_objective(&x, NULL, label, 1), 1e-9);
    gf_centre_summer_free(summer);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

static gf_status sum_and_copy(const gf_csr *x, gf_centres *c, gf_error *err)
{
    gf_points points = {x, NULL};
    uint32_t label[30];
    gf_centre_summer *summer = NULL;
    gf_centres copy;
    for (uint32_t i = 0; i < 30; i++)
        label[i] = i % 3;
    gf_status st = gf_centre_summer_create(NULL, 30, x->n_cols, 3, &summer, err);
    if (st == GF_OK) st = gf_centre_summer_run(summer, &points, label, NULL, c, NULL, NULL, err);
    if (st == GF_OK) st = gf_centres_set_row(c, 0, gf_csr_row(x, 3), err);
    if (st == GF_OK) st = gf_centres_copy(c, &copy, err);
    if (st == GF_OK) gf_centres_release(&copy);
    gf_centre_summer_free(summer);
    return st;
}

static gf_status sum_swept(void *context, gf_error *err)
{
    const gf_csr *x = context;
    gf_centres c;
    gf_status st = gf_centres_init(&c, 3, x->n_cols, err);
    if (st != GF_OK) return st;
    st = sum_and_copy(x, &c, err);
    gf_centres_release(&c);
    return st;
}

static void a_failed_allocation_is_reported(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(2, 0);
    gf_csr x = rows_random(30, 20, 4, &random);
    gf_test_sweep(sum_swept, NULL, &x);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_by_hand),
        cmocka_unit_test(sorts_rows_by_cluster),
        cmocka_unit_test(threads_sort_rows_alike),
        cmocka_unit_test(sums_what_changed),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(unpacks_columns),
        cmocka_unit_test(stops_on_request),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("centres", tests, NULL, NULL);
}
