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

/* The line {"$place": "..."}. */
static void take_place(gf_parsed_record *parsed)
{
    const gf_member *m = parsed->members;
    bool is_place = parsed->kind == GF_RECORD_DOCUMENT && parsed->n_members == 1 &&
                    gf_slice_equal(m->name, GF_SLICE("$place")) &&
                    gf_json_kind_of(m->json) == GF_JSON_STRING;
    if (!is_place) return;
    parsed->kind = GF_RECORD_PLACE;
    parsed->raw = gf_json_get_string(m->json);
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
    st = gf_json_record_parse(p->in.json, parsed->raw, parsed, err);
    if (st == GF_OK && p->in.places) take_place(parsed);
    return st;
}

const gf_parser_kind gf_jsonl_parser = {open_jsonl, next_line, gf_free};
