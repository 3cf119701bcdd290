#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/moves/enlarger.h"

#include <string.h>

/* A partition by labels, with its sums. */
static gf_partition partition(const gf_csr *x, const uint32_t *label, uint32_t k)
{
    gf_error err;
    gf_partition p;
    gf_centre_summer *summer;
    gf_points points = {x, NULL};
    assert_ok(gf_partition_init(&p, x->n_rows, k, x->n_cols, &err));
    memcpy(p.label, label, x->n_rows * sizeof *label);
    assert_ok(gf_centre_summer_create(NULL, x->n_rows, x->n_cols, k, &summer, &err));
    assert_ok(gf_centre_summer_run(summer, &points, p.label, NULL, &p.centres, p.own, NULL, &err));
    gf_centre_summer_free(summer);
    return p;
}

static void enlarge(gf_pool *pool, const gf_csr *x, gf_partition *p, uint32_t k, bool *changed)
{
    gf_error err;
    gf_enlarger *e;
    gf_points points = {x, NULL};
    memset(changed, 0, k * sizeof *changed);
    assert_ok(gf_enlarger_create(pool, x->n_cols, 5, &e, &err));
    assert_ok(gf_enlarge(e, &points, p, k, changed, NULL, &err));
    gf_enlarger_free(e);
}

/*
 * Every new cluster has rows of one old one, which keeps some; clusters are halves where they are
 * said to be, and each is no longer what it was. The objective rises.
 */
static void check_enlarged(const gf_csr *x, const gf_partition *p, const uint32_t *before,
                           uint32_t k_before, const bool *changed)
{
    enum { NONE = UINT32_MAX };
    uint32_t old[600], size[600] = {0}, size_before[600] = {0};
    memset(old, 0xff, sizeof old);
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t j = p->label[i];
        assert_true(j < p->k);
        if (old[j] == NONE) old[j] = before[i];
        assert_int_equal(old[j], before[i]);
        size[j]++;
        size_before[before[i]]++;
    }
    for (uint32_t j = 0; j < p->k; j++) {
        assert_true(size[j] > 0);
        if (j < k_before) assert_int_equal(old[j], j);
        if (j >= k_before) assert_true(changed[j] && changed[old[j]]);
        if (j < k_before) assert_int_equal(changed[j], size[j] < size_before[j]);
    }
    double rise = rows_objective(x, NULL, p->label, p->k) - rows_objective(x, NULL, before, p->k);
    assert_true(rise >= (p->k > k_before ? 1e-9 : 0));
}

/* How many clusters have two rows or more. */
static uint32_t of_two_rows(const uint32_t *label, uint32_t n, uint32_t k)
{
    uint32_t size[600] = {0}, several = 0;
    for (uint32_t i = 0; i < n; i++)
        size[label[i]]++;
    for (uint32_t j = 0; j < k; j++)
        several += size[j] > 1;
    return several;
}

static void cuts_clusters_in_two(void **state)
{
    (void)state;
    enum { N = 300 };
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    uint32_t before[N];
    bool changed[600];
    for (int round = 0; round < 60; round++) {
        uint32_t k = 1 + (uint32_t)gf_random_below(&random, 40);
        uint32_t to = k + 1 + (uint32_t)gf_random_below(&random, k);
        gf_csr x = rows_random(N, 60, 8, &random);
        for (uint32_t i = 0; i < N; i++)
            before[i] = i < k ? i : (uint32_t)gf_random_below(&random, k);
        gf_partition p = partition(&x, before, k);
        enlarge(NULL, &x, &p, to, changed);
        uint32_t most = k + of_two_rows(before, N, k);
        assert_int_equal(p.k, to < most ? to : most);
        check_enlarged(&x, &p, before, k, changed);
        gf_partition_release(&p);
        gf_csr_release(&x);
    }
}

/* Three groups that share a cluster come apart in one step, and no sound group is cut. */
static void three_groups_come_apart(void **state)
{
    (void)state;
    enum { N = 900, GROUPS = 12 };
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    static uint32_t group[N];
    uint32_t before[N];
    bool changed[GROUPS];
    for (int round = 0; round < 20; round++) {
        gf_csr x = rows_planted(N, GROUPS, 2, &random, group);
        for (uint32_t i = 0; i < N; i++)
            before[i] = group[i] < 2 ? 9 : group[i] - 2;
        gf_partition p = partition(&x, before, GROUPS - 2);
        enlarge(NULL, &x, &p, GROUPS, changed);
        assert_int_equal(p.k, GROUPS);
        check_enlarged(&x, &p, before, GROUPS - 2, changed);
        for (uint32_t j = 0; j < GROUPS; j++)
            assert_int_equal(changed[j], j >= 9);
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t other = 0; other < i; other += 7)
                assert_true((group[i] == group[other]) == (p.label[i] == p.label[other]));
        gf_partition_release(&p);
        gf_csr_release(&x);
    }
}

