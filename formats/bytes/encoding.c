/*
 * ICU's detector tells encodings by the bytes of the frequent characters (Chinese, Japanese, Korean)
 * and by the frequent triples of letters of a language (all others). The triples of a text in the
 * Latin alphabet are ASCII for the most part, so it is as sure of a Mac's German as of Windows': how
 * the other characters stand decides.
 *
 *     windows-1252   Flüchtlinge   plausible
 *     macintosh      FlŸchtlinge   a capital behind a small letter
 *     IBM850         Fl<81>chtlinge   no character at all
 *
 * A guess counts if the next best that reads otherwise is far behind, and if hardly a character is
 * implausible. The figures were found with the Universal Declaration of Human Rights in 34 languages
 * and 46 encodings (docs/decisions.md).
 */
#include "formats/bytes/encoding.h"

#include "base/library.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <strings.h>
#include <unicode/uchar.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>
#include <unicode/ucsdet.h>
#include <unicode/uscript.h>
#include <unicode/utf16.h>

/* ICU's names end in its version, which its headers add by macros. */
#define NAME_TEXT(name) #name
#define VERSIONED(name) NAME_TEXT(name)

typedef struct detector_table {
    __typeof__(ucsdet_open) *open;
    __typeof__(ucsdet_close) *close;
    __typeof__(ucsdet_setText) *set_text;
    __typeof__(ucsdet_detectAll) *detect_all;
    __typeof__(ucsdet_getName) *get_name;
    __typeof__(ucsdet_getConfidence) *get_confidence;
} detector_table;

static detector_table detector;
static const char *const detector_names[] = {
    VERSIONED(ucsdet_open),      VERSIONED(ucsdet_close),   VERSIONED(ucsdet_setText),
    VERSIONED(ucsdet_detectAll), VERSIONED(ucsdet_getName), VERSIONED(ucsdet_getConfidence)};
static gf_library detector_library = {.file = GF_LIBICUI18N,
                                      .names = detector_names,
                                      .functions = &detector,
                                      .n = sizeof detector_names / sizeof *detector_names,
                                      .lock = PTHREAD_MUTEX_INITIALIZER};

enum {
    SURE = 35,      /* confidence of ICU, of 100, from which on a margin is enough */
    MARGIN = 10,    /* before the next that reads otherwise */
    POSSIBLE = 20,  /* confidence from which on a guess counts that stands alone */
    ONE_IN = 1000,  /* characters, of which one may be none */
    IMPLAUSIBLE = 8 /* of so many letters that are not ASCII one may stand where none would */
};

/* ---- names ----------------------------------------------------------------------------------- */

static bool set_name(gf_encoding *e, const char *name)
{
    size_t n = strlen(name);
    if (n >= sizeof e->name) return false;
    memcpy(e->name, name, n + 1);
    return true;
}

/* The name under which MIME knows it, or ICU. */
bool gf_encoding_named(gf_slice said, gf_encoding *e)
{
    char name[sizeof e->name];
    UErrorCode code = U_ZERO_ERROR;
    if (said.len == 0 || said.len >= sizeof name) return false;
    memcpy(name, said.ptr, said.len);
    name[said.len] = '\0';
    if (strlen(name) != said.len) return false;
    const char *known = ucnv_getAlias(name, 0, &code);
    if (U_FAILURE(code) || !known) return false;
    code = U_ZERO_ERROR;
    const char *usual = ucnv_getStandardName(name, "MIME", &code);
    if (U_SUCCESS(code) && usual) known = usual;
    code = U_ZERO_ERROR;
    UConverter *c = ucnv_open(known, &code);
    ucnv_close(c);
    return U_SUCCESS(code) && set_name(e, known);
}

bool gf_encoding_is_utf8(const gf_encoding *e)
{
    return strcasecmp(e->name, "UTF-8") == 0;
}

