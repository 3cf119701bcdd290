#include "cluster/indexes.h"
#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/passes/centre_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"portable", "avx2", "avx512"};

enum { VARIANTS = sizeof names / sizeof names[0] };

/* ---- an example ------------------------------------------------------------------------------ */

/* Centres (1,0), (0,1), (.6,.8) with keys 0, 2, 1: columns 1, 2, 0. The row is (.8,.6). */
static void scores_by_hand(void **state)
{
    (void)state;
    gf_error err;
    const float values[] = {1, 0, 0, 1, 3, 4}, key[] = {0, 2, 1}, document[] = {4, 3};
    const uint32_t columns[] = {2, 0, 1}, clusters[] = {1, 2, 0};
    gf_csr rows = rows_by_hand(values, 3, 2), x = rows_by_hand(document, 1, 2);
    gf_centres c;
    assert_ok(gf_centres_init(&c, 3, 2, &err));
    for (uint32_t j = 0; j < 3; j++)
        assert_ok(gf_centres_set_row(&c, j, gf_csr_row(&rows, j), &err));
    gf_centre_index index = make_index(&c, key, NULL);
    scores s = make_scores(index.stride);
    assert_memory_equal(index.column_of, columns, sizeof columns);
    assert_memory_equal(index.cluster_of, clusters, sizeof clusters);
    assert_int_equal(index.n_dense, 2);
    assert_int_equal(gf_centre_index_above(&index, 2), 0);
    assert_int_equal(gf_centre_index_above(&index, 1.5f), 1);
    assert_int_equal(gf_centre_index_above(&index, 0), 2);
    assert_int_equal(gf_centre_index_above(&index, -1), 3);
    const gf_kernels *kernels = gf_scoring_kernels_choose();
    kernels->score(&index, gf_csr_row(&x, 0), 3, s.at);
    assert_near(s.at[0], 0.6, 1e-7);
    assert_near(s.at[1], 0.96, 1e-7);
    assert_near(s.at[2], 0.8, 1e-7);
    gf_best best = kernels->best(&index, 3, s.at);
    assert_int_equal(best.column, 1);
    assert_near(best.second, 0.8, 1e-7);
    assert_int_equal(kernels->runner_up(&index, 3, s.at, best), 2);
    gf_nearest_two two = gf_centre_index_nearest(&index, kernels, gf_csr_row(&x, 0), 0, s.at);
    assert_int_equal(two.cluster, 2);
    assert_int_equal(two.runner_up, 0);
    assert_near(two.similarity, 0.96, 1e-7);
    assert_near(two.of_second, 0.8, 1e-7);
    best = kernels->best(&index, 1, s.at);
    assert_int_equal(best.column, 0);
    assert_true(best.second == -INFINITY);
    gf_centre_index_release(&index);
    gf_centres_release(&c);
    gf_csr_release(&rows);
    gf_csr_release(&x);
    gf_free(s.block);
}

/* ---- scores against dot products ------------------------------------------------------------- */

static void check_scores(const gf_kernels *kernels, const gf_centre_index *index,
                         const gf_centres *c, gf_row_view row, uint32_t columns, float *s)
{
    kernels->score(index, row, columns, s);
    for (uint32_t column = 0; column < columns; column++) {
        gf_row_view centre = gf_centre_row(&c->at[index->cluster_of[column]]);
        assert_near(s[column], gf_csr_row_dot(row, centre), rows_bound(row, centre));
    }
}

/* A term is dense where more than k / 12 centres have it, and up to 32 centres always. */
static void check_places(const gf_centre_index *index, const gf_centres *c)
{
    uint32_t *count = gf_calloc(c->n_terms, sizeof *count);
    assert_non_null(count);
    for (uint32_t j = 0; j < c->k; j++)
        for (uint32_t p = 0; p < c->at[j].n; p++)
            count[c->at[j].term[p]]++;
    for (uint32_t t = 0; t < c->n_terms; t++) {
        bool dense = c->k <= GF_ALL_DENSE ? count[t] > 0 : count[t] > c->k / 12;
        assert_int_equal(index->term[t].n, dense ? GF_DENSE_TERM : count[t]);
    }
    gf_free(count);
}

