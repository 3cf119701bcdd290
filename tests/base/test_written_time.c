#include "support/test.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/written_time.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const gf_date_order MDY = GF_DATE_ORDER_MONTH_FIRST, DMY = GF_DATE_ORDER_DAY_FIRST,
                           ANY = GF_DATE_ORDER_UNKNOWN;

/* The day, or the moment, as ISO 8601; "either" or "none" where it is neither. */
static void check(gf_date_order order, const char *text, const char *expected)
{
    gf_buffer b = {0};
    int64_t ms = 77;
    gf_written_time is = gf_written_time_read(gf_slice_str(text), order, &ms);
    if (is == GF_WRITTEN_TIME_DATE) gf_clock_write_date(&b, ms);
    if (is == GF_WRITTEN_TIME_MOMENT) gf_clock_write_iso(&b, ms);
    if (is == GF_WRITTEN_TIME_AMBIGUOUS) gf_buffer_str(&b, "either");
    if (is == GF_WRITTEN_TIME_NONE) gf_buffer_str(&b, "none");
    if (strcmp(gf_buffer_cstr(&b), expected) != 0)
        fail_msg("%s is %s, not %s", text, gf_buffer_cstr(&b), expected);
    if (is == GF_WRITTEN_TIME_AMBIGUOUS || is == GF_WRITTEN_TIME_NONE) assert_int_equal(ms, 77);
    gf_buffer_release(&b);
}

static void reads_dates_of_digits(void **state)
{
    (void)state;
    check(ANY, "21.02.2015", "2015-02-21");
    check(ANY, "3.4.2015", "2015-04-03");
    check(ANY, "21.02.15", "2015-02-21");
    check(ANY, "2015/02/21", "2015-02-21");
    check(ANY, "2015-2-21", "2015-02-21");
    check(ANY, "2015.02.21", "2015-02-21");
    check(ANY, "20150221", "2015-02-21");
    check(ANY, "20150221134530", "2015-02-21T13:45:30Z");
    check(ANY, "20150221T134530Z", "2015-02-21T13:45:30Z");
    check(ANY, " \t21.02.2015 ", "2015-02-21");
}

static void asks_for_the_order_where_it_matters(void **state)
{
    (void)state;
    check(ANY, "2/21/2015", "2015-02-21");
    check(ANY, "21/02/2015", "2015-02-21");
    check(ANY, "21-02-2015", "2015-02-21");
    check(ANY, "3/3/2015", "2015-03-03");
    check(ANY, "3/4/2015", "either");
    check(ANY, "03-04-2015 13:45", "either");
    check(ANY, "2/21/15", "either");
    check(MDY, "3/4/2015", "2015-03-04");
    check(DMY, "3/4/2015", "2015-04-03");
    check(MDY, "3.4.2015", "2015-03-04");
    check(MDY, "2/21/15", "2015-02-21");
    check(DMY, "1/2/69", "2069-02-01");
    check(DMY, "1/2/70", "1970-02-01");
    check(MDY, "21/02/2015", "none");
    check(DMY, "2/21/2015", "none");
    check(DMY, "2015/02/21", "2015-02-21");
}

static void reads_months_in_words(void **state)
{
    (void)state;
    check(ANY, "Feb 21, 2015", "2015-02-21");
    check(ANY, "february 21,2015", "2015-02-21");
    check(ANY, "Feb. 21st 2015", "2015-02-21");
    check(ANY, "21 Feb 2015", "2015-02-21");
    check(ANY, "21. February 2015", "2015-02-21");
    check(ANY, "21-Feb-2015", "2015-02-21");
    check(ANY, "1-FEB-15", "2015-02-01");
    check(ANY, "Sept. 3, 2015", "2015-09-03");
    check(ANY, "Saturday, February 21, 2015", "2015-02-21");
    check(ANY, "Sat 21 Feb 2015", "2015-02-21");
    check(DMY, "Feb 21, 2015", "2015-02-21");
    check(ANY, "Feb 2015", "none");
    check(ANY, "Febr 21, 2015", "none");
    check(ANY, "21 Feb 15", "none");
    check(ANY, "Feb21,2015", "none");
}

