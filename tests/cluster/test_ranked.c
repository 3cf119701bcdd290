#include "cluster/rows.h"
#include "support/ranks.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/mixture/refinement.h"
#include "cluster/ranks/ranked.h"
#include "cluster/ranks/ranked_sums.h"
#include "cluster/stream/minibatch.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 5 };

/* ---- rows at several ranks -------------------------------------------------------------------- */

/* A clustering whose rows are parted: rank r has rows cut[r] .. cut[r + 1] - 1. */
typedef struct parted {
    const gf_csr *x;
    const uint32_t *start;
    uint32_t cut[MOST_RANKS + 1];
    gf_ranked_options options;
    unsigned threads;
    gf_kmeans made[MOST_RANKS];
    uint64_t sent[MOST_RANKS];
} parted;

/* Rows from .. to - 1 as a matrix that borrows columns and values; free its start. */
static gf_csr part_of(const gf_csr *x, uint32_t from, uint32_t to)
{
    gf_csr part = {to - from, x->n_cols, malloc(((size_t)(to - from) + 1) * sizeof *part.start),
                   x->col + x->start[from], x->val + x->start[from]};
    assert_non_null(part.start);
    for (uint32_t i = from; i <= to; i++)
        part.start[i - from] = x->start[i] - x->start[from];
    return part;
}

/* The sweep of these tests: every third row goes one cluster on. */
static gf_status move_some(void *context, uint32_t n, uint32_t k, uint32_t *label, gf_error *err)
{
    (void)err;
    const parted *p = context;
    assert_int_equal(n, p->x->n_rows);
    for (uint32_t i = 0; i < n; i += 3)
        label[i] = (label[i] + 1) % k;
    return GF_OK;
}

static gf_status run_rank(gf_ranks *ranks, void *context, gf_error *err)
{
    parted *p = context;
    unsigned me = gf_ranks_me(ranks);
    gf_csr part = part_of(p->x, p->cut[me], p->cut[me + 1]);
    const gf_ranked_rows rows = {&part, p->start ? p->start + p->cut[me] : NULL};
    gf_ranked_options o = p->options;
    gf_pool *pool = NULL;
    if (o.sweeps && me == 0) {
        o.sweep = move_some;
        o.sweep_context = p;
    }
    gf_status st = p->threads > 1 ? gf_pool_create(p->threads, &pool, err) : GF_OK;
    if (st == GF_OK) st = gf_ranked_run(ranks, pool, &rows, &o, &p->made[me], err);
    if (ranks) p->sent[me] = ranks->sent;
    gf_pool_free(pool);
    free(part.start);
    return st;
}

/* All parts of a result as one, which takes their place. */
static gf_kmeans join(parted *p, unsigned n)
{
    gf_kmeans all = p->made[0];
    uint32_t rows = p->x->n_rows;
    all.n = rows;
    all.label = gf_array(rows, sizeof *all.label);
    all.score = gf_array(rows, sizeof *all.score);
    all.runner_up = gf_array(rows, sizeof *all.runner_up);
    all.second = gf_array(rows, sizeof *all.second);
    p->made[0].centres = (gf_centres){0};
    p->made[0].choice.steps = NULL;
    for (unsigned r = 0; r < n; r++) {
        const gf_kmeans *m = &p->made[r];
        uint32_t at = p->cut[r];
        assert_int_equal(m->n, p->cut[r + 1] - at);
        assert_int_equal(m->k, all.k);
        assert_true(m->objective == all.objective);
        if (r > 0) rows_assert_same_centres(&m->centres, &all.centres);
        if (m->n == 0) continue;
        memcpy(all.label + at, m->label, m->n * sizeof *m->label);
        memcpy(all.score + at, m->score, m->n * sizeof *m->score);
        memcpy(all.runner_up + at, m->runner_up, m->n * sizeof *m->runner_up);
        memcpy(all.second + at, m->second, m->n * sizeof *m->second);
    }
    for (unsigned r = 0; r < n; r++)
        gf_kmeans_release(&p->made[r]);
    return all;
}

