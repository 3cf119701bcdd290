#include "cli/output.h"

#include "base/json_writer.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { KEPT_ROWS = 1000, GAP = 2, LEAST_TEXT = 8 };

bool gf_output_format_named(const char *name, gf_output_format *format)
{
    static const char *const names[] = {"table", "plain", "csv", "json", "jsonl"};
    for (size_t i = 0; i < GF_COUNT(names); i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *format = (gf_output_format)i;
        return true;
    }
    return false;
}

/* ---- text on a terminal -----------------------------------------------------------------------
 */

/* Columns of a character; -1 for what must not reach a terminal. */
static int char_width(uint32_t c)
{
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return -1;
    /* Marks that turn the direction of what follows could disguise it. */
    if ((c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069)) return -1;
    int width = wcwidth((wchar_t)c);
    return width < 0 ? 1 : width;
}

unsigned gf_text_width(gf_slice text)
{
    unsigned width = 0;
    for (size_t at = 0; at < text.len;) {
        int w = char_width(gf_utf8_next(text, &at));
        width += w < 0 ? 1 : (unsigned)w;
    }
    return width;
}

/* Control characters become spaces, and runs of those one. */
static void fold(gf_buffer *out, gf_slice text)
{
    bool space = true; /* none at the start */
    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        uint32_t c = gf_utf8_next(text, &at);
        bool is_space = char_width(c) < 0 || c == ' ';
        if (is_space && !space) gf_buffer_byte(out, ' ');
        if (!is_space) gf_buffer_append(out, text.ptr + from, at - from);
        space = is_space;
    }
    if (out->len && out->ptr[out->len - 1] == ' ') out->len--;
}

/* The longest start of the text within so many columns, with an ellipsis where it is cut. */
static void cut(gf_buffer *b, unsigned width)
{
    gf_slice text = gf_buffer_view(b);
    if (width == 0 || gf_text_width(text) <= width) return;
    unsigned used = 1; /* the ellipsis */
    size_t at = 0, end = 0;
    while (at < text.len) {
        int w = char_width(gf_utf8_next(text, &at));
        used += w < 0 ? 1 : (unsigned)w;
        if (used > width) break;
        end = at;
    }
    b->len = end;
    gf_buffer_str(b, "\xE2\x80\xA6");
}

void gf_print_text(FILE *out, gf_slice text, unsigned width)
{
    gf_buffer b = {0};
    fold(&b, text);
    cut(&b, width);
    fwrite(b.ptr ? b.ptr : "", 1, b.len, out);
    gf_buffer_release(&b);
}

/* ---- members of rows --------------------------------------------------------------------------
 */

gf_slice gf_row_text(gf_json_value row, const char *key)
{
    gf_json_value v;
    if (!gf_json_member(row, key, &v) || gf_json_kind_of(v) != GF_JSON_STRING)
        return (gf_slice){"", 0};
    return gf_json_get_string(v);
}

double gf_row_number(gf_json_value row, const char *key)
{
    gf_json_value v;
    return gf_json_member(row, key, &v) && gf_json_is_number(v) ? gf_json_number(v) : 0;
}

bool gf_row_flag(gf_json_value row, const char *key)
{
    gf_json_value v;
    return gf_json_member(row, key, &v) && gf_json_kind_of(v) == GF_JSON_BOOL &&
           gf_json_get_bool(v);
}

void gf_buffer_count(gf_buffer *b, uint64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) gf_buffer_byte(b, ',');
        gf_buffer_byte(b, digits[i]);
    }
}

static void write_terms(gf_buffer *b, gf_json_value terms)
{
    gf_json_iterator it = gf_json_items(terms);
    gf_slice name;
    gf_json_value term;
    for (bool first = true; gf_json_next(&it, &name, &term); first = false) {
        if (!first) gf_buffer_str(b, ", ");
        gf_buffer_slice(b, gf_row_text(term, "term"));
    }
}

