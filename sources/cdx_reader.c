/* From an input to lines of an index: in files, compressed files and archives. */
#include "sources/cdx.h"
#include "sources/stream_internal.h"

#include "base/memory.h"

enum { MOST_LINE = 64 << 10 };

struct gf_cdx_reader {
    gf_stream *stream;
    gf_cdx_parser *parser;
    bool open;     /* a stream is */
    uint64_t line; /* of the next unread byte */
    gf_error ended;
};

gf_status gf_cdx_reader_open(const gf_input *input, gf_cdx_reader **reader, gf_error *err)
{
    gf_cdx_reader *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "a reader");
    gf_status st = gf_stream_open(input, &r->stream, err);
    if (st == GF_OK) st = gf_cdx_parser_create(&r->parser, err);
    if (st != GF_OK) {
        gf_cdx_reader_close(r);
        return st;
    }
    *reader = r;
    return GF_OK;
}

void gf_cdx_reader_close(gf_cdx_reader *r)
{
    if (!r) return;
    gf_stream_close(r->stream);
    gf_cdx_parser_free(r->parser);
    gf_free(r);
}

static gf_status open_stream(gf_cdx_reader *r, gf_error *err)
{
    gf_slice start;
    gf_status st = gf_stream_next(r->stream, err);
    if (st != GF_OK) return st;
    r->open = true;
    r->line = 1;
    st = gf_window_peek(gf_stream_window(r->stream), 3, &start, err);
    if (st == GF_OK && gf_slice_starts(start, GF_SLICE("\xEF\xBB\xBF")))
        gf_window_consume(gf_stream_window(r->stream), 3);
    return st;
}

static bool is_blank(gf_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] != ' ' && s.ptr[i] != '\t' && s.ptr[i] != '\r' && s.ptr[i] != '\n')
            return false;
    return true;
}

static gf_status read_next(gf_cdx_reader *r, gf_cdx *cdx, gf_record *record, gf_error *err)
{
    gf_span span = {{"", 0}, false};
    gf_bounds bounds = {MOST_LINE, MOST_LINE};
    gf_status st = GF_OK;
    do {
        if (!r->open && (st = open_stream(r, err)) != GF_OK) return st;
        st = gf_window_record(gf_stream_window(r->stream), gf_scan_line, NULL, bounds, &span, err);
        if (st == GF_OK)
            r->line++;
        else if (st == GF_ENOTFOUND)
            r->open = false;
        else
            return st;
    } while (st == GF_ENOTFOUND || (!span.too_long && is_blank(span.raw)));
    *record = (gf_record){.source = gf_stream_name(r->stream),
                          .line = r->line - 1,
                          .raw = gf_without_line_end(span.raw)};
    if (!span.too_long) return gf_cdx_parse(r->parser, record->raw, cdx, record, err);
    record->kind = GF_RECORD_REFUSED;
    record->reason = "too_long";
    record->message = "a line of more than 65,536 bytes";
    return GF_OK;
}

gf_status gf_cdx_reader_next(gf_cdx_reader *r, gf_cdx *cdx, gf_record *record, gf_error *err)
{
    if (r->ended.status == GF_OK) {
        gf_error why = {GF_OK, ""};
        gf_status st = read_next(r, cdx, record, &why);
        if (st == GF_OK) return GF_OK;
        r->ended = why;
        r->ended.status = st;
    }
    if (err) *err = r->ended;
    return r->ended.status;
}
