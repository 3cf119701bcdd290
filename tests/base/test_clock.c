#include "support/test.h"

#include "base/clock.h"
#include "base/random.h"

#include <math.h>
#include <regex.h>
#include <string.h>
#include <time.h>

static const int64_t year_0001 = -62135596800000, year_10000 = 253402300800000;

static void check_parse(const char *text, int64_t expected)
{
    int64_t ms = 77;
    if (!gf_clock_parse_iso(gf_slice_str(text), &ms)) fail_msg("%s is refused", text);
    if (ms != expected) fail_msg("%s is %lld, not %lld", text, (long long)ms, (long long)expected);
}

static void check_refused(const char *text)
{
    int64_t ms = 77;
    if (gf_clock_parse_iso(gf_slice_str(text), &ms)) fail_msg("%s is accepted", text);
    assert_int_equal(ms, 77);
}

static void check_write(int64_t ms, const char *expected)
{
    gf_buffer b = {0};
    gf_clock_write_iso(&b, ms);
    assert_slice(gf_buffer_view(&b), expected);
    gf_buffer_release(&b);
}

static void reads_known_times(void **state)
{
    (void)state;
    check_parse("1970-01-01", 0);
    check_parse("1970-01-01T00:00Z", 0);
    check_parse("2000-02-29", 951782400000);
    check_parse("2012-11-08T05:35:56Z", 1352352956000);
    check_parse("2012-11-08 05:35:56", 1352352956000);
    check_parse("2012-11-08t05:35:56z", 1352352956000);
    check_parse("2012-11-08T06:35:56+01:00", 1352352956000);
    check_parse("2012-11-08T06:35:56+01", 1352352956000);
    check_parse("2012-11-07T22:05:56-0730", 1352352956000);
    check_parse("2012-11-08T05:35:56.789Z", 1352352956789);
    check_parse("2012-11-08T05:35:56,7Z", 1352352956700);
    check_parse("2012-11-08T05:35:56.7899999999999999999999", 1352352956789);
    check_parse("1969-12-31T23:59:59.999Z", -1);
    check_parse("2016-12-31T23:59:60Z", 1483228800000);
    check_parse("0001-01-01T00:00:00Z", year_0001);
    check_parse("9999-12-31T23:59:59.999Z", year_10000 - 1);
}

static void check_words(const char *text, int64_t expected)
{
    int64_t ms = 77;
    if (!gf_clock_parse_words(gf_slice_str(text), &ms)) fail_msg("%s is refused", text);
    if (ms != expected) fail_msg("%s is %lld, not %lld", text, (long long)ms, (long long)expected);
}

static void reads_times_in_words(void **state)
{
    (void)state;
    const int64_t time = 1461920755000; /* 2016-04-29T09:05:55Z */
    check_words("Fri Apr 29 09:05:55 +0000 2016", time);
    check_words("Fri Apr 29 11:05:55 +0200 2016", time);
    check_words("Fri, 29 Apr 2016 09:05:55 +0000", time);
    check_words("29 Apr 2016 09:05:55 GMT", time);
    check_words("Fri, 29 Apr 2016 01:35:55 -0730", time);
    check_words("Fri, 29 Apr 2016 09:05 UTC", time - 55000);
    check_words("1 Jan 1970 00:00:00 Z", 0);
    const char *bad[] = {"",
                         "Fri",
                         "Fri Apr 29 09:05:55 +0000",
                         "Fri Apr 31 09:05:55 +0000 2016",
                         "Fri Abc 29 09:05:55 +0000 2016",
                         "Fri Apr 29 09:05:55 2016",
                         "Fri Apr 29 25:05:55 +0000 2016",
                         "Fri Apr 29 09:05:55 +00 2016",
                         "29 Apr 2016",
                         "29 Apr 2016 09:05:55 GMT x",
                         "29 Apr 2016 09:05:55 CEST",
                         "2016-04-29"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ms = 77;
        if (gf_clock_parse_words(gf_slice_str(bad[i]), &ms)) fail_msg("%s is accepted", bad[i]);
        assert_int_equal(ms, 77);
    }
}

