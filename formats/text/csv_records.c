/*
 * CSV as a format of records: a header, then a record in each row (csv_rows_internal.h).
 *
 * The header decides between comma, semicolon and TAB by which it has most of outside quotes, and
 * between LF and a lone CR (old Macintosh files) as line end by which comes first. Blanks around a
 * cell are dropped, those inside its quotes are not; a CR before the LF counts as one.
 */
#include "formats/text/csv_rows_internal.h"

#include "base/memory.h"

enum { SNIFFED = 64 << 10 };

typedef struct csv_records {
    gf_parse_context in;
    gf_csv_rows rows;
} csv_records;

static gf_status read_row(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    csv_records *p = parser;
    gf_csv_span row;
    gf_status st = gf_csv_rows_next(&p->rows, &row, err);
    if (st != GF_OK) return st;
    parsed->line = row.line;
    parsed->raw = row.raw;
    if (row.too_long)
        gf_parsed_record_refuse_long(parsed, p->in.max_document);
    else if (row.is_open)
        gf_parsed_record_refuse(parsed, "broken_csv",
                                "a quote that is opened here is never closed");
    return GF_OK;
}

/* ---- the header ------------------------------------------------------------------------------ */

static char choose_delimiter(gf_slice start)
{
    static const char delimiters[] = {',', ';', '\t'};
    size_t count[sizeof delimiters] = {0}, most = 0;
    bool quoted = false;
    for (size_t i = 0; i < start.len; i++) {
        char c = start.ptr[i];
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '\n' || c == '\r') break;
        for (size_t d = 0; d < sizeof delimiters; d++)
            count[d] += c == delimiters[d];
    }
    for (size_t d = 1; d < sizeof delimiters; d++)
        if (count[d] > count[most]) most = d;
    return delimiters[most];
}

static gf_csv_line_end choose_line_end(gf_slice start)
{
    const char *cr = memchr(start.ptr, '\r', start.len);
    const char *lf = memchr(start.ptr, '\n', start.len);
    return cr && (!lf || (cr < lf && cr + 1 < lf)) ? GF_CSV_CR : GF_CSV_LF;
}

static gf_status read_header(csv_records *p, gf_error *err)
{
    gf_slice start;
    gf_csv_rows_begin(&p->rows, p->in.buffer, p->in.bounds);
    gf_status st = gf_read_buffer_skip(p->in.buffer, " \r\n", &p->rows.line, err);
    if (st == GF_OK) st = gf_read_buffer_peek(p->in.buffer, SNIFFED, &start, err);
    if (st != GF_OK) return st;
    gf_csv_rows_set_dialect(&p->rows, choose_delimiter(start), choose_line_end(start), false);
    return gf_text_cells_read_header(&p->rows.cells, p->in.name, read_row, p, err);
}

/* ---- the parser ------------------------------------------------------------------------------ */

static void close_csv(void *parser)
{
    csv_records *p = parser;
    gf_csv_rows_release(&p->rows);
    gf_free(p);
}

static gf_status open_csv(const gf_parse_context *context, void **parser, gf_error *err)
{
    csv_records *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a reader");
    p->in = *context;
    gf_status st = gf_csv_rows_init(&p->rows, err);
    if (st == GF_OK) st = read_header(p, err);
    if (st != GF_OK) {
        close_csv(p);
        return st;
    }
    *parser = p;
    return GF_OK;
}

static gf_status next_row(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    csv_records *p = parser;
    return gf_text_cells_next(&p->rows.cells, read_row, p, parsed, err);
}

const gf_parser_kind gf_csv_parser = {open_csv, next_row, close_csv};
