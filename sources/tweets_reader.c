/* From an input to tweets: one a line, in files, compressed files and archives. */
#include "sources/stream_internal.h"
#include "sources/tweets.h"

#include "base/json.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_RECORD = 1 << 20 };

struct gf_tweet_reader {
    gf_stream *stream;
    gf_tweet_parser *parser;
    bool open;     /* a stream is */
    uint64_t line; /* of the next unread byte */
    uint64_t max_record;
    gf_bounds bounds;
    gf_error ended; /* how, once it has */
    char message[80];
};

gf_status gf_tweet_reader_open(const gf_input *input, uint64_t max_record, gf_tweet_reader **reader,
                               gf_error *err)
{
    gf_tweet_reader *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "a reader");
    r->max_record = max_record ? max_record : MOST_RECORD;
    /* With its line end, a record may have two bytes more. */
    r->bounds = (gf_bounds){(size_t)r->max_record + 2, (size_t)r->max_record};
    gf_status st = gf_stream_open(input, &r->stream, err);
    if (st == GF_OK) st = gf_tweet_parser_create(&r->parser, err);
    if (st != GF_OK) {
        gf_tweet_reader_close(r);
        return st;
    }
    *reader = r;
    return GF_OK;
}

void gf_tweet_reader_close(gf_tweet_reader *r)
{
    if (!r) return;
    gf_stream_close(r->stream);
    gf_tweet_parser_free(r->parser);
    gf_free(r);
}

static gf_status open_stream(gf_tweet_reader *r, gf_error *err)
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

static gf_status next_line(gf_tweet_reader *r, gf_span *span, gf_error *err)
{
    gf_window *w = gf_stream_window(r->stream);
    gf_status st = gf_window_skip(w, " \t\r\n", &r->line, err);
    return st == GF_OK ? gf_window_record(w, gf_scan_line, NULL, r->bounds, span, err) : st;
}

static gf_status read_next(gf_tweet_reader *r, gf_tweet *tweet, gf_record *record, gf_error *err)
{
    gf_span span;
    gf_status st = r->open ? GF_OK : open_stream(r, err);
    while (st == GF_OK && (st = next_line(r, &span, err)) == GF_ENOTFOUND) {
        r->open = false;
        st = open_stream(r, err);
    }
    if (st != GF_OK) return st;
    *record = (gf_record){.source = gf_stream_name(r->stream),
                          .line = r->line++,
                          .raw = gf_without_line_end(span.raw)};
    if (!span.too_long && record->raw.len <= r->max_record)
        return gf_tweet_parse(r->parser, record->raw, tweet, record, err);
    snprintf(r->message, sizeof r->message, "longer than %" PRIu64 " bytes", r->max_record);
    record->kind = GF_RECORD_REFUSED;
    record->reason = "too_long";
    record->message = r->message;
    return GF_OK;
}

gf_status gf_tweet_reader_next(gf_tweet_reader *r, gf_tweet *tweet, gf_record *record,
                               gf_error *err)
{
    if (r->ended.status == GF_OK) {
        r->ended.status = read_next(r, tweet, record, &r->ended);
        if (r->ended.status == GF_OK) return GF_OK;
    }
    if (err) *err = r->ended;
    return r->ended.status;
}
