/*
 * A sheet of a workbook as a format of records: the first row that is not empty is the header, each
 * further one a record, as in the CSV that a spreadsheet would save.
 *
 *     part of the sheet -> gf_xml_stream -> rows of cells that wait -> text cells -> record
 *                          a piece          as they are in the file    values
 *
 *     waiting  | row number | cells | column | type | style | value | column | ...
 *                  varint    varint   varint   varint  varint  string
 *
 * A piece of XML may hold many rows, and a cell of 20 bytes may stand for a text of megabytes: rows
 * wait as they are written, and texts are looked up when it is their turn. A row's XML, and its
 * values, have as many bytes as a record may have.
 */
#include "formats/workbook/workbook_internal.h"

#include "base/memory.h"
#include "base/number.h"
#include "formats/text/csv.h"
#include "formats/text/text_cells_internal.h"
#include "formats/workbook/workbook_cell.h"

enum { MOST_COLUMNS = 16384 /* XFD */ };

typedef enum cell_type {
    CELL_NUMBER,
    CELL_SHARED, /* the number of a shared text */
    CELL_TEXT,   /* of a formula, or in the cell itself */
    CELL_BOOL,
    CELL_DATE, /* ISO 8601 */
    CELL_ERROR /* #N/A: nothing */
} cell_type;

typedef struct sheet {
    gf_parse_context in;
    gf_workbook book;
    gf_xml_stream xml;
    bool is_open, has_header, at_end, is_damaged;
    gf_error failure; /* of an event */

    gf_buffer waiting; /* whole rows from `given` on, and the beginning of one */
    size_t given, whole;

    /* The row and the cell that the XML is in. */
    bool in_row, in_cell, in_value;
    unsigned phonetic;
    uint64_t row, n_cells, column;
    bool is_long; /* the row has more bytes than a record may have */
    gf_buffer cells;
    cell_type type;
    uint64_t style;
    gf_buffer value;

    gf_buffer shared;
    gf_text_cells out;
    gf_buffer raw; /* of a row: as CSV */
} sheet;

/* ---- the sheet's XML -------------------------------------------------------------------------- */

static void fail_sheet(sheet *s, gf_status st)
{
    s->failure.status = st;
    gf_xml_stream_stop(&s->xml);
}

static void damage_sheet(sheet *s, const char *what)
{
    fail_sheet(s, gf_fail(&s->failure, GF_ECORRUPT, "a workbook that is damaged: %s", what));
}

/* "BC17": column 54, from 0 on; false where there are no letters. */
static bool read_column(gf_slice reference, uint64_t *column)
{
    uint64_t v = 0;
    size_t i = 0;
    for (; i < reference.len && i < 4; i++) {
        char c = (char)(reference.ptr[i] & ~0x20);
        if (c < 'A' || c > 'Z') break;
        v = v * 26 + (uint64_t)(c - 'A' + 1);
    }
    *column = v - 1;
    return i > 0;
}

static cell_type type_of(gf_slice t)
{
    if (gf_slice_equal(t, GF_SLICE("s"))) return CELL_SHARED;
    if (gf_slice_equal(t, GF_SLICE("str")) || gf_slice_equal(t, GF_SLICE("inlineStr")))
        return CELL_TEXT;
    if (gf_slice_equal(t, GF_SLICE("b"))) return CELL_BOOL;
    if (gf_slice_equal(t, GF_SLICE("d"))) return CELL_DATE;
    return gf_slice_equal(t, GF_SLICE("e")) ? CELL_ERROR : CELL_NUMBER;
}

static void start_row(sheet *s, const gf_xml_attributes *a)
{
    uint64_t number;
    s->row++;
    if (gf_number_read(gf_xml_stream_attribute(a, "r"), &number)) s->row = number;
    s->in_row = true;
    s->is_long = false;
    s->n_cells = s->column = 0;
    gf_buffer_reset(&s->cells);
}

