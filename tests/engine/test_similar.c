#include "tests/engine/fixture.h"

#include "base/random.h"
#include "engine/rows/index_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HITS = 4096 };

typedef struct hits {
    char id[MOST_HITS][40]; /* n */
    double score[MOST_HITS];
    bool provisional[MOST_HITS];
    size_t n;
} hits;

static hits last;

static gf_status note(void *context, const gf_hit *hit, gf_error *err)
{
    hits *h = context;
    if (h->n == MOST_HITS) return gf_fail(err, GF_ELIMIT, "too many");
    snprintf(h->id[h->n], 40, "%.*s", GF_SLICE_ARG(hit->document->id));
    h->score[h->n] = hit->score;
    h->provisional[h->n] = hit->membership && hit->membership->provisional;
    h->n++;
    return GF_OK;
}

static gf_status try_similar(fixture *f, const char *id, const char *text, uint64_t limit,
                             gf_error *err)
{
    gf_similar_options o =
        GF_SIMILAR_OPTIONS(.id = gf_slice_str(id), .text = gf_slice_str(text), .limit = limit);
    last.n = 0;
    return gf_similar(f->store, fixture_place("c"), &o, note, &last, err);
}

static void similar(fixture *f, const char *id, const char *text, uint64_t limit)
{
    gf_error err;
    assert_ok(try_similar(f, id, text, limit, &err));
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* idf=none, so rows are red-apple (1,1)/sqrt 2, red (1), red-apple-apple: (1, 1 + ln 2)/sqrt ... */
static void by_hand(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_texts(&f, "c",
                      (const char *const[]){"red apple", "red", "apple red", "plum", "a pear"}, 5);
    fixture_set(&f, "c", "default", "k", "1");
    fixture_set(&f, "c", "default", "idf", "none");
    fixture_set(&f, "c", "default", "language", "none");
    fixture_rebuild(&f, "c");
    similar(&f, "000", NULL, 0);
    assert_int_equal(last.n, 2);
    assert_string_equal(last.id[0], "002");
    assert_near(last.score[0], 1, 1e-6);
    assert_string_equal(last.id[1], "001");
    assert_near(last.score[1], 0.70710678, 1e-6);
    similar(&f, NULL, "An apple", 0);
    assert_int_equal(last.n, 2);
    assert_string_equal(last.id[0], "000");
    assert_near(last.score[0], 0.70710678, 1e-6);
    assert_near(last.score[1], 0.70710678, 1e-6);
    assert_string_equal(last.id[1], "002");
    similar(&f, "003", NULL, 0);
    assert_int_equal(last.n, 0);
    similar(&f, NULL, "unknown words", 0);
    assert_int_equal(last.n, 0);
    fixture_close(&f);
}

static void errors_are_told(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    fixture_open(&f);
    assert_status(GF_ENOTFOUND, try_similar(&f, "000", NULL, 1, &err));
    fixture_put_subjects(&f, "c");
    assert_status(GF_ENOTFOUND, try_similar(&f, "000", NULL, 1, &err));
    fixture_rebuild(&f, "c");
    assert_status(GF_ENOTFOUND, try_similar(&f, "xyz", NULL, 1, &err));
    assert_string_equal(err.message, "there is no document \"xyz\" in \"c\"");
    fixture_close(&f);
}

static void what_is_put_is_compared_at_once(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "new", "planets orbit a distant star");
    similar(&f, "008", NULL, 1);
    assert_string_equal(last.id[0], "new");
    assert_near(last.score[0], 1, 1e-6);
    assert_true(last.provisional[0]);
    similar(&f, "new", NULL, 1);
    assert_string_equal(last.id[0], "008");
    fixture_delete(&f, "c", "new");
    fixture_put(&f, "c", "000", "planets orbit a distant star");
    similar(&f, "008", NULL, 1);
    assert_string_equal(last.id[0], "000");
    similar(&f, "001", NULL, 0);
    for (size_t i = 0; i < last.n; i++)
        assert_string_not_equal(last.id[i], "000");
    fixture_delete(&f, "c", "000");
    similar(&f, "008", NULL, 0);
    for (size_t i = 0; i < last.n; i++)
        assert_string_not_equal(last.id[i], "000");
    fixture_close(&f);
}

/* ---- against all rows of the build ----------------------------------------------------------- */

typedef struct expected {
    const gf_slice *id;
    double *score; /* n */
    uint32_t *order;
} expected;

