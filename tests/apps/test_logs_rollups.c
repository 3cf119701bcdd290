/*
 * Roll-ups of access logs: reports from them equal reports from the lines, whatever was imported in
 * which order; verify knows where they do not; what retention deletes, and what stays.
 */
#include "base/random.h"
#include "support/test.h"
#include "tests/api/transport.h"

#include <time.h>

static const char *const units[] = {"5m", "hour", "day", "week", "month", "year"};
static const char *const bys[] = {NULL,      "status", "domain", "url",
                                  "referer", "ip",     "agent",  "login"};
enum {
    UNITS = 6,
    BYS = 8,
    DAY = 86400,
    FIRST = 1230422400 /* 2008-12-28: a new year, a new month */
};

static void append_line(gf_buffer *log, gf_random *r, int64_t time)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)time;
    struct tm tm;
    gmtime_r(&seconds, &tm);
    gf_buffer_format(log, "10.0.0.%d - ", (int)gf_random_below(r, 9));
    if (gf_random_below(r, 4))
        gf_buffer_str(log, "-");
    else
        gf_buffer_format(log, "user%d", (int)gf_random_below(r, 3));
    gf_buffer_format(log, " [%02d/%s/%d:%02d:%02d:%02d +0000] \"GET ", tm.tm_mday,
                     months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
    if (gf_random_below(r, 2)) gf_buffer_format(log, "http://%d.org", (int)gf_random_below(r, 2));
    gf_buffer_format(log, "/%d HTTP/1.1\" %d %d", (int)gf_random_below(r, 20),
                     gf_random_below(r, 3) ? 200 : 404, (int)gf_random_below(r, 5000));
    if (gf_random_below(r, 3))
        gf_buffer_format(log, " \"http://r/%d\" \"agent %d\"", (int)gf_random_below(r, 4),
                         (int)gf_random_below(r, 4));
    gf_buffer_str(log, "\n");
}

/* Lines of some days; in the order of time, or in none. */
static void write_log(gf_buffer *log, uint64_t seed, int n, int days, bool ordered)
{
    gf_random r = gf_random_seed(seed, 0);
    for (int i = 0; i < n; i++)
        append_line(log, &r,
                    FIRST + (ordered ? (int64_t)i * days * DAY / n
                                     : (int64_t)gf_random_below(&r, (uint64_t)days * DAY)));
}

static void import(transport *t, const char *log, gf_slice bytes)
{
    transport_input(t, "a.log", bytes);
    assert_run(t, "log import", "log", log);
}

/* All reports of a log, one behind the other: of the whole of it, and of a range. */
static void append_reports(transport *t, const char *from, const char *to, gf_buffer *all)
{
    gf_error err;
    for (int u = 0; u < UNITS; u++)
        for (int b = 0; b <= BYS; b++) {
            gf_argument arguments[5] = {{GF_SLICE("log"), GF_SLICE("web")},
                                        {GF_SLICE("every"), gf_slice_str(units[u])}};
            size_t n = 2;
            if (b == BYS)
                arguments[n++] = (gf_argument){GF_SLICE("visitors"), GF_SLICE("true")};
            else if (bys[b])
                arguments[n++] = (gf_argument){GF_SLICE("by"), gf_slice_str(bys[b])};
            if (from) arguments[n++] = (gf_argument){GF_SLICE("from"), gf_slice_str(from)};
            if (to) arguments[n++] = (gf_argument){GF_SLICE("to"), gf_slice_str(to)};
            if (transport_run_with(t, "log report", arguments, n, &err) != GF_OK)
                fail_msg("%s", err.message);
            gf_buffer_format(all, "\n%s %s %s %s\n", units[u],
                             b == BYS ? "visitors"
                             : bys[b] ? bys[b]
                                      : "all",
                             from ? from : "", to ? to : "");
            gf_buffer_slice(all, gf_buffer_view(&t->rows));
        }
}

static void all_reports(transport *t, gf_buffer *all)
{
    gf_buffer_reset(all);
    append_reports(t, NULL, NULL, all);
    append_reports(t, "2008-12-29", "2009-01-08", all);
    append_reports(t, "2008-12-30T07:31:02", "2009-01-06T23:59:59", all);
    append_reports(t, "2009-01-02T07:31:02", "2009-01-02T07:34:00", all);
    append_reports(t, "2009-01-02T07:30:00", NULL, all);
    append_reports(t, NULL, "2009-01-03T23:55:00", all);
}

