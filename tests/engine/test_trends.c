/* Clusters over time. */
#include "tests/engine/fixture.h"

#include "base/clock.h"
#include "base/random.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const SUBJECTS[] = {"apple pear plum", "wheel brake engine", "river lake sea"};

static void put_dated(fixture *f, unsigned number, unsigned subject, const char *time)
{
    gf_error err;
    char id[16];
    snprintf(id, sizeof id, "%04u", number);
    gf_document d = {.id = gf_slice_str(id),
                     .text = gf_slice_str(SUBJECTS[subject]),
                     .time = time ? gf_slice_str(time) : (gf_slice){0}};
    assert_ok(fixture_try_put(f->store, "c", &d, &err));
}

static void rebuild(fixture *f)
{
    fixture_set(f, "c", "default", "k", "3");
    fixture_set(f, "c", "default", "min_df", "1");
    fixture_set(f, "c", "default", "max_df", "1.0");
    fixture_rebuild(f, "c");
}

static void trends_of(fixture *f, gf_period kind, size_t periods, gf_visit_trends *visit,
                      void *context)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_trends(view, kind, periods, visit, context, &err));
    gf_view_close(view);
}

/* "apple|4 0 1|before 0 undated 1|recent 1 earlier 4" and a line feed for each cluster. */
static gf_status write_trends(void *context, const gf_trends *t, gf_error *err)
{
    gf_buffer *b = context;
    if (t->n_periods) {
        gf_calendar_write(t->kind, t->first, b);
        gf_buffer_format(b, " recent %zu ", t->n_recent);
    }
    gf_buffer_format(b, "before %" PRIu64 " undated %" PRIu64 "\n", t->before, t->undated);
    for (size_t i = 0; i < t->n_clusters; i++) {
        const gf_trend *c = &t->clusters[i];
        gf_buffer_format(b, "%" PRIu64 ":", c->size);
        for (size_t p = 0; p < t->n_periods; p++)
            gf_buffer_format(b, " %" PRIu32, c->documents[p]);
        gf_buffer_format(b, "; %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %+.4f %+.4f\n",
                         c->before, c->undated, c->recent, c->earlier, c->change, c->z);
    }
    return gf_buffer_check(b, err);
}

static void trends_are(fixture *f, gf_period kind, size_t periods, const char *expected)
{
    gf_buffer text = {0};
    trends_of(f, kind, periods, write_trends, &text);
    assert_string_equal(gf_buffer_cstr(&text), expected);
    gf_buffer_release(&text);
}

/*
 * Four documents of the first subject in August, one in September, one without a time; of the
 * second one in August, five in November; of the third one in June and two in each other month.
 * By months from August on November is recent, with 5 of 7 and 0 of 7 documents and 2 of 7; before
 * it are 1, 5 and 6 of 12. Change of the second: ln(5.5 / 2.5) - ln(1.5 / 11.5) = 2.8253, divided
 * by sqrt(1/5.5 + 1/2.5 + 1/1.5 + 1/11.5) = 1.1556.
 */
static void counts_by_month(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    unsigned n = 0;
    for (int i = 0; i < 4; i++)
        put_dated(&f, n++, 0, "\"2026-08-31T23:59:59Z\"");
    put_dated(&f, n++, 0, "\"2026-09-01T00:00:00Z\"");
    put_dated(&f, n++, 0, NULL);
    put_dated(&f, n++, 1, "\"2026-08-01\"");
    for (int i = 0; i < 5; i++)
        put_dated(&f, n++, 1, "1795132800"); /* 2026-11-20 */
    put_dated(&f, n++, 2, "1780272000000");  /* 2026-06-01, in milliseconds */
    static const char *const months[] = {"\"2026-08-10\"", "\"2026-09-10\"", "\"2026-10-10\"",
                                         "\"2026-11-10\""};
    for (unsigned i = 0; i < 8; i++)
        put_dated(&f, n++, 2, months[i / 2]);
    rebuild(&f);
    trends_are(&f, GF_PERIOD_MONTH, 4,
               "2026-08 recent 1 before 1 undated 1\n"
               "6: 1 0 0 5; 0 0 5 1 +2.8253 +2.4449\n"
               "6: 4 1 0 0; 0 1 0 5 -2.3979 -1.5324\n"
               "9: 2 2 2 2; 1 0 2 6 -0.7885 -0.8360\n");
    trends_are(&f, GF_PERIOD_MONTH, 1,
               "2026-11 recent 1 before 13 undated 1\n"
               "9: 2; 7 0 2 0 +0.0000 +0.0000\n"
               "6: 0; 5 1 0 0 +0.0000 +0.0000\n"
               "6: 5; 1 0 5 0 +0.0000 +0.0000\n");
    fixture_close(&f);
}