/* By n ranks, whose parts are cut anywhere; 0: by none. */
static gf_kmeans run(parted *p, unsigned n, gf_random *random)
{
    gf_error err;
    unsigned ranks = n ? n : 1;
    p->cut[0] = 0;
    for (unsigned r = 1; r < ranks; r++) {
        uint32_t left = p->x->n_rows - p->cut[r - 1];
        p->cut[r] = p->cut[r - 1] + (uint32_t)gf_random_below(random, left / 2 + 1);
    }
    p->cut[ranks] = p->x->n_rows;
    if (n)
        assert_ok(gf_test_ranks_run(n, run_rank, p, &err));
    else
        assert_ok(run_rank(NULL, p, &err));
    return join(p, ranks);
}

static void assert_same(const gf_kmeans *a, const gf_kmeans *b)
{
    assert_int_equal(a->k, b->k);
    assert_int_equal(a->distinct, b->distinct);
    assert_int_equal(a->passes, b->passes);
    assert_true(a->converged == b->converged && a->objective == b->objective);
    assert_memory_equal(a->label, b->label, a->n * sizeof *a->label);
    assert_memory_equal(a->score, b->score, a->n * sizeof *a->score);
    assert_memory_equal(a->runner_up, b->runner_up, a->n * sizeof *a->runner_up);
    assert_memory_equal(a->second, b->second, a->n * sizeof *a->second);
    rows_assert_same_centres(&a->centres, &b->centres);
    for (uint32_t j = 0; j < a->k; j++)
        assert_true(a->centres.at[j].length == b->centres.at[j].length &&
                    a->centres.at[j].weight == b->centres.at[j].weight);
    assert_int_equal(a->choice.n_steps, b->choice.n_steps);
}

/* Planted rows, of which some are there several times. */
static gf_csr rows_with_twins(uint32_t n, uint32_t groups, gf_random *random)
{
    uint32_t *group = gf_array(n, sizeof *group), *from = gf_array(n, sizeof *from);
    gf_csr x = rows_planted(n, groups, 4, random, group);
    for (uint32_t i = 0; i < n; i++)
        from[i] = gf_random_below(random, 5) ? i : (uint32_t)gf_random_below(random, n);
    gf_csr picked = rows_pick(&x, from, n);
    gf_csr_release(&x);
    gf_free(group);
    gf_free(from);
    return picked;
}

/* The result is the same bytes whoever has the rows, and with 1 or 2 threads. */
static void check_same(const gf_csr *x, const uint32_t *start, const gf_ranked_options *o,
                       gf_random *random)
{
    parted p = {.x = x, .start = start, .options = *o, .threads = 1};
    gf_kmeans alone = run(&p, 0, random);
    static const unsigned ranks[] = {1, 2, 3, 5};
    for (size_t i = 0; i < 4; i++) {
        for (p.threads = 1; p.threads <= 2; p.threads++) {
            gf_kmeans r = run(&p, ranks[i], random);
            assert_same(&alone, &r);
            gf_kmeans_release(&r);
        }
    }
    gf_kmeans_release(&alone);
}

static void same_bytes_for_any_number(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_with_twins(3000, 20, &random);
    gf_ranked_options o = {.kmeans = {.k = 25, .seed = 7, .tolerance = 1e-9}, .sample = 700};
    check_same(&x, NULL, &o, &random);
    o.kmeans.k = 40; /* terms with postings, not only dense ones */
    check_same(&x, NULL, &o, &random);
    o.kmeans.k = 0;
    check_same(&x, NULL, &o, &random);
    o.kmeans.quick = true;
    o.sample = 100000; /* all */
    check_same(&x, NULL, &o, &random);
    gf_csr_release(&x);
}