static void start_cell(sheet *s, const gf_xml_attributes *a)
{
    uint64_t column = s->column;
    gf_slice reference = gf_xml_stream_attribute(a, "r");
    if (reference.len && !read_column(reference, &column)) {
        damage_sheet(s, "a cell without a column");
        return;
    }
    if (column < s->column || column >= MOST_COLUMNS) {
        damage_sheet(s, column < s->column ? "cells that are not in order" : "a cell beyond XFD");
        return;
    }
    s->column = column;
    s->style = 0;
    gf_number_read(gf_xml_stream_attribute(a, "s"), &s->style);
    s->type = type_of(gf_xml_stream_attribute(a, "t"));
    s->in_cell = true;
    s->phonetic = 0;
    gf_buffer_reset(&s->value);
}

static void start_element(void *context, const char *name, const char *space,
                          const gf_xml_attributes *a)
{
    sheet *s = context;
    (void)space;
    if (s->failure.status != GF_OK) return;
    if (strcmp(name, "row") == 0 && !s->in_row)
        start_row(s, a);
    else if (strcmp(name, "c") == 0 && s->in_row && !s->in_cell)
        start_cell(s, a);
    else if (strcmp(name, "rPh") == 0)
        s->phonetic++;
    else if (s->in_cell && (strcmp(name, "v") == 0 || strcmp(name, "t") == 0))
        s->in_value = !s->phonetic;
}

static void end_cell(sheet *s)
{
    s->in_cell = false;
    if (s->value.len && s->type != CELL_ERROR && !s->is_long) {
        gf_buffer_varint(&s->cells, s->column);
        gf_buffer_varint(&s->cells, s->type);
        gf_buffer_varint(&s->cells, s->style);
        gf_buffer_string(&s->cells, gf_buffer_view(&s->value));
        s->n_cells++;
    }
    s->column++;
    s->is_long |= s->cells.len > s->in.bounds.most;
}

/* A row without values is none. */
static void end_row(sheet *s)
{
    s->in_row = false;
    if (s->n_cells == 0 && !s->is_long) return;
    gf_buffer_varint(&s->waiting, s->row);
    gf_buffer_varint(&s->waiting, s->is_long ? 0 : s->n_cells);
    if (!s->is_long) gf_buffer_slice(&s->waiting, gf_buffer_view(&s->cells));
    gf_status st = gf_buffer_check(&s->waiting, &s->failure);
    if (st == GF_OK) st = gf_buffer_check(&s->cells, &s->failure);
    if (st == GF_OK)
        s->whole = s->waiting.len; /* a row of which a part is missing is none */
    else
        fail_sheet(s, st);
}

static void end_element(void *context, const char *name, const char *space)
{
    sheet *s = context;
    (void)space;
    if (s->failure.status != GF_OK) return;
    if (strcmp(name, "v") == 0 || strcmp(name, "t") == 0) s->in_value = false;
    if (strcmp(name, "rPh") == 0 && s->phonetic) s->phonetic--;
    if (strcmp(name, "c") == 0 && s->in_cell) end_cell(s);
    if (strcmp(name, "row") == 0 && s->in_row) end_row(s);
}

static void add_characters(void *context, gf_slice text)
{
    sheet *s = context;
    if (!s->in_value || s->is_long || s->failure.status != GF_OK) return;
    gf_buffer_slice(&s->value, text);
    s->is_long = s->value.len > s->in.bounds.most;
    gf_status st = gf_buffer_check(&s->value, &s->failure);
    if (st != GF_OK) fail_sheet(s, st);
}

static const gf_xml_events sheet_events = {start_element, end_element, add_characters};

/* Parse a piece of the sheet. */
static gf_status parse_piece(sheet *s, gf_error *err)
{
    char piece[GF_XML_STREAM_TAG];
    size_t n;
    gf_buffer_reset(&s->waiting);
    s->given = s->whole = 0;
    gf_status st = gf_workbook_read_part(&s->book, piece, sizeof piece, &n, err);
    if (st != GF_OK) return st;
    s->at_end = n == 0;
    bool is_good =
        n ? gf_xml_stream_feed(&s->xml, gf_slice_of(piece, n)) : gf_xml_stream_end(&s->xml);
    if (s->failure.status != GF_OK) {
        if (err) *err = s->failure;
        return s->failure.status;
    }
    if (is_good) return GF_OK;
    if (s->xml.out_of_memory) return gf_fail_memory(err, "a workbook");
    return gf_fail(err, GF_ECORRUPT, "a workbook that is damaged%s",
                   s->xml.is_unsafe ? ", or made to harm: it declares entities" : "");
}

