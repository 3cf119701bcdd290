/* The sweeps of a mixture beside sums worked out from nothing, its tables, its rules. */
#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/kmeans.h"
#include "cluster/mixture/counts.h"
#include "cluster/mixture/mixture.h"

#include <math.h>
#include <string.h>

/* ---- documents ------------------------------------------------------------------------------- */

typedef struct texts {
    gf_csr x; /* values are not looked at */
    uint8_t *count;
    float *weight;
    uint32_t calls; /* of read_texts */
    gf_cancel *cancel_at_second;
} texts;

static gf_status read_texts(void *context, uint32_t first, uint32_t n, gf_mixture_block *block,
                            gf_error *err)
{
    texts *t = context;
    (void)n, (void)err;
    if (++t->calls == 2 && t->cancel_at_second) gf_cancel_request(t->cancel_at_second);
    *block = (gf_mixture_block){t->x.start + first, t->x.col, t->count,
                                t->weight ? t->weight + first : NULL};
    return GF_OK;
}

static texts random_texts(uint32_t n, uint32_t n_words, uint64_t seed, bool weighed)
{
    gf_random random = gf_random_seed(seed, 0);
    texts t = {.x = rows_random(n, n_words, 8, &random)};
    uint64_t entries = gf_csr_nnz(&t.x);
    t.count = gf_array(entries, sizeof *t.count);
    assert_non_null(t.count);
    for (uint64_t e = 0; e < entries; e++)
        t.count[e] = (uint8_t)(1 + (gf_random_below(&random, 4) ? 0 : gf_random_below(&random, 5)));
    if (!weighed) return t;
    t.weight = gf_array(n, sizeof *t.weight);
    assert_non_null(t.weight);
    for (uint32_t i = 0; i < n; i++)
        t.weight[i] = (float)(1 + gf_random_below(&random, 3));
    return t;
}

static void release_texts(texts *t)
{
    gf_csr_release(&t->x);
    gf_free(t->count);
    gf_free(t->weight);
}

static uint32_t *random_labels(uint32_t n, uint32_t k, uint64_t seed)
{
    gf_random random = gf_random_seed(seed, 1);
    uint32_t *label = gf_array(n, sizeof *label);
    assert_non_null(label);
    for (uint32_t i = 0; i < n; i++)
        label[i] = (uint32_t)gf_random_below(&random, k);
    return label;
}

static gf_status run(texts *t, gf_pool *pool, const gf_mixture_options *o, uint32_t *label,
                     gf_error *err)
{
    gf_mixture_documents d = {t->x.n_rows, t->x.n_cols, read_texts, t};
    return gf_mixture_run(pool, &d, o, label, err);
}

/* ---- the independent checker ----------------------------------------------------------------- */

/* Counts of a partition, dense, in double. */
typedef struct naive {
    double *word; /* k * n_words */
    double *words, *documents;
} naive;

static void count_naive(naive *c, const texts *t, uint32_t i, uint32_t cluster, double sign)
{
    double weight = t->weight ? (double)t->weight[i] : 1;
    c->documents[cluster] += sign * weight;
    for (uint64_t e = t->x.start[i]; e < t->x.start[i + 1]; e++) {
        c->words[cluster] += sign * weight * t->count[e];
        c->word[(size_t)cluster * t->x.n_cols + t->x.col[e]] += sign * weight * t->count[e];
    }
}

/* The logarithm of document i's probability in a cluster, one of its copies left out if it is in it. */
static double naive_score(const naive *c, const texts *t, const gf_mixture_options *o, uint32_t i,
                          uint32_t cluster, bool own)
{
    double length = 0, sum = 0, v = o->beta * t->x.n_cols;
    for (uint64_t e = t->x.start[i]; e < t->x.start[i + 1]; e++) {
        double n = c->word[(size_t)cluster * t->x.n_cols + t->x.col[e]];
        if (own) n -= t->count[e];
        for (uint32_t j = 0; j < t->count[e]; j++)
            sum += log(n + o->beta + j);
        length += t->count[e];
    }
    double words = c->words[cluster] - (own ? length : 0);
    if (o->alpha > 0) sum += log(c->documents[cluster] - own + o->alpha);
    return sum - length * log(words + v + (length - 1) / 2);
}

