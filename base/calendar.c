#include "grouperfish/calendar.h"

#include "base/clock.h"

#include <assert.h>
#include <inttypes.h>

enum { MS_PER_HOUR = 3600000, HOURS_PER_DAY = 24 };

/* a / b, rounded down also below zero. */
static int64_t quotient(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Months that the periods of a kind have; 0: they are counted in days or hours. */
static int64_t months_of(gf_period kind)
{
    return kind == GF_PERIOD_MONTH     ? 1
           : kind == GF_PERIOD_QUARTER ? 3
           : kind == GF_PERIOD_YEAR    ? 12
                                       : 0;
}

int64_t gf_calendar_period(gf_period kind, int64_t ms)
{
    assert(kind != GF_PERIOD_AUTO);
    int64_t hours = quotient(ms, MS_PER_HOUR), days = quotient(hours, HOURS_PER_DAY), year;
    int month, day;
    if (kind == GF_PERIOD_HOUR) return hours;
    if (kind == GF_PERIOD_DAY) return days;
    if (kind == GF_PERIOD_WEEK) return quotient(days + 3, 7); /* day 0 was a Thursday */
    gf_clock_date_from_days(days, &year, &month, &day);
    return quotient((year - 1970) * 12 + month - 1, months_of(kind));
}

int64_t gf_calendar_first_day(gf_period kind, int64_t number)
{
    if (kind == GF_PERIOD_HOUR) return quotient(number, HOURS_PER_DAY);
    if (kind == GF_PERIOD_DAY) return number;
    if (kind == GF_PERIOD_WEEK) return number * 7 - 3;
    int64_t months = number * months_of(kind), years = quotient(months, 12);
    return gf_clock_days_from_date(1970 + years, months - years * 12 + 1, 1);
}

void gf_calendar_write(gf_period kind, int64_t number, gf_buffer *b)
{
    int64_t first = gf_calendar_first_day(kind, number), year;
    int month, day;
    if (kind == GF_PERIOD_WEEK) {
        /* A week belongs to the year that its Thursday is in. */
        gf_clock_date_from_days(first + 3, &year, &month, &day);
        int64_t week = (first + 3 - gf_clock_days_from_date(year, 1, 1)) / 7 + 1;
        gf_buffer_format(b, "%04" PRId64 "-W%02" PRId64, year, week);
        return;
    }
    gf_clock_date_from_days(first, &year, &month, &day);
    gf_buffer_format(b, "%04" PRId64, year);
    if (kind == GF_PERIOD_YEAR) return;
    if (kind == GF_PERIOD_QUARTER) {
        gf_buffer_format(b, "-Q%d", (month + 2) / 3);
        return;
    }
    gf_buffer_format(b, "-%02d", month);
    if (kind == GF_PERIOD_MONTH) return;
    gf_buffer_format(b, "-%02d", day);
    if (kind == GF_PERIOD_HOUR) gf_buffer_format(b, "T%02" PRId64, number - first * HOURS_PER_DAY);
}