static void reads_times_of_day(void **state)
{
    (void)state;
    check(ANY, "21.02.2015 13:45", "2015-02-21T13:45:00Z");
    check(ANY, "2/21/2015 1:45:30 PM", "2015-02-21T13:45:30Z");
    check(ANY, "2/21/2015, 1:45:30\xE2\x80\xAFPM", "2015-02-21T13:45:30Z");
    check(ANY, "2/21/2015 12:05 am", "2015-02-21T00:05:00Z");
    check(ANY, "2/21/2015 12:05 p.m.", "2015-02-21T12:05:00Z");
    check(ANY, "2/21/2015 9:05", "2015-02-21T09:05:00Z");
    check(ANY, "Feb 21, 2015 at 1:45 PM UTC", "2015-02-21T13:45:00Z");
    check(ANY, "2015-02-21 13:45:30 UTC", "2015-02-21T13:45:30Z");
    check(ANY, "2015-02-21 13:45:30.5 GMT", "2015-02-21T13:45:30.500Z");
    check(ANY, "2015-02-21 11:35:52 -0800", "2015-02-21T19:35:52Z");
    check(ANY, "2015/02/21 00:30:00+01:00", "2015-02-20T23:30:00Z");
    check(ANY, "2015-02-21T13:45:30,123456789+01", "2015-02-21T12:45:30.123Z");
    check(ANY, "21.02.2015 24:00", "none");
    check(ANY, "2/21/2015 13:45 PM", "none");
    check(ANY, "2/21/2015 0:45 PM", "none");
    check(ANY, "2/21/2015 13:61", "none");
    check(ANY, "2/21/2015 13:45 CET", "none");
    check(ANY, "2/21/2015 13", "none");
    check(ANY, "2/21/2015 13:45 o'clock", "none");
    check(ANY, "2/21/2015 13:45 +25:00", "none");
    check(ANY, "31.12.9999 23:30 -0100", "none");
    check(ANY, "01.01.0001 00:30 +0100", "none");
}

/* The C library writes the weeks of ISO 8601, too: it says what each day of 40 years is. */
static void reads_weeks(void **state)
{
    (void)state;
    char text[3][48], day[32], monday[32];
    check(ANY, "2015-W08", "2015-02-16");
    check(ANY, "2015-W08-6", "2015-02-21");
    check(ANY, "2015w086", "2015-02-21");
    check(ANY, "2009-W01-1", "2008-12-29");
    check(ANY, "2020-W53-7", "2021-01-03");
    check(ANY, "2015-W08-6T13:45+01:00", "2015-02-21T12:45:00Z");
    for (int64_t days = 9000; days < 9000 + 40 * 365; days++) {
        time_t seconds = (time_t)(days * 86400);
        struct tm tm;
        assert_non_null(gmtime_r(&seconds, &tm));
        strftime(text[0], sizeof text[0], "%G-W%V-%u", &tm);
        strftime(text[1], sizeof text[1], "%GW%V%u", &tm);
        strftime(text[2], sizeof text[2], "%G-W%V", &tm);
        strftime(day, sizeof day, "%Y-%m-%d", &tm);
        seconds -= (time_t)((tm.tm_wday + 6) % 7) * 86400;
        assert_non_null(gmtime_r(&seconds, &tm));
        strftime(monday, sizeof monday, "%Y-%m-%d", &tm);
        check(ANY, text[0], day);
        check(ANY, text[1], day);
        check(ANY, text[2], monday);
    }
}

