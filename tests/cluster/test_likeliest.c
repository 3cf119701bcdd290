/* The integrated likelihood beside its formula, and the likeliest of several starts. */
#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/likeliest.h"
#include "cluster/mixture/likelihood.h"

#include <math.h>
#include <string.h>

/* Counts that differ from row to row and from word to word. */
static void count_words(void *context, uint32_t row, gf_row_view view, uint8_t *count)
{
    (void)context;
    for (uint32_t e = 0; e < view.n; e++)
        count[e] = (uint8_t)(1 + (row + view.col[e]) % 4);
}

static void count_once_each(void *context, uint32_t row, gf_row_view view, uint8_t *count)
{
    (void)context, (void)row;
    memset(count, 1, view.n);
}

/* The formula, over all words of all clusters. */
static double naive_likelihood(gf_count_terms *count_terms, const gf_csr *x, const uint32_t *label,
                               uint32_t k)
{
    double a = 0.1, b = 0.1, v = x->n_cols, sum = lgamma(k * a) - lgamma(x->n_rows + k * a);
    double *n = gf_calloc((size_t)k * x->n_cols, sizeof *n);
    double *m = gf_calloc(k, sizeof *m), *all = gf_calloc(k, sizeof *all);
    uint8_t *count = gf_array(x->n_cols, sizeof *count);
    assert_true(n && m && all && count);
    for (uint32_t i = 0; i < x->n_rows; i++) {
        gf_row_view row = gf_csr_row(x, i);
        count_terms(NULL, i, row, count);
        m[label[i]]++;
        for (uint32_t e = 0; e < row.n; e++) {
            n[(size_t)label[i] * x->n_cols + row.col[e]] += count[e];
            all[label[i]] += count[e];
        }
    }
    for (uint32_t c = 0; c < k; c++) {
        sum += lgamma(v * b) - lgamma(all[c] + v * b) + lgamma(m[c] + a) - lgamma(a);
        for (uint32_t w = 0; w < x->n_cols; w++)
            sum += lgamma(n[(size_t)c * x->n_cols + w] + b) - lgamma(b);
    }
    gf_free(n);
    gf_free(m);
    gf_free(all);
    gf_free(count);
    return sum;
}

static void likelihood_is_that_of_the_formula(void **state)
{
    (void)state;
    gf_error err;
    static const uint32_t ks[] = {1, 3, 40};
    const gf_refinement refinement = {.count = count_words};
    for (size_t t = 0; t < 3; t++) {
        gf_random random = gf_random_seed(gf_test_seed(), t);
        gf_csr x = rows_random(700, 300, 12, &random);
        uint32_t k = ks[t], label[700];
        for (uint32_t i = 0; i < 700; i++) /* the last cluster stays empty where there are some */
            label[i] = (uint32_t)gf_random_below(&random, k > 1 ? k - 1 : 1);
        double expected = naive_likelihood(count_words, &x, label, k), found, again;
        assert_ok(gf_mixture_likelihood(NULL, &refinement, &x, label, k, NULL, &found, &err));
        assert_true(fabs(found - expected) < 1e-9 * fabs(expected));
        for (unsigned threads = 2; threads <= 4; threads += 2) {
            gf_pool *pool = rows_pool(threads);
            assert_ok(gf_mixture_likelihood(pool, &refinement, &x, label, k, NULL, &again, &err));
            assert_memory_equal(&found, &again, sizeof found);
            gf_pool_free(pool);
        }
        gf_csr_release(&x);
    }
}

/* Planted groups are more probable than the same groups with a tenth of their rows elsewhere. */
static void planted_groups_are_more_probable(void **state)
{
    (void)state;
    gf_error err;
    enum { N = 600, GROUPS = 6 };
    uint32_t group[N];
    double planted, mixed;
    gf_random random = gf_random_seed(gf_test_seed(), 7);
    gf_csr x = rows_planted(N, GROUPS, 4, &random, group);
    const gf_refinement refinement = {.count = count_once_each};
    assert_ok(gf_mixture_likelihood(NULL, &refinement, &x, group, GROUPS, NULL, &planted, &err));
    for (uint32_t i = 0; i < N; i += 10)
        group[i] = (group[i] + 1) % GROUPS;
    assert_ok(gf_mixture_likelihood(NULL, &refinement, &x, group, GROUPS, NULL, &mixed, &err));
    assert_true(planted > mixed);
    gf_csr_release(&x);
}

/* ---- the likeliest of several starts --------------------------------------------------------- */

