#include "grouperfish/key.h"

enum { ESCAPED = 0xFF, TERMINATOR = 0x01 };

void gf_key_string_start(gf_buffer *key, gf_slice start)
{
    while (start.len) {
        const char *zero = memchr(start.ptr, 0, start.len);
        size_t plain = zero ? (size_t)(zero - start.ptr) : start.len;
        gf_buffer_append(key, start.ptr, plain);
        start = gf_slice_skip(start, plain);
        if (zero) {
            gf_buffer_append(key, (const char[]){0, (char)ESCAPED}, 2);
            start = gf_slice_skip(start, 1);
        }
    }
}

void gf_key_string(gf_buffer *key, gf_slice part)
{
    gf_key_string_start(key, part);
    gf_buffer_append(key, (const char[]){0, TERMINATOR}, 2);
}

void gf_key_u64(gf_buffer *key, uint64_t part)
{
    gf_buffer_u64be(key, part);
}

size_t gf_key_string_length(gf_slice key)
{
    size_t at = 0;
    for (;;) {
        const char *zero = at < key.len ? memchr(key.ptr + at, 0, key.len - at) : NULL;
        if (!zero) return 0;
        at = (size_t)(zero - key.ptr) + 2;
        if (at > key.len) return 0;
        unsigned char mark = (unsigned char)key.ptr[at - 1];
        if (mark == TERMINATOR) return at;
        if (mark != ESCAPED) return 0;
    }
}

bool gf_key_take_string(gf_slice *key, gf_buffer *part)
{
    size_t length = gf_key_string_length(*key);
    if (length == 0) return false;
    const char *end = key->ptr + length - 2;
    for (const char *p = key->ptr; p < end;) {
        const char *zero = memchr(p, 0, (size_t)(end - p));
        const char *stop = zero ? zero + 1 : end;
        gf_buffer_append(part, p, (size_t)(stop - p));
        p = zero ? zero + 2 : end;
    }
    *key = gf_slice_skip(*key, length);
    return true;
}

bool gf_key_take_u64(gf_slice *key, uint64_t *part)
{
    return gf_slice_take_u64be(key, part);
}

bool gf_key_after_prefix(gf_slice prefix, gf_buffer *out)
{
    while (prefix.len && (unsigned char)prefix.ptr[prefix.len - 1] == 0xFF)
        prefix.len--;
    if (prefix.len == 0) return false;
    gf_buffer_append(out, prefix.ptr, prefix.len - 1);
    gf_buffer_byte(out, (char)((unsigned char)prefix.ptr[prefix.len - 1] + 1));
    return true;
}
