/*
 * CSV for users' tables: a header, then a row each.
 *
 *     id,info:name,info:age,friend:u2
 *     u1,Ann,34,close
 *     u2,"",,                            an empty name; no age, no friend
 *
 * Columns are the parts of the key by their names, then cells as FAMILY:COLUMN, in the text form of
 * their type. A cell that is empty in quotes is an empty cell, without them there is none. Blanks
 * count. CSV has no more than text: bytes that are not of their type cannot be given in it.
 */
#include "api/tables/input.h"

#include "base/memory.h"
#include "formats/text/csv.h"

enum { MOST_COLUMNS = 4096, MOST_PARTS = 8, MOST_ROW = 256 << 20 };

static void write_cell(gf_buffer *csv, gf_slice text, unsigned style)
{
    /* An empty cell is not an absent one. */
    gf_csv_write_cell(csv, text, style | (text.len ? GF_CSV_AS_NEEDED : GF_CSV_QUOTED));
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct csv_column {
    int part; /* of the key, or -1 */
    unsigned family;
    gf_slice qualifier;
    gf_type type;
} csv_column;

struct gf_table_csv {
    const gf_user_table *table;
    gf_csv_reader *reader;
    gf_csv_row row; /* at hand */
    gf_arena memory;
    csv_column *columns; /* n_columns */
    size_t n_columns;
    gf_buffer value;
    gf_buffer header;  /* its line, until it was handed on with a refused row */
    gf_buffer refused; /* lines for the keeper of refused rows */
};

static gf_status read_column(gf_table_csv *r, gf_slice name, csv_column *c, gf_error *err)
{
    const gf_user_table *t = r->table;
    const gf_schema *s = gf_user_table_schema(t);
    c->part = -1;
    for (unsigned p = 0; p < s->n_parts; p++)
        if (gf_slice_equal(name, gf_slice_str(s->parts[p].name))) c->part = (int)p;
    if (c->part >= 0) return GF_OK;
    gf_buffer_reset(&r->value);
    gf_status st = gf_user_table_find_column(t, name, &c->family, &r->value, NULL, err);
    if (st != GF_OK) {
        gf_error_prefix(err, "%.*s, column \"%.*s\"", GF_SLICE_ARG(r->row.source),
                        (int)(name.len < 99 ? name.len : 99), name.ptr ? name.ptr : "");
        return st;
    }
    c->qualifier = gf_arena_copy(&r->memory, gf_buffer_view(&r->value));
    if (!c->qualifier.ptr) return gf_fail_memory(err, "a header");
    c->type = gf_user_table_cell_type(t, c->family, c->qualifier);
    return GF_OK;
}

/* The row at hand as a line of CSV. */
static void write_line(const gf_table_csv *r, gf_buffer *csv)
{
    for (size_t i = 0; i < r->row.n; i++) {
        if (i) gf_buffer_byte(csv, ',');
        if (!r->row.cells[i].is_absent) write_cell(csv, r->row.cells[i].text, GF_CSV_AS_NEEDED);
    }
    gf_buffer_str(csv, "\n");
}

/* Two columns for one cell: which of them counts would be a guess. */
static gf_status check_column(const gf_table_csv *r, const csv_column *c, gf_error *err)
{
    for (const csv_column *other = r->columns; other < c; other++) {
        if (c->part >= 0 || other->part >= 0 || other->family != c->family ||
            !gf_slice_equal(other->qualifier, c->qualifier))
            continue;
        gf_slice name = r->row.cells[c - r->columns].text;
        return gf_fail(err, GF_EINVAL, "%.*s: two columns are called \"%.*s\"",
                       GF_SLICE_ARG(r->row.source), (int)(name.len < 99 ? name.len : 99), name.ptr);
    }
    return GF_OK;
}

static gf_status read_header(gf_table_csv *r, gf_error *err)
{
    unsigned parts = 0, n_parts = gf_user_table_schema(r->table)->n_parts;
    gf_free(r->columns);
    gf_arena_reset(&r->memory);
    r->n_columns = 0;
    r->columns = gf_calloc(r->row.n, sizeof *r->columns);
    if (!r->columns) return gf_fail_memory(err, "a header");
    for (; r->n_columns < r->row.n; r->n_columns++) {
        csv_column *c = &r->columns[r->n_columns];
        gf_status st = read_column(r, r->row.cells[r->n_columns].text, c, err);
        if (st == GF_OK) st = check_column(r, c, err);
        if (st != GF_OK) return st;
        for (size_t i = 0; i < r->n_columns && c->part >= 0; i++)
            if (r->columns[i].part == c->part) parts = 99;
        parts += c->part >= 0;
    }
    if (parts != n_parts)
        return gf_fail(err, GF_EINVAL, "%.*s: the header has not each part of the key once",
                       GF_SLICE_ARG(r->row.source));
    gf_buffer_reset(&r->header);
    write_line(r, &r->header);
    return gf_buffer_check(&r->header, err);
}

static gf_status put_cells(gf_table_csv *r, gf_table_call *c, gf_batch *batch, gf_error *err)
{
    for (size_t i = 0; i < r->row.n; i++) {
        const csv_column *column = &r->columns[i];
        if (column->part >= 0 || r->row.cells[i].is_absent) continue;
        gf_buffer_reset(&r->value);
        gf_status st =
            gf_user_table_value_write(column->type, r->row.cells[i].text, &r->value, err);
        if (st == GF_EINVAL) gf_error_prefix(err, "%.*s", GF_SLICE_ARG(column->qualifier));
        if (st != GF_OK) return st;
        gf_batch_put(batch, gf_user_table_rows(c->table), gf_buffer_view(&c->key), column->family,
                     column->qualifier, gf_buffer_view(&r->value), 0);
    }
    return GF_OK;
}

gf_status gf_table_csv_put(gf_table_csv *r, gf_table_call *c, gf_batch *batch, gf_error *err)
{
    gf_slice parts[MOST_PARTS] = {{0}};
    if (r->row.n != r->n_columns)
        return gf_fail(err, GF_EINVAL, "%zu columns, not %zu as the header has", r->row.n,
                       r->n_columns);
    for (size_t i = 0; i < r->row.n; i++)
        if (r->columns[i].part >= 0) parts[r->columns[i].part] = r->row.cells[i].text;
    gf_buffer_reset(&c->key);
    gf_status st = gf_user_table_key_write(c->table, parts, gf_user_table_schema(c->table)->n_parts,
                                           &c->key, err);
    return st == GF_OK ? put_cells(r, c, batch, err) : st;
}

gf_status gf_table_csv_line(gf_table_csv *r, gf_slice *line, gf_error *err)
{
    gf_buffer_reset(&r->refused);
    gf_buffer_slice(&r->refused, gf_buffer_view(&r->header));
    write_line(r, &r->refused);
    gf_buffer_reset(&r->header);
    *line = gf_buffer_view(&r->refused);
    return gf_buffer_check(&r->refused, err);
}

gf_status gf_table_csv_next(gf_table_csv *r, gf_record *record, gf_error *err)
{
    gf_status st;
    while ((st = gf_csv_reader_next(r->reader, &r->row, err)) == GF_OK && r->row.number == 1) {
        st = read_header(r, err);
        if (st != GF_OK) return st;
    }
    if (st == GF_OK) *record = (gf_record){.source = r->row.source, .line = r->row.number};
    return st;
}

gf_status gf_table_csv_open(gf_call *call, const gf_user_table *table, gf_table_csv **csv,
                            gf_error *err)
{
    if (!call->input.next) return gf_fail(err, GF_EINVAL, "there is no input");
    gf_table_csv *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "a reader");
    r->table = table;
    gf_decoding_options decoding = gf_records_decoding(call);
    gf_status st =
        gf_csv_reader_open(&call->input, MOST_ROW, MOST_COLUMNS, &decoding, &r->reader, err);
    if (st == GF_OK)
        *csv = r;
    else
        gf_free(r);
    return st;
}

