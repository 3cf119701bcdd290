#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/kmeans.h"
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
    assert_int_equal(c.at[0].differences + c.at[1].differences, 0);
    label[0] = 1;
    assert_ok(gf_centre_summer_run(summer, &points, label, changed, &c, own, NULL, &err));
    assert_int_equal(c.at[0].differences, 1);
    assert_int_equal(c.at[0].n, 2); /* 19 rows of (0.25, 0.5) */
    assert_near(c.at[0].length, sqrt(4.75 * 4.75 + 9.5 * 9.5), 1e-12);
    assert_near(c.at[0].weight, 19, 0);
    /* Summed by all its rows, 21, one of them three times: the new one has more terms than it. */
    assert_int_equal(c.at[1].differences, 0);
    assert_int_equal(c.at[1].n, 3);
    assert_near(c.at[1].length, sqrt(5.75 * 5.75 + 11.5 * 11.5 + 0.25), 1e-12);
    assert_near(c.at[1].weight, 23, 0);
    gf_centre_summer_free(summer);
    gf_centres_release(&c);
}

/* ---- beside sums of all rows ----------------------------------------------------------------- */

enum { N = 1500, COLUMNS = 60, K = 6 };

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

/* The sum, from nothing, is within what single precision hides of the centre. */
static void check_centres(const data *d, const gf_centres *c, const float *own)
{
    double *sum = rows_dense_sums(&d->x, d->weight, d->label, K);
    for (uint32_t j = 0; j < K; j++) {
        const double *s = sum + (size_t)j * COLUMNS;
        double length = rows_length(s, COLUMNS), seen = 0;
        assert_near(c->at[j].length, length, 1e-10 * (1 + length));
        for (uint32_t p = 0; p < c->at[j].n; p++) {
            assert_near(c->at[j].value[p], s[c->at[j].term[p]] / length, 1e-7);
            seen += s[c->at[j].term[p]] * s[c->at[j].term[p]];
        }
        assert_near(sqrt(seen), length, 1e-10 * (1 + length));
    }
    for (uint32_t i = 0; i < N; i++) {
        double dot = gf_csr_row_dot(gf_csr_row(&d->x, i), gf_centre_row(&c->at[d->label[i]]));
        assert_near(own[i], dot, 1e-6);
    }
    gf_free(sum);
}

static void differences_are_sums(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    data d;
    float own[N];
    uint64_t by_difference = 0, most = 0;
    make_data(&d, &random);
    gf_centres c;
    gf_centre_summer *summer = make_summer(NULL, true);
    assert_ok(gf_centres_init(&c, K, COLUMNS, &err));
    for (int run = 0; run < 60; run++) {
        assert_ok(gf_centre_summer_run(summer, &d.points, d.label, d.changed, &c, own, NULL, &err));
        check_centres(&d, &c, own);
        for (uint32_t j = 0; j < K; j++) {
            assert_true(c.at[j].differences <= GF_MOST_DIFFERENCES);
            by_difference += d.changed[j] && c.at[j].differences;
            if (c.at[j].differences > most) most = c.at[j].differences;
        }
        /* Now and then so many that all rows are summed; mostly one, or two. */
        move_rows(&d, run == 40 ? N : 1 + (uint32_t)gf_random_below(&random, 2), &random);
    }
    assert_true(by_difference > 30);
    assert_true(most > 3);
    gf_centre_summer_free(summer);
    gf_centres_release(&c);
    gf_csr_release(&d.x);
}

/* One row goes to and fro: in turn so many differences, then a sum of all rows. */
static void sums_of_all_rows_come_in_turn(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    data d;
    float own[N];
    make_data(&d, &random);
    uint32_t from = d.label[0], to = (from + 1) % K;
    gf_centres c;
    gf_centre_summer *summer = make_summer(NULL, true);
    assert_ok(gf_centres_init(&c, K, COLUMNS, &err));
    for (unsigned run = 0; run < 3 * (GF_MOST_DIFFERENCES + 1); run++) {
        d.label[0] = run % 2 ? to : from;
        assert_ok(gf_centre_summer_run(summer, &d.points, d.label, NULL, &c, own, NULL, &err));
        assert_int_equal(c.at[from].differences, run % (GF_MOST_DIFFERENCES + 1));
        check_centres(&d, &c, own);
    }
    gf_centre_summer_free(summer);
    gf_centres_release(&c);
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
    for (uint32_t j = 0; j < K; j++)
        assert_int_equal(c.at[j].differences, j == from || j == to ? 0 : 1);
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

/* ---- k-means --------------------------------------------------------------------------------- */

/* The centres that k-means returns were summed of all rows last, whatever its passes did. */
static void published_centres_are_sums_of_all_rows(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 4);
    gf_csr x = rows_random(4000, 300, 40, &random);
    gf_kmeans_options o = {.k = 5, .seed = gf_test_seed(), .restarts = 1, .tolerance = 1e-9};
    gf_kmeans r;
    assert_ok(gf_kmeans_run(NULL, &x, &o, &r, &err));
    for (uint32_t j = 0; j < r.k; j++)
        assert_int_equal(r.centres.at[j].differences, 0);
    gf_kmeans_release(&r);
    gf_csr_release(&x);
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
        cmocka_unit_test(sums_of_all_rows_come_in_turn),
        cmocka_unit_test(what_was_left_out_is_forgotten),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(published_centres_are_sums_of_all_rows),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests_name("kept sums", tests, NULL, NULL);
}