static void never_less_probable_than_the_default(void **state)
{
    (void)state;
    gf_error err;
    unsigned better = 0;
    for (uint32_t t = 0; t < 8; t++) {
        gf_random random = gf_random_seed(gf_test_seed(), 20 + t);
        gf_csr x = rows_random(900, 250, 7, &random);
        const gf_refinement refinement = {.count = count_words};
        gf_kmeans_options o = {.k = t % 4 ? 2 + t : 0,
                               .max_k = t % 4 ? 0 : 6,
                               .seed = t,
                               .restarts = 1,
                               .refinement = &refinement};
        gf_kmeans one, best, again;
        double of_one, of_best;
        assert_ok(gf_kmeans_run(NULL, &x, &o, &one, &err));
        assert_ok(gf_kmeans_run_likeliest(NULL, &x, &o, &best, &err));
        assert_int_equal(best.choice.k, one.choice.k);
        of_one = naive_likelihood(count_words, &x, one.label, one.k);
        of_best = naive_likelihood(count_words, &x, best.label, best.k);
        assert_true(of_best >= of_one - 1e-6);
        better += of_best > of_one + 1e-6;
        gf_pool *pool = rows_pool(2 + t % 3);
        assert_ok(gf_kmeans_run_likeliest(pool, &x, &o, &again, &err));
        assert_int_equal(best.k, again.k);
        assert_memory_equal(best.label, again.label, x.n_rows * sizeof *best.label);
        assert_memory_equal(best.score, again.score, x.n_rows * sizeof *best.score);
        rows_assert_same_centres(&best.centres, &again.centres);
        gf_pool_free(pool);
        gf_kmeans_release(&one);
        gf_kmeans_release(&best);
        gf_kmeans_release(&again);
        gf_csr_release(&x);
    }
    assert_true(better > 0); /* else the other starts were not tried */
}

static void count_phases(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    *(unsigned *)context += strcmp(phase, "reducing") == 0;
}

/* Clusters of some documents of many words have one start. */
static void few_long_documents_have_one_start(void **state)
{
    (void)state;
    gf_error err;
    for (uint32_t long_ones = 0; long_ones < 2; long_ones++) {
        unsigned reduced = 0;
        gf_random random = gf_random_seed(1, 0);
        gf_csr x = rows_random(120, 250, long_ones ? 100 : 5, &random);
        const gf_refinement refinement = {.count = count_words};
        gf_kmeans_options o = {.k = 4,
                               .refinement = &refinement,
                               .progress = count_phases,
                               .progress_context = &reduced};
        gf_kmeans r;
        assert_ok(gf_kmeans_run_likeliest(NULL, &x, &o, &r, &err));
        assert_int_equal(reduced, long_ones ? 0 : 2);
        gf_kmeans_release(&r);
        gf_csr_release(&x);
    }
}

static void note_phase(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    if (strcmp(phase, "reducing") == 0) gf_cancel_request(context);
}

static void cancelling_ends_it(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(1, 0);
    gf_csr x = rows_random(900, 250, 7, &random);
    gf_cancel cancel = {0};
    const gf_refinement refinement = {.count = count_words};
    gf_kmeans_options o = {.k = 4,
                           .refinement = &refinement,
                           .cancel = &cancel,
                           .progress = note_phase,
                           .progress_context = &cancel};
    gf_kmeans r;
    assert_status(GF_ECANCELLED, gf_kmeans_run_likeliest(NULL, &x, &o, &r, &err));
    gf_csr_release(&x);
}

static gf_status cluster_likeliest(void *context, gf_error *err)
{
    gf_kmeans r;
    const gf_refinement refinement = {.count = count_words};
    gf_kmeans_options o = {.k = 0, .max_k = 3, .restarts = 1, .refinement = &refinement};
    gf_status st = gf_kmeans_run_likeliest(NULL, context, &o, &r, err);
    if (st == GF_OK) gf_kmeans_release(&r);
    return st;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(1, 0);
    gf_csr x = rows_random(60, 20, 5, &random);
    gf_test_sweep(cluster_likeliest, NULL, &x);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(likelihood_is_that_of_the_formula),
        cmocka_unit_test(planted_groups_are_more_probable),
        cmocka_unit_test(never_less_probable_than_the_default),
        cmocka_unit_test(few_long_documents_have_one_start),
        cmocka_unit_test(cancelling_ends_it),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests_name("likeliest", tests, NULL, NULL);
}
