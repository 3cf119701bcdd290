/**
 * Counted documents as words of 32 bits, which is how the vectorizer keeps them until the document
 * frequencies are known.
 *
 *     row      n | mark | n entries          the mark is the caller's: a tier, a language
 *     entry    term << 8 | count            or, where either is too large for that,
 *              0 | term | count
 *
 * Four bytes an entry. Varints of the same would take 2.5, and five times as long: nothing foresees
 * where one ends, and each entry is read twice.
 */
#ifndef GF_VECTORIZE_ROWS_COUNTED_ROWS_INTERNAL_H
#define GF_VECTORIZE_ROWS_COUNTED_ROWS_INTERNAL_H

#include "vectorize/rows/document_counts_internal.h"

/** Append a row; failures stay in the buffer. */
void gf_rows_append(gf_buffer *rows, const gf_counts *counts, uint32_t mark);

static inline uint32_t gf_rows_word(const unsigned char **p)
{
    uint32_t word;
    memcpy(&word, *p, sizeof word);
    *p += sizeof word;
    return word;
}

/** Take a row's head off the front of bytes that gf_rows_append wrote: its entries, its mark. */
static inline uint32_t gf_rows_head(const unsigned char **p, uint32_t *mark)
{
    uint32_t n = gf_rows_word(p);
    *mark = gf_rows_word(p);
    return n;
}

/** Take an entry: its term, and how often it occurs. */
static inline uint32_t gf_rows_entry(const unsigned char **p, uint32_t *count)
{
    uint32_t word = gf_rows_word(p), term = word >> 8;
    *count = word & 0xFF;
    if (word != 0) return term;
    term = gf_rows_word(p);
    *count = gf_rows_word(p);
    return term;
}

#endif