/*
 * The encoding that is read instead of the one that ICU names: the same encoding with more characters, as browsers do. C1
 * controls, for which ISO 8859 has bytes, are in no text, and few texts draw boxes.
 */
static const char *read_as(const char *name)
{
    static const char *const larger[][2] = {
        {"ISO-8859-1", "windows-1252"}, {"ISO-8859-9", "windows-1254"},
        {"ISO-8859-8", "windows-1255"}, {"ISO-8859-8-I", "windows-1255"},
        {"KOI8-R", "KOI8-U"},           {"Shift_JIS", "windows-31j"},
        {"EUC-KR", "windows-949"}};
    for (size_t i = 0; i < sizeof larger / sizeof *larger; i++)
        if (strcmp(name, larger[i][0]) == 0) return larger[i][1];
    return name;
}

/* Names for bytes below 128 alone, and those that were looked for otherwise. */
static bool is_no_candidate(const char *name)
{
    return strncmp(name, "UTF-", 4) == 0 || strncmp(name, "ISO-2022", 8) == 0 ||
           strncmp(name, "IBM", 3) == 0;
}

/* ---- counts ---------------------------------------------------------------------------------- */

void gf_encoding_count(gf_slice s, gf_encoding_counts *counts)
{
    gf_encoding_counts c = {0, 0, 0};
    while (s.len) {
        size_t good = gf_utf8_valid_length(s);
        for (size_t i = 0; i < good; i++) {
            c.characters += ((unsigned char)s.ptr[i] & 0xC0u) != 0x80u;
            c.wide += (unsigned char)s.ptr[i] >= 0xC0u;
        }
        s = gf_slice_skip(s, good);
        if (s.len == 0) break;
        s = gf_slice_skip(s, gf_utf8_bad_length(s));
        c.characters++;
        c.bad++;
    }
    *counts = c;
}