/* One sweep from `before` gave `after`: each document went to one of the most probable clusters. */
static void check_sweep(const texts *t, const gf_mixture_options *o, const uint32_t *before,
                        const uint32_t *after)
{
    uint32_t n = t->x.n_rows, k = o->k;
    naive c = {gf_calloc((size_t)k * t->x.n_cols, sizeof(double)), gf_calloc(k, sizeof(double)),
               gf_calloc(k, sizeof(double))};
    assert_true(c.word && c.words && c.documents);
    for (uint32_t i = 0; i < n; i++)
        count_naive(&c, t, i, before[i], 1);
    for (uint32_t first = 0; first < n; first += GF_MIXTURE_BLOCK) {
        uint32_t end = n - first < GF_MIXTURE_BLOCK ? n : first + GF_MIXTURE_BLOCK;
        for (uint32_t i = first; i < end; i++) {
            double best = -INFINITY, taken = 0;
            for (uint32_t j = 0; j < k; j++) {
                double score = naive_score(&c, t, o, i, j, j == before[i]);
                if (score > best) best = score;
                if (j == after[i]) taken = score;
            }
            assert_true(taken > best - 1e-3);
        }
        for (uint32_t i = first; i < end; i++) {
            count_naive(&c, t, i, before[i], -1);
            count_naive(&c, t, i, after[i], 1);
        }
    }
    gf_free(c.word);
    gf_free(c.words);
    gf_free(c.documents);
}

static void sweeps_as_sums_from_nothing_say(void **state)
{
    (void)state;
    gf_error err;
    uint64_t seed = gf_test_seed();
    for (uint32_t variant = 0; variant < 8; variant++) {
        uint32_t k = variant & 1 ? 90 : 3, n = variant & 2 ? GF_MIXTURE_BLOCK + 300 : 500;
        texts t = random_texts(n, 400, seed + variant, variant & 4);
        gf_mixture_options o = {.k = k,
                                .alpha = variant & 1 ? 0 : 0.1,
                                .beta = variant & 2 ? 0.05 : 0.1,
                                .settled = 20,
                                .sweeps = 1};
        uint32_t *label = random_labels(n, k, seed), *before = gf_array(n, sizeof *before);
        assert_non_null(before);
        for (int sweep = 0; sweep < 2; sweep++) {
            memcpy(before, label, n * sizeof *label);
            assert_ok(run(&t, NULL, &o, label, &err));
            check_sweep(&t, &o, before, label);
        }
        gf_free(label);
        gf_free(before);
        release_texts(&t);
    }
}

static naive count_all_naive(const texts *t, const uint32_t *label, uint32_t k)
{
    naive c = {gf_calloc((size_t)k * t->x.n_cols, sizeof(double)), gf_calloc(k, sizeof(double)),
               gf_calloc(k, sizeof(double))};
    assert_true(c.word && c.words && c.documents);
    for (uint32_t i = 0; i < t->x.n_rows; i++)
        count_naive(&c, t, i, label[i], 1);
    return c;
}

static void release_naive(naive *c)
{
    gf_free(c->word);
    gf_free(c->words);
    gf_free(c->documents);
}

