#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/measure/quality.h"
#include "cluster/passes/nearest_centres.h"
#include "cluster/stream/minibatch.h"
#include "cluster/stream/row_stream.h"

#include <math.h>
#include <string.h>

typedef struct spilled {
    gf_csr x; /* starts are the file's too */
    gf_row_file file;
} spilled;

static spilled spill(gf_csr x)
{
    gf_error err;
    spilled s = {.x = x};
    uint64_t entries = gf_csr_nnz(&x);
    gf_spill *file;
    assert_ok(gf_spill_create(gf_test_folder(), &file, &err));
    assert_ok(gf_row_file_write(file, entries, 0, entries, x.col, x.val, &err));
    s.file = (gf_row_file){x.n_rows, x.n_cols, s.x.start, entries, file};
    return s;
}

static void release(spilled *s)
{
    gf_spill_free(s->file.spill);
    gf_csr_release(&s->x);
}

static gf_kmeans run(gf_pool *pool, const spilled *s, gf_kmeans_options o, uint32_t sample)
{
    gf_error err;
    gf_kmeans r;
    const gf_minibatch_options options = {o, sample};
    assert_ok(gf_minibatch_run(pool, &s->file, &options, &r, &err));
    return r;
}

/* ---- passes over a file ---------------------------------------------------------------------- */

/* Windows that divide nothing evenly give what the whole matrix gives. */
static void streams_like_a_matrix(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    spilled s = spill(rows_random(1000, 200, 12, &random));
    uint32_t n = s.x.n_rows, k = 13;
    for (unsigned threads = 1; threads <= 3; threads++) {
        gf_pool *pool = rows_pool(threads);
        gf_row_stream stream = {.pool = pool, .rows = &s.file, .window = 77};
        gf_partition p;
        assert_ok(gf_partition_init(&p, n, k, s.x.n_cols, &err));
        gf_centres_release(&p.centres);
        p.centres = rows_as_centres(&s.x, k, &random);
        uint32_t *runner_up = gf_array(n, sizeof *runner_up);
        assert_ok(gf_row_stream_assign(&stream, &p, runner_up, &err));
        for (uint32_t i = 0; i < n; i++) {
            gf_row_view row = gf_csr_row(&s.x, i);
            for (uint32_t j = 0; j < k; j++) {
                double dot = gf_csr_row_dot(row, gf_centre_row(&p.centres.at[j]));
                assert_true(dot <= (double)p.own[i] + 1e-6);
                if (j == p.label[i]) assert_near(p.own[i], dot, 1e-6);
                if (j != p.label[i]) assert_true(dot <= (double)p.other[i] + 1e-6);
                if (j == runner_up[i]) assert_near(p.other[i], dot, 1e-6);
            }
        }
        gf_centres sums;
        p.label[5] = UINT32_MAX; /* left out */
        double *dense = gf_calloc((size_t)k * s.x.n_cols, sizeof *dense);
        for (uint32_t i = 0; i < n; i++) {
            gf_row_view row = gf_csr_row(&s.x, i);
            for (uint32_t q = 0; q < row.n && i != 5; q++)
                dense[(size_t)p.label[i] * s.x.n_cols + row.col[q]] += (double)row.val[q];
        }
        assert_ok(gf_row_stream_sum(&stream, p.label, k, &sums, &err));
        for (uint32_t j = 0; j < k; j++) {
            const double *sum = dense + (size_t)j * s.x.n_cols;
            const gf_centre *c = &sums.at[j];
            assert_near(c->length, rows_length(sum, s.x.n_cols), 1e-5 * (1 + c->length));
            for (uint32_t q = 0; q < c->n; q++)
                assert_near(c->length * (double)c->value[q], sum[c->term[q]],
                            1e-5 * (1 + c->length));
        }
        gf_centres_release(&sums);
        gf_free(dense);
        gf_free(runner_up);
        gf_partition_release(&p);
        gf_pool_free(pool);
    }
    release(&s);
}

