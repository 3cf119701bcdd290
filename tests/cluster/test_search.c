#include "cluster/indexes.h"
#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"portable", "avx2", "avx512"};

enum { VARIANTS = sizeof names / sizeof names[0] };

static gf_centre_index with_ceilings(const gf_centres *centres, const float *key, gf_pool *pool)
{
    gf_error err;
    gf_centre_index index = make_index(centres, key, pool);
    assert_ok(gf_centre_index_set_ceilings(&index, pool, &err));
    return index;
}

/* Some values change their sign, as no term weight but other numbers may. */
static void make_signs(gf_csr *x, gf_random *random)
{
    for (uint64_t p = 0; p < gf_csr_nnz(x); p++)
        if (gf_random_below(random, 3) == 0) x->val[p] = -x->val[p];
}

/* ---- ceilings -------------------------------------------------------------------------------- */

static void check_ceilings(const gf_centre_index *index)
{
    for (uint32_t r = 0; r < index->n_dense; r++)
        for (uint32_t b = 0; b < index->ceiling_stride; b++) {
            float most = 0;
            for (uint32_t c = b * GF_COLUMN_BLOCK; c < (b + 1) * GF_COLUMN_BLOCK; c++)
                if (c < index->stride)
                    most = fmaxf(most, fabsf(index->dense[(size_t)r * index->stride + c]));
            assert_near(index->ceiling[(size_t)r * index->ceiling_stride + b], most, 0);
        }
}

static void ceilings_are_the_largest_values(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_pool *pool = rows_pool(3);
    for (uint32_t k = 1; k < 400; k = 3 * k + 1) {
        gf_csr x = rows_random(300, 300, 60, &random);
        make_signs(&x, &random);
        gf_centres c = rows_random_centres(&x, k, &random);
        float *key = make_keys(k, &random);
        gf_centre_index index = with_ceilings(&c, key, pool);
        check_ceilings(&index);
        assert_ok(gf_centre_index_build(&index, &c, key, pool, &err));
        assert_null(index.ceiling);
        gf_centre_index_release(&index);
        gf_centres_release(&c);
        gf_csr_release(&x);
        gf_free(key);
    }
    gf_pool_free(pool);
}

/* ---- the best two ---------------------------------------------------------------------------- */

/* Every variant finds the result of all dot products, for any likely column. */
static void check_rows(const gf_csr *x, const gf_centres *c, gf_random *random)
{
    float *key = make_keys(c->k, random);
    gf_centre_index index = with_ceilings(c, key, NULL);
    scores s = make_scores(2 * index.stride);
    for (int v = 0; v < VARIANTS; v++) {
        const gf_kernels *kernels = gf_scoring_kernels_named(names[v]);
        for (uint32_t i = 0; kernels && i < x->n_rows; i++) {
            uint32_t likely = (uint32_t)gf_random_below(random, c->k + 1);
            if (likely == c->k) likely = UINT32_MAX; /* none is known */
            gf_row_view row = gf_csr_row(x, i);
            check_nearest(&index, c, row,
                          gf_centre_index_nearest(&index, kernels, row, likely, s.at));
        }
    }
    gf_free(s.block);
    gf_free(key);
    gf_centre_index_release(&index);
}

static void the_best_two_are_found(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 16, 17, 33, 130, 300};
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    for (size_t i = 0; i < 2 * sizeof ks / sizeof ks[0]; i++) {
        gf_csr x = rows_random(120, 300, 60, &random);
        if (i % 2) make_signs(&x, &random);
        gf_centres c = rows_random_centres(&x, ks[i / 2], &random);
        check_rows(&x, &c, &random);
        gf_centres_release(&c);
        gf_csr_release(&x);
    }
}