static void same_bytes_from_a_start(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_with_twins(2000, 12, &random);
    uint32_t *start = gf_array(x.n_rows, sizeof *start);
    for (uint32_t i = 0; i < x.n_rows; i++)
        start[i] =
            gf_random_below(&random, 9) ? (uint32_t)gf_random_below(&random, 12) : GF_NO_CLUSTER;
    gf_ranked_options o = {.kmeans = {.k = 12, .start_k = 12}, .sample = 500};
    check_same(&x, start, &o, &random);
    o.kmeans.k = 9; /* the heaviest */
    check_same(&x, start, &o, &random);
    o.kmeans.k = 14; /* seeds anew */
    check_same(&x, start, &o, &random);
    o.kmeans.k = 12;
    o.sweeps = true;
    check_same(&x, start, &o, &random);
    o.kmeans.start_refined = true; /* no passes */
    check_same(&x, start, &o, &random);
    o.kmeans.settled = true; /* no sweeps */
    check_same(&x, start, &o, &random);
    gf_free(start);
    gf_csr_release(&x);
}

static void same_bytes_of_few_rows(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (uint32_t n = 1; n <= 7; n++) {
        gf_csr x = rows_random(n, 30, 5, &random);
        gf_ranked_options o = {.kmeans = {.k = 3}, .sample = 2};
        check_same(&x, NULL, &o, &random);
        gf_csr_release(&x);
    }
}

/* ---- what comes out --------------------------------------------------------------------------- */

static void labels_are_the_nearest(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_with_twins(1500, 10, &random);
    parted p = {.x = &x, .options = {.kmeans = {.k = 11}, .sample = 300}, .threads = 2};
    gf_kmeans r = run(&p, 3, &random);
    double objective = 0, length = 0;
    for (uint32_t i = 0; i < r.n; i++) {
        gf_row_view row = gf_csr_row(&x, i);
        objective += (double)r.score[i];
        for (uint32_t j = 0; j < r.k; j++) {
            double dot = gf_csr_row_dot(row, gf_centre_row(&r.centres.at[j]));
            if (j == r.label[i])
                assert_near(r.score[i], dot, 1e-6);
            else if (j == r.runner_up[i])
                assert_near(r.second[i], dot, 1e-6);
            else
                assert_true(dot <= (double)r.second[i] + 1e-6);
        }
    }
    assert_near(objective, r.objective, 1e-3);
    for (uint32_t j = 0; j < r.k; j++)
        length += r.centres.at[j].length;
    assert_true(r.objective >= length * (1 - 1e-6)); /* rows only went to nearer centres */
    gf_kmeans_release(&r);
    gf_csr_release(&x);
}

/* As good as mini-batches of rows in a file, and hardly behind k-means of all rows. */
static void clusters_are_as_good(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_with_twins(8000, 30, &random);
    gf_spill *file;
    gf_kmeans batches, whole;
    uint64_t entries = gf_csr_nnz(&x);
    parted p = {.x = &x, .options = {.kmeans = {.k = 30, .seed = 3}, .sample = 1000}, .threads = 1};
    gf_kmeans r = run(&p, 2, &random);
    assert_ok(gf_spill_create(gf_test_folder(), &file, &err));
    assert_ok(gf_row_file_write(file, entries, 0, entries, x.col, x.val, &err));
    const gf_row_file rows = {x.n_rows, x.n_cols, x.start, entries, file};
    const gf_minibatch_options o = {p.options.kmeans, p.options.sample};
    assert_ok(gf_minibatch_run(NULL, &rows, &o, &batches, &err));
    assert_ok(gf_kmeans_run(NULL, &x, &p.options.kmeans, &whole, &err));
    assert_true(r.objective >= .999 * batches.objective);
    assert_true(r.objective >= .98 * whole.objective);
    gf_kmeans_release(&r);
    gf_kmeans_release(&batches);
    gf_kmeans_release(&whole);
    gf_spill_free(file);
    gf_csr_release(&x);
}

static void too_many_clusters_are_refused(void **state)
{
    (void)state;
    gf_error err;
    gf_csr none = {.n_cols = 3, .start = (uint64_t[]){0}};
    const gf_ranked_rows rows = {&none, NULL};
    const gf_ranked_options o = {.kmeans = {.k = 2}, .sample = 10};
    gf_kmeans r;
    assert_status(GF_EINVAL, gf_ranked_run(NULL, NULL, &rows, &o, &r, &err));
    assert_string_equal(err.message, "no rows to cluster");
}