static void assert_sound(transport *t)
{
    transport_close_store(t);
    assert_run(t, "verify");
    if (t->n_notices) fail_msg("%s: %s", t->notices[0].source, t->notices[0].message);
    assert_int_equal(t->outcome, GF_OUTCOME_DONE);
    assert_int_equal(transport_number(t, 0, "faults"), 0);
}

static void assert_unsound(transport *t, const char *what)
{
    transport_close_store(t);
    assert_run(t, "verify");
    assert_int_equal(t->outcome, GF_OUTCOME_DAMAGE_FOUND);
    assert_int_equal(t->n_notices, 1);
    assert_string_equal(t->notices[0].source, "log \"web\"");
    assert_non_null(strstr(t->notices[0].message, what));
}

static void assert_same(const gf_buffer *a, const gf_buffer *b)
{
    size_t i = 0;
    while (i < a->len && i < b->len && a->ptr[i] == b->ptr[i])
        i++;
    if (i < a->len || i < b->len)
        fail_msg("reports differ: %.*s, and %.*s", (int)(a->len - i < 300 ? a->len - i : 300),
                 a->ptr + i, (int)(b->len - i < 300 ? b->len - i : 300), b->ptr + i);
}

/* With roll-ups and, these dropped, without them: the same bytes. */
static void assert_as_walked(transport *t, const gf_buffer *with)
{
    gf_buffer without = {0};
    assert_run(t, "table drop", "table", "web-counts");
    all_reports(t, &without);
    assert_same(with, &without);
    gf_buffer_release(&without);
}

static void reports_equal_a_walk(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        transport t;
        gf_buffer log = {0}, more = {0}, before = {0}, after = {0};
        transport_open(&t);
        write_log(&log, seed, 1000, 14, seed != 2);
        write_log(&more, seed + 100, 200, 14, false);
        import(&t, "web", gf_slice_of(log.ptr, log.len / 3));
        import(&t, "web", gf_buffer_view(&log)); /* its end, and a line that was cut */
        import(&t, "web", gf_buffer_view(&log));
        assert_int_equal(transport_number(&t, 0, "lines"), 0);
        import(&t, "web", gf_buffer_view(&more));
        all_reports(&t, &before);
        assert_sound(&t);
        assert_as_walked(&t, &before);
        /* The next import makes them again; so does log rollup. */
        import(&t, "web", gf_buffer_view(&more));
        all_reports(&t, &after);
        assert_same(&after, &before);
        assert_sound(&t);
        assert_run(&t, "log rollup", "log", "web");
        assert_int_equal(transport_number(&t, 0, "lines"), 1200);
        all_reports(&t, &after);
        assert_same(&after, &before);
        assert_sound(&t);
        gf_buffer_release(&log);
        gf_buffer_release(&more);
        gf_buffer_release(&before);
        gf_buffer_release(&after);
        transport_close(&t);
    }
}

/* A line that is replaced by what it has become is taken back from what it counted for. */
static void a_line_that_grows(void **state)
{
    static const char start[] =
        "1.1.1.1 - - [01/Jan/2009:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 1";
    static const char whole[] =
        "1.1.1.1 - - [01/Jan/2009:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 1234 \"-\" \"x\"\n";
    transport t;
    (void)state;
    transport_open(&t);
    transport_input(&t, "a.log", gf_slice_str(start));
    assert_run(&t, "log import", "log", "web", "domain", "a.org");
    assert_run(&t, "log report", "log", "web", "by", "domain");
    assert_slice(transport_text(&t, 0, "value"), "a.org");
    import(&t, "web", gf_slice_str(whole)); /* without the domain */
    assert_run(&t, "log report", "log", "web", "by", "domain");
    assert_int_equal(t.n_rows, 1);
    assert_slice(transport_text(&t, 0, "value"), "-");
    assert_run(&t, "log report", "log", "web", "by", "agent");
    assert_int_equal(t.n_rows, 1);
    assert_slice(transport_text(&t, 0, "value"), "x");
    assert_int_equal(transport_number(&t, 0, "bytes"), 1234);
    assert_sound(&t);
    transport_close(&t);
}

