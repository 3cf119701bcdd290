#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/kmeans.h"
#include "cluster/large/assign.h"
#include "cluster/large/branches.h"
#include "cluster/large/strongest.h"
#include "cluster/passes/nearest_centres.h"

#include <string.h>

/* ---- strongest terms ------------------------------------------------------------------------- */

static void the_strongest_by_hand(void **state)
{
    (void)state;
    static const float value[] = {0.1f, 0.5f, 0.2f, 0.5f, 0.5f, 0.3f};
    uint32_t at[6];
    assert_int_equal(gf_strongest_find(value, 6, 2, at), 2);
    assert_true(at[0] == 1 && at[1] == 3); /* of equal ones the first */
    assert_int_equal(gf_strongest_find(value, 6, 4, at), 4);
    assert_true(at[0] == 1 && at[1] == 3 && at[2] == 4 && at[3] == 5);
    assert_int_equal(gf_strongest_find(value, 3, 6, at), 3);
    assert_true(at[0] == 0 && at[2] == 2);
}

static void strongest_are_above_all_others(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 200; round++) {
        float value[100];
        uint32_t at[100], n = 1 + (uint32_t)gf_random_below(&random, 100);
        uint32_t most = 1 + (uint32_t)gf_random_below(&random, 100), found, next = 0;
        for (uint32_t i = 0; i < n; i++)
            value[i] = (float)gf_random_below(&random, 20);
        found = gf_strongest_find(value, n, most, at);
        assert_int_equal(found, n < most ? n : most);
        float least = 1e9f;
        for (uint32_t i = 0; i < found; i++) {
            assert_true(i == 0 || at[i] > at[i - 1]);
            if (value[at[i]] < least) least = value[at[i]];
        }
        for (uint32_t i = 0; i < n; i++) {
            if (next < found && at[next] == i)
                next++;
            else
                assert_true(value[i] <= least);
        }
    }
}

static void a_centre_keeps_its_strongest(void **state)
{
    (void)state;
    gf_error err;
    static const float row[] = {0.6f, 0, 0.1f, 0.8f, 0.2f};
    gf_csr x = rows_by_hand(row, 1, 5);
    gf_centres c;
    assert_ok(gf_centres_init(&c, 1, 5, &err));
    assert_ok(gf_centres_set_row(&c, 0, gf_csr_row(&x, 0), &err));
    assert_ok(gf_strongest_keep(&c.at[0], 2, &err));
    assert_int_equal(c.at[0].n, 2);
    assert_true(c.at[0].term[0] == 0 && c.at[0].term[1] == 3);
    assert_near(c.at[0].value[0], 0.6, 1e-6);
    assert_near(c.at[0].value[1], 0.8, 1e-6);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

/* ---- the tree -------------------------------------------------------------------------------- */

typedef struct found {
    uint32_t n, *label, *runner_up;
    float *own, *other;
} found;

static found make_found(uint32_t n)
{
    found f = {n, gf_calloc(n, sizeof(uint32_t)), gf_calloc(n, sizeof(uint32_t)),
               gf_calloc(n, sizeof(float)), gf_calloc(n, sizeof(float))};
    assert_true(f.label && f.runner_up && f.own && f.other);
    return f;
}

static void free_found(found *f)
{
    gf_free(f->label);
    gf_free(f->runner_up);
    gf_free(f->own);
    gf_free(f->other);
}

static found assign(gf_pool *pool, const gf_csr *x, const gf_centres *c)
{
    gf_error err;
    gf_branches b;
    found f = make_found(x->n_rows);
    assert_ok(gf_branches_init(&b, c, pool, NULL, &err));
    assert_ok(gf_branches_assign(&b, pool, x, f.label, f.runner_up, f.own, f.other, NULL, &err));
    gf_branches_release(&b);
    return f;
}

static void assert_same(const found *a, const found *b)
{
    assert_memory_equal(a->label, b->label, a->n * sizeof *a->label);
    assert_memory_equal(a->runner_up, b->runner_up, a->n * sizeof *a->runner_up);
    assert_memory_equal(a->own, b->own, a->n * sizeof *a->own);
    assert_memory_equal(a->other, b->other, a->n * sizeof *a->other);
}

/* Each centre that has terms is in one branch. */
static void branches_part_the_centres(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 3, 17, 400};
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
        gf_csr x = rows_random(500, 300, 20, &random);
        gf_centres c = rows_random_centres(&x, ks[i], &random);
        uint32_t empty = ks[i] > 3 ? 2 : UINT32_MAX, *times = gf_calloc(ks[i], sizeof *times);
        if (empty < ks[i]) c.at[empty].n = 0;
        gf_branches b;
        assert_ok(gf_branches_init(&b, &c, NULL, NULL, &err));
        assert_true(b.n >= 1 && b.n <= ks[i]);
        for (uint32_t j = 0; j < b.n; j++)
            for (uint32_t l = b.start[j]; l < b.start[j + 1]; l++) {
                assert_true(l == b.start[j] || b.leaf[l] > b.leaf[l - 1]);
                times[b.leaf[l]]++;
            }
        for (uint32_t j = 0; j < ks[i]; j++)
            assert_int_equal(times[j], j != empty);
        gf_branches_release(&b);
        gf_free(times);
        gf_centres_release(&c);
        gf_csr_release(&x);
    }
}

