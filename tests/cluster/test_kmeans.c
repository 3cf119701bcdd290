#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/kmeans.h"
#include "cluster/measure/match.h"
#include "cluster/measure/quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static gf_kmeans run(gf_pool *pool, const gf_csr *x, gf_kmeans_options o)
{
    gf_error err;
    gf_kmeans r;
    assert_ok(gf_kmeans_run(pool, x, &o, &r, &err));
    return r;
}

/* ---- the independent checker ----------------------------------------------------------------- */

/* The label and the runner-up of a row are its two most similar centres, by all dot products. */
static void check_row(const gf_csr *x, const gf_kmeans *r, uint32_t i)
{
    gf_row_view row = gf_csr_row(x, i);
    uint32_t label = r->label[i], second = r->runner_up[i];
    if (row.n == 0) {
        assert_int_equal(label, 0);
        assert_int_equal(second, r->k > 1 ? 1 : GF_NO_CLUSTER);
        assert_true(r->score[i] == 0 && r->second[i] == 0);
        return;
    }
    assert_true(label < r->k);
    assert_true(r->k > 1 ? second < r->k && second != label : second == GF_NO_CLUSTER);
    for (uint32_t j = 0; j < r->k; j++) {
        gf_row_view centre = gf_centre_row(&r->centres.at[j]);
        double dot = gf_csr_row_dot(row, centre), bound = rows_bound(row, centre) + 1e-7;
        if (j == label)
            assert_near(r->score[i], dot, bound);
        else if (j == second)
            assert_near(r->second[i], dot, bound);
        else
            assert_true(dot <= (double)r->second[i] + bound);
    }
    assert_true(r->score[i] >= r->second[i]);
    assert_true(r->score[i] <= 1 && r->second[i] >= 0);
}

static void check_result(const gf_csr *x, const gf_kmeans *r)
{
    double objective = 0;
    uint32_t *size = gf_calloc(r->k, sizeof *size);
    assert_non_null(size);
    assert_int_equal(r->n, x->n_rows);
    assert_int_equal(r->centres.k, r->k);
    for (uint32_t i = 0; i < r->n; i++) {
        check_row(x, r, i);
        objective += (double)r->score[i];
        size[r->label[i]] += gf_csr_row(x, i).n > 0;
    }
    assert_near(r->objective, objective, 1e-9 * r->n);
    for (uint32_t j = 0; j < r->k; j++) {
        gf_row_view centre = gf_centre_row(&r->centres.at[j]);
        assert_true(size[j] > 0);
        if (j) assert_true(size[j] <= size[j - 1]);
        assert_near(gf_csr_row_dot(centre, centre), 1, 1e-5);
        for (uint32_t p = 0; p < centre.n; p++)
            assert_true(centre.col[p] < x->n_cols && (p == 0 || centre.col[p] > centre.col[p - 1]));
    }
    gf_free(size);
}

static void assert_same_result(const gf_kmeans *a, const gf_kmeans *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->k, b->k);
    assert_memory_equal(a->label, b->label, a->n * sizeof *a->label);
    assert_memory_equal(a->score, b->score, a->n * sizeof *a->score);
    assert_memory_equal(a->runner_up, b->runner_up, a->n * sizeof *a->runner_up);
    assert_memory_equal(a->second, b->second, a->n * sizeof *a->second);
    assert_memory_equal(&a->objective, &b->objective, sizeof a->objective);
    rows_assert_same_centres(&a->centres, &b->centres);
    assert_int_equal(a->choice.n_steps, b->choice.n_steps);
    for (uint32_t i = 0; i < a->choice.n_steps; i++) {
        assert_int_equal(a->choice.steps[i].k, b->choice.steps[i].k);
        assert_near(a->choice.steps[i].separation, b->choice.steps[i].separation, 0);
    }
    assert_true(a->passes == b->passes && a->rounds == b->rounds && a->restarts == b->restarts);
}

/* ---- examples -------------------------------------------------------------------------------- */

/*
 * Rows at 0, 10 and 20 degrees of one plane, at 30 and 40 of another. The centres of the best two
 * clusters are the middle rows: sums of length 1 + 2 cos 10 and 2 cos 5.
 */
