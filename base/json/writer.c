#include "base/json/writer.h"

#include "base/number.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

gf_json_writer gf_json_writer_to(gf_buffer *out)
{
    return (gf_json_writer){.out = out};
}

/* Write the comma before the next value or key, where the object or array has an item already. */
static void write_separator(gf_json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    uint64_t bit = UINT64_C(1) << w->depth;
    if (w->has_items & bit) gf_buffer_byte(w->out, ',');
    w->has_items |= bit;
}

void gf_json_begin(gf_json_writer *w, char bracket)
{
    write_separator(w);
    gf_buffer_byte(w->out, bracket);
    assert(w->depth < 63);
    w->depth++;
    w->has_items &= ~(UINT64_C(1) << w->depth);
}

void gf_json_end(gf_json_writer *w, char bracket)
{
    assert(w->depth > 0);
    w->depth--;
    gf_buffer_byte(w->out, bracket);
}

void gf_json_key_slice(gf_json_writer *w, gf_slice name)
{
    write_separator(w);
    gf_json_append_string(w->out, name);
    gf_buffer_byte(w->out, ':');
    w->after_key = true;
}

void gf_json_key(gf_json_writer *w, const char *name)
{
    gf_json_key_slice(w, gf_slice_str(name));
}

static void write_escape(gf_buffer *b, unsigned char c)
{
    switch (c) {
    case '"':
        gf_buffer_str(b, "\\\"");
        break;
    case '\\':
        gf_buffer_str(b, "\\\\");
        break;
    case '\n':
        gf_buffer_str(b, "\\n");
        break;
    case '\r':
        gf_buffer_str(b, "\\r");
        break;
    case '\t':
        gf_buffer_str(b, "\\t");
        break;
    case '\b':
        gf_buffer_str(b, "\\b");
        break;
    case '\f':
        gf_buffer_str(b, "\\f");
        break;
    default:
        gf_buffer_format(b, "\\u%04x", c);
    }
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Non-zero where any of the eight bytes is not plain: below a space, or one of the two. */
static uint64_t not_plain(uint64_t eight)
{
    uint64_t quote = eight ^ EACH('"'), slash = eight ^ EACH('\\');
    uint64_t below = (eight - EACH(0x20)) & ~eight;
    return (below | ((quote - EACH(1)) & ~quote) | ((slash - EACH(1)) & ~slash)) & EACH(0x80);
}

/* The first byte from i on that is not plain. */
static size_t end_of_plain(gf_slice text, size_t i)
{
    for (uint64_t eight; text.len - i >= sizeof eight; i += sizeof eight) {
        memcpy(&eight, text.ptr + i, sizeof eight);
        if (not_plain(eight)) break;
    }
    while (i < text.len && is_plain((unsigned char)text.ptr[i]))
        i++;
    return i;
}

static void escape_valid(gf_buffer *b, gf_slice text)
{
    size_t from = 0;
    for (size_t i = end_of_plain(text, 0); i < text.len; i = end_of_plain(text, i + 1)) {
        unsigned char c = (unsigned char)text.ptr[i];
        gf_buffer_append(b, text.ptr + from, i - from);
        write_escape(b, c);
        from = i + 1;
    }
    if (text.len) gf_buffer_append(b, text.ptr + from, text.len - from);
}

void gf_json_append_string(gf_buffer *b, gf_slice text)
{
    gf_buffer_byte(b, '"');
    while (text.len) {
        size_t good = gf_utf8_valid_length(text);
        escape_valid(b, gf_slice_of(text.ptr, good));
        text = gf_slice_skip(text, good);
        if (text.len) {
            gf_buffer_str(b, GF_UTF8_REPLACEMENT);
            text = gf_slice_skip(text, gf_utf8_bad_length(text));
        }
    }
    gf_buffer_byte(b, '"');
}

void gf_json_string(gf_json_writer *w, gf_slice text)
{
    write_separator(w);
    gf_json_append_string(w->out, text);
}

void gf_json_int(gf_json_writer *w, int64_t v)
{
    write_separator(w);
    gf_buffer_format(w->out, "%" PRId64, v);
}

void gf_json_uint(gf_json_writer *w, uint64_t v)
{
    gf_number_digits digits;
    write_separator(w);
    gf_buffer_slice(w->out, gf_number_write(&digits, v));
}

void gf_json_bool(gf_json_writer *w, bool v)
{
    write_separator(w);
    gf_buffer_str(w->out, v ? "true" : "false");
}

void gf_json_null(gf_json_writer *w)
{
    write_separator(w);
    gf_buffer_str(w->out, "null");
}

void gf_json_double(gf_json_writer *w, double v)
{
    if (!isfinite(v)) {
        gf_json_null(w);
        return;
    }
    write_separator(w);
    gf_json_append_double(w->out, v);
}

void gf_json_float(gf_json_writer *w, float v)
{
    if (!isfinite(v)) {
        gf_json_null(w);
        return;
    }
    write_separator(w);
    gf_json_append_float(w->out, v);
}

void gf_json_raw(gf_json_writer *w, gf_slice json)
{
    write_separator(w);
    gf_buffer_slice(w->out, json);
}

void gf_json_put_string(gf_json_writer *w, const char *name, gf_slice text)
{
    gf_json_key(w, name);
    gf_json_string(w, text);
}

void gf_json_put_str(gf_json_writer *w, const char *name, const char *text)
{
    gf_json_put_string(w, name, gf_slice_str(text));
}

void gf_json_put_uint(gf_json_writer *w, const char *name, uint64_t v)
{
    gf_json_key(w, name);
    gf_json_uint(w, v);
}

void gf_json_put_double(gf_json_writer *w, const char *name, double v)
{
    gf_json_key(w, name);
    gf_json_double(w, v);
}

void gf_json_put_float(gf_json_writer *w, const char *name, float v)
{
    gf_json_key(w, name);
    gf_json_float(w, v);
}

void gf_json_put_bool(gf_json_writer *w, const char *name, bool v)
{
    gf_json_key(w, name);
    gf_json_bool(w, v);
}
