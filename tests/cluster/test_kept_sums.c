#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/passes/centres.h"
#include "cluster/passes/kept_sums.h"

#include <math.h>
#include <string.h>

/* ---- by hand --------------------------------------------------------------------------------- */

/*
 * Forty rows of terms 0 and 1 in two clusters. Row 0 alone has term 2 as well, and row 39 alone is
 * heavy. When row 0 leaves, nothing of term 2 stays behind; numbers are chosen to be exact.
 */
static void a_row_leaves(void **state)
{
    (void)state;
    enum { ROWS = 40 };
    gf_error err;
    uint64_t start[ROWS + 1];
    uint32_t col[3 * ROWS], label[ROWS], n = 0;
    float val[3 * ROWS], weight[ROWS], own[ROWS];
    bool changed[2] = {true, true};
    for (uint32_t i = 0; i < ROWS; i++) {
        start[i] = n;
        for (uint32_t t = 0; t < (i ? 2 : 3); t++) {
            col[n] = t;
            val[n++] = t ? 0.5f : 0.25f;
        }
        label[i] = i % 2;
        weight[i] = i == 39 ? 3 : 1;
    }
    start[ROWS] = n;
    gf_csr x = {ROWS, 3, start, col, val};
    gf_points points = {&x, weight};
    gf_centres c;
    gf_centre_summer *summer;
    assert_ok(gf_centres_init(&c, 2, 3, &err));
    assert_ok(gf_centre_summer_create(NULL, ROWS, 3, 2, &summer, &err));
    assert_ok(gf_centre_summer_keep(summer, &err));
    assert_ok(gf_centre_summer_run(summer, &points, label, changed, &c, own, NULL, &err));
    assert_int_equal(c.at[0].n, 3);
    label[0] = 1;
    assert_ok(gf_centre_summer_run(summer, &points, label, changed, &c, own, NULL, &err));
    assert_int_equal(c.at[0].n, 2); /* 19 rows of (0.25, 0.5) */
    assert_near(c.at[0].length, sqrt(4.75 * 4.75 + 9.5 * 9.5), 1e-12);
    assert_near(c.at[0].weight, 19, 0);
    /* Summed by all its rows, 21, one of them three times: the new one has more terms than it. */
    assert_int_equal(c.at[1].n, 3);
    assert_near(c.at[1].length, sqrt(5.75 * 5.75 + 11.5 * 11.5 + 0.25), 1e-12);
    assert_near(c.at[1].weight, 23, 0);
    gf_centre_summer_free(summer);
    gf_centres_release(&c);
}

/* ---- beside sums of all rows ----------------------------------------------------------------- */

enum { N = 6000, COLUMNS = 60, K = 6 };

typedef struct data {
    gf_csr x;
    float weight[N];
    gf_points points;
    uint32_t label[N];
    bool changed[K];
} data;

static void make_data(data *d, gf_random *random)
{
    d->x = rows_random(N, COLUMNS, 20, random);
    d->points = (gf_points){&d->x, d->weight};
    for (uint32_t i = 0; i < N; i++) {
        d->label[i] = (uint32_t)gf_random_below(random, K);
        d->weight[i] = (float)(1 + gf_random_below(random, 5));
    }
    for (uint32_t j = 0; j < K; j++)
        d->changed[j] = true;
}

/* Some rows go elsewhere; the clusters are flagged. */
static void move_rows(data *d, uint32_t rows, gf_random *random)
{
    memset(d->changed, 0, sizeof d->changed);
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t i = (uint32_t)gf_random_below(random, N),
                 to = (uint32_t)gf_random_below(random, K);
        if (d->label[i] == to) continue;
        d->changed[d->label[i]] = d->changed[to] = true;
        d->label[i] = to;
    }
}

static gf_centre_summer *make_summer(gf_pool *pool, bool keep)
{
    gf_error err;
    gf_centre_summer *s;
    assert_ok(gf_centre_summer_create(pool, N, COLUMNS, K, &s, &err));
    if (keep) assert_ok(gf_centre_summer_keep(s, &err));
    return s;
}