static void clusters_five_rows(void **state)
{
    (void)state;
    double degree = acos(-1) / 180;
    float v[5][4] = {{0}};
    for (int i = 0; i < 5; i++) {
        v[i][i < 3 ? 0 : 2] = (float)cos(10 * i * degree);
        v[i][i < 3 ? 1 : 3] = (float)sin(10 * i * degree);
    }
    gf_csr x = rows_by_hand(&v[0][0], 5, 4);
    gf_kmeans r = run(NULL, &x, (gf_kmeans_options){.k = 2});
    const uint32_t label[] = {0, 0, 0, 1, 1}, runner_up[] = {1, 1, 1, 0, 0};
    assert_int_equal(r.k, 2);
    assert_memory_equal(r.label, label, sizeof label);
    assert_memory_equal(r.runner_up, runner_up, sizeof runner_up);
    assert_near(r.objective, 1 + 2 * cos(10 * degree) + 2 * cos(5 * degree), 1e-5);
    assert_near(r.score[1], 1, 1e-6);
    assert_near(r.score[4], cos(5 * degree), 1e-6);
    assert_near(r.centres.at[0].length, 1 + 2 * cos(10 * degree), 1e-5);
    assert_near(r.centres.at[0].weight, 3, 0);
    assert_int_equal(r.distinct, 5);
    assert_true(r.converged);
    assert_null(r.choice.steps);
    check_result(&x, &r);
    gf_kmeans_release(&r);
    assert_null(r.label);
    gf_kmeans_release(&r);
    gf_csr_release(&x);
}

/* How a table of rows, numbered by the distinct ones of it, is clustered at k and below. */
static void check_small(const float *values, uint32_t n, uint32_t n_cols, uint32_t distinct)
{
    gf_csr x = rows_by_hand(values, n, n_cols);
    for (uint32_t k = 0; k <= distinct + 2; k++) {
        gf_kmeans r = run(NULL, &x, (gf_kmeans_options){.k = k, .seed = k});
        assert_int_equal(r.distinct, distinct);
        if (k) assert_int_equal(r.k, k < distinct ? k : distinct);
        if (k >= distinct) assert_near(r.objective, n, 1e-5);
        check_result(&x, &r);
        gf_kmeans_release(&r);
    }
    gf_csr_release(&x);
}

static void few_rows_give_few_clusters(void **state)
{
    (void)state;
    const float one[] = {3, 4}, two[] = {1, 0, 0, 1}, near[] = {1, 1, 1, 1.2f};
    const float same[] = {1, 2, 1, 2, 1, 2, 1, 2}, pairs[] = {1, 0, 0, 1, 1, 0, 0, 1, 1, 0};
    const float apart[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    check_small(one, 1, 2, 1);
    check_small(two, 2, 2, 2);
    check_small(near, 2, 2, 2);
    check_small(same, 4, 2, 1);
    check_small(pairs, 5, 2, 2);
    check_small(apart, 4, 4, 4);
}

static void empty_rows_take_no_part(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_random(60, 40, 6, &random), y = rows_with_empty(&x, 100);
    gf_kmeans a = run(NULL, &x, (gf_kmeans_options){.k = 4});
    gf_kmeans b = run(NULL, &y, (gf_kmeans_options){.k = 4});
    check_result(&y, &b);
    assert_int_equal(b.n, 160);
    assert_memory_equal(a.label, b.label, 60 * sizeof *a.label);
    assert_near(a.objective, b.objective, 0);
    gf_kmeans_release(&a);
    gf_kmeans_release(&b);
    gf_csr_release(&x);
    gf_csr_release(&y);
}

/* ---- properties ------------------------------------------------------------------------------ */

static void labels_are_the_most_similar_centres(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    for (int i = 0; i < 12; i++) {
        uint32_t n = 1 + (uint32_t)gf_random_below(&random, 400);
        gf_csr x = rows_random(n, 5 + (uint32_t)gf_random_below(&random, 200), 12, &random);
        gf_kmeans_options o = {.k = 1 + (uint32_t)gf_random_below(&random, 70),
                               .seed = gf_random_u64(&random),
                               .restarts = 1 + (unsigned)gf_random_below(&random, 2),
                               .max_rounds = i % 3 == 0 ? GF_NO_POLISH : 0};
        gf_kmeans r = run(NULL, &x, o);
        assert_true(r.k <= o.k && r.k <= r.distinct && r.restarts == o.restarts);
        if (i % 3 == 0) assert_int_equal(r.rounds, 0);
        check_result(&x, &r);
        gf_kmeans_release(&r);
        gf_csr_release(&x);
    }
}

/* Beyond 1,000 clusters seeds are drawn by k-means++, and postings are used beside dense rows. */
static void many_clusters(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    gf_csr x = rows_random(2500, 600, 8, &random);
    gf_kmeans r = run(NULL, &x, (gf_kmeans_options){.k = 1100, .restarts = 1, .max_passes = 5});
    assert_true(r.k > 1000 && r.k <= 1100);
    check_result(&x, &r);
    gf_kmeans_release(&r);
    gf_csr_release(&x);
}

static double agreement(const gf_kmeans *r, const uint32_t *group)
{
    gf_error err;
    gf_quality q;
    assert_ok(gf_quality_compare(r->label, group, r->n, &q, &err));
    double ari = q.ari;
    gf_quality_release(&q);
    return ari;
}

static void finds_planted_groups(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    static uint32_t group[1500];
    static const uint32_t groups[] = {2, 3, 7, 20};
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        gf_csr x = rows_planted(1500, groups[g], 3, &random, group);
        gf_kmeans r = run(NULL, &x, (gf_kmeans_options){.k = groups[g]});
        assert_int_equal(r.k, groups[g]);
        assert_near(agreement(&r, group), 1, 0);
        assert_true(r.converged);
        check_result(&x, &r);
        gf_kmeans_release(&r);
        gf_csr_release(&x);
    }
}

