#include "formats/text/csv_rows_internal.h"

#include "base/grow.h"
#include "base/memory.h"

enum { OPTIONS = CSV_EMPTY_IS_NULL };

/* ---- functions that libcsv calls ------------------------------------------------------------- */

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

static int is_nothing(unsigned char c)
{
    (void)c;
    return 0;
}

static void end_cell(void *bytes, size_t n, void *context)
{
    gf_csv_rows *r = context;
    size_t i = r->cells.n;
    if (r->row_size > r->bounds.most) return; /* refused anyway, and libcsv's cell was cut */
    r->has_too_many |= r->most_cells && i >= r->most_cells;
    if (r->has_too_many) return;
    if (!gf_grow(&r->is_absent, &r->absent_capacity, i + 1, sizeof *r->is_absent)) {
        r->out_of_memory = true;
        return;
    }
    r->is_absent[i] = bytes == NULL;
    gf_text_cells_append(&r->cells, gf_slice_of(bytes, n));
    gf_text_cells_end(&r->cells);
}

static void end_row(int line_end, void *context)
{
    (void)line_end;
    ((gf_csv_rows *)context)->row_ended = true;
}

/* ---- life ------------------------------------------------------------------------------------ */

gf_status gf_csv_rows_init(gf_csv_rows *r, gf_error *err)
{
    *r = (gf_csv_rows){0};
    if (csv_init(&r->csv, OPTIONS) != 0) return gf_fail_memory(err, "a reader");
    csv_set_free_func(&r->csv, gf_free);
    return GF_OK;
}

void gf_csv_rows_release(gf_csv_rows *r)
{
    csv_free(&r->csv);
    gf_text_cells_release(&r->cells);
    gf_free(r->is_absent);
    r->is_absent = NULL;
}

void gf_csv_rows_begin(gf_csv_rows *r, gf_read_buffer *buffer, gf_record_bounds bounds)
{
    r->buffer = buffer;
    r->bounds = bounds;
    r->line = 1;
    csv_set_opts(&r->csv, OPTIONS);
}

void gf_csv_rows_set_dialect(gf_csv_rows *r, char delimiter, gf_csv_line_end line_end,
                             bool keeps_blanks)
{
    static int (*const ends[])(unsigned char) = {
        [GF_CSV_ANY] = NULL, [GF_CSV_LF] = is_lf, [GF_CSV_CR] = is_cr};
    r->line_end = line_end;
    r->keeps_blanks = keeps_blanks;
    csv_set_delim(&r->csv, (unsigned char)delimiter);
    csv_set_term_func(&r->csv, ends[line_end]);
    csv_set_space_func(&r->csv, keeps_blanks            ? is_nothing
                                : line_end == GF_CSV_LF ? is_blank_or_cr
                                                        : is_blank);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/*
 * Give libcsv room for n more bytes of a cell. Left to itself it grows by a fixed step, which is
 * quadratic in the size of a cell, and asks again for less where an allocation fails. Of a row
 * that is too long it is made to forget the cell; one byte stays, as it may be about to take back
 * the quote that it read last.
 */
static bool reserve_cell(gf_csv_rows *r, size_t n)
{
    struct csv_parser *csv = &r->csv;
    if (r->row_size > r->bounds.most && csv->entry_pos > 0) {
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

/* The first line end among the bytes; NULL where there is none. */
static const char *find_line_end(gf_csv_line_end line_end, const char *bytes, size_t n)
{
    if (line_end != GF_CSV_ANY) return memchr(bytes, line_end == GF_CSV_LF ? '\n' : '\r', n);
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == '\n' || bytes[i] == '\r') return bytes + i;
    return NULL;
}

/* The scanner of a row: feeds it to libcsv on the way. */
static size_t scan_row(void *context, const char *bytes, size_t n, bool *done)
{
    gf_csv_rows *r = context;
    size_t at = 0;
    while (at < n && !*done) {
        const char *end = find_line_end(r->line_end, bytes + at, n - at);
        size_t length = end ? (size_t)(end - bytes) + 1 - at : n - at;
        r->row_size += length;
        r->n_lines += end != NULL;
        r->out_of_memory = r->out_of_memory || !reserve_cell(r, length);
        if (!r->out_of_memory) csv_parse(&r->csv, bytes + at, length, end_cell, end_row, r);
        at += length;
        *done = r->row_ended || r->has_too_many || r->out_of_memory;
    }
    return at;
}

/* At the stream's end the row in progress ends there. False where a quote is still open. */
static bool end_last_row(gf_csv_rows *r)
{
    csv_set_opts(&r->csv, OPTIONS | CSV_STRICT | CSV_STRICT_FINI);
    return csv_fini(&r->csv, end_cell, end_row, r) == 0;
}

gf_status gf_csv_rows_next(gf_csv_rows *r, gf_csv_span *row, gf_error *err)
{
    gf_record_span span;
    bool tabs = r->keeps_blanks || csv_get_delim(&r->csv) == '\t';
    const char *skipped = r->keeps_blanks ? "\r\n" : tabs ? " \r\n" : " \t\r\n";
    gf_status st = gf_read_buffer_skip(r->buffer, skipped, &r->line, err);
    if (st != GF_OK) return st;
    gf_text_cells_reset(&r->cells);
    r->row_ended = r->has_too_many = false;
    r->row_size = r->n_lines = 0;
    st = gf_read_buffer_record(r->buffer, scan_row, r, r->bounds, &span, err);
    if (st != GF_OK) return st;
    bool is_ended = r->row_ended || r->has_too_many || r->out_of_memory;
    bool is_open = !is_ended && !end_last_row(r);
    if (r->out_of_memory) return gf_fail_memory(err, "a row");
    *row = (gf_csv_span){r->line, gf_read_buffer_without_line_end(span.raw), span.too_long, is_open,
                         r->has_too_many};
    r->line += r->n_lines;
    return gf_text_cells_check(&r->cells, err);
}
