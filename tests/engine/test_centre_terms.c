#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "cluster/measure/term_growth.h"
#include "engine/build/centre_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 4, GROUP_TERMS = 3000, LENGTH = 20 };

static int by_column(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/*
 * Rows in turn of groups with terms of their own, of which low ones come more often; every seventh is empty,
 * and every row else has a word that none other has.
 */
static gf_csr rows_of_groups(uint32_t n, gf_random *random)
{
    gf_error err;
    gf_csr x;
    assert_ok(gf_csr_init(&x, n, GROUPS * GROUP_TERMS + n, (uint64_t)n * (LENGTH + 1), &err));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = 0, col[LENGTH + 1];
        while (i % 7 != 3 && at < LENGTH) {
            double u = gf_random_unit(random);
            uint32_t term = i % GROUPS * GROUP_TERMS + (uint32_t)(GROUP_TERMS * u * u * u), p = 0;
            while (p < at && col[p] != term)
                p++;
            if (p == at) col[at++] = term;
        }
        if (at) col[at++] = GROUPS * GROUP_TERMS + i;
        qsort(col, at, sizeof *col, by_column);
        x.start[i + 1] = x.start[i] + at;
        for (uint32_t p = 0; p < at; p++) {
            x.col[x.start[i] + p] = col[p];
            x.val[x.start[i] + p] = (float)(1 / sqrt(at));
        }
    }
    return x;
}

/* The terms that each group has, without those of one row: how many, and entries of them. */
static void count_groups(const gf_csr *x, double *terms, double *entries)
{
    uint32_t *rows = gf_calloc(x->n_cols, sizeof *rows);
    assert_non_null(rows);
    for (uint64_t p = 0; p < gf_csr_nnz(x); p++)
        rows[x->col[p]]++;
    *terms = *entries = 0;
    for (uint32_t t = 0; t < x->n_cols; t++) {
        if (rows[t] < 2) continue;
        *terms += 1;
        *entries += rows[t];
    }
    gf_free(rows);
}

/* As many clusters as there are groups find the groups: the fit is that of their terms. */
static void terms_of_groups_are_found(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(11, 0);
    gf_error err;
    double a, terms, entries;
    gf_csr x = rows_of_groups(1400, &random);
    count_groups(&x, &terms, &entries);
    assert_ok(gf_centre_terms_fit(NULL, &x, GROUPS, NULL, &a, &err));
    assert_near(a / gf_term_growth_fit(entries / GROUPS, terms / GROUPS), 1, .02);
    /* No more clusters than are asked for, though there could be 60. */
    assert_ok(gf_centre_terms_fit(NULL, &x, 1, NULL, &a, &err));
    assert_near(a / gf_term_growth_fit(entries, terms), 1, 1e-9);
    gf_csr_release(&x);
}

static void nothing_has_no_terms(void **state)
{
    (void)state;
    gf_error err;
    gf_csr x;
    double a = 0;
    assert_ok(gf_csr_init(&x, 5, 10, 0, &err));
    memset(x.start, 0, 6 * sizeof *x.start);
    assert_ok(gf_centre_terms_fit(NULL, &x, 3, NULL, &a, &err));
    assert_true(a > 0);
    gf_csr_release(&x);
}

static double fitted;

static gf_status fit_swept(void *context, gf_error *err)
{
    return gf_centre_terms_fit(NULL, context, GROUPS, NULL, &fitted, err);
}

static void a_failed_allocation_is_told(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(12, 0);
    gf_csr x = rows_of_groups(100, &random);
    gf_test_sweep(fit_swept, NULL, &x);
    gf_csr_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(terms_of_groups_are_found),
                                       cmocka_unit_test(nothing_has_no_terms),
                                       cmocka_unit_test(a_failed_allocation_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