/* ---- from clusters that there were ----------------------------------------------------------- */

static gf_kmeans run_from(const gf_csr *x, const uint32_t *start, uint32_t start_k, uint32_t k)
{
    return run(NULL, x, (gf_kmeans_options){.k = k, .start = start, .start_k = start_k, .seed = 9});
}

/* 1500 rows of which the last 75 are new: nearly all old ones stay together. */
static void goes_on_from_clusters_that_there_were(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 11);
    static uint32_t group[1500], start[1500], now[1500];
    gf_csr x = rows_planted(1500, 12, 6, &random, group);
    gf_kmeans first = run(NULL, &x, (gf_kmeans_options){.k = 20, .seed = 4});
    memcpy(start, first.label, sizeof start);
    for (uint32_t i = 1425; i < 1500; i++)
        start[i] = GF_NO_CLUSTER;
    gf_kmeans r = run_from(&x, start, 20, 20);
    check_result(&x, &r);
    assert_int_equal(r.k, 20);
    gf_overlaps o;
    uint32_t match[20], kept = 0;
    assert_ok(gf_match_overlaps_count(start, r.label, 1500, 20, 20, &o, &err));
    assert_ok(gf_match_clusters(&o, 0.3, match, &err));
    for (uint32_t i = 0; i < 1425; i++)
        kept += match[r.label[i]] == start[i];
    assert_true(kept > 1425 * 95 / 100);
    gf_match_overlaps_release(&o);

    /* From where it ended, nothing moves: the same clusters, whatever their numbers. */
    gf_kmeans again = run(
        NULL, &x, (gf_kmeans_options){.k = 20, .start = r.label, .start_k = 20, .tolerance = 1e-9});
    memcpy(now, r.label, sizeof now);
    assert_true(again.objective >= r.objective * 0.999999);
    assert_true(agreement(&again, now) > 0.98);
    gf_kmeans_release(&again);
    gf_kmeans_release(&r);
    gf_kmeans_release(&first);
    gf_csr_release(&x);
}

/* More clusters than there were begin with what fits worst; of too many the heaviest go on. */
static void the_number_of_clusters_may_change(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 12);
    static uint32_t group[900], start[900];
    gf_csr x = rows_planted(900, 6, 2, &random, group);
    for (uint32_t i = 0; i < 900; i++)
        start[i] = group[i] < 4 ? group[i] : GF_NO_CLUSTER; /* two groups are new */
    gf_kmeans r = run_from(&x, start, 4, 6);
    assert_int_equal(r.k, 6);
    check_result(&x, &r);
    assert_true(agreement(&r, group) > 0.6); /* 1, or two groups still share a cluster */
    gf_kmeans_release(&r);
    r = run_from(&x, group, 6, 3);
    assert_int_equal(r.k, 3);
    check_result(&x, &r);
    gf_kmeans_release(&r);
    gf_csr_release(&x);
}

