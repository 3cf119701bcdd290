#include "cli/terminal/text.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

/* Columns of a character; -1 for one that must not reach a terminal. */
static int char_width(uint32_t c)
{
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return -1;
    /* Marks that turn the direction of writing could disguise the text behind them. */
    if ((c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069)) return -1;
    if (c == 0x2028 || c == 0x2029) return -1; /* line and paragraph separator */
    int width = wcwidth((wchar_t)c);
    return width < 0 ? 1 : width;
}

unsigned gf_text_terminal_width(FILE *stream)
{
    enum { USUAL = 80, MOST = 10000 };
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (!isatty(fileno(stream))) return 0;
    long asked = columns ? strtol(columns, NULL, 10) : 0;
    if (asked > 0 && asked <= MOST) return (unsigned)asked;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col) return size.ws_col;
    return USUAL;
}

unsigned gf_text_width(gf_slice text)
{
    unsigned width = 0;
    for (size_t at = 0; at < text.len;) {
        int w = char_width(gf_utf8_next(text, &at));
        width += w < 0 ? 1 : (unsigned)w;
    }
    return width;
}

void gf_text_fold(gf_buffer *out, gf_slice text)
{
    size_t start = out->len;
    bool space = true; /* none at the start */
    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        uint32_t c = gf_utf8_next(text, &at);
        bool is_space = char_width(c) < 0 || c == ' ';
        if (is_space && !space) gf_buffer_byte(out, ' ');
        if (c == 0xFFFD)
            gf_buffer_str(out, GF_UTF8_REPLACEMENT); /* not the bad byte that it stands for */
        else if (!is_space)
            gf_buffer_append(out, text.ptr + from, at - from);
        space = is_space;
    }
    if (out->len > start && out->ptr[out->len - 1] == ' ') out->len--;
}

/* Bytes of the longest start of text within so many columns. */
static size_t length_within(gf_slice text, unsigned width)
{
    unsigned used = 0;
    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        int w = char_width(gf_utf8_next(text, &at));
        used += w < 0 ? 1 : (unsigned)w;
        if (used > width) return from;
    }
    return text.len;
}

void gf_text_cut(gf_buffer *b, unsigned width)
{
    gf_slice text = gf_buffer_view(b);
    if (width == 0 || length_within(text, width) == text.len) return;
    b->len = length_within(text, width - 1);
    gf_buffer_str(b, "\xE2\x80\xA6");
}

gf_slice gf_text_take_line(gf_slice *rest, unsigned width)
{
    gf_slice text = *rest;
    size_t end = length_within(text, width), at = 0;
    if (end == 0 && text.len) {
        gf_utf8_next(text, &at);
        end = at;
    }
    size_t words = end;
    while (end < text.len && words > 0 && text.ptr[words] != ' ')
        words--;
    if (words > 0) end = words;
    *rest = gf_slice_skip(text, end);
    while (rest->len && rest->ptr[0] == ' ')
        *rest = gf_slice_skip(*rest, 1);
    return gf_slice_of(text.ptr, end);
}

void gf_text_print(FILE *out, gf_slice text, unsigned width)
{
    gf_buffer b = {0};
    gf_text_fold(&b, text);
    gf_text_cut(&b, width);
    fwrite(b.ptr ? b.ptr : "", 1, b.len, out);
    gf_buffer_release(&b);
}

void gf_text_print_prose(FILE *out, gf_slice text, unsigned most, unsigned width)
{
    gf_buffer b = {0};
    gf_text_fold(&b, text);
    gf_text_cut(&b, most);
    for (gf_slice rest = gf_buffer_view(&b); rest.len;) {
        gf_slice line = width ? gf_text_take_line(&rest, width) : rest;
        if (!width) rest.len = 0;
        fwrite(line.ptr, 1, line.len, out);
        fputc('\n', out);
    }
    gf_buffer_release(&b);
}

void gf_text_print_count(FILE *out, double n, const char *thing)
{
    gf_buffer b = {0};
    gf_buffer_count(&b, (uint64_t)n);
    fprintf(out, "%s %s%s", gf_buffer_cstr(&b), thing, n == 1 ? "" : "s");
    gf_buffer_release(&b);
}

void gf_text_print_word(FILE *out, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-_./:@%+,=";
    bool quotes = !*word || word[strspn(word, plain)];
    if (quotes) fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc((unsigned char)*word < 0x20 || *word == 0x7F ? '?' : *word, out);
    if (quotes) fputc('\'', out);
}
