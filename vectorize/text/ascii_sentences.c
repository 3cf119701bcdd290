#include "vectorize/text/ascii_sentences_internal.h"

#include <pthread.h>
#include <string.h>
#include <unicode/uchar.h>

/* The classes of characters in the rules of UAX 29. */
enum {
    TERMINAL = 1, /* ATerm or STerm */
    FULL_STOP = 2,
    CLOSE = 4,
    SPACE = 8,
    CONTINUES = 16,
    LOWER = 32,
    UPPER = 64,
    NUMERIC = 128
};

static uint8_t property[0x80];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_properties(void)
{
    for (UChar32 c = 0; c < 0x80; c++) {
        switch (u_getIntPropertyValue(c, UCHAR_SENTENCE_BREAK)) {
        case U_SB_ATERM:
            property[c] = TERMINAL | FULL_STOP;
            break;
        case U_SB_STERM:
            property[c] = TERMINAL;
            break;
        case U_SB_CLOSE:
            property[c] = CLOSE;
            break;
        case U_SB_SP:
            property[c] = SPACE;
            break;
        case U_SB_SCONTINUE:
            property[c] = CONTINUES;
            break;
        case U_SB_LOWER:
            property[c] = LOWER;
            break;
        case U_SB_UPPER:
            property[c] = UPPER;
            break;
        case U_SB_NUMERIC:
            property[c] = NUMERIC;
            break;
        default:
            property[c] = 0;
        }
    }
}

bool gf_ascii_sentences_suit(gf_slice s)
{
    unsigned char all = 0;
    for (size_t i = 0; i < s.len; i++)
        all |= (unsigned char)s.ptr[i];
    return all < 0x80;
}

/* ---- where sentences end --------------------------------------------------------------------- */

static uint8_t property_at(gf_slice s, size_t at)
{
    return at < s.len ? property[(unsigned char)s.ptr[at]] : 0;
}

/* Whether a small letter follows before anything else that is a letter or ends sentences (SB8). */
static bool goes_on_small(gf_slice s, size_t at)
{
    while (at < s.len && !(property_at(s, at) & (LOWER | UPPER | TERMINAL)))
        at++;
    return property_at(s, at) & LOWER;
}

size_t gf_ascii_sentences_end(gf_slice s, size_t from)
{
    pthread_once(&once, fill_properties);
    for (size_t at = from; at < s.len;) {
        uint8_t mark = property_at(s, at++);
        if (!(mark & TERMINAL)) continue;
        if (mark & FULL_STOP) {
            uint8_t next = property_at(s, at), before = at > 1 ? property_at(s, at - 2) : 0;
            if (next & NUMERIC) continue;                           /* SB6 */
            if (next & UPPER && before & (UPPER | LOWER)) continue; /* SB7 */
        }
        while (property_at(s, at) & CLOSE) /* SB9 */
            at++;
        while (property_at(s, at) & SPACE) /* SB10 */
            at++;
        if (property_at(s, at) & (CONTINUES | TERMINAL)) continue; /* SB8a */
        if (mark & FULL_STOP && goes_on_small(s, at)) continue;    /* SB8 */
        return at;                                                 /* SB11 */
    }
    return s.len;
}

/* ---- looks ----------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

/* Three characters in a row that are no letters, digits or spaces; four full stops. */
static bool has_run(gf_slice s)
{
    for (size_t i = 2; i < s.len; i++) {
        char c = s.ptr[i];
        if (c != s.ptr[i - 1] || c != s.ptr[i - 2]) continue;
        if (is_letter(c) || c == ' ' || (c >= '0' && c <= '9')) continue;
        if (c != '.' || (i > 2 && s.ptr[i - 3] == '.')) return true;
    }
    return false;
}

/* A unit of two to four characters three times in a row, which ends in a letter or a space. */
static bool has_repeats(gf_slice s)
{
    size_t same[GF_LONGEST_ASCII_UNIT + 1] = {0};
    for (size_t i = 2; i < s.len; i++) {
        char c = s.ptr[i];
        bool found = false;
        for (size_t n = 2; n <= GF_LONGEST_ASCII_UNIT; n++) {
            same[n] = i >= n && s.ptr[i - n] == c ? same[n] + 1 : 0;
            found |= same[n] >= 2 * n;
        }
        if (found && (is_letter(c) || c == ' ')) return true;
    }
    return false;
}

/* Whether the first word has a colon behind which something comes. */
static bool is_named(gf_slice s)
{
    const char *space = memchr(s.ptr, ' ', s.len);
    size_t n = space ? (size_t)(space - s.ptr) : s.len - 1;
    return memchr(s.ptr, ':', n) != NULL;
}

gf_sentence_looks gf_ascii_sentences_look(gf_slice s)
{
    enum { BLOCK = 255 }; /* what a byte counts */
    gf_sentence_looks l = {.characters = (uint32_t)s.len,
                           .first = (unsigned char)s.ptr[0],
                           .last = (unsigned char)s.ptr[s.len - 1],
                           .named = is_named(s)};
    const char *p = s.ptr;
    for (size_t from = 0; from < s.len; from += BLOCK) {
        size_t to = s.len - from < BLOCK ? s.len : from + BLOCK;
        uint8_t letters = 0, capitals = 0, spaces = 0, opened = 0, closed = 0, quotes = 0;
        for (size_t i = from; i < to; i++) { /* no branch: the compiler makes vectors of it */
            letters = (uint8_t)(letters + is_letter(p[i]));
            capitals = (uint8_t)(capitals + ((unsigned char)(p[i] - 'A') < 26));
            spaces = (uint8_t)(spaces + (p[i] == ' '));
            opened = (uint8_t)(opened + ((p[i] == '(') | (p[i] == '[') | (p[i] == '{')));
            closed = (uint8_t)(closed + ((p[i] == ')') | (p[i] == ']') | (p[i] == '}')));
            quotes = (uint8_t)(quotes + (p[i] == '"'));
        }
        l.letters += letters;
        l.capitals += capitals;
        l.spaces += spaces;
        l.brackets += opened - closed;
        l.quotes += quotes;
    }
    /* Both are rare, and begin with characters that are like others just before them. */
    uint8_t threes = 0, units = 0;
    for (size_t i = 2; i < s.len; i++)
        threes |= (p[i] == p[i - 1]) & (p[i] == p[i - 2]);
    for (size_t i = 4; i < s.len; i++)
        units |= (p[i] == p[i - 2]) & (p[i - 1] == p[i - 3]) & (p[i - 2] == p[i - 4]);
    for (size_t i = 6; i < s.len; i++) {
        units |= (p[i] == p[i - 3]) & (p[i - 1] == p[i - 4]) & (p[i - 2] == p[i - 5]);
        units |= (p[i] == p[i - 4]) & (p[i - 1] == p[i - 5]) & (p[i - 2] == p[i - 6]);
    }
    l.run = threes && has_run(s);
    l.repeats = units && has_repeats(s);
    return l;
}