/* From 100,000 rows on the first passes look at a part of them. */
static void finds_planted_groups_of_many_rows(void **state)
{
    (void)state;
    enum { N = 100000 };
    gf_random random = gf_random_seed(gf_test_seed(), 4);
    uint32_t *group = gf_array(N, sizeof *group);
    gf_csr x = rows_planted(N, 6, 2, &random, group);
    gf_pool *pool = rows_pool(2);
    gf_kmeans r = run(pool, &x, (gf_kmeans_options){.k = 6});
    assert_near(agreement(&r, group), 1, 0);
    double work = (double)gf_csr_nnz(&x) * GF_COLUMN_BLOCK * 12; /* of a run, see kmeans.c */
    assert_int_equal(r.restarts, work * 8 <= 2e9 ? 8 : (unsigned)(2e9 / work));
    check_result(&x, &r);
    gf_kmeans_release(&r);
    gf_pool_free(pool);
    gf_csr_release(&x);
    gf_free(group);
}

/* Every document twice is every document with twice the weight: all sums double exactly. */
static void equal_rows_share_a_cluster(void **state)
{
    (void)state;
    enum { N = 300 };
    gf_random random = gf_random_seed(gf_test_seed(), 5);
    gf_csr x = rows_random(N, 120, 8, &random);
    uint32_t twice[2 * N], first[N];
    for (uint32_t i = 0; i < N; i++)
        twice[i] = twice[N + i] = first[i] = i;
    gf_csr y = rows_pick(&x, twice, 2 * N);
    gf_kmeans a = run(NULL, &x, (gf_kmeans_options){.k = 9});
    gf_kmeans b = run(NULL, &y, (gf_kmeans_options){.k = 9});
    assert_int_equal(a.distinct, b.distinct);
    assert_int_equal(a.k, b.k);
    assert_memory_equal(a.label, b.label, sizeof first);
    assert_memory_equal(a.label, b.label + N, sizeof first);
    assert_memory_equal(a.score, b.score + N, sizeof first);
    assert_near(2 * a.objective, b.objective, 1e-9);
    check_result(&y, &b);
    gf_kmeans_release(&a);
    gf_kmeans_release(&b);
    gf_csr_release(&x);
    gf_csr_release(&y);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const unsigned threads[] = {2, 3, 5};
    gf_random random = gf_random_seed(gf_test_seed(), 6);
    gf_csr x = rows_random(3000, 300, 10, &random);
    for (uint32_t k = 0; k <= 48; k += 24) {
        gf_kmeans_options o = {.k = k, .seed = 7, .max_k = 12, .restarts = 1};
        gf_kmeans alone = run(NULL, &x, o);
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
            gf_pool *pool = rows_pool(threads[t]);
            gf_kmeans r = run(pool, &x, o);
            assert_same_result(&alone, &r);
            gf_kmeans_release(&r);
            gf_pool_free(pool);
        }
        gf_kmeans_release(&alone);
    }
    gf_csr_release(&x);
}

static void more_restarts_are_never_worse(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 7);
    gf_csr x = rows_random(250, 150, 6, &random);
    double best = 0;
    for (unsigned restarts = 1; restarts <= 6; restarts++) {
        gf_kmeans r = run(NULL, &x, (gf_kmeans_options){.k = 12, .restarts = restarts});
        assert_true(gf_centres_objective(&r.centres) >= best);
        best = gf_centres_objective(&r.centres);
        gf_kmeans_release(&r);
    }
    gf_csr_release(&x);
}

static void max_k_bounds_the_choice(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 8);
    static uint32_t group[600];
    gf_csr x = rows_planted(600, 8, 2, &random, group);
    gf_kmeans r = run(NULL, &x, (gf_kmeans_options){.max_k = 5});
    assert_true(r.k <= 5 && r.choice.n_steps > 0);
    assert_int_equal(r.choice.steps[r.choice.n_steps - 1].k, 5);
    check_result(&x, &r);
    gf_kmeans_release(&r);
    r = run(NULL, &x, (gf_kmeans_options){0});
    assert_int_equal(r.k, 8);
    /* The choice alone is the same, whatever k is. */
    gf_choice alone;
    gf_error err;
    assert_ok(gf_kmeans_choose(NULL, &x, &(gf_kmeans_options){.k = 3}, &alone, &err));
    assert_int_equal(alone.k, 8);
    assert_int_equal(alone.n_steps, r.choice.n_steps);
    for (uint32_t i = 0; i < alone.n_steps; i++)
        assert_near(alone.steps[i].separation, r.choice.steps[i].separation, 0);
    gf_free(alone.steps);
    assert_near(agreement(&r, group), 1, 0);
    gf_kmeans_release(&r);
    gf_csr_release(&x);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static gf_kmeans untouched, result;

static void is_untouched(void *context)
{
    (void)context;
    assert_memory_equal(&result, &untouched, sizeof untouched);
}

