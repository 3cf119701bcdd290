#include "formats/workbook/workbook_cell.h"

#include "base/clock.h"
#include "base/json/writer.h"
#include "base/number.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { MS_PER_DAY = 86400000, FIRST_MARCH_1900 = 61, SERIAL_1904 = 1462, MOST_SERIAL = 2958465 };

/* ---- formats --------------------------------------------------------------------------------- */

unsigned gf_workbook_cell_format_of_number(unsigned id)
{
    /* 27 to 36 and 50 to 58 are those of Chinese, Japanese and Korean. */
    if (id == 22) return GF_WORKBOOK_DATE | GF_WORKBOOK_TIME;
    if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id == 36) return GF_WORKBOOK_DATE;
    if ((id >= 50 && id <= 54) || id == 57 || id == 58) return GF_WORKBOOK_DATE;
    if ((id >= 18 && id <= 21) || id == 45 || id == 47) return GF_WORKBOOK_TIME;
    if ((id >= 32 && id <= 35) || id == 55 || id == 56) return GF_WORKBOOK_TIME;
    return GF_WORKBOOK_NUMBER;
}

/* [h], [mm], [ss]: an amount of time, which is a number of days. */
static bool is_elapsed(gf_slice bracket)
{
    if (bracket.len == 0) return false;
    for (size_t i = 0; i < bracket.len; i++)
        if (!strchr("hHmMsS", bracket.ptr[i])) return false;
    return true;
}

unsigned gf_workbook_cell_format_of_code(gf_slice code)
{
    unsigned format = 0;
    bool has_minutes = false;
    for (size_t i = 0; i < code.len && code.ptr[i] != ';'; i++) {
        char c = code.ptr[i];
        if (c == '\\' || c == '_' || c == '*') {
            i++; /* the next character as it is, as wide a gap, or as filling */
        } else if (c == '"' || c == '[') {
            const char *end = memchr(code.ptr + i + 1, c == '"' ? '"' : ']', code.len - i - 1);
            if (!end) return format;
            gf_slice inner = gf_slice_of(code.ptr + i + 1, (size_t)(end - code.ptr) - i - 1);
            if (c == '[' && is_elapsed(inner)) return GF_WORKBOOK_NUMBER;
            i = (size_t)(end - code.ptr);
        } else if (c == 'd' || c == 'D' || c == 'y' || c == 'Y') {
            format |= GF_WORKBOOK_DATE;
        } else if (c == 'h' || c == 'H' || c == 's' || c == 'S') {
            format |= GF_WORKBOOK_TIME;
        } else if (c == 'm' || c == 'M') {
            has_minutes = true;
        } else if (c == 'G' && code.len - i >= 7 && strncasecmp(code.ptr + i, "General", 7) == 0) {
            i += 6;
        } else if (c == '0' || c == '#' || c == '?' || c == '@') {
            /* "0.00 \m" has no date, while "ss.00" has a fraction of a second. */
            if (!format && !has_minutes) return GF_WORKBOOK_NUMBER;
        }
    }
    if (has_minutes && !format) format = GF_WORKBOOK_DATE; /* "mmmm": a month */
    return format;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* "13:45:30", and milliseconds where there are some. */
static void append_time_of_day(gf_buffer *out, int64_t ms)
{
    gf_buffer_format(out, "%02d:%02d:%02d", (int)(ms / 3600000), (int)(ms / 60000 % 60),
                     (int)(ms / 1000 % 60));
    if (ms % 1000) gf_buffer_format(out, ".%03d", (int)(ms % 1000));
}

/* False for a number that is no date: negative, or of the year 10000. */
static bool append_date(gf_buffer *out, double serial, unsigned format, bool from_1904)
{
    if (!(serial >= 0) || serial >= MOST_SERIAL + 1 - (from_1904 ? SERIAL_1904 : 0)) return false;
    int64_t days = (int64_t)floor(serial);
    int64_t ms = llround((serial - (double)days) * MS_PER_DAY);
    if (ms == MS_PER_DAY) {
        days++;
        ms = 0;
    }
    if (days == 0 && !(format & GF_WORKBOOK_DATE)) {
        append_time_of_day(out, ms);
        return true;
    }
    if (from_1904) days += SERIAL_1904;
    /* Serial 60 is a day that never was: the one before it and the one after it are a day apart. */
    if (!from_1904 && days < FIRST_MARCH_1900) days += days == FIRST_MARCH_1900 - 1 ? 0 : 1;
    int64_t start = (days + gf_clock_days_from_date(1899, 12, 30)) * MS_PER_DAY;
    if (start > GF_CLOCK_MOST) return false;
    gf_clock_write_date(out, start);
    if (ms || format & GF_WORKBOOK_TIME) {
        gf_buffer_byte(out, 'T');
        append_time_of_day(out, ms);
    }
    return true;
}

static bool is_whole(gf_slice number)
{
    size_t sign = number.len && number.ptr[0] == '-';
    if (number.len == sign || number.len - sign > 15) return false;
    for (size_t i = sign; i < number.len; i++)
        if (number.ptr[i] < '0' || number.ptr[i] > '9') return false;
    return true;
}

void gf_workbook_cell_append_number(gf_buffer *out, gf_slice number, unsigned format,
                                    bool from_1904)
{
    double v;
    bool has_value = gf_number_read_decimal(number, &v);
    if (has_value && format && append_date(out, v, format, from_1904)) return;
    if (!has_value || is_whole(number))
        gf_buffer_slice(out, number);
    else if (fabs(v) < 1e15 && v == floor(v))
        gf_buffer_format(out, "%lld", (long long)v);
    else
        gf_json_append_double(out, v);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The unit that "_x000D_" at the start of s stands for; -1 where none is. */
static int32_t escaped_unit(gf_slice s)
{
    int32_t unit = 0;
    if (s.len < 7 || s.ptr[0] != '_' || s.ptr[1] != 'x' || s.ptr[6] != '_') return -1;
    for (size_t i = 2; i < 6; i++) {
        char c = s.ptr[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

void gf_workbook_cell_append_text(gf_buffer *out, gf_slice s)
{
    while (s.len) {
        const char *at = memmem(s.ptr, s.len, "_x", 2);
        size_t before = at ? (size_t)(at - s.ptr) : s.len;
        gf_buffer_append(out, s.ptr, before);
        s = gf_slice_skip(s, before);
        if (s.len == 0) return;
        int32_t unit = escaped_unit(s);
        if (unit < 0) {
            gf_buffer_append(out, s.ptr, 2);
            s = gf_slice_skip(s, 2);
            continue;
        }
        s = gf_slice_skip(s, 7);
        int32_t low = escaped_unit(s);
        bool is_pair = unit >= 0xD800 && unit < 0xDC00 && low >= 0xDC00 && low < 0xE000;
        uint32_t code = (uint32_t)unit;
        if (is_pair) {
            code = 0x10000 + ((code & 0x3FF) << 10) + ((uint32_t)low & 0x3FF);
            s = gf_slice_skip(s, 7);
        }
        if (code == 0 || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
        gf_utf8_append(out, code);
    }
}