/* Counts that are too high, too low, of a day without lines; a line that went behind their back. */
static void verify_compares(void **state)
{
    transport t;
    gf_buffer log = {0}, before = {0}, after = {0};
    (void)state;
    transport_open(&t);
    write_log(&log, 7, 500, 3, true);
    import(&t, "web", gf_buffer_view(&log));
    all_reports(&t, &before);
    static const char *const faults[][4] = {{"day", "total", "1230422400", "-"},
                                            {"5m", "status", "1230422400", "200"},
                                            {"day", "ip", "1230508800", "10.0.0.3"},
                                            {"day", "url", "1230940800", "/3"}};
    for (int i = 0; i < 4; i++) {
        const char *const *f = faults[i];
        assert_run(&t, "table put", "table", "web-counts", "key", f[0], "key", f[1], "key", f[2],
                   "key", f[3], "set", "count:requests=1000", "set", "count:bytes=5");
        assert_unsound(&t, i == 0   ? "the roll-ups of 2008-12-28 are not those of its lines"
                           : i == 2 ? "of 2008-12-29 "
                           : i == 3 ? "of 2009-01-03 "
                                    : "of 2008-12-28 ");
        assert_run(&t, "log rollup", "log", "web");
        assert_sound(&t);
    }
    /* A sketch that lacks a visitor; a line without its counts. */
    assert_run(&t, "table delete", "table", "web-counts", "key", "day", "key", "visitors", "key",
               "1230422400", "key", "-");
    assert_unsound(&t, "the visitors of 2008-12-28 are not");
    assert_run(&t, "log rollup", "log", "web");
    all_reports(&t, &after);
    assert_same(&after, &before);
    assert_run(&t, "table delete", "table", "web", "key", "1230422400", "key", "0");
    assert_unsound(&t, "the roll-ups of 2008-12-28 are not");
    gf_buffer_release(&log);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    transport_close(&t);
}

static uint64_t count(transport *t, const char *table)
{
    assert_run(t, "table scan", "table", table);
    return t->n_rows;
}

/* Reports that whole days make: those by url and so on of less than a day need lines. */
static void day_reports(transport *t, const char *to, gf_buffer *all)
{
    gf_error err;
    gf_buffer_reset(all);
    for (int u = 0; u < UNITS; u++)
        for (int b = 0; b <= BYS; b++) {
            if (u < 2 && b > 2) continue;
            gf_argument arguments[] = {
                {GF_SLICE("log"), GF_SLICE("web")},
                {GF_SLICE("every"), gf_slice_str(units[u])},
                {GF_SLICE("to"), gf_slice_str(to)},
                {GF_SLICE("by"), gf_slice_str(b < BYS && bys[b] ? bys[b] : "")}};
            if (b == BYS) arguments[3] = (gf_argument){GF_SLICE("visitors"), GF_SLICE("true")};
            assert_ok(transport_run_with(t, "log report", arguments, b == 0 ? 3 : 4, &err));
            gf_buffer_slice(all, gf_buffer_view(&t->rows));
        }
}

