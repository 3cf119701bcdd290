/* A piece of a text around what was found. */
#include "base/utf8.h"
#include "grouperfish/search.h"

static bool is_space(char c)
{
    unsigned char u = (unsigned char)c;
    return u <= ' ' || u == 0x7f;
}

static bool is_inside(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Move at most n characters back from a byte, or on. */
static size_t back(gf_slice text, size_t at, size_t n)
{
    while (n-- && at > 0)
        do
            at--;
        while (at > 0 && is_inside(text.ptr[at]));
    return at;
}

static size_t forth(gf_slice text, size_t at, size_t n)
{
    while (n-- && at < text.len)
        do
            at++;
        while (at < text.len && is_inside(text.ptr[at]));
    return at;
}

/* Combining marks (U+0300 to U+036F), variation selectors and joiners belong to what is before. */
static bool goes_with_before(gf_slice text, size_t at)
{
    if (at >= text.len) return false;
    uint32_t c = gf_utf8_next(text, &at);
    return (c >= 0x300 && c <= 0x36F) || (c >= 0xFE00 && c <= 0xFE0F) || c == 0x200D ||
           (c >= 0x1F3FB && c <= 0x1F3FF) || (c >= 0x20D0 && c <= 0x20F0);
}

/* The begin of a piece that may begin at `from`: behind a space, if there is one before `to`. */
static size_t begin_of(gf_slice text, size_t from, size_t to)
{
    if (from == 0 || is_space(text.ptr[from - 1])) return from;
    for (size_t at = from; at < to; at++)
        if (is_space(text.ptr[at])) return at + 1;
    while (from < to && goes_with_before(text, from))
        from = forth(text, from, 1);
    return from;
}

static size_t end_of(gf_slice text, size_t from, size_t to)
{
    if (to >= text.len || is_space(text.ptr[to])) return to;
    for (size_t at = to; at > from; at--)
        if (is_space(text.ptr[at - 1])) return at - 1;
    while (to > from && goes_with_before(text, to))
        to = back(text, to, 1);
    return to;
}

/* Spaces and line ends become single spaces. */
static void write_line(gf_slice piece, gf_buffer *out)
{
    bool space = false, begun = false;
    for (size_t i = 0; i < piece.len; i++) {
        if (is_space(piece.ptr[i])) {
            space = begun;
            continue;
        }
        if (space) gf_buffer_byte(out, ' ');
        gf_buffer_byte(out, piece.ptr[i]);
        space = false;
        begun = true;
    }
}

void gf_snippet(gf_slice text, gf_slice part, size_t most, gf_buffer *out)
{
    size_t start = part.len ? (size_t)(part.ptr - text.ptr) : 0, end = start + part.len;
    size_t wide = gf_utf8_count(gf_slice_of(text.ptr ? text.ptr + start : NULL, part.len));
    size_t room = most > wide ? most - wide : 0;
    size_t from = back(text, start, room / 3);
    size_t before = gf_utf8_count(gf_slice_of(text.ptr ? text.ptr + from : NULL, start - from));
    size_t to = forth(text, end, room - before);
    if (to == text.len) /* what is not needed behind it is room before it */
        from = back(text, from,
                    room - before -
                        gf_utf8_count(gf_slice_of(text.ptr ? text.ptr + end : NULL, to - end)));
    if (wide > most) to = forth(text, start, most);
    from = begin_of(text, from, start);
    to = end_of(text, wide > most ? from : end, to);
    if (from > 0) gf_buffer_str(out, "\xE2\x80\xA6");
    write_line(gf_slice_of(text.ptr ? text.ptr + from : NULL, to - from), out);
    if (to < text.len) gf_buffer_str(out, "\xE2\x80\xA6");
}
