#include "vectorize/rows/counted_rows_internal.h"

enum { MOST_WORDS = 3 /* of an entry */ };

static const uint32_t most_terms = 1u << 24, most_count = 0xFF;

static inline unsigned char *write_word(unsigned char *p, uint32_t word)
{
    memcpy(p, &word, sizeof word);
    return p + sizeof word;
}

void gf_rows_append(gf_buffer *rows, const gf_counts *counts, uint32_t mark)
{
    size_t most = 2 + (size_t)counts->n * MOST_WORDS;
    char *to = gf_buffer_reserve(rows, most * sizeof(uint32_t));
    if (!to) return;
    unsigned char *p = (unsigned char *)to;
    p = write_word(p, counts->n);
    p = write_word(p, mark);
    for (uint32_t i = 0; i < counts->n; i++) {
        uint32_t term = counts->term[i], count = counts->count[i];
        if (term < most_terms && count <= most_count) {
            p = write_word(p, term << 8 | count);
        } else {
            p = write_word(p, 0);
            p = write_word(p, term);
            p = write_word(p, count);
        }
    }
    rows->len += (size_t)(p - (unsigned char *)to);
}
