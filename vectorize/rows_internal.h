/**
 * Counted documents as compact bytes, which is how the vectorizer keeps them until the document
 * frequencies are known: about 2.5 bytes per distinct term of a document.
 *
 *     row      varint (n << 2 | tier), then n entries
 *     entry    varint (term << 1 | more), then, where more is 1, varint count
 */
#ifndef GF_VECTORIZE_ROWS_INTERNAL_H
#define GF_VECTORIZE_ROWS_INTERNAL_H

#include "vectorize/counts_internal.h"

/** Append a row; failures stay in the buffer. */
void gf_rows_append(gf_buffer *rows, const gf_counts *counts);

/** Take a row's head off the front of bytes that gf_rows_append wrote. */
static inline uint64_t gf_rows_varint(const unsigned char **p)
{
    uint64_t v = *(*p)++;
    if (v < 0x80) return v;
    v &= 0x7F;
    for (unsigned shift = 7;; shift += 7) {
        uint64_t byte = *(*p)++;
        v |= (byte & 0x7F) << shift;
        if (byte < 0x80) return v;
    }
}

static inline uint32_t gf_rows_head(const unsigned char **p, gf_tier *tier)
{
    uint64_t head = gf_rows_varint(p);
    *tier = (gf_tier)(head & 3);
    return (uint32_t)(head >> 2);
}

/** Take an entry: its term, and how often it occurs. */
static inline uint32_t gf_rows_entry(const unsigned char **p, uint32_t *count)
{
    uint64_t entry = gf_rows_varint(p);
    *count = entry & 1 ? (uint32_t)gf_rows_varint(p) : 1;
    return (uint32_t)(entry >> 1);
}

#endif
