#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/moves/groups.h"

#include <string.h>

/* Each cluster is in one group, and no group is empty or too large. */
static void check_groups(const gf_groups *g, uint32_t k)
{
    bool *seen = gf_calloc(k, sizeof *seen);
    assert_non_null(seen);
    assert_int_equal(g->start[0], 0);
    assert_int_equal(g->start[g->n], k);
    for (uint32_t i = 0; i < g->n; i++) {
        assert_true(g->start[i] < g->start[i + 1]);
        assert_true(g->start[i + 1] - g->start[i] <= GF_GROUP);
    }
    for (uint32_t i = 0; i < k; i++) {
        assert_true(g->member[i] < k);
        assert_false(seen[g->member[i]]);
        seen[g->member[i]] = true;
    }
    gf_free(seen);
}

static void each_cluster_is_in_one_group(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (uint32_t k = 1; k < 200; k += 33) {
        gf_csr x = rows_random(300, 80, 40, &random);
        gf_centres c = rows_random_centres(&x, k, &random);
        gf_groups g;
        assert_ok(gf_groups_init(&g, &c, &err));
        for (int round = 0; round < 3; round++) {
            gf_groups_draw(&g, &random);
            check_groups(&g, k);
        }
        gf_groups_release(&g);
        gf_centres_release(&c);
        gf_csr_release(&x);
    }
}

enum { KINDS = 4 };

/* Centres of KINDS kinds in turn, which share terms with their own kind alone. */
static gf_centres centres_of_kinds(uint32_t of_a_kind, gf_random *random)
{
    gf_error err;
    gf_centres c;
    assert_ok(gf_centres_init(&c, KINDS * of_a_kind, 100 * KINDS, &err));
    for (uint32_t j = 0; j < c.k; j++) {
        uint32_t kind = j % KINDS, col[40];
        float val[40];
        for (uint32_t p = 0; p < 40; p++) {
            col[p] = 100 * kind + 2 * p + (uint32_t)gf_random_below(random, 2);
            val[p] = p % 3 ? 0.01f : 0.3f; /* the 14 strong ones go first */
        }
        col[0] = 100 * kind; /* one that all of the kind have */
        assert_ok(gf_centres_set_row(&c, j, (gf_row_view){col, val, 40}, &err));
    }
    return c;
}

/* Clusters of a kind are always in one group, with as many other kinds as it has room for. */
static void similar_clusters_come_together(void **state)
{
    (void)state;
    gf_error err;
    static const struct {
        uint32_t of_a_kind, groups;
    } cases[] = {{32, 4}, {20, 4}, {17, 4}, {16, 2}, {11, 2}, {10, 2}, {8, 1}, {1, 1}};
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gf_centres c = centres_of_kinds(cases[i].of_a_kind, &random);
        gf_groups g;
        assert_ok(gf_groups_init(&g, &c, &err));
        gf_groups_draw(&g, &random);
        assert_int_equal(g.n, cases[i].groups);
        check_groups(&g, c.k);
        uint32_t group_of[KINDS];
        memset(group_of, 0xff, sizeof group_of);
        for (uint32_t n = 0; n < g.n; n++)
            for (uint32_t m = g.start[n]; m < g.start[n + 1]; m++) {
                uint32_t *of_kind = &group_of[g.member[m] % KINDS];
                if (*of_kind == UINT32_MAX) *of_kind = n;
                assert_int_equal(*of_kind, n);
            }
        gf_groups_release(&g);
        gf_centres_release(&c);
    }
}

static gf_groups result, untouched;

static gf_status swept(void *context, gf_error *err)
{
    gf_status st = gf_groups_init(&result, context, err);
    if (st == GF_OK) gf_groups_release(&result);
    return st;
}

static void is_untouched(void *context)
{
    (void)context;
    assert_memory_equal(&result, &untouched, sizeof result);
}

static void failures_change_nothing(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(2, 0);
    gf_csr x = rows_random(30, 20, 6, &random);
    gf_centres c = rows_random_centres(&x, 9, &random);
    memset(&untouched, 0x55, sizeof untouched);
    memcpy(&result, &untouched, sizeof result);
    gf_test_sweep(swept, is_untouched, &c);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cluster_is_in_one_group),
        cmocka_unit_test(similar_clusters_come_together),
        cmocka_unit_test(failures_change_nothing),
    };
    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
