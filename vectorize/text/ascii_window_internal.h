/**
 * 64 bytes of a text at once: which of them are words, which break a phrase, and which need to be
 * looked at one by one. Bit i is byte i.
 *
 *     bytes     tabs - a-z!  caf?s        (? begins a character beyond ASCII)
 *     word      ####   # #   ### #
 *     breaks         #    #               the dash with spaces, not the hyphen
 *     special                   #
 *
 * SSE2 alone, which every x86-64 has; elsewhere there are no windows, and the tokeniser walks byte
 * by byte, to the same tokens.
 */
#ifndef GF_VECTORIZE_TEXT_ASCII_WINDOW_INTERNAL_H
#define GF_VECTORIZE_TEXT_ASCII_WINDOW_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { GF_ASCII_WINDOW = 64 };

typedef struct gf_ascii_window {
    uint64_t word;   /* letters, digits, underscores */
    uint64_t digit;  /* digits */
    uint64_t breaks; /* ends a phrase: punctuation, a dash, the second line feed of an empty line */
    uint64_t special; /* @ # & _ and bytes beyond ASCII: nothing is said of them or next to them */
} gf_ascii_window;

#ifdef __SSE2__
#include <emmintrin.h>
#define GF_HAS_ASCII_WINDOW 1

/* Lower and upper bound by one comparison: c - low wraps round below low. */
static inline __m128i gf_between_(__m128i c, char low, char count)
{
    __m128i above = _mm_sub_epi8(c, _mm_set1_epi8(low));
    return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8((char)(count - 1))), above);
}

static inline __m128i gf_is_(__m128i c, char value)
{
    return _mm_cmpeq_epi8(c, _mm_set1_epi8(value));
}

/**
 * Look at the n bytes at p; what is behind them, where n is less than 64, counts as white space.
 * The first byte is one of a word, and does not belong to a word before it.
 */
static inline void gf_ascii_window_load(gf_ascii_window *w, const uint8_t *p, size_t n)
{
    uint8_t tail[GF_ASCII_WINDOW] = {0};
    uint64_t space = 0, line = 0, join = 0, dash = 0;
    *w = (gf_ascii_window){0};
    if (n < GF_ASCII_WINDOW) p = memcpy(tail, p, n);
    for (unsigned i = 0; i < GF_ASCII_WINDOW; i += 16) {
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        __m128i under = gf_is_(c, '_'), digit = gf_between_(c, '0', 10);
        __m128i letter = gf_between_(_mm_or_si128(c, _mm_set1_epi8(0x20)), 'a', 26);
        __m128i word = _mm_or_si128(_mm_or_si128(letter, digit), under);
        __m128i white = _mm_or_si128(gf_between_(c, 0, 0x21), gf_is_(c, 0x7F));
        __m128i signs = _mm_or_si128(_mm_or_si128(gf_is_(c, '@'), gf_is_(c, '#')), gf_is_(c, '&'));
        __m128i special = _mm_or_si128(c, _mm_or_si128(signs, under)); /* by the upper bit */
        __m128i slash_or_quote = gf_is_(_mm_or_si128(c, _mm_set1_epi8(8)), '/');
#define GF_BITS_(v) ((uint64_t)(uint32_t)_mm_movemask_epi8(v) << i)
        w->word |= GF_BITS_(word);
        w->digit |= GF_BITS_(digit);
        w->special |= GF_BITS_(special);
        space |= GF_BITS_(white);
        line |= GF_BITS_(gf_is_(c, '\n'));
        join |= GF_BITS_(slash_or_quote);
        dash |= GF_BITS_(gf_is_(c, '-'));
#undef GF_BITS_
    }
    space &= ~line;
    /* A carry runs from behind each line feed through the spaces, and comes out at what follows. */
    uint64_t empty_line = ((line << 1) + space) & line;
    uint64_t hyphen = dash & w->word << 1 & w->word >> 1;
    w->breaks = ~(w->word | space | line | join | hyphen) | empty_line;
}
#endif

#endif