static void retention(void **state)
{
    transport t;
    gf_error err;
    gf_buffer log = {0}, before = {0}, after = {0};
    (void)state;
    transport_open(&t);
    write_log(&log, 9, 2800, 14, true);
    import(&t, "web", gf_buffer_view(&log));
    uint64_t entries = count(&t, "web-by");
    day_reports(&t, "2010-01-01", &before);
    assert_run(&t, "log delete", "log", "web", "before", "2009-01-04T13:00", "dry-run", "true");
    assert_int_equal(transport_number(&t, 0, "lines"), 1400);
    assert_int_equal(count(&t, "web"), 2800);
    assert_run(&t, "log delete", "log", "web", "before", "2009-01-04T13:00");
    assert_slice(transport_text(&t, 0, "before"), "2009-01-04T00:00:00Z");
    assert_int_equal(transport_number(&t, 0, "lines"), 1400);
    assert_int_equal(transport_number(&t, 0, "counts"), 0);
    assert_int_equal(count(&t, "web"), 1400);
    assert_in_range(count(&t, "web-by"), entries / 2 - 100, entries / 2 + 100);
    assert_run(&t, "log find", "log", "web", "ip", "10.0.0.1", "to", "2009-01-04");
    assert_int_equal(t.n_rows, 0);
    day_reports(&t, "2010-01-01", &after);
    assert_same(&after, &before);
    assert_sound(&t);
    /* Again, and the whole log again: nothing. */
    assert_run(&t, "log delete", "log", "web", "before", "2009-01-04");
    assert_int_equal(transport_number(&t, 0, "lines"), 0);
    import(&t, "web", gf_buffer_view(&log));
    assert_int_equal(transport_number(&t, 0, "lines"), 0);
    assert_int_equal(transport_number(&t, 0, "known"), 2800);
    /* What lines alone can tell says so; a range that cuts a day has all of it. */
    assert_run(&t, "log report", "log", "web", "every", "hour", "by", "url");
    assert_int_equal(t.n_notices, 1);
    assert_string_equal(t.notices[0].reason, "lines_deleted");
    assert_run(&t, "log report", "log", "web", "by", "url", "from", "2008-12-29T12:00", "to",
               "2008-12-30");
    assert_int_equal(t.n_notices, 1);
    assert_slice(transport_text(&t, 0, "time"), "2008-12-29T00:00:00Z");
    /* Made anew, they keep what was counted of deleted lines. */
    assert_run(&t, "log rollup", "log", "web");
    assert_int_equal(transport_number(&t, 0, "lines"), 1400);
    day_reports(&t, "2010-01-01", &after);
    assert_same(&after, &before);
    /* Addresses and logins of the old days go; the others stay. */
    assert_run(&t, "log delete", "log", "web", "before", "2009-01-04", "counts", "impersonal");
    assert_in_range(transport_number(&t, 0, "counts"), 7 * 4, 7 * 15);
    assert_run(&t, "log report", "log", "web", "by", "ip", "to", "2009-01-04");
    assert_int_equal(t.n_rows, 0);
    assert_run(&t, "log report", "log", "web", "by", "login", "to", "2009-01-04");
    assert_int_equal(t.n_rows, 0);
    assert_run(&t, "log report", "log", "web", "by", "agent", "to", "2009-01-04");
    assert_true(t.n_rows > 7);
    assert_run(&t, "log report", "log", "web", "visitors", "true", "to", "2009-01-04");
    assert_int_equal(t.n_rows, 7);
    assert_true(transport_number(&t, 0, "visitors") > 5);
    /* And all of them, with their lines. */
    assert_run(&t, "log delete", "log", "web", "before", "2009-01-06", "counts", "delete", "purge",
               "true");
    assert_int_equal(transport_number(&t, 0, "lines"), 400);
    assert_run(&t, "log report", "log", "web");
    assert_int_equal(t.n_rows, 5);
    assert_sound(&t);
    assert_status(GF_EINVAL, transport_run(&t, &err, "log delete", "log", "web", NULL));
    assert_status(GF_EINVAL,
                  transport_run(&t, &err, "log delete", "log", "web", "keep", "x", NULL));
    assert_status(GF_EINVAL, transport_run(&t, &err, "log delete", "log", "web", "keep", "3d",
                                           "before", "2009-01-06", NULL));
    assert_status(GF_ENOTFOUND,
                  transport_run(&t, &err, "log delete", "log", "no", "keep", "3d", NULL));
    gf_buffer_release(&log);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    transport_close(&t);
}

/* What the last report told of deleted lines: this alone; "": nothing. */
static void assert_told(transport *t, const char *message)
{
    assert_int_equal(t->n_notices, *message ? 1 : 0);
    if (!*message) return;
    assert_string_equal(t->notices[0].reason, "lines_deleted");
    assert_string_equal(t->notices[0].message, message);
}