/* Centres that are rows: nearly all blocks are far below the two best. */
static void the_best_two_of_distinct_centres(void **state)
{
    (void)state;
    uint32_t group[400];
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    gf_csr x = rows_planted(400, 40, 3, &random, group);
    gf_centres c = rows_as_centres(&x, 300, &random);
    check_rows(&x, &c, &random);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

/* More than the search keeps a list of. */
static void rows_of_many_terms(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    gf_csr x = rows_random(60, 3000, 1600, &random);
    gf_centres c = rows_random_centres(&x, 50, &random);
    check_rows(&x, &c, &random);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

/* Each centre is there several times: of equal ones the lowest two clusters are found. */
static void equal_centres_go_to_the_lowest_clusters(void **state)
{
    (void)state;
    enum { DISTINCT = 25, COPIES = 4, K = DISTINCT * COPIES };
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 4);
    gf_csr x = rows_random(DISTINCT, 200, 30, &random);
    gf_centres c;
    assert_ok(gf_centres_init(&c, K, x.n_cols, &err));
    for (uint32_t j = 0; j < K; j++)
        assert_ok(gf_centres_set_row(&c, j, gf_csr_row(&x, j % DISTINCT), &err));
    float *key = make_keys(K, &random);
    gf_centre_index index = with_ceilings(&c, key, NULL);
    scores s = make_scores(2 * index.stride);
    for (int v = 0; v < VARIANTS; v++) {
        const gf_kernels *kernels = gf_scoring_kernels_named(names[v]);
        for (uint32_t likely = 0; kernels && likely < K; likely++)
            for (uint32_t i = 0; i < DISTINCT; i++) {
                gf_best_two two = kernels->search(&index, gf_csr_row(&x, i), likely, s.at);
                gf_row_view found = gf_centre_row(&c.at[index.cluster_of[two.column] % DISTINCT]);
                assert_near(gf_csr_row_dot(gf_csr_row(&x, i), found), 1, 1e-6);
                assert_true(index.cluster_of[two.column] < DISTINCT);
                assert_int_equal(index.cluster_of[two.runner_up],
                                 index.cluster_of[two.column] + DISTINCT);
            }
    }
    gf_free(s.block);
    gf_free(key);
    gf_centre_index_release(&index);
    gf_centres_release(&c);
    gf_csr_release(&x);
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Lengths of the columns' sums, their squares, and what each block offers. */
typedef struct sums {
    scores length; /* and the squares behind */
    float *offer;
} sums;

static sums make_sums(const gf_centre_index *index, gf_random *random)
{
    uint32_t blocks = index->stride / GF_COLUMN_BLOCK;
    sums s = {make_scores(2 * index->stride), gf_calloc(blocks, sizeof(float))};
    assert_non_null(s.offer);
    for (uint32_t c = 0; c < index->stride; c++) {
        float length = 1 + (float)gf_random_below(random, 64) / 4;
        s.length.at[c] = length;
        s.length.at[index->stride + c] = length * length;
        s.offer[c / GF_COLUMN_BLOCK] = fmaxf(s.offer[c / GF_COLUMN_BLOCK], 0.5f / length);
    }
    return s;
}

static void release_sums(sums *s)
{
    gf_free(s->length.block);
    gf_free(s->offer);
}

/* Rows, centres over their terms, and all that searching among those takes. */
typedef struct searched {
    gf_csr x;
    gf_centres c;
    float *key;
    gf_centre_index index;
    sums all;
    scores s;
} searched;

static searched search_in(gf_csr x, uint32_t k, gf_random *random)
{
    searched a = {.x = x, .c = rows_random_centres(&x, k, random), .key = make_keys(k, random)};
    a.index = with_ceilings(&a.c, a.key, NULL);
    a.all = make_sums(&a.index, random);
    a.s = make_scores(2 * a.index.stride);
    return a;
}

static void release_searched(searched *a)
{
    release_sums(&a->all);
    gf_free(a->s.block);
    gf_free(a->key);
    gf_centre_index_release(&a->index);
    gf_centres_release(&a->c);
    gf_csr_release(&a->x);
}

static gf_move_wanted wanted_of(const searched *a, uint32_t own, float weight, float least)
{
    const float *length = a->all.length.at;
    return (gf_move_wanted){{length, length + a->index.stride, weight}, a->all.offer, own, least};
}

/* By the gain of every column, in double precision. */
static void check_move(const gf_centre_index *index, const gf_centres *c, gf_row_view row,
                       const gf_move_wanted *wanted, gf_move_found found)
{
    double w = (double)wanted->terms.weight, most = -INFINITY, of_found = -INFINITY;
    for (uint32_t column = 0; column < index->k; column++) {
        double length = (double)wanted->terms.length[column];
        double dot = gf_csr_row_dot(row, gf_centre_row(&c->at[index->cluster_of[column]]));
        double gain = sqrt(length * length + 2 * w * length * dot + w * w) - length;
        if (column == wanted->own) continue;
        assert_true(dot <= (double)found.other + 3e-6);
        if (gain > most) most = gain;
        if (column == found.column) of_found = gain;
    }
    assert_int_not_equal(found.column, wanted->own);
    if (found.column == UINT32_MAX)
        assert_true(most <= (double)wanted->least + 1e-5 * w);
    else
        assert_near(of_found, most, 1e-5 * w);
}

static void the_best_move_is_found(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 6);
    uint32_t none = 0, some = 0;
    for (uint32_t k = 2; k < 300; k = 2 * k + 3) {
        gf_csr x = rows_random(150, 300, k > 100 ? 60 : 20, &random);
        if (k % 2) make_signs(&x, &random);
        searched a = search_in(x, k, &random);
        for (int v = 0; v < VARIANTS; v++) {
            const gf_kernels *kernels = gf_scoring_kernels_named(names[v]);
            for (uint32_t i = 0; kernels && i < x.n_rows; i++) {
                float w = (float)(1 + i % 3), least = w * (float)gf_random_unit(&random);
                gf_move_wanted wanted = wanted_of(&a, i % k, w, least);
                gf_row_view row = gf_csr_row(&x, i);
                gf_move_found found = kernels->move(&a.index, row, &wanted, a.s.at);
                check_move(&a.index, &a.c, row, &wanted, found);
                *(found.column == UINT32_MAX ? &none : &some) += 1;
            }
        }
        release_searched(&a);
    }
    assert_true(none > 20 && some > 20);
}

/* More dense terms than the search keeps a list of: all columns are scored. */
static void moves_of_rows_of_many_terms(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 7);
    searched a = search_in(rows_random(60, 3000, 1600, &random), 50, &random);
    for (uint32_t i = 0; i < a.x.n_rows; i++) {
        gf_move_wanted wanted = wanted_of(&a, i % 50, 1, (float)gf_random_unit(&random));
        gf_row_view row = gf_csr_row(&a.x, i);
        check_move(&a.index, &a.c, row, &wanted,
                   gf_scoring_kernels_choose()->move(&a.index, row, &wanted, a.s.at));
    }
    release_searched(&a);
}