/* ---- values ----------------------------------------------------------------------------------- */

static gf_status append_value(sheet *s, uint64_t type, uint64_t style, gf_slice value,
                              gf_error *err)
{
    gf_buffer *to = &s->out.bytes;
    uint64_t number;
    switch (type) {
    case CELL_SHARED:
        if (!gf_number_read(value, &number))
            return gf_fail(err, GF_ECORRUPT, "a workbook that is damaged: a text without a number");
        gf_buffer_reset(&s->shared);
        gf_status st = gf_workbook_append_string(&s->book, number, &s->shared, err);
        if (st != GF_OK) return st;
        gf_workbook_cell_append_text(to, gf_buffer_view(&s->shared));
        return GF_OK;
    case CELL_TEXT:
        gf_workbook_cell_append_text(to, value);
        return GF_OK;
    case CELL_BOOL:
        gf_buffer_str(to, gf_slice_equal(value, GF_SLICE("0")) ||
                                  gf_slice_equal(value, GF_SLICE("false"))
                              ? "FALSE"
                              : "TRUE");
        return GF_OK;
    case CELL_NUMBER:
        gf_workbook_cell_append_number(
            to, value, style < s->book.n_formats ? s->book.formats[style] : 0, s->book.from_1904);
        return GF_OK;
    default:
        gf_buffer_slice(to, value);
        return GF_OK;
    }
}

static void end_cells(sheet *s, uint64_t n)
{
    while (s->out.n < n && !s->out.out_of_memory)
        gf_text_cells_end(&s->out);
}

static gf_status make_raw(sheet *s, gf_parsed_record *parsed, gf_error *err)
{
    gf_buffer_reset(&s->raw);
    for (size_t i = 0; i < s->out.n; i++) {
        if (i) gf_buffer_byte(&s->raw, ',');
        gf_csv_write_cell(&s->raw, gf_text_cells_at(&s->out, i), GF_CSV_AS_NEEDED);
    }
    parsed->raw = gf_buffer_view(&s->raw);
    if (parsed->raw.len > s->in.bounds.kept) parsed->raw.len = s->in.bounds.kept;
    return gf_buffer_check(&s->raw, err);
}

/* The next row that waits becomes the row of s->out. */
static gf_status take_row(sheet *s, gf_parsed_record *parsed, gf_error *err)
{
    gf_slice rest = gf_slice_of(s->waiting.ptr + s->given, s->whole - s->given), value;
    uint64_t n = 0, column, type, style;
    gf_text_cells_reset(&s->out);
    gf_slice_take_varint(&rest, &parsed->line);
    gf_slice_take_varint(&rest, &n);
    bool is_long = n == 0;
    for (uint64_t i = 0; i < n; i++) {
        gf_slice_take_varint(&rest, &column);
        gf_slice_take_varint(&rest, &type);
        gf_slice_take_varint(&rest, &style);
        gf_slice_take_string(&rest, &value);
        is_long |= s->out.bytes.len > s->in.bounds.most;
        if (is_long) continue;
        end_cells(s, column);
        gf_status st = append_value(s, type, style, value, err);
        if (st != GF_OK) return st;
        gf_text_cells_end(&s->out);
    }
    s->given = s->whole - rest.len;
    is_long |= s->out.bytes.len > s->in.bounds.most;
    if (is_long) {
        gf_parsed_record_refuse_long(parsed, s->in.max_document);
        return GF_OK;
    }
    end_cells(s, s->out.n_members);
    gf_status st = gf_text_cells_check(&s->out, err);
    return st == GF_OK ? make_raw(s, parsed, err) : st;
}