/* Days that were deleted with the counts that a report is of are left out, which it tells. */
static void deleted_counts_are_told(void **state)
{
#define BEFORE_4 "lines before 2009-01-04T00:00:00Z were deleted"
#define BEFORE_2 "lines before 2009-01-02T00:00:00Z were deleted"
    static const char by_ip[] = BEFORE_4 " with their counts by ip: they are left out";
    static const char all[] = BEFORE_2 " with their counts: they are left out";
    static const char whole[] = BEFORE_4 ": days that the range cuts are counted whole";
    transport t;
    gf_buffer log = {0};
    (void)state;
    transport_open(&t);
    write_log(&log, 9, 2800, 14, true);
    import(&t, "web", gf_buffer_view(&log));
    /* Nothing was there to be deleted. */
    assert_run(&t, "log delete", "log", "web", "before", "2008-12-28", "counts", "delete");
    assert_run(&t, "log report", "log", "web", "every", "hour", "by", "ip");
    assert_told(&t, "");
    assert_run(&t, "log delete", "log", "web", "before", "2009-01-04");
    assert_run(&t, "log report", "log", "web", "by", "ip");
    assert_told(&t, "");
    /* Of lines that are gone the counts go later. */
    assert_run(&t, "log delete", "log", "web", "before", "2009-01-04", "counts", "impersonal");
    for (int again = 0; again < 2; again++) {
        assert_run(&t, "log report", "log", "web", "every", "month", "by", "ip");
        assert_told(&t, by_ip);
        assert_run(&t, "log report", "log", "web", "by", "login", "to", "2009-01-01");
        assert_told(&t, BEFORE_4 " with their counts by login: they are left out");
        assert_run(&t, "log report", "log", "web", "by", "ip", "from", "2008-12-29T11:00");
        assert_told(&t, by_ip);
        assert_run(&t, "log report", "log", "web", "by", "ip", "every", "hour");
        assert_told(&t, by_ip);
        assert_run(&t, "log report", "log", "web", "by", "ip", "from", "2009-01-04");
        assert_told(&t, "");
        assert_run(&t, "log report", "log", "web", "by", "url");
        assert_told(&t, "");
        assert_run(&t, "log report", "log", "web", "by", "url", "from", "2008-12-29T11:00");
        assert_told(&t, whole);
        assert_run(&t, "log rollup", "log", "web"); /* knows it afterwards */
    }
    /* Without any counts, of some of these days. */
    assert_run(&t, "log delete", "log", "web", "before", "2009-01-02", "counts", "delete");
    assert_run(&t, "log report", "log", "web", "every", "year");
    assert_told(&t, all);
    assert_run(&t, "log report", "log", "web", "visitors", "true");
    assert_told(&t, all);
    assert_run(&t, "log report", "log", "web", "by", "ip");
    assert_told(&t, by_ip);
    assert_run(&t, "log report", "log", "web", "from", "2009-01-02", "by", "agent");
    assert_told(&t, "");
    assert_run(&t, "log report", "log", "web", "from", "2009-01-01T11:00", "visitors", "true");
    assert_told(&t, all);
    assert_run(&t, "log report", "log", "web", "from", "2009-01-02T11:00", "visitors", "true");
    assert_told(&t, whole);
    assert_run(&t, "log report", "log", "web", "from", "2009-01-01", "by", "url", "every", "hour");
    assert_int_equal(t.n_notices, 2);
    assert_string_equal(t.notices[0].message,
                        BEFORE_2 " with their counts by url: they are left out");
    assert_string_equal(t.notices[1].message,
                        BEFORE_4 ": they are counted by the day, week, month and year alone");
    /* Roll-ups that are being made, or were cut short: reports have lines alone. */
    assert_run(&t, "table put", "table", "web-counts", "key", "state", "key", "-", "key", "0",
               "key", "-", "set", "state:whole=no");
    assert_run(&t, "log report", "log", "web", "from", "2009-01-02");
    assert_told(&t, BEFORE_4 ": they are left out until \"log rollup\" has ended");
    assert_run(&t, "log rollup", "log", "web");
    assert_run(&t, "log report", "log", "web", "from", "2009-01-02");
    assert_told(&t, "");
    assert_sound(&t);
    gf_buffer_release(&log);
    transport_close(&t);
#undef BEFORE_2
#undef BEFORE_4
}

static bool has_most_bytes(transport *t, uint64_t row)
{
    static const char most[] = "\"bytes\":18446744073709551615";
    gf_slice bytes = transport_bytes(t, row);
    return memmem(bytes.ptr, bytes.len, most, sizeof most - 1);
}

