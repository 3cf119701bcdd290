#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/moves/refine.h"

#include <string.h>

/* k clusters of rows at random, each with at least one, and their sums. */
static gf_partition random_partition(const gf_points *points, uint32_t k, gf_random *random)
{
    gf_error err;
    gf_partition p;
    gf_centre_summer *summer;
    const gf_csr *x = points->x;
    assert_ok(gf_partition_init(&p, x->n_rows, k, x->n_cols, &err));
    for (uint32_t i = 0; i < p.n; i++)
        p.label[i] = i < k ? i : (uint32_t)gf_random_below(random, k);
    assert_ok(gf_centre_summer_create(NULL, p.n, x->n_cols, k, &summer, &err));
    assert_ok(gf_centre_summer_run(summer, points, p.label, NULL, &p.centres, p.own, NULL, &err));
    gf_centre_summer_free(summer);
    return p;
}

static void check_not_empty(const gf_partition *p)
{
    uint32_t *size = gf_calloc(p->k, sizeof *size);
    assert_non_null(size);
    for (uint32_t i = 0; i < p->n; i++)
        size[p->label[i]]++;
    for (uint32_t j = 0; j < p->k; j++)
        assert_true(size[j] > 0);
    gf_free(size);
}

/* Rounds raise the objective, leave no cluster empty, and tell which clusters changed. */
static void raises_the_objective(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (uint32_t k = 2; k < 90; k += 29) {
        gf_csr x = rows_random(400, 6000, 10, &random); /* more terms than slots at first */
        float weight[400];
        for (uint32_t i = 0; i < x.n_rows; i++)
            weight[i] = (float)(1 + i % 4);
        gf_points points = {&x, weight};
        gf_partition p = random_partition(&points, k, &random);
        uint32_t *before = gf_array(p.n, sizeof *before);
        bool changed[90] = {false};
        assert_non_null(before);
        memcpy(before, p.label, p.n * sizeof *before);
        double objective = rows_objective(&x, weight, p.label, k);
        for (uint64_t round = 0; round < 4; round++) {
            assert_ok(gf_refine(NULL, &points, &p, 1, round, changed, NULL, &err));
            double now = rows_objective(&x, weight, p.label, k);
            assert_true(now >= objective - 1e-6 * objective);
            objective = now;
        }
        assert_true(objective > 1.05 * rows_objective(&x, weight, before, k));
        check_not_empty(&p);
        for (uint32_t i = 0; i < p.n; i++)
            if (p.label[i] != before[i]) assert_true(changed[p.label[i]] && changed[before[i]]);
        gf_free(before);
        gf_partition_release(&p);
        gf_csr_release(&x);
    }
}

/* Gain of moving row i to cluster b, from the sums. */
static double gain_of(const gf_points *points, uint32_t i, const double *sum, uint32_t a,
                      uint32_t b)
{
    const gf_csr *x = points->x;
    gf_row_view row = gf_csr_row(x, i);
    double w = (double)gf_points_weight(points, i), from[2] = {0}, to[2] = {0};
    double *without = gf_array(x->n_cols, sizeof *without),
           *with = gf_array(x->n_cols, sizeof *with);
    assert_non_null(without);
    assert_non_null(with);
    memcpy(without, sum + (size_t)a * x->n_cols, x->n_cols * sizeof *without);
    memcpy(with, sum + (size_t)b * x->n_cols, x->n_cols * sizeof *with);
    from[0] = rows_length(without, x->n_cols);
    to[0] = rows_length(with, x->n_cols);
    for (uint32_t p = 0; p < row.n; p++) {
        without[row.col[p]] -= w * (double)row.val[p];
        with[row.col[p]] += w * (double)row.val[p];
    }
    from[1] = rows_length(without, x->n_cols);
    to[1] = rows_length(with, x->n_cols);
    gf_free(without);
    gf_free(with);
    return to[1] - to[0] + from[1] - from[0];
}

/*
 * Up to 32 clusters are one group: refined until nothing moves, no single move gains more than the
 * 0.00001 for each document that is asked of one, by all moves tried anew in double precision.
 */
