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

/* Names that are changed are put into `names` first, so that it does not move while they are used.
 */
static gf_status write_names(const gf_document *d, gf_document_cells *cells, gf_error *err)
{
    gf_buffer_reset(&cells->names);
    for (size_t i = 0; i < d->n_fields; i++) {
        if (!is_reserved(d->fields[i].name)) continue;
        gf_buffer_str(&cells->names, RENAMED);
        gf_buffer_slice(&cells->names, d->fields[i].name);
    }
    return gf_buffer_check(&cells->names, err);
}

void gf_document_column(gf_buffer *column, gf_slice field)
{
    if (is_reserved(field)) gf_buffer_str(column, RENAMED);
    gf_buffer_slice(column, field);
}

static int by_name(const void *a, const void *b)
{
    return gf_slice_compare(((const gf_column *)a)->name, ((const gf_column *)b)->name);
}

static void add(gf_document_cells *cells, gf_slice name, gf_slice value)
{
    cells->columns[cells->n++] = (gf_column){name, value};
}

gf_status gf_document_to_cells(const gf_document *d, gf_document_cells *cells, gf_error *err)
{
    enum { OWN = 4 }; /* text, time, lang, seq */
    if (d->n_fields + OWN > cells->capacity) {
        gf_column *columns = gf_realloc(cells->columns, d->n_fields + OWN, sizeof *columns);
        if (!columns) return gf_fail_memory(err, "a document");
        cells->columns = columns;
        cells->capacity = d->n_fields + OWN;
    }
    cells->n = 0;
    gf_status st = write_names(d, cells, err);
    if (st != GF_OK) return st;
    add(cells, GF_SLICE("text"), d->text);
    if (d->time.len) add(cells, GF_SLICE("time"), d->time);
    if (d->language.len) add(cells, GF_SLICE("lang"), d->language);
    gf_slice renamed = gf_buffer_view(&cells->names);
    size_t first = cells->n;
    for (size_t i = 0; i < d->n_fields; i++) {
        gf_slice name = d->fields[i].name;
        if (is_reserved(name)) {
            size_t n = sizeof RENAMED - 1 + name.len;
            name = gf_slice_of(renamed.ptr, n);
            renamed = gf_slice_skip(renamed, n);
        }
        add(cells, name, d->fields[i].json);
    }
    /* As the table gives them back: its known columns, then the others by name. */
    qsort(cells->columns + first, cells->n - first, sizeof *cells->columns, by_name);
    return GF_OK;
}

void gf_document_cells_release(gf_document_cells *cells)
{
    gf_free(cells->columns);
    gf_buffer_release(&cells->names);
    *cells = (gf_document_cells){0};
}

void gf_document_from_row(const gf_row *row, gf_slice id, gf_field *fields, gf_document *d,
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
            gf_cell_number(cell, seq);
        else {
            if (gf_slice_starts(name, GF_SLICE(RENAMED)))
                name = gf_slice_skip(name, sizeof RENAMED - 1);
            fields[d->n_fields++] = (gf_field){name, cell->value};
        }
    }
}

bool gf_document_same(const gf_row *row, const gf_document_cells *cells)
{
    size_t n = 0;
    for (size_t i = 0; i < row->n_cells; i++) {
        if (gf_slice_equal(row->cells[i].qualifier, GF_SLICE("seq"))) continue;
        if (n == cells->n || !gf_slice_equal(row->cells[i].qualifier, cells->columns[n].name) ||
            !gf_slice_equal(row->cells[i].value, cells->columns[n].value))
            return false;
        n++;
    }
    return n == cells->n;
}

bool gf_document_moment(gf_slice json, int64_t *ms)
{
    double number;
    if (json.len >= 2 && json.ptr[0] == '"')
        return gf_clock_parse_iso(gf_slice_of(json.ptr + 1, json.len - 2), ms);
    return gf_number_read_decimal(json, &number) && gf_clock_from_number(number, ms);
}
