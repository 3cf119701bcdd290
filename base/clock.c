#include "base/clock.h"

#include "base/number.h"

#include <math.h>
#include <string.h>
#include <time.h>

int64_t gf_clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

double gf_clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/*
 * Days from 1970-01-01 to a date of the proleptic Gregorian calendar, and back. The year is counted
 * from March, so that the leap day is its last: 400 years have 146,097 days.
 */
int64_t gf_clock_days_from_date(int64_t year, int64_t month, int64_t day)
{
    if (month <= 2) year--;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

void gf_clock_date_from_days(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153;
    *day = (int)(day_of_year - (153 * shifted + 2) / 5 + 1);
    *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = year_of_era + era * 400 + (*month <= 2);
}

static bool take_digits(gf_slice *s, size_t n, int64_t *value)
{
    uint64_t v;
    if (s->len < n || !gf_number_read(gf_slice_of(s->ptr, n), &v)) return false;
    *value = (int64_t)v;
    *s = gf_slice_skip(*s, n);
    return true;
}

static bool take_char(gf_slice *s, char c)
{
    if (s->len == 0 || s->ptr[0] != c) return false;
    *s = gf_slice_skip(*s, 1);
    return true;
}

/* Milliseconds of ".123456"; digits past the third are dropped. */
static bool take_fraction(gf_slice *s, int64_t *ms)
{
    if (!take_char(s, '.') && !take_char(s, ',')) return true;
    int64_t scale = 100, digit;
    if (!take_digits(s, 1, &digit)) return false;
    do {
        *ms += digit * scale;
        scale /= 10;
    } while (take_digits(s, 1, &digit));
    return true;
}

static bool take_offset(gf_slice *s, int64_t *minutes)
{
    *minutes = 0;
    if (s->len == 0 || take_char(s, 'Z') || take_char(s, 'z')) return true;
    int64_t sign = take_char(s, '+') ? 1 : take_char(s, '-') ? -1 : 0;
    int64_t hour, minute = 0;
    if (sign == 0 || !take_digits(s, 2, &hour)) return false;
    if ((take_char(s, ':') || s->len) && !take_digits(s, 2, &minute)) return false;
    if (hour > 23 || minute > 59) return false;
    *minutes = sign * (hour * 60 + minute);
    return true;
}

static bool take_time(gf_slice *s, int64_t *ms)
{
    int64_t hour, minute, second = 0, fraction = 0, offset;
    if (!take_digits(s, 2, &hour) || !take_char(s, ':') || !take_digits(s, 2, &minute))
        return false;
    if (take_char(s, ':') && (!take_digits(s, 2, &second) || !take_fraction(s, &fraction)))
        return false;
    if (hour > 23 || minute > 59 || second > 60 || !take_offset(s, &offset)) return false;
    *ms = ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction;
    return true;
}

bool gf_clock_is_date(int64_t year, int64_t month, int64_t day)
{
    static const int month_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > month_days[month - 1]) return false;
    return month != 2 || day != 29 || leap;
}

bool gf_clock_parse_iso(gf_slice s, int64_t *ms)
{
    int64_t year, month, day, time = 0;
    if (!take_digits(&s, 4, &year) || !take_char(&s, '-') || !take_digits(&s, 2, &month) ||
        !take_char(&s, '-') || !take_digits(&s, 2, &day))
        return false;
    if (!gf_clock_is_date(year, month, day)) return false;
    if (s.len) {
        if (!take_char(&s, 'T') && !take_char(&s, 't') && !take_char(&s, ' ')) return false;
        if (!take_time(&s, &time) || s.len) return false;
    }
    *ms = gf_clock_days_from_date(year, month, day) * 86400000 + time;
    return true;
}

/* ---- English words --------------------------------------------------------------------------- */

/* The number, from 1, of one of the names, which have three letters each. */
static bool take_name(gf_slice *s, const char *names, int64_t *number)
{
    for (size_t i = 0; s->len >= 3 && names[3 * i]; i++) {
        if (memcmp(s->ptr, names + 3 * i, 3) != 0) continue;
        *number = (int64_t)i + 1;
        *s = gf_slice_skip(*s, 3);
        return true;
    }
    return false;
}