static void refuses_what_is_no_time(void **state)
{
    (void)state;
    const char *texts[] = {"",
                           "2012",
                           "2012-11",
                           "2012-1-08",
                           "12-11-08",
                           "2012-11-8",
                           "2012/11/08",
                           "20121108",
                           "0000-01-01",
                           "2012-00-08",
                           "2012-13-08",
                           "2012-11-00",
                           "2012-11-31",
                           "2011-02-29",
                           "1900-02-29",
                           "2012-11-08T",
                           "2012-11-08T05",
                           "2012-11-08T05:",
                           "2012-11-08T5:35",
                           "2012-11-08T24:00",
                           "2012-11-08T05:60",
                           "2012-11-08T05:35:61",
                           "2012-11-08T05:35:",
                           "2012-11-08T05:35:56.",
                           "2012-11-08T05:35.5",
                           "2012-11-08T05:35:56 Z",
                           "2012-11-08T05:35:56ZZ",
                           "2012-11-08Z",
                           "2012-11-08T05:35+",
                           "2012-11-08T05:35+1",
                           "2012-11-08T05:35+01:",
                           "2012-11-08T05:35+01:0",
                           "2012-11-08T05:35+24:00",
                           "2012-11-08T05:35+00:60",
                           " 2012-11-08",
                           "2012-11-08 ",
                           "-2012-11-08",
                           "+2012-11-08",
                           "2012-11-08T05:35:56+01:00Z",
                           "Thu Nov 08 05:35:56 +0000 2012"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_refused(texts[i]);
    int64_t ms;
    assert_false(gf_clock_parse_iso(GF_SLICE("2012-11-08\0"), &ms));
    assert_false(gf_clock_parse_iso((gf_slice){NULL, 0}, &ms));
    assert_true(gf_clock_parse_iso(gf_slice_of("2012-11-08T05:35", 10), &ms));
}

static void writes_known_times(void **state)
{
    (void)state;
    check_write(0, "1970-01-01T00:00:00Z");
    check_write(-1, "1969-12-31T23:59:59.999Z");
    check_write(1352352956007, "2012-11-08T05:35:56.007Z");
    check_write(951782400000, "2000-02-29T00:00:00Z");
    check_write(year_0001, "0001-01-01T00:00:00Z");
    check_write(year_10000 - 1, "9999-12-31T23:59:59.999Z");
    check_write(INT64_MAX, "292278994-08-17T07:12:55.807Z");
    check_write(INT64_MIN, "-292275055-05-16T16:47:04.192Z");
}

/* The calendar repeats after 400 years: these are all the days that there are. */
static void every_day_is_that_of_gmtime(void **state)
{
    (void)state;
    gf_buffer b = {0};
    for (int64_t day = -62091; day < 146097 - 62091; day++) { /* from 1800 on */
        time_t seconds = (time_t)(day * 86400);
        struct tm tm;
        assert_non_null(gmtime_r(&seconds, &tm));
        char expected[32];
        strftime(expected, sizeof expected, "%Y-%m-%dT00:00:00Z", &tm);
        gf_buffer_reset(&b);
        gf_clock_write_iso(&b, day * 86400000);
        assert_slice(gf_buffer_view(&b), expected);
        expected[10] = '\0';
        check_parse(expected, day * 86400000);
    }
    gf_buffer_release(&b);
}

static int64_t random_ms(gf_random *r)
{
    if (gf_random_below(r, 2)) /* near now and near 1970, where the times of records lie */
        return (int64_t)gf_random_below(r, 4000000000000) - 2000000000000;
    return year_0001 + (int64_t)gf_random_below(r, (uint64_t)(year_10000 - year_0001));
}

/* The C library's calendar against ours, both ways. */
static void agrees_with_gmtime_and_timegm(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer b = {0};
    for (int i = 0; i < 100000; i++) {
        int64_t ms = random_ms(&r);
        if (i % 3 == 0) ms = (ms / 86400000) * 86400000 + (i % 2 ? -1 : 0);
        if (ms < year_0001) continue;
        time_t seconds = (time_t)((ms - (ms % 1000 + 1000) % 1000) / 1000);
        int fraction = (int)(ms - (int64_t)seconds * 1000);
        struct tm tm;
        assert_non_null(gmtime_r(&seconds, &tm));
        char expected[64];
        size_t n = (size_t)snprintf(expected, sizeof expected, "%04d-%02d-%02dT%02d:%02d:%02d",
                                    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                                    tm.tm_min, tm.tm_sec);
        if (fraction) n += (size_t)snprintf(expected + n, sizeof expected - n, ".%03d", fraction);
        snprintf(expected + n, sizeof expected - n, "Z");
        gf_buffer_reset(&b);
        gf_clock_write_iso(&b, ms);
        assert_slice(gf_buffer_view(&b), expected);
        check_parse(expected, ms);
    }
    gf_buffer_release(&b);
}

/* The grammar as a regular expression, the calendar as timegm: what neither knows is refused. */
static bool parse_otherwise(const regex_t *grammar, const char *text, int64_t *ms)
{
    enum { TIME = 1, SECONDS, FRACTION, DIGITS, ZONE, OFFSET, MINUTES, GROUPS };
    regmatch_t at[GROUPS];
    struct tm tm = {0}, asked;
    if (regexec(grammar, text, GROUPS, at, 0) != 0) return false;
    int hours = 0, minutes = 0;
    sscanf(text, "%4d-%2d-%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
    if (at[TIME].rm_so >= 0) sscanf(text + 11, "%2d:%2d", &tm.tm_hour, &tm.tm_min);
    if (at[SECONDS].rm_so >= 0) sscanf(text + 17, "%2d", &tm.tm_sec);
    if (at[OFFSET].rm_so >= 0) sscanf(text + at[OFFSET].rm_so + 1, "%2d", &hours);
    if (at[MINUTES].rm_so >= 0)
        sscanf(text + at[MINUTES].rm_so + (text[at[MINUTES].rm_so] == ':'), "%2d", &minutes);
    if (tm.tm_year < 1 || tm.tm_sec > 60 || hours > 23 || minutes > 59) return false;
    int leap_second = tm.tm_sec == 60;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    tm.tm_sec -= leap_second;
    asked = tm;
    int64_t seconds = timegm(&tm) + leap_second;
    if (tm.tm_mon != asked.tm_mon || tm.tm_mday != asked.tm_mday || tm.tm_hour != asked.tm_hour ||
        tm.tm_min != asked.tm_min || tm.tm_sec != asked.tm_sec)
        return false; /* it was no date, and became another */
    if (at[OFFSET].rm_so >= 0)
        seconds -= (text[at[OFFSET].rm_so] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    *ms = seconds * 1000;
    for (int i = 0, scale = 100; at[DIGITS].rm_so + i < at[DIGITS].rm_eo; i++, scale /= 10)
        *ms += (text[at[DIGITS].rm_so + i] - '0') * scale;
    return true;
}

static void agrees_with_a_regular_expression(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    static const char letters[] = "0123456789-:TZtz+., ";
    static const char *const forms[] = {
        "2012-11-08",           "2012-02-29T05:35",          "2012-11-08 05:35:56",
        "2012-11-08T05:35:56Z", "2012-11-08T05:35:56+01:00", "2012-11-08T05:35:56.125-0330",
        "1999-12-31T23:59:60Z", "0001-01-01T00:00+23",       "2100-02-28T00:00:00,000000001Z"};
    regex_t grammar;
    assert_int_equal(regcomp(&grammar,
                             "^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}"
                             "(:[0-9]{2}([.,]([0-9]+))?)?([Zz]|([+-][0-9]{2}(:?[0-9]{2})?))?)?$",
                             REG_EXTENDED),
                     0);
    int accepted = 0;
    for (int i = 0; i < 100000; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", forms[gf_random_below(&r, 9)]);
        for (uint64_t changes = gf_random_below(&r, 4); changes > 0; changes--)
            text[gf_random_below(&r, strlen(text))] = letters[gf_random_below(&r, 20)];
        if (gf_random_below(&r, 4) == 0) text[gf_random_below(&r, strlen(text) + 1)] = '\0';
        int64_t expected = 77, ms = 77;
        bool valid = parse_otherwise(&grammar, text, &expected);
        if (gf_clock_parse_iso(gf_slice_str(text), &ms) != valid || ms != expected)
            fail_msg("\"%s\" gives %lld, not %lld", text, (long long)ms, (long long)expected);
        accepted += valid;
    }
    assert_true(accepted > 1000);
    regfree(&grammar);
}

static void numbers_are_seconds_or_milliseconds(void **state)
{
    (void)state;
    int64_t ms = 77;
    assert_true(gf_clock_from_number(1352352956, &ms));
    assert_int_equal(ms, 1352352956000);
    assert_true(gf_clock_from_number(1352352956789, &ms));
    assert_int_equal(ms, 1352352956789);
    assert_true(gf_clock_from_number(-1, &ms));
    assert_int_equal(ms, -1000);
    assert_true(gf_clock_from_number(99999999999, &ms));
    assert_int_equal(ms, 99999999999000);
    assert_true(gf_clock_from_number(1e11, &ms));
    assert_int_equal(ms, 100000000000);
    ms = 77;
    const double refused[] = {NAN, INFINITY, -INFINITY, 1e15, -1e15, 1e300};
    for (size_t i = 0; i < 6; i++)
        assert_false(gf_clock_from_number(refused[i], &ms));
    assert_int_equal(ms, 77);
}

/* Seconds with three decimals, as many records have them, keep their milliseconds. */
static void decimals_of_seconds_are_kept(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    int64_t ms;
    for (int i = 0; i < 100000; i++) {
        int64_t expected = (int64_t)gf_random_below(&r, 4000000000000) - 2000000000000;
        assert_true(gf_clock_from_number((double)expected / 1000, &ms));
        assert_int_equal(ms, expected);
    }
}

static void both_clocks_run(void **state)
{
    (void)state;
    int64_t before = (int64_t)time(NULL) * 1000, now = gf_clock_ms();
    assert_true(now >= before && now < before + 60000);
    double start = gf_clock_seconds(), last = start;
    struct timespec pause = {0, 20000000};
    while (nanosleep(&pause, &pause) != 0)
        ;
    for (int i = 0; i < 1000; i++) {
        double t = gf_clock_seconds();
        assert_true(t >= last);
        last = t;
    }
    assert_true(last - start >= 0.02 && last - start < 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_known_times),
        cmocka_unit_test(reads_times_in_words),
        cmocka_unit_test(refuses_what_is_no_time),
        cmocka_unit_test(writes_known_times),
        cmocka_unit_test(every_day_is_that_of_gmtime),
        cmocka_unit_test(agrees_with_gmtime_and_timegm),
        cmocka_unit_test(agrees_with_a_regular_expression),
        cmocka_unit_test(numbers_are_seconds_or_milliseconds),
        cmocka_unit_test(decimals_of_seconds_are_kept),
        cmocka_unit_test(both_clocks_run),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
