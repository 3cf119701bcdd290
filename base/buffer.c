#include "grouperfish/buffer.h"

#include "base/memory.h"
#include "base/number.h"

#include <assert.h>
#include <stdio.h>

void gf_buffer_init(gf_buffer *b, size_t max)
{
    *b = (gf_buffer){.max = max};
}

void gf_buffer_release(gf_buffer *b)
{
    gf_free(b->ptr);
    *b = (gf_buffer){.max = b->max};
}

void gf_buffer_reset(gf_buffer *b)
{
    b->len = 0;
    b->state = GF_OK;
}

gf_status gf_buffer_check(const gf_buffer *b, gf_error *err)
{
    if (b->state == GF_OK) return GF_OK;
    if (b->state == GF_ENOMEM) return gf_fail_memory(err, "a buffer");
    return gf_fail(err, b->state, "more than %zu bytes", b->max);
}

/* Room for `more` bytes and, behind them, a NUL that the maximum does not count. */
char *gf_buffer_reserve(gf_buffer *b, size_t more)
{
    if (b->state != GF_OK) return NULL;
    if (more > SIZE_MAX / 2 - b->len || (b->max && more > b->max - b->len)) {
        b->state = b->max ? GF_ELIMIT : GF_ENOMEM;
        return NULL;
    }
    if (more < b->capacity - b->len) return b->ptr + b->len;
    size_t capacity = b->capacity ? b->capacity + b->capacity / 2 : 64;
    if (capacity <= b->len + more) capacity = b->len + more + 1;
    if (b->max && capacity > b->max) capacity = b->max + 1;
    char *grown = gf_realloc(b->ptr, capacity, 1);
    if (!grown) {
        b->state = GF_ENOMEM;
        return NULL;
    }
    b->ptr = grown;
    b->capacity = capacity;
    assert(more < b->capacity - b->len);
    return b->ptr + b->len;
}

void gf_buffer_append(gf_buffer *b, const void *bytes, size_t n)
{
    if (n == 0) return;
    if (b->state == GF_OK && b->max == 0 && n < b->capacity - b->len) { /* as nearly always */
        memcpy(b->ptr + b->len, bytes, n);
        b->len += n;
        return;
    }
    char *to = gf_buffer_reserve(b, n);
    if (!to) return;
    memcpy(to, bytes, n);
    b->len += n;
}

void gf_buffer_slice(gf_buffer *b, gf_slice s)
{
    gf_buffer_append(b, s.ptr, s.len);
}

void gf_buffer_str(gf_buffer *b, const char *s)
{
    gf_buffer_append(b, s, strlen(s));
}

void gf_buffer_byte(gf_buffer *b, char c)
{
    if (b->state == GF_OK && b->max == 0 && 1 < b->capacity - b->len)
        b->ptr[b->len++] = c;
    else
        gf_buffer_append(b, &c, 1);
}

void gf_buffer_format(gf_buffer *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *to = gf_buffer_reserve(b, n >= 0 ? (size_t)n : SIZE_MAX);
    if (to) {
        vsnprintf(to, (size_t)n + 1, format, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void gf_buffer_count(gf_buffer *b, uint64_t n)
{
    gf_number_digits digits;
    gf_slice text = gf_number_write(&digits, n);
    for (size_t i = 0; i < text.len; i++) {
        if (i && (text.len - i) % 3 == 0) gf_buffer_byte(b, ',');
        gf_buffer_byte(b, text.ptr[i]);
    }
}

void gf_buffer_varint(gf_buffer *b, uint64_t v)
{
    char bytes[10];
    size_t n = 0;
    bool fits = b->state == GF_OK && b->max == 0 && sizeof bytes < b->capacity - b->len;
    char *to = fits ? b->ptr + b->len : bytes;
    while (v >= 0x80) {
        to[n++] = (char)(v | 0x80);
        v >>= 7;
    }
    to[n++] = (char)v;
    if (fits)
        b->len += n;
    else
        gf_buffer_append(b, bytes, n);
}

void gf_buffer_u32be(gf_buffer *b, uint32_t v)
{
    char bytes[4] = {(char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v};
    gf_buffer_append(b, bytes, sizeof bytes);
}

void gf_buffer_u64be(gf_buffer *b, uint64_t v)
{
    gf_buffer_u32be(b, (uint32_t)(v >> 32));
    gf_buffer_u32be(b, (uint32_t)v);
}

const char *gf_buffer_cstr(gf_buffer *b)
{
    char *end = gf_buffer_reserve(b, 0);
    if (!end) return "";
    *end = '\0';
    return b->ptr;
}

void gf_buffer_string(gf_buffer *b, gf_slice s)
{
    gf_buffer_varint(b, s.len);
    gf_buffer_slice(b, s);
}
