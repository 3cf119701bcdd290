/*
 * JSON Lines: one object per line. Empty lines count as lines and are no records; a broken line is
 * refused and the next one read.
 */
#include "formats/format_internal.h"
#include "formats/json_record.h"

#include "base/memory.h"

typedef struct jsonl {
    gf_parse_context in;
    uint64_t line; /* of the next unread byte */
} jsonl;

static gf_status open_jsonl(const gf_parse_context *context, void **parser, gf_error *err)
{
    jsonl *p = gf_malloc(sizeof *p);
    if (!p) return gf_fail_memory(err, "a reader");
    *p = (jsonl){*context, 1};
    *parser = p;
    return GF_OK;
}

static gf_status next_line(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    jsonl *p = parser;
    gf_record_span span;
    gf_status st = gf_read_buffer_skip(p->in.buffer, " \t\r\n", &p->line, err);
    if (st != GF_OK) return st;
    st = gf_read_buffer_record(p->in.buffer, gf_read_buffer_scan_line, NULL, p->in.bounds, &span,
                               err);
    if (st != GF_OK) return st;
    parsed->line = p->line++;
    parsed->raw = gf_read_buffer_without_line_end(span.raw);
    if (span.too_long) {
        gf_parsed_record_refuse_long(parsed, p->in.max_document);
        return GF_OK;
    }
    return gf_json_record_parse(p->in.json, parsed->raw, parsed, err);
}

const gf_parser_kind gf_jsonl_parser = {open_jsonl, next_line, gf_free};