/* Sizes that no answer has are refused; sums of those that are taken end at the largest number. */
static void bytes_do_not_overflow(void **state)
{
    transport t;
    gf_buffer log = {0}, reports = {0};
    (void)state;
    transport_open(&t);
    for (int i = 0; i < 40; i++)
        gf_buffer_format(&log,
                         "1.1.1.%d - - [%02d/Jan/2009:%02d:00:00 +0000] \"GET /%d HTTP/1.1\" 200 "
                         "1152921504606846976\n",
                         i % 2,
                         i < 20   ? 2
                         : i < 30 ? 7
                                  : 8,
                         i % 20, i % 4);
    gf_buffer_str(&log, "1.1.1.1 - - [02/Jan/2009:00:00:00 +0000] \"GET / HTTP/1.1\" 200 100\n"
                        "1.1.1.1 - - [02/Jan/2009:00:00:00 +0000] \"GET / HTTP/1.1\" 200 "
                        "1152921504606846977\n"
                        "1.1.1.1 - - [02/Jan/2009:00:00:00 +0000] \"GET / HTTP/1.1\" 200 "
                        "18446744073709551615\n");
    import(&t, "web", gf_buffer_view(&log));
    assert_int_equal(transport_number(&t, 0, "lines"), 41);
    assert_int_equal(transport_number(&t, 0, "refused"), 2);
    assert_string_equal(t.notices[0].reason, "bad_line");
    assert_int_equal(t.notices[0].line, 42);
    assert_non_null(strstr(t.notices[0].message, "more than 1152921504606846976 bytes"));
    assert_int_equal(t.notices[1].line, 43);
    assert_run(&t, "log report", "log", "web");
    assert_int_equal(t.n_rows, 3);
    assert_true(has_most_bytes(&t, 0));
    assert_false(has_most_bytes(&t, 1)); /* ten of them */
    assert_run(&t, "log report", "log", "web", "every", "week", "from", "2009-01-05");
    assert_int_equal(t.n_rows, 1); /* two days */
    assert_true(has_most_bytes(&t, 0));
    assert_sound(&t);
    all_reports(&t, &reports);
    /* Faults are found in such days, too. */
    assert_run(&t, "table put", "table", "web-counts", "key", "day", "key", "total", "key",
               "1230854400", "key", "-", "set", "count:bytes=5");
    assert_unsound(&t, "the roll-ups of 2009-01-02 are not");
    assert_run(&t, "log rollup", "log", "web");
    assert_run(&t, "table put", "table", "web-counts", "key", "day", "key", "ip", "key",
               "1230854400", "key", "1.1.1.1", "set", "count:requests=5");
    assert_unsound(&t, "the roll-ups of 2009-01-02 are not");
    assert_run(&t, "log rollup", "log", "web");
    assert_sound(&t);
    assert_as_walked(&t, &reports);
    /* A line that an earlier version took. */
    assert_run(&t, "table put", "table", "web", "key", "1230854400", "key", "0", "set",
               "http:bytes=18446744073709551615");
    assert_run(&t, "log rollup", "log", "web");
    assert_sound(&t);
    all_reports(&t, &reports);
    assert_as_walked(&t, &reports);
    gf_buffer_release(&log);
    gf_buffer_release(&reports);
    transport_close(&t);
}

/* Retention with each import. */
static void standing_retention(void **state)
{
    transport t;
    gf_buffer log = {0};
    gf_random r = gf_random_seed(3, 0);
    int64_t now = (int64_t)time(NULL);
    (void)state;
    transport_open(&t);
    for (int day = 9; day >= 0; day--)
        for (int i = 0; i < 10; i++)
            append_line(&log, &r, now - (int64_t)day * DAY);
    transport_input(&t, "a.log", gf_buffer_view(&log));
    assert_run(&t, "log import", "log", "web", "keep", "4d");
    assert_int_equal(transport_number(&t, 0, "lines"), 100);
    assert_int_equal(transport_number(&t, 0, "deleted"), 50);
    assert_int_equal(count(&t, "web"), 50);
    assert_run(&t, "log report", "log", "web");
    assert_int_equal(t.n_rows, 10);
    assert_sound(&t);
    gf_buffer_release(&log);
    transport_close(&t);
}

/*
 * A log of the version before: no roll-ups, and the column referrer. Reports walk; the next import
 * rolls up what is there, and new lines have the column referer.
 */