/* The centres and own similarities of a summer that keeps nothing, bit for bit. */
static void check_centres(const data *d, const gf_centres *c, const float *own)
{
    gf_error err;
    float anew_own[N];
    gf_centres anew;
    gf_centre_summer *summer = make_summer(NULL, false);
    double *sum = rows_dense_sums(&d->x, d->weight, d->label, K);
    assert_ok(gf_centres_init(&anew, K, COLUMNS, &err));
    assert_ok(
        gf_centre_summer_run(summer, &d->points, d->label, NULL, &anew, anew_own, NULL, &err));
    rows_assert_same_centres(&anew, c);
    assert_memory_equal(own, anew_own, sizeof anew_own);
    for (uint32_t j = 0; j < K; j++) {
        const double *s = sum + (size_t)j * COLUMNS;
        double length = rows_length(s, COLUMNS);
        assert_near(c->at[j].length, length, 1e-12 * (1 + length));
        for (uint32_t p = 0; p < c->at[j].n; p++)
            assert_near(c->at[j].value[p], s[c->at[j].term[p]] / length, 1e-7);
    }
    for (uint32_t i = 0; i < N; i++) {
        double dot = gf_csr_row_dot(gf_csr_row(&d->x, i), gf_centre_row(&c->at[d->label[i]]));
        assert_near(own[i], dot, 1e-6);
    }
    gf_centre_summer_free(summer);
    gf_centres_release(&anew);
    gf_free(sum);
}

static void differences_are_sums(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    data d;
    float own[N];
    make_data(&d, &random);
    gf_centres c;
    gf_centre_summer *summer = make_summer(NULL, true);
    assert_ok(gf_centres_init(&c, K, COLUMNS, &err));
    for (int run = 0; run < 60; run++) {
        assert_ok(gf_centre_summer_run(summer, &d.points, d.label, d.changed, &c, own, NULL, &err));
        check_centres(&d, &c, own);
        /* Now and then so many that all rows are summed; mostly one, or two. */
        move_rows(&d, run == 40 ? N : 1 + (uint32_t)gf_random_below(&random, 2), &random);
    }
    gf_centre_summer_free(summer);
    gf_centres_release(&c);
    gf_csr_release(&d.x);
}

/* A thread's scratch over COLUMNS terms. */
typedef struct room {
    double sum[COLUMNS];
    uint64_t touched[COLUMNS / 64 + 1];
    uint32_t term[COLUMNS];
} room;

/* The sum of a cluster by difference; false where all its rows are asked for. */
static bool sum_by_difference(gf_kept_sums *kept, uint32_t j, const data *d, room *r,
                              double *weight)
{
    memset(r, 0, sizeof *r);
    gf_term_sums to = {r->sum, r->touched, r->term, 0};
    gf_error err;
    assert_ok(gf_kept_sums_compare(kept, &d->points, d->label, NULL, &err));
    return gf_kept_sums_update(kept, j, &d->points, &to, weight);
}

/* Keep a cluster's sum, then have a row go to and fro 200 times: no bit is lost, nor is it ever
 * summed anew. */
static void no_difference_loses_a_bit(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    data d;
    room r;
    double weight = 0;
    gf_kept_sums *kept;
    make_data(&d, &random);
    uint32_t from = d.label[0], to = (from + 1) % K;
    assert_ok(gf_kept_sums_create(NULL, N, K, &kept, &err));
    assert_false(sum_by_difference(kept, from, &d, &r, &weight));
    double *sum = rows_dense_sums(&d.x, d.weight, d.label, K);
    gf_term_sums first = {sum + (size_t)from * COLUMNS, r.touched, r.term, 0};
    for (uint32_t t = 0; t < COLUMNS; t++)
        if (first.sum[t] != 0) r.term[first.n++] = t;
    assert_ok(gf_kept_sums_keep(kept, from, &first, 1, UINT32_MAX, &err));
    for (unsigned run = 0; run < 200; run++) {
        d.label[0] = run % 2 ? from : to;
        assert_true(sum_by_difference(kept, from, &d, &r, &weight));
        double *anew = rows_dense_sums(&d.x, d.weight, d.label, K);
        assert_memory_equal(r.sum, anew + (size_t)from * COLUMNS, sizeof r.sum);
        gf_free(anew);
        gf_term_sums now = {r.sum, r.touched, r.term, 0};
        for (uint32_t t = 0; t < COLUMNS; t++)
            if (r.sum[t] != 0) r.term[now.n++] = t;
        assert_ok(gf_kept_sums_keep(kept, from, &now, weight, UINT32_MAX, &err));
    }
    gf_free(sum);
    gf_kept_sums_free(kept);
    gf_csr_release(&d.x);
}