static void ends_where_no_move_gains(void **state)
{
    (void)state;
    gf_error err;
    enum { N = 120, TERMS = 60 };
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    static const uint32_t clusters[] = {2, 7, 31, 32};
    for (size_t c = 0; c < sizeof clusters / sizeof clusters[0]; c++) {
        uint32_t k = clusters[c], size[32] = {0};
        gf_csr x = rows_random(N, TERMS, 10, &random);
        float weight[N];
        for (uint32_t i = 0; i < N; i++)
            weight[i] = (float)(1 + i % 3);
        gf_points points = {&x, weight};
        gf_partition p = random_partition(&points, k, &random);
        bool changed[32] = {false};
        assert_ok(gf_refine(NULL, &points, &p, 60, 1, changed, NULL, &err));
        double *sum = rows_dense_sums(&x, weight, p.label, k);
        for (uint32_t i = 0; i < N; i++)
            size[p.label[i]]++;
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t b = 0; b < k && size[p.label[i]] > 1; b++)
                if (b != p.label[i])
                    assert_true(gain_of(&points, i, sum, p.label[i], b) <=
                                1.1e-5 * (double)weight[i]);
        gf_free(sum);
        gf_partition_release(&p);
        gf_csr_release(&x);
    }
}

/* All rows put into a wrong cluster find back. */
static void finds_planted_groups(void **state)
{
    (void)state;
    gf_error err;
    enum { N = 900, GROUPS = 20 };
    static uint32_t group[N];
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_csr x = rows_planted(N, GROUPS, 2, &random, group);
    gf_points points = {&x, NULL};
    gf_partition p = random_partition(&points, GROUPS, &random);
    gf_centre_summer *summer;
    bool changed[GROUPS] = {false};
    for (uint32_t i = 0; i < N; i++)
        p.label[i] = i % 5 ? group[i] : (uint32_t)gf_random_below(&random, GROUPS);
    assert_ok(gf_centre_summer_create(NULL, N, x.n_cols, GROUPS, &summer, &err));
    assert_ok(gf_centre_summer_run(summer, &points, p.label, NULL, &p.centres, p.own, NULL, &err));
    gf_centre_summer_free(summer);
    assert_ok(gf_refine(NULL, &points, &p, 4, 1, changed, NULL, &err));
    assert_memory_equal(p.label, group, sizeof group);
    gf_partition_release(&p);
    gf_csr_release(&x);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    gf_error err;
    enum { N = 1500, K = 200 };
    static uint32_t alone[N];
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    gf_csr x = rows_random(N, 300, 8, &random);
    gf_points points = {&x, NULL};
    gf_partition p = random_partition(&points, K, &random);
    for (unsigned threads = 1; threads <= 4; threads++) {
        gf_pool *pool = rows_pool(threads);
        gf_partition q = p;
        bool changed[K] = {false};
        q.label = gf_array(N, sizeof *q.label);
        assert_non_null(q.label);
        memcpy(q.label, p.label, N * sizeof *q.label);
        assert_ok(gf_refine(pool, &points, &q, 3, 7, changed, NULL, &err));
        if (threads == 1) memcpy(alone, q.label, sizeof alone);
        assert_memory_equal(q.label, alone, sizeof alone);
        gf_free(q.label);
        gf_pool_free(pool);
    }
    gf_partition_release(&p);
    gf_csr_release(&x);
}

typedef struct refining {
    gf_points points;
    gf_partition p;
    gf_cancel cancel;
} refining;

static gf_status swept(void *context, gf_error *err)
{
    refining *r = context;
    bool changed[40] = {false};
    return gf_refine(NULL, &r->points, &r->p, 2, 1, changed, &r->cancel, err);
}

static void keeps_its_clusters(void *context)
{
    const refining *r = context;
    check_not_empty(&r->p);
}

static void failures_are_told(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(2, 0);
    gf_csr x = rows_random(80, 6000, 100, &random);
    refining r = {.points = {&x, NULL}};
    r.p = random_partition(&r.points, 40, &random);
    gf_test_sweep(swept, keeps_its_clusters, &r);
    gf_cancel_request(&r.cancel);
    assert_status(GF_ECANCELLED, swept(&r, &err));
    gf_partition_release(&r.p);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raises_the_objective), cmocka_unit_test(ends_where_no_move_gains),
        cmocka_unit_test(finds_planted_groups), cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(failures_are_told),
    };
    return cmocka_run_group_tests_name("refine", tests, NULL, NULL);
}
