#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/moves/apply_moves.h"

#include <string.h>

enum { N = 3000, COLUMNS = 400 };

/* Rows of planted groups, a fifth of them elsewhere, and the group as what is proposed for each. */
typedef struct data {
    gf_csr x;
    gf_points points;
    uint32_t k, group[N], target[N];
    float weight[N], score[N];
    gf_partition p;
} data;

static void make_data(data *d, uint32_t k, gf_random *random)
{
    gf_error err;
    gf_centre_summer *summer;
    *d = (data){.k = k};
    d->x = rows_planted(N, k, 5, random, d->group);
    d->points = (gf_points){&d->x, d->weight};
    assert_ok(gf_partition_init(&d->p, N, k, d->x.n_cols, &err));
    for (uint32_t i = 0; i < N; i++) {
        bool strays = gf_random_below(random, 5) == 0;
        d->weight[i] = (float)(1 + gf_random_below(random, 3));
        d->p.label[i] = strays ? (uint32_t)gf_random_below(random, k) : d->group[i];
        d->target[i] = d->group[i] == d->p.label[i] ? GF_NO_MOVE : d->group[i];
    }
    assert_ok(gf_centre_summer_create(NULL, N, d->x.n_cols, k, &summer, &err));
    assert_ok(gf_centre_summer_run(summer, &d->points, d->p.label, NULL, &d->p.centres, d->p.own,
                                   NULL, &err));
    gf_centre_summer_free(summer);
    for (uint32_t i = 0; i < N; i++)
        if (d->target[i] != GF_NO_MOVE)
            d->score[i] = (float)gf_csr_row_dot(gf_csr_row(&d->x, i),
                                                gf_centre_row(&d->p.centres.at[d->target[i]]));
}

static void release_data(data *d)
{
    gf_partition_release(&d->p);
    gf_csr_release(&d->x);
}

/* The objective rises, the flags are those of the clusters that changed, and threads do not matter. */
static void moves_gain_whatever_the_threads(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    static const uint32_t ks[] = {2, 5, 31, 32, 33, 100};
    static uint32_t before[N], alone[N];
    static data d;
    for (size_t v = 0; v < sizeof ks / sizeof *ks; v++) {
        make_data(&d, ks[v], &random);
        memcpy(before, d.p.label, sizeof before);
        double objective = rows_objective(&d.x, d.weight, before, d.k);
        for (unsigned threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
            gf_pool *pool = rows_pool(threads);
            gf_moves *moves;
            uint64_t n_moves, moved = 0, proposed = 0;
            bool changed[100] = {false}, seen[100] = {false};
            memcpy(d.p.label, before, sizeof before);
            assert_ok(gf_moves_create(pool, &d.points, d.k, &moves, &err));
            assert_ok(
                gf_moves_apply(moves, &d.p, d.target, d.score, changed, NULL, &n_moves, &err));
            for (uint32_t i = 0; i < N; i++) {
                proposed += d.target[i] != GF_NO_MOVE;
                if (d.p.label[i] == before[i]) continue;
                assert_int_equal(d.p.label[i], d.target[i]);
                seen[before[i]] = seen[d.target[i]] = true;
                moved++;
            }
            assert_int_equal(moved, n_moves);
            assert_true(moved > proposed * 9 / 10); /* home is better for nearly all */
            assert_memory_equal(changed, seen, sizeof seen);
            assert_true(rows_objective(&d.x, d.weight, d.p.label, d.k) > objective);
            if (threads == 1) memcpy(alone, d.p.label, sizeof alone);
            assert_memory_equal(d.p.label, alone, sizeof alone);
            gf_moves_free(moves);
            gf_pool_free(pool);
        }
        release_data(&d);
    }
}

/*
 * Rows 0 and 2 are alike, each beside one like none. Each would gain in the other's cluster; once row
 * 0 is there, row 2 would lose by leaving.
 */
static void a_gain_is_worked_out_when_its_turn_comes(void **state)
{
    (void)state;
    gf_error err;
    gf_csr x = rows_by_hand((const float[]){1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1}, 4, 3);
    gf_points points = {&x, NULL};
    gf_partition p;
    gf_centre_summer *summer;
    gf_moves *moves;
    uint64_t n_moves;
    bool changed[2] = {false};
    assert_ok(gf_partition_init(&p, 4, 2, 3, &err));
    p.label[2] = p.label[3] = 1;
    assert_ok(gf_centre_summer_create(NULL, 4, 3, 2, &summer, &err));
    assert_ok(gf_centre_summer_run(summer, &points, p.label, NULL, &p.centres, p.own, NULL, &err));
    const uint32_t target[] = {1, GF_NO_MOVE, 0, GF_NO_MOVE};
    const float score[] = {0.70710678f, 0, 0.70710678f, 0};
    assert_ok(gf_moves_create(NULL, &points, 2, &moves, &err));
    assert_ok(gf_moves_apply(moves, &p, target, score, changed, NULL, &n_moves, &err));
    assert_int_equal(n_moves, 1);
    assert_memory_equal(p.label, ((const uint32_t[]){1, 0, 1, 1}), sizeof target);
    assert_true(changed[0] && changed[1]);
    gf_moves_free(moves);
    gf_centre_summer_free(summer);
    gf_partition_release(&p);
    gf_csr_release(&x);
}

static gf_status apply_swept(void *context, gf_error *err)
{
    data *d = context;
    gf_moves *moves = NULL;
    uint64_t n_moves;
    bool changed[100];
    gf_status st = gf_moves_create(NULL, &d->points, d->k, &moves, err);
    if (st == GF_OK)
        st = gf_moves_apply(moves, &d->p, d->target, d->score, changed, NULL, &n_moves, err);
    gf_moves_free(moves);
    for (uint32_t i = 0; i < N; i++)
        if (d->target[i] == d->p.label[i]) d->target[i] = GF_NO_MOVE; /* what was applied */
    return st;
}

static void failing_allocations(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    static data d;
    make_data(&d, 40, &random);
    gf_test_sweep(apply_swept, NULL, &d);
    release_data(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_gain_whatever_the_threads),
        cmocka_unit_test(a_gain_is_worked_out_when_its_turn_comes),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests_name("apply moves", tests, NULL, NULL);
}
