#include "tests/engine/fixture.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 };

typedef struct seen {
    char id[MOST][40]; /* n */
    double score[MOST];
    uint64_t group[MOST], size[MOST], groups, copies;
    bool representative[MOST], provisional[MOST];
    size_t n;
} seen;

static seen last;

static gf_status note(void *context, const gf_near_duplicate *d, gf_error *err)
{
    seen *s = context;
    if (s->n == MOST) return gf_fail(err, GF_ELIMIT, "too many");
    snprintf(s->id[s->n], 40, "%.*s", GF_SLICE_ARG(d->document->id));
    s->score[s->n] = d->score;
    s->group[s->n] = d->group;
    s->size[s->n] = d->size;
    s->representative[s->n] = d->representative;
    s->provisional[s->n] = d->membership && d->membership->provisional;
    s->groups = d->groups;
    s->copies = d->copies;
    s->n++;
    return GF_OK;
}

static gf_status try_find(fixture *f, const gf_near_duplicates_options *o, gf_error *err)
{
    gf_near_duplicates_options all = GF_NEAR_DUPLICATES_OPTIONS(.threads = 1);
    last.n = 0;
    return gf_near_duplicates(f->store, fixture_place("c"), o ? o : &all, note, &last, err);
}

static void find(fixture *f, double least)
{
    gf_error err;
    gf_near_duplicates_options o = GF_NEAR_DUPLICATES_OPTIONS(.least = least, .threads = 2);
    assert_ok(try_find(f, &o, &err));
}

