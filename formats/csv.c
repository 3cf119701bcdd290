/*
 * CSV as RFC 4180 has it, with a header, split into cells by libcsv.
 *
 * The bytes go to libcsv line by line: a row can only end where a line does, so that the row's
 * first line, its raw bytes and the next row's start are known without a second state machine.
 *
 *     line    libcsv's answer
 *     a,"b    no row: a quoted cell goes on in the next line
 *     c",d    row [a] [b LF c] [d], which began in the line above
 *
 * The header decides between comma, semicolon and TAB by which it has most of outside quotes, and
 * between LF and a lone CR (old Macintosh files) as line end by which comes first. Blanks around a
 * cell are dropped, those inside its quotes are not; a CR before the LF counts as one. A quote
 * inside a cell that is not quoted is an ordinary character.
 */
#include "formats/cells_internal.h"

#include "base/memory.h"

#include <csv.h>

enum { SNIFFED = 64 << 10 };

typedef struct csv_reader {
    gf_parse_context in;
    struct csv_parser csv;
    gf_cells cells;
    uint64_t line;     /* of the next unread byte */
    uint64_t lines;    /* line ends in the current row */
    uint64_t row_size; /* bytes of the current row so far */
    char line_end;     /* LF, or CR */
    bool row_ended;
    bool out_of_memory;
} csv_reader;

/* ---- what libcsv calls ----------------------------------------------------------------------- */

static int is_cr(unsigned char c)
{
    return c == '\r';
}

static int is_lf(unsigned char c)
{
    return c == '\n';
}

static int is_blank(unsigned char c)
{
    return c == ' ' || c == '\t';
}

