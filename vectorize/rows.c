#include "vectorize/rows_internal.h"

enum { MOST_BYTES = 10 /* of a head, or of an entry: 33 bits and 32 bits in groups of 7 */ };

static unsigned char *write_varint(unsigned char *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (unsigned char)(v | 0x80);
        v >>= 7;
    }
    *p++ = (unsigned char)v;
    return p;
}

void gf_rows_append(gf_buffer *rows, const gf_counts *counts)
{
    char *to = gf_buffer_reserve(rows, ((size_t)counts->n + 1) * MOST_BYTES);
    if (!to) return;
    unsigned char *p = (unsigned char *)to;
    p = write_varint(p, (uint64_t)counts->n << 2 | counts->tier);
    for (uint32_t i = 0; i < counts->n; i++) {
        bool more = counts->count[i] > 1;
        p = write_varint(p, (uint64_t)counts->term[i] << 1 | more);
        if (more) p = write_varint(p, counts->count[i]);
    }
    rows->len += (size_t)(p - (unsigned char *)to);
}