static bool is_among(gf_row_view row, const gf_csr *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        gf_row_view r = gf_csr_row(x, i);
        if (r.n == row.n && memcmp(r.col, row.col, r.n * sizeof *r.col) == 0 &&
            memcmp(r.val, row.val, r.n * sizeof *r.val) == 0)
            return true;
    }
    return false;
}

static void counts_distinct_rows(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_random(50, 1000, 20, &random);
    uint32_t from[300], distinct, want = 0;
    for (uint32_t i = 0; i < 40; i++)
        want += !is_among(gf_csr_row(&x, i), &x, i); /* rows of one term may be equal */
    for (uint32_t i = 0; i < 300; i++)
        from[i] = i < 40 ? i : (uint32_t)gf_random_below(&random, 40);
    spilled s = spill(rows_pick(&x, from, 300));
    gf_row_stream stream = {.rows = &s.file, .window = 7};
    assert_ok(gf_row_stream_distinct(&stream, &distinct, &err));
    assert_int_equal(distinct, want);
    release(&s);
    gf_csr_release(&x);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The label and the runner-up are the two most similar centres; sizes fall; scores add up. */
static void check_result(const gf_csr *x, const gf_kmeans *r)
{
    double objective = 0;
    uint32_t *size = gf_calloc(r->k, sizeof *size);
    assert_int_equal(r->n, x->n_rows);
    assert_int_equal(r->centres.k, r->k);
    for (uint32_t i = 0; i < r->n; i++) {
        gf_row_view row = gf_csr_row(x, i);
        for (uint32_t j = 0; j < r->k; j++) {
            double dot = gf_csr_row_dot(row, gf_centre_row(&r->centres.at[j]));
            if (j == r->label[i])
                assert_near(r->score[i], dot, 1e-5);
            else if (j == r->runner_up[i])
                assert_near(r->second[i], dot, 1e-5);
            else
                assert_true(dot <= (double)r->second[i] + 1e-5);
        }
        assert_true(r->score[i] >= r->second[i]);
        size[r->label[i]]++;
        objective += (double)r->score[i];
    }
    assert_near(objective, r->objective, 1e-9 * r->n);
    for (uint32_t j = 0; j < r->k; j++)
        assert_true(size[j] > 0 && (j == 0 || size[j] <= size[j - 1]));
    gf_free(size);
}

static double nmi(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    gf_error err;
    gf_quality q;
    assert_ok(gf_quality_compare(a, b, n, &q, &err));
    double found = q.nmi;
    gf_quality_release(&q);
    return found;
}

/* Planted groups are found from a tenth of the rows; nearly as well as by k-means of them all. */
static void finds_planted_groups(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    uint32_t n = 10000, *group = gf_array(n, sizeof *group);
    spilled s = spill(rows_planted(n, 12, 8, &random, group));
    gf_kmeans_options o = {.k = 12, .seed = 1};
    gf_kmeans all, some = run(NULL, &s, o, n / 10);
    assert_ok(gf_kmeans_run(NULL, &s.x, &o, &all, &err));
    check_result(&s.x, &some);
    assert_int_equal(some.distinct, all.distinct);
    assert_true(some.objective > 0.97 * all.objective);
    assert_true(nmi(some.label, group, n) > 0.9);
    gf_kmeans_release(&all);
    gf_kmeans_release(&some);
    gf_free(group);
    release(&s);
}

static void assert_same(const gf_kmeans *a, const gf_kmeans *b)
{
    assert_int_equal(a->k, b->k);
    assert_memory_equal(a->label, b->label, a->n * sizeof *a->label);
    assert_memory_equal(a->score, b->score, a->n * sizeof *a->score);
    assert_memory_equal(a->runner_up, b->runner_up, a->n * sizeof *a->runner_up);
    assert_memory_equal(a->second, b->second, a->n * sizeof *a->second);
    rows_assert_same_centres(&a->centres, &b->centres);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    spilled s = spill(rows_random(9000, 300, 8, &random));
    for (uint32_t k = 1; k <= 40; k += 39) {
        gf_kmeans first =
            run(NULL, &s, (gf_kmeans_options){.k = k, .seed = 3, .max_rounds = 1}, 500);
        check_result(&s.x, &first);
        for (unsigned threads = 2; threads <= 3; threads++) {
            gf_pool *pool = rows_pool(threads);
            gf_kmeans again =
                run(pool, &s, (gf_kmeans_options){.k = k, .seed = 3, .max_rounds = 1}, 500);
            assert_same(&first, &again);
            gf_kmeans_release(&again);
            gf_pool_free(pool);
        }
        gf_kmeans_release(&first);
    }
    release(&s);
}

/* Equal rows are always together, and k is at most the number of distinct ones. */
static void equal_rows_share_a_cluster(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_random(30, 500, 20, &random);
    enum { N = 9000 };
    uint32_t *from = gf_array(N, sizeof *from), label[30];
    for (uint32_t i = 0; i < N; i++)
        from[i] = i < 30 ? i : (uint32_t)gf_random_below(&random, 30);
    spilled s = spill(rows_pick(&x, from, N));
    for (uint32_t k = 8; k <= 64; k += 56) {
        gf_kmeans r = run(NULL, &s, (gf_kmeans_options){.k = k}, 3000);
        assert_true(r.k <= r.distinct && r.distinct <= 30);
        for (uint32_t i = 0; i < N; i++) {
            if (i < 30) label[i] = r.label[i];
            assert_int_equal(r.label[i], label[from[i]]);
        }
        gf_kmeans_release(&r);
    }
    gf_free(from);
    release(&s);
    gf_csr_release(&x);
}

/* ---- going on -------------------------------------------------------------------------------- */

/* Rows that stay together: those of each of k clusters that are in the same one of k others, where
 * most of them are. Clusters are numbered by size, so nearly equal ones may change their numbers.
 */
static uint32_t stay_together(const uint32_t *before, const uint32_t *after, uint32_t n, uint32_t k)
{
    bool *taken = gf_calloc(k, sizeof *taken);
    uint32_t *both = gf_calloc((size_t)k * k, sizeof *both), stay = 0;
    for (uint32_t i = 0; i < n; i++)
        both[before[i] * k + after[i]]++;
    for (uint32_t b = 0; b < k; b++) {
        uint32_t most = 0;
        for (uint32_t a = 1; a < k; a++)
            if (both[b * k + a] > both[b * k + most]) most = a;
        assert_false(taken[most]); /* two have not become one */
        taken[most] = true;
        stay += both[b * k + most];
    }
    gf_free(both);
    gf_free(taken);
    return stay;
}

/* From a clustering of all rows nearly all stay; rows without a cluster join. */
static void goes_on_from_a_start(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    uint32_t n = 10000, *start = gf_array(n, sizeof *start);
    spilled s = spill(rows_planted(n, 9, 8, &random, start));
    gf_kmeans all;
    assert_ok(gf_kmeans_run(NULL, &s.x, &(gf_kmeans_options){.k = 9}, &all, &err));
    for (uint32_t i = 0; i < n; i++)
        start[i] = i % 20 ? all.label[i] : GF_NO_CLUSTER;
    gf_kmeans_options o = {.k = 9, .start = start, .start_k = 9};
    gf_kmeans r = run(NULL, &s, o, 500);
    check_result(&s.x, &r);
    assert_int_equal(r.k, 9);
    assert_true(stay_together(all.label, r.label, n, 9) > 0.95 * n);
    gf_kmeans_release(&r);

    o.k = 4; /* the heaviest go on */
    r = run(NULL, &s, o, 500);
    check_result(&s.x, &r);
    assert_int_equal(r.k, 4);
    gf_kmeans_release(&r);

    o.k = 15; /* the worst fitting rows begin new ones */
    r = run(NULL, &s, o, 500);
    check_result(&s.x, &r);
    assert_true(r.k > 9 && r.k <= 15);
    gf_kmeans_release(&r);

    for (uint32_t i = 0; i < n; i++)
        start[i] = GF_NO_CLUSTER; /* nothing to go on from: seeds */
    o.k = 9;
    r = run(NULL, &s, o, 1000);
    check_result(&s.x, &r);
    assert_int_equal(r.k, 9);
    gf_kmeans_release(&r);
    gf_kmeans_release(&all);
    gf_free(start);
    release(&s);
}

/* Clusters that lack begin with rows that differ, also where the worst fitting ones are equal. */
static void begins_with_different_rows(void **state)
{
    (void)state;
    enum { N = 9000, ODD = 40, TERMS = 20 };
    gf_csr x;
    gf_error err;
    static uint32_t start[N];
    assert_ok(gf_csr_init(&x, N, TERMS, N, &err));
    for (uint32_t i = 0; i < N; i++) {
        bool odd = i >= N - 3 * ODD;
        x.col[i] = odd ? 2 + (i - (N - 3 * ODD)) / ODD : i % 2;
        x.val[i] = 1;
        x.start[i + 1] = i + 1;
        start[i] = odd ? GF_NO_CLUSTER : i % 2;
    }
    spilled s = spill(x);
    for (uint32_t k = 2; k <= 7; k++) {
        gf_kmeans r = run(NULL, &s, (gf_kmeans_options){.k = k, .start = start, .start_k = 2}, 500);
        check_result(&s.x, &r);
        assert_int_equal(r.distinct, 5);
        assert_int_equal(r.k, k < 5 ? k : 5);
        gf_kmeans_release(&r);
    }
    release(&s);
}

/* One row, two, and some that are equal; with more clusters wanted than there can be. */
static void the_fewest_rows(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (uint32_t n = 1; n <= 4; n++)
        for (uint32_t distinct = 1; distinct <= n; distinct++)
            for (uint32_t k = 0; k <= 6; k++) {
                gf_csr x = rows_random(distinct, 50, 5, &random);
                uint32_t from[4], start[4] = {0, 0, GF_NO_CLUSTER, 0};
                for (uint32_t i = 0; i < n; i++)
                    from[i] = i % distinct;
                spilled s = spill(rows_pick(&x, from, n));
                gf_kmeans_options o = {.k = k};
                gf_kmeans r = run(NULL, &s, o, 1);
                check_result(&s.x, &r);
                gf_kmeans_release(&r);
                if (k) {
                    o.start = start;
                    o.start_k = 1;
                    r = run(NULL, &s, o, 1);
                    check_result(&s.x, &r);
                    assert_true(r.k <= k);
                    gf_kmeans_release(&r);
                }
                release(&s);
                gf_csr_release(&x);
            }
}

/* ---- failures -------------------------------------------------------------------------------- */

static void says_no(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(1, 0);
    gf_kmeans r = {.n = 7};
    spilled s = spill(rows_random(500, 50, 6, &random));
    gf_row_file none = s.file, cut = s.file;
    none.n_rows = 0;
    cut.entries += 5000;
    gf_minibatch_options o = {{.k = 5}, 100};
    assert_status(GF_EINVAL, gf_minibatch_run(NULL, &none, &o, &r, &err));
    assert_status(GF_EIO, gf_minibatch_run(NULL, &cut, &o, &r, &err));
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    o.kmeans.cancel = &cancel;
    assert_status(GF_ECANCELLED, gf_minibatch_run(NULL, &s.file, &o, &r, &err));
    assert_int_equal(r.n, 7);
    release(&s);
}

static gf_status sweep(void *context, gf_error *err)
{
    static uint32_t start[300];
    const spilled *s = context;
    gf_kmeans r = {0};
    gf_minibatch_options o = {{.k = 3, .seed = 1}, 60};
    for (uint32_t i = 0; i < 300; i++)
        start[i] = i % 2;
    gf_status st = gf_minibatch_run(NULL, &s->file, &o, &r, err);
    gf_kmeans_release(&r);
    o.kmeans.start = start;
    o.kmeans.start_k = 2;
    if (st == GF_OK) st = gf_minibatch_run(NULL, &s->file, &o, &r, err);
    gf_kmeans_release(&r);
    return st;
}

static void a_failed_allocation_is_told(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(1, 0);
    spilled s = spill(rows_random(300, 40, 6, &random));
    gf_test_sweep(sweep, NULL, &s);
    release(&s);
}

/* ---- very many clusters ---------------------------------------------------------------------- */

/* Each row has the place that it finds alone, whatever the number of threads. */
static void very_many_clusters(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 9);
    spilled s = spill(rows_random(22000, 9000, 12, &random));
    const gf_kmeans_options o = {.k = GF_BRANCHES_ABOVE + 1500, .seed = 2};
    gf_pool *pool = rows_pool(3);
    gf_kmeans r = run(pool, &s, o, 15000), alone = run(NULL, &s, o, 15000);
    gf_nearest_centres l;
    assert_true(r.k > o.k / 2 && r.k <= o.k);
    assert_int_equal(r.k, alone.k);
    assert_memory_equal(r.label, alone.label, r.n * sizeof *r.label);
    assert_memory_equal(r.score, alone.score, r.n * sizeof *r.score);
    rows_assert_same_centres(&r.centres, &alone.centres);
    uint32_t kept = 0;
    assert_ok(gf_nearest_centres_init(&l, &r.centres, NULL, &err));
    for (uint32_t i = 0; i < r.n; i++) {
        gf_nearest_two two = gf_nearest_centres_find(&l, 0, gf_csr_row(&s.x, i));
        if (r.score[i] == r.second[i] && two.cluster == r.runner_up[i]) { /* its cluster kept it */
            kept++;
            continue;
        }
        if (two.similarity > two.of_second) assert_int_equal(two.cluster, r.label[i]);
        assert_true((float)two.of_second == r.second[i]); /* of several equally similar ones any */
    }
    assert_true(kept < r.n / 10);
    gf_nearest_centres_release(&l);
    gf_kmeans_release(&alone);
    gf_kmeans_release(&r);
    gf_pool_free(pool);
    release(&s);
}

