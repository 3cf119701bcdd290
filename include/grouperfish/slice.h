/**
 * A borrowed run of bytes. Text is UTF-8 and never assumed to end in NUL; whoever hands out a slice
 * says how long it lasts.
 */
#ifndef GF_GROUPERFISH_SLICE_H
#define GF_GROUPERFISH_SLICE_H

#include "grouperfish/export.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

GF_PUBLIC_BEGIN

typedef struct gf_slice {
    const char *ptr; /* len bytes; may be NULL where len is 0 */
    size_t len;
} gf_slice;

/** A slice over a string literal. */
#define GF_SLICE(literal)                                                                          \
    (gf_slice)                                                                                     \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }

/** The two arguments that printf's "%.*s" takes. */
#define GF_SLICE_ARG(s) (int)(s).len, (s).ptr ? (s).ptr : ""

static inline gf_slice gf_slice_of(const char *ptr, size_t len)
{
    return (gf_slice){ptr, len};
}

/** A slice over a NUL-terminated string; NULL gives the empty slice. */
static inline gf_slice gf_slice_str(const char *s)
{
    return (gf_slice){s, s ? strlen(s) : 0};
}

/** Order of the bytes as unsigned numbers; a prefix sorts first. */
static inline int gf_slice_compare(gf_slice a, gf_slice b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
    if (order) return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

static inline bool gf_slice_equal(gf_slice a, gf_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool gf_slice_starts(gf_slice s, gf_slice prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

static inline bool gf_slice_ends(gf_slice s, gf_slice suffix)
{
    return s.len >= suffix.len &&
           (suffix.len == 0 || memcmp(s.ptr + s.len - suffix.len, suffix.ptr, suffix.len) == 0);
}

/** The slice without its first n bytes (n <= len). */
static inline gf_slice gf_slice_skip(gf_slice s, size_t n)
{
    return (gf_slice){s.ptr ? s.ptr + n : s.ptr, s.len - n};
}

/**
 * Readers of what gf_buffer_varint and its like wrote: each takes its value off the front of s and
 * returns false, with s and *v unchanged, where the bytes do not hold one.
 */
bool gf_slice_take_varint(gf_slice *s, uint64_t *v);
bool gf_slice_take_varint32(gf_slice *s, uint32_t *v);
bool gf_slice_take_u32be(gf_slice *s, uint32_t *v);
bool gf_slice_take_u64be(gf_slice *s, uint64_t *v);
bool gf_slice_take_bytes(gf_slice *s, size_t n, gf_slice *v);

/** A varint length and that many bytes. */
bool gf_slice_take_string(gf_slice *s, gf_slice *v);

/** Big-endian integers at an address. */
static inline uint64_t gf_read_u64be(const char *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

/** The first eight bytes as a number, of fewer filled up with 0: it orders as they do, but ties. */
static inline uint64_t gf_leading_u64be(gf_slice s)
{
    char bytes[8] = {0};
    if (s.len >= sizeof bytes) return gf_read_u64be(s.ptr);
    if (s.len) memcpy(bytes, s.ptr, s.len);
    return gf_read_u64be(bytes);
}

static inline uint32_t gf_read_u32be(const char *p)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

GF_PUBLIC_END

#endif
