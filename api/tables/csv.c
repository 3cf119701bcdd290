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
#include "formats/unpacked.h"

#include <csv.h>

enum { MOST_COLUMNS = 4096, MOST_PARTS = 8, MOST_CELL = 256 << 20 };

static void write_cell(gf_buffer *csv, gf_slice text)
{
    bool quotes = text.len == 0; /* empty, and not absent */
    for (size_t i = 0; i < text.len && !quotes; i++)
        quotes = strchr(",\"\r\n", text.ptr[i]) != NULL;
    if (!quotes) {
        gf_buffer_slice(csv, text);
        return;
    }
    gf_buffer_byte(csv, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"') gf_buffer_byte(csv, '"');
        gf_buffer_byte(csv, text.ptr[i]);
    }
    gf_buffer_byte(csv, '"');
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct csv_column {
    int part; /* of the key, or -1 */
    unsigned family;
    gf_slice qualifier;
    gf_type type;
} csv_column;

typedef struct csv_cell {
    size_t start, len;
    bool absent;
} csv_cell;

typedef struct csv_reading {
    gf_table_import *import;
    struct csv_parser csv;
    gf_slice source;
    uint64_t row;
    gf_arena memory;
    csv_column *columns; /* n_columns; none yet: the row is the header */
    size_t n_columns;
    csv_cell *cells; /* n of capacity: of the row at hand */
    size_t n, capacity;
    gf_buffer bytes, value;
    gf_buffer header, refused; /* lines for whoever keeps what is refused; the header until then */
    gf_status status;          /* what ended it */
    gf_error *err;
} csv_reading;

static int no_blank(unsigned char c)
{
    (void)c;
    return 0;
}

static void end_cell(void *bytes, size_t n, void *context)
{
    csv_reading *r = context;
    if (r->status != GF_OK) return;
    if (r->n == r->capacity) {
        size_t capacity = r->capacity ? r->capacity * 2 : 64;
        csv_cell *cells =
            r->n < MOST_COLUMNS ? gf_realloc(r->cells, capacity, sizeof *cells) : NULL;
        if (!cells) {
            r->status = r->n < MOST_COLUMNS
                            ? gf_fail_memory(r->err, "a row")
                            : gf_fail(r->err, GF_ELIMIT, "%.*s: a row of more than %d columns",
                                      GF_SLICE_ARG(r->source), MOST_COLUMNS);
            return;
        }
        r->cells = cells;
        r->capacity = capacity;
    }
    r->cells[r->n++] = (csv_cell){r->bytes.len, n, bytes == NULL};
    gf_buffer_slice(&r->bytes, gf_slice_of(bytes, n));
}

static gf_slice text_of(const csv_reading *r, size_t cell)
{
    return gf_slice_of(r->bytes.ptr ? r->bytes.ptr + r->cells[cell].start : NULL,
                       r->cells[cell].len);
}

static gf_status read_column(csv_reading *r, gf_slice name, csv_column *c)
{
    const gf_user_table *t = r->import->c.table;
    const gf_schema *s = gf_user_table_schema(t);
    c->part = -1;
    for (unsigned p = 0; p < s->n_parts; p++)
        if (gf_slice_equal(name, gf_slice_str(s->parts[p].name))) c->part = (int)p;
    if (c->part >= 0) return GF_OK;
    gf_buffer_reset(&r->value);
    gf_status st = gf_user_column_find(t, name, &c->family, &r->value, NULL, r->err);
    if (st != GF_OK) {
        gf_error_prefix(r->err, "%.*s, column \"%.*s\"", GF_SLICE_ARG(r->source),
                        (int)(name.len < 99 ? name.len : 99), name.ptr ? name.ptr : "");
        return st;
    }
    c->qualifier = gf_arena_copy(&r->memory, gf_buffer_view(&r->value));
    if (!c->qualifier.ptr) return gf_fail_memory(r->err, "a header");
    c->type = gf_user_cell_type(t, c->family, c->qualifier);
    return GF_OK;
}

static gf_status read_header(csv_reading *r)
{
    unsigned parts = 0, n_parts = gf_user_table_schema(r->import->c.table)->n_parts;
    gf_status st = GF_OK;
    r->columns = gf_calloc(r->n + 1, sizeof *r->columns);
    if (!r->columns) return gf_fail_memory(r->err, "a header");
    for (; r->n_columns < r->n && st == GF_OK; r->n_columns++) {
        gf_slice name = text_of(r, r->n_columns);
        if (r->n_columns == 0 && gf_slice_starts(name, GF_SLICE("\xEF\xBB\xBF")))
            name = gf_slice_skip(name, 3);
        csv_column *c = &r->columns[r->n_columns];
        st = read_column(r, name, c);
        for (size_t i = 0; i < r->n_columns && c->part >= 0; i++)
            if (r->columns[i].part == c->part) parts = 99;
        parts += c->part >= 0;
    }
    if (st == GF_OK && parts != n_parts)
        st = gf_fail(r->err, GF_EINVAL, "%.*s: the header has not each part of the key once",
                     GF_SLICE_ARG(r->source));
    return st;
}

/* The row at hand as a line of CSV. */
static void write_line(const csv_reading *r, gf_buffer *csv)
{
    for (size_t i = 0; i < r->n; i++) {
        if (i) gf_buffer_byte(csv, ',');
        if (!r->cells[i].absent) write_cell(csv, text_of(r, i));
    }
    gf_buffer_str(csv, "\n");
}

/* Refused rows are kept behind the header that they had, so that they can be mended and imported.
 */
static gf_status refuse_row(csv_reading *r, const char *message)
{
    gf_buffer_reset(&r->refused);
    gf_buffer_slice(&r->refused, gf_buffer_view(&r->header));
    write_line(r, &r->refused);
    gf_status st = gf_buffer_check(&r->refused, r->err);
    if (st != GF_OK) return st;
    gf_buffer_reset(&r->header);
    return gf_table_import_refuse(r->import, r->source, r->row, gf_buffer_view(&r->refused),
                                  message, r->err);
}

static gf_status put_cells(csv_reading *r, gf_error *err)
{
    gf_table_call *c = &r->import->c;
    gf_status st = GF_OK;
    for (size_t i = 0; i < r->n && st == GF_OK; i++) {
        const csv_column *column = &r->columns[i];
        if (column->part >= 0 || r->cells[i].absent) continue;
        gf_buffer_reset(&r->value);
        st = gf_value_write(column->type, text_of(r, i), &r->value, err);
        if (st == GF_EINVAL) gf_error_prefix(err, "%.*s", GF_SLICE_ARG(column->qualifier));
        if (st != GF_OK) break;
        gf_batch_put(r->import->out.batch, gf_user_table_rows(c->table), gf_buffer_view(&c->key),
                     column->family, column->qualifier, gf_buffer_view(&r->value), 0);
    }
    return st;
}

static gf_status read_row(csv_reading *r, gf_error *err)
{
    gf_slice parts[MOST_PARTS] = {{0}};
    gf_table_call *c = &r->import->c;
    if (r->n != r->n_columns)
        return gf_fail(err, GF_EINVAL, "%zu columns, not %zu as the header has", r->n,
                       r->n_columns);
    for (size_t i = 0; i < r->n; i++)
        if (r->columns[i].part >= 0) parts[r->columns[i].part] = text_of(r, i);
    gf_buffer_reset(&c->key);
    gf_status st =
        gf_user_key_write(c->table, parts, gf_user_table_schema(c->table)->n_parts, &c->key, err);
    return st == GF_OK ? put_cells(r, err) : st;
}

static void end_row(int line_end, void *context)
{
    csv_reading *r = context;
    gf_error why = {GF_OK, ""};
    (void)line_end;
    if (r->status != GF_OK) return;
    r->row++;
    r->status = gf_buffer_check(&r->bytes, r->err);
    if (r->status == GF_OK && !r->columns) {
        r->status = read_header(r);
        write_line(r, &r->header);
        if (r->status == GF_OK) r->status = gf_buffer_check(&r->header, r->err);
    } else if (r->status == GF_OK) {
        gf_table_import_begin_row(r->import);
        gf_status st = read_row(r, &why);
        if (st == GF_EINVAL) {
            r->status = refuse_row(r, why.message);
        } else {
            if (st != GF_OK && r->err) *r->err = why;
            r->status = st == GF_OK ? gf_table_import_row(r->import, r->err) : st;
        }
    }
    r->n = 0;
    gf_buffer_reset(&r->bytes);
}

static gf_status read_bytes(csv_reading *r, const gf_input *in)
{
    enum { CHUNK = 64 << 10 };
    size_t n = 1;
    char *chunk = gf_malloc(CHUNK);
    if (!chunk) return gf_fail_memory(r->err, "reading");
    while (r->status == GF_OK && n > 0) {
        gf_status st = in->read(in->context, chunk, CHUNK, &n, r->err);
        if (st != GF_OK) {
            r->status = st;
        } else if (csv_parse(&r->csv, chunk, n, end_cell, end_row, r) != n) {
            if (r->status == GF_OK)
                r->status =
                    gf_fail(r->err, csv_error(&r->csv) == CSV_EPARSE ? GF_EINVAL : GF_ENOMEM,
                            "%.*s: row %llu: %s", GF_SLICE_ARG(r->source),
                            (unsigned long long)r->row + 1, csv_strerror(csv_error(&r->csv)));
        }
    }
    if (r->status == GF_OK && csv_fini(&r->csv, end_cell, end_row, r) != 0)
        r->status =
            gf_fail(r->err, GF_EINVAL, "%.*s: it ends within quotes", GF_SLICE_ARG(r->source));
    gf_free(chunk);
    return r->status;
}

static gf_status read_stream(gf_table_import *i, const gf_input *in, gf_slice source, gf_error *err)
{
    csv_reading r = {.import = i, .source = source, .err = err};
    if (csv_init(&r.csv, CSV_STRICT_FINI | CSV_EMPTY_IS_NULL) != 0)
        return gf_fail_memory(err, "reading");
    csv_set_space_func(&r.csv, no_blank);
    csv_set_blk_size(&r.csv, 64 << 10);
    gf_buffer_init(&r.bytes, MOST_CELL);
    gf_status st = read_bytes(&r, in);
    csv_free(&r.csv);
    gf_free(r.cells);
    gf_free(r.columns);
    gf_buffer_release(&r.bytes);
    gf_buffer_release(&r.value);
    gf_buffer_release(&r.header);
    gf_buffer_release(&r.refused);
    gf_arena_release(&r.memory);
    return st;
}

gf_status gf_table_import_csv(gf_table_import *i, gf_error *err)
{
    const gf_input *packed = &i->c.call->input;
    gf_unpacked *unpacked;
    gf_input in;
    gf_slice name;
    if (!packed->next) return gf_fail(err, GF_EINVAL, "there is no input");
    gf_status st = gf_unpacked_open(packed, &unpacked, &in, err);
    if (st != GF_OK) return st;
    while ((st = in.next(in.context, &name, err)) == GF_OK &&
           (st = read_stream(i, &in, name, err)) == GF_OK) {
    }
    gf_unpacked_close(unpacked);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_header(gf_table_call *c, uint32_t families, gf_buffer *csv)
{
    const gf_schema *s = gf_user_table_schema(c->table);
    for (unsigned p = 0; p < s->n_parts; p++) {
        if (p) gf_buffer_byte(csv, ',');
        write_cell(csv, gf_slice_str(s->parts[p].name));
    }
    for (unsigned f = 0; f < s->n_families; f++)
        for (const char *const *n = s->families[f].columns; n && *n && families >> f & 1; n++) {
            gf_buffer_reset(&c->text);
            gf_buffer_format(&c->text, "%s:%s", s->families[f].name, *n);
            gf_buffer_byte(csv, ',');
            write_cell(csv, gf_buffer_view(&c->text));
        }
}

static gf_status write_value(gf_table_call *c, const gf_cell *cell, gf_buffer *csv, gf_error *err)
{
    gf_buffer_reset(&c->text);
    if (!gf_value_print(gf_user_cell_type(c->table, cell->family, cell->qualifier), cell->value,
                        &c->text))
        return gf_fail(err, GF_EINVAL,
                       "column %.*s: a value is not of its type: only JSON Lines can give it",
                       GF_SLICE_ARG(cell->qualifier));
    write_cell(csv, gf_buffer_view(&c->text));
    return gf_buffer_check(&c->text, err);
}

static gf_status write_row(gf_table_call *c, const gf_row *row, uint32_t families, gf_buffer *csv,
                           gf_error *err)
{
    const gf_schema *s = gf_user_table_schema(c->table);
    gf_slice key = row->key;
    gf_status st = GF_OK;
    for (unsigned p = 0; p < s->n_parts && st == GF_OK; p++) {
        gf_buffer_reset(&c->text);
        st = gf_user_key_take(c->table, p, &key, &c->text, err);
        if (p) gf_buffer_byte(csv, ',');
        write_cell(csv, gf_buffer_view(&c->text));
    }
    for (unsigned f = 0; f < s->n_families; f++)
        for (const char *const *n = s->families[f].columns; n && *n && families >> f & 1; n++) {
            const gf_cell *cell = gf_row_find(row, f, *n);
            gf_buffer_byte(csv, ',');
            if (cell && st == GF_OK) st = write_value(c, cell, csv, err);
        }
    return st;
}

gf_status gf_table_export_csv(gf_table_call *c, const gf_row *row, uint32_t families,
                              gf_buffer *csv, gf_error *err)
{
    gf_status st = GF_OK;
    if (row)
        st = write_row(c, row, families, csv, err);
    else
        write_header(c, families, csv);
    gf_buffer_str(csv, "\r\n");
    return st == GF_OK ? gf_buffer_check(csv, err) : st;
}
