#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/passes/lloyd.h"

#include <math.h>
#include <string.h>

/* A partition of x with random rows for seeds. */
static gf_partition seeded(const gf_csr *x, uint32_t k, gf_random *random)
{
    gf_error err;
    gf_partition p;
    assert_ok(gf_partition_init(&p, x->n_rows, k, x->n_cols, &err));
    gf_centres_release(&p.centres);
    p.centres = rows_as_centres(x, k, random);
    return p;
}

/* ---- an example ------------------------------------------------------------------------------ */

/* Rows at 0, 20, 70 and 90 degrees, seeds at 0 and 20: the second takes the last two with it. */
static void converges_by_hand(void **state)
{
    (void)state;
    gf_error err;
    double degree = acos(-1) / 180;
    static const double angle[] = {0, 20, 70, 90};
    float v[8];
    for (int i = 0; i < 4; i++) {
        v[2 * i] = (float)cos(angle[i] * degree);
        v[2 * i + 1] = (float)sin(angle[i] * degree);
    }
    gf_csr x = rows_by_hand(v, 4, 2);
    gf_points points = {&x, NULL};
    gf_partition p;
    gf_passes *passes;
    gf_passes_made made;
    assert_ok(gf_partition_init(&p, 4, 2, 2, &err));
    for (uint32_t j = 0; j < 2; j++)
        assert_ok(gf_centres_set_row(&p.centres, j, gf_csr_row(&x, j), &err));
    assert_ok(gf_passes_create(NULL, &points, 2, NULL, &passes, &err));
    assert_ok(gf_passes_run(passes, &p, 0, 100, &made, &err));
    const uint32_t label[] = {0, 0, 1, 1};
    assert_memory_equal(p.label, label, sizeof label);
    assert_near(p.own[0], cos(10 * degree), 1e-6);
    assert_near(gf_centres_objective(&p.centres), 4 * cos(10 * degree), 1e-6);
    assert_int_equal(made.passes, 2);
    assert_true(made.converged);
    gf_passes_free(passes);
    gf_partition_release(&p);
    gf_csr_release(&x);
}

/* ---- every pass against all dot products ----------------------------------------------------- */

/* Each row's label is its argmax, own its similarity, and other a bound of all others. */
static void check_assignment(const gf_csr *x, const gf_partition *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        gf_row_view row = gf_csr_row(x, i);
        for (uint32_t j = 0; j < p->k; j++) {
            gf_row_view centre = gf_centre_row(&p->centres.at[j]);
            double dot = gf_csr_row_dot(row, centre), bound = rows_bound(row, centre) + 2e-7;
            if (j == p->label[i]) {
                assert_near(p->own[i], dot, bound);
                continue;
            }
            assert_true(dot <= (double)p->own[i] + bound);
            assert_true(dot <= (double)p->other[i] + bound);
        }
    }
}

static void check_centres(const gf_csr *x, const float *weight, const gf_partition *p)
{
    double *sum = rows_dense_sums(x, weight, p->label, p->k);
    for (uint32_t j = 0; j < p->k; j++) {
        double length = rows_length(sum + (size_t)j * x->n_cols, x->n_cols);
        assert_near(p->centres.at[j].length, length, 1e-9 * (1 + length));
    }
    gf_free(sum);
}

static void check_passes(const gf_points *points, uint32_t k, gf_pass_report *total,
                         gf_random *random)
{
    gf_error err;
    gf_partition p = seeded(points->x, k, random);
    gf_passes *passes;
    gf_pass_report report;
    assert_ok(gf_passes_create(NULL, points, k, NULL, &passes, &err));
    assert_ok(gf_passes_assign_all(passes, &p, NULL, &report, &err));
    assert_int_equal(report.scored_all, p.n);
    memset(gf_passes_changed(passes), true, k);
    double objective = 0;
    for (int pass = 0; pass < 12; pass++) {
        check_assignment(points->x, &p);
        assert_ok(gf_passes_update(passes, &p, &err));
        check_centres(points->x, points->weight, &p);
        assert_true(gf_centres_objective(&p.centres) >= objective - 1e-5);
        objective = gf_centres_objective(&p.centres);
        assert_ok(gf_passes_assign(passes, &p, &report, &err));
        assert_int_equal(report.scored_all + report.scored_some + report.skipped, p.n);
        total->scored_some += report.scored_some;
        total->skipped += report.skipped;
    }
    gf_passes_free(passes);
    gf_partition_release(&p);
}

