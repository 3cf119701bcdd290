#include "base/utf8.h"

#include <assert.h>
#include <unicode/uchar.h>

enum { LONG = 64 }; /* bytes for which simdjson's check is worth its call */

/*
 * Bytes of the valid character at p, or 0. *seen is the number of bytes that could start one.
 * Table 3-7 of the Unicode standard: the second byte's range depends on the first.
 */
static size_t character_length(const unsigned char *p, size_t n, size_t *seen)
{
    *seen = 1;
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4) return 0;
    size_t length = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    unsigned char low = 0x80, high = 0xBF;
    if (p[0] == 0xE0) low = 0xA0;
    if (p[0] == 0xED) high = 0x9F;
    if (p[0] == 0xF0) low = 0x90;
    if (p[0] == 0xF4) high = 0x8F;
    for (size_t i = 1; i < length; i++) {
        if (i >= n || p[i] < low || p[i] > high) return 0;
        *seen = i + 1;
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

/* The number of bytes, a multiple of 32, that are surely ASCII: most texts for the most part. */
static size_t ascii_bytes(const unsigned char *p, size_t n)
{
    size_t i = 0;
    for (uint64_t words[4]; n - i >= sizeof words; i += sizeof words) {
        memcpy(words, p + i, sizeof words);
        if ((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080u) break;
    }
    return i;
}

size_t gf_utf8_valid_length(gf_slice s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t i = ascii_bytes(p, s.len), seen;
    if (s.len - i >= LONG && gf_utf8_is_valid(gf_slice_of(s.ptr + i, s.len - i))) return s.len;
    while (i < s.len) {
        uint64_t eight;
        if (s.len - i >= 8 && (memcpy(&eight, p + i, 8), !(eight & 0x8080808080808080u))) {
            i += 8;
            continue;
        }
        size_t n = character_length(p + i, s.len - i, &seen);
        if (n == 0) break;
        i += n;
    }
    return i;
}

size_t gf_utf8_bad_length(gf_slice s)
{
    size_t seen;
    character_length((const unsigned char *)s.ptr, s.len, &seen);
    return seen;
}

uint64_t gf_utf8_repair(gf_slice s, gf_buffer *out)
{
    uint64_t bad = 0;
    while (s.len) {
        size_t good = gf_utf8_valid_length(s);
        gf_buffer_append(out, s.ptr, good);
        s = gf_slice_skip(s, good);
        if (s.len) {
            gf_buffer_str(out, GF_UTF8_REPLACEMENT);
            s = gf_slice_skip(s, gf_utf8_bad_length(s));
            bad++;
        }
    }
    return bad;
}

size_t gf_utf8_count(gf_slice s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.ptr[i] & 0xC0u) != 0x80u;
    return n;
}

uint32_t gf_utf8_next_long(gf_slice s, size_t *at)
{
    const unsigned char *p = (const unsigned char *)s.ptr + *at;
    size_t seen, n = character_length(p, s.len - *at, &seen);
    *at += n ? n : seen;
    if (n == 1) return p[0];
    if (n == 2) return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    if (n == 3) return (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    if (n == 4)
        return (p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    return 0xFFFD;
}

gf_slice gf_utf8_cut(gf_slice s, size_t n)
{
    if (s.len <= n) return s;
    while (n > 0 && ((unsigned char)s.ptr[n] & 0xC0u) == 0x80u)
        n--;
    return gf_slice_of(s.ptr, n);
}

void gf_utf8_append(gf_buffer *out, uint32_t c)
{
    char bytes[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    assert(c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF));
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3F));
    bytes[0] = (char)(lead[n] | c);
    gf_buffer_append(out, bytes, n);
}

static uint32_t fold(uint32_t code)
{
    return (uint32_t)u_foldCase((UChar32)code, U_FOLD_CASE_DEFAULT);
}

void gf_utf8_fold(gf_slice s, gf_buffer *out)
{
    for (size_t at = 0; at < s.len;)
        gf_utf8_append(out, fold(gf_utf8_next(s, &at)));
}

bool gf_utf8_same_letters(gf_slice a, gf_slice b)
{
    size_t i = 0, j = 0;
    while (i < a.len && j < b.len)
        if (fold(gf_utf8_next(a, &i)) != fold(gf_utf8_next(b, &j))) return false;
    return i == a.len && j == b.len;
}
