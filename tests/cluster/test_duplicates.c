#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/near/duplicates.h"

#include <math.h>
#include <string.h>

/* ---- an independent checker: every pair ------------------------------------------------------ */

static bool rows_are_equal(gf_row_view a, gf_row_view b)
{
    return a.n == b.n && memcmp(a.col, b.col, a.n * sizeof *a.col) == 0 &&
           memcmp(a.val, b.val, a.n * sizeof *a.val) == 0;
}

static double length_of(gf_row_view row)
{
    double sum = 0;
    for (uint32_t i = 0; i < row.n; i++)
        sum += (double)row.val[i] * (double)row.val[i];
    return sqrt(sum);
}

static double cosine_of(gf_row_view a, gf_row_view b)
{
    double cosine = gf_csr_row_dot(a, b) / (length_of(a) * length_of(b));
    return cosine < 1 ? cosine : 1;
}

static void find_slowly(const gf_csr *x, const uint32_t *order, double least, uint32_t *of,
                        double *cosine)
{
    for (uint32_t i = 0; i < x->n_rows; i++) {
        uint32_t row = order ? order[i] : i;
        gf_row_view own = gf_csr_row(x, row);
        bool settled = !(length_of(own) > 0);
        of[row] = row;
        cosine[row] = 0;
        for (uint32_t j = 0; j < i && !settled; j++) {
            uint32_t other = order ? order[j] : j;
            settled = rows_are_equal(own, gf_csr_row(x, other));
            if (!settled) continue;
            of[row] = of[other];
            cosine[row] = cosine[other];
        }
        for (uint32_t j = 0; j < i && !settled; j++) {
            uint32_t other = order ? order[j] : j;
            gf_row_view y = gf_csr_row(x, other);
            if (of[other] != other || !(length_of(y) > 0)) continue;
            double near = cosine_of(own, y);
            if (near < least || near <= cosine[row]) continue;
            cosine[row] = near;
            of[row] = other;
        }
        if (of[row] == row) cosine[row] = 1;
    }
}

static void assert_as_slowly(const gf_csr *x, const uint32_t *order, double least, gf_pool *pool)
{
    gf_error err;
    gf_duplicates d;
    uint32_t n = x->n_rows, copies = 0, groups = 0;
    uint32_t *of = gf_array(n, sizeof *of), *size = gf_calloc(n, sizeof *size);
    double *cosine = gf_array(n, sizeof *cosine);
    find_slowly(x, order, least, of, cosine);
    assert_ok(gf_duplicates_find(pool, x, order, least, NULL, &d, &err));
    assert_int_equal(d.n, n);
    for (uint32_t i = 0; i < n; i++) {
        if (d.of[i] != of[i] || d.cosine[i] != cosine[i])
            fail_msg("row %u at %.17g: of %u by %.17g, expected %u by %.17g", i, least, d.of[i],
                     d.cosine[i], of[i], cosine[i]);
        if (of[i] != i && size[of[i]]++ == 0) groups++;
        copies += of[i] != i;
    }
    assert_int_equal(d.copies, copies);
    assert_int_equal(d.groups, groups);
    gf_duplicates_release(&d);
    gf_free(of);
    gf_free(size);
    gf_free(cosine);
}

