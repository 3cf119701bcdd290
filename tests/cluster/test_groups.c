#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/groups.h"

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

/* Clusters of rows that share no term with those of others are never in a group with them. */
static void similar_clusters_come_together(void **state)
{
    (void)state;
    gf_error err;
    enum { KINDS = 4, OF_A_KIND = 20 };
    gf_centres c;
    assert_ok(gf_centres_init(&c, KINDS * OF_A_KIND, 100 * KINDS, &err));
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    for (uint32_t j = 0; j < c.k; j++) {
        uint32_t kind = j % KINDS, col[40];
        float val[40];
        for (uint32_t p = 0; p < 40; p++) {
            col[p] = 100 * kind + 2 * p + (uint32_t)gf_random_below(&random, 2);
            val[p] = p % 3 ? 0.01f : 0.3f; /* the 14 strong ones go first */
        }
        col[0] = 100 * kind; /* one that all of the kind have */
        assert_ok(gf_centres_set_row(&c, j, (gf_row_view){col, val, 40}, &err));
    }
    gf_groups g;
    assert_ok(gf_groups_init(&g, &c, &err));
    gf_groups_draw(&g, &random);
    assert_int_equal(g.n, KINDS);
    for (uint32_t i = 0; i < g.n; i++)
        for (uint32_t m = g.start[i]; m < g.start[i + 1]; m++)
            assert_int_equal(g.member[m] % KINDS, g.member[g.start[i]] % KINDS);
    gf_groups_release(&g);
    gf_centres_release(&c);
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