/* Of many clusters the second sweep takes the best of the eight that were best in the first. */
static void many_clusters_are_compared_with_the_nearest(void **state)
{
    (void)state;
    gf_error err;
    enum { K = GF_MIXTURE_MANY + 12, N = 900 };
    texts t = random_texts(N, 300, gf_test_seed(), true);
    gf_mixture_options o = {.k = K, .beta = 0.05, .settled = 1e6F, .sweeps = 1};
    uint32_t *from = random_labels(N, K, 5), *once = random_labels(N, K, 5);
    uint32_t *twice = random_labels(N, K, 5);
    assert_ok(run(&t, NULL, &o, once, &err));
    check_sweep(&t, &o, from, once);
    o.sweeps = 2;
    assert_ok(run(&t, NULL, &o, twice, &err));
    naive first = count_all_naive(&t, from, K), second = count_all_naive(&t, once, K);
    for (uint32_t i = 0; i < N; i++) {
        double score[K], seventh = INFINITY, best = -INFINITY;
        bool taken[K] = {false};
        for (uint32_t c = 0; c < K; c++)
            score[c] = naive_score(&first, &t, &o, i, c, c == from[i]);
        for (int r = 0; r < 7; r++) { /* the seven best but the own one */
            uint32_t at = UINT32_MAX;
            for (uint32_t c = 0; c < K; c++)
                if (c != from[i] && !taken[c] && (at == UINT32_MAX || score[c] > score[at])) at = c;
            taken[at] = true;
            seventh = score[at];
        }
        for (uint32_t c = 0; c < K; c++) {
            double now = naive_score(&second, &t, &o, i, c, c == once[i]);
            bool surely = c == from[i] || score[c] > seventh + 1e-3;
            if (surely && now > best) best = now;
        }
        assert_true(twice[i] == from[i] || score[twice[i]] > seventh - 1e-3);
        assert_true(naive_score(&second, &t, &o, i, twice[i], twice[i] == once[i]) > best - 1e-3);
    }
    release_naive(&first);
    release_naive(&second);
    gf_free(from);
    gf_free(once);
    gf_free(twice);
    release_texts(&t);
}

/* Documents of thousands of words, whose lengths are not looked up in a table. */
static void very_long_documents_find_their_own(void **state)
{
    (void)state;
    enum { N = 40, WORDS = 200, HALF = WORDS / 2 };
    gf_error err;
    texts t = {.x = {.n_rows = N, .n_cols = WORDS}};
    t.x.start = gf_array(N + 1, sizeof *t.x.start);
    t.x.col = gf_array(N * HALF, sizeof *t.x.col);
    t.count = gf_array(N * HALF, sizeof *t.count);
    uint32_t *label = gf_array(N, sizeof *label);
    assert_true(t.x.start && t.x.col && t.count && label);
    t.x.start[0] = 0;
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t w = 0; w < HALF; w++) {
            t.x.col[i * HALF + w] = i % 2 * HALF + w;
            t.count[i * HALF + w] = (uint8_t)(GF_MIXTURE_REPEATS - (i + w) % 4);
        }
        t.x.start[i + 1] = (uint64_t)(i + 1) * HALF;
        label[i] = i % 5 == 0 ? (i + 1) % 2 : i % 2; /* some begin in the other's cluster */
    }
    gf_mixture_options o = {.k = 2, .alpha = 0.1, .beta = 0.1, .settled = 20, .sweeps = 2};
    assert_ok(run(&t, NULL, &o, label, &err));
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(label[i], i % 2);
    gf_free(label);
    release_texts(&t);
}

static void settled_documents_stay(void **state)
{
    (void)state;
    gf_error err;
    texts t = random_texts(3000, 200, 4, false);
    gf_mixture_options o = {.k = 5, .alpha = 0.1, .beta = 0.1, .settled = -1e6F, .sweeps = 1};
    uint32_t *one = random_labels(3000, 5, 4), *more = random_labels(3000, 5, 4);
    assert_ok(run(&t, NULL, &o, one, &err));
    o.sweeps = 3; /* all are settled after the first */
    assert_ok(run(&t, NULL, &o, more, &err));
    assert_memory_equal(one, more, 3000 * sizeof *one);
    gf_free(one);
    gf_free(more);
    release_texts(&t);
}

