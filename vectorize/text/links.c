#include "vectorize/text/links_internal.h"

#include "base/utf8.h"

enum { LOCAL_PART = 64 /* RFC 5321, 4.5.3.1.1 */ };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alphanumeric(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static bool same_ascii(gf_slice s, const char *lower)
{
    for (size_t i = 0; i < s.len; i++)
        if ((s.ptr[i] | 0x20) != lower[i]) return false;
    return s.len == strlen(lower);
}

static gf_char_class class_at(gf_slice text, size_t *at)
{
    uint32_t c = gf_utf8_next(text, at);
    if (c == 0xFFFD) return GF_CHAR_BREAK;
    return c < GF_CHAR_TABLE ? (gf_char_class)gf_char_classes()[c] : gf_char_class_of(c);
}

static inline bool ends_url(unsigned char c)
{
    switch (c) {
    case '<':
    case '>':
    case '"':
    case '`':
    case '{':
    case '}':
    case '|':
    case '\\':
    case '^':
    case 0x7F:
        return true;
    default:
        return c <= 0x20;
    }
}

/* Walks over what may stand in a URL, up to a bracket that the URL did not open. */
static size_t url_body_end(gf_slice text, size_t i)
{
    int round = 0, square = 0;
    while (i < text.len) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (ends_url(c)) break;
        if (c == '(') round++;
        if (c == '[') square++;
        if ((c == ')' && round-- == 0) || (c == ']' && square-- == 0)) break;
        size_t next = i;
        if (c < 0x80) {
            next++;
        } else {
            gf_char_class k = class_at(text, &next);
            if (k != GF_CHAR_LETTER && k != GF_CHAR_DIGIT && k != GF_CHAR_MARK) break;
        }
        i = next;
    }
    return i;
}

size_t gf_links_url_end(gf_slice text, size_t start, size_t word_end)
{
    gf_slice word = gf_slice_of(text.ptr + start, word_end - start);
    gf_slice rest = gf_slice_skip(text, word_end);
    size_t body;
    if (same_ascii(word, "www") && gf_slice_starts(rest, GF_SLICE(".")))
        body = word_end + 1;
    else if ((same_ascii(word, "http") || same_ascii(word, "https")) &&
             gf_slice_starts(rest, GF_SLICE("://")))
        body = word_end + 3;
    else
        return 0;
    size_t end = url_body_end(text, body);
    while (end > body && strchr(".,;:!?'*", text.ptr[end - 1]))
        end--;
    return end > body ? end : 0;
}

static bool in_local_part(char c)
{
    return is_alphanumeric(c) || c == '.' || c == '_' || c == '%' || c == '+' || c == '-';
}

/* The end of a host name with a dot whose last label is two letters or more; 0 where none starts.
 */
static size_t domain_end(gf_slice text, size_t i)
{
    size_t end = 0, label = i;
    bool letters = true, dot = false;
    for (;; i++) {
        char c = i < text.len ? text.ptr[i] : ' ';
        if (is_alphanumeric(c) || c == '-') {
            letters = letters && is_letter(c);
            continue;
        }
        if (i == label) return end;
        if (dot && letters && i - label >= 2) end = i;
        if (c != '.') return end;
        label = i + 1;
        letters = dot = true;
    }
}

bool gf_links_address_at(gf_slice text, size_t floor, size_t sign, size_t *start, size_t *end)
{
    size_t low = sign > floor + LOCAL_PART ? sign - LOCAL_PART : floor, i = sign;
    while (i > low && in_local_part(text.ptr[i - 1]))
        i--;
    while (i < sign && !is_alphanumeric(text.ptr[i]))
        i++;
    size_t domain = i < sign ? domain_end(text, sign + 1) : 0;
    if (domain == 0) return false;
    *start = i;
    *end = domain;
    return true;
}

typedef struct reference {
    const char *name; /* with its semicolon */
    gf_char_class stands_for;
} reference;

/* The references that text scraped from pages is full of; other names stay words. */
static const reference references[] = {
    {"amp;", GF_CHAR_JOIN},    {"nbsp;", GF_CHAR_SPACE},  {"lt;", GF_CHAR_BREAK},
    {"gt;", GF_CHAR_BREAK},    {"quot;", GF_CHAR_BREAK},  {"apos;", GF_CHAR_JOIN},
    {"rsquo;", GF_CHAR_JOIN},  {"lsquo;", GF_CHAR_BREAK}, {"ldquo;", GF_CHAR_BREAK},
    {"rdquo;", GF_CHAR_BREAK}, {"laquo;", GF_CHAR_BREAK}, {"raquo;", GF_CHAR_BREAK},
    {"ndash;", GF_CHAR_BREAK}, {"mdash;", GF_CHAR_BREAK}, {"hellip;", GF_CHAR_BREAK},
    {"bull;", GF_CHAR_BREAK},  {"middot;", GF_CHAR_JOIN}, {"copy;", GF_CHAR_BREAK},
    {"reg;", GF_CHAR_BREAK},   {"trade;", GF_CHAR_BREAK}, {"euro;", GF_CHAR_BREAK},
    {"pound;", GF_CHAR_BREAK}, {"deg;", GF_CHAR_BREAK},   {"times;", GF_CHAR_BREAK},
};

static int digit_of(char c, uint32_t base)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (base == 16 && (c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
    return -1;
}

/* &#39; and &#x27;: body starts behind the #. A letter so written still only separates. */
static size_t numeric_reference(gf_slice body, gf_char_class *stands_for)
{
    uint32_t base = 10, c = 0;
    size_t i = 0, first;
    if (body.len && (body.ptr[0] | 0x20) == 'x') {
        base = 16;
        i = 1;
    }
    for (first = i; i < body.len && i - first < 7 && digit_of(body.ptr[i], base) >= 0; i++)
        c = c * base + (uint32_t)digit_of(body.ptr[i], base);
    if (i == first || i == body.len || body.ptr[i] != ';' || c > 0x10FFFF) return 0;
    *stands_for = GF_CHAR_BREAK;
    if (c == '\'' || c == '&' || c == '-' || c == '/')
        *stands_for = GF_CHAR_JOIN;
    else if (c <= ' ' || c >= 0x80)
        *stands_for = gf_char_class_of(c);
    return i + 1;
}

static size_t reference_in(gf_slice body, gf_char_class *stands_for)
{
    if (gf_slice_starts(body, GF_SLICE("#"))) {
        size_t n = numeric_reference(gf_slice_skip(body, 1), stands_for);
        return n ? n + 1 : 0;
    }
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        if (!gf_slice_starts(body, gf_slice_str(references[i].name))) continue;
        *stands_for = references[i].stands_for;
        return strlen(references[i].name);
    }
    return 0;
}

size_t gf_links_reference_end(gf_slice text, size_t at, gf_char_class *stands_for)
{
    gf_slice body = gf_slice_skip(text, at + 1);
    size_t n = reference_in(body, stands_for);
    if (n == 0) return 0;
    if (gf_slice_starts(body, GF_SLICE("amp;")))
        n += reference_in(gf_slice_skip(body, n), stands_for);
    return at + 1 + n;
}