void gf_table_csv_close(gf_table_csv *r)
{
    if (!r) return;
    gf_csv_reader_close(r->reader);
    gf_free(r->columns);
    gf_buffer_release(&r->value);
    gf_buffer_release(&r->header);
    gf_buffer_release(&r->refused);
    gf_arena_release(&r->memory);
    gf_free(r);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_header(gf_table_call *c, uint32_t families, unsigned style, gf_buffer *csv)
{
    const gf_schema *s = gf_user_table_schema(c->table);
    for (unsigned p = 0; p < s->n_parts; p++) {
        if (p) gf_buffer_byte(csv, ',');
        write_cell(csv, gf_slice_str(s->parts[p].name), style);
    }
    for (unsigned f = 0; f < s->n_families; f++)
        for (const char *const *n = s->families[f].columns; n && *n && families >> f & 1; n++) {
            gf_buffer_reset(&c->text);
            gf_buffer_format(&c->text, "%s:%s", s->families[f].name, *n);
            gf_buffer_byte(csv, ',');
            write_cell(csv, gf_buffer_view(&c->text), style);
        }
}

static gf_status write_value(gf_table_call *c, const gf_cell *cell, unsigned style, gf_buffer *csv,
                             gf_error *err)
{
    gf_buffer_reset(&c->text);
    if (!gf_user_table_value_print(gf_user_table_cell_type(c->table, cell->family, cell->qualifier),
                                   cell->value, &c->text))
        return gf_fail(err, GF_EINVAL,
                       "column %.*s: a value is not of its type: only JSON Lines can give it",
                       GF_SLICE_ARG(cell->qualifier));
    write_cell(csv, gf_buffer_view(&c->text), style);
    return gf_buffer_check(&c->text, err);
}

static gf_status write_row(gf_table_call *c, const gf_row *row, uint32_t families, unsigned style,
                           gf_buffer *csv, gf_error *err)
{
    const gf_schema *s = gf_user_table_schema(c->table);
    gf_slice key = row->key;
    gf_status st = GF_OK;
    for (unsigned p = 0; p < s->n_parts && st == GF_OK; p++) {
        gf_buffer_reset(&c->text);
        st = gf_user_table_key_take(c->table, p, &key, &c->text, err);
        if (p) gf_buffer_byte(csv, ',');
        write_cell(csv, gf_buffer_view(&c->text), style);
    }
    for (unsigned f = 0; f < s->n_families; f++)
        for (const char *const *n = s->families[f].columns; n && *n && families >> f & 1; n++) {
            const gf_cell *cell = gf_row_find(row, f, *n);
            gf_buffer_byte(csv, ',');
            if (cell && st == GF_OK) st = write_value(c, cell, style, csv, err);
        }
    return st;
}

gf_status gf_table_export_csv(gf_table_call *c, const gf_row *row, uint32_t families,
                              gf_buffer *csv, gf_error *err)
{
    bool sheet = gf_call_flag(c->call, "spreadsheet");
    bool defused = sheet && !gf_call_flag(c->call, "no-defuse");
    unsigned style = defused ? GF_CSV_SPREADSHEET : GF_CSV_AS_NEEDED;
    if (sheet && !row) gf_buffer_str(csv, GF_CSV_MARK);
    gf_status st = GF_OK;
    if (row)
        st = write_row(c, row, families, style, csv, err);
    else
        write_header(c, families, style, csv);
    gf_buffer_str(csv, "\r\n");
    return st == GF_OK ? gf_buffer_check(csv, err) : st;
}