/* Sums keep their strongest terms, and a row still has its weight in them. */
static void sums_keep_their_strongest_terms(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 10);
    spilled s = spill(rows_random(600, 200, 12, &random));
    uint32_t *label = gf_calloc(s.x.n_rows, sizeof *label);
    gf_row_stream stream = {.rows = &s.file, .window = 100, .most_terms = 20};
    gf_centres all, few;
    assert_ok(gf_row_stream_sum(&stream, label, 1, &few, &err));
    stream.most_terms = 0;
    assert_ok(gf_row_stream_sum(&stream, label, 1, &all, &err));
    assert_int_equal(few.at[0].n, 20);
    assert_true(all.at[0].n > 100);
    assert_near(few.at[0].weight, 600, 0);
    double squares = 0;
    for (uint32_t p = 0; p < 20; p++)
        squares += (double)few.at[0].value[p] * (double)few.at[0].value[p];
    assert_near(squares, 1, 1e-5);
    /* The most frequent term weighs as much as in the whole sum. */
    assert_int_equal(few.at[0].term[0], all.at[0].term[0]);
    double of_few = few.at[0].length * (double)few.at[0].value[0];
    double of_all = all.at[0].length * (double)all.at[0].value[0];
    assert_near(of_few, of_all, 1e-4 * of_all);
    gf_centres_release(&all);
    gf_centres_release(&few);
    gf_free(label);
    release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(streams_like_a_matrix),
                                       cmocka_unit_test(counts_distinct_rows),
                                       cmocka_unit_test(finds_planted_groups),
                                       cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(equal_rows_share_a_cluster),
                                       cmocka_unit_test(goes_on_from_a_start),
                                       cmocka_unit_test(begins_with_different_rows),
                                       cmocka_unit_test(the_fewest_rows),
                                       cmocka_unit_test(says_no),
                                       cmocka_unit_test(a_failed_allocation_is_told),
                                       cmocka_unit_test(very_many_clusters),
                                       cmocka_unit_test(sums_keep_their_strongest_terms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
