#include "vectorize/text/sentences.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "vectorize/text/ascii_sentences_internal.h"
#include "vectorize/text/char_class_internal.h"

#include <pthread.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>

enum {
    WRAPPED = 40,       /* characters from which on a line may have been wrapped */
    COLUMNS = 3,        /* blanks in a row that stand between columns */
    LONGEST = 16384,    /* UTF-16 units of a paragraph; what is longer is cut there */
    MOST_CAPITALS = 40, /* percent of the letters */
    LEAST_LETTERS = 75  /* percent of the characters that are no spaces */
};

/* The iterator that breaks paragraphs which are not of ASCII. */
typedef struct unicode_breaker {
    UBreakIterator *icu;
    UChar units[LONGEST];
    uint32_t offset[LONGEST + 1]; /* where unit i starts in the paragraph, in bytes */
} unicode_breaker;

struct gf_sentences {
    unicode_breaker *unicode; /* made when it is needed */
    gf_buffer paragraph;      /* being put together: bytes, one space between words */
    gf_buffer kept;           /* paragraphs that sentences lie in, until the text is done */
    struct place {
        size_t start, length; /* in kept */
    } * places;               /* n, beside list */
    gf_sentence *list;        /* n */
    size_t n, capacity, place_capacity;
};

/* Masks of ICU's categories, of ASCII. */
static uint32_t category_of_ascii[0x80];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_ascii(void)
{
    for (uint32_t c = 0; c < 0x80; c++)
        category_of_ascii[c] = U_MASK(u_charType((UChar32)c));
}

static gf_status failed(UErrorCode code, gf_error *err)
{
    if (code == U_MEMORY_ALLOCATION_ERROR) return gf_fail_memory(err, "a sentence breaker");
    return gf_fail(err, GF_EIO, "ICU's sentence breaker: %s", u_errorName(code));
}

gf_status gf_sentences_create(gf_sentences **sentences, gf_error *err)
{
    gf_sentences *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a sentence breaker");
    pthread_once(&once, fill_ascii);
    *sentences = s;
    return GF_OK;
}

static gf_status make_unicode_breaker(gf_sentences *s, gf_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    unicode_breaker *u = gf_malloc(sizeof *u);
    if (!u) return gf_fail_memory(err, "a sentence breaker");
    u->icu = ubrk_open(UBRK_SENTENCE, "", NULL, 0, &code);
    if (U_FAILURE(code)) {
        gf_free(u);
        return failed(code, err);
    }
    s->unicode = u;
    return GF_OK;
}

void gf_sentences_free(gf_sentences *s)
{
    if (!s) return;
    if (s->unicode) ubrk_close(s->unicode->icu);
    gf_free(s->unicode);
    gf_buffer_release(&s->paragraph);
    gf_buffer_release(&s->kept);
    gf_free(s->places);
    gf_free(s->list);
    gf_free(s);
}

/* ---- characters ------------------------------------------------------------------------------ */

static bool is_space(uint32_t c)
{
    if (c < 0x80) return c <= 0x20;
    return u_isUWhiteSpace((UChar32)c);
}

static uint32_t category_of(uint32_t c)
{
    return c < 0x80 ? category_of_ascii[c] : U_MASK(u_charType((UChar32)c));
}

static bool is_category(uint32_t c, uint32_t mask)
{
    return (category_of(c) & mask) != 0;
}

static bool is_quotation(uint32_t c)
{
    return c == '"' || c == '\'' || is_category(c, U_GC_PI_MASK | U_GC_PF_MASK);
}

static bool is_closer(uint32_t c)
{
    return is_quotation(c) || is_category(c, U_GC_PE_MASK);
}

/* Punctuation that ends a sentence: Unicode's Sentence_Terminal. */
static bool ends_sentence(uint32_t c)
{
    return u_hasBinaryProperty((UChar32)c, UCHAR_S_TERM);
}

/* The character before *end, which is moved to it. *end > 0. */
static uint32_t character_before(gf_slice s, size_t *end)
{
    size_t at = *end - 1;
    while (at > 0 && ((unsigned char)s.ptr[at] & 0xC0) == 0x80)
        at--;
    *end = at;
    return gf_utf8_next(s, &at);
}

/* ---- what a sentence is ---------------------------------------------------------------------- */

/* Three full stops break a sentence off. */
static bool is_ended(gf_slice s)
{
    size_t end = s.len;
    if (gf_slice_ends(s, GF_SLICE("..."))) return false;
    while (end > 0) {
        uint32_t c = character_before(s, &end);
        if (ends_sentence(c)) return true;
        if (!is_closer(c)) return false;
    }
    return false;
}

