#include "support/test.h"

#include "base/clock.h"
#include "base/random.h"
#include "grouperfish/calendar.h"

#include <stdio.h>
#include <time.h>

static void is_named(gf_period kind, const char *time, const char *expected)
{
    int64_t ms;
    gf_buffer b = {0};
    assert_true(gf_clock_parse_iso(gf_slice_str(time), &ms));
    gf_calendar_write(kind, gf_calendar_period(kind, ms), &b);
    assert_string_equal(gf_buffer_cstr(&b), expected);
    gf_buffer_release(&b);
}

static void names_periods(void **state)
{
    (void)state;
    is_named(GF_PERIOD_DAY, "2026-11-20T23:59:59.999Z", "2026-11-20");
    is_named(GF_PERIOD_DAY, "2026-11-20T23:30:00-01:00", "2026-11-21");
    is_named(GF_PERIOD_DAY, "1969-12-31T23:59:59Z", "1969-12-31");
    is_named(GF_PERIOD_MONTH, "2024-02-29", "2024-02");
    is_named(GF_PERIOD_MONTH, "1969-12-31T23:59:59Z", "1969-12");
    is_named(GF_PERIOD_WEEK, "2026-11-20", "2026-W47");
    /* The examples of ISO 8601: a week is of the year that has most of it. */
    is_named(GF_PERIOD_WEEK, "2005-01-01", "2004-W53");
    is_named(GF_PERIOD_WEEK, "2005-12-31", "2005-W52");
    is_named(GF_PERIOD_WEEK, "2007-12-31", "2008-W01");
    is_named(GF_PERIOD_WEEK, "2009-12-31", "2009-W53");
    is_named(GF_PERIOD_WEEK, "2010-01-03", "2009-W53");
    is_named(GF_PERIOD_WEEK, "2010-01-04", "2010-W01");
    is_named(GF_PERIOD_WEEK, "1970-01-01", "1970-W01");
    is_named(GF_PERIOD_WEEK, "1969-12-28T23:59:59Z", "1969-W52");
    is_named(GF_PERIOD_HOUR, "2026-11-20T23:59:59.999Z", "2026-11-20T23");
    is_named(GF_PERIOD_HOUR, "2026-11-20T00:30:00+01:00", "2026-11-19T23");
    is_named(GF_PERIOD_HOUR, "1969-12-31T23:59:59Z", "1969-12-31T23");
    is_named(GF_PERIOD_QUARTER, "2026-09-30T23:59:59Z", "2026-Q3");
    is_named(GF_PERIOD_QUARTER, "2026-10-01", "2026-Q4");
    is_named(GF_PERIOD_QUARTER, "1969-12-31", "1969-Q4");
    is_named(GF_PERIOD_YEAR, "2026-12-31T23:59:59Z", "2026");
    is_named(GF_PERIOD_YEAR, "1969-12-31", "1969");
}

/* As the C library names them. */
static void checker_name(gf_period kind, int64_t ms, char *name, size_t size)
{
    time_t t = (time_t)(ms / 1000 - (ms % 1000 < 0));
    struct tm parts;
    assert_non_null(gmtime_r(&t, &parts));
    static const char *const formats[] = {
        [GF_PERIOD_DAY] = "%Y-%m-%d",     [GF_PERIOD_WEEK] = "%G-W%V",  [GF_PERIOD_MONTH] = "%Y-%m",
        [GF_PERIOD_HOUR] = "%Y-%m-%dT%H", [GF_PERIOD_QUARTER] = "%Y-Q", [GF_PERIOD_YEAR] = "%Y"};
    size_t n = strftime(name, size, formats[kind], &parts);
    assert_true(n > 0);
    if (kind == GF_PERIOD_QUARTER) snprintf(name + n, size - n, "%d", parts.tm_mon / 3 + 1);
}

static void agrees_with_strftime(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 20000; i++) {
        gf_period kind = (gf_period)gf_random_below(&random, GF_PERIOD_AUTO);
        /* 1833 to 2106 */
        int64_t ms = (int64_t)gf_random_below(&random, UINT32_MAX) * 2000 - 4300000000000;
        char expected[32];
        gf_buffer b = {0};
        checker_name(kind, ms, expected, sizeof expected);
        int64_t number = gf_calendar_period(kind, ms);
        gf_calendar_write(kind, number, &b);
        assert_string_equal(gf_buffer_cstr(&b), expected);
        int64_t from = gf_calendar_first_day(kind, number) * 86400000;
        int64_t to = gf_calendar_first_day(kind, number + 1) * 86400000;
        if (kind == GF_PERIOD_HOUR) to = from + 86400000;
        assert_true(from <= ms && ms < to);
        gf_buffer_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_periods),
                                       cmocka_unit_test(agrees_with_strftime)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
