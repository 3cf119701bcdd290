/*
 * TSV: a header, TAB between cells, one row per line. Nothing is quoted and nothing escaped, so a
 * cell holds neither TAB nor line end.
 */
#include "formats/text/text_cells_internal.h"

#include "base/memory.h"

typedef struct tsv_reader {
    gf_parse_context in;
    gf_text_cells cells;
    uint64_t line;
} tsv_reader;

static void split_row(gf_text_cells *cells, gf_slice row)
{
    gf_text_cells_reset(cells);
    for (;;) {
        const char *tab = row.len ? memchr(row.ptr, '\t', row.len) : NULL;
        size_t n = tab ? (size_t)(tab - row.ptr) : row.len;
        gf_text_cells_append(cells, gf_slice_of(row.ptr, n));
        gf_text_cells_end(cells);
        if (!tab) return;
        row = gf_slice_skip(row, n + 1);
    }
}

static gf_status read_row(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    tsv_reader *p = parser;
    gf_record_span span;
    gf_status st = gf_read_buffer_skip(p->in.buffer, "\r\n", &p->line, err);
    if (st != GF_OK) return st;
    st = gf_read_buffer_record(p->in.buffer, gf_read_buffer_scan_line, NULL, p->in.bounds, &span,
                               err);
    if (st != GF_OK) return st;
    parsed->line = p->line++;
    parsed->raw = gf_read_buffer_without_line_end(span.raw);
    if (span.too_long)
        gf_parsed_record_refuse_long(parsed, p->in.max_document);
    else
        split_row(&p->cells, parsed->raw);
    return GF_OK;
}

static void close_tsv(void *parser)
{
    tsv_reader *p = parser;
    gf_text_cells_release(&p->cells);
    gf_free(p);
}

static gf_status open_tsv(const gf_parse_context *context, void **parser, gf_error *err)
{
    tsv_reader *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a reader");
    p->in = *context;
    p->line = 1;
    gf_status st = gf_text_cells_read_header(&p->cells, p->in.name, read_row, p, err);
    if (st != GF_OK) {
        close_tsv(p);
        return st;
    }
    *parser = p;
    return GF_OK;
}

static gf_status next_row(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    tsv_reader *p = parser;
    return gf_text_cells_next(&p->cells, read_row, p, parsed, err);
}

const gf_parser_kind gf_tsv_parser = {open_tsv, next_row, close_tsv};
