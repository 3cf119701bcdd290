#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/label/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static gf_row_view *views(const gf_csr *x)
{
    gf_row_view *rows = gf_array(x->n_rows, sizeof *rows);
    assert_non_null(rows);
    for (uint32_t i = 0; i < x->n_rows; i++)
        rows[i] = gf_csr_row(x, i);
    return rows;
}

static gf_tree build(gf_pool *pool, const gf_csr *x, const double *weight)
{
    gf_error err;
    gf_tree t = {0};
    gf_row_view *rows = views(x);
    assert_ok(gf_tree_build(pool, rows, x->n_rows, x->n_cols, weight, NULL, &t, &err));
    gf_free(rows);
    return t;
}

/* Invariants of every tree. */
static void is_sound(const gf_tree *t)
{
    bool *seen = gf_calloc(t->k, sizeof *seen);
    assert_non_null(seen);
    assert_int_equal(t->n_nodes, t->k ? 2 * t->k - 1 : 0);
    for (uint32_t i = 0; i < t->k; i++) {
        assert_false(seen[t->order[i]]);
        seen[t->order[i]] = true;
    }
    for (uint32_t v = 0; v < t->n_nodes; v++) {
        bool root = v == t->n_nodes - 1;
        assert_int_equal(t->parent[v] == GF_TREE_NONE, root);
        assert_true(t->height[v] >= 0 && t->height[v] <= 1);
        if (v < t->k) {
            assert_int_equal(t->count[v], 1);
            assert_int_equal(t->order[t->first[v]], v);
            continue;
        }
        uint32_t a = t->child[2 * v], b = t->child[2 * v + 1];
        assert_int_equal(t->parent[a], v);
        assert_int_equal(t->parent[b], v);
        assert_int_equal(t->count[v], t->count[a] + t->count[b]);
        assert_int_equal(t->first[a], t->first[v]);
        assert_int_equal(t->first[b], t->first[v] + t->count[a]);
    }
    gf_free(seen);
}

/*
 * Cosines of the rows: 0.940 (0, 1), 0.766 (2, 3), 0.342 (1, 2), 0.342 * 0.766 (1, 3), 0 (0, 2) and
 * (0, 3). 2 weighs 3, the others 1. First 0 and 1 join, at the cost 1 * 1 / 2 * (2 - 2 * 0.940) =
 * 0.060, then 2 and 3 at 3 * 1 / 4 * (2 - 2 * 0.766) = 0.351, while 1 and 2 would cost 0.987; between
 * these groups the mean similarity is (3 * 0.342 + 0.262) / 8 = 0.161.
 */
static void joins_four(void **state)
{
    (void)state;
    const float r = (float)(3.14159265358979 / 180);
    const float v[] = {1, 0, 0, cosf(20 * r), sinf(20 * r), 0, 0,
                       1, 0, 0, cosf(40 * r), sinf(40 * r)};
    const double weight[] = {1, 1, 3, 1};
    gf_csr x = rows_by_hand(v, 4, 3);
    gf_tree t = build(NULL, &x, weight);
    is_sound(&t);
    assert_near(t.height[4], 1 - 0.939693, 1e-5);
    assert_near(t.height[5], 1 - 0.766044, 1e-5);
    assert_near(t.height[6], 1 - (3 * 0.342020 + 0.342020 * 0.766044) / 8, 1e-5);
    assert_int_equal(t.child[2 * 4], 0);
    assert_int_equal(t.child[2 * 4 + 1], 1);
    assert_int_equal(t.child[2 * 5], 2);
    assert_int_equal(t.child[2 * 5 + 1], 3);
    assert_int_equal(t.child[2 * 6], 5); /* the heavier first */
    const uint32_t order[] = {2, 3, 0, 1};
    assert_memory_equal(t.order, order, sizeof order);
    gf_tree_release(&t);
    gf_csr_release(&x);
}

static void few_leaves(void **state)
{
    (void)state;
    gf_error err;
    const float v[] = {1, 0, 0, 1, 0, 0};
    const double weight[] = {1, 1, 1};
    gf_csr x = rows_by_hand(v, 3, 2); /* the last row has no entries */
    gf_row_view *rows = views(&x);
    for (uint32_t k = 0; k <= 3; k++) {
        gf_tree t;
        assert_ok(gf_tree_build(NULL, rows, k, 2, weight, NULL, &t, &err));
        is_sound(&t);
        for (uint32_t i = k; i < t.n_nodes; i++)
            assert_near(t.height[i], 1, 0);
        gf_tree_release(&t);
    }
    gf_tree untouched = {.k = 77};
    assert_status(GF_ELIMIT,
                  gf_tree_build(NULL, rows, GF_TREE_MOST + 1, 2, weight, NULL, &untouched, &err));
    assert_int_equal(untouched.k, 77);
    gf_free(rows);
    gf_csr_release(&x);
}

/* ---- brute force: the best pair of all, each time, from the rows themselves ------------------ */

enum { MOST = 40 };

typedef struct group {
    bool member[MOST];
} group;

