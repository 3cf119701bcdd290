/*
 * Firefox Input: rows of 11 fields between TABs, no header. A backslash in front of a TAB, a line
 * end or a backslash makes it part of the field; in front of anything else it stands for itself.
 *
 *     one\<TAB>column\<TAB>row<LF>       one field:   one<TAB>column<TAB>row
 *     two<TAB>column\<TAB>row<LF>        two fields:  two, column<TAB>row
 *
 * Rows with another number of fields, or without text, are skipped and counted. A last row without
 * line end is a row.
 */
#include "formats/text/text_cells_internal.h"

#include "base/memory.h"

enum { ID, TIME, TEXT = 10, N_FIELDS };

static const char *const field_names[N_FIELDS] = {
    "id",     "time",         "type",   "product", "version", "platform",
    "locale", "manufacturer", "device", "url",     "text",
};

typedef struct firefox_input {
    gf_parse_context in;
    gf_text_cells cells;
    uint64_t line;
} firefox_input;

static void close_firefox_input(void *parser)
{
    firefox_input *p = parser;
    gf_text_cells_release(&p->cells);
    gf_free(p);
}

static gf_status set_columns(gf_text_cells *cells, gf_error *err)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        gf_text_cells_append(cells, gf_slice_str(field_names[i]));
        gf_text_cells_end(cells);
    }
    return gf_text_cells_to_header(cells, GF_SLICE("Firefox Input"), err);
}

static gf_status open_firefox_input(const gf_parse_context *context, void **parser, gf_error *err)
{
    firefox_input *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a reader");
    p->in = *context;
    p->line = 1;
    gf_status st = set_columns(&p->cells, err);
    if (st != GF_OK) {
        close_firefox_input(p);
        return st;
    }
    *parser = p;
    return GF_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct row_scan {
    enum { PLAIN, ESCAPE, ESCAPE_CR } state; /* behind a backslash; behind a backslash and CR */
    uint64_t lines;
    bool ended; /* by a line end, not by the end of the stream */
} row_scan;

static size_t scan_row(void *state, const char *bytes, size_t n, bool *done)
{
    row_scan *s = state;
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];
        s->lines += c == '\n';
        if (c == '\n' && s->state == PLAIN) {
            *done = s->ended = true;
            return i + 1;
        }
        if (s->state == ESCAPE && c == '\r')
            s->state = ESCAPE_CR;
        else
            s->state = s->state != ESCAPE && c == '\\' ? ESCAPE : PLAIN;
    }
    return n;
}

/* Bytes of the escape that starts the row, and what it stands for; 0 where it is none. */
static size_t escape_length(gf_slice row, char *meaning)
{
    bool cr = row.len >= 3 && row.ptr[1] == '\r' && row.ptr[2] == '\n';
    if (row.len < 2 || (!cr && !strchr("\t\n\\", row.ptr[1])) || row.ptr[1] == '\0') return 0;
    *meaning = cr ? '\n' : row.ptr[1];
    return cr ? 3 : 2;
}

static void split_row(gf_text_cells *cells, gf_slice row)
{
    gf_text_cells_reset(cells);
    while (row.len) {
        size_t n = 0;
        while (n < row.len && row.ptr[n] != '\\' && row.ptr[n] != '\t')
            n++;
        gf_text_cells_append(cells, gf_slice_of(row.ptr, n));
        row = gf_slice_skip(row, n);
        if (row.len == 0) break;
        char c = row.ptr[0];
        if (c == '\t') gf_text_cells_end(cells);
        n = c == '\t' ? 1 : escape_length(row, &c);
        if (c != '\t' || n > 1) gf_text_cells_append(cells, gf_slice_of(&c, 1));
        row = gf_slice_skip(row, n ? n : 1);
    }
    gf_text_cells_end(cells);
}

/* An integer in JSON's syntax, small enough to be a time in any unit. */
static bool is_integer(gf_slice s)
{
    size_t i = s.len && s.ptr[0] == '-';
    if (s.len - i == 0 || s.len - i > 14 || (s.ptr[i] == '0' && s.len - i > 1)) return false;
    for (; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9') return false;
    return true;
}

static gf_status parse_row(firefox_input *p, gf_parsed_record *parsed, gf_error *err)
{
    split_row(&p->cells, parsed->raw);
    gf_status st = gf_text_cells_to_record(&p->cells, parsed, err);
    if (st != GF_OK) return st;
    if (parsed->kind == GF_RECORD_REFUSED) {
        parsed->kind = GF_RECORD_SKIPPED;
        return GF_OK;
    }
    gf_member *fields = parsed->members;
    if (fields[TEXT].kind == GF_MEMBER_EMPTY)
        gf_parsed_record_skip(parsed, "empty_text", "the text is empty");
    if (is_integer(fields[TIME].text)) fields[TIME].kind = GF_MEMBER_NUMBER;
    return GF_OK;
}

static gf_status next_row(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    firefox_input *p = parser;
    row_scan scan = {PLAIN, 0, false};
    gf_record_span span;
    gf_status st = gf_read_buffer_record(p->in.buffer, scan_row, &scan, p->in.bounds, &span, err);
    if (st != GF_OK) return st;
    parsed->line = p->line;
    p->line += scan.lines;
    parsed->raw = scan.ended ? gf_read_buffer_without_line_end(span.raw) : span.raw;
    if (!span.too_long) return parse_row(p, parsed, err);
    gf_parsed_record_refuse_long(parsed, p->in.max_document);
    return GF_OK;
}

const gf_parser_kind gf_firefox_input_parser = {open_firefox_input, next_row, close_firefox_input};