/* A cluster that changed without being summed is summed by all its rows the next time. */
static void what_was_left_out_is_forgotten(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    data d;
    float own[N];
    make_data(&d, &random);
    uint32_t from = d.label[0], to = (from + 1) % K;
    bool none[K] = {false};
    gf_centres c;
    gf_centre_summer *summer = make_summer(NULL, true);
    assert_ok(gf_centres_init(&c, K, COLUMNS, &err));
    assert_ok(gf_centre_summer_run(summer, &d.points, d.label, d.changed, &c, own, NULL, &err));
    d.label[0] = to;
    assert_ok(gf_centre_summer_run(summer, &d.points, d.label, none, &c, own, NULL, &err));
    assert_ok(gf_centre_summer_run(summer, &d.points, d.label, NULL, &c, own, NULL, &err));
    check_centres(&d, &c, own);
    gf_centre_summer_free(summer);
    gf_centres_release(&c);
    gf_csr_release(&d.x);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    data d;
    float own[3][N];
    make_data(&d, &random);
    gf_centres c[3];
    gf_pool *pool[3] = {rows_pool(1), rows_pool(2), rows_pool(5)};
    gf_centre_summer *summer[3];
    for (int v = 0; v < 3; v++) {
        summer[v] = make_summer(pool[v], true);
        assert_ok(gf_centres_init(&c[v], K, COLUMNS, &err));
    }
    for (int run = 0; run < 12; run++) {
        for (int v = 0; v < 3; v++)
            assert_ok(gf_centre_summer_run(summer[v], &d.points, d.label, d.changed, &c[v], own[v],
                                           NULL, &err));
        for (int v = 1; v < 3; v++) {
            rows_assert_same_centres(&c[0], &c[v]);
            assert_memory_equal(own[0], own[v], sizeof own[0]);
        }
        move_rows(&d, 2, &random);
    }
    for (int v = 0; v < 3; v++) {
        gf_centre_summer_free(summer[v]);
        gf_centres_release(&c[v]);
        gf_pool_free(pool[v]);
    }
    gf_csr_release(&d.x);
}

/* ---- any order ------------------------------------------------------------------------------- */

/* The same rows in another order, by any number of threads, make the same centres bit for bit. */
static void order_and_threads_do_not_matter(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 4);
    static uint32_t order[N];
    data d, shuffled;
    float own[N];
    make_data(&d, &random);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t at = (uint32_t)gf_random_below(&random, (uint64_t)i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (uint32_t i = 0; i < N; i += 2)
        d.label[i] = 0; /* so large that threads share it */
    shuffled.x = rows_pick(&d.x, order, N);
    shuffled.points = (gf_points){&shuffled.x, shuffled.weight};
    for (uint32_t i = 0; i < N; i++) {
        shuffled.weight[i] = d.weight[order[i]];
        shuffled.label[i] = d.label[order[i]];
    }
    gf_centres c, other;
    gf_centre_summer *summer = make_summer(NULL, false);
    assert_ok(gf_centres_init(&c, K, COLUMNS, &err));
    assert_ok(gf_centre_summer_run(summer, &d.points, d.label, NULL, &c, own, NULL, &err));
    gf_centre_summer_free(summer);
    static const unsigned threads[] = {1, 2, 3, 8};
    for (size_t v = 0; v < sizeof threads / sizeof *threads; v++) {
        gf_pool *pool = rows_pool(threads[v]);
        float own_of_shuffled[N];
        summer = make_summer(pool, v % 2);
        assert_ok(gf_centres_init(&other, K, COLUMNS, &err));
        assert_ok(gf_centre_summer_run(summer, &shuffled.points, shuffled.label, NULL, &other,
                                       own_of_shuffled, NULL, &err));
        rows_assert_same_centres(&c, &other);
        for (uint32_t i = 0; i < N; i++)
            assert_true(own_of_shuffled[i] == own[order[i]]);
        gf_centre_summer_free(summer);
        gf_centres_release(&other);
        gf_pool_free(pool);
    }
    gf_centres_release(&c);
    gf_csr_release(&shuffled.x);
    gf_csr_release(&d.x);
}

/* ---- failing allocations --------------------------------------------------------------------- */

static gf_status sum_swept(void *context, gf_error *err)
{
    data *d = context;
    float own[N];
    gf_centres c;
    gf_centre_summer *summer = NULL;
    gf_status st = gf_centres_init(&c, K, COLUMNS, err);
    if (st != GF_OK) return st;
    st = gf_centre_summer_create(NULL, N, COLUMNS, K, &summer, err);
    if (st == GF_OK) st = gf_centre_summer_keep(summer, err);
    for (int run = 0; run < 3 && st == GF_OK; run++) {
        d->label[0] = (uint32_t)run;
        st = gf_centre_summer_run(summer, &d->points, d->label, NULL, &c, own, NULL, err);
    }
    gf_centre_summer_free(summer);
    gf_centres_release(&c);
    return st;
}

static void failing_allocations(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 5);
    data d;
    make_data(&d, &random);
    gf_test_sweep(sum_swept, NULL, &d);
    gf_csr_release(&d.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_leaves),
        cmocka_unit_test(differences_are_sums),
        cmocka_unit_test(no_difference_loses_a_bit),
        cmocka_unit_test(what_was_left_out_is_forgotten),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(order_and_threads_do_not_matter),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests_name("kept sums", tests, NULL, NULL);
}