/* "id:group" of all that were seen. */
static const char *told(void)
{
    static char text[MOST * 48];
    text[0] = 0;
    for (size_t i = 0; i < last.n; i++)
        sprintf(text + strlen(text), "%s%s:%d", i ? " " : "", last.id[i], (int)last.group[i]);
    return text;
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* idf=none, rows as in test_similar.c: "red" and "red apple" have a cosine of .707. */
static void by_hand(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_texts(&f, "c",
                      (const char *const[]){"red apple", "red", "apple red", "plum", "a pear",
                                            "Plum!", "apple, red plum", "the", ""},
                      9);
    fixture_set(&f, "c", "default", "k", "1");
    fixture_set(&f, "c", "default", "idf", "none");
    fixture_set(&f, "c", "default", "language", "none");
    fixture_rebuild(&f, "c");
    find(&f, 0);
    assert_string_equal(told(), "000:1 002:1 006:1 003:2 005:2");
    assert_true(last.representative[0] && !last.representative[1] && last.representative[3]);
    assert_true(last.score[0] == 1 && last.score[1] == 1 && last.score[4] == 1);
    assert_near(last.score[2], 2 / sqrt(6), 1e-6);
    assert_int_equal(last.size[0], 3);
    assert_int_equal(last.groups, 2);
    assert_int_equal(last.copies, 3);
    find(&f, 1);
    assert_string_equal(told(), "000:1 002:1 003:2 005:2");
    find(&f, .7);
    assert_string_equal(told(), "000:1 002:1 006:1 001:1 003:2 005:2");
    gf_error err;
    gf_near_duplicates_options few =
        GF_NEAR_DUPLICATES_OPTIONS(.limit = 1, .members = 2, .threads = 1);
    assert_ok(try_find(&f, &few, &err));
    assert_string_equal(told(), "000:1 002:1");
    assert_int_equal(last.size[1], 3);
    assert_int_equal(last.groups, 2);
    fixture_close(&f);
}

/* The earliest stands for a group, whatever its id; one without a time is the last. */
static void the_earliest_stands_for_its_group(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_put_field(&f, "n", "x", "the printer is on fire again", "1500000000", "1");
    fixture_put_field(&f, "n", "y", "the printer is on fire again!", "\"2001-01-01\"", "1");
    fixture_put(&f, "c", "a", "The printer is on fire again");
    fixture_rebuild(&f, "c");
    find(&f, 0);
    assert_string_equal(told(), "y:1 x:1 a:1");
    fixture_close(&f);
}

static void what_is_put_counts_at_once(void **state)
{
    (void)state;
    gf_error err;
    gf_near_duplicates_options fresh = GF_NEAR_DUPLICATES_OPTIONS(.fresh = true, .threads = 2);
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_put(&f, "c", "20", "planets orbit a distant star");
    fixture_put(&f, "c", "21", "planets orbit a distant star");
    fixture_rebuild(&f, "c");
    find(&f, .999);
    size_t before = last.n;
    assert_ok(try_find(&f, &fresh, &err));
    assert_int_equal(last.n, 0);
    fixture_put(&f, "c", "new", "Distant planets orbit a star");
    find(&f, .999);
    assert_int_equal(last.n, before + 1);
    assert_ok(try_find(&f, &fresh, &err));
    assert_string_equal(last.id[last.n - 1], "new");
    assert_true(last.provisional[last.n - 1]);
    assert_int_equal(last.group[last.n - 1], 1);
    fixture_delete(&f, "c", "new");
    assert_ok(try_find(&f, &fresh, &err));
    assert_int_equal(last.n, 0);
    fixture_close(&f);
}

static void settings_choose_documents(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_put_field(&f, "area", "x", "the printer is on fire again", "1500000000", "\"a\"");
    fixture_put_field(&f, "area", "y", "the printer is on fire again", "1500000001", "\"b\"");
    fixture_put_field(&f, "area", "z", "the printer is on fire again", "1500000002", "\"a\"");
    fixture_set(&f, "c", "default", "filter", "area=a");
    fixture_rebuild(&f, "c");
    find(&f, 0);
    assert_string_equal(told(), "x:1 z:1");
    fixture_close(&f);
}

static void errors_are_told(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    fixture_open(&f);
    assert_status(GF_ENOTFOUND, try_find(&f, NULL, &err));
    fixture_put_subjects(&f, "c");
    assert_status(GF_ENOTFOUND, try_find(&f, NULL, &err));
    fixture_rebuild(&f, "c");
    gf_near_duplicates_options bad = GF_NEAR_DUPLICATES_OPTIONS(.least = 1.5);
    assert_status(GF_EINVAL, try_find(&f, &bad, &err));
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    gf_near_duplicates_options ended = GF_NEAR_DUPLICATES_OPTIONS(.cancel = &cancel);
    assert_status(GF_ECANCELLED, try_find(&f, &ended, &err));
    fixture_close(&f);
}

/* ---- against all pairs of the rows that the build gives as a matrix -------------------------- */

static double length_of(gf_row_view row)
{
    double sum = 0;
    for (uint32_t i = 0; i < row.n; i++)
        sum += (double)row.val[i] * (double)row.val[i];
    return sqrt(sum);
}

static bool rows_are_equal(gf_row_view a, gf_row_view b)
{
    return a.n == b.n && memcmp(a.col, b.col, a.n * sizeof *a.col) == 0 &&
           memcmp(a.val, b.val, a.n * sizeof *a.val) == 0;
}

typedef struct timed {
    uint32_t row;
    long long time;
} timed;

static gf_status note_time(void *context, const gf_document *d, gf_error *err)
{
    (void)err;
    char text[32];
    snprintf(text, sizeof text, "%.*s", GF_SLICE_ARG(d->time));
    *(long long *)context = strtoll(text, NULL, 10);
    return GF_OK;
}

static int by_time(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

/* The rows by time, then by id; all posts have one, in seconds. */
static timed *order_posts(fixture *f, const gf_build_matrix *m)
{
    gf_error err;
    timed *order = gf_array(m->rows.n_rows, sizeof *order);
    for (uint32_t i = 0; i < m->rows.n_rows; i++) {
        order[i].row = i;
        assert_ok(gf_document_read(f->store, fixture_place("c"), m->id[i], note_time,
                                   &order[i].time, &err));
    }
    qsort(order, m->rows.n_rows, sizeof *order, by_time);
    return order;
}

static uint32_t find_slowly(const gf_csr *x, const timed *order, double least, uint32_t *of)
{
    uint32_t copies = 0;
    for (uint32_t a = 0; a < x->n_rows; a++) {
        uint32_t i = order[a].row;
        gf_row_view row = gf_csr_row(x, i);
        double best = 0;
        bool same = row.n == 0;
        of[i] = i;
        for (uint32_t b = 0; b < a && !same; b++) {
            same = rows_are_equal(row, gf_csr_row(x, order[b].row));
            if (same) of[i] = of[order[b].row];
        }
        for (uint32_t b = 0; b < a && !same; b++) {
            uint32_t j = order[b].row;
            gf_row_view other = gf_csr_row(x, j);
            if (of[j] != j || other.n == 0) continue;
            double cosine = gf_csr_row_dot(row, other) / (length_of(row) * length_of(other));
            if (cosine >= least && cosine > best) best = cosine, of[i] = j;
        }
        copies += of[i] != i;
    }
    return copies;
}

static void groups_are_those_of_all_pairs(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_rebuild(&f, "c");
    gf_view *view;
    gf_build_matrix m;
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_read_matrix(view, NULL, &m, &err));
    uint32_t n = m.rows.n_rows, *of = gf_array(n, sizeof *of), most = 0;
    timed *order = order_posts(&f, &m);
    const double least[] = {1, .9, .8, .5, .3, .2, .1};
    for (size_t l = 0; l < sizeof least / sizeof least[0]; l++) {
        uint32_t copies = find_slowly(&m.rows, order, least[l], of), told_copies = 0;
        if (copies > most) most = copies;
        find(&f, least[l]);
        if (copies) assert_int_equal(last.copies, copies);
        gf_slice own = {0};
        for (size_t i = 0; i < last.n; i++) {
            uint32_t row = 0;
            while (!gf_slice_equal(m.id[row], gf_slice_str(last.id[i])))
                row++;
            if (last.representative[i]) own = m.id[row];
            if (!gf_slice_equal(m.id[of[row]], own))
                fail_msg("%s at %g: expected of %.*s", last.id[i], least[l],
                         GF_SLICE_ARG(m.id[of[row]]));
            told_copies += !last.representative[i];
        }
        assert_int_equal(told_copies, copies);
    }
    assert_true(most > 20);
    gf_free(of);
    gf_free(order);
    gf_build_matrix_release(&m);
    gf_view_close(view);
    fixture_close(&f);
}

static void threads_find_alike(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    static seen one;
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_rebuild(&f, "c");
    for (unsigned threads = 1; threads < 5; threads++) {
        gf_near_duplicates_options o = GF_NEAR_DUPLICATES_OPTIONS(.least = .2, .threads = threads);
        assert_ok(try_find(&f, &o, &err));
        if (threads == 1) one = last;
        assert_int_equal(one.n, last.n);
        assert_memory_equal(one.id, last.id, one.n * sizeof *one.id);
        assert_memory_equal(one.score, last.score, one.n * sizeof *one.score);
    }
    assert_true(one.n > 20);
    fixture_close(&f);
}

static gf_status find_swept(void *context, gf_error *err)
{
    return try_find(context, NULL, err);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_texts(&f, "c", (const char *const[]){"red apple", "red", "apple red", "plum"}, 4);
    fixture_rebuild(&f, "c");
    gf_test_sweep(find_swept, NULL, &f);
    assert_int_equal(last.n, 2);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(the_earliest_stands_for_its_group),
        cmocka_unit_test(what_is_put_counts_at_once),
        cmocka_unit_test(settings_choose_documents),
        cmocka_unit_test(errors_are_told),
        cmocka_unit_test(groups_are_those_of_all_pairs),
        cmocka_unit_test(threads_find_alike),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("near_duplicates", tests, NULL, NULL);
}
