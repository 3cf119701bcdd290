/*
 * The states of HTML's tokeniser (whatwg.org, section 13.2.5) that text depends on: text, tags with
 * their quoted values, comments, and elements whose content is no markup. No tree is made: libxml2's
 * parser compares each attribute with all others of its tag, and walks all open elements at many
 * tags, so that a page of 300 kB could hold a processor for minutes.
 */
#include "formats/documents/page_text.h"

#include "base/utf8.h"
#include "formats/documents/xml.h"

#include <strings.h>

typedef struct page {
    gf_slice rest;
    gf_buffer *text;
    size_t begin;   /* of this page in text */
    bool space;     /* white space came since the last character */
    unsigned lines; /* 1: the next character begins a line; 2: behind an empty one */
} page;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- text ------------------------------------------------------------------------------------ */

static void add_bytes(page *p, gf_slice bytes)
{
    bool any = p->text->len > p->begin;
    if (any && p->lines)
        gf_buffer_append(p->text, "\n\n", p->lines);
    else if (any && p->space)
        gf_buffer_byte(p->text, ' ');
    p->space = false;
    p->lines = 0;
    gf_buffer_slice(p->text, bytes);
}

static void add_code(page *p, uint32_t code)
{
    char bytes[8];
    gf_buffer one = {0};
    if (code == 0xA0 || (code < 0x80 && is_space((char)code))) {
        p->space = true;
        return;
    }
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) code = 0xFFFD;
    gf_utf8_append(&one, code);
    size_t n = one.len < sizeof bytes ? one.len : sizeof bytes;
    if (n) memcpy(bytes, one.ptr, n);
    gf_buffer_release(&one);
    if (n == 0) p->text->state = GF_ENOMEM;
    add_bytes(p, gf_slice_of(bytes, n));
}

static int digit_of(char c, unsigned base)
{
    int v = c >= '0' && c <= '9' ? c - '0' : is_letter(c) ? (c | 0x20) - 'a' + 10 : 99;
    return v < (int)base ? v : -1;
}

/* &#233; and &#xE9; */
static bool take_number(page *p)
{
    gf_slice s = gf_slice_skip(p->rest, 2);
    bool is_hex = s.len && (*s.ptr | 0x20) == 'x';
    if (is_hex) s = gf_slice_skip(s, 1);
    uint32_t code = 0;
    size_t n = 0;
    for (; n < s.len; n++) {
        int v = digit_of(s.ptr[n], is_hex ? 16 : 10);
        if (v < 0) break;
        if (code <= 0x10FFFF) code = code * (is_hex ? 16 : 10) + (uint32_t)v;
    }
    if (n == 0) return false;
    s = gf_slice_skip(s, n);
    p->rest = s.len && *s.ptr == ';' ? gf_slice_skip(s, 1) : s;
    add_code(p, code);
    return true;
}

/* A reference that is none is text. */
static bool take_reference(page *p)
{
    char name[16];
    size_t n = 0;
    if (p->rest.len > 2 && p->rest.ptr[1] == '#') return take_number(p);
    while (n + 1 < p->rest.len && n < sizeof name - 1 &&
           (is_letter(p->rest.ptr[n + 1]) || digit_of(p->rest.ptr[n + 1], 10) >= 0)) {
        name[n] = p->rest.ptr[n + 1];
        n++;
    }
    name[n] = '\0';
    if (n == 0 || n + 1 >= p->rest.len || p->rest.ptr[n + 1] != ';') return false;
    const htmlEntityDesc *known = htmlEntityLookup((const xmlChar *)name);
    if (!known && strcmp(name, "apos") != 0) return false;
    p->rest = gf_slice_skip(p->rest, n + 2);
    add_code(p, known ? known->value : '\'');
    return true;
}

static void take_text(page *p)
{
    size_t n = 0;
    while (n < p->rest.len && !is_space(p->rest.ptr[n]) && p->rest.ptr[n] != '<' &&
           p->rest.ptr[n] != '&')
        n++;
    if (n) {
        add_bytes(p, gf_slice_of(p->rest.ptr, n));
    } else if (is_space(*p->rest.ptr)) {
        p->space = true;
        n = 1;
    } else {
        add_bytes(p, gf_slice_of(p->rest.ptr, 1));
        n = 1;
    }
    p->rest = gf_slice_skip(p->rest, n);
}