/* Single rows cannot be split: fewer clusters come out, or none more. */
static void what_cannot_be_split_stays(void **state)
{
    (void)state;
    const float values[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0};
    static const uint32_t alone[] = {0, 1, 2, 3}, pair[] = {0, 0, 1, 2};
    bool changed[6];
    gf_csr x = rows_by_hand(values, 4, 3);
    gf_partition p = partition(&x, alone, 4);
    enlarge(NULL, &x, &p, 6, changed);
    assert_int_equal(p.k, 4);
    assert_memory_equal(p.label, alone, sizeof alone);
    for (int j = 0; j < 6; j++)
        assert_false(changed[j]);
    gf_partition_release(&p);
    p = partition(&x, pair, 3);
    enlarge(NULL, &x, &p, 6, changed);
    assert_int_equal(p.k, 4);
    check_enlarged(&x, &p, pair, 3, changed);
    gf_partition_release(&p);
    gf_csr_release(&x);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    enum { N = 500, K = 20 };
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    uint32_t before[N];
    bool changed[2 * K], same[2 * K];
    gf_csr x = rows_random(N, 90, 8, &random);
    for (uint32_t i = 0; i < N; i++)
        before[i] = i % K;
    for (uint32_t to = K + 1; to <= 2 * K; to += 6) {
        gf_partition alone = partition(&x, before, K);
        enlarge(NULL, &x, &alone, to, changed);
        for (unsigned threads = 2; threads < 6; threads += 3) {
            gf_pool *pool = rows_pool(threads);
            gf_partition p = partition(&x, before, K);
            enlarge(pool, &x, &p, to, same);
            assert_memory_equal(p.label, alone.label, N * sizeof *p.label);
            assert_memory_equal(changed, same, to * sizeof *same);
            gf_partition_release(&p);
            gf_pool_free(pool);
        }
        gf_partition_release(&alone);
    }
    gf_csr_release(&x);
}

/* ---- failures -------------------------------------------------------------------------------- */

enum { SWEPT = 12, SWEPT_K = 4, SWEPT_TO = 6 };

static gf_partition swept_partition(const gf_csr *x)
{
    uint32_t label[SWEPT];
    for (uint32_t i = 0; i < SWEPT; i++)
        label[i] = i % SWEPT_K;
    return partition(x, label, SWEPT_K);
}

static gf_status enlarge_swept(const gf_csr *x, gf_partition *p, gf_error *err)
{
    gf_points points = {x, NULL};
    gf_enlarger *e = NULL;
    bool changed[SWEPT_TO] = {0};
    gf_status st = gf_enlarger_create(NULL, x->n_cols, 1, &e, err);
    if (st == GF_OK) st = gf_enlarge(e, &points, p, SWEPT_TO, changed, NULL, err);
    gf_enlarger_free(e);
    return st;
}

/* A failing run's remains can be released. No gf_test_sweep: each run has its own. */
static void failures(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(3, 0);
    gf_csr x = rows_random(SWEPT, 20, 4, &random);
    int failed = 1;
    for (int64_t n = 0; failed; n++) {
        gf_partition p = swept_partition(&x);
        gf_memory_fail_at(n);
        gf_status st = enlarge_swept(&x, &p, &err);
        failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        assert_int_equal(st, failed ? GF_ENOMEM : GF_OK);
        if (!failed) assert_int_equal(p.k, SWEPT_TO);
        gf_partition_release(&p);
    }
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    gf_enlarger *e;
    gf_points points = {&x, NULL};
    bool changed[SWEPT_TO] = {0};
    gf_partition p = swept_partition(&x);
    assert_ok(gf_enlarger_create(NULL, x.n_cols, 1, &e, &err));
    assert_status(GF_ECANCELLED, gf_enlarge(e, &points, &p, SWEPT_TO, changed, &cancel, &err));
    gf_enlarger_free(e);
    gf_enlarger_free(NULL);
    gf_partition_release(&p);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_clusters_in_two),
        cmocka_unit_test(three_groups_come_apart),
        cmocka_unit_test(what_cannot_be_split_stays),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests_name("enlarge", tests, NULL, NULL);
}