static gf_status read_row(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    sheet *s = parser;
    while (s->given == s->whole) {
        if (s->at_end) return GF_ENOTFOUND;
        gf_status st = parse_piece(s, err);
        if (st != GF_OK && s->given == s->whole) return st;
        if (st != GF_OK) { /* rows before the damage are given first */
            s->failure = err ? *err : (gf_error){.status = st};
            s->at_end = true;
        }
    }
    return take_row(s, parsed, err);
}

/* ---- the parser ------------------------------------------------------------------------------- */

static gf_status open_workbook(const gf_parse_context *context, void **parser, gf_error *err)
{
    gf_status st = gf_library_load(&gf_archive, err);
    if (st == GF_OK) st = gf_library_load(&gf_xml, err);
    if (st != GF_OK) return st;
    sheet *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a reader");
    s->in = *context;
    s->book.input = context->input;
    s->book.name = context->name;
    s->book.most = context->bounds.kept;
    *parser = s;
    return GF_OK;
}

static void close_workbook(void *parser)
{
    sheet *s = parser;
    gf_xml_stream_release(&s->xml);
    gf_workbook_release(&s->book);
    gf_buffer_release(&s->waiting);
    gf_buffer_release(&s->cells);
    gf_buffer_release(&s->value);
    gf_buffer_release(&s->shared);
    gf_buffer_release(&s->raw);
    gf_text_cells_release(&s->out);
    gf_free(s);
}

/* One of several sheets is read, which is said. */
static gf_status tell_sheet(const sheet *s, size_t at, gf_error *err)
{
    size_t visible = 0;
    for (size_t i = 0; i < s->book.n_sheets; i++)
        visible += !s->book.sheets[i].is_hidden;
    if (visible < 2 || s->in.sheet.len || !s->in.remark) return GF_OK;
    gf_buffer message = {0};
    gf_buffer_format(
        &message, "the sheet \"%s\" is read; --sheet says another of: ", s->book.sheets[at].name);
    gf_workbook_append_names(&s->book, &message);
    const char *text = gf_buffer_cstr(&message);
    gf_status st = gf_buffer_check(&message, err);
    if (st == GF_OK) s->in.remark(s->in.remark_context, "sheets", s->in.name, text);
    gf_buffer_release(&message);
    return st;
}

static gf_status open_sheet(sheet *s, gf_error *err)
{
    size_t at = 0;
    gf_status st = gf_workbook_read(&s->book, s->in.buffer, err);
    if (st == GF_OK) st = gf_workbook_open_sheet(&s->book, s->in.sheet, &at, err);
    if (st == GF_OK) st = tell_sheet(s, at, err);
    if (st == GF_OK) st = gf_xml_stream_open(&s->xml, &sheet_events, s, err);
    s->is_open = true;
    return st;
}

static gf_status next_in_sheet(sheet *s, gf_parsed_record *parsed, gf_error *err)
{
    gf_status st = s->is_open ? GF_OK : open_sheet(s, err);
    if (st == GF_OK && !s->has_header) {
        st = gf_text_cells_read_header(&s->out, s->in.name, read_row, s, err);
        s->has_header = true;
    }
    if (st == GF_OK) st = gf_text_cells_next(&s->out, read_row, s, parsed, err);
    if (st != GF_ENOTFOUND || s->failure.status == GF_OK) return st;
    if (err) *err = s->failure;
    return s->failure.status;
}

/* Damage is one refused record, behind the rows before it. */
static gf_status next_row(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    sheet *s = parser;
    gf_error why = {GF_OK, ""};
    if (s->is_damaged) return GF_ENOTFOUND;
    gf_status st = next_in_sheet(s, parsed, &why);
    if (st == GF_ECORRUPT) {
        s->is_damaged = true;
        parsed->line = 0;
        gf_parsed_record_refuse(parsed, "not_text", "%s", why.message);
        return GF_OK;
    }
    if (st != GF_OK && err) *err = why;
    return st;
}

const gf_parser_kind gf_workbook_parser = {open_workbook, next_row, close_workbook};
