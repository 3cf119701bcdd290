#include "apps/papers/matching/markup.h"

#include "apps/papers/matching/trim.h"
#include "formats/documents/page_text.h"

#include <string.h>
#include <strings.h>

enum { MOST_ROUNDS = 3, MOST_TAG = 4096 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_known_tag(gf_slice name)
{
    static const char *const known[] = {
        "i",      "b",     "em",    "strong", "sub",    "sup",      "scp",  "sc",   "tt",
        "u",      "br",    "p",     "span",   "font",   "ovl",      "bold", "math", "italic",
        "inline", "title", "mi",    "mo",     "mn",     "msub",     "msup", "mrow", "mtext",
        "a",      "div",   "small", "inf",    "mathml", "underline"};
    if (gf_take_prefix(&name, "jats:") || gf_take_prefix(&name, "mml:") ||
        gf_take_prefix(&name, "m:"))
        return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (name.len == strlen(known[i]) && strncasecmp(name.ptr, known[i], name.len) == 0)
            return true;
    return false;
}

/* The end of an attribute's value behind "="; the same place where it has no quotes. */
static size_t skip_value(gf_slice s, size_t at)
{
    while (at < s.len && strchr(" \t\r\n", s.ptr[at]) && s.ptr[at])
        at++;
    if (at == s.len || (s.ptr[at] != '"' && s.ptr[at] != '\'')) return at;
    const char *end = memchr(s.ptr + at + 1, s.ptr[at], s.len - at - 1);
    return end ? (size_t)(end - s.ptr) + 1 : at + 1;
}

/*
 * The length of the tag at s, which begins with "<"; 0 where it is none: "p <b and c> d" has words
 * between < and >, and no attribute. Values in quotes may have < and >.
 */
static size_t tag_length(gf_slice s, bool *is_break)
{
    if (s.len > MOST_TAG) s.len = MOST_TAG;
    size_t i = s.len > 1 && s.ptr[1] == '/' ? 2 : 1, start = i;
    while (i < s.len && (is_letter(s.ptr[i]) || s.ptr[i] == ':' || s.ptr[i] == '-'))
        i++;
    gf_slice name = gf_slice_of(s.ptr + start, i - start);
    if (i == start || !is_known_tag(name)) return 0;
    size_t behind = i;
    bool has_attribute = false;
    while (i < s.len && s.ptr[i] != '>' && s.ptr[i] != '<') {
        bool is_value = s.ptr[i++] == '=';
        if (is_value) i = skip_value(s, i);
        has_attribute = has_attribute || is_value;
    }
    if (i == s.len || s.ptr[i] == '<') return 0;
    gf_slice rest = gf_trim(gf_slice_of(s.ptr + behind, i - behind));
    gf_take_prefix(&name, "jats:");
    *is_break = (name.len == 2 && gf_take_prefix(&name, "br")) ||
                (name.len == 5 && gf_take_prefix(&name, "break"));
    return rest.len == 0 || gf_slice_equal(rest, GF_SLICE("/")) || has_attribute ? i + 1 : 0;
}

/* Bytes of what s begins with: `begin`, anything, `end`; 0 where it does not. */
static size_t section_length(gf_slice s, const char *begin, size_t overlap, const char *end,
                             bool *may_end)
{
    gf_slice rest = s;
    if (!*may_end || !gf_take_prefix(&rest, begin)) return 0;
    const char *inner = rest.ptr - overlap;
    const char *at = memmem(inner, (size_t)(s.ptr + s.len - inner), end, strlen(end));
    *may_end = at != NULL; /* none here is none later: a title is not searched for each */
    return at ? (size_t)(at - s.ptr) + strlen(end) : 0;
}

/* Text that is read as HTML next: the same comes out. */
static void append_escaped(gf_slice s, gf_buffer *out)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '<' || s.ptr[i] == '&')
            gf_buffer_str(out, s.ptr[i] == '<' ? "&lt;" : "&amp;");
        else
            gf_buffer_byte(out, s.ptr[i]);
    }
}

/* Without tags and comments; a break is a space, and a section of CDATA its text. */
static void strip_tags(gf_slice s, gf_buffer *out)
{
    static const gf_slice cdata = {"<![CDATA[", 9};
    bool comment_may_end = true, cdata_may_end = true;
    while (s.len) {
        bool is_break = false;
        size_t n = 0, section = 0;
        if (*s.ptr == '<') n = tag_length(s, &is_break);
        if (*s.ptr == '<' && n == 0) /* "<!-->" is a comment, too */
            n = section_length(s, "<!--", 2, "-->", &comment_may_end);
        if (*s.ptr == '<' && n == 0)
            n = section = section_length(s, cdata.ptr, 0, "]]>", &cdata_may_end);
        if (is_break && n) gf_buffer_byte(out, ' ');
        if (section) append_escaped(gf_slice_of(s.ptr + cdata.len, section - cdata.len - 3), out);
        if (n == 0) {
            gf_buffer_slice(out, *s.ptr == '<' ? GF_SLICE("&lt;") : gf_slice_of(s.ptr, 1));
            n = 1;
        }
        s = gf_slice_skip(s, n);
    }
}

/* Some are escaped twice: until nothing changes. */
gf_status gf_markup_strip(gf_slice title, gf_buffer *out, gf_error *err)
{
    gf_buffer plain = {0}, text = {0};
    gf_status st = GF_OK;
    for (int i = 0; i < MOST_ROUNDS && st == GF_OK; i++) {
        if (!title.len ||
            (!memchr(title.ptr, '&', title.len) && !memchr(title.ptr, '<', title.len)))
            break;
        gf_buffer_reset(&plain);
        strip_tags(title, &plain);
        st = gf_buffer_check(&plain, err);
        gf_buffer_reset(&text);
        if (st == GF_OK && plain.len) st = gf_page_text(gf_buffer_view(&plain), &text, err);
        if (st == GF_OK) st = gf_buffer_check(&text, err);
        title = text.len ? gf_buffer_view(&text) : (gf_slice){"", 0};
    }
    if (st == GF_OK) gf_buffer_slice(out, title);
    gf_buffer_release(&plain);
    gf_buffer_release(&text);
    return st == GF_OK ? gf_buffer_check(out, err) : st;
}