static void without_times(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    for (unsigned i = 0; i < 6; i++)
        put_dated(&f, i, i % 3, NULL);
    rebuild(&f);
    gf_buffer text = {0};
    trends_of(&f, GF_PERIOD_DAY, 12, write_trends, &text);
    assert_true(gf_slice_starts(gf_buffer_view(&text), GF_SLICE("before 0 undated 6\n")));
    gf_buffer_release(&text);
    fixture_close(&f);
}

/* ---- against counts made while the documents are put ----------------------------------------- */

enum { DAYS = 40, MOST = 25 };

typedef struct tally {
    uint64_t days[3][DAYS]; /* of each subject */
    uint64_t deleted;
} tally;

static gf_status check_tally(void *context, const gf_trends *t, gf_error *err)
{
    const tally *expected = context;
    (void)err;
    assert_int_equal(t->n_periods, MOST);
    assert_int_equal(t->n_recent, MOST / 4);
    assert_int_equal(t->first, 20000 + DAYS - MOST);
    assert_int_equal(t->n_clusters, 3);
    unsigned seen = 0;
    for (unsigned i = 0; i < 3; i++) {
        const gf_trend *c = &t->clusters[i];
        unsigned s = 0;
        while (s < 3 && !memmem(SUBJECTS[s], strlen(SUBJECTS[s]), c->label.ptr, c->label.len))
            s++;
        assert_true(s < 3);
        seen |= 1u << s;
        uint64_t before = 0, sum = c->before + c->undated;
        for (unsigned d = 0; d < DAYS - MOST; d++)
            before += expected->days[s][d];
        assert_int_equal(c->before, before);
        for (unsigned p = 0; p < MOST; p++) {
            assert_int_equal(c->documents[p], expected->days[s][DAYS - MOST + p]);
            sum += c->documents[p];
        }
        assert_int_equal(sum, c->size);
        if (i) assert_true(fabs(c->z) <= fabs(c[-1].z));
    }
    assert_int_equal(seen, 7);
    return GF_OK;
}

static void counts_random_days(void **state)
{
    (void)state;
    fixture f;
    tally expected = {.deleted = 0};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    fixture_open(&f);
    unsigned days[120], subjects[120];
    for (unsigned i = 0; i < 120; i++) {
        char time[32];
        subjects[i] = (unsigned)gf_random_below(&random, 3);
        days[i] = i < 2 ? i * (DAYS - 1) : (unsigned)gf_random_below(&random, DAYS);
        snprintf(time, sizeof time, "%" PRIu64,
                 (20000 + days[i]) * UINT64_C(86400) + gf_random_below(&random, 86400));
        put_dated(&f, i, i < 3 ? i : subjects[i], time);
        expected.days[i < 3 ? i : subjects[i]][days[i]]++;
    }
    rebuild(&f);
    for (unsigned i = 3; i < 20; i++) { /* what has been deleted since counts no more */
        char id[16];
        snprintf(id, sizeof id, "%04u", i);
        fixture_delete(&f, "c", id);
        expected.days[subjects[i]][days[i]]--;
    }
    trends_of(&f, GF_PERIOD_DAY, MOST, check_tally, &expected);
    fixture_close(&f);
}

static gf_status count_all(void *context, const gf_trends *t, gf_error *err)
{
    (void)err;
    *(size_t *)context = t->n_clusters;
    return GF_OK;
}

static gf_status sweep_call(void *context, gf_error *err)
{
    fixture *f = context;
    gf_view *view;
    size_t n = 0;
    gf_status st = gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, err);
    if (st != GF_OK) return st;
    st = gf_view_trends(view, GF_PERIOD_WEEK, 12, count_all, &n, err);
    assert_int_equal(n, st == GF_OK ? 3 : 0);
    gf_view_close(view);
    return st;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    for (unsigned i = 0; i < 9; i++)
        put_dated(&f, i, i % 3, i < 6 ? "\"2026-11-20\"" : "\"2026-10-20\"");
    rebuild(&f);
    gf_test_sweep(sweep_call, NULL, &f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_by_month), cmocka_unit_test(without_times),
        cmocka_unit_test(counts_random_days), cmocka_unit_test(survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
