/*
 * A file that is one document: its path is the id, its content the text; of an HTML page what it shows.
 *
 * Refused as "not_text": content with a NUL in it. What else is no UTF-8 was looked at before
 * (decoding.h): of what came through, the bad sequences are replaced and counted.
 */
#include "formats/format_internal.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "formats/documents/page_text.h"

typedef struct text_file {
    gf_parse_context in;
    gf_buffer repaired, page;
    bool is_html;
    bool is_done;
} text_file;

static gf_status open_text_file(const gf_parse_context *context, void **parser, gf_error *err)
{
    text_file *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a reader");
    p->in = *context;
    *parser = p;
    return GF_OK;
}

static gf_status open_html(const gf_parse_context *context, void **parser, gf_error *err)
{
    gf_status st = open_text_file(context, parser, err);
    if (st == GF_OK) ((text_file *)*parser)->is_html = true;
    return st;
}

static void close_text_file(void *parser)
{
    text_file *p = parser;
    gf_buffer_release(&p->repaired);
    gf_buffer_release(&p->page);
    gf_free(p);
}

static gf_status set_text(text_file *p, gf_slice text, gf_parsed_record *parsed, gf_error *err)
{
    parsed->is_file = true;
    parsed->id = p->in.path;
    parsed->text = text;
    if (gf_utf8_valid_length(text) == text.len) return GF_OK;
    parsed->replaced += gf_utf8_repair(text, &p->repaired);
    parsed->text = gf_buffer_view(&p->repaired);
    return gf_buffer_check(&p->repaired, err);
}

static gf_status set_page(text_file *p, gf_parsed_record *parsed, gf_error *err)
{
    gf_status st = gf_page_text(parsed->text, &p->page, err);
    parsed->text = gf_buffer_view(&p->page);
    if (st == GF_OK && p->page.len == 0)
        gf_parsed_record_skip(parsed, "empty_text", "the page shows no text");
    return st;
}

static gf_status next_file(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    text_file *p = parser;
    if (p->is_done) return GF_ENOTFOUND;
    p->is_done = true;
    gf_slice text;
    size_t most =
        p->is_html ? p->in.bounds.most : p->in.bounds.kept; /* a page is more than its text */
    gf_status st = gf_read_buffer_peek(p->in.buffer, most + 1, &text, err);
    if (st != GF_OK) return st;
    parsed->raw = text;
    if (text.len > most) {
        parsed->raw.len = p->in.bounds.kept;
        gf_parsed_record_refuse_long(parsed, p->in.max_document);
        return GF_OK;
    }
    if (text.len == 0) {
        gf_parsed_record_skip(parsed, "empty_text", "the file is empty");
        return GF_OK;
    }
    if (memchr(text.ptr, '\0', text.len)) {
        gf_parsed_record_refuse(parsed, "not_text", "a binary file (it holds NUL)");
        return GF_OK;
    }
    st = set_text(p, text, parsed, err);
    return st == GF_OK && p->is_html ? set_page(p, parsed, err) : st;
}

const gf_parser_kind gf_text_file_parser = {open_text_file, next_file, close_text_file};
const gf_parser_kind gf_html_parser = {open_html, next_file, close_text_file};
