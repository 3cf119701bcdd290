#include "base/written_time.h"

#include "base/clock.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { MS_PER_DAY = 86400000, PIVOT = 70 /* two digits from here on are of 1900 */ };

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Blanks, also those that do not break a line: U+00A0, and U+202F before AM and PM. */
static bool take_blanks(gf_slice *s)
{
    size_t before = s->len;
    for (;;) {
        size_t n = s->len && (s->ptr[0] == ' ' || s->ptr[0] == '\t') ? 1
                   : gf_slice_starts(*s, GF_SLICE("\xC2\xA0"))       ? 2
                   : gf_slice_starts(*s, GF_SLICE("\xE2\x80\xAF"))   ? 3
                                                                     : 0;
        if (n == 0) return s->len < before;
        *s = gf_slice_skip(*s, n);
    }
}

static bool take_char(gf_slice *s, char c)
{
    if (s->len == 0 || s->ptr[0] != c) return false;
    *s = gf_slice_skip(*s, 1);
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits at the start; how many, and no more than 14 of them, or 0. */
static size_t take_digits(gf_slice *s, int64_t *value)
{
    size_t n = 0;
    *value = 0;
    while (n < s->len && is_digit(s->ptr[n])) {
        if (n == 14) return 0;
        *value = *value * 10 + (s->ptr[n++] - '0');
    }
    *s = gf_slice_skip(*s, n);
    return n;
}

/* The letters at the start, which may be none. */
static gf_slice take_letters(gf_slice *s)
{
    size_t n = 0;
    while (n < s->len && ((s->ptr[n] | 0x20) >= 'a' && (s->ptr[n] | 0x20) <= 'z'))
        n++;
    gf_slice word = gf_slice_of(s->ptr, n);
    *s = gf_slice_skip(*s, n);
    return word;
}

static bool is_word(gf_slice word, const char *text)
{
    return word.len == strlen(text) && strncasecmp(word.ptr, text, word.len) == 0;
}

/* The number, from 1, of a name that is written in full or as its first three letters; else 0. */
static int64_t name_number(gf_slice word, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_word(word, names[i]) ||
            (word.len == 3 && strncasecmp(word.ptr, names[i], word.len) == 0))
            return (int64_t)i + 1;
    return 0;
}

static int64_t month_number(gf_slice word)
{
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    return is_word(word, "Sept") ? 9 : name_number(word, months, 12);
}

static bool is_weekday(gf_slice word)
{
    static const char *const days[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                       "Friday", "Saturday", "Sunday"};
    return is_word(word, "Tues") || is_word(word, "Thurs") || name_number(word, days, 7) > 0;
}

/* ---- dates ----------------------------------------------------------------------------------- */

typedef struct date {
    int64_t year, month, day;
    bool is_ambiguous;
} date;

/* A year of four digits, or of two where that is allowed. */
static bool take_year(gf_slice *s, bool may_be_short, int64_t *year, bool *is_short)
{
    size_t n = take_digits(s, year);
    *is_short = n == 2;
    if (*is_short) *year += *year < PIVOT ? 2000 : 1900;
    return n == 4 || (*is_short && may_be_short);
}

/* "2/21/2015": the first two numbers are read, and the separator behind each. */
static bool take_day_month(gf_slice *s, char separator, int64_t first, int64_t second,
                           gf_date_order order, date *d)
{
    bool is_short;
    bool points = separator == '.';
    if (!take_year(s, true, &d->year, &is_short)) return false;
    if (order == GF_DATE_ORDER_UNKNOWN && points) order = GF_DATE_ORDER_DAY_FIRST;
    bool month_first = order == GF_DATE_ORDER_MONTH_FIRST;
    if (order == GF_DATE_ORDER_UNKNOWN) {
        bool either = first <= 12 && second <= 12 && first != second;
        d->is_ambiguous = either || is_short;
        month_first = second > 12;
    }
    d->month = month_first ? first : second;
    d->day = month_first ? second : first;
    return true;
}

/* "20150221", and the digits of a time of day where they follow at once. */
static bool split_digits(int64_t digits, size_t n, date *d, int64_t *seconds)
{
    if (n != 8 && n != 14) return false;
    if (n == 14) {
        int64_t hour = digits / 10000 % 100, minute = digits / 100 % 100, second = digits % 100;
        if (hour > 23 || minute > 59 || second > 60) return false;
        *seconds = (hour * 60 + minute) * 60 + second;
        digits /= 1000000;
    }
    d->year = digits / 10000;
    d->month = digits / 100 % 100;
    d->day = digits % 100;
    return true;
}

/* " Feb 2015", "-Feb-15", ". February 2015" behind a day. */
static bool take_month_year(gf_slice *s, date *d)
{
    bool is_short, dash = take_char(s, '-');
    if (!dash) {
        take_char(s, '.');
        take_blanks(s);
    }
    d->month = month_number(take_letters(s));
    if (!d->month) return false;
    if (dash) return take_char(s, '-') && take_year(s, true, &d->year, &is_short);
    take_char(s, '.');
    take_char(s, ',');
    return take_blanks(s) && take_year(s, false, &d->year, &is_short);
}