static void scores_are_the_dot_products(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 80, 129, 300};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
        uint32_t k = ks[i];
        gf_csr x = rows_random(400, 250, 90, &random);
        gf_centres c =
            i % 2 ? rows_random_centres(&x, k, &random) : rows_as_centres(&x, k, &random);
        float *key = make_keys(k, &random);
        gf_centre_index index = make_index(&c, key, NULL);
        scores s = make_scores(index.stride);
        check_places(&index, &c);
        for (int v = 0; v < VARIANTS; v++) {
            const gf_kernels *kernels = gf_scoring_kernels_named(names[v]);
            for (uint32_t r = 0; kernels && r < x.n_rows; r += 7) {
                uint32_t columns = r % 2 ? k : 1 + (uint32_t)gf_random_below(&random, k);
                check_scores(kernels, &index, &c, gf_csr_row(&x, r), columns, s.at);
            }
        }
        gf_centre_index_release(&index);
        gf_centres_release(&c);
        gf_csr_release(&x);
        gf_free(key);
        gf_free(s.block);
    }
}

/* ---- the variants ---------------------------------------------------------------------------- */

static void compare_variants(const gf_centre_index *index, const gf_kernels *a, const gf_kernels *b,
                             gf_row_view row, uint32_t columns, float weight)
{
    scores s = make_scores(2 * index->stride), t = make_scores(2 * index->stride);
    scores l = make_scores(2 * index->stride);
    for (uint32_t c = 0; c < index->stride; c++) {
        l.at[c] = 1 + (float)c / 3;
        l.at[index->stride + c] = l.at[c] * l.at[c];
    }
    gf_move_terms terms = {l.at, l.at + index->stride, weight};
    a->score(index, row, columns, s.at);
    b->score(index, row, columns, t.at);
    assert_memory_equal(s.at, t.at, columns * sizeof(float));
    a->gains(&terms, s.at, columns, s.at + index->stride);
    b->gains(&terms, t.at, columns, t.at + index->stride);
    assert_memory_equal(s.at + index->stride, t.at + index->stride, columns * sizeof(float));
    gf_best p = a->best(index, columns, s.at), q = b->best(index, columns, t.at);
    assert_int_equal(p.column, q.column);
    assert_memory_equal(&p.score, &q.score, sizeof p.score);
    assert_memory_equal(&p.second, &q.second, sizeof p.second);
    gf_free(s.block);
    gf_free(t.block);
    gf_free(l.block);
}

/* ---- moves within a group -------------------------------------------------------------------- */

enum { SLOTS = 40 };

/* Sums of n clusters, each of some random rows, over the rows' first SLOTS columns. */
typedef struct near_case {
    scores sum, length;
    uint32_t slot[SLOTS];
    uint32_t n;
} near_case;

static near_case make_near(uint32_t n, gf_random *random)
{
    near_case c = {.sum = make_scores(SLOTS * GF_GROUP), .length = make_scores(2 * GF_GROUP)};
    c.n = n;
    for (uint32_t t = 0; t < SLOTS; t++)
        c.slot[t] = SLOTS - 1 - t;
    for (uint32_t j = 0; j < GF_GROUP; j++) {
        double squares = 0;
        for (uint32_t t = 0; t < SLOTS; t++) {
            float v = j < n ? (float)(gf_random_unit(random) * 5) : 0;
            c.sum.at[t * GF_GROUP + j] = v;
            squares += (double)v * (double)v;
        }
        c.length.at[j] = (float)sqrt(squares);
        c.length.at[GF_GROUP + j] = (float)squares;
    }
    return c;
}

/* |S + w x| less |S|, from the sum. */
static double change_of(const near_case *c, uint32_t j, gf_row_view row, double weight)
{
    double before = 0, after = 0;
    for (uint32_t t = 0, p = 0; t < SLOTS; t++) {
        double v = (double)c->sum.at[c->slot[t] * GF_GROUP + j];
        before += v * v;
        if (p < row.n && row.col[p] == t) v += weight * (double)row.val[p++];
        after += v * v;
    }
    return sqrt(after) - sqrt(before);
}