/* 2026-11-20T08:00:00.123Z -> 2026-11-20 08:00:00 */
static void write_time(gf_buffer *b, gf_slice iso)
{
    if (iso.len < 19) return;
    gf_buffer_append(b, iso.ptr, 10);
    gf_buffer_byte(b, ' ');
    gf_buffer_append(b, iso.ptr + 11, 8);
}

static void write_readable(gf_buffer *b, gf_json_value v, gf_column_kind kind)
{
    switch (kind) {
    case GF_COLUMN_COUNT:
        gf_buffer_count(b, (uint64_t)gf_json_number(v));
        break;
    case GF_COLUMN_SCORE:
        gf_buffer_format(b, "%.3f", gf_json_number(v));
        break;
    case GF_COLUMN_SHARE:
        gf_buffer_format(b, "%.1f %%", 100 * gf_json_number(v));
        break;
    case GF_COLUMN_SECONDS:
        gf_buffer_format(b, "%.1f s", gf_json_number(v));
        break;
    case GF_COLUMN_TIME:
        write_time(b, gf_json_get_string(v));
        break;
    case GF_COLUMN_MARK:
        if (gf_json_get_bool(v)) gf_buffer_byte(b, '*');
        break;
    default:
        gf_json_write(v, b, NULL);
    }
}

void gf_write_cell(gf_buffer *b, gf_json_value row, const gf_show_column *column, bool readable)
{
    gf_json_value v;
    if (!gf_json_member(row, column->key, &v) || gf_json_kind_of(v) == GF_JSON_NULL) return;
    if (column->kind == GF_COLUMN_TERMS)
        write_terms(b, v);
    else if (gf_json_kind_of(v) == GF_JSON_STRING && !(readable && column->kind == GF_COLUMN_TIME))
        gf_buffer_slice(b, gf_json_get_string(v));
    else if (readable)
        write_readable(b, v, column->kind);
    else
        gf_json_write(v, b, NULL);
}

/* ---- tables -----------------------------------------------------------------------------------
 */

static bool goes_right(gf_column_kind kind)
{
    return kind == GF_COLUMN_COUNT || kind == GF_COLUMN_ID || kind == GF_COLUMN_SCORE ||
           kind == GF_COLUMN_SHARE || kind == GF_COLUMN_SECONDS;
}

static bool may_shrink(gf_column_kind kind)
{
    return kind == GF_COLUMN_TEXT || kind == GF_COLUMN_TERMS || kind == GF_COLUMN_RAW;
}

static void print_cell(gf_output *o, gf_slice text, size_t column, bool last)
{
    const gf_show_column *c = &o->command->columns[column];
    unsigned room = o->widths[column];
    gf_buffer_reset(&o->cell);
    gf_buffer_slice(&o->cell, text);
    if (o->width) cut(&o->cell, room);
    unsigned width = gf_text_width(gf_buffer_view(&o->cell));
    int pad = width < room ? (int)(room - width) : 0;
    if (goes_right(c->kind)) fprintf(o->out, "%*s", pad, "");
    fwrite(o->cell.ptr ? o->cell.ptr : "", 1, o->cell.len, o->out);
    if (!goes_right(c->kind) && !last) fprintf(o->out, "%*s", pad, "");
    fprintf(o->out, "%s", last ? "\n" : "  ");
}

static size_t last_shown(const gf_output *o)
{
    size_t last = 0;
    for (size_t c = 0; c < o->command->n_columns; c++)
        if (o->command->columns[c].header) last = c;
    return last;
}

static void print_cells(gf_output *o, const gf_slice *cells)
{
    size_t last = last_shown(o);
    for (size_t c = 0; c < o->command->n_columns; c++)
        if (o->command->columns[c].header) print_cell(o, cells[c], c, c == last);
}