/*
 * A full stop that ends no sentence: of an initial or a short word with a capital ("J.", "Mr.",
 * "Gen."), or of one with another full stop in it ("U.S.", "e.g.").
 */
static bool ends_in_abbreviation(gf_slice s)
{
    size_t end = s.len, letters = 0;
    bool inner = false;
    uint32_t c = 0;
    if (end == 0 || s.ptr[end - 1] != '.') return false;
    for (end--; end > 0; letters++) {
        size_t before = end;
        uint32_t d = character_before(s, &before);
        if (d != '.' && !is_category(d, U_GC_L_MASK)) break;
        inner |= d == '.';
        c = d;
        end = before;
    }
    return letters && letters <= 7 && (inner || (letters <= 3 && u_isupper((UChar32)c)));
}

/* Whether a mark of addresses or markup begins here, with one of the characters that some begin with. */
static bool is_mark(gf_slice s, size_t at)
{
    static const char *const marks[] = {
        "://", "](", "**",   "__",   "==",    "&amp",  "&lt",
        "&gt", "&#", "#39;", "#36;", "&quot", "&nbsp", GF_UTF8_REPLACEMENT};
    gf_slice rest = gf_slice_skip(s, at);
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++)
        if (gf_slice_starts(rest, gf_slice_str(marks[m]))) return true;
    return false;
}

static bool has_link_or_markup(gf_slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        switch (s.ptr[i]) {
        case '<':
        case '>':
        case '{':
        case '}':
        case '|':
        case '\\':
        case '^':
        case '~':
        case '`':
            return true;
        case 'w':
            if (s.len - i > 3 && memcmp(s.ptr + i + 1, "ww.", 3) == 0) return true;
            continue;
        case ':':
        case ']':
        case '*':
        case '_':
        case '=':
        case '&':
        case '#':
        case '\xEF':
            if (is_mark(s, i)) return true;
            continue;
        case '@':
            break;
        default:
            continue;
        }
        bool mail = i > 0 && (s.ptr[i - 1] & 0x80 || s.ptr[i - 1] > ' ');
        if (mail && s.ptr[i - 1] != '(' && s.ptr[i - 1] != '"') return true;
    }
    return false;
}

enum { LONGEST_UNIT = 16 };

/* Whether character i ends a third unit like the two before it. last: those before it, in turns. */
static bool is_repeated(uint32_t last[LONGEST_UNIT], uint32_t same[LONGEST_UNIT + 1], uint32_t i,
                        uint32_t c)
{
    bool found = false;
    uint32_t longest = c < 0x80 ? GF_LONGEST_ASCII_UNIT : LONGEST_UNIT;
    for (uint32_t n = 2; n <= longest; n++) {
        same[n] = last[(i - n) % LONGEST_UNIT] == c ? same[n] + 1 : 0;
        found |= same[n] >= 2 * n;
    }
    last[i % LONGEST_UNIT] = c;
    return found;
}

static gf_sentence_looks look_at(gf_slice s)
{
    gf_sentence_looks l = {.first = 0};
    uint32_t before = 0, same = 0, last[LONGEST_UNIT] = {0}, units[LONGEST_UNIT + 1] = {0};
    for (size_t at = 0; at < s.len;) {
        uint32_t c = gf_utf8_next(s, &at);
        uint32_t category = category_of(c);
        bool letter = (category & (U_GC_L_MASK | U_GC_M_MASK)) != 0;
        if (l.characters == 0) l.first = c;
        same = c == before ? same + 1 : 1;
        if (!letter && c != ' ' && !(category & U_GC_ND_MASK))
            l.run |= same > 3 || (same == 3 && c != '.') || (c == '-' && same == 3);
        l.repeats |= is_repeated(last, units, l.characters++, c) && (letter || c == ' ');
        if ((c == 0x3A || c == 0xFF1A) && l.spaces == 0 && at < s.len) l.named = true;
        gf_char_class class = letter && c >= 0x80 ? gf_char_class_of(c) : GF_CHAR_BREAK;
        l.letters += letter;
        l.joined += class == GF_CHAR_CJK || class == GF_CHAR_COMPLEX;
        l.capitals += (category & U_GC_LU_MASK) != 0;
        l.spaces += c == ' ';
        l.brackets += ((category & U_GC_PS_MASK) != 0) - ((category & U_GC_PE_MASK) != 0);
        l.quotes += c == '"';
        l.curly += (c == 0x201C) - (c == 0x201D);
        l.last = before = c;
    }
    return l;
}

static bool may_begin(uint32_t c)
{
    return is_category(c, U_GC_L_MASK | U_GC_ND_MASK | U_GC_PS_MASK) || is_quotation(c) ||
           c == 0xBF || c == 0xA1 || c == '@' || c == '$';
}

