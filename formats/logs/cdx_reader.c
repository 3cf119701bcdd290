/* From an input to lines of an index: in files, compressed files and archives. */
#include "formats/logs/cdx.h"
#include "formats/text/lines.h"

#include "base/memory.h"

enum { MOST_LINE = 64 << 10 };

struct gf_cdx_reader {
    gf_lines *lines;
    gf_cdx_parser *parser;
};

gf_status gf_cdx_reader_open(const gf_input *input, gf_cdx_reader **reader, gf_error *err)
{
    gf_cdx_reader *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "a reader");
    gf_status st = gf_lines_open(input, MOST_LINE, NULL, &r->lines, err);
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
    gf_lines_close(r->lines);
    gf_cdx_parser_free(r->parser);
    gf_free(r);
}

gf_status gf_cdx_reader_next(gf_cdx_reader *r, gf_cdx *cdx, gf_record *record, gf_error *err)
{
    gf_text_line line;
    gf_status st = gf_lines_next(r->lines, &line, err);
    if (st != GF_OK) return st;
    *record = (gf_record){.source = line.source, .line = line.number, .raw = line.text};
    if (!line.too_long) return gf_cdx_parse(r->parser, line.text, cdx, record, err);
    record->kind = GF_RECORD_REFUSED;
    record->reason = "too_long";
    record->message = "a line of more than 65,536 bytes";
    return GF_OK;
}
