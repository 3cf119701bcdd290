#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "cluster/measure/figures.h"

#include <math.h>
#include <string.h>

enum { NOWHERE = UINT32_MAX };

static gf_row_view row_of(const uint32_t *terms, uint32_t n)
{
    return (gf_row_view){terms, NULL, n};
}

/*
 * Five documents: {0 1} {0 1 2} {0} {2} {}. Terms 0 and 1 meet in 2: 5 * 2 / (3 * 2) = 5/3, over
 * 5/2; 0 and 2, and 1 and 2, in one: 5 / 6 and 5 / 4, over 5.
 */
static void by_hand(void **state)
{
    (void)state;
    gf_error err;
    static const uint32_t a[] = {0, 1}, b[] = {0, 1, 2}, c[] = {0}, d[] = {2};
    const gf_figures_watch watch = {
        .term = {0, 1, 2}, .n_terms = 3, .word = {1, 2}, .n_words = 2, .part = {1, 2}};
    gf_figures_index x;
    gf_figures_tally t;
    assert_ok(gf_figures_index_init(&x, &watch, 1, 3, &err));
    assert_ok(gf_figures_tally_init(&t, &x, &err));
    gf_figures_tally_add(&t, &x, row_of(a, 2), 0);
    gf_figures_tally_add(&t, &x, row_of(b, 3), 0);
    gf_figures_tally_add(&t, &x, row_of(c, 1), 0);
    gf_figures_tally_add(&t, &x, row_of(d, 1), NOWHERE);
    gf_figures_tally_add(&t, &x, row_of(NULL, 0), NOWHERE);
    gf_figures_count all = {.found = 0}, *count = &all;
    gf_figures_count_add(count, &t, &x, 0);
    assert_true(count->with[0] == 3 && count->with[1] == 2 && count->with[2] == 2);
    assert_int_equal(count->together[gf_figures_pair(0, 1)], 2);
    assert_int_equal(count->together[gf_figures_pair(0, 2)], 1);
    assert_int_equal(count->together[gf_figures_pair(1, 2)], 1);
    assert_int_equal(count->found, 3); /* "1 / 2": all but {0} and {} */
    assert_int_equal(count->members, 2);
    double expected = (log(5.0 / 3) / log(2.5) + log(5.0 / 6) / log(5) + log(5.0 / 4) / log(5)) / 3;
    assert_near(gf_figures_npmi(count, 3, 5), expected, 1e-12);
    gf_figures_tally_release(&t);
    gf_figures_index_release(&x);
}

static void the_limits_are_defined(void **state)
{
    (void)state;
    gf_figures_count c = {.with = {4, 4, 2}, .together = {4}};
    assert_true(isnan(gf_figures_npmi(&c, 0, 4)));
    assert_true(isnan(gf_figures_npmi(&c, 1, 4)));
    assert_near(gf_figures_npmi(&c, 2, 4), 1, 0);                 /* both in all documents */
    assert_near(gf_figures_npmi(&c, 3, 8), (1 - 1 - 1) / 3.0, 0); /* always; never, never */
}

/* ---- by definition --------------------------------------------------------------------------- */

enum { K = 7, COLS = 40, DOCUMENTS = 300, MOST_ROW = 12 };

typedef struct collection {
    gf_figures_watch watch[K];
    bool has[DOCUMENTS][COLS];
    uint32_t cluster[DOCUMENTS];
} collection;

static void pick_distinct(gf_random *r, uint32_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        bool again = true;
        while (again) {
            out[i] = (uint32_t)gf_random_below(r, COLS);
            again = false;
            for (uint32_t j = 0; j < i; j++)
                again |= out[j] == out[i];
        }
    }
}

static void make_collection(collection *c, gf_random *r)
{
    memset(c, 0, sizeof *c);
    for (uint32_t k = 0; k < K; k++) {
        gf_figures_watch *w = &c->watch[k];
        w->n_terms = k == 0 ? GF_FIGURES_TERMS : (uint32_t)gf_random_below(r, GF_FIGURES_TERMS + 1);
        w->n_words = (uint32_t)gf_random_below(r, 6);
        pick_distinct(r, w->term, w->n_terms);
        pick_distinct(r, w->word, w->n_words);
        for (uint32_t i = 0; i < w->n_words; i++)
            w->part[gf_random_below(r, 2)] |= 1u << i;
    }
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        for (uint64_t n = gf_random_below(r, MOST_ROW + 1); n > 0; n--)
            c->has[d][gf_random_below(r, COLS)] = true;
        c->cluster[d] = d % 11 == 0 ? NOWHERE : (uint32_t)gf_random_below(r, K);
    }
}

