/*
 * Documents as columns of documents:main.
 *
 *     text    the text
 *     time    its JSON value, where there is one
 *     lang    the language's code, likewise
 *     seq     the collection's seq when it was last put
 *     <name>  each other field: its JSON value
 *
 * A field whose name is one of the table's own columns, or starts with "field:", is stored as
 * "field:<name>", so that every record comes back as it was.
 */
#include "engine/rows/document_row.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/scan.h"

#include <stdlib.h>

#define RENAMED "field:"
#define NAME(literal)                                                                              \
    {                                                                                              \
        literal, sizeof literal - 1                                                                \
    }

static bool is_reserved(gf_slice name)
{
    static const gf_slice own[] = {
        NAME("namespace"),  NAME("collection_key"), NAME("id"),   NAME("text"),
        NAME("member_of"),  NAME("time"),           NAME("lang"), NAME("seq"),
        NAME("vector_idf"), NAME("vector_tfidf")};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (gf_slice_equal(name, own[i])) return true;
    return gf_slice_starts(name, GF_SLICE(RENAMED));
}

void gf_document_row_column(gf_buffer *column, gf_slice field)
{
    if (is_reserved(field)) gf_buffer_str(column, RENAMED);
    gf_buffer_slice(column, field);
}

/* Write changed names first: the buffer must not move while columns borrow from it. */
static gf_status write_names(const gf_document *d, gf_buffer *names, gf_error *err)
{
    gf_buffer_reset(names);
    for (size_t i = 0; i < d->n_fields; i++)
        if (is_reserved(d->fields[i].name)) gf_document_row_column(names, d->fields[i].name);
    return gf_buffer_check(names, err);
}

/* The name of the field that a column holds. */
static gf_slice field_name(gf_slice column)
{
    bool renamed = gf_slice_starts(column, GF_SLICE(RENAMED));
    return renamed ? gf_slice_skip(column, sizeof RENAMED - 1) : column;
}

static int by_name(const void *a, const void *b)
{
    return gf_slice_compare(((const gf_column *)a)->name, ((const gf_column *)b)->name);
}

static void add_column(gf_document_cells *cells, gf_slice name, gf_slice value)
{
    cells->columns[cells->n++] = (gf_column){name, value};
}

gf_status gf_document_row_to_cells(const gf_document *d, gf_document_cells *cells, gf_error *err)
{
    enum { OWN = 4 }; /* text, time, lang, seq */
    if (!gf_grow(&cells->columns, &cells->capacity, d->n_fields + OWN, sizeof *cells->columns))
        return gf_fail_memory(err, "a document");
    gf_status st = write_names(d, &cells->names, err);
    if (st != GF_OK) return st;
    cells->n = 0;
    add_column(cells, GF_SLICE("text"), d->text);
    if (d->time.len) add_column(cells, GF_SLICE("time"), d->time);
    if (d->language.len) add_column(cells, GF_SLICE("lang"), d->language);
    cells->seq_at = cells->n;
    add_column(cells, GF_SLICE("seq"), (gf_slice){0});
    size_t first = cells->n;
    gf_slice renamed = gf_buffer_view(&cells->names);
    for (size_t i = 0; i < d->n_fields; i++) {
        gf_slice name = d->fields[i].name;
        if (is_reserved(name)) {
            size_t n = sizeof RENAMED - 1 + name.len;
            name = gf_slice_of(renamed.ptr, n);
            renamed = gf_slice_skip(renamed, n);
        }
        add_column(cells, name, d->fields[i].json);
    }
    if (d->n_fields > 1)
        qsort(cells->columns + first, d->n_fields, sizeof *cells->columns, by_name);
    return GF_OK;
}

bool gf_document_row_repeats(const gf_document_cells *cells, gf_slice *name)
{
    for (size_t i = cells->seq_at + 2; i < cells->n; i++) {
        if (!gf_slice_equal(cells->columns[i - 1].name, cells->columns[i].name)) continue;
        *name = field_name(cells->columns[i].name);
        return true;
    }
    return false;
}

void gf_document_row_release_cells(gf_document_cells *cells)
{
    gf_free(cells->columns);
    gf_buffer_release(&cells->names);
    *cells = (gf_document_cells){0};
}

void gf_document_row_read(const gf_row *row, gf_slice id, gf_field *fields, gf_document *d,
                          uint64_t *seq)
{
    *d = (gf_document){.id = id, .fields = fields};
    *seq = 0;
    for (size_t i = 0; i < row->n_cells; i++) {
        const gf_cell *cell = &row->cells[i];
        gf_slice name = cell->qualifier;
        if (gf_slice_equal(name, GF_SLICE("text")))
            d->text = cell->value;
        else if (gf_slice_equal(name, GF_SLICE("time")))
            d->time = cell->value;
        else if (gf_slice_equal(name, GF_SLICE("lang")))
            d->language = cell->value;
        else if (gf_slice_equal(name, GF_SLICE("seq")))
            gf_rows_cell_number(cell, seq);
        else {
            fields[d->n_fields++] = (gf_field){field_name(name), cell->value};
        }
    }
}

bool gf_document_row_equals(const gf_row *row, const gf_column *columns, size_t n)
{
    gf_slice seq = GF_SLICE("seq");
    size_t k = 0;
    for (size_t i = 0; i < row->n_cells; i++) {
        if (gf_slice_equal(row->cells[i].qualifier, seq)) continue;
        if (k < n && gf_slice_equal(columns[k].name, seq)) k++;
        if (k == n || !gf_slice_equal(row->cells[i].qualifier, columns[k].name) ||
            !gf_slice_equal(row->cells[i].value, columns[k].value))
            return false;
        k++;
    }
    return k == n || (k + 1 == n && gf_slice_equal(columns[k].name, seq));
}

bool gf_document_row_moment(gf_slice json, int64_t *ms)
{
    double number;
    if (json.len >= 2 && json.ptr[0] == '"')
        return gf_clock_parse_iso(gf_slice_of(json.ptr + 1, json.len - 2), ms);
    return gf_number_read_decimal(json, &number) && gf_clock_from_number(number, ms);
}

gf_status gf_document_row_value(const gf_document *d, gf_slice field, gf_json_parser *parser,
                                gf_slice *value, gf_error *err)
{
    gf_json_value parsed;
    gf_slice json = {"", 0};
    *value = json;
    if (gf_slice_equal(field, GF_SLICE("lang"))) *value = d->language;
    if (gf_slice_equal(field, GF_SLICE("time"))) json = d->time;
    for (size_t i = 0; i < d->n_fields; i++)
        if (gf_slice_equal(d->fields[i].name, field)) json = d->fields[i].json;
    if (json.len == 0 || gf_slice_equal(json, GF_SLICE("null"))) return GF_OK;
    *value = json;
    if (json.ptr[0] != '"') return GF_OK;
    gf_status st = gf_json_parse_copy(parser, json, &parsed, err);
    if (st == GF_OK) *value = gf_json_get_string(parsed);
    return st == GF_EINVAL ? gf_fail(err, GF_ECORRUPT, "table documents: a field is damaged") : st;
}