static void check_near(const near_case *c, gf_row_view row, uint32_t own, float w, gf_near_move m)
{
    double best = -INFINITY, leaving = change_of(c, own, row, -(double)w);
    for (uint32_t j = 0; j < c->n; j++)
        if (j != own) best = fmax(best, leaving + change_of(c, j, row, (double)w));
    assert_near(m.gain, best, 1e-4 * (double)w);
    if (!(m.gain > 0)) return;
    assert_true(m.to < c->n && m.to != own);
    assert_near(leaving + change_of(c, m.to, row, (double)w), best, 1e-4 * (double)w);
}

static void the_best_move_within_a_group(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 21);
    gf_csr x = rows_random(60, SLOTS, 12, &random);
    scores dot = make_scores(GF_GROUP), first = make_scores(GF_GROUP);
    unsigned gains = 0;
    for (uint32_t n = 2; n <= GF_GROUP; n += 3) {
        near_case c = make_near(n, &random);
        for (uint32_t i = 0; i < x.n_rows; i++) {
            gf_row_view row = gf_csr_row(&x, i);
            uint32_t own = i % n;
            gf_near_sums sums = {c.sum.at,          c.slot, c.length.at, c.length.at + GF_GROUP, n,
                                 (float)(1 + i % 3)};
            gf_near_move kept = {0};
            for (int v = 0, seen = 0; v < VARIANTS; v++) {
                const gf_kernels *kernels = gf_scoring_kernels_named(names[v]);
                if (!kernels) continue;
                gf_near_move m = kernels->near(&sums, row, own, dot.at);
                check_near(&c, row, own, sums.weight, m);
                gains += m.gain > 0;
                if (strcmp(names[v], "portable") == 0) continue;
                if (seen++) {
                    assert_memory_equal(&m, &kept, sizeof m);
                    assert_memory_equal(dot.at, first.at, GF_GROUP * sizeof(float));
                }
                kept = m;
                memcpy(first.at, dot.at, GF_GROUP * sizeof(float));
            }
        }
        gf_free(c.sum.block);
        gf_free(c.length.block);
    }
    assert_true(gains > 0);
    gf_free(dot.block);
    gf_free(first.block);
    gf_csr_release(&x);
}

/* ---- in double precision --------------------------------------------------------------------- */

/* Up to 32 centres all terms are dense rows, beyond most are postings. */
static void the_nearest_two(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 9);
    for (uint32_t k = 1; k < 120; k += 17) {
        gf_csr x = rows_random(150, 200, 40, &random);
        gf_centres c = rows_random_centres(&x, k, &random);
        float *key = make_keys(k, &random);
        gf_centre_index index = make_index(&c, key, NULL);
        scores s = make_scores(index.stride);
        for (int v = 0; v < VARIANTS; v++) {
            const gf_kernels *kernels = gf_scoring_kernels_named(names[v]);
            for (uint32_t i = 0; kernels && i < x.n_rows; i++) {
                gf_row_view row = gf_csr_row(&x, i);
                check_nearest(&index, &c, row,
                              gf_centre_index_nearest(&index, kernels, row, 0, s.at));
            }
        }
        gf_free(s.block);
        gf_free(key);
        gf_centre_index_release(&index);
        gf_centres_release(&c);
        gf_csr_release(&x);
    }
}

static void vector_variants_agree_bit_for_bit(void **state)
{
    (void)state;
    const gf_kernels *avx2, *avx512;
    need_both_variants(&avx2, &avx512);
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    for (int i = 0; i < 30; i++) {
        uint32_t k = 1 + (uint32_t)gf_random_below(&random, 150);
        gf_csr x = rows_random(200, 150, 100, &random);
        gf_centres c = rows_random_centres(&x, k, &random);
        float *key = make_keys(k, &random);
        gf_centre_index index = make_index(&c, key, NULL);
        for (uint32_t r = 0; r < x.n_rows; r += 5)
            compare_variants(&index, avx2, avx512, gf_csr_row(&x, r),
                             1 + (uint32_t)gf_random_below(&random, k), (float)(1 + r % 3));
        gf_centre_index_release(&index);
        gf_centres_release(&c);
        gf_csr_release(&x);
        gf_free(key);
    }
}