static int by_rank(const void *a, const void *b, void *context)
{
    const expected *e = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (fabs(e->score[x] - e->score[y]) > 1e-9) return e->score[x] > e->score[y] ? -1 : 1;
    return gf_slice_compare(e->id[x], e->id[y]);
}

/* The matrix is worked out by another way: gf_view_read_matrix. */
static void compare(fixture *f, const gf_build_matrix *m, uint32_t row, size_t limit)
{
    const gf_csr *x = &m->rows;
    expected e = {m->id, malloc(x->n_rows * sizeof(double)), malloc(x->n_rows * sizeof(uint32_t))};
    size_t n = 0;
    char id[40];
    for (uint32_t i = 0; i < x->n_rows; i++) {
        e.score[i] = gf_csr_row_dot(gf_csr_row(x, row), gf_csr_row(x, i));
        if (i != row && e.score[i] > 0) e.order[n++] = i;
    }
    qsort_r(e.order, n, sizeof *e.order, by_rank, &e);
    if (limit && n > limit) n = limit;
    snprintf(id, sizeof id, "%.*s", GF_SLICE_ARG(m->id[row]));
    similar(f, id, NULL, limit);
    if (last.n != n) fail_msg("%s: %zu documents, not %zu", id, last.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_near(last.score[i], e.score[e.order[i]], 1e-6);
        bool same = gf_slice_equal(gf_slice_str(last.id[i]), m->id[e.order[i]]);
        bool tied = i + 1 < n && fabs(e.score[e.order[i]] - e.score[e.order[i + 1]]) < 1e-6;
        tied |= i > 0 && fabs(e.score[e.order[i]] - e.score[e.order[i - 1]]) < 1e-6;
        if (!same && !tied)
            fail_msg("%s: rank %zu is %s, not %.*s", id, i + 1, last.id[i],
                     GF_SLICE_ARG(m->id[e.order[i]]));
    }
    free(e.score);
    free(e.order);
}

static void compare_some(fixture *f, gf_random *random, size_t runs)
{
    gf_error err;
    gf_view *view;
    gf_build_matrix m;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_read_matrix(view, NULL, &m, &err));
    for (size_t i = 0; i < runs; i++)
        compare(f, &m, (uint32_t)gf_random_below(random, m.rows.n_rows), i % 3 ? 1 + i : 0);
    gf_build_matrix_release(&m);
    gf_view_close(view);
}

static void as_a_walk_over_posts_finds(void **state)
{
    (void)state;
    fixture f;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_rebuild(&f, "c");
    compare_some(&f, &random, 60);
    fixture_set(&f, "c", "default", "ngrams", "1-2");
    fixture_rebuild(&f, "c");
    compare_some(&f, &random, 30);
    fixture_set(&f, "c", "default", "store_index", "off");
    fixture_rebuild(&f, "c");
    compare_some(&f, &random, 10);
    fixture_close(&f);
}

static void as_a_walk_over_segments_finds(void **state)
{
    gf_index_set_shape((gf_index_shape){100, 64, 12});
    as_a_walk_over_posts_finds(state);
    what_is_put_is_compared_at_once(state);
    gf_index_set_shape((gf_index_shape){0});
}

static void as_a_walk_over_newsgroups_finds(void **state)
{
    (void)state;
    if (!gf_test_has_data()) skip();
    fixture f;
    gf_buffer file = {0};
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    fixture_open(&f);
    gf_test_read_data("20newsgroups/20newsgroups.jsonl.gz", &file);
    fixture_put_records(&f, "c", gf_buffer_view(&file), 2000);
    gf_buffer_release(&file);
    fixture_set(&f, "c", "default", "k", "5");
    fixture_rebuild(&f, "c");
    compare_some(&f, &random, 30);
    fixture_close(&f);
}

static gf_status similar_swept(void *context, gf_error *err)
{
    return try_similar(context, "008", NULL, 2, err);
}

static void allocation_failures_are_told(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "new", "an old comet");
    gf_test_sweep(similar_swept, NULL, &f);
    assert_int_equal(last.n, 2);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(errors_are_told),
        cmocka_unit_test(what_is_put_is_compared_at_once),
        cmocka_unit_test(as_a_walk_over_posts_finds),
        cmocka_unit_test(as_a_walk_over_segments_finds),
        cmocka_unit_test(as_a_walk_over_newsgroups_finds),
        cmocka_unit_test(allocation_failures_are_told),
    };
    return cmocka_run_group_tests_name("similar", tests, NULL, NULL);
}
