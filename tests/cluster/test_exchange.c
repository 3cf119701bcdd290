/* Exchanging clusters: what one row at a time does not mend, and nothing is made worse. */
#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/moves/exchange.h"
#include "cluster/moves/polish.h"

#include <string.h>

enum { ROUNDS = 100 };

/* A partition of its own, with what worked on it. */
typedef struct settled {
    gf_passes *passes;
    gf_partition p;
} settled;

/* The labels become a partition that no move of a single row raises by more than rounding. */
static settled settle(gf_pool *pool, const gf_points *points, uint32_t k, const uint32_t *label)
{
    gf_error err;
    settled s;
    gf_pass_report report;
    unsigned rounds;
    uint32_t n = gf_points_n(points);
    assert_ok(gf_partition_init(&s.p, n, k, points->x->n_cols, &err));
    memcpy(s.p.label, label, n * sizeof *label);
    assert_ok(gf_passes_create(pool, points, k, NULL, &s.passes, &err));
    memset(gf_passes_changed(s.passes), true, k);
    assert_ok(gf_passes_update(s.passes, &s.p, &err));
    assert_ok(gf_passes_assign_all(s.passes, &s.p, NULL, &report, &err));
    assert_ok(gf_passes_update(s.passes, &s.p, &err));
    assert_ok(gf_polish(s.passes, &s.p, 0, ROUNDS, &rounds, &err));
    return s;
}

static void release(settled *s)
{
    gf_passes_free(s->passes);
    gf_partition_release(&s->p);
}

static unsigned exchange(settled *s, unsigned rounds, uint64_t seed)
{
    gf_error err;
    unsigned made;
    gf_exchange_limits limits = {.rounds = rounds, .tolerance = 0, .polish_rounds = ROUNDS};
    assert_ok(gf_exchange(s->passes, &s->p, &limits, seed, &made, &err));
    return made;
}

/*
 * Groups 0 and 1 share a cluster, and so do 2 and 3, while 4 and 5 are cut in two. The polish
 * leaves that as it is; exchanges find the groups, whatever the split draws.
 */
static void finds_groups_that_the_polish_leaves(void **state)
{
    (void)state;
    enum { N = 600, GROUPS = 26 };
    uint32_t group[N], label[N];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        gf_random random = gf_random_seed(seed, 0);
        gf_csr x = rows_planted(N, GROUPS, 1, &random, group);
        gf_points points = {&x, NULL};
        for (uint32_t i = 0; i < N; i++) {
            label[i] = group[i];
            if (group[i] == 1) label[i] = 0;
            if (group[i] == 3) label[i] = 2;
            if (group[i] == 4 && i % 2) label[i] = 1;
            if (group[i] == 5 && i % 2) label[i] = 3;
        }
        double planted = rows_objective(&x, NULL, group, GROUPS);
        settled s = settle(NULL, &points, GROUPS, label);
        assert_true(gf_centres_objective(&s.p.centres) < 0.995 * planted);
        assert_true(exchange(&s, 20, seed) > 0);
        assert_true(gf_centres_objective(&s.p.centres) > 0.9999 * planted);
        release(&s);
        gf_csr_release(&x);
    }
}

static void check(const gf_points *points, const gf_partition *p)
{
    double objective = rows_objective(points->x, points->weight, p->label, p->k);
    assert_near(gf_centres_objective(&p->centres), objective, 1e-6 * (1 + objective));
    rows_check_bounds(points->x, p, false);
}

static void never_lowers_the_objective(void **state)
{
    (void)state;
    unsigned made = 0;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int run = 0; run < 60; run++) {
        uint32_t n = 60 + (uint32_t)gf_random_below(&random, 400), label[460];
        uint32_t k = 2 + (uint32_t)gf_random_below(&random, n / 6);
        float weight[460];
        gf_csr x = rows_random(n, 40 + (uint32_t)gf_random_below(&random, 90), 8, &random);
        gf_points points = {&x, run % 2 ? weight : NULL};
        for (uint32_t i = 0; i < n; i++) {
            label[i] = i < k ? i : (uint32_t)gf_random_below(&random, k);
            weight[i] = (float)(1 + gf_random_below(&random, 5));
        }
        settled s = settle(NULL, &points, k, label);
        double before = gf_centres_objective(&s.p.centres);
        /* With many rounds the last are always taken back. */
        unsigned better = exchange(&s, run % 3 ? 60 : 1, (uint64_t)run);
        double after = gf_centres_objective(&s.p.centres);
        check(&points, &s.p);
        /* Rows that were taken back are summed again, in another order perhaps. */
        assert_true(better ? after > before : after > before * (1 - 1e-12));
        made += better > 0;
        release(&s);
        gf_csr_release(&x);
    }
    assert_true(made > 5);
}

