/* From an input to tweets: one a line, in files, compressed files and archives. */
#include "apps/tweets/tweets.h"
#include "formats/text/lines.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_RECORD = 1 << 20 };

struct gf_tweets_reader {
    gf_lines *lines;
    gf_tweets_parser *parser;
    char message[80]; /* of a tweet that is too long */
};

gf_status gf_tweets_reader_open(const gf_input *input, uint64_t max_record,
                                const gf_decoding_options *decoding, gf_tweets_reader **reader,
                                gf_error *err)
{
    gf_decoding_options defaults = {.as_it_is = false};
    gf_tweets_reader *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "a reader");
    if (max_record == 0) max_record = MOST_RECORD;
    snprintf(r->message, sizeof r->message, "longer than %" PRIu64 " bytes", max_record);
    gf_status st =
        gf_lines_open(input, (size_t)max_record, decoding ? decoding : &defaults, &r->lines, err);
    if (st == GF_OK) st = gf_tweets_parser_create(&r->parser, err);
    if (st != GF_OK) {
        gf_tweets_reader_close(r);
        return st;
    }
    *reader = r;
    return GF_OK;
}

void gf_tweets_reader_close(gf_tweets_reader *r)
{
    if (!r) return;
    gf_lines_close(r->lines);
    gf_tweets_parser_free(r->parser);
    gf_free(r);
}

/* The bytes that are stored and hashed begin with the JSON. */
static gf_slice without_indent(gf_slice text)
{
    while (text.len && (*text.ptr == ' ' || *text.ptr == '\t' || *text.ptr == '\r'))
        text = gf_slice_skip(text, 1);
    return text;
}

gf_status gf_tweets_reader_next(gf_tweets_reader *r, gf_tweet *tweet, gf_record *record,
                                gf_error *err)
{
    gf_text_line line;
    gf_status st = gf_lines_next(r->lines, &line, err);
    if (st != GF_OK) return st;
    *record =
        (gf_record){.source = line.source, .line = line.number, .raw = without_indent(line.text)};
    if (!line.too_long) return gf_tweets_parse(r->parser, record->raw, tweet, record, err);
    record->kind = GF_RECORD_REFUSED;
    record->reason = "too_long";
    record->message = r->message;
    return GF_OK;
}