static int is_blank_or_cr(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void end_cell(void *bytes, size_t n, void *context)
{
    csv_reader *p = context;
    if (p->row_size > p->in.bounds.most) return; /* refused anyway, and libcsv's cell was cut */
    gf_cells_append(&p->cells, gf_slice_of(bytes, n));
    gf_cells_end(&p->cells);
}

static void end_row(int line_end, void *context)
{
    (void)line_end;
    csv_reader *p = context;
    p->row_ended = true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/*
 * Give libcsv room for n more bytes of a cell. Left to itself it grows by a fixed step, which is
 * quadratic in the size of a cell, and asks again for less where an allocation fails. Of a row
 * that is too long it is made to forget the cell; one byte stays, as it may be about to take back
 * the quote that it read last.
 */
static bool make_room(csv_reader *p, size_t n)
{
    struct csv_parser *csv = &p->csv;
    if (p->row_size > p->in.bounds.most && csv->entry_pos > 0) {
        csv->entry_pos = 1;
        csv->spaces = 0;
    }
    size_t need = csv->entry_pos + n + 1;
    if (need <= csv->entry_size) return true;
    if (need < csv->entry_size * 2) need = csv->entry_size * 2;
    unsigned char *grown = gf_realloc(csv->entry_buf, need, 1);
    if (!grown) return false;
    csv->entry_buf = grown;
    csv->entry_size = need;
    return true;
}

/* The scanner of a row: feeds it to libcsv on the way. */
static size_t scan_row(void *context, const char *bytes, size_t n, bool *done)
{
    csv_reader *p = context;
    size_t at = 0;
    while (at < n && !*done) {
        const char *end = memchr(bytes + at, p->line_end, n - at);
        size_t length = end ? (size_t)(end - bytes) + 1 - at : n - at;
        p->row_size += length;
        p->lines += end != NULL;
        p->out_of_memory = p->out_of_memory || !make_room(p, length);
        if (!p->out_of_memory) csv_parse(&p->csv, bytes + at, length, end_cell, end_row, p);
        at += length;
        *done = p->row_ended || p->out_of_memory;
    }
    return at;
}

/* At the stream's end: the row in progress ends there. False where a quote is still open. */
static bool finish_row(csv_reader *p)
{
    csv_set_opts(&p->csv, CSV_STRICT | CSV_STRICT_FINI);
    return csv_fini(&p->csv, end_cell, end_row, p) == 0;
}

static gf_status read_row(csv_reader *p, gf_draft *draft, gf_error *err)
{
    gf_span span;
    const char *blanks = csv_get_delim(&p->csv) == '\t' ? " \r\n" : " \t\r\n";
    gf_status st = gf_window_skip(p->in.window, blanks, &p->line, err);
    if (st != GF_OK) return st;
    gf_cells_reset(&p->cells);
    p->row_ended = false;
    p->row_size = p->lines = 0;
    st = gf_window_record(p->in.window, scan_row, p, p->in.bounds, &span, err);
    if (st != GF_OK) return st;
    if (p->out_of_memory) return gf_fail_memory(err, "a row");
    draft->line = p->line;
    draft->raw = gf_without_line_end(span.raw);
    p->line += p->lines;
    bool is_whole = p->row_ended || finish_row(p);
    if (span.too_long)
        gf_draft_refuse_long(draft, p->in.max_document);
    else if (!is_whole)
        gf_draft_refuse(draft, "broken_csv", "a quote that is opened here is never closed");
    return gf_cells_check(&p->cells, err);
}

/* ---- the header ------------------------------------------------------------------------------ */

static void choose_delimiter(csv_reader *p, gf_slice start)
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
    csv_set_delim(&p->csv, (unsigned char)delimiters[most]);
}

static void choose_line_end(csv_reader *p, gf_slice start)
{
    const char *cr = memchr(start.ptr, '\r', start.len);
    const char *lf = memchr(start.ptr, '\n', start.len);
    p->line_end = cr && (!lf || (cr < lf && cr + 1 < lf)) ? '\r' : '\n';
    csv_set_term_func(&p->csv, p->line_end == '\r' ? is_cr : is_lf);
    csv_set_space_func(&p->csv, p->line_end == '\r' ? is_blank : is_blank_or_cr);
}

static gf_status read_header(csv_reader *p, gf_error *err)
{
    gf_slice start;
    gf_draft header = {0};
    gf_status st = gf_window_skip(p->in.window, " \r\n", &p->line, err);
    if (st == GF_OK) st = gf_window_peek(p->in.window, SNIFFED, &start, err);
    if (st != GF_OK) return st;
    choose_delimiter(p, start);
    choose_line_end(p, start);
    st = read_row(p, &header, err);
    if (st == GF_ENOTFOUND) return GF_OK; /* an empty file: so says the first next_row */
    if (st != GF_OK) return st;
    if (header.kind == GF_RECORD_REFUSED)
        return gf_fail(err, GF_EINVAL, "%.*s:%llu: the header cannot be read: %s",
                       GF_SLICE_ARG(p->in.name), (unsigned long long)header.line,
                       header.why.message);
    return gf_cells_to_header(&p->cells, p->in.name, err);
}

/* ---- the parser ------------------------------------------------------------------------------ */

static void close_csv(void *parser)
{
    csv_reader *p = parser;
    csv_free(&p->csv);
    gf_cells_release(&p->cells);
    gf_free(p);
}

static gf_status open_csv(const gf_parse_context *context, void **parser, gf_error *err)
{
    csv_reader *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a reader");
    p->in = *context;
    p->line = 1;
    csv_init(&p->csv, 0);
    csv_set_free_func(&p->csv, gf_free);
    gf_status st = read_header(p, err);
    if (st != GF_OK) {
        close_csv(p);
        return st;
    }
    *parser = p;
    return GF_OK;
}

static gf_status next_row(void *parser, gf_draft *draft, gf_error *err)
{
    csv_reader *p = parser;
    gf_status st = read_row(p, draft, err);
    if (st != GF_OK || draft->kind != GF_RECORD_DOCUMENT) return st;
    return gf_cells_to_draft(&p->cells, draft, err);
}

const gf_parser_kind gf_csv_parser = {open_csv, next_row, close_csv};