static void fill_untouched(void)
{
    memset(&untouched, 0x55, sizeof untouched);
    memcpy(&result, &untouched, sizeof result);
}

static void check_refused(const gf_csr *x, const char *message)
{
    gf_error err;
    gf_kmeans_options o = {.k = 2};
    assert_status(GF_EINVAL, gf_kmeans_run(NULL, x, &o, &result, &err));
    if (!strstr(err.message, message)) fail_msg("%s", err.message);
    is_untouched(NULL);
}

static void unsound_rows_are_refused(void **state)
{
    (void)state;
    fill_untouched();
    const float values[] = {1, 2, 0, 0, 3, 4};
    gf_csr x = rows_by_hand(values, 2, 3), none = rows_by_hand(values, 0, 3);
    gf_csr empty = rows_with_empty(&none, 5);
    check_refused(&none, "no rows to cluster");
    check_refused(&empty, "no rows to cluster");
    float held = x.val[3];
    x.val[3] = 0.9f;
    check_refused(&x, "row 1 has the squared length");
    x.val[3] = NAN;
    check_refused(&x, "row 1");
    x.val[3] = held;
    x.col[3] = 3;
    check_refused(&x, "row 1");
    x.col[3] = 1;
    check_refused(&x, "row 1");
    gf_csr_release(&x);
    gf_csr_release(&none);
    gf_csr_release(&empty);
}

/* Requests a stop at the n-th report of progress. */
typedef struct stopper {
    gf_cancel cancel;
    int reports, stop_at;
} stopper;

static void stop(void *context, const char *phase, uint64_t done, uint64_t total)
{
    stopper *s = context;
    assert_true(phase && done <= total);
    if (++s->reports == s->stop_at) gf_cancel_request(&s->cancel);
}

static void stops_on_request(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(1, 0);
    gf_csr x = rows_random(400, 60, 6, &random);
    stopper s = {.stop_at = -1};
    gf_kmeans_options o = {
        .max_k = 6, .restarts = 3, .cancel = &s.cancel, .progress = stop, .progress_context = &s};
    fill_untouched();
    assert_status(GF_OK, gf_kmeans_run(NULL, &x, &o, &result, NULL));
    gf_kmeans_release(&result);
    assert_int_equal(s.reports, 4);
    for (int at = 1; at <= 4; at++) {
        s = (stopper){.stop_at = at};
        fill_untouched();
        assert_status(GF_ECANCELLED, gf_kmeans_run(NULL, &x, &o, &result, NULL));
        assert_int_equal(s.reports, at);
        is_untouched(NULL);
    }
    gf_csr_release(&x);
}

typedef struct sweep {
    gf_csr x;
    gf_kmeans_options options;
} sweep;

static gf_status run_swept(void *context, gf_error *err)
{
    sweep *s = context;
    gf_status st = gf_kmeans_run(NULL, &s->x, &s->options, &result, err);
    if (st == GF_OK) gf_kmeans_release(&result);
    return st;
}

static void a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(2, 0);
    gf_csr few = rows_random(20, 12, 4, &random);
    uint32_t from[24];
    for (uint32_t i = 0; i < 24; i++)
        from[i] = i % 20;
    sweep s = {.x = rows_pick(&few, from, 24), .options = {.k = 4, .restarts = 2}};
    fill_untouched();
    gf_test_sweep(run_swept, is_untouched, &s);
    s.options = (gf_kmeans_options){.max_k = 3, .restarts = 1};
    fill_untouched();
    gf_test_sweep(run_swept, is_untouched, &s);
    gf_csr_release(&few);
    gf_csr_release(&s.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_five_rows),
        cmocka_unit_test(few_rows_give_few_clusters),
        cmocka_unit_test(empty_rows_take_no_part),
        cmocka_unit_test(labels_are_the_most_similar_centres),
        cmocka_unit_test(many_clusters),
        cmocka_unit_test(finds_planted_groups),
        cmocka_unit_test(finds_planted_groups_of_many_rows),
        cmocka_unit_test(goes_on_from_clusters_that_there_were),
        cmocka_unit_test(the_number_of_clusters_may_change),
        cmocka_unit_test(equal_rows_share_a_cluster),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(more_restarts_are_never_worse),
        cmocka_unit_test(max_k_bounds_the_choice),
        cmocka_unit_test(unsound_rows_are_refused),
        cmocka_unit_test(stops_on_request),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests_name("kmeans", tests, NULL, NULL);
}