static void kernels_are_chosen_by_name(void **state)
{
    (void)state;
    assert_null(gf_scoring_kernels_named("mmx"));
    for (int v = 0; v < VARIANTS; v++) {
        const gf_kernels *kernels = gf_scoring_kernels_named(names[v]);
        if (v == 0) assert_non_null(kernels);
        if (!kernels) continue;
        assert_string_equal(kernels->name, names[v]);
        setenv("GROUPERFISH_SIMD", names[v], 1);
        assert_ptr_equal(gf_scoring_kernels_choose(), kernels);
    }
    setenv("GROUPERFISH_SIMD", "mmx", 1);
    assert_non_null(gf_scoring_kernels_choose());
    unsetenv("GROUPERFISH_SIMD");
    assert_non_null(gf_scoring_kernels_choose());
}

/* ---- the best and the runner-up -------------------------------------------------------------- */

/* The right results of best and runner_up, by looking at the columns one by one. */
static void check_best(const gf_kernels *kernels, const gf_centre_index *index, const float *from,
                       uint32_t columns, float *s)
{
    uint32_t first = 0, second = UINT32_MAX;
    const uint32_t *cluster = index->cluster_of;
    for (uint32_t c = 1; c < columns; c++)
        if (from[c] > from[first] || (from[c] == from[first] && cluster[c] < cluster[first]))
            first = c;
    for (uint32_t c = 0; c < columns; c++) {
        if (c == first) continue;
        if (second == UINT32_MAX || from[c] > from[second] ||
            (from[c] == from[second] && cluster[c] < cluster[second]))
            second = c;
    }
    memcpy(s, from, columns * sizeof *s);
    gf_best best = kernels->best(index, columns, s);
    assert_int_equal(best.column, first);
    assert_near(best.score, from[first], 0);
    if (columns == 1) {
        assert_true(best.second == -INFINITY);
        return;
    }
    assert_near(best.second, from[second], 0);
    assert_int_equal(kernels->runner_up(index, columns, s, best), second);
}

static void equal_scores_go_to_the_lowest_cluster(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    for (int i = 0; i < 300; i++) {
        uint32_t k = 1 + (uint32_t)gf_random_below(&random, 100);
        gf_csr x = rows_random(1, 4, 3, &random);
        gf_centres c = rows_as_centres(&x, k, &random);
        float *key = make_keys(k, &random);
        gf_centre_index index = make_index(&c, key, NULL);
        scores from = make_scores(index.stride), s = make_scores(index.stride);
        uint64_t values = 1 + gf_random_below(&random, 6);
        for (uint32_t j = 0; j < k; j++)
            from.at[j] = (float)gf_random_below(&random, values) / 8;
        for (int v = 0; v < VARIANTS; v++) {
            const gf_kernels *kernels = gf_scoring_kernels_named(names[v]);
            uint32_t columns = 1 + (uint32_t)gf_random_below(&random, k);
            if (kernels) check_best(kernels, &index, from.at, columns, s.at);
            if (kernels) check_best(kernels, &index, from.at, k, s.at);
        }
        gf_centre_index_release(&index);
        gf_centres_release(&c);
        gf_csr_release(&x);
        gf_free(key);
        gf_free(from.block);
        gf_free(s.block);
    }
}