static void earlier_version(void **state)
{
    static const char lines[] =
        "{\"key\": [\"next\", \"\", 0, 0], \"cells\": {\"entry\": {\"line\": \"1\"}}}\n";
    static const char row[] =
        "{\"key\": [1247443199, 0], \"cells\": {\"http\": {\"ip\": \"10.0.0.2\", \"url\": \"/b\","
        " \"status\": 404, \"bytes\": 20, \"referrer\": \"http://x.org/\"}}}\n";
    transport t;
    (void)state;
    transport_open(&t);
    assert_run(&t, "table create", "table", "web", "key", "time:int64", "key", "line:uint64",
               "family", "http", "column", "http:ip=text", "column", "http:url=text", "column",
               "http:status=uint64", "column", "http:bytes=uint64", "column", "http:referrer=text",
               "family", "user", "column", "user:browser_cookie=text", "column",
               "user:login_id=text", "column", "user:agent=text");
    assert_run(&t, "table create", "table", "web-by", "key", "kind", "key", "value", "key",
               "time:int64", "key", "line:uint64", "family", "entry:wide");
    transport_input(&t, "by.jsonl", gf_slice_str(lines));
    assert_run(&t, "table import", "table", "web-by");
    transport_input(&t, "web.jsonl", gf_slice_str(row));
    assert_run(&t, "table import", "table", "web");
    for (int i = 0; i < 2; i++) {
        assert_run(&t, "log report", "log", "web", "by", i ? "referer" : "referrer");
        assert_int_equal(t.n_rows, 1);
        assert_slice(transport_text(&t, 0, "value"), "http://x.org/");
    }
    assert_sound(&t);
    import(&t, "web",
           GF_SLICE("10.0.0.2 - - [13/Jul/2009:00:00:00 +0000] \"GET /b HTTP/1.1\" 404 20 "
                    "\"http://x.org/\" \"y\"\n"));
    assert_run(&t, "log report", "log", "web", "by", "referer", "every", "year");
    assert_int_equal(t.n_rows, 1);
    assert_int_equal(transport_number(&t, 0, "requests"), 2);
    assert_run(&t, "log find", "log", "web", "ip", "10.0.0.2");
    assert_int_equal(t.n_rows, 1); /* the first one was put without its entry */
    assert_slice(transport_text(&t, 0, "referer"), "http://x.org/");
    assert_run(&t, "table get", "table", "web", "key", "1247443200", "key", "1", "column",
               "http:referer");
    assert_run(&t, "table get", "table", "web", "key", "1247443199", "key", "0", "column",
               "http:referrer");
    assert_sound(&t);
    transport_close(&t);
}

/* Lines that are dropped take their roll-ups along; what is cut short is not taken for whole. */
static void dropped_and_cut_short(void **state)
{
    transport t;
    gf_buffer log = {0}, before = {0}, after = {0};
    (void)state;
    transport_open(&t);
    write_log(&log, 11, 1000, 14, true);
    import(&t, "web", gf_buffer_view(&log));
    all_reports(&t, &before);
    assert_run(&t, "log delete", "log", "web", "before", "2009-01-01");
    assert_run(&t, "table drop", "table", "web");
    import(&t, "web", gf_buffer_view(&log));
    assert_int_equal(transport_number(&t, 0, "lines"), 1000);
    all_reports(&t, &after);
    assert_same(&after, &before);
    assert_sound(&t);
    assert_run(&t, "table delete", "table", "web-counts", "key", "state", "key", "-", "key", "0",
               "key", "-");
    assert_run(&t, "table delete", "table", "web-counts", "key", "day", "key", "total", "key",
               "1230422400", "key", "-");
    all_reports(&t, &after); /* from the lines */
    assert_same(&after, &before);
    assert_sound(&t);
    import(&t, "web", gf_buffer_view(&log));
    all_reports(&t, &after);
    assert_same(&after, &before);
    assert_sound(&t);
    gf_buffer_release(&log);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_equal_a_walk),    cmocka_unit_test(a_line_that_grows),
        cmocka_unit_test(verify_compares),         cmocka_unit_test(retention),
        cmocka_unit_test(deleted_counts_are_told), cmocka_unit_test(bytes_do_not_overflow),
        cmocka_unit_test(standing_retention),      cmocka_unit_test(earlier_version),
        cmocka_unit_test(dropped_and_cut_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
