#include "vectorize/text/char_class_internal.h"

#include <pthread.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

static uint8_t table[GF_CHAR_TABLE];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * Hyphens and apostrophes that stand within what a reader takes for one phrase: the ASCII ones'
 * typographic and full-width forms, and the dots of Katakana names and of Catalan.
 */
static int joins_words(UChar32 c)
{
    switch (c) {
    case 0x00B7: /* middle dot */
    case 0x2010: /* hyphen */
    case 0x2011: /* non-breaking hyphen */
    case 0x2019: /* apostrophe */
    case 0x30FB: /* Katakana middle dot */
    case 0xFF06: /* full-width & */
    case 0xFF07: /* full-width ' */
    case 0xFF0D: /* full-width - */
    case 0xFF0F: /* full-width / */
    case 0xFF3F: /* full-width _ */
    case 0xFF65: /* half-width Katakana middle dot */
        return 1;
    default:
        return 0;
    }
}

/* Script_Extensions, not Script: the prolonged sound mark is common to both scripts of Kana. */
static gf_char_class letter_class(UChar32 c)
{
    if (uscript_hasScript(c, USCRIPT_HAN) || uscript_hasScript(c, USCRIPT_HIRAGANA) ||
        uscript_hasScript(c, USCRIPT_KATAKANA))
        return GF_CHAR_CJK;
    if (uscript_hasScript(c, USCRIPT_THAI) || uscript_hasScript(c, USCRIPT_LAO) ||
        uscript_hasScript(c, USCRIPT_KHMER) || uscript_hasScript(c, USCRIPT_MYANMAR))
        return GF_CHAR_COMPLEX;
    return GF_CHAR_LETTER;
}

gf_char_class gf_char_class_of(uint32_t code_point)
{
    UChar32 c = (UChar32)code_point;
    if (c == 0x00AD || c == 0x200C || c == 0x200D) return GF_CHAR_JOINER;
    if (c == 0x3007) return GF_CHAR_CJK; /* the Han zero, a number by category */
    if (c == '_') return GF_CHAR_LETTER;
    if (joins_words(c)) return GF_CHAR_JOIN;
    uint32_t category = U_MASK(u_charType(c));
    if (category & U_GC_L_MASK) return letter_class(c);
    if (category & U_GC_M_MASK) return GF_CHAR_MARK;
    if (category & U_GC_N_MASK) return GF_CHAR_DIGIT;
    if (category & (U_GC_Z_MASK | U_GC_CC_MASK | U_GC_CF_MASK)) return GF_CHAR_SPACE;
    return GF_CHAR_BREAK;
}

static void fill(void)
{
    for (uint32_t c = 0; c < GF_CHAR_TABLE; c++)
        table[c] = (uint8_t)gf_char_class_of(c);
}

const uint8_t *gf_char_classes(void)
{
    pthread_once(&once, fill);
    return table;
}
