#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/moves/polish.h"

#include <math.h>
#include <string.h>

enum { MANY_ROUNDS = 1000 };

/* p's labels as they are become a partition with its sums, and are polished. */
static unsigned polish(gf_pool *pool, const gf_points *points, gf_partition *p)
{
    gf_error err;
    gf_passes *passes;
    unsigned rounds;
    gf_pass_report report;
    assert_ok(gf_passes_create(pool, points, p->k, NULL, &passes, &err));
    memset(gf_passes_changed(passes), true, p->k);
    assert_ok(gf_passes_update(passes, p, &err));
    assert_ok(gf_passes_assign_all(passes, p, NULL, &report, &err));
    assert_ok(gf_passes_update(passes, p, &err));
    double before = gf_centres_objective(&p->centres);
    assert_ok(gf_polish(passes, p, 0, MANY_ROUNDS, &rounds, &err));
    assert_true(gf_centres_objective(&p->centres) >= before);
    if (rounds) assert_true(gf_centres_objective(&p->centres) > before);
    gf_passes_free(passes);
    return rounds;
}

static gf_partition make_partition(const gf_csr *x, uint32_t k, const uint32_t *label)
{
    gf_error err;
    gf_partition p;
    assert_ok(gf_partition_init(&p, x->n_rows, k, x->n_cols, &err));
    memcpy(p.label, label, x->n_rows * sizeof *label);
    return p;
}

/*
 * Rows at 0, 60 and 100 degrees as {0, 60} and {100}. Each is nearest to its own centre (cos 30
 * against cos 40), so k-means stays; moving 60 makes 2 cos 30 + 1 = 2.73 into 1 + 2 cos 20 = 2.88.
 */
static void moves_what_passes_leave(void **state)
{
    (void)state;
    double degree = acos(-1) / 180;
    static const double angle[] = {0, 60, 100};
    float v[9] = {0};
    for (int i = 0; i < 3; i++) {
        v[3 * i + 1] = (float)sin(angle[i] * degree);
        v[3 * i] = (float)cos(angle[i] * degree);
    }
    const uint32_t start[] = {0, 0, 1}, end[] = {0, 1, 1};
    gf_csr x = rows_by_hand(v, 3, 3);
    gf_points points = {&x, NULL};
    gf_partition p = make_partition(&x, 2, start);
    assert_int_equal(polish(NULL, &points, &p), 1);
    assert_memory_equal(p.label, end, sizeof end);
    assert_near(gf_centres_objective(&p.centres), 1 + 2 * cos(20 * degree), 1e-6);
    assert_near(p.own[2], cos(20 * degree), 1e-6);
    gf_partition_release(&p);
    gf_csr_release(&x);
}

/* ---- the gain of every move, worked out from dense sums -------------------------------------- */

static double length_with(const double *sum, gf_row_view row, double weight, uint32_t n_cols)
{
    double squares = 0;
    for (uint32_t t = 0, p = 0; t < n_cols; t++) {
        double v = sum[t];
        if (p < row.n && row.col[p] == t) v += weight * (double)row.val[p++];
        squares += v * v;
    }
    return sqrt(squares);
}

static void check_no_move_gains(const gf_points *points, const gf_partition *p)
{
    uint32_t n_cols = points->x->n_cols;
    double *sum = rows_dense_sums(points->x, points->weight, p->label, p->k);
    double *length = gf_array(p->k, sizeof *length);
    assert_non_null(length);
    for (uint32_t j = 0; j < p->k; j++)
        length[j] = rows_length(sum + (size_t)j * n_cols, n_cols);
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t a = p->label[i];
        double w = (double)gf_points_weight(points, i);
        gf_row_view row = gf_csr_row(points->x, i);
        double loss = length[a] - length_with(sum + (size_t)a * n_cols, row, -w, n_cols);
        for (uint32_t b = 0; b < p->k; b++) {
            if (b == a) continue;
            double gain = length_with(sum + (size_t)b * n_cols, row, w, n_cols) - length[b];
            assert_true(gain - loss <= 4e-5 * w);
        }
    }
    gf_free(sum);
    gf_free(length);
}

/* Polish n rows in k clusters to the end; returns the rounds. */
static unsigned polish_to_the_end(uint32_t n, uint32_t k, bool weighted, gf_random *random)
{
    uint32_t label[700];
    float weight[700];
    gf_csr x = rows_random(n, 10 + (uint32_t)gf_random_below(random, 90), 8, random);
    gf_points points = {&x, weighted ? weight : NULL};
    for (uint32_t r = 0; r < n; r++) {
        label[r] = r < k ? r : (uint32_t)gf_random_below(random, k);
        weight[r] = (float)(1 + gf_random_below(random, 5));
    }
    gf_partition p = make_partition(&x, k, label);
    unsigned rounds = polish(NULL, &points, &p);
    double objective = rows_objective(&x, points.weight, p.label, k);
    assert_near(gf_centres_objective(&p.centres), objective, 1e-6 * (1 + objective));
    check_no_move_gains(&points, &p);
    rows_check_bounds(&x, &p, true);
    gf_partition_release(&p);
    gf_csr_release(&x);
    return rounds;
}

