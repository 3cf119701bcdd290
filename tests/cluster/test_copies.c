#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/label/copies.h"

#include <string.h>

static void find(const gf_csr *x, const uint32_t *row, uint32_t n, uint32_t *first)
{
    gf_error err;
    gf_copies *copies;
    assert_ok(gf_copies_create(x->n_cols, &copies, &err));
    assert_ok(gf_copies_find(copies, x, row, n, first, &err));
    /* Nothing of one cluster is left for the next. */
    uint32_t *again = gf_array(n, sizeof *again);
    assert_ok(gf_copies_find(copies, x, row, n, again, &err));
    assert_memory_equal(first, again, n * sizeof *first);
    gf_free(again);
    gf_copies_free(copies);
}

/* a, b, a again, nearly a, empty, empty, two terms that are nearly alike, the same two. */
static void copies_by_hand(void **state)
{
    (void)state;
    const float values[] = {
        3, 3, 3, 1, 0, 0, 0, /* a */
        0, 0, 0, 1, 3, 3, 0, /* b */
        3, 3, 3, 1, 0, 0, 0, /* a */
        3, 3, 3, 0, 1, 0, 0, /* nearly a */
        0, 0, 0, 0, 0, 0, 0, /* empty */
        0, 0, 0, 0, 0, 0, 0, /* empty */
        0, 0, 0, 0, 0, 1, 5, /* two terms */
        0, 0, 0, 0, 0, 2, 5, /* cosine .98 */
        0, 0, 0, 0, 0, 1, 5, /* the same */
    };
    const uint32_t row[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, expected[] = {0, 1, 0, 0, 4, 5, 6, 7, 6};
    const uint32_t backwards[] = {3, 2, 1, 0}, expected_then[] = {0, 0, 2, 0};
    uint32_t first[9];
    gf_csr x = rows_by_hand(values, 9, 7);
    find(&x, row, 9, first);
    assert_memory_equal(first, expected, sizeof expected);
    find(&x, backwards, 4, first);
    assert_memory_equal(first, expected_then, sizeof expected_then);
    find(&x, row, 0, first);
    gf_csr_release(&x);
}

/* By comparing each with all different ones before it. */
static void find_slowly(const gf_csr *x, uint32_t n, uint32_t *first)
{
    uint32_t different[GF_COPIES_DIFFERENT], m = 0;
    for (uint32_t i = 0; i < n; i++) {
        gf_row_view y = gf_csr_row(x, i);
        first[i] = i;
        for (uint32_t d = 0; d < m && first[i] == i; d++) {
            gf_row_view z = gf_csr_row(x, different[d]);
            double least = y.n < GF_COPIES_FEW || z.n < GF_COPIES_FEW ? GF_COPIES_LEAST_OF_FEW
                                                                      : GF_COPIES_LEAST;
            if (gf_csr_row_dot(y, z) >= least) first[i] = different[d];
        }
        if (first[i] == i && m < GF_COPIES_DIFFERENT) different[m++] = i;
    }
}

static void copies_as_by_comparing_all(void **state)
{
    (void)state;
    enum { ROWS = 400 };
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    uint32_t row[ROWS], first[ROWS], expected[ROWS], copies = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        row[i] = i;
    for (int round = 0; round < 50; round++) {
        /* Few columns: some rows are alike, and sometimes more than are kept differ. */
        gf_csr x = rows_random(ROWS, round % 2 ? 12 : 60, 6, &random);
        find(&x, row, ROWS, first);
        find_slowly(&x, ROWS, expected);
        assert_memory_equal(first, expected, sizeof expected);
        for (uint32_t i = 0; i < ROWS; i++)
            copies += first[i] != i;
        gf_csr_release(&x);
    }
    assert_true(copies > ROWS);
}

static gf_status find_swept(void *context, gf_error *err)
{
    const gf_csr *x = context;
    const uint32_t row[] = {0, 1, 2};
    uint32_t first[3];
    gf_copies *copies = NULL;
    gf_status st = gf_copies_create(x->n_cols, &copies, err);
    if (st == GF_OK) st = gf_copies_find(copies, x, row, 3, first, err);
    gf_copies_free(copies);
    return st;
}

static void memory_ends(void **state)
{
    (void)state;
    const float values[] = {1, 2, 3, 3, 2, 1, 1, 2, 3};
    gf_csr x = rows_by_hand(values, 3, 3);
    gf_test_sweep(find_swept, NULL, &x);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_by_hand),
        cmocka_unit_test(copies_as_by_comparing_all),
        cmocka_unit_test(memory_ends),
    };
    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
