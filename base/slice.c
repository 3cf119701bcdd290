#include "grouperfish/slice.h"

bool gf_slice_take_varint(gf_slice *s, uint64_t *v)
{
    uint64_t value = 0;
    for (size_t i = 0; i < s->len && i < 10; i++) {
        uint64_t byte = (unsigned char)s->ptr[i];
        if (i == 9 && byte > 1) return false;
        value |= (byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            *s = gf_slice_skip(*s, i + 1);
            *v = value;
            return true;
        }
    }
    return false;
}

bool gf_slice_take_varint32(gf_slice *s, uint32_t *v)
{
    gf_slice rest = *s;
    uint64_t wide;
    if (!gf_slice_take_varint(&rest, &wide) || wide > UINT32_MAX) return false;
    *s = rest;
    *v = (uint32_t)wide;
    return true;
}

bool gf_slice_take_u32be(gf_slice *s, uint32_t *v)
{
    if (s->len < 4) return false;
    *v = gf_read_u32be(s->ptr);
    *s = gf_slice_skip(*s, 4);
    return true;
}

bool gf_slice_take_u64be(gf_slice *s, uint64_t *v)
{
    if (s->len < 8) return false;
    *v = gf_read_u64be(s->ptr);
    *s = gf_slice_skip(*s, 8);
    return true;
}

bool gf_slice_take_bytes(gf_slice *s, size_t n, gf_slice *v)
{
    if (s->len < n) return false;
    *v = gf_slice_of(s->ptr, n);
    *s = gf_slice_skip(*s, n);
    return true;
}

bool gf_slice_take_string(gf_slice *s, gf_slice *v)
{
    gf_slice rest = *s;
    uint64_t n;
    if (!gf_slice_take_varint(&rest, &n) || n > rest.len ||
        !gf_slice_take_bytes(&rest, (size_t)n, v))
        return false;
    *s = rest;
    return true;
}