/* Give up columns of texts, the widest first, until the table fits. */
static void shrink(gf_output *o)
{
    const gf_command *cmd = o->command;
    for (;;) {
        unsigned total = 0;
        size_t widest = SIZE_MAX;
        for (size_t c = 0; c < cmd->n_columns; c++) {
            if (!cmd->columns[c].header) continue;
            total += o->widths[c] + (total ? GAP : 0);
            if (may_shrink(cmd->columns[c].kind) && o->widths[c] > LEAST_TEXT &&
                (widest == SIZE_MAX || o->widths[c] > o->widths[widest]))
                widest = c;
        }
        if (total <= o->width || widest == SIZE_MAX) return;
        o->widths[widest]--;
    }
}

static gf_status print_kept(gf_output *o, gf_error *err)
{
    const gf_command *cmd = o->command;
    o->widths = gf_calloc(cmd->n_columns, sizeof *o->widths);
    gf_slice *headers = gf_calloc(cmd->n_columns, sizeof *headers);
    if (!o->widths || !headers) {
        gf_free(headers);
        return gf_fail_memory(err, "a table");
    }
    for (size_t c = 0; c < cmd->n_columns; c++) {
        headers[c] = gf_slice_str(cmd->columns[c].header);
        o->widths[c] = gf_text_width(headers[c]);
        for (size_t r = 0; r < o->n_kept; r++) {
            unsigned width = gf_text_width(o->cells[r * cmd->n_columns + c]);
            if (width > o->widths[c]) o->widths[c] = width;
        }
    }
    if (o->width) shrink(o);
    if (o->n_kept) print_cells(o, headers);
    for (size_t r = 0; r < o->n_kept; r++)
        print_cells(o, o->cells + r * cmd->n_columns);
    gf_free(headers);
    return GF_OK;
}

static gf_status keep_row(gf_output *o, const gf_slice *cells, gf_error *err)
{
    size_t n = o->command->n_columns;
    if (o->n_kept == o->capacity) {
        size_t capacity = o->capacity ? o->capacity * 2 : 64;
        gf_slice *grown = gf_realloc(o->cells, capacity * n, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "a table");
        o->cells = grown;
        o->capacity = capacity;
    }
    memcpy(o->cells + o->n_kept++ * n, cells, n * sizeof *cells);
    return o->n_kept == KEPT_ROWS ? print_kept(o, err) : GF_OK;
}

static gf_status table_row(gf_output *o, gf_json_value row, gf_error *err)
{
    enum { MOST_COLUMNS = 16 };
    gf_slice cells[MOST_COLUMNS];
    gf_buffer folded = {0};
    size_t n = o->command->n_columns;
    if (o->widths) gf_arena_reset(&o->memory);
    gf_status st = GF_OK;
    for (size_t c = 0; c < n && st == GF_OK; c++) {
        gf_buffer_reset(&o->cell);
        gf_buffer_reset(&folded);
        gf_write_cell(&o->cell, row, &o->command->columns[c], true);
        fold(&folded, gf_buffer_view(&o->cell));
        st = gf_buffer_check(&folded, err);
        cells[c] = gf_arena_copy(&o->memory, gf_buffer_view(&folded));
        if (!cells[c].ptr) st = gf_fail_memory(err, "a table");
    }
    gf_buffer_release(&folded);
    if (st != GF_OK) return st;
    if (!o->widths) return keep_row(o, cells, err);
    print_cells(o, cells);
    return GF_OK;
}

/* ---- csv and plain ----------------------------------------------------------------------------
 */

static void csv_cell(gf_output *o, gf_slice text)
{
    bool quotes = false;
    for (size_t i = 0; i < text.len && !quotes; i++)
        quotes = strchr(",\"\r\n", text.ptr[i]) != NULL;
    if (!quotes) {
        fwrite(text.ptr ? text.ptr : "", 1, text.len, o->out);
        return;
    }
    fputc('"', o->out);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"') fputc('"', o->out);
        fputc(text.ptr[i], o->out);
    }
    fputc('"', o->out);
}