static void every_pass_is_exact(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 7, 16, 33, 60, 150};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_pass_report total = {0};
    float weight[400];
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
        gf_csr x = rows_random(400, 200, 12, &random);
        gf_points points = {&x, i % 2 ? weight : NULL};
        for (uint32_t r = 0; r < 400; r++)
            weight[r] = (float)(1 + gf_random_below(&random, 3));
        check_passes(&points, ks[i], &total, &random);
        gf_csr_release(&x);
    }
    assert_true(total.skipped > 1000 && total.scored_some > 1000); /* the bounds do their work */
}

static void runner_up_is_the_second_best(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_csr x = rows_random(300, 120, 10, &random);
    gf_points points = {&x, NULL};
    uint32_t runner_up[300];
    for (uint32_t k = 1; k < 60; k += 9) {
        gf_partition p = seeded(&x, k, &random);
        gf_passes *passes;
        gf_pass_report report;
        assert_ok(gf_passes_create(NULL, &points, k, NULL, &passes, &err));
        assert_ok(gf_passes_assign_all(passes, &p, runner_up, &report, &err));
        check_assignment(&x, &p);
        for (uint32_t i = 0; i < 300; i++) {
            if (k == 1) assert_int_equal(runner_up[i], UINT32_MAX);
            if (k == 1) continue;
            assert_int_not_equal(runner_up[i], p.label[i]);
            gf_row_view row = gf_csr_row(&x, i);
            gf_row_view centre = gf_centre_row(&p.centres.at[runner_up[i]]);
            gf_row_view own = gf_centre_row(&p.centres.at[p.label[i]]);
            assert_near(p.other[i], gf_csr_row_dot(row, centre), 1e-7); /* rounded once */
            assert_near(p.own[i], gf_csr_row_dot(row, own), 1e-7);
        }
        gf_passes_free(passes);
        gf_partition_release(&p);
    }
    gf_csr_release(&x);
}

/* From 1,000 clusters on blocks of them are left out; with the runners-up and without. */
static void many_clusters_are_told_apart(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 5);
    gf_csr x = rows_random(1300, 700, 12, &random);
    gf_points points = {&x, NULL};
    uint32_t *runner_up = gf_array(x.n_rows, sizeof *runner_up);
    gf_partition p = seeded(&x, 1100, &random);
    gf_passes *passes;
    gf_pass_report report;
    assert_non_null(runner_up);
    assert_ok(gf_passes_create(NULL, &points, p.k, NULL, &passes, &err));
    assert_ok(gf_passes_assign_all(passes, &p, NULL, &report, &err));
    check_assignment(&x, &p);
    assert_int_equal(report.scored_all, x.n_rows);
    for (uint32_t i = 0; i < x.n_rows; i++)
        p.label[i] = (p.label[i] + 1) % p.k;
    assert_ok(gf_passes_assign_all(passes, &p, runner_up, &report, &err));
    check_assignment(&x, &p);
    for (uint32_t i = 0; i < x.n_rows; i++) {
        gf_row_view centre = gf_centre_row(&p.centres.at[runner_up[i]]);
        assert_near(p.other[i], gf_csr_row_dot(gf_csr_row(&x, i), centre), 1e-7);
    }
    gf_passes_free(passes);
    gf_partition_release(&p);
    gf_free(runner_up);
    gf_csr_release(&x);
}

/* ---- empty clusters -------------------------------------------------------------------------- */