/* |S + w x| - |S| for sums of any length, worked out in double. */
static void gains_are_what_the_sum_grows_by(void **state)
{
    (void)state;
    enum { K = 32 };
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    scores score = make_scores(K), length = make_scores(K), square = make_scores(K);
    scores gain = make_scores(K);
    for (int i = 0; i < 200; i++) {
        float weight = (float)(1 + gf_random_below(&random, 5));
        for (int c = 0; c < K; c++) {
            length.at[c] = (float)(gf_random_unit(&random) * (i % 2 ? 3 : 3000));
            square.at[c] = length.at[c] * length.at[c];
            score.at[c] = (float)gf_random_unit(&random);
        }
        gf_move_terms terms = {length.at, square.at, weight};
        for (int v = 0; v < VARIANTS; v++) {
            const gf_kernels *kernels = gf_scoring_kernels_named(names[v]);
            if (!kernels) continue;
            kernels->gains(&terms, score.at, K, gain.at);
            for (int c = 0; c < K; c++) {
                double l = (double)length.at[c], w = (double)weight, s = (double)score.at[c];
                double grown = sqrt(l * l + 2 * w * l * s + w * w);
                assert_near(gain.at[c], grown - l, 2e-6 * w);
            }
        }
    }
    gf_free(score.block);
    gf_free(length.block);
    gf_free(square.block);
    gf_free(gain.block);
}

/* ---- building -------------------------------------------------------------------------------- */

static void assert_same_index(const gf_centre_index *a, const gf_centre_index *b)
{
    assert_int_equal(a->n_dense, b->n_dense);
    assert_int_equal(a->n_postings, b->n_postings);
    assert_memory_equal(a->column_of, b->column_of, a->k * sizeof *a->column_of);
    assert_memory_equal(a->cluster_of, b->cluster_of, a->k * sizeof *a->cluster_of);
    assert_memory_equal(a->term, b->term, a->n_terms * sizeof *a->term);
    size_t dense = (size_t)a->n_dense * a->stride, postings = (size_t)a->n_postings;
    assert_memory_equal(a->dense, b->dense, dense * sizeof *a->dense);
    assert_memory_equal(a->postings, b->postings, postings * sizeof *a->postings);
}

/* Built again over other centres an index is as one built anew, for any number of threads. */
static void an_index_is_used_again(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 4);
    gf_pool *pool = rows_pool(3);
    gf_centre_index used;
    enum { K = 90, TERMS = 9000 };
    assert_ok(gf_centre_index_init(&used, K, TERMS, &err));
    for (int i = 0; i < 4; i++) {
        gf_csr x = rows_random(K + 50, TERMS, i % 2 ? 60 : 8, &random);
        gf_centres c = rows_random_centres(&x, K, &random);
        float *key = make_keys(K, &random);
        gf_centre_index fresh = make_index(&c, key, NULL);
        assert_ok(gf_centre_index_build(&used, &c, key, pool, &err));
        assert_same_index(&used, &fresh);
        assert_true((uintptr_t)used.dense % 64 == 0);
        gf_centre_index_release(&fresh);
        gf_centres_release(&c);
        gf_csr_release(&x);
        gf_free(key);
    }
    gf_centre_index_release(&used);
    gf_pool_free(pool);
}

static gf_status build_swept(void *context, gf_error *err)
{
    const gf_centres *c = context;
    float key[40] = {0};
    gf_centre_index index;
    gf_status st = gf_centre_index_init(&index, c->k, c->n_terms, err);
    if (st != GF_OK) return st;
    st = gf_centre_index_build(&index, c, key, NULL, err);
    if (st == GF_OK) st = gf_centre_index_set_ceilings(&index, NULL, err);
    gf_centre_index_release(&index);
    return st;
}

static void a_failed_allocation_is_reported(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(1, 0);
    gf_csr x = rows_random(60, 50, 5, &random);
    gf_centres c = rows_random_centres(&x, 40, &random);
    gf_test_sweep(build_swept, NULL, &c);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_by_hand),
        cmocka_unit_test(scores_are_the_dot_products),
        cmocka_unit_test(vector_variants_agree_bit_for_bit),
        cmocka_unit_test(the_best_move_within_a_group),
        cmocka_unit_test(kernels_are_chosen_by_name),
        cmocka_unit_test(equal_scores_go_to_the_lowest_cluster),
        cmocka_unit_test(the_nearest_two),
        cmocka_unit_test(gains_are_what_the_sum_grows_by),
        cmocka_unit_test(an_index_is_used_again),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("scoring", tests, NULL, NULL);
}
