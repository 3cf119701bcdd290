#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/measure/separation.h"

#include <math.h>
#include <string.h>

/* Similarity of row i to the sum of its cluster without it, from nothing. */
static double leave_out(const gf_points *points, const uint32_t *label, uint32_t i)
{
    double dot = 0, squares = 0;
    uint32_t n_cols = points->x->n_cols;
    double *sum = gf_calloc(n_cols, sizeof *sum);
    assert_non_null(sum);
    for (uint32_t r = 0; r < points->x->n_rows; r++) {
        if (label[r] != label[i]) continue;
        double w = (double)gf_points_weight(points, r) - (r == i);
        gf_row_view row = gf_csr_row(points->x, r);
        for (uint32_t p = 0; p < row.n; p++)
            sum[row.col[p]] += w * (double)row.val[p];
    }
    gf_row_view row = gf_csr_row(points->x, i);
    for (uint32_t p = 0; p < row.n; p++)
        dot += sum[row.col[p]] * (double)row.val[p];
    for (uint32_t t = 0; t < n_cols; t++)
        squares += sum[t] * sum[t];
    gf_free(sum);
    return squares > 1e-9 ? dot / sqrt(squares) : 0;
}

/* The partition of those labels, with own and other exact. */
static gf_partition make_partition(const gf_points *points, uint32_t k, const uint32_t *label)
{
    gf_error err;
    gf_partition p;
    gf_centre_summer *summer;
    uint32_t n = points->x->n_rows, n_cols = points->x->n_cols;
    assert_ok(gf_partition_init(&p, n, k, n_cols, &err));
    memcpy(p.label, label, n * sizeof *label);
    assert_ok(gf_centre_summer_create(NULL, n, n_cols, k, &summer, &err));
    assert_ok(gf_centre_summer_run(summer, points, label, NULL, &p.centres, p.own, NULL, &err));
    for (uint32_t i = 0; i < n; i++) {
        p.other[i] = -1;
        for (uint32_t j = 0; j < k; j++) {
            double dot = gf_csr_row_dot(gf_csr_row(points->x, i), gf_centre_row(&p.centres.at[j]));
            if (j != label[i] && dot > (double)p.other[i]) p.other[i] = (float)dot;
        }
    }
    gf_centre_summer_free(summer);
    return p;
}

static double expected(const gf_points *points, const gf_partition *p)
{
    double sum = 0, weights = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        double own = leave_out(points, p->label, i), other = (double)p->other[i];
        double w = (double)gf_points_weight(points, i), larger = own > other ? own : other;
        if (larger > 1e-6) sum += w * (own - other) / larger;
        weights += w;
    }
    return sqrt(1 - 1.0 / p->k) * sum / weights;
}

static void check(const float *values, uint32_t n, uint32_t k, const uint32_t *label, double wanted)
{
    gf_csr x = rows_by_hand(values, n, 2);
    gf_points points = {&x, NULL};
    gf_partition p = make_partition(&points, k, label);
    assert_near(gf_separation(&points, &p), wanted, 1e-6);
    gf_partition_release(&p);
    gf_csr_release(&x);
}

/*
 * Two pairs of equal rows at right angles: s is 1 for all, times sqrt(1/2). Crosswise, each row's
 * own rest is at a right angle, and both centres at 45 degrees: s is -1. Rows alone have own 0: at
 * right angles s is 0, else -1.
 */
static void separates_by_hand(void **state)
{
    (void)state;
    const float pairs[] = {1, 0, 1, 0, 0, 1, 0, 1}, near[] = {1, 0, 1, 1};
    const uint32_t right[] = {0, 0, 1, 1}, wrong[] = {0, 1, 0, 1}, one[] = {0, 0, 0, 0};
    const uint32_t alone[] = {0, 1};
    check(pairs, 4, 2, right, sqrt(0.5));
    check(pairs, 4, 2, wrong, -sqrt(0.5));
    check(pairs, 4, 1, one, 0);
    check(pairs + 2, 2, 2, alone, 0);
    check(near, 2, 2, alone, -sqrt(0.5));
}

static void agrees_with_leaving_out(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    uint32_t label[150];
    float weight[150];
    for (int i = 0; i < 20; i++) {
        uint32_t n = 10 + (uint32_t)gf_random_below(&random, 140);
        uint32_t k = 2 + (uint32_t)gf_random_below(&random, 8);
        gf_csr x = rows_random(n, 60, 8, &random);
        gf_points points = {&x, i % 2 ? weight : NULL};
        for (uint32_t r = 0; r < n; r++) {
            label[r] = r < k ? r : (uint32_t)gf_random_below(&random, k);
            weight[r] = (float)(1 + gf_random_below(&random, 4));
        }
        gf_partition p = make_partition(&points, k, label);
        assert_near(gf_separation(&points, &p), expected(&points, &p), 1e-4);
        gf_partition_release(&p);
        gf_csr_release(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separates_by_hand),
        cmocka_unit_test(agrees_with_leaving_out),
    };
    return cmocka_run_group_tests_name("separation", tests, NULL, NULL);
}
