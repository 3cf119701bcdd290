#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/kmeans.h"

#include <string.h>

static gf_kmeans run(gf_pool *pool, const gf_csr *x, gf_kmeans_options o)
{
    gf_error err;
    gf_kmeans r;
    assert_ok(gf_kmeans_run(pool, x, &o, &r, &err));
    return r;
}

static void assert_same_clusters(const gf_kmeans *a, const gf_kmeans *b)
{
    assert_int_equal(a->k, b->k);
    assert_memory_equal(a->label, b->label, a->n * sizeof *a->label);
    assert_memory_equal(a->score, b->score, a->n * sizeof *a->score);
    assert_memory_equal(a->second, b->second, a->n * sizeof *a->second);
    rows_assert_same_centres(&a->centres, &b->centres);
}

/* Objective, passes, rounds and runs are sound; returns the objective. */
static double quick_objective(const gf_csr *x, gf_kmeans_options o)
{
    o.quick = true;
    gf_kmeans r = run(NULL, x, o);
    double objective = rows_objective(x, NULL, r.label, r.k);
    assert_int_equal(r.k, o.k);
    assert_true(r.passes <= 2);
    assert_true(r.rounds <= 2);
    assert_int_equal(r.restarts, o.restarts ? o.restarts : 1);
    for (uint32_t i = 0; i < r.n; i++)
        assert_true(r.score[i] >= r.second[i]);
    gf_kmeans_release(&r);
    return objective;
}

/* Quick clusters of planted groups are not far below those of a full run. */
static void quick_clusters_are_nearly_as_good(void **state)
{
    (void)state;
    uint32_t group[3000];
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_planted(3000, 30, 4, &random, group);
    gf_kmeans full = run(NULL, &x, (gf_kmeans_options){.k = 30, .seed = 1, .restarts = 1});
    double best = rows_objective(&x, NULL, full.label, full.k);
    assert_true(quick_objective(&x, (gf_kmeans_options){.k = 30, .seed = 1}) > 0.85 * best);
    assert_true(quick_objective(&x, (gf_kmeans_options){.k = 30, .restarts = 4}) > 0.85 * best);
    gf_kmeans_release(&full);
    gf_csr_release(&x);
}

/* Likewise of many clusters, which grow by larger steps. */
static void many_quick_clusters_are_nearly_as_good(void **state)
{
    (void)state;
    static uint32_t group[9000];
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    gf_csr x = rows_planted(9000, 560, 8, &random, group);
    gf_kmeans full = run(NULL, &x, (gf_kmeans_options){.k = 560, .seed = 1, .restarts = 1});
    double best = rows_objective(&x, NULL, full.label, full.k);
    gf_kmeans_options o = {.k = 560, .seed = 1};
    assert_true(quick_objective(&x, o) > 0.97 * best);
    gf_pool *pool = rows_pool(3);
    o.quick = true;
    gf_kmeans alone = run(NULL, &x, o), shared = run(pool, &x, o);
    assert_same_clusters(&alone, &shared);
    gf_pool_free(pool);
    gf_kmeans_release(&alone);
    gf_kmeans_release(&shared);
    gf_kmeans_release(&full);
    gf_csr_release(&x);
}

static void less_may_be_asked_for(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_csr x = rows_random(2000, 300, 10, &random);
    gf_kmeans_options o = {.k = 40, .quick = true, .tolerance = 1e-9};
    gf_kmeans r = run(NULL, &x, o);
    assert_int_equal(r.passes, 2);
    assert_int_equal(r.rounds, 2);
    gf_kmeans_release(&r);
    o.max_passes = 1;
    o.max_rounds = 1;
    r = run(NULL, &x, o);
    assert_int_equal(r.passes, 1);
    assert_int_equal(r.rounds, 1);
    gf_kmeans_release(&r);
    o.max_passes = 100;
    o.max_rounds = GF_NO_POLISH;
    r = run(NULL, &x, o);
    assert_int_equal(r.passes, 2);
    assert_int_equal(r.rounds, 0);
    gf_kmeans_release(&r);
    gf_csr_release(&x);
}

/* 80 rows a cluster: the candidates for a seed are compared on threads. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    gf_csr x = rows_random(5000, 300, 10, &random);
    gf_kmeans_options o = {.k = 60, .seed = 5, .quick = true};
    gf_kmeans alone = run(NULL, &x, o);
    for (unsigned threads = 2; threads < 6; threads += 3) {
        gf_pool *pool = rows_pool(threads);
        gf_kmeans r = run(pool, &x, o);
        assert_same_clusters(&alone, &r);
        gf_kmeans_release(&r);
        gf_pool_free(pool);
    }
    gf_kmeans_release(&alone);
    gf_csr_release(&x);
}

/* ---- failures -------------------------------------------------------------------------------- */

static gf_status run_swept(void *context, gf_error *err)
{
    gf_kmeans_options o = {.k = 4, .quick = true};
    gf_kmeans r;
    gf_status st = gf_kmeans_run(NULL, context, &o, &r, err);
    if (st == GF_OK) gf_kmeans_release(&r);
    return st;
}

static void failures_are_reported(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(2, 0);
    gf_csr x = rows_random(30, 12, 4, &random);
    gf_cancel cancel = {0};
    gf_kmeans_options o = {.k = 4, .quick = true, .cancel = &cancel};
    gf_kmeans r;
    gf_test_sweep(run_swept, NULL, &x);
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_kmeans_run(NULL, &x, &o, &r, &err));
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quick_clusters_are_nearly_as_good),
        cmocka_unit_test(many_quick_clusters_are_nearly_as_good),
        cmocka_unit_test(less_may_be_asked_for),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(failures_are_reported),
    };
    return cmocka_run_group_tests_name("kmeans_runs", tests, NULL, NULL);
}
