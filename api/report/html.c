#include "api/report/html.h"

#include "base/utf8.h"

/* Characters that may not stand in a page: invisible or ill-formed ones, and those that disguise
 * the text behind them. */
static bool is_unfit(uint32_t c)
{
    return (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7F && c < 0xA0) || c == 0xFFFD ||
           (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF ||
           (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF) || (c >= 0xE0000 && c <= 0xE0FFF);
}

static const char *reference(uint32_t c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\r':
    case 0x2028:
    case 0x2029:
        return " ";
    default:
        return is_unfit(c) ? GF_UTF8_REPLACEMENT : NULL;
    }
}

void gf_html_text_cut(gf_buffer *b, gf_slice text, size_t most)
{
    size_t n = 0;
    for (size_t at = 0; at < text.len; n++) {
        size_t from = at;
        uint32_t c = gf_utf8_next(text, &at);
        if (n == most) {
            gf_buffer_str(b, "\xE2\x80\xA6");
            return;
        }
        const char *as = reference(c);
        if (as)
            gf_buffer_str(b, as);
        else
            gf_buffer_append(b, text.ptr + from, at - from);
    }
}

void gf_html_text(gf_buffer *b, gf_slice text)
{
    gf_html_text_cut(b, text, SIZE_MAX);
}

void gf_html_share(gf_buffer *b, double share)
{
    gf_buffer_format(b, "%.1f %%", 100 * share);
}