/* "W08", "W08-6", "W086" behind a year: the day, from Monday on, of the week of ISO 8601. */
static bool take_week(gf_slice *s, bool dash, int64_t year, date *d)
{
    int64_t week, day = 1;
    if (!take_char(s, 'W') && !take_char(s, 'w')) return false;
    size_t n = take_digits(s, &week);
    if (n == 3 && !dash) {
        day = week % 10;
        week /= 10;
    } else if (n != 2) {
        return false;
    } else if (dash && s->len > 1 && s->ptr[0] == '-' && is_digit(s->ptr[1])) {
        *s = gf_slice_skip(*s, 1);
        if (take_digits(s, &day) != 1) return false;
    }
    if (year < 2 || year > 9998 || week < 1 || week > 53 || day < 1 || day > 7) return false;
    int month, in_month;
    /* The 4th of January is in the first week; 1970-01-01 was a Thursday. */
    int64_t fourth = gf_clock_days_from_date(year, 1, 4);
    int64_t monday = fourth - ((fourth + 3) % 7 + 7) % 7 + (week - 1) * 7;
    gf_clock_date_from_days(monday + 3, &d->year, &month, &in_month);
    if (d->year != year) return false; /* a year of 52 weeks */
    gf_clock_date_from_days(monday + day - 1, &d->year, &month, &in_month);
    d->month = month;
    d->day = in_month;
    return true;
}

/* A date that begins with a digit. */
static bool take_digits_date(gf_slice *s, gf_date_order order, date *d, int64_t *seconds)
{
    int64_t first, second;
    size_t n = take_digits(s, &first);
    if (n >= 8) return split_digits(first, n, d, seconds);
    char separator = s->len ? s->ptr[0] : '\0';
    bool dash = n == 4 && separator == '-' && s->len > 1 && (s->ptr[1] | 0x20) == 'w';
    if (dash) *s = gf_slice_skip(*s, 1);
    if (dash || (n == 4 && (separator | 0x20) == 'w')) return take_week(s, dash, first, d);
    bool is_separator = separator == '-' || separator == '/' || separator == '.';
    bool number = is_separator && s->len > 1 && is_digit(s->ptr[1]);
    if (!number) {
        d->day = first;
        return (n == 1 || n == 2) && take_month_year(s, d);
    }
    *s = gf_slice_skip(*s, 1);
    size_t m = take_digits(s, &second);
    if ((m != 1 && m != 2) || !take_char(s, separator)) return false;
    if (n == 4) { /* 2015/02/21 */
        m = take_digits(s, &d->day);
        d->year = first;
        d->month = second;
        return m == 1 || m == 2;
    }
    return (n == 1 || n == 2) && take_day_month(s, separator, first, second, order, d);
}

/* "21, 2015", "21st 2015" behind the month. */
static bool take_day_year(gf_slice *s, date *d)
{
    bool is_short;
    take_char(s, '.');
    if (!take_blanks(s)) return false;
    size_t n = take_digits(s, &d->day);
    gf_slice ending = take_letters(s);
    if ((n != 1 && n != 2) || (ending.len && !is_word(ending, "st") && !is_word(ending, "nd") &&
                               !is_word(ending, "rd") && !is_word(ending, "th")))
        return false;
    bool comma = take_char(s, ',');
    return (take_blanks(s) || comma) && take_year(s, false, &d->year, &is_short);
}

static bool take_date(gf_slice *s, gf_date_order order, date *d, int64_t *seconds)
{
    if (s->len && is_digit(s->ptr[0])) return take_digits_date(s, order, d, seconds);
    gf_slice word = take_letters(s);
    if (is_weekday(word)) {
        take_char(s, '.');
        take_char(s, ',');
        if (!take_blanks(s)) return false;
        if (s->len && is_digit(s->ptr[0])) return take_digits_date(s, order, d, seconds);
        word = take_letters(s);
    }
    d->month = month_number(word);
    return d->month && take_day_year(s, d);
}

/* ---- time of day ----------------------------------------------------------------------------- */

/* ".5" behind the seconds; digits past the third are dropped. */
static bool take_fraction(gf_slice *s, int64_t *ms)
{
    if (!take_char(s, '.') && !take_char(s, ',')) return true;
    int64_t scale = 100;
    if (s->len == 0 || !is_digit(s->ptr[0])) return false;
    for (; s->len && is_digit(s->ptr[0]); *s = gf_slice_skip(*s, 1), scale /= 10)
        *ms += (s->ptr[0] - '0') * scale;
    return true;
}