static bool part_is_in(const gf_figures_watch *w, uint32_t part, const bool has[COLS])
{
    if (w->part[part] == 0) return false;
    for (uint32_t i = 0; i < w->n_words; i++)
        if (w->part[part] >> i & 1 && !has[w->word[i]]) return false;
    return true;
}

static void check_cluster(const collection *c, uint32_t k, const gf_figures_count *count)
{
    const gf_figures_watch *w = &c->watch[k];
    uint32_t found = 0, members = 0, pairs = 0;
    double sum = 0;
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        bool in = part_is_in(w, 0, c->has[d]) || part_is_in(w, 1, c->has[d]);
        found += in;
        members += in && c->cluster[d] == k;
    }
    assert_int_equal(count->found, found);
    assert_int_equal(count->members, members);
    for (uint32_t i = 0; i < w->n_terms; i++)
        for (uint32_t j = i + 1; j < w->n_terms; j++) {
            double a = 0, b = 0, both = 0, n = DOCUMENTS;
            for (uint32_t d = 0; d < DOCUMENTS; d++) {
                a += c->has[d][w->term[i]];
                b += c->has[d][w->term[j]];
                both += c->has[d][w->term[i]] && c->has[d][w->term[j]];
            }
            sum += both > 0 ? log((both / n) / (a / n * (b / n))) / -log(both / n) : -1;
            pairs++;
        }
    double npmi = gf_figures_npmi(count, w->n_terms, DOCUMENTS);
    if (pairs == 0)
        assert_true(isnan(npmi));
    else
        assert_near(npmi, sum / pairs, 1e-12);
}

/* Counted in two parts, which are added. */
static void equal_a_plain_count(void **state)
{
    (void)state;
    gf_error err;
    static collection c;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 20; round++) {
        gf_figures_index x;
        gf_figures_tally t[2];
        make_collection(&c, &r);
        assert_ok(gf_figures_index_init(&x, c.watch, K, COLS, &err));
        for (int i = 0; i < 2; i++)
            assert_ok(gf_figures_tally_init(&t[i], &x, &err));
        for (uint32_t d = 0; d < DOCUMENTS; d++) {
            uint32_t terms[COLS], n = 0;
            for (uint32_t term = 0; term < COLS; term++)
                if (c.has[d][term]) terms[n++] = term;
            gf_figures_tally_add(&t[d % 3 == 0], &x, row_of(terms, n), c.cluster[d]);
        }
        for (uint32_t k = 0; k < K; k++) {
            gf_figures_count count = {.found = 0};
            gf_figures_count_add(&count, &t[0], &x, k);
            gf_figures_count_add(&count, &t[1], &x, k);
            check_cluster(&c, k, &count);
        }
        for (int i = 0; i < 2; i++)
            gf_figures_tally_release(&t[i]);
        gf_figures_index_release(&x);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static gf_status count_something(void *context, gf_error *err)
{
    const gf_figures_watch *watch = context;
    static const uint32_t row[] = {1, 2};
    gf_figures_index x = {0};
    gf_figures_tally t = {0};
    gf_status st = gf_figures_index_init(&x, watch, 1, 3, err);
    if (st == GF_OK) st = gf_figures_tally_init(&t, &x, err);
    if (st == GF_OK) gf_figures_tally_add(&t, &x, row_of(row, 2), 0);
    gf_figures_tally_release(&t);
    gf_figures_index_release(&x);
    return st;
}

static void failing_allocations(void **state)
{
    (void)state;
    gf_figures_watch watch = {.term = {0, 1}, .n_terms = 2, .word = {2}, .n_words = 1, .part = {1}};
    gf_test_sweep(count_something, NULL, &watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand), cmocka_unit_test(the_limits_are_defined),
        cmocka_unit_test(equal_a_plain_count), cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