static void give_the_same_by_threads(uint32_t k)
{
    gf_error err;
    uint32_t n = 2 * GF_MIXTURE_BLOCK + 77;
    texts t = random_texts(n, 900, gf_test_seed(), true);
    gf_mixture_options o = {.k = k, .alpha = 0.1, .beta = 0.1, .settled = 20, .sweeps = 4};
    uint32_t *one = random_labels(n, k, 7), *four = random_labels(n, k, 7);
    gf_pool *pool = rows_pool(4);
    assert_ok(run(&t, NULL, &o, one, &err));
    assert_ok(run(&t, pool, &o, four, &err));
    assert_memory_equal(one, four, n * sizeof *one);
    gf_pool_free(pool);
    gf_free(one);
    gf_free(four);
    release_texts(&t);
}

static void any_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    give_the_same_by_threads(60);
    give_the_same_by_threads(GF_MIXTURE_MANY + 3);
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Documents of one word each: words[i] of document i, so often. */
static texts one_word_each(const uint32_t *words, uint32_t n, uint32_t n_words)
{
    gf_error err;
    texts t = {.count = gf_calloc(n, sizeof *t.count)};
    assert_non_null(t.count);
    assert_ok(gf_csr_init(&t.x, n, n_words, n, &err));
    for (uint32_t i = 0; i < n; i++) {
        t.x.start[i + 1] = i + 1;
        t.x.col[i] = words[i];
        t.x.val[i] = 1;
        t.count[i] = 1;
    }
    return t;
}

static void the_own_cluster_wins_ties_then_the_lowest(void **state)
{
    (void)state;
    gf_error err;
    /* Four clusters; without itself the last document's is empty, and two are exactly alike. */
    const uint32_t words[] = {0, 0, 1, 1, 2, 2, 0};
    uint32_t label[] = {2, 2, 1, 1, 0, 0, 3};
    texts t = one_word_each(words, 7, 3);
    gf_mixture_options o = {.k = 4, .alpha = 0.1, .beta = 0.1, .settled = 20, .sweeps = 1};
    assert_ok(run(&t, NULL, &o, label, &err));
    assert_int_equal(label[6], 2); /* where its word is */
    release_texts(&t);

    /* Its word is nowhere else: clusters 1 and 2 are as probable, and it is in 2. */
    const uint32_t lone[] = {0, 0, 1, 1, 2};
    uint32_t from[] = {1, 1, 2, 2, 2};
    t = one_word_each(lone, 5, 3);
    o = (gf_mixture_options){
        .k = 3, .beta = 0.1, .settled = 20, .sweeps = 1}; /* 0 is empty: the most probable */
    assert_ok(run(&t, NULL, &o, from, &err));
    assert_int_equal(from[4], 0);
    uint32_t stays[] = {0, 0, 1, 1, 1};
    o.k = 2;
    assert_ok(run(&t, NULL, &o, stays, &err));
    assert_int_equal(stays[4], 1);
    release_texts(&t);

    /* It leaves a cluster where it does not fit, for the lower of two that are alike. */
    const uint32_t torn[] = {0, 1, 0, 1, 2, 2, 2, 2, 1};
    uint32_t to[] = {1, 1, 2, 2, 0, 0, 0, 0, 0};
    t = one_word_each(torn, 9, 3);
    o.k = 3;
    assert_ok(run(&t, NULL, &o, to, &err));
    assert_int_equal(to[8], 1);
    release_texts(&t);
}

static void one_cluster_or_no_sweep_changes_nothing(void **state)
{
    (void)state;
    gf_error err;
    const uint32_t words[] = {0, 1, 0};
    uint32_t label[] = {0, 0, 0};
    texts t = one_word_each(words, 3, 2);
    assert_ok(run(&t, NULL, &(gf_mixture_options){.k = 1, .beta = 0.1, .settled = 20, .sweeps = 3},
                  label, &err));
    assert_int_equal(t.calls, 0);
    assert_ok(
        run(&t, NULL, &(gf_mixture_options){.k = 2, .beta = 0.1, .settled = 20}, label, &err));
    assert_int_equal(label[1], 0);
    release_texts(&t);
}

