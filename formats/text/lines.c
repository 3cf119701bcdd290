#include "formats/text/lines.h"

#include "base/memory.h"
#include "formats/bytes/content.h"
#include "formats/bytes/unpacked.h"

struct gf_lines {
    gf_unpacked *stream;
    gf_decoding *decoding;
    gf_record_bounds bounds;
    size_t most;
    bool open;       /* a stream is */
    bool first;      /* no line of it was given yet */
    uint64_t number; /* of the line that was read last */
    gf_error ended;  /* how, once it has */
};

gf_status gf_lines_open(const gf_input *input, size_t most, const gf_decoding_options *decoding,
                        gf_lines **lines, gf_error *err)
{
    static const gf_decoding_options as_it_is = {.as_it_is = true};
    gf_lines *l = gf_calloc(1, sizeof *l);
    if (!l) return gf_fail_memory(err, "a reader");
    l->most = most;
    l->bounds =
        (gf_record_bounds){most + 2, most}; /* with its end, a line may have two bytes more */
    gf_status st = gf_decoding_create(decoding ? decoding : &as_it_is, &l->decoding, err);
    if (st == GF_OK) st = gf_unpacked_open(input, &l->stream, err);
    if (st != GF_OK) {
        gf_lines_close(l);
        return st;
    }
    *lines = l;
    return GF_OK;
}

void gf_lines_close(gf_lines *l)
{
    if (!l) return;
    gf_decoding_free(l->decoding);
    gf_unpacked_close(l->stream);
    gf_free(l);
}

static gf_status open_stream(gf_lines *l, gf_error *err)
{
    gf_status st = gf_unpacked_next(l->stream, err);
    if (st != GF_OK) return st;
    l->open = true;
    l->number = 0;
    l->first = true;
    st = gf_content_check(gf_read_buffer_unread(gf_unpacked_buffer(l->stream)),
                          gf_unpacked_name(l->stream), err);
    if (st != GF_OK) return st;
    st = gf_decoding_begin(l->decoding, gf_unpacked_buffer(l->stream), gf_unpacked_name(l->stream),
                           err);
    if (st != GF_OK) return st;
    return gf_read_buffer_skip_mark(gf_unpacked_buffer(l->stream), err);
}

static bool is_blank(gf_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] != ' ' && s.ptr[i] != '\t' && s.ptr[i] != '\r') return false;
    return true;
}

static gf_status read_line(gf_lines *l, gf_text_line *line, gf_error *err)
{
    gf_record_span span;
    gf_status st;
    do {
        st = l->open ? GF_OK : open_stream(l, err);
        if (st != GF_OK) return st;
        st = gf_read_buffer_record(gf_unpacked_buffer(l->stream), gf_read_buffer_scan_line, NULL,
                                   l->bounds, &span, err);
        l->open = st == GF_OK;
        l->number += l->open;
    } while (st == GF_ENOTFOUND || (st == GF_OK && !span.too_long &&
                                    is_blank(gf_read_buffer_without_line_end(span.raw))));
    if (st != GF_OK) return st;
    gf_slice text = span.too_long ? span.raw : gf_read_buffer_without_line_end(span.raw);
    bool too_long = span.too_long || text.len > l->most;
    if (text.len > l->most) text.len = l->most;
    bool has_end = span.raw.len > 0 && span.raw.ptr[span.raw.len - 1] == '\n';
    *line =
        (gf_text_line){gf_unpacked_name(l->stream), l->first, l->number, text, too_long, has_end};
    l->first = false;
    return GF_OK;
}

gf_status gf_lines_next(gf_lines *l, gf_text_line *line, gf_error *err)
{
    if (l->ended.status == GF_OK) {
        gf_error why = {GF_OK, ""};
        gf_status st = read_line(l, line, &why);
        if (st == GF_OK) return GF_OK;
        l->ended = why;
        l->ended.status = st;
    }
    if (err) *err = l->ended;
    return l->ended.status;
}
