#include "grouperfish/calendar.h"

#include "base/clock.h"

#include <inttypes.h>

enum { MS_PER_DAY = 86400000 };

/* a / b, rounded down also below zero. */
static int64_t quotient(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t gf_calendar_period(gf_period kind, int64_t ms)
{
    int64_t days = quotient(ms, MS_PER_DAY), year;
    int month, day;
    if (kind == GF_PERIOD_DAY) return days;
    if (kind == GF_PERIOD_WEEK) return quotient(days + 3, 7); /* day 0 was a Thursday */
    gf_clock_date_from_days(days, &year, &month, &day);
    return (year - 1970) * 12 + month - 1;
}

int64_t gf_calendar_first_day(gf_period kind, int64_t number)
{
    if (kind == GF_PERIOD_DAY) return number;
    if (kind == GF_PERIOD_WEEK) return number * 7 - 3;
    int64_t years = quotient(number, 12);
    return gf_clock_days_from_date(1970 + years, number - years * 12 + 1, 1);
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
    gf_buffer_format(b, "%04" PRId64 "-%02d", year, month);
    if (kind == GF_PERIOD_DAY) gf_buffer_format(b, "-%02d", day);
}
