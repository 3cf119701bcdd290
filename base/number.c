#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

bool gf_number_read(gf_slice text, uint64_t *v)
{
    uint64_t n = 0;
    if (text.len == 0 || text.len > 20) return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(text.ptr[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, digit, &n))
            return false;
    }
    *v = n;
    return true;
}

bool gf_number_read_signed(gf_slice text, int64_t *v)
{
    bool negative = text.len && text.ptr[0] == '-';
    int64_t n = 0;
    if (text.len == (size_t)negative) return false;
    for (size_t i = negative; i < text.len; i++) {
        int digit = text.ptr[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, negative ? -digit : digit, &n))
            return false;
    }
    *v = n;
    return true;
}

bool gf_number_take(gf_slice *text, size_t most, uint64_t *v)
{
    size_t n = 0;
    while (n < text->len && n < most && text->ptr[n] >= '0' && text->ptr[n] <= '9')
        n++;
    if (!gf_number_read(gf_slice_of(text->ptr, n), v)) return false;
    *text = gf_slice_skip(*text, n);
    return true;
}

gf_slice gf_number_write(gf_number_digits *digits, uint64_t v)
{
    char *end = digits->text + sizeof digits->text, *p = end;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    return gf_slice_of(p, (size_t)(end - p));
}

static locale_t c_locale;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool gf_number_read_decimal(gf_slice text, double *v)
{
    char copy[48], *end;
    if (text.len == 0 || text.len >= sizeof copy) return false;
    for (size_t i = 0; i < text.len; i++)
        if (!text.ptr[i] || !strchr("0123456789.eE+-", text.ptr[i])) return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    pthread_once(&once, make_locale);
    double read = c_locale ? strtod_l(copy, &end, c_locale) : strtod(copy, &end);
    if (*end || !isfinite(read)) return false;
    *v = read;
    return true;
}