/*
 * Similarities are those of all dot products; of few branches, all of which are reached, the two
 * are the most similar of all; of many, nearly always, and the centres themselves are found.
 */
static void check_found(const gf_csr *x, const gf_centres *c, const found *f, double least)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < x->n_rows; i++) {
        gf_row_view row = gf_csr_row(x, i);
        double most = -1;
        for (uint32_t j = 0; j < c->k; j++) {
            double dot = gf_csr_row_dot(row, gf_centre_row(&c->at[j]));
            if (dot > most) most = dot;
            if (j == f->label[i]) assert_near(f->own[i], dot, 1e-6);
            if (j == f->runner_up[i]) assert_near(f->other[i], dot, 1e-6);
        }
        assert_true(f->other[i] <= f->own[i] && f->label[i] != f->runner_up[i]);
        best += (double)f->own[i] >= most - 1e-6;
    }
    assert_true(best >= least * x->n_rows);
}

static void the_most_similar_are_found(void **state)
{
    (void)state;
    static const uint32_t ks[] = {2, 12, 400};
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
        uint32_t group[1200];
        gf_csr x = rows_planted(1200, 60, 3, &random, group);
        gf_centres c = rows_as_centres(&x, ks[i], &random);
        found f = assign(NULL, &x, &c);
        check_found(&x, &c, &f, ks[i] <= 12 ? 1 : 0.98);
        free_found(&f);
        gf_centres_release(&c);
        gf_csr_release(&x);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    gf_csr x = rows_random(70000, 2000, 20, &random); /* more than a window */
    gf_centres c = rows_as_centres(&x, 500, &random);
    found one = assign(NULL, &x, &c);
    for (unsigned threads = 2; threads <= 8; threads += 3) {
        gf_pool *pool = rows_pool(threads);
        found f = assign(pool, &x, &c);
        assert_same(&one, &f);
        free_found(&f);
        gf_pool_free(pool);
    }
    free_found(&one);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

/* The tree is made of the centres, not of their numbers. */
static void the_order_of_the_centres_does_not_matter(void **state)
{
    (void)state;
    enum { K = 300 };
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 4);
    gf_csr x = rows_random(2000, 1000, 20, &random);
    gf_centres c = rows_random_centres(&x, K, &random), other;
    assert_ok(gf_centres_copy(&c, &other, &err));
    for (uint32_t j = 0; j < K / 2; j++) {
        gf_centre held = other.at[j];
        other.at[j] = other.at[K - 1 - j];
        other.at[K - 1 - j] = held;
    }
    found a = assign(NULL, &x, &c), b = assign(NULL, &x, &other);
    for (uint32_t i = 0; i < x.n_rows; i++) {
        assert_true(a.own[i] == b.own[i] && a.other[i] == b.other[i]);
        if (a.own[i] > a.other[i]) assert_int_equal(a.label[i], K - 1 - b.label[i]);
    }
    free_found(&a);
    free_found(&b);
    gf_centres_release(&c);
    gf_centres_release(&other);
    gf_csr_release(&x);
}

/* ---- very many centres ----------------------------------------------------------------------- */

