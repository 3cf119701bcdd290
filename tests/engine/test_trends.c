/* Clusters over time. */
#include "tests/engine/fixture.h"

#include "base/clock.h"
#include "base/random.h"
#include "engine/rows/hours.h"
#include "engine/rows/scan.h"
#include "engine/store/store_internal.h"
#include "storage/tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const SUBJECTS[] = {"apple pear plum", "wheel brake engine", "river lake sea",
                                       "..."};

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
    assert_ok(gf_view_trends(view, kind, periods, NULL, visit, context, &err));
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

/* ---- counts that the build keeps, and the walk over all -------------------------------------- */

/* Delete them, as of a build that an earlier version has made. */
static void forget_hours(fixture *f)
{
    gf_error err;
    gf_batch *batch;
    gf_scan *scan;
    gf_row row = {0};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_BUILDS_MODEL);
    bool more = true;
    unsigned n = 0;
    uint32_t id;
    assert_ok(gf_batch_create(f->store->db, &batch, &err));
    assert_ok(gf_scan_open(f->store->tables.builds, &o, &scan, &err));
    while (gf_scan_step(scan, &row, &more, &err) == GF_OK && more) {
        if (!gf_hours_cluster(row.cells[0].qualifier, &id)) continue;
        gf_batch_delete_cell(batch, f->store->tables.builds, row.key, GF_BUILDS_MODEL,
                             row.cells[0].qualifier);
        n++;
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
    assert_int_equal(n, 4); /* three clusters, and documents without terms */
}

/* Some time within `hours` before 2026, as a record gives it; some documents have none. */
static const char *random_time(gf_random *random, uint64_t hours, char time[32])
{
    if (gf_random_below(random, 10) == 0) return NULL;
    uint64_t s = UINT64_C(1767225600) - gf_random_below(random, hours * 3600) - 1;
    snprintf(time, 32, "%" PRIu64, s);
    return time;
}

static void all_trends(fixture *f, gf_buffer *out)
{
    static const size_t most[] = {1, 12, 48, 1000};
    for (gf_period kind = GF_PERIOD_DAY; kind <= GF_PERIOD_AUTO; kind++)
        for (size_t i = 0; i < sizeof most / sizeof most[0]; i++)
            trends_of(f, kind, most[i], write_trends, out);
    assert_true(out->len > 1000);
}

/*
 * What the build keeps, with the changes since, comes to what a walk over all comes to: documents
 * that are deleted, put again (the same, at another time, without one), and new ones, of clusters and
 * without terms, over hours as over decades.
 */
static void kept_counts_are_those_of_the_walk(void **state)
{
    (void)state;
    static const uint64_t spans[] = {5, 200, 9000, 400000};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (unsigned span = 0; span < 4; span++) {
        fixture f;
        char time[32], id[16];
        fixture_open(&f);
        for (unsigned i = 0; i < 150; i++)
            put_dated(&f, i, i % 4, random_time(&random, spans[span], time));
        rebuild(&f);
        for (unsigned i = 0; i < 60; i++) {
            unsigned number = (unsigned)gf_random_below(&random, 180);
            snprintf(id, sizeof id, "%04u", number);
            if (number < 150 && gf_random_below(&random, 2))
                (void)fixture_try_delete(f.store, "c", id, NULL);
            else
                put_dated(&f, number, number % 4, random_time(&random, spans[span], time));
        }
        gf_buffer kept = {0}, walked = {0};
        all_trends(&f, &kept);
        forget_hours(&f);
        all_trends(&f, &walked);
        assert_string_equal(gf_buffer_cstr(&kept), gf_buffer_cstr(&walked));
        gf_buffer_release(&kept);
        gf_buffer_release(&walked);
        fixture_close(&f);
    }
}

/* ---- the unit that suits the times ----------------------------------------------------------- */

typedef struct suited {
    gf_period kind;
    size_t n_periods;
    uint64_t before;
    char first[32];
} suited;

static gf_status keep_unit(void *context, const gf_trends *t, gf_error *err)
{
    suited *s = context;
    gf_buffer b = {0};
    (void)err;
    *s = (suited){.kind = t->kind, .n_periods = t->n_periods, .before = t->before};
    if (t->n_periods) gf_calendar_write(t->kind, t->first, &b);
    if (b.len) snprintf(s->first, sizeof s->first, "%s", gf_buffer_cstr(&b));
    gf_buffer_release(&b);
    return GF_OK;
}

/* 300 documents, evenly from the first time to the last; and so many of 1970. */
static suited unit_of(const char *first, const char *last, unsigned strays)
{
    enum { N = 300 };
    fixture f;
    suited s;
    int64_t from, to;
    assert_true(gf_clock_parse_iso(gf_slice_str(first), &from));
    assert_true(gf_clock_parse_iso(gf_slice_str(last), &to));
    fixture_open(&f);
    for (unsigned i = 0; i < N; i++) {
        char time[32];
        snprintf(time, sizeof time, "%" PRId64, (from + (to - from) / (N - 1) * i) / 1000);
        put_dated(&f, i, i % 3, i < strays ? "\"1970-01-01\"" : i == N - 1 ? NULL : time);
    }
    char end[40];
    snprintf(end, sizeof end, "\"%s\"", last);
    put_dated(&f, N, 0, end);
    rebuild(&f);
    trends_of(&f, GF_PERIOD_AUTO, 48, keep_unit, &s);
    fixture_close(&f);
    return s;
}

static void unit_is(suited s, gf_period kind, const char *first, size_t n_periods, uint64_t before)
{
    assert_int_equal(s.kind, kind);
    assert_string_equal(s.first, first);
    assert_int_equal(s.n_periods, n_periods);
    assert_int_equal(s.before, before);
}

static void chooses_the_unit(void **state)
{
    (void)state;
    unit_is(unit_of("2015-02-16T03:00:00Z", "2015-02-16T20:59:59Z", 0), GF_PERIOD_HOUR,
            "2015-02-16T03", 18, 0);
    unit_is(unit_of("2015-02-16", "2015-02-24T23:00:00Z", 0), GF_PERIOD_DAY, "2015-02-16", 9, 0);
    unit_is(unit_of("2015-02-16", "2015-06-16", 0), GF_PERIOD_WEEK, "2015-W08", 18, 0);
    unit_is(unit_of("2013-02-16", "2015-06-16", 0), GF_PERIOD_MONTH, "2013-02", 29, 0);
    unit_is(unit_of("2008-02-16", "2015-06-16", 0), GF_PERIOD_QUARTER, "2008-Q1", 30, 0);
    unit_is(unit_of("1990-02-16", "2015-06-16", 0), GF_PERIOD_YEAR, "1990", 26, 0);
    /* A few strays do not make one bar of everything; more of them count. */
    unit_is(unit_of("2015-02-16", "2015-02-24T23:00:00Z", 2), GF_PERIOD_DAY, "2015-02-16", 9, 2);
    unit_is(unit_of("2015-02-16", "2015-02-24T23:00:00Z", 30), GF_PERIOD_YEAR, "1970", 46, 0);
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
    st = gf_view_trends(view, GF_PERIOD_WEEK, 12, NULL, count_all, &n, err);
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
        cmocka_unit_test(counts_by_month),    cmocka_unit_test(without_times),
        cmocka_unit_test(counts_random_days), cmocka_unit_test(kept_counts_are_those_of_the_walk),
        cmocka_unit_test(chooses_the_unit),   cmocka_unit_test(survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