static double mean_cosine(const gf_csr *x, const double *weight, const group *a, const group *b)
{
    double sum = 0, wa = 0, wb = 0;
    for (uint32_t i = 0; i < x->n_rows; i++) {
        if (a->member[i]) wa += weight[i];
        if (b->member[i]) wb += weight[i];
        for (uint32_t j = 0; a->member[i] && j < x->n_rows; j++)
            if (b->member[j])
                sum += weight[i] * weight[j] * gf_csr_row_dot(gf_csr_row(x, i), gf_csr_row(x, j));
    }
    return sum / (wa * wb);
}

static double weight_of(const gf_csr *x, const double *weight, const group *g)
{
    double sum = 0;
    for (uint32_t i = 0; i < x->n_rows; i++)
        if (g->member[i]) sum += weight[i];
    return sum;
}

/* By definition: the squared distance of the means, which scalar products give. */
static double cost_of(const gf_csr *x, const double *weight, const group *a, const group *b)
{
    double w = weight_of(x, weight, a), v = weight_of(x, weight, b);
    return w * v / (w + v) *
           (mean_cosine(x, weight, a, a) + mean_cosine(x, weight, b, b) -
            2 * mean_cosine(x, weight, a, b));
}

/* The groups in the order in which they are made, with costs and heights; x->n_rows - 1 of them. */
static void brute_force(const gf_csr *x, const double *weight, group *made, double *cost,
                        double *height)
{
    group left[MOST] = {0};
    uint32_t n = x->n_rows;
    for (uint32_t i = 0; i < n; i++)
        left[i].member[i] = true;
    for (uint32_t m = 0; n > 1; m++) {
        uint32_t a = 0, b = 1;
        double best = INFINITY;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j < n; j++) {
                double s = cost_of(x, weight, &left[i], &left[j]);
                if (s < best) best = s, a = i, b = j;
            }
        cost[m] = best;
        height[m] = 1 - mean_cosine(x, weight, &left[a], &left[b]);
        for (uint32_t i = 0; i < x->n_rows; i++)
            left[a].member[i] |= left[b].member[i];
        made[m] = left[a];
        left[b] = left[--n];
    }
}

static group group_of(const gf_tree *t, uint32_t v)
{
    group g = {0};
    for (uint32_t i = 0; i < t->count[v]; i++)
        g.member[t->order[t->first[v] + i]] = true;
    return g;
}

/* Positive rows, dense enough that no two pairs are equally similar. */
static gf_csr random_rows(uint32_t k, gf_random *random)
{
    enum { COLUMNS = 12 };
    float v[MOST * COLUMNS];
    for (uint32_t i = 0; i < k * COLUMNS; i++)
        v[i] = gf_random_below(random, 3) ? (float)gf_random_unit(random) : 0;
    for (uint32_t i = 0; i < k; i++)
        v[i * COLUMNS] += 0.1f;
    return rows_by_hand(v, k, COLUMNS);
}

static void agrees_with_brute_force(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 60; round++) {
        uint32_t k = 2 + (uint32_t)gf_random_below(&random, 24);
        double weight[MOST], cost[MOST], height[MOST];
        group made[MOST];
        for (uint32_t i = 0; i < k; i++)
            weight[i] = 1 + (double)gf_random_below(&random, 50);
        gf_csr x = random_rows(k, &random);
        gf_tree t = build(NULL, &x, weight);
        is_sound(&t);
        brute_force(&x, weight, made, cost, height);
        for (uint32_t m = 0; m + 1 < k; m++) {
            group g = group_of(&t, k + m);
            /* Two costs that differ by rounding alone may come in either order. */
            bool close =
                (m && cost[m] - cost[m - 1] < 1e-4) || (m + 2 < k && cost[m + 1] - cost[m] < 1e-4);
            if (close) continue;
            assert_near(t.height[k + m], height[m], 1e-4);
            assert_memory_equal(&g, &made[m], sizeof g);
        }
        gf_tree_release(&t);
        gf_csr_release(&x);
    }
}

/* Eight families of five rows in two houses: family, then house, then all. */
static void finds_planted_hierarchy(void **state)
{
    (void)state;
    enum { K = 40, FAMILIES = 8, COLUMNS = 2 + FAMILIES + K };
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    float *v = gf_calloc((size_t)K * COLUMNS, sizeof *v);
    double weight[K];
    uint32_t family[K];
    assert_non_null(v);
    for (uint32_t i = 0; i < K; i++) {
        family[i] = i % FAMILIES;
        weight[i] = 1 + (double)gf_random_below(&random, 9);
        float *row = &v[(size_t)i * COLUMNS];
        row[family[i] / 4] = (float)(0.5 + 0.2 * gf_random_unit(&random));
        row[2 + family[i]] = (float)(0.8 + 0.2 * gf_random_unit(&random));
        row[2 + FAMILIES + i] = (float)(0.3 * gf_random_unit(&random));
    }
    gf_csr x = rows_by_hand(v, K, COLUMNS);
    gf_tree t = build(NULL, &x, weight);
    is_sound(&t);
    uint32_t families = 0, houses = 0;
    for (uint32_t n = K; n < t.n_nodes; n++) {
        group g = group_of(&t, n);
        bool one_family = true, one_house = true;
        uint32_t first = t.order[t.first[n]];
        for (uint32_t i = 0; i < K; i++) {
            if (!g.member[i]) continue;
            one_family &= family[i] == family[first];
            one_house &= family[i] / 4 == family[first] / 4;
        }
        families += one_family && t.count[n] == K / FAMILIES;
        houses += one_house && t.count[n] == K / 2;
    }
    assert_int_equal(families, FAMILIES);
    assert_int_equal(houses, 2);
    assert_near(t.height[t.n_nodes - 1], 1, 1e-6); /* the houses share nothing */
    gf_tree_release(&t);
    gf_csr_release(&x);
    gf_free(v);
}