/* ---- sums --------------------------------------------------------------------------------------- */

typedef struct summed {
    const gf_csr *x;
    uint32_t n_cut, k;
    const uint32_t *cut, *labels; /* n_steps * rows */
    unsigned n_steps;
} summed;

/* Rows wander from cluster to cluster; sums stay those of the rows that there are. */
static gf_status wander(gf_ranks *ranks, void *context, gf_error *err)
{
    const summed *s = context;
    unsigned me = gf_ranks_me(ranks);
    gf_csr part = part_of(s->x, s->cut[me], s->cut[me + 1]);
    const gf_points points = {&part, NULL};
    gf_ranked_sums *sums = NULL;
    gf_centres centres;
    bool changed[16];
    gf_status st = gf_centres_init(&centres, s->k, part.n_cols, err);
    if (st == GF_OK) st = gf_ranked_sums_create(ranks, NULL, s->k, part.n_cols, &sums, err);
    for (unsigned step = 0; step < s->n_steps && st == GF_OK; step++) {
        const uint32_t *label = s->labels + (size_t)step * s->x->n_rows;
        const uint32_t *before = step ? label - s->x->n_rows : NULL;
        st = gf_ranked_sums_move(sums, &points, before ? before + s->cut[me] : NULL,
                                 label + s->cut[me], &centres, changed, NULL, err);
        if (st != GF_OK) break;
        double *dense = rows_dense_sums(s->x, NULL, label, s->k);
        for (uint32_t j = 0; j < s->k; j++) {
            const gf_centre *c = &centres.at[j];
            const double *sum = dense + (size_t)j * part.n_cols;
            double length = rows_length(sum, part.n_cols);
            if (length == 0) continue; /* keeps what it was */
            assert_near(c->length, length, 1e-9 * length);
            for (uint32_t q = 0; q < c->n; q++)
                assert_true(c->value[q] == (float)(sum[c->term[q]] * (1 / c->length)));
        }
        gf_free(dense);
    }
    gf_ranked_sums_free(sums);
    gf_centres_release(&centres);
    free(part.start);
    return st;
}

static void sums_are_exact(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    enum { N = 400, STEPS = 6 };
    gf_csr x = rows_random(N, 120, 9, &random);
    uint32_t labels[STEPS * N], cut[] = {0, 150, 151, 400};
    for (uint32_t i = 0; i < STEPS * N; i++)
        labels[i] = (uint32_t)gf_random_below(&random, i < N ? 5 : 7);
    summed s = {&x, 3, 7, cut, labels, STEPS};
    assert_ok(gf_test_ranks_run(3, wander, &s, &err));
    gf_csr_release(&x);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static gf_status run_alone(void *context, gf_error *err)
{
    parted *p = context;
    gf_status st = run_rank(NULL, p, err);
    if (st == GF_OK) gf_kmeans_release(&p->made[0]);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(5, 0);
    gf_csr x = rows_random(60, 40, 6, &random);
    uint32_t start[60];
    for (uint32_t i = 0; i < 60; i++)
        start[i] = i % 4;
    parted p = {
        .x = &x, .options = {.kmeans = {.k = 4, .restarts = 1}, .sample = 20}, .threads = 1};
    p.cut[1] = 60;
    gf_test_sweep(run_alone, NULL, &p);
    p.start = start;
    p.options.kmeans.start_k = 4;
    p.options.sweeps = true;
    gf_test_sweep(run_alone, NULL, &p);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_exact),
                                       cmocka_unit_test(same_bytes_of_few_rows),
                                       cmocka_unit_test(same_bytes_for_any_number),
                                       cmocka_unit_test(same_bytes_from_a_start),
                                       cmocka_unit_test(labels_are_the_nearest),
                                       cmocka_unit_test(clusters_are_as_good),
                                       cmocka_unit_test(too_many_clusters_are_refused),
                                       cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
