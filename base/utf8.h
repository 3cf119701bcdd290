/**
 * UTF-8: checking, repairing, cutting.
 *
 * Valid means RFC 3629: shortest forms, no surrogates, at most U+10FFFF. NUL is a character like
 * any other.
 */
#ifndef GF_BASE_UTF8_H
#define GF_BASE_UTF8_H

#include "grouperfish/buffer.h"

#define GF_UTF8_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/** Whether all of s is valid: several bytes at a time, so a few times faster than the next. */
bool gf_utf8_is_valid(gf_slice s);

/** Bytes from the start of s that are valid; s.len where all are. */
size_t gf_utf8_valid_length(gf_slice s);

/**
 * Bytes of the ill-formed sequence that s starts with (s not empty, its first character invalid):
 * the longest start of a well-formed character, else 1 (Unicode 15, section 3.9, U+FFFD
 * substitution of maximal subparts).
 */
size_t gf_utf8_bad_length(gf_slice s);

/** Append s to out with U+FFFD for each ill-formed sequence; returns how many there were. */
uint64_t gf_utf8_repair(gf_slice s, gf_buffer *out);

/** Characters (code points) in valid s. */
size_t gf_utf8_count(gf_slice s);

/** The rest of gf_utf8_next: for a byte that is no character of ASCII. */
uint32_t gf_utf8_next_long(gf_slice s, size_t *at);

/** The code point at *at, which is moved behind it; U+FFFD for a bad byte. *at < s.len. */
static inline uint32_t gf_utf8_next(gf_slice s, size_t *at)
{
    unsigned char c = (unsigned char)s.ptr[*at];
    if (c >= 0x80) return gf_utf8_next_long(s, at);
    ++*at;
    return c;
}

/** Append a code point (at most U+10FFFF, no surrogate). */
void gf_utf8_append(gf_buffer *out, uint32_t code);

/**
 * Append valid s with each character's case folded (Unicode's simple folding, by ICU): texts that
 * differ in case alone become the same bytes.
 */
void gf_utf8_fold(gf_slice s, gf_buffer *out);

/** Whether two valid texts are the same but for the case of letters. Takes no memory. */
bool gf_utf8_same_letters(gf_slice a, gf_slice b);

/** The longest start of valid s that has at most n bytes and cuts no character. */
gf_slice gf_utf8_cut(gf_slice s, size_t n);

#endif