static void cancelling_ends_it(void **state)
{
    (void)state;
    gf_error err;
    gf_cancel cancel = {0};
    texts t = random_texts(GF_MIXTURE_BLOCK + 5, 100, 3, false);
    t.cancel_at_second = &cancel;
    uint32_t *label = random_labels(t.x.n_rows, 4, 3);
    gf_mixture_options o = {
        .k = 4, .alpha = 0.1, .beta = 0.1, .settled = 20, .sweeps = 2, .cancel = &cancel};
    assert_status(GF_ECANCELLED, run(&t, NULL, &o, label, &err));
    gf_free(label);
    release_texts(&t);
}

static gf_status run_once(void *context, gf_error *err)
{
    uint32_t label[60];
    gf_mixture_options o = {.k = 5, .alpha = 0.1, .beta = 0.1, .settled = 20, .sweeps = 2};
    for (uint32_t i = 0; i < 60; i++)
        label[i] = i % 5;
    return run(context, NULL, &o, label, err);
}

static gf_status counts_once(void *context, gf_error *err)
{
    gf_mixture_logs logs;
    gf_mixture_counts counts;
    gf_status st = gf_mixture_logs_init(&logs, 0.1, err);
    if (st != GF_OK) return st;
    st = gf_mixture_counts_init(&counts, context, 3, 50, &logs, err);
    if (st == GF_OK) gf_mixture_counts_release(&counts);
    gf_mixture_logs_release(&logs);
    return st;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    uint32_t df[] = {3, 0, 40};
    gf_test_sweep(counts_once, NULL, df);
}

/* ---- tables and counts ----------------------------------------------------------------------- */

static double value_by_sum(double beta, uint32_t n, uint32_t t)
{
    double sum = 0;
    for (uint32_t j = 0; j < t; j++)
        sum += log((n + j + beta) / (j + beta));
    return sum;
}

static void values_are_sums_of_logarithms(void **state)
{
    (void)state;
    gf_error err;
    static const uint32_t n[] = {0, 1, 7, 2047, 2048, 2049, 5000, 65535, 65536, 70000, 4000000};
    static const uint32_t t[] = {1, 2, 3, 10, 50};
    for (int b = 0; b < 2; b++) {
        gf_mixture_logs logs;
        double beta = b ? 0.05 : 0.1;
        assert_ok(gf_mixture_logs_init(&logs, beta, &err));
        for (size_t i = 0; i < sizeof n / sizeof *n; i++)
            for (size_t j = 0; j < sizeof t / sizeof *t; j++) {
                double want = value_by_sum(beta, n[i], t[j]);
                assert_near(gf_mixture_logs_value(&logs, n[i], t[j]), want, 2e-3 + 1e-6 * want);
            }
        for (uint32_t r = 1; r <= GF_MIXTURE_REPEATS; r++)
            assert_true(gf_mixture_logs_value(&logs, 0, r) == 0);
        gf_mixture_logs_release(&logs);
    }
}