static uint32_t below(gf_random *random, uint32_t bound)
{
    return (uint32_t)gf_random_below(random, bound);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* a, b, near a, near that but not near a, a again, empty, empty, two terms, nearly the same two. */
static void duplicates_by_hand(void **state)
{
    (void)state;
    const float values[] = {
        3, 3, 3, 1, 0, 0, 0, /* a */
        0, 0, 0, 1, 3, 3, 0, /* b */
        3, 3, 2, 2, 1, 0, 0, /* near a: .95 */
        2, 1, 1, 3, 2, 0, 0, /* near that: .84, but not near a: .65 */
        3, 3, 3, 1, 0, 0, 0, /* a */
        0, 0, 0, 0, 0, 0, 0, /* empty */
        0, 0, 0, 0, 0, 0, 0, /* empty */
        0, 0, 0, 0, 0, 1, 5, /* two terms */
        0, 0, 0, 0, 0, 2, 5, /* cosine .98 */
    };
    const uint32_t expected[] = {0, 1, 0, 3, 0, 5, 6, 7, 7};
    const uint32_t order[] = {8, 7, 6, 5, 4, 3, 2, 1, 0};
    const uint32_t expected_then[] = {4, 1, 4, 3, 4, 5, 6, 8, 8};
    gf_error err;
    gf_duplicates d;
    gf_csr x = rows_by_hand(values, 9, 7);
    assert_ok(gf_duplicates_find(NULL, &x, NULL, .8, NULL, &d, &err));
    assert_memory_equal(d.of, expected, sizeof expected);
    assert_int_equal(d.groups, 2);
    assert_int_equal(d.copies, 3);
    assert_int_equal(d.distinct, 6);
    assert_true(d.cosine[0] == 1 && fabs(d.cosine[2] - .9456) < .0001);
    assert_true(d.cosine[4] == 1); /* equal, so no rounding */
    gf_duplicates_release(&d);
    assert_ok(gf_duplicates_find(NULL, &x, order, .8, NULL, &d, &err));
    assert_memory_equal(d.of, expected_then, sizeof expected_then);
    gf_duplicates_release(&d);
    x.n_rows = 0;
    assert_ok(gf_duplicates_find(NULL, &x, NULL, .8, NULL, &d, &err));
    assert_int_equal(d.n + d.groups + d.copies, 0);
    gf_duplicates_release(&d);
    gf_csr_release(&x);
}

static void a_bound_must_be_one(void **state)
{
    (void)state;
    const double bad[] = {0, -1, 1.0001, NAN};
    const float values[] = {1, 2};
    gf_csr x = rows_by_hand(values, 1, 2);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gf_error err;
        gf_duplicates d;
        assert_int_equal(gf_duplicates_find(NULL, &x, NULL, bad[i], NULL, &d, &err), GF_EINVAL);
    }
    gf_csr_release(&x);
}

/* Copies of rows of x, each with some columns taken from another row: near ones at any distance. */
static gf_csr add_copies(const gf_csr *x, uint32_t n, gf_random *random)
{
    gf_error err;
    gf_csr y;
    assert_ok(gf_csr_init(&y, n, x->n_cols, (uint64_t)n * 64, &err));
    for (uint32_t i = 0; i < n; i++) {
        gf_row_view a = gf_csr_row(x, below(random, x->n_rows));
        gf_row_view b = gf_csr_row(x, below(random, x->n_rows));
        uint64_t at = y.start[i];
        uint32_t share = below(random, 4);
        for (uint32_t p = 0, q = 0; p < a.n || q < b.n;) {
            bool of_a = q == b.n || (p < a.n && a.col[p] <= b.col[q]);
            bool both = of_a && q < b.n && p < a.n && a.col[p] == b.col[q];
            if (of_a && (share == 0 || below(random, 10) >= share)) {
                y.col[at] = a.col[p];
                y.val[at++] = a.val[p];
            } else if (!of_a && share && below(random, 10) < share) {
                y.col[at] = b.col[q];
                y.val[at++] = b.val[q];
            }
            p += of_a;
            q += both || !of_a;
        }
        y.start[i + 1] = at;
    }
    return y;
}

static void finds_what_pairs_say(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 40; round++) {
        uint32_t n = 1 + below(&random, round < 36 ? 300 : 3000);
        uint32_t n_cols = 5 + below(&random, 400);
        gf_csr base = rows_random(1 + n / 3, n_cols, 1 + below(&random, 20), &random);
        gf_csr x = add_copies(&base, n, &random);
        gf_pool *pool = round % 2 ? rows_pool(1 + below(&random, 4)) : NULL;
        uint32_t *order = gf_array(n, sizeof *order);
        for (uint32_t i = 0; i < n; i++)
            order[i] = i;
        for (uint32_t i = n; i-- > 1;) {
            uint32_t j = below(&random, i + 1), swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
        double least = .05 + .95 * (double)below(&random, 1001) / 1000;
        /* Rows of any length and sign; and entries of 0. */
        for (uint64_t e = 0; round % 3 == 1 && e < gf_csr_nnz(&x); e++)
            x.val[e] *= below(&random, 9) == 0 ? 0.0f : below(&random, 5) == 0 ? -3.0f : 3.0f;
        assert_as_slowly(&x, round % 4 < 2 ? order : NULL, least, pool);
        gf_free(order);
        gf_pool_free(pool);
        gf_csr_release(&x);
        gf_csr_release(&base);
    }
}