/* All n rows are in cluster 2 of k: the worst fitting ones, but for one, go to the others. */
static void check_refill(uint32_t n, uint32_t k)
{
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    gf_csr x = rows_random(n, 50, 6, &random);
    gf_points points = {&x, NULL};
    gf_partition p = seeded(&x, k, &random);
    gf_passes *passes;
    uint32_t size[64] = {0}, empty = 0;
    float worst_left = 1, best_moved = 0, own[64];
    assert_ok(gf_passes_create(NULL, &points, k, NULL, &passes, &err));
    for (uint32_t i = 0; i < n; i++) {
        p.label[i] = 2;
        own[i] = p.own[i] = (float)gf_random_unit(&random);
    }
    memset(gf_passes_changed(passes), true, k);
    assert_ok(gf_passes_update(passes, &p, &err));
    for (uint32_t i = 0; i < n; i++) {
        size[p.label[i]]++;
        if (p.label[i] == 2 && own[i] < worst_left) worst_left = own[i];
        if (p.label[i] != 2 && own[i] > best_moved) best_moved = own[i];
    }
    for (uint32_t j = 0; j < k; j++)
        empty += size[j] == 0;
    assert_int_equal(empty, n < k ? k - n : 0);
    assert_true(best_moved <= worst_left);
    check_centres(&x, NULL, &p);
    gf_passes_free(passes);
    gf_partition_release(&p);
    gf_csr_release(&x);
}

static void empty_clusters_get_the_worst_rows(void **state)
{
    (void)state;
    check_refill(60, 3);
    check_refill(60, 20);
    check_refill(60, 60);
    check_refill(5, 12);
    check_refill(1, 4);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void run_with(gf_pool *pool, const gf_points *points, uint32_t k, gf_partition *p)
{
    gf_error err;
    gf_random random = gf_random_seed(5, 0);
    gf_passes *passes;
    gf_passes_made made;
    *p = seeded(points->x, k, &random);
    assert_ok(gf_passes_create(pool, points, k, NULL, &passes, &err));
    assert_ok(gf_passes_run(passes, p, 0, 200, &made, &err));
    assert_true(made.converged);
    check_assignment(points->x, p);
    gf_passes_free(passes);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    gf_csr x = rows_random(2500, 200, 8, &random);
    gf_points points = {&x, NULL};
    gf_partition alone, p;
    run_with(NULL, &points, 40, &alone);
    for (unsigned threads = 2; threads < 5; threads++) {
        gf_pool *pool = rows_pool(threads);
        run_with(pool, &points, 40, &p);
        assert_memory_equal(alone.label, p.label, p.n * sizeof *p.label);
        assert_memory_equal(alone.own, p.own, p.n * sizeof *p.own);
        rows_assert_same_centres(&alone.centres, &p.centres);
        gf_partition_release(&p);
        gf_pool_free(pool);
    }
    gf_partition_release(&alone);
    gf_csr_release(&x);
}

static gf_status run_seeded(const gf_points *points, gf_partition *p, gf_cancel *cancel,
                            gf_error *err)
{
    gf_passes *passes = NULL;
    gf_passes_made made;
    gf_status st = GF_OK;
    for (uint32_t j = 0; j < p->k && st == GF_OK; j++)
        st = gf_centres_set_row(&p->centres, j, gf_csr_row(points->x, j), err);
    if (st == GF_OK) st = gf_passes_create(NULL, points, p->k, cancel, &passes, err);
    if (st == GF_OK) st = gf_passes_run(passes, p, 0, 20, &made, err);
    gf_passes_free(passes);
    return st;
}

static gf_status run_swept(void *context, gf_error *err)
{
    gf_points points = {context, NULL};
    gf_partition p;
    gf_status st = gf_partition_init(&p, 60, 40, points.x->n_cols, err);
    if (st != GF_OK) return st;
    st = run_seeded(&points, &p, NULL, err);
    gf_partition_release(&p);
    return st;
}

static void failures_are_reported(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(4, 0);
    gf_csr x = rows_random(60, 80, 6, &random);
    gf_points points = {&x, NULL};
    gf_partition p;
    gf_cancel cancel = {0};
    gf_test_sweep(run_swept, NULL, &x);
    gf_cancel_request(&cancel);
    assert_ok(gf_partition_init(&p, 60, 4, 80, &err));
    assert_status(GF_ECANCELLED, run_seeded(&points, &p, &cancel, NULL));
    gf_partition_release(&p);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converges_by_hand),
        cmocka_unit_test(every_pass_is_exact),
        cmocka_unit_test(runner_up_is_the_second_best),
        cmocka_unit_test(many_clusters_are_told_apart),
        cmocka_unit_test(empty_clusters_get_the_worst_rows),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(failures_are_reported),
    };
    return cmocka_run_group_tests_name("lloyd", tests, NULL, NULL);
}