static void ends_where_no_move_gains(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    unsigned rounds = 0;
    for (int i = 0; i < 30; i++) {
        uint32_t n = 2 + (uint32_t)gf_random_below(&random, 218);
        uint32_t k = 1 + (uint32_t)gf_random_below(&random, n < 50 ? n : 50);
        rounds += polish_to_the_end(n, k, i % 2, &random);
    }
    assert_true(rounds > 30);
}

/* From 200 clusters on blocks of them are left out. */
static void no_move_among_many_clusters_is_missed(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 6);
    for (int i = 0; i < 4; i++) {
        uint32_t k = 200 + (uint32_t)gf_random_below(&random, 60);
        assert_true(polish_to_the_end(700, k, i % 2, &random) > 1);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    enum { N = 3000, K = 50 };
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    static uint32_t label[N];
    gf_csr x = rows_random(N, 300, 8, &random);
    gf_points points = {&x, NULL};
    for (uint32_t i = 0; i < N; i++)
        label[i] = (uint32_t)gf_random_below(&random, K);
    gf_partition alone = make_partition(&x, K, label);
    unsigned rounds = polish(NULL, &points, &alone);
    for (unsigned threads = 2; threads < 4; threads++) {
        gf_pool *pool = rows_pool(threads);
        gf_partition p = make_partition(&x, K, label);
        assert_int_equal(polish(pool, &points, &p), rounds);
        assert_memory_equal(alone.label, p.label, sizeof label);
        rows_assert_same_centres(&alone.centres, &p.centres);
        gf_partition_release(&p);
        gf_pool_free(pool);
    }
    gf_partition_release(&alone);
    gf_csr_release(&x);
}

/* ---- limits and failures --------------------------------------------------------------------- */

typedef struct swept {
    gf_csr x;
    gf_cancel *cancel;
    unsigned max_rounds, rounds;
} swept;

static gf_status polish_passes(swept *s, gf_passes *passes, gf_partition *p, gf_error *err)
{
    gf_pass_report report;
    memset(gf_passes_changed(passes), true, p->k);
    gf_status st = gf_passes_update(passes, p, err);
    if (st == GF_OK) st = gf_passes_assign_all(passes, p, NULL, &report, err);
    if (st == GF_OK) st = gf_passes_update(passes, p, err);
    if (st == GF_OK && s->cancel) gf_cancel_request(s->cancel);
    if (st == GF_OK) st = gf_polish(passes, p, 0, s->max_rounds, &s->rounds, err);
    return st;
}

static gf_status polish_swept(void *context, gf_error *err)
{
    swept *s = context;
    gf_points points = {&s->x, NULL};
    gf_partition p = {0};
    gf_passes *passes = NULL;
    gf_status st = gf_partition_init(&p, s->x.n_rows, 6, s->x.n_cols, err);
    for (uint32_t i = 0; i < p.n; i++)
        p.label[i] = i % 6;
    if (st == GF_OK) st = gf_passes_create(NULL, &points, 6, s->cancel, &passes, err);
    if (st == GF_OK) st = polish_passes(s, passes, &p, err);
    gf_passes_free(passes);
    gf_partition_release(&p);
    return st;
}

static void failures_are_reported(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(2, 0);
    gf_cancel cancel = {0};
    swept s = {.x = rows_random(80, 40, 6, &random), .max_rounds = MANY_ROUNDS};
    gf_test_sweep(polish_swept, NULL, &s);
    assert_true(s.rounds > 1);
    s.max_rounds = 1;
    assert_ok(polish_swept(&s, &err));
    assert_int_equal(s.rounds, 1);
    s.max_rounds = 0;
    assert_ok(polish_swept(&s, &err));
    assert_int_equal(s.rounds, 0);
    s.cancel = &cancel;
    s.max_rounds = 1;
    assert_status(GF_ECANCELLED, polish_swept(&s, &err));
    gf_csr_release(&s.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_what_passes_leave),
        cmocka_unit_test(ends_where_no_move_gains),
        cmocka_unit_test(no_move_among_many_clusters_is_missed),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(failures_are_reported),
    };
    return cmocka_run_group_tests_name("polish", tests, NULL, NULL);
}