static bool is_plain(gf_slice s, const gf_sentence_looks *l)
{
    uint32_t visible = l->characters - l->spaces;
    bool whole = l->brackets == 0 && l->quotes % 2 == 0 && l->curly == 0;
    bool breaks_off = l->last == ':' || l->last == ',' || l->last == ';' || l->last == '&' ||
                      is_category(l->last, U_GC_PD_MASK);
    return may_begin(l->first) && whole && !breaks_off && !l->run && !l->named && !l->repeats &&
           l->letters * 100 >= visible * LEAST_LETTERS &&
           l->capitals * 100 <= l->letters * MOST_CAPITALS && !has_link_or_markup(s);
}

/* ---- a paragraph ----------------------------------------------------------------------------- */

/* ascii: all of the paragraph is. */
static gf_status add_sentence(gf_sentences *s, gf_slice text, bool ascii, bool first, bool last,
                              gf_error *err)
{
    while (text.len && text.ptr[text.len - 1] == ' ')
        text.len--;
    if (text.len == 0) return GF_OK;
    if (!gf_grow(&s->list, &s->capacity, s->n + 1, sizeof *s->list) ||
        !gf_grow(&s->places, &s->place_capacity, s->n + 1, sizeof *s->places))
        return gf_fail_memory(err, "sentences");
    gf_sentence_looks l = ascii ? gf_ascii_sentences_look(text) : look_at(text);
    s->places[s->n] = (struct place){s->kept.len, text.len};
    s->list[s->n++] = (gf_sentence){.words = l.spaces + 1 + l.joined / 2,
                                    .ends = is_ended(text),
                                    .whole = first && last,
                                    .begins = first || !u_islower((UChar32)l.first),
                                    .plain = is_plain(text, &l)};
    gf_buffer_slice(&s->kept, text);
    return gf_buffer_check(&s->kept, err);
}

/* Fills units and offset from the paragraph; returns the number of units. */
static int32_t decode(unicode_breaker *u, gf_slice text)
{
    size_t at = 0;
    int32_t n = 0;
    while (at < text.len && n + 2 <= LONGEST) {
        u->offset[n] = (uint32_t)at;
        uint32_t c = gf_utf8_next(text, &at);
        if (c >= 0x10000) {
            u->units[n++] = (UChar)(0xD7C0 + (c >> 10));
            u->offset[n] = u->offset[n - 1];
            u->units[n++] = (UChar)(0xDC00 + (c & 0x3FF));
        } else {
            u->units[n++] = (UChar)c;
        }
    }
    u->offset[n] = (uint32_t)at;
    return n;
}

/* Have ICU ready for a paragraph, which is cut where it is too long. */
static gf_status begin_unicode(gf_sentences *s, gf_slice *text, gf_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    gf_status st = s->unicode ? GF_OK : make_unicode_breaker(s, err);
    if (st != GF_OK) return st;
    int32_t n_units = decode(s->unicode, *text);
    ubrk_setText(s->unicode->icu, s->unicode->units, n_units, &code);
    if (U_FAILURE(code)) return failed(code, err);
    text->len = s->unicode->offset[n_units];
    return GF_OK;
}

static gf_slice without_last_spaces(gf_slice s)
{
    while (s.len && s.ptr[s.len - 1] == ' ')
        s.len--;
    return s;
}

static gf_status end_paragraph(gf_sentences *s, gf_error *err)
{
    gf_status st = gf_buffer_check(&s->paragraph, err);
    if (st != GF_OK || s->paragraph.len == 0) return st;
    gf_slice text = gf_buffer_view(&s->paragraph);
    bool ascii = gf_ascii_sentences_suit(text);
    if (!ascii)
        st = begin_unicode(s, &text, err);
    else if (text.len >= LONGEST)
        text.len = LONGEST - 1;
    for (size_t from = 0, at = 0; at < text.len && st == GF_OK;) {
        if (ascii) {
            at = gf_ascii_sentences_end(text, at);
        } else {
            int32_t to = ubrk_next(s->unicode->icu);
            at = to == UBRK_DONE ? text.len : s->unicode->offset[to];
        }
        gf_slice piece = gf_slice_of(text.ptr + from, at - from);
        if (at < text.len && ends_in_abbreviation(without_last_spaces(piece))) continue;
        st = add_sentence(s, piece, ascii, from == 0, at == text.len, err);
        from = at;
    }
    gf_buffer_reset(&s->paragraph);
    return st;
}

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct line {
    gf_slice text; /* without spaces around it */
    uint32_t characters;
    bool letters, columns, quoted, listed; /* has some; ...; begins as an item of a list */
    bool tidy;                             /* of ASCII, with no white space but single spaces */
} line;

