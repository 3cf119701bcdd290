/**
 * Character classes of the tokeniser: one class per code point.
 *
 * ASCII has its own table of bytes (tokenise.c). The rest of the Basic Multilingual Plane is one
 * flat table of a byte per code point, filled from ICU when it is first asked for: a text touches
 * the few cache lines of its script, and 64 KiB once per process buys a single load where two
 * stages would need two. Beyond the plane ICU is asked each time.
 *
 * Threads: any, after gf_char_classes().
 */
#ifndef GF_VECTORIZE_TEXT_CHAR_CLASS_INTERNAL_H
#define GF_VECTORIZE_TEXT_CHAR_CLASS_INTERNAL_H

#include <stdint.h>

typedef enum gf_char_class {
    GF_CHAR_SPACE,  /* white space, controls, invisible format characters */
    GF_CHAR_BREAK,  /* punctuation and symbols that end a phrase */
    GF_CHAR_JOIN,   /* separators that do not: ’ ‐ ・ and full-width ' - / & _ */
    GF_CHAR_LETTER, /* general categories L* */
    GF_CHAR_DIGIT,  /* N* */
    GF_CHAR_MARK,   /* M*: part of a word or run, never its start */
    GF_CHAR_JOINER, /* U+00AD, U+200C, U+200D: part of a word inside it, nothing elsewhere */
    GF_CHAR_CJK,    /* letters of Han, Hiragana, Katakana */
    GF_CHAR_COMPLEX /* letters of Thai, Lao, Khmer, Myanmar */
} gf_char_class;

enum { GF_CHAR_TABLE = 0x10000 };

/** The table: a gf_char_class for each code point below GF_CHAR_TABLE. */
const uint8_t *gf_char_classes(void);

/** The class of any code point, from ICU itself. */
gf_char_class gf_char_class_of(uint32_t c);

#endif