static void counts_come_and_go(void **state)
{
    (void)state;
    gf_error err;
    enum { K = 50, WORDS = 3, STEPS = 4000 };
    const uint32_t df[WORDS] = {6, 7, 0}; /* a list of 6, a dense row (7 * 8 > 50), nothing */
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_mixture_logs logs;
    gf_mixture_counts counts;
    uint32_t held[WORDS][K] = {{0}}, clusters[WORDS] = {0};
    assert_ok(gf_mixture_logs_init(&logs, 0.1, &err));
    assert_ok(gf_mixture_counts_init(&counts, df, WORDS, K, &logs, &err));
    assert_int_equal(gf_mixture_counts_bytes(df, WORDS, K),
                     8 * (K + 6) + WORDS * sizeof(gf_word_place) + 16 * K);
    for (int i = 0; i < STEPS; i++) {
        uint32_t w = (uint32_t)gf_random_below(&random, 2),
                 c = (uint32_t)gf_random_below(&random, K);
        uint32_t n = 1 + (uint32_t)gf_random_below(&random, 3);
        if (held[w][c] >= n) {
            gf_mixture_counts_take(&counts, w, c, n);
            held[w][c] -= n;
            clusters[w] -= held[w][c] == 0;
        } else if (held[w][c] || clusters[w] < df[w]) {
            clusters[w] += held[w][c] == 0;
            gf_mixture_counts_add(&counts, w, c, n);
            held[w][c] += n;
        }
        assert_int_equal(gf_mixture_counts_get(&counts, w, c), held[w][c]);
        if (w == 1)
            assert_true(counts.value[counts.place[1].at + c] ==
                        gf_mixture_logs_value(&logs, held[1][c], 1));
    }
    for (uint32_t w = 0; w < WORDS; w++)
        for (uint32_t c = 0; c < K; c++)
            assert_int_equal(gf_mixture_counts_get(&counts, w, c), held[w][c]);
    gf_mixture_counts_release(&counts);
    gf_mixture_logs_release(&logs);
}

static void short_memory_of_sweeps_is_told(void **state)
{
    (void)state;
    texts t = random_texts(60, 30, 5, true);
    gf_test_sweep(run_once, NULL, &t);
    release_texts(&t);
}

/* ---- k-means with a refinement --------------------------------------------------------------- */

static void count_once_each(void *context, uint32_t row, gf_row_view view, uint8_t *count)
{
    const gf_csr *x = context;
    assert_true(gf_csr_row(x, row).n == view.n); /* a distinct row is counted as its first row */
    memset(count, 1, view.n);
}

/* Labels are the nearest of the centres, in whatever groups the sweeps ended. */
static void labels_are_the_nearest_centres(void **state)
{
    (void)state;
    gf_error err;
    static const uint32_t sizes[] = {40, 700, 1500};
    for (size_t s = 0; s < 3; s++) {
        gf_random random = gf_random_seed(gf_test_seed(), s);
        uint32_t n = sizes[s], *group = gf_array(n, sizeof *group);
        assert_non_null(group);
        gf_csr planted = rows_planted(n, 6, 8, &random, group), x = rows_with_empty(&planted, 2);
        gf_refinement refinement = {.count = count_once_each, .context = &x};
        gf_kmeans_options o = {.k = 9, .seed = 3, .refinement = &refinement};
        gf_kmeans r, again;
        gf_pool *pool = rows_pool(3);
        assert_ok(gf_kmeans_run(NULL, &x, &o, &r, &err));
        assert_ok(gf_kmeans_run(pool, &x, &o, &again, &err));
        assert_memory_equal(r.label, again.label, x.n_rows * sizeof *r.label);
        rows_assert_same_centres(&r.centres, &again.centres);
        uint32_t *size = gf_calloc(r.k, sizeof *size);
        assert_non_null(size);
        for (uint32_t i = 0; i < n; i++) {
            double own =
                gf_csr_row_dot(gf_csr_row(&x, i), gf_centre_row(&r.centres.at[r.label[i]]));
            assert_near(own, r.score[i], 1e-5);
            for (uint32_t c = 0; c < r.k; c++)
                assert_true(gf_csr_row_dot(gf_csr_row(&x, i), gf_centre_row(&r.centres.at[c])) <=
                            own + 1e-5);
            size[r.label[i]]++;
        }
        for (uint32_t c = 0; c < r.k; c++)
            assert_true(size[c] > 0);
        gf_free(size);
        gf_free(group);
        gf_kmeans_release(&r);
        gf_kmeans_release(&again);
        gf_pool_free(pool);
        gf_csr_release(&x);
        gf_csr_release(&planted);
    }
}