static void same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    enum { N = 3000, K = 40 };
    static uint32_t group[N], label[N], expected[N];
    gf_random random = gf_random_seed(5, 0);
    gf_csr x = rows_planted(N, K, 20, &random, group);
    gf_points points = {&x, NULL};
    for (uint32_t i = 0; i < N; i++)
        label[i] = i < K ? i : (uint32_t)gf_random_below(&random, K);
    gf_centres centres = {0};
    const unsigned threads[] = {1, 2, 3, 5};
    for (size_t t = 0; t < 4; t++) {
        gf_pool *pool = rows_pool(threads[t]);
        settled s = settle(pool, &points, K, label);
        assert_true(exchange(&s, 6, 1) > 0);
        if (t == 0) {
            memcpy(expected, s.p.label, sizeof expected);
            centres = s.p.centres;
            s.p.centres = (gf_centres){0};
        } else {
            assert_memory_equal(expected, s.p.label, sizeof expected);
            rows_assert_same_centres(&centres, &s.p.centres);
        }
        release(&s);
        gf_pool_free(pool);
    }
    gf_centres_release(&centres);
    gf_csr_release(&x);
}

static void does_nothing_where_nothing_can_be_done(void **state)
{
    (void)state;
    const float values[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const uint32_t label[] = {0, 1, 2}, few[] = {0, 1, 1};
    gf_csr x = rows_by_hand(values, 3, 3);
    gf_points points = {&x, NULL};
    settled s = settle(NULL, &points, 3, label); /* rows by themselves: none can be cut */
    assert_int_equal(exchange(&s, 5, 1), 0);
    assert_memory_equal(s.p.label, label, sizeof label);
    release(&s);
    s = settle(NULL, &points, 2, few); /* both would be joined, and none left to be cut */
    assert_int_equal(exchange(&s, 5, 1), 0);
    release(&s);
    s = settle(NULL, &points, 3, label);
    assert_int_equal(exchange(&s, 0, 1), 0);
    release(&s);
    gf_csr_release(&x);
}

/* ---- failures -------------------------------------------------------------------------------- */

typedef struct work {
    gf_points points;
    uint32_t k;
    const uint32_t *label;
} work;

static gf_status exchange_once(void *context, gf_error *err)
{
    const work *w = context;
    gf_partition p;
    gf_passes *passes = NULL;
    gf_pass_report report;
    unsigned made;
    gf_exchange_limits limits = {.rounds = 3, .tolerance = 0.001, .polish_rounds = 3};
    gf_status st = gf_partition_init(&p, gf_points_n(&w->points), w->k, w->points.x->n_cols, err);
    if (st != GF_OK) return st;
    memcpy(p.label, w->label, p.n * sizeof *p.label);
    st = gf_passes_create(NULL, &w->points, w->k, NULL, &passes, err);
    if (st == GF_OK) {
        memset(gf_passes_changed(passes), true, w->k);
        st = gf_passes_update(passes, &p, err);
    }
    if (st == GF_OK) st = gf_passes_assign_all(passes, &p, NULL, &report, err);
    if (st == GF_OK) st = gf_passes_update(passes, &p, err);
    if (st == GF_OK) st = gf_exchange(passes, &p, &limits, 1, &made, err);
    gf_passes_free(passes);
    gf_partition_release(&p);
    return st;
}

static void failed_allocations_are_told(void **state)
{
    (void)state;
    enum { N = 120, K = 8 };
    uint32_t group[N], label[N];
    gf_random random = gf_random_seed(9, 0);
    gf_csr x = rows_planted(N, K, 10, &random, group);
    for (uint32_t i = 0; i < N; i++)
        label[i] = i % K;
    work w = {{&x, NULL}, K, label};
    gf_test_sweep(exchange_once, NULL, &w);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_groups_that_the_polish_leaves),
        cmocka_unit_test(never_lowers_the_objective),
        cmocka_unit_test(same_bytes_for_any_number_of_threads),
        cmocka_unit_test(does_nothing_where_nothing_can_be_done),
        cmocka_unit_test(failed_allocations_are_told),
    };
    return cmocka_run_group_tests_name("exchange", tests, NULL, NULL);
}