/* ---- the same by any number of threads; failing allocations ---------------------------------- */

static void same_tree(const gf_tree *a, const gf_tree *b)
{
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_memory_equal(a->parent, b->parent, a->n_nodes * sizeof *a->parent);
    assert_memory_equal(a->child, b->child, 2 * a->n_nodes * sizeof *a->child);
    assert_memory_equal(a->height, b->height, a->n_nodes * sizeof *a->height);
    assert_memory_equal(a->order, b->order, a->k * sizeof *a->order);
}

/* Rows of few columns: many pairs are equally similar. */
static void same_for_any_threads(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    gf_pool *pool = rows_pool(3);
    for (int round = 0; round < 20; round++) {
        uint32_t k = 1 + (uint32_t)gf_random_below(&random, 200);
        gf_csr x = rows_random(k, 30, 3, &random);
        double *weight = gf_array(k, sizeof *weight);
        for (uint32_t i = 0; i < k; i++)
            weight[i] = 1 + (double)gf_random_below(&random, 3);
        gf_tree a = build(NULL, &x, weight), b = build(pool, &x, weight);
        is_sound(&a);
        same_tree(&a, &b);
        gf_tree c;
        gf_error err;
        assert_ok(gf_tree_alloc(k, &c, &err)); /* from what is stored of it */
        memcpy(c.child, a.child, 2 * a.n_nodes * sizeof *a.child);
        memcpy(c.height, a.height, a.n_nodes * sizeof *a.height);
        assert_true(gf_tree_arrange(&c));
        same_tree(&a, &c);
        gf_tree_release(&a);
        gf_tree_release(&b);
        gf_tree_release(&c);
        gf_csr_release(&x);
        gf_free(weight);
    }
    gf_pool_free(pool);
}

static void arranges_no_other(void **state)
{
    (void)state;
    gf_error err;
    gf_tree t;
    assert_ok(gf_tree_alloc(3, &t, &err));
    static const struct {
        uint32_t child[4]; /* of the nodes 3 and 4 */
        bool tree;
    } all[] = {{{0, 1, 3, 2}, true},
               {{0, 0, 3, 2}, false},
               {{0, 1, 1, 2}, false},
               {{0, 1, 4, 2}, false},
               {{0, 4, 3, 2}, false},
               {{0, 1, 2, 9}, false},
               {{0, 1, 2, GF_TREE_NONE}, false}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (uint32_t c = 0; c < 6; c++)
            t.child[c] = GF_TREE_NONE;
        memcpy(&t.child[6], all[i].child, sizeof all[i].child);
        assert_int_equal(gf_tree_arrange(&t), all[i].tree);
    }
    t.child[0] = 1;
    memcpy(&t.child[6], all[0].child, sizeof all[0].child);
    assert_false(gf_tree_arrange(&t)); /* a leaf with a child */
    gf_tree_release(&t);
}

typedef struct sweep {
    gf_csr x;
    gf_row_view *rows;
    double weight[MOST];
    gf_tree tree;
} sweep;

static gf_status sweep_call(void *context, gf_error *err)
{
    sweep *s = context;
    return gf_tree_build(NULL, s->rows, s->x.n_rows, s->x.n_cols, s->weight, NULL, &s->tree, err);
}

static void sweep_after(void *context)
{
    sweep *s = context;
    assert_int_equal(s->tree.k, 77);
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(1, 0);
    sweep s = {.x = random_rows(9, &random), .tree = {.k = 77}};
    s.rows = views(&s.x);
    for (int i = 0; i < 9; i++)
        s.weight[i] = 1;
    gf_test_sweep(sweep_call, sweep_after, &s);
    is_sound(&s.tree);
    gf_tree_release(&s.tree);
    gf_free(s.rows);
    gf_csr_release(&s.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(joins_four),
                                       cmocka_unit_test(few_leaves),
                                       cmocka_unit_test(agrees_with_brute_force),
                                       cmocka_unit_test(finds_planted_hierarchy),
                                       cmocka_unit_test(same_for_any_threads),
                                       cmocka_unit_test(arranges_no_other),
                                       cmocka_unit_test(survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
