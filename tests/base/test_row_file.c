#include "base/row_file.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"

#include <string.h>

enum { ROWS = 300, COLS = 50 };

/* A matrix of random rows, some of them empty, and the same in a file, written in pieces. */
static gf_csr make(gf_random *random)
{
    gf_csr x;
    gf_error err;
    uint64_t at = 0;
    assert_ok(gf_csr_init(&x, ROWS, COLS, ROWS * COLS, &err));
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t c = 0; c < COLS; c++) {
            if (gf_random_below(random, 1 + i % 9) != 1) continue;
            x.col[at] = c;
            x.val[at++] = (float)gf_random_unit(random);
        }
        x.start[i + 1] = at;
    }
    return x;
}

static gf_row_file spill(const gf_csr *x)
{
    gf_error err;
    gf_spill *s;
    uint64_t entries = gf_csr_nnz(x);
    assert_ok(gf_spill_create(gf_test_folder(), &s, &err));
    for (uint32_t i = ROWS; i > 0;) { /* from the last on: pieces may come in any order */
        uint32_t from = i > 7 ? i - 7 : 0;
        uint64_t at = x->start[from];
        assert_ok(
            gf_row_file_write(s, entries, at, x->start[i] - at, x->col + at, x->val + at, &err));
        i = from;
    }
    return (gf_row_file){x->n_rows, x->n_cols, x->start, entries, s};
}

static void assert_row(const gf_csr *got, uint32_t i, const gf_csr *x, uint32_t row)
{
    gf_row_view a = gf_csr_row(got, i), b = gf_csr_row(x, row);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.col, b.col, a.n * sizeof *a.col);
    assert_memory_equal(a.val, b.val, a.n * sizeof *a.val);
}

static void test_rows(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_csr x = make(&random), got;
    gf_row_file f = spill(&x);
    for (int i = 0; i < 100; i++) {
        uint32_t first = (uint32_t)gf_random_below(&random, ROWS + 1);
        uint32_t n = (uint32_t)gf_random_below(&random, ROWS - first + 1), rows[ROWS];
        assert_ok(gf_row_file_read(&f, first, n, &got, &err));
        assert_int_equal(got.n_rows, n);
        for (uint32_t r = 0; r < n; r++)
            assert_row(&got, r, &x, first + r);
        gf_csr_release(&got);

        uint32_t m = 0;
        for (uint32_t r = 0; r < ROWS && m < ROWS; r++)
            if (gf_random_below(&random, 3) == 0) rows[m++] = r;
        if (m > 1) rows[1] = rows[0];
        assert_ok(gf_row_file_pick(&f, rows, m, &got, &err));
        assert_ok(gf_csr_check(&got, &err));
        for (uint32_t r = 0; r < m; r++)
            assert_row(&got, r, &x, rows[r]);
        gf_csr_release(&got);
    }
    gf_spill_free(f.spill);
    gf_csr_release(&x);
}

static void test_short_file(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(1, 0);
    gf_csr x = make(&random), got = {.n_rows = 7};
    gf_row_file f = spill(&x);
    f.entries += 1000;
    assert_status(GF_EIO, gf_row_file_read(&f, 0, ROWS, &got, &err));
    uint32_t rows[] = {0, ROWS - 1};
    assert_status(GF_EIO, gf_row_file_pick(&f, rows, 2, &got, &err));
    assert_int_equal(got.n_rows, 7);
    gf_spill_free(f.spill);
    gf_csr_release(&x);
}

static gf_status read_both(void *context, gf_error *err)
{
    const uint32_t rows[] = {3, 8, 9};
    gf_csr a = {0}, b = {0};
    gf_status st = gf_row_file_read(context, 1, 5, &a, err);
    if (st == GF_OK) st = gf_row_file_pick(context, rows, 3, &b, err);
    gf_csr_release(&a);
    gf_csr_release(&b);
    return st;
}

static void test_sweep(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(1, 0);
    gf_csr x = make(&random);
    gf_row_file f = spill(&x);
    gf_test_sweep(read_both, NULL, &f);
    gf_spill_free(f.spill);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_short_file),
                                       cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