static bool take_month(gf_slice *s, int64_t *month)
{
    return take_name(s, "JanFebMarAprMayJunJulAugSepOctNovDec", month);
}

/* A day of one digit or two. */
static bool take_day(gf_slice *s, int64_t *day)
{
    int64_t second;
    if (!take_digits(s, 1, day)) return false;
    if (take_digits(s, 1, &second)) *day = *day * 10 + second;
    return true;
}

/* " 09:05:55 +0000", or GMT. */
static bool take_clock(gf_slice *s, int64_t *time)
{
    static const char *const zones[] = {" GMT", " UT", " UTC", " Z"};
    gf_slice clock = *s;
    size_t end = 1;
    while (end < clock.len && clock.ptr[end] != ' ')
        end++;
    if (!take_char(&clock, ' ')) return false;
    clock.len = end - 1;
    if (clock.len < 5 || !take_time(&clock, time) || clock.len) return false;
    *s = gf_slice_skip(*s, end);
    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
        size_t n = strlen(zones[i]);
        bool alone = s->len == n || (s->len > n && s->ptr[n] == ' ');
        if (!gf_slice_starts(*s, gf_slice_str(zones[i])) || !alone) continue;
        *s = gf_slice_skip(*s, n);
        return true;
    }
    int64_t hours, minutes;
    if (s->len < 6 || !take_char(s, ' ')) return false;
    int64_t sign = take_char(s, '+') ? 1 : take_char(s, '-') ? -1 : 0;
    if (!sign || !take_digits(s, 2, &hours) || !take_digits(s, 2, &minutes) || minutes > 59)
        return false;
    *time -= sign * (hours * 60 + minutes) * 60000;
    return true;
}

bool gf_clock_parse_words(gf_slice s, int64_t *ms)
{
    int64_t weekday, year = 0, month = 0, day = 0, time = 0;
    bool good;
    if (take_name(&s, "MonTueWedThuFriSatSun", &weekday)) {
        take_char(&s, ',');
        if (!take_char(&s, ' ')) return false;
    }
    if (take_month(&s, &month)) /* Apr 29 09:05:55 +0000 2016 */
        good = take_char(&s, ' ') && take_day(&s, &day) && take_clock(&s, &time) &&
               take_char(&s, ' ') && take_digits(&s, 4, &year);
    else /* 29 Apr 2016 09:05:55 +0000 */
        good = take_day(&s, &day) && take_char(&s, ' ') && take_month(&s, &month) &&
               take_char(&s, ' ') && take_digits(&s, 4, &year) && take_clock(&s, &time);
    if (!good || s.len || !gf_clock_is_date(year, month, day)) return false;
    time += gf_clock_days_from_date(year, month, day) * 86400000;
    if (time < GF_CLOCK_LEAST || time > GF_CLOCK_MOST) return false; /* by the offset */
    *ms = time;
    return true;
}

bool gf_clock_from_number(double number, int64_t *ms)
{
    if (!isfinite(number)) return false;
    double value = fabs(number) >= 1e11 ? number : number * 1000;
    if (fabs(value) > 2.5e14) return false; /* beyond the year 9892 */
    *ms = (int64_t)floor(value + 0.5); /* seconds times 1000 may fall just below the millisecond */
    return true;
}

void gf_clock_write_date(gf_buffer *b, int64_t ms)
{
    int64_t year;
    int month, day;
    gf_clock_date_from_days(ms / 86400000 - (ms % 86400000 < 0), &year, &month, &day);
    gf_buffer_format(b, "%04lld-%02d-%02d", (long long)year, month, day);
}

void gf_clock_write_iso(gf_buffer *b, int64_t ms)
{
    int64_t days = ms / 86400000, rest = ms % 86400000;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    int64_t year;
    int month, day;
    gf_clock_date_from_days(days, &year, &month, &day);
    int seconds = (int)(rest / 1000), fraction = (int)(rest % 1000);
    gf_buffer_format(b, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)year, month, day,
                     seconds / 3600, seconds / 60 % 60, seconds % 60);
    if (fraction) gf_buffer_format(b, ".%03d", fraction);
    gf_buffer_byte(b, 'Z');
}