static void csv_header(gf_output *o)
{
    for (size_t c = 0; c < o->command->n_columns; c++) {
        if (c) fputc(',', o->out);
        csv_cell(o, gf_slice_str(o->command->columns[c].key));
    }
    fputs("\r\n", o->out);
}

static void csv_row(gf_output *o, gf_json_value row)
{
    if (o->n_rows == 0) csv_header(o);
    for (size_t c = 0; c < o->command->n_columns; c++) {
        gf_buffer_reset(&o->cell);
        gf_write_cell(&o->cell, row, &o->command->columns[c], false);
        if (c) fputc(',', o->out);
        csv_cell(o, gf_buffer_view(&o->cell));
    }
    fputs("\r\n", o->out);
}

static void plain_row(gf_output *o, gf_json_value row)
{
    for (size_t c = 0; c < o->command->n_columns; c++) {
        gf_buffer_reset(&o->cell);
        gf_write_cell(&o->cell, row, &o->command->columns[c], false);
        if (c) fputc('\t', o->out);
        gf_print_text(o->out, gf_buffer_view(&o->cell), 0);
    }
    fputc('\n', o->out);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static unsigned terminal_width(FILE *out)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (!isatty(fileno(out))) return 0;
    if (columns && atoi(columns) > 0) return (unsigned)atoi(columns);
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col) return size.ws_col;
    return 80;
}

gf_status gf_output_init(gf_output *o, gf_output_format format, const gf_command *command,
                         gf_session *session, FILE *out, gf_error *err)
{
    *o = (gf_output){.format = format, .command = command, .session = session, .out = out};
    o->width = terminal_width(out);
    return gf_json_parser_create(&o->parser, err);
}

void gf_output_release(gf_output *o)
{
    gf_json_parser_free(o->parser);
    gf_buffer_release(&o->cell);
    gf_arena_release(&o->memory);
    gf_free(o->cells);
    gf_free(o->widths);
    *o = (gf_output){0};
}

static gf_status check_written(gf_output *o, gf_error *err)
{
    if (!ferror(o->out)) return GF_OK;
    if (errno == EPIPE) return gf_fail(err, GF_ECANCELLED, "nobody reads any more");
    return gf_fail_errno(err, "cannot write the output");
}

static gf_status json_row(gf_output *o, gf_slice row)
{
    bool array = o->format == GF_JSON && !o->command->single;
    if (array) fputs(o->n_rows ? ",\n " : "[", o->out);
    fwrite(row.ptr, 1, row.len, o->out);
    if (!array) fputc('\n', o->out);
    return GF_OK;
}

static gf_status parsed_row(gf_output *o, gf_slice text, gf_error *err)
{
    gf_json_value row;
    gf_status st = gf_json_parse_copy(o->parser, text, &row, err);
    if (st != GF_OK) return st;
    if (o->format == GF_CSV)
        csv_row(o, row);
    else if (o->format == GF_PLAIN_ROWS && o->command->n_columns)
        plain_row(o, row);
    else if (o->command->show)
        o->command->show(o->session, row);
    else
        return table_row(o, row, err);
    return GF_OK;
}

gf_status gf_output_row(gf_output *o, gf_slice row, gf_error *err)
{
    bool json = o->format == GF_JSON || o->format == GF_JSONL;
    gf_status st = json ? json_row(o, row) : parsed_row(o, row, err);
    o->n_rows++;
    return st == GF_OK ? check_written(o, err) : st;
}

gf_status gf_output_end(gf_output *o, gf_error *err)
{
    gf_status st = GF_OK;
    if (o->format == GF_JSON && !o->command->single) fputs(o->n_rows ? "]\n" : "[]\n", o->out);
    if (o->format == GF_CSV && o->n_rows == 0) csv_header(o);
    if (o->format == GF_TABLE && !o->command->show && !o->widths) st = print_kept(o, err);
    if (st == GF_OK && fflush(o->out) != 0 && errno != EPIPE)
        st = gf_fail_errno(err, "cannot write the output");
    return st == GF_OK ? check_written(o, err) : st;
}