/* "1:45:30.5", "134530": hour, minute, second and milliseconds. */
static bool take_hours(gf_slice *s, int64_t hms[3], int64_t *ms)
{
    int64_t digits;
    size_t n = take_digits(s, &digits);
    if (n == 4 || n == 6) {
        if (n == 4) digits *= 100;
        hms[0] = digits / 10000;
        hms[1] = digits / 100 % 100;
        hms[2] = digits % 100;
        return n == 4 || take_fraction(s, ms);
    }
    hms[0] = digits;
    hms[2] = 0;
    if ((n != 1 && n != 2) || !take_char(s, ':') || take_digits(s, &hms[1]) != 2) return false;
    return !take_char(s, ':') || (take_digits(s, &hms[2]) == 2 && take_fraction(s, ms));
}

/* "AM", "p.m.": the hours of a clock with twelve become those of the day. */
static bool take_half(gf_slice *s, int64_t *hour)
{
    gf_slice rest = *s;
    take_blanks(&rest);
    char half = (char)(rest.len ? rest.ptr[0] | 0x20 : 0);
    if (half != 'a' && half != 'p') return true;
    rest = gf_slice_skip(rest, 1);
    bool point = take_char(&rest, '.');
    if (!take_char(&rest, 'm') && !take_char(&rest, 'M')) return false;
    if (point && !take_char(&rest, '.')) return false;
    if (*hour < 1 || *hour > 12) return false;
    *hour = *hour % 12 + (half == 'p' ? 12 : 0);
    *s = rest;
    return true;
}

/* "Z", " UTC", "+01:00", " -0500", "+01": minutes ahead of UTC. */
static bool take_zone(gf_slice *s, int64_t *ahead)
{
    int64_t hours, minutes = 0;
    *ahead = 0;
    take_blanks(s);
    if (s->len == 0) return true;
    int64_t sign = take_char(s, '+') ? 1 : take_char(s, '-') ? -1 : 0;
    if (sign == 0) {
        gf_slice word = take_letters(s);
        return is_word(word, "UTC") || is_word(word, "GMT") || is_word(word, "UT") ||
               is_word(word, "Z");
    }
    size_t n = take_digits(s, &hours);
    if (n == 4) {
        minutes = hours % 100;
        hours /= 100;
    } else if (n != 2 || (take_char(s, ':') && take_digits(s, &minutes) != 2)) {
        return false;
    }
    *ahead = sign * (hours * 60 + minutes);
    return hours <= 23 && minutes <= 59;
}

static bool take_time_of_day(gf_slice *s, int64_t *ms)
{
    int64_t hms[3], fraction = 0, ahead;
    if (!take_hours(s, hms, &fraction) || !take_half(s, &hms[0]) || !take_zone(s, &ahead))
        return false;
    if (hms[0] > 23 || hms[1] > 59 || hms[2] > 60) return false;
    *ms = ((hms[0] * 60 + hms[1] - ahead) * 60 + hms[2]) * 1000 + fraction;
    return true;
}

/* The letters and blanks between a date and its time of day. */
static bool take_between(gf_slice *s)
{
    if (take_char(s, 'T') || take_char(s, 't')) return true;
    bool comma = take_char(s, ',');
    if (!take_blanks(s) && !comma) return false;
    gf_slice rest = *s;
    if (is_word(take_letters(&rest), "at") && take_blanks(&rest)) *s = rest;
    return true;
}

gf_written_time gf_written_time_read(gf_slice s, gf_date_order order, int64_t *ms)
{
    date d = {0};
    int64_t seconds = -1, time = 0, ahead;
    take_blanks(&s);
    if (!take_date(&s, order, &d, &seconds)) return GF_WRITTEN_TIME_NONE;
    gf_slice rest = s;
    take_blanks(&rest);
    bool is_date = rest.len == 0;
    if (seconds >= 0) {
        time = seconds * 1000;
        if (!take_fraction(&s, &time) || !take_zone(&s, &ahead)) return GF_WRITTEN_TIME_NONE;
        time -= ahead * 60000;
    } else if (!is_date && (!take_between(&s) || !take_time_of_day(&s, &time))) {
        return GF_WRITTEN_TIME_NONE;
    }
    take_blanks(&s);
    if (s.len) return GF_WRITTEN_TIME_NONE;
    bool is_day = gf_clock_is_date(d.year, d.month, d.day);
    if (d.is_ambiguous && (is_day || gf_clock_is_date(d.year, d.day, d.month)))
        return GF_WRITTEN_TIME_AMBIGUOUS;
    if (!is_day) return GF_WRITTEN_TIME_NONE;
    time += gf_clock_days_from_date(d.year, d.month, d.day) * MS_PER_DAY;
    if (time < GF_CLOCK_LEAST || time > GF_CLOCK_MOST) return GF_WRITTEN_TIME_NONE;
    *ms = time;
    return is_date && seconds < 0 ? GF_WRITTEN_TIME_DATE : GF_WRITTEN_TIME_MOMENT;
}