static void vector_variants_agree_bit_for_bit(void **state)
{
    (void)state;
    const gf_kernels *avx2, *avx512;
    need_both_variants(&avx2, &avx512);
    gf_random random = gf_random_seed(gf_test_seed(), 5);
    searched a = search_in(rows_random(300, 300, 100, &random), 200, &random);
    for (uint32_t i = 0; i < a.x.n_rows; i++) {
        gf_row_view row = gf_csr_row(&a.x, i);
        gf_best_two p = avx2->search(&a.index, row, i % 200, a.s.at);
        gf_best_two q = avx512->search(&a.index, row, i % 200, a.s.at);
        assert_memory_equal(&p, &q, sizeof p);
        gf_move_wanted wanted = wanted_of(&a, i % 200, 1, (float)i / 600);
        gf_move_found m = avx2->move(&a.index, row, &wanted, a.s.at);
        gf_move_found n = avx512->move(&a.index, row, &wanted, a.s.at);
        assert_memory_equal(&m, &n, sizeof m);
    }
    release_searched(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ceilings_are_the_largest_values),
        cmocka_unit_test(the_best_two_are_found),
        cmocka_unit_test(the_best_two_of_distinct_centres),
        cmocka_unit_test(rows_of_many_terms),
        cmocka_unit_test(equal_centres_go_to_the_lowest_clusters),
        cmocka_unit_test(the_best_move_is_found),
        cmocka_unit_test(moves_of_rows_of_many_terms),
        cmocka_unit_test(vector_variants_agree_bit_for_bit),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