static void look_at_characters(line *l)
{
    size_t blanks = 0;
    for (size_t at = 0; at < l->text.len; l->characters++) {
        uint32_t c = gf_utf8_next(l->text, &at);
        blanks = is_space(c) ? blanks + 1 : 0;
        l->columns |= blanks >= COLUMNS || c == '\t';
        if (!l->letters) l->letters = is_category(c, U_GC_L_MASK);
    }
}

/* The same of ASCII, where there are no columns without two blanks or a control character. */
static bool look_at_ascii(line *l)
{
    const char *p = l->text.ptr;
    size_t n = l->text.len;
    uint8_t odd = 0, letters = 0;
    for (size_t i = 0; i < n; i++) {
        odd |= (signed char)p[i] < ' ';
        letters |= (unsigned char)((p[i] | 0x20) - 'a') < 26;
    }
    for (size_t i = 1; i < n; i++)
        odd |= (p[i] == ' ') & (p[i - 1] == ' ');
    if (odd) return false;
    l->characters = (uint32_t)n;
    l->letters = letters;
    return true;
}

/* The first line of the rest, which is moved behind it. */
/* Bytes of other characters may look like a space: the last one of "à" does. */
static bool is_ascii_space(char byte)
{
    return (unsigned char)byte < 0x80 && is_space((unsigned char)byte);
}

static line take_line(gf_slice *rest)
{
    line l = {.characters = 0};
    const char *feed = memchr(rest->ptr, '\n', rest->len);
    size_t n = feed ? (size_t)(feed - rest->ptr) : rest->len, begin = 0, end = n;
    gf_slice all = gf_slice_of(rest->ptr, n);
    *rest = gf_slice_skip(*rest, feed ? n + 1 : n);
    while (begin < end && is_ascii_space(all.ptr[begin]))
        begin++;
    while (end > begin && is_ascii_space(all.ptr[end - 1]))
        end--;
    l.text = gf_slice_of(all.ptr + begin, end - begin);
    l.tidy = look_at_ascii(&l);
    if (!l.tidy) look_at_characters(&l);
    /* "> ", "| ", ": ", "# ", and "ab> " of mail programs that put initials before it */
    size_t at = 0;
    while (at < l.text.len && at < 4 && u_isalpha((UChar32)(unsigned char)l.text.ptr[at]))
        at++;
    if (at < l.text.len)
        l.quoted = l.text.ptr[at] == '>' || (at == 0 && strchr("|:}#", l.text.ptr[0]));
    l.listed = l.text.len > 1 && strchr("-*+", l.text.ptr[0]) && l.text.ptr[1] == ' ';
    return l;
}

static void append_line(gf_sentences *s, gf_slice text, bool tidy)
{
    bool space = s->paragraph.len > 0;
    if (s->paragraph.len > 2 * LONGEST) return;
    if (tidy) {
        if (space && text.len) gf_buffer_byte(&s->paragraph, ' ');
        gf_buffer_slice(&s->paragraph, text);
        return;
    }
    for (size_t at = 0, word = 0; at < text.len; word = at) {
        size_t end = at;
        uint32_t c = 'a';
        while (at < text.len) {
            end = at;
            c = gf_utf8_next(text, &at);
            if (is_space(c) || c == 0xFFFD) break;
            end = at;
        }
        if (end > word || c == 0xFFFD) {
            if (space) gf_buffer_byte(&s->paragraph, ' ');
            gf_buffer_append(&s->paragraph, text.ptr + word, end - word);
            if (c == 0xFFFD) gf_buffer_str(&s->paragraph, GF_UTF8_REPLACEMENT);
            space = false;
        }
        space |= is_space(c);
    }
}

gf_status gf_sentences_split(gf_sentences *s, gf_slice text, const gf_sentence **list, size_t *n,
                             gf_error *err)
{
    gf_status st = GF_OK;
    gf_buffer_reset(&s->kept);
    gf_buffer_reset(&s->paragraph);
    s->n = 0;
    while (text.len && st == GF_OK) {
        line l = take_line(&text);
        if (gf_slice_equal(l.text, GF_SLICE("--"))) break;
        bool left_out = !l.letters || l.quoted || l.columns;
        if (left_out || l.listed) st = end_paragraph(s, err);
        if (left_out || st != GF_OK) continue;
        append_line(s, l.listed ? gf_slice_skip(l.text, 2) : l.text, l.tidy);
        if (l.characters < WRAPPED) st = end_paragraph(s, err);
    }
    if (st == GF_OK) st = end_paragraph(s, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < s->n; i++)
        s->list[i].text = gf_slice_of(s->kept.ptr + s->places[i].start, s->places[i].length);
    *list = s->list;
    *n = s->n;
    return GF_OK;
}
