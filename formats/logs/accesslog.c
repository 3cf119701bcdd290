/* Access logs: a line taken apart from left to right. */
#include "formats/logs/accesslog.h"

#include "base/number.h"
#include "grouperfish/calendar.h"

#include <string.h>

/* ---- time ------------------------------------------------------------------------------------ */

int64_t gf_accesslog_bucket_start(gf_accesslog_bucket bucket, int64_t seconds)
{
    static const gf_period periods[] = {[GF_ACCESSLOG_DAY] = GF_PERIOD_DAY,
                                        [GF_ACCESSLOG_WEEK] = GF_PERIOD_WEEK,
                                        [GF_ACCESSLOG_MONTH] = GF_PERIOD_MONTH,
                                        [GF_ACCESSLOG_YEAR] = GF_PERIOD_YEAR};
    if (bucket == GF_ACCESSLOG_5_MINUTES || bucket == GF_ACCESSLOG_HOUR) {
        int64_t width = bucket == GF_ACCESSLOG_HOUR ? 3600 : 300, over = seconds % width;
        return seconds - over - (over < 0 ? width : 0);
    }
    gf_period p = periods[bucket];
    return gf_calendar_first_day(p, gf_calendar_period(p, seconds * 1000)) * 86400;
}

/* n digits at s as a number; -1 where they are not digits. */
static int digits_at(const char *s, size_t n)
{
    uint64_t v;
    return gf_number_read(gf_slice_of(s, n), &v) ? (int)v : -1;
}

static int month_named(const char *s)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12; i++)
        if (memcmp(names + 3 * i, s, 3) == 0) return i;
    return -1;
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month] + (month == 1 && is_leap(year));
}