/* A clustering of more than so many: a row that is looked up alone has the place that it has. */
static void a_row_alone_finds_its_place(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 5);
    gf_csr few = rows_random(22000, 9000, 12, &random), x = rows_with_empty(&few, 3);
    gf_kmeans_options o = {.k = GF_BRANCHES_ABOVE + 1500, .seed = 3};
    gf_kmeans r, again;
    gf_nearest_centres l;
    gf_pool *pool = rows_pool(3);
    assert_ok(gf_kmeans_run(pool, &x, &o, &r, &err));
    assert_true(gf_branches_serve(&r.centres));
    assert_ok(gf_nearest_centres_init(&l, &r.centres, NULL, &err));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < few.n_rows; i++) {
        gf_nearest_two two = gf_nearest_centres_find(&l, 0, gf_csr_row(&x, i));
        if (r.score[i] == r.second[i] && two.cluster == r.runner_up[i]) { /* its cluster kept it */
            kept++;
            continue;
        }
        if (two.similarity > two.of_second) assert_int_equal(two.cluster, r.label[i]);
        assert_true((float)two.of_second == r.second[i]); /* of several equally similar ones any */
        assert_near(two.similarity, r.score[i], 1e-6);
    }
    assert_true(kept < r.n / 20);
    for (uint32_t i = few.n_rows; i < x.n_rows; i++)
        assert_true(r.label[i] == 0 && r.score[i] == 0);
    gf_nearest_centres_release(&l);

    /* Going on from them, with some rows new; the number of threads does not matter. */
    uint32_t *start = gf_array(x.n_rows, sizeof *start);
    for (uint32_t i = 0; i < x.n_rows; i++)
        start[i] = i % 50 == 0 ? GF_NO_CLUSTER : r.label[i];
    o.start = start;
    o.start_k = r.k;
    o.k = r.k;
    gf_kmeans_release(&r);
    assert_ok(gf_kmeans_run(pool, &x, &o, &r, &err));
    assert_true(r.k > o.k / 2 && r.k <= o.k);
    assert_ok(gf_kmeans_run(NULL, &x, &o, &again, &err));
    assert_memory_equal(r.label, again.label, r.n * sizeof *r.label);
    assert_memory_equal(r.score, again.score, r.n * sizeof *r.score);
    rows_assert_same_centres(&r.centres, &again.centres);
    gf_kmeans_release(&again);
    gf_kmeans_release(&r);
    gf_free(start);
    gf_pool_free(pool);
    gf_csr_release(&few);
    gf_csr_release(&x);
}

/* Identical centres: the lowest clusters are told. */
static void identical_centres(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 6);
    gf_csr one = rows_random(1, 50, 9, &random);
    uint32_t from[200] = {0};
    gf_csr x = rows_pick(&one, from, 200);
    gf_centres c = rows_as_centres(&x, 100, &random);
    found f = assign(NULL, &x, &c);
    for (uint32_t i = 0; i < x.n_rows; i++) {
        assert_near(f.own[i], 1, 1e-4);
        assert_true(f.own[i] == f.other[i] && f.label[i] < f.runner_up[i]);
    }
    free_found(&f);
    gf_centres_release(&c);
    gf_csr_release(&x);
    gf_csr_release(&one);
}

static void no_centre_is_an_error(void **state)
{
    (void)state;
    gf_error err;
    gf_centres c;
    gf_branches b;
    assert_ok(gf_centres_init(&c, 3, 5, &err));
    assert_status(GF_EINVAL, gf_branches_init(&b, &c, NULL, NULL, &err));
    assert_true(b.n == 0 && b.leaf == NULL);
    gf_centres_release(&c);
}

/* ---- failing allocations --------------------------------------------------------------------- */

typedef struct swept {
    const gf_csr *x;
    const gf_centres *c;
    gf_pool *pool;
} swept;

static gf_status assign_swept(void *context, gf_error *err)
{
    const swept *s = context;
    gf_branches b;
    gf_branch_packed packed;
    uint32_t label[60], runner_up[60];
    float own[60], other[60];
    gf_status st = gf_branches_init(&b, s->c, s->pool, NULL, err);
    if (st != GF_OK) return st;
    st = gf_branches_assign(&b, s->pool, s->x, label, runner_up, own, other, NULL, err);
    if (st == GF_OK) {
        st = gf_branches_pack(&b, 0, &packed, err);
        if (st == GF_OK) gf_branches_unpack(&packed);
    }
    gf_branches_release(&b);
    return st;
}

static void failing_allocations(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 7);
    gf_csr x = rows_random(60, 100, 20, &random);
    gf_centres c = rows_random_centres(&x, 40, &random);
    gf_test_sweep(assign_swept, NULL, &(swept){&x, &c, NULL});
    gf_centres_release(&c);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_strongest_by_hand),
        cmocka_unit_test(strongest_are_above_all_others),
        cmocka_unit_test(a_centre_keeps_its_strongest),
        cmocka_unit_test(branches_part_the_centres),
        cmocka_unit_test(the_most_similar_are_found),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(the_order_of_the_centres_does_not_matter),
        cmocka_unit_test(a_row_alone_finds_its_place),
        cmocka_unit_test(identical_centres),
        cmocka_unit_test(no_centre_is_an_error),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