bool gf_encoding_of_mark(gf_slice start, gf_encoding *e)
{
    static const struct {
        gf_slice mark;
        const char *name;
    } marks[] = {{{"\xFF\xFE\0\0", 4}, "UTF-32LE"},
                 {{"\0\0\xFE\xFF", 4}, "UTF-32BE"},
                 {{"\xFF\xFE", 2}, "UTF-16LE"},
                 {{"\xFE\xFF", 2}, "UTF-16BE"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (gf_slice_starts(start, marks[i].mark)) return set_name(e, marks[i].name);
    return false;
}

/* ---- what the bytes would read --------------------------------------------------------------- */

typedef struct reading {
    UChar *text; /* n */
    int32_t n;
    uint64_t characters, none; /* none: ill-formed, unassigned, or controls */
} reading;

/* U+FFFD stands for each sequence of bytes that is no character. */
static gf_status read_bytes(const char *name, gf_slice bytes, reading *r, gf_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    UConverter *c = ucnv_open(name, &code);
    if (U_FAILURE(code)) return gf_fail_memory(err, "a converter");
    size_t room = bytes.len + 16;
    r->text = gf_array(room, sizeof *r->text);
    if (!r->text) {
        ucnv_close(c);
        return gf_fail_memory(err, "a text to be recognised");
    }
    UChar *to = r->text;
    const char *from = bytes.ptr;
    ucnv_toUnicode(c, &to, r->text + room, &from, bytes.ptr + bytes.len, NULL, true, &code);
    r->n = (int32_t)(to - r->text);
    ucnv_close(c);
    return GF_OK;
}

static bool is_none(UChar32 c)
{
    if (c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == 0x85) return false;
    int8_t type = u_charType(c);
    return c == 0xFFFD || type == U_CONTROL_CHAR || type == U_UNASSIGNED ||
           type == U_PRIVATE_USE_CHAR || type == U_SURROGATE;
}

static void count_none(reading *r)
{
    r->characters = r->none = 0;
    for (int32_t i = 0; i < r->n;) {
        uint32_t c = r->text[i++];
        if (U16_IS_LEAD(c) && i < r->n && U16_IS_TRAIL(r->text[i]))
            c = (uint32_t)U16_GET_SUPPLEMENTARY(c, r->text[i++]);
        r->characters++;
        r->none += (c >= 0x7F || c < 0x20) && is_none((UChar32)c);
    }
}

static bool is_readable(const reading *r)
{
    return r->none * ONE_IN <= r->characters;
}

/* Signs that stand within words: apostrophes, hyphens, the Catalan dot. */
static bool joins(UChar32 c)
{
    static const UChar32 signs[] = {0xAD, 0xB4, 0xB7, 0x2010, 0x2011, 0x2013, 0x2014, 0x2019};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (c == signs[i]) return true;
    return c == 0xA0 || u_charType(c) == U_NON_SPACING_MARK;
}

/* Signs that bytes of other encodings become, and that hardly a text has beside a letter. */
static bool is_stray(UChar32 c)
{
    static const UChar32 signs[] = {0xA4,  0xA6,  0xA8,   0xAC,   0xAF,   0xB8,  0x192,
                                    0x2C6, 0x2DC, 0x2020, 0x2021, 0x2030, 0x201A};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (c == signs[i]) return true;
    return false;
}

static bool is_other_script(UChar32 c)
{
    UErrorCode code = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript(c, &code);
    return script != USCRIPT_LATIN && script != USCRIPT_COMMON && script != USCRIPT_INHERITED;
}

/* A character that is not ASCII, between the two beside it, where no text would have it. */
static bool is_odd(UChar32 before, UChar32 c, UChar32 after)
{
    bool within = u_isalpha(before) && u_isalpha(after);
    if (is_stray(c)) return u_isalpha(before) || u_isalpha(after) || c == 0x2C6 || c == 0x2DC;
    if (!u_isalpha(c)) return within && !joins(c);
    if (u_isupper(c) && u_islower(before)) return true;
    bool by_ascii = (before < 0x80 && u_isalpha(before)) || (after < 0x80 && u_isalpha(after));
    return by_ascii && is_other_script(c);
}

static bool is_plausible(const reading *r)
{
    uint64_t wide = 0, odd = 0, ascii = 0, latin = 0; /* of these, letters */
    UChar before = ' ';
    for (int32_t i = 0; i < r->n; i++) { /* what single bytes encode is in the first plane */
        UChar c = r->text[i], after = i + 1 < r->n ? r->text[i + 1] : ' ';
        if (c >= 0x80) {
            wide++;
            odd += is_odd(before, c, after);
            latin += u_isalpha(c) && !is_other_script(c) ? 1 : 0;
        } else {
            ascii += u_isalpha(c) ? 1 : 0;
        }
        before = c;
    }
    return is_readable(r) && odd * IMPLAUSIBLE <= wide && latin <= ascii;
}

/* Encodings of old machines, which ICU does not look for: one of them may be named as a guess. */
static gf_status guess_older(gf_slice bytes, gf_encoding *e, gf_error *err)
{
    static const char *const names[] = {"IBM866", "macintosh", "IBM850"};
    gf_status st = GF_OK;
    e->name[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names && st == GF_OK && !e->name[0]; i++) {
        reading r = {0};
        st = read_bytes(names[i], bytes, &r, err);
        if (st == GF_OK) count_none(&r);
        if (st == GF_OK && is_plausible(&r)) set_name(e, names[i]);
        gf_free(r.text);
    }
    return st;
}

gf_status gf_encoding_fits(const gf_encoding *e, gf_slice bytes, bool *fits, gf_error *err)
{
    reading r = {0};
    gf_status st = read_bytes(e->name, bytes, &r, err);
    if (st == GF_OK) {
        count_none(&r);
        *fits = is_readable(&r);
    }
    gf_free(r.text);
    return st;
}

/* ---- UTF-16 without a mark ------------------------------------------------------------------- */

/*
 * Read the right way round, it has line ends, blanks or digits, and no character that is none. Read
 * the wrong way round, the line ends are U+0A00, which is none.
 */
static gf_status recognise_utf16(gf_slice bytes, gf_encoding *e, bool *clear, gf_error *err)
{
    static const char *const names[] = {"UTF-16LE", "UTF-16BE"};
    const char *found = NULL;
    if (!memchr(bytes.ptr, '\0', bytes.len)) return GF_OK;
    for (size_t i = 0; i < 2; i++) {
        reading r = {0};
        uint64_t ascii = 0;
        gf_status st = read_bytes(names[i], bytes, &r, err);
        if (st == GF_OK) count_none(&r);
        for (int32_t j = 0; j < r.n; j++)
            ascii += r.text[j] < 0x7F;
        bool good = st == GF_OK && r.none == 0 && ascii * 50 >= r.characters && ascii > 0;
        gf_free(r.text);
        if (st != GF_OK) return st;
        if (good && found) return GF_OK;
        if (good) found = names[i];
    }
    *clear = found && set_name(e, found);
    return GF_OK;
}

/* ---- ICU's guesses --------------------------------------------------------------------------- */

static gf_status check_matches(const UCharsetMatch **matches, int32_t n, gf_slice bytes,
                               gf_encoding *e, bool *clear, gf_error *err)
{
    reading best = {0}, other = {0};
    int32_t first = 0, next = 0;
    bool is_single = false;
    gf_status st = GF_OK;
    for (int32_t i = 0; i < n && !next; i++) {
        UErrorCode code = U_ZERO_ERROR;
        const char *said = detector.get_name(matches[i], &code);
        int32_t confidence = detector.get_confidence(matches[i], &code);
        if (U_FAILURE(code) || is_no_candidate(said)) continue;
        const char *name = read_as(said);
        st = read_bytes(name, bytes, first ? &other : &best, err);
        if (st != GF_OK) break;
        if (!first) {
            first = confidence;
            set_name(e, name);
            UConverter *c = ucnv_open(name, &code);
            is_single = U_SUCCESS(code) && ucnv_getMaxCharSize(c) == 1;
            ucnv_close(c);
            if (first == 0) break;
        } else if (other.n != best.n ||
                   memcmp(other.text, best.text, (size_t)best.n * sizeof *best.text) != 0) {
            next = confidence;
        }
        gf_free(other.text);
        other = (reading){0};
    }
    if (st == GF_OK && first) {
        count_none(&best);
        bool ahead = (first >= SURE && first - next >= MARGIN) ||
                     (is_single && first >= POSSIBLE && first * 5 >= next * 9);
        bool plausible = is_single ? is_plausible(&best) : is_readable(&best);
        *clear = ahead && plausible;
        if (!plausible) st = guess_older(bytes, e, err);
    }
    gf_free(best.text);
    return st;
}

gf_status gf_encoding_recognise(gf_slice bytes, bool at_start, gf_encoding *e, bool *clear,
                                gf_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    int32_t n = 0;
    e->name[0] = '\0';
    *clear = false;
    gf_status st = at_start ? recognise_utf16(bytes, e, clear, err) : GF_OK;
    if (st != GF_OK || *clear) return st;
    st = gf_library_load(&detector_library, err);
    if (st != GF_OK) return st;
    UCharsetDetector *d = detector.open(&code);
    if (U_FAILURE(code)) return gf_fail_memory(err, "ICU's detector");
    detector.set_text(d, bytes.ptr, (int32_t)bytes.len, &code);
    const UCharsetMatch **matches = detector.detect_all(d, &n, &code);
    if (code == U_MEMORY_ALLOCATION_ERROR)
        st = gf_fail_memory(err, "ICU's detector");
    else if (U_SUCCESS(code))
        st = check_matches(matches, n, bytes, e, clear, err);
    detector.close(d);
    return st;
}