/* 17/May/2015:10:05:03 +0000 */
static bool take_time(gf_slice s, int64_t *time)
{
    if (s.len != 26 || s.ptr[2] != '/' || s.ptr[6] != '/' || s.ptr[11] != ':' || s.ptr[14] != ':' ||
        s.ptr[17] != ':' || s.ptr[20] != ' ' || (s.ptr[21] != '+' && s.ptr[21] != '-'))
        return false;
    int day = digits_at(s.ptr, 2), month = month_named(s.ptr + 3), year = digits_at(s.ptr + 7, 4);
    int hour = digits_at(s.ptr + 12, 2), minute = digits_at(s.ptr + 15, 2),
        second = digits_at(s.ptr + 18, 2);
    int zone_hours = digits_at(s.ptr + 22, 2), zone_minutes = digits_at(s.ptr + 24, 2);
    if (year < 1970 || month < 0 || day < 1 || day > days_of(year, month) || hour < 0 ||
        hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 || zone_hours < 0 ||
        zone_hours > 23 || zone_minutes < 0 || zone_minutes > 59)
        return false;
    int64_t first = gf_calendar_first_day(GF_PERIOD_MONTH, (year - 1970) * INT64_C(12) + month);
    int zone = 60 * (60 * zone_hours + zone_minutes);
    *time = (first + day - 1) * 86400 + hour * 3600 + minute * 60 + second -
            (s.ptr[21] == '-' ? -zone : zone);
    return *time >= 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static gf_slice unless_dash(gf_slice s)
{
    return s.len == 1 && s.ptr[0] == '-' ? gf_slice_of(s.ptr, 0) : s;
}

/* The bytes before the next c; both are taken off the line. False where there is no c. */
static bool take_until(gf_slice *line, char c, gf_slice *field)
{
    const char *end = line->len ? memchr(line->ptr, c, line->len) : NULL;
    if (!end) return false;
    *field = gf_slice_of(line->ptr, (size_t)(end - line->ptr));
    *line = gf_slice_skip(*line, field->len + 1);
    return true;
}

/* A field in quotes; a backslash keeps the character behind it from ending it. */
static bool take_quoted(gf_slice *line, gf_slice *field)
{
    size_t i = 1;
    if (!line->len || line->ptr[0] != '"') return false;
    while (i < line->len && line->ptr[i] != '"')
        i += line->ptr[i] == '\\' ? 2 : 1;
    if (i >= line->len) return false;
    *field = gf_slice_of(line->ptr + 1, i - 1);
    *line = gf_slice_skip(*line, i + 1);
    return true;
}

/* "[domain:port ]host ident user [": the user may hold spaces, so it ends at the bracket. */
static bool take_client(gf_slice *line, gf_accesslog_line *a)
{
    gf_slice ident, rest = *line;
    const char *colon;
    if (!take_until(&rest, ' ', &a->ip) || a->ip.len == 0) return false;
    colon = memchr(a->ip.ptr, ':', a->ip.len);
    uint64_t port;
    bool vhost = colon && memchr(a->ip.ptr, '.', (size_t)(colon - a->ip.ptr)) &&
                 gf_number_read(gf_slice_skip(a->ip, (size_t)(colon - a->ip.ptr) + 1), &port);
    if (vhost) {
        a->domain = gf_slice_of(a->ip.ptr, (size_t)(colon - a->ip.ptr));
        if (!take_until(&rest, ' ', &a->ip) || a->ip.len == 0) return false;
    }
    if (!take_until(&rest, ' ', &ident) || ident.len == 0) return false;
    const char *bracket = rest.len > 2 ? memmem(rest.ptr, rest.len, " [", 2) : NULL;
    if (!bracket || bracket == rest.ptr) return false;
    a->login = unless_dash(gf_slice_of(rest.ptr, (size_t)(bracket - rest.ptr)));
    *line = gf_slice_skip(rest, (size_t)(bracket - rest.ptr) + 2);
    return true;
}

/* "GET /path HTTP/1.1". Servers log any bytes they were sent: one that is no request is all URL. */
static void split_request(gf_slice request, gf_accesslog_line *a)
{
    gf_slice rest = request, url;
    a->url = unless_dash(request);
    if (!take_until(&rest, ' ', &a->method)) return;
    if (!take_until(&rest, ' ', &url)) url = rest, rest.len = 0;
    a->url = url;
    a->protocol = rest;
    const char *scheme = memmem(url.ptr, url.len, "://", 3);
    if (!scheme || memchr(url.ptr, '/', (size_t)(scheme - url.ptr))) return;
    gf_slice host = gf_slice_skip(url, (size_t)(scheme - url.ptr) + 3);
    size_t n = 0;
    while (n < host.len && !memchr("/?#:", host.ptr[n], 4))
        n++;
    if (n) a->domain = gf_slice_of(host.ptr, n);
}

/* The fields behind the request: " status bytes", and up to three in quotes. */
static const char *take_answer(gf_slice line, gf_accesslog_line *a)
{
    uint64_t status;
    gf_slice field, *const quoted[] = {&a->referer, &a->agent, &a->cookie};
    if (!gf_slice_starts(line, GF_SLICE(" "))) return "nothing behind the request";
    line = gf_slice_skip(line, 1);
    if (!take_until(&line, ' ', &field) || !gf_number_read(field, &status) || status < 100 ||
        status > 999)
        return "the status is not a number of three digits";
    a->status = (unsigned)status;
    if (!take_until(&line, ' ', &field)) field = line, line.len = 0;
    if (!gf_number_read(field, &a->bytes) && !gf_slice_equal(field, GF_SLICE("-")))
        return "the size is neither a number nor -";
    for (size_t i = 0; i < 3 && line.len; i++) {
        if (!take_quoted(&line, &field)) return "a field in quotes does not end";
        *quoted[i] = unless_dash(field);
        if (line.len && line.ptr[0] != ' ') return "no space behind a field in quotes";
        line = gf_slice_skip(line, line.len ? 1 : 0);
    }
    return line.len ? "something behind the last field" : NULL;
}

gf_status gf_accesslog_parse(gf_slice line, gf_accesslog_line *access, gf_error *err)
{
    gf_accesslog_line a = {0};
    gf_slice field;
    if (!take_client(&line, &a))
        return gf_fail(err, GF_EINVAL, "does not begin with host, identity, user and [");
    if (!take_until(&line, ']', &field) || !take_time(field, &a.time))
        return gf_fail(err, GF_EINVAL, "the time is not like 17/May/2015:10:05:03 +0000");
    if (!gf_slice_starts(line, GF_SLICE(" \"")))
        return gf_fail(err, GF_EINVAL, "no request in quotes behind the time");
    line = gf_slice_skip(line, 1);
    if (!take_quoted(&line, &field)) return gf_fail(err, GF_EINVAL, "the request does not end");
    split_request(field, &a);
    const char *why = take_answer(line, &a);
    if (why) return gf_fail(err, GF_EINVAL, "%s", why);
    *access = a;
    return GF_OK;
}
