#include "cluster/indexes.h"

#include "base/memory.h"
#include "cluster/rows.h"
#include "support/test.h"

void need_both_variants(const gf_kernels **avx2, const gf_kernels **avx512)
{
    *avx2 = gf_scoring_kernels_named("avx2");
    *avx512 = gf_scoring_kernels_named("avx512");
    if (*avx2 && *avx512) return;
    print_message("skipped: this processor has not both AVX2 and AVX-512\n");
    skip();
}

scores make_scores(uint32_t stride)
{
    scores s = {.block = gf_array(stride + 16, sizeof(float))};
    assert_non_null(s.block);
    s.at = (float *)(((uintptr_t)s.block + 63) / 64 * 64);
    return s;
}

gf_centre_index make_index(const gf_centres *centres, const float *key, gf_pool *pool)
{
    gf_error err;
    gf_centre_index index;
    assert_ok(gf_centre_index_init(&index, centres->k, centres->n_terms, &err));
    assert_ok(gf_centre_index_build(&index, centres, key, pool, &err));
    return index;
}

float *make_keys(uint32_t k, gf_random *random)
{
    float *key = gf_array(k, sizeof *key);
    assert_non_null(key);
    for (uint32_t j = 0; j < k; j++)
        key[j] = gf_random_below(random, 3) ? 0 : (float)gf_random_below(random, 8) / 8;
    return key;
}

void check_nearest(const gf_centre_index *index, const gf_centres *c, gf_row_view row,
                   gf_nearest_two two)
{
    double bound = 0;
    for (uint32_t j = 0; j < c->k; j++) {
        gf_row_view centre = gf_centre_row(&c->at[j]);
        double dot = gf_csr_row_dot(row, centre);
        assert_near(gf_centre_index_similarity(index, row, index->column_of[j]), dot, 1e-12);
        if (rows_bound(row, centre) > bound) bound = rows_bound(row, centre);
        if (j == two.cluster) assert_near(two.similarity, dot, 1e-12);
        if (j == two.runner_up) assert_near(two.of_second, dot, 1e-12);
    }
    /* The kernels' error may hide another as near, and no more than that. */
    for (uint32_t j = 0; j < c->k; j++) {
        double dot = gf_csr_row_dot(row, gf_centre_row(&c->at[j]));
        if (j != two.cluster && j != two.runner_up) assert_true(dot <= two.of_second + 2 * bound);
    }
    assert_true(c->k == 1 || two.of_second <= two.similarity);
    assert_int_equal(two.runner_up == UINT32_MAX, c->k == 1);
    assert_int_not_equal(two.cluster, two.runner_up);
}