static void refuses_what_is_no_date(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        " ",
                                        "noon",
                                        "2015",
                                        "29.02.2015",
                                        "31.04.2015",
                                        "0.1.2015",
                                        "13/13/2015",
                                        "1/2/3/4",
                                        "1/2.2015",
                                        "2015/13/01",
                                        "21.02.2015x",
                                        "20151301",
                                        "2015022",
                                        "201502211",
                                        "21/2/201",
                                        "1.5",
                                        "1424517300.5",
                                        "0/4/2015",
                                        "4/0/2015",
                                        "Mon",
                                        "Monday",
                                        "May",
                                        "May 5",
                                        "5 May",
                                        "10:30",
                                        "Mar 32, 2015",
                                        "--",
                                        "21.02.",
                                        "21.02.20151",
                                        "99999999999999999999999",
                                        "+1.2.2015",
                                        "21..02.2015",
                                        "2015-02-21T",
                                        "20150221256060",
                                        "2015-W",
                                        "2015-W00",
                                        "2015-W54",
                                        "2014-W53", /* a year of 52 weeks */
                                        "2015-W8",
                                        "2015-W08-0",
                                        "2015-W08-8",
                                        "2015-W08-66",
                                        "2015-W086",
                                        "2015W08-6",
                                        "2015W0866",
                                        "15-W08"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(ANY, texts[i], "none");
}

/* Each day of some years, written in each way, comes back. */
static void reads_what_is_written(void **state)
{
    (void)state;
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    for (int64_t days = 10950; days < 10950 + 2 * 366; days++) {
        int64_t year;
        int m, d;
        char text[7][48], expected[32];
        gf_clock_date_from_days(days, &year, &m, &d);
        int y = (int)year;
        snprintf(expected, sizeof expected, "%04d-%02d-%02d", y, m, d);
        snprintf(text[0], sizeof text[0], "%d.%d.%d", d, m, y);
        snprintf(text[1], sizeof text[1], "%04d/%02d/%02d", y, m, d);
        snprintf(text[2], sizeof text[2], "%04d%02d%02d", y, m, d);
        snprintf(text[3], sizeof text[3], "%s %d, %d", months[m - 1], d, y);
        snprintf(text[4], sizeof text[4], "%02d-%s-%02d", d, months[m - 1], y % 100);
        for (int i = 0; i < 5; i++)
            check(ANY, text[i], expected);
        snprintf(text[5], sizeof text[5], "%d/%d/%02d", m, d, y % 100);
        snprintf(text[6], sizeof text[6], "%d/%d/%d", d, m, y);
        check(MDY, text[5], expected);
        check(DMY, text[6], expected);
        check(ANY, text[6], d <= 12 && m <= 12 && d != m ? "either" : expected);
    }
}

/* Random text of the letters that dates are made of is read to an end, and gives years that ISO 8601 has. */
static void survives_anything(void **state)
{
    (void)state;
    static const char letters[] = "0123456789//..--:: ,+TZFebJuneUTCPMth\xC2\xA0\xE2\x80\xAF";
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 200000; i++) {
        char text[24];
        size_t n = gf_random_below(&random, sizeof text);
        int64_t ms = 0;
        for (size_t j = 0; j < n; j++)
            text[j] = letters[gf_random_below(&random, sizeof letters - 1)];
        gf_date_order order = (gf_date_order)gf_random_below(&random, 3);
        gf_written_time_read(gf_slice_of(text, n), order, &ms);
        assert_true(ms >= GF_CLOCK_LEAST && ms <= GF_CLOCK_MOST);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_dates_of_digits),
        cmocka_unit_test(asks_for_the_order_where_it_matters),
        cmocka_unit_test(reads_months_in_words),
        cmocka_unit_test(reads_times_of_day),
        cmocka_unit_test(reads_weeks),
        cmocka_unit_test(refuses_what_is_no_date),
        cmocka_unit_test(reads_what_is_written),
        cmocka_unit_test(survives_anything),
    };
    return cmocka_run_group_tests_name("written_time", tests, NULL, NULL);
}
