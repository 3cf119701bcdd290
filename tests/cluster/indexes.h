/**
 * Indexes of centres, and what scoring by them needs, for the tests of cluster/. Without memory the
 * test fails.
 */
#ifndef GF_TESTS_CLUSTER_INDEXES_H
#define GF_TESTS_CLUSTER_INDEXES_H

#include "base/random.h"
#include "cluster/passes/centre_index.h"

/** The test ends here, skipped, where the processor has not both. */
void need_both_variants(const gf_kernels **avx2, const gf_kernels **avx512);

/** Score memory, aligned as the kernels want it. */
typedef struct scores {
    float *at;
    void *block; /* the caller's to free */
} scores;

scores make_scores(uint32_t stride);

/** key: k, by cluster; the caller releases the index. */
gf_centre_index make_index(const gf_centres *centres, const float *key, gf_pool *pool);

/** k drifts as after some passes: many zeros, some equal. The caller frees them. */
float *make_keys(uint32_t k, gf_random *random);

/**
 * The two are the most similar centres, as far as single precision can tell, and their similarities
 * are exact, by all dot products in double precision.
 */
void check_nearest(const gf_centre_index *index, const gf_centres *c, gf_row_view row,
                   gf_nearest_two two);

#endif