static gf_status cluster_once(void *context, gf_error *err)
{
    gf_kmeans r;
    const gf_csr *x = context;
    float factor[200];
    for (int i = 0; i < 200; i++)
        factor[i] = 1.0f + (float)(i % 3);
    assert_true(x->n_cols <= 200);
    gf_refinement refinement = {.factor = factor, .count = count_once_each, .context = context};
    gf_kmeans_options o = {.k = 0, .max_k = 4, .seed = 3, .refinement = &refinement};
    gf_status st = gf_kmeans_run(NULL, x, &o, &r, err);
    if (st == GF_OK) gf_kmeans_release(&r);
    return st;
}

static void short_memory_of_refinement_is_told(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(1, 0);
    uint32_t group[30];
    gf_csr x = rows_planted(30, 2, 4, &random, group);
    gf_test_sweep(cluster_once, NULL, &x);
    gf_csr_release(&x);
}

/* A served start goes on from the labels that it is given, and sweeps too. */
static void few_long_documents_are_not_swept(void **state)
{
    (void)state;
    assert_false(gf_refinement_pays(8000, 8000 * 140, 20)); /* 400 a cluster, 140 words each */
    assert_true(gf_refinement_pays(8000, 8000 * 130, 20));
    assert_true(gf_refinement_pays(8000, 8000 * 8, 263)); /* 30 a cluster, 8 words each */
    assert_true(gf_refinement_pays(3, 3, 1));
    assert_false(gf_refinement_pays(2, 2, 1));
    assert_true(gf_refinement_pays(UINT32_MAX, UINT64_MAX / 4, 1));
}

static void a_start_is_swept_as_well(void **state)
{
    (void)state;
    gf_error err;
    enum { N = 1200 };
    uint32_t group[N];
    gf_random random = gf_random_seed(11, 0);
    gf_csr x = rows_planted(N, 5, 6, &random, group);
    gf_refinement refinement = {.count = count_once_each, .context = &x};
    gf_kmeans_options o = {.k = 5, .seed = 3, .refinement = &refinement};
    gf_kmeans first, next;
    assert_ok(gf_kmeans_run(NULL, &x, &o, &first, &err));
    o.start = first.label;
    o.start_k = first.k;
    o.start_refined = true;
    assert_ok(gf_kmeans_run(NULL, &x, &o, &next, &err));
    assert_int_equal(next.k, first.k);
    uint32_t same = 0;
    for (uint32_t i = 0; i < N; i++)
        same += first.label[i] == next.label[i];
    assert_true(same > N * 99 / 100);
    gf_kmeans_release(&first);
    gf_kmeans_release(&next);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_as_sums_from_nothing_say),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
        cmocka_unit_test(many_clusters_are_compared_with_the_nearest),
        cmocka_unit_test(very_long_documents_find_their_own),
        cmocka_unit_test(settled_documents_stay),
        cmocka_unit_test(the_own_cluster_wins_ties_then_the_lowest),
        cmocka_unit_test(one_cluster_or_no_sweep_changes_nothing),
        cmocka_unit_test(cancelling_ends_it),
        cmocka_unit_test(short_memory_is_told),
        cmocka_unit_test(short_memory_of_sweeps_is_told),
        cmocka_unit_test(values_are_sums_of_logarithms),
        cmocka_unit_test(counts_come_and_go),
        cmocka_unit_test(labels_are_the_nearest_centres),
        cmocka_unit_test(short_memory_of_refinement_is_told),
        cmocka_unit_test(few_long_documents_are_not_swept),
        cmocka_unit_test(a_start_is_swept_as_well),
    };
    return cmocka_run_group_tests_name("mixture", tests, NULL, NULL);
}