/* The bound is the very cosine of a pair, or the next double above or below it. */
static void ties_are_exact(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 60; round++) {
        gf_csr base = rows_random(40, 60, 12, &random);
        gf_csr x = add_copies(&base, 80, &random);
        double cosine = 0;
        for (int tries = 0; tries < 1000 && !(cosine > .2); tries++) {
            gf_row_view a = gf_csr_row(&x, below(&random, 80));
            gf_row_view b = gf_csr_row(&x, below(&random, 80));
            cosine = a.n && b.n ? cosine_of(a, b) : 0;
        }
        assert_as_slowly(&x, NULL, cosine, NULL);
        assert_as_slowly(&x, NULL, nextafter(cosine, 0), NULL);
        if (cosine < 1) assert_as_slowly(&x, NULL, nextafter(cosine, 2), NULL);
        gf_csr_release(&x);
        gf_csr_release(&base);
    }
}

/* A text that is there thousands of times, changed a little each time: over several blocks. */
static void many_copies_of_one(void **state)
{
    (void)state;
    enum { N = 2500, COLS = 4000, LONG = 20 };
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x;
    assert_ok(gf_csr_init(&x, N, COLS, (uint64_t)N * LONG, &err));
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t e = 0; e < LONG; e++) {
            x.col[x.start[i] + e] = e + 1 < LONG ? e : LONG + below(&random, COLS - LONG);
            x.val[x.start[i] + e] = e + 1 < LONG ? 1 : 1 + (float)below(&random, 2);
        }
        x.start[i + 1] = x.start[i] + LONG;
    }
    gf_pool *pool = rows_pool(3);
    assert_as_slowly(&x, NULL, .8, pool);
    gf_duplicates d;
    assert_ok(gf_duplicates_find(pool, &x, NULL, .8, NULL, &d, &err));
    assert_int_equal(d.groups, 1);
    assert_int_equal(d.copies, N - 1);
    gf_duplicates_release(&d);
    gf_pool_free(pool);
    gf_csr_release(&x);
}

static void threads_find_alike(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr base = rows_random(3000, 900, 15, &random), x = add_copies(&base, 9000, &random);
    gf_duplicates one, many;
    assert_ok(gf_duplicates_find(NULL, &x, NULL, .7, NULL, &one, &err));
    for (unsigned threads = 2; threads < 6; threads++) {
        gf_pool *pool = rows_pool(threads);
        assert_ok(gf_duplicates_find(pool, &x, NULL, .7, NULL, &many, &err));
        assert_memory_equal(one.of, many.of, x.n_rows * sizeof *one.of);
        assert_memory_equal(one.cosine, many.cosine, x.n_rows * sizeof *one.cosine);
        assert_int_equal(one.weighed, many.weighed);
        gf_duplicates_release(&many);
        gf_pool_free(pool);
    }
    assert_true(one.groups > 100);
    gf_duplicates_release(&one);
    gf_csr_release(&x);
    gf_csr_release(&base);
}

static void a_cancel_ends_it(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_random(500, 50, 9, &random);
    gf_cancel cancel = {0};
    gf_duplicates d;
    gf_cancel_request(&cancel);
    assert_int_equal(gf_duplicates_find(NULL, &x, NULL, .8, &cancel, &d, &err), GF_ECANCELLED);
    gf_csr_release(&x);
}

static gf_duplicates swept, untouched;

static gf_status find_swept(void *context, gf_error *err)
{
    gf_status st = gf_duplicates_find(NULL, context, NULL, .5, NULL, &swept, err);
    if (st == GF_OK) gf_duplicates_release(&swept);
    return st;
}

static void is_untouched(void *context)
{
    (void)context;
    assert_memory_equal(&swept, &untouched, sizeof untouched);
}

static void a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = rows_random(60, 20, 40, &random);
    memset(&untouched, 0x55, sizeof untouched);
    memcpy(&swept, &untouched, sizeof swept);
    gf_test_sweep(find_swept, is_untouched, &x);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duplicates_by_hand),
        cmocka_unit_test(a_bound_must_be_one),
        cmocka_unit_test(finds_what_pairs_say),
        cmocka_unit_test(ties_are_exact),
        cmocka_unit_test(many_copies_of_one),
        cmocka_unit_test(threads_find_alike),
        cmocka_unit_test(a_cancel_ends_it),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests_name("duplicates", tests, NULL, NULL);
}