/* ---- tags ------------------------------------------------------------------------------------ */

static bool is_one_of(gf_slice name, const char *names)
{
    for (const char *at = names; *at; at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' '))
        if (strcspn(at, " ") == name.len && strncasecmp(at, name.ptr, name.len) == 0) return true;
    return false;
}

/* Behind the > that ends the tag, over quoted values; to the end where it does not end. */
static void skip_tag(page *p)
{
    size_t i = 0;
    char quote = '\0', before = ' ';
    for (; i < p->rest.len; i++) {
        char c = p->rest.ptr[i];
        if (quote) {
            if (c == quote) quote = '\0';
        } else if ((c == '"' || c == '\'') && before == '=') {
            quote = c;
        } else if (c == '>') {
            i++;
            break;
        }
        if (!is_space(c)) before = c;
    }
    p->rest = gf_slice_skip(p->rest, i);
}

/* Behind </name: what is between is no text. */
static void skip_content(page *p, gf_slice name)
{
    size_t i = 0;
    for (; i + 2 + name.len <= p->rest.len; i++) {
        const char *open = memchr(p->rest.ptr + i, '<', p->rest.len - i);
        if (!open) break;
        i = (size_t)(open - p->rest.ptr);
        if (i + 2 + name.len <= p->rest.len && open[1] == '/' &&
            strncasecmp(open + 2, name.ptr, name.len) == 0) {
            p->rest = gf_slice_skip(p->rest, i);
            return;
        }
    }
    p->rest = gf_slice_skip(p->rest, p->rest.len);
}

static void take_tag(page *p)
{
    static const char blocks[] =
        "p div br li ul ol dl dt dd h1 h2 h3 h4 h5 h6 tr table thead tbody section article header "
        "footer nav aside main figure figcaption blockquote pre hr form fieldset address details "
        "summary title body html option textarea";
    static const char empty_line[] = "p h1 h2 h3 h4 h5 h6 blockquote pre title table";
    static const char no_text[] = "script style noscript template svg math iframe object";
    bool is_end = p->rest.ptr[1] == '/';
    size_t from = is_end ? 2 : 1, n = from;
    while (n < p->rest.len && !is_space(p->rest.ptr[n]) && p->rest.ptr[n] != '>' &&
           p->rest.ptr[n] != '/')
        n++;
    gf_slice name = gf_slice_of(p->rest.ptr + from, n - from);
    p->rest = gf_slice_skip(p->rest, n);
    skip_tag(p);
    bool is_closed = p->rest.ptr[-1] == '>' && p->rest.ptr[-2] == '/'; /* <svg/> */
    if (is_one_of(name, "td th")) p->space = true;
    if (is_one_of(name, blocks) && p->lines == 0) p->lines = 1;
    if (is_one_of(name, empty_line)) p->lines = 2;
    if (!is_end && !is_closed && is_one_of(name, no_text)) skip_content(p, name);
}

static void skip_to(page *p, size_t from, const char *end)
{
    size_t n = strlen(end);
    const char *at =
        from < p->rest.len ? memmem(p->rest.ptr + from, p->rest.len - from, end, n) : NULL;
    p->rest = gf_slice_skip(p->rest, at ? (size_t)(at - p->rest.ptr) + n : p->rest.len);
}

gf_status gf_page_text(gf_slice html, gf_buffer *text, gf_error *err)
{
    page p = {.rest = html, .text = text, .begin = text->len};
    gf_status st = gf_library_load(&gf_xml, err);
    if (st != GF_OK) return st;
    while (p.rest.len) {
        char next = p.rest.len > 1 ? p.rest.ptr[1] : '\0';
        char third = p.rest.len > 2 ? p.rest.ptr[2] : '\0';
        if (*p.rest.ptr == '&' && take_reference(&p)) continue;
        if (*p.rest.ptr != '<')
            take_text(&p);
        else if (gf_slice_starts(p.rest, GF_SLICE("<!--")))
            skip_to(&p, 4, "-->");
        else if (is_letter(next) || (next == '/' && is_letter(third)))
            take_tag(&p);
        else if (next == '!' || next == '?' || next == '/')
            skip_to(&p, 2, ">");
        else
            take_text(&p);
    }
    return gf_buffer_check(text, err);
}
