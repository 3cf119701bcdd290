/*
 * Walks over whole rows: the families lie apart, so each is scanned by itself, and a row is what
 * the scans have in common at the lowest key that any of them has come to (in reverse: the
 * highest).
 *
 *     main    a  .  c        row a: main, list list
 *     list    a  a  b        row b: list            row c: main
 */
#include "engine/user_tables/user_tables_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "engine/rows/filter.h"
#include "engine/rows/scan.h"
#include "storage/backend.h"
#include "storage/schema.h"

/* A family's scan, one entry ahead. */
typedef struct family_scan {
    gf_scan *scan;
    gf_row row;
    unsigned family;
    bool there; /* row is an entry that was not yet given */
} family_scan;

typedef struct cell_demand {
    unsigned family;
    gf_slice qualifier, value; /* value: in its text form */
    gf_comparison comparison;
    gf_type type;
    double number; /* of value, where it is one */
    bool is_number;
} cell_demand;

struct gf_rows {
    gf_user_table *table;
    gf_snapshot *snapshot;              /* our own, or NULL */
    family_scan scans[GF_MAX_FAMILIES]; /* n_scans */
    unsigned n_scans;
    uint32_t wanted; /* families that rows are given with */
    bool reverse, keys_only;
    uint64_t offset, left, entries;
    cell_demand *demands; /* n_demands */
    size_t n_demands;
    gf_row row;
    gf_cell *cells; /* capacity: what a row of several scans is put together in */
    size_t capacity;
    gf_buffer text, key;
    gf_arena memory; /* of demands */
    gf_arena of_row; /* of cells that had to be copied */
};

/* ---- demands --------------------------------------------------------------------------------- */

static const struct {
    const char *sign;
    gf_comparison comparison;
} signs[] = {{"!=", GF_IS_NOT}, {"<=", GF_IS_AT_MOST}, {">=", GF_IS_AT_LEAST},
             {"=", GF_IS},      {"<", GF_IS_BELOW},    {">", GF_IS_ABOVE}};

/* "info:age>=18": the first sign counts, of two that begin there the longer. */
static bool split(gf_slice demand, gf_slice *name, gf_comparison *comparison, gf_slice *value)
{
    for (size_t i = 0; i < demand.len; i++)
        for (size_t s = 0; s < sizeof signs / sizeof signs[0]; s++) {
            gf_slice sign = gf_slice_str(signs[s].sign);
            if (!gf_slice_starts(gf_slice_skip(demand, i), sign)) continue;
            *name = gf_slice_of(demand.ptr, i);
            *comparison = signs[s].comparison;
            *value = gf_slice_skip(demand, i + sign.len);
            return true;
        }
    return false;
}

static bool is_numeric(gf_type type)
{
    return type == GF_TYPE_INT64 || type == GF_TYPE_UINT64 || type == GF_TYPE_DECIMAL ||
           type == GF_TYPE_FLOAT;
}

/* Compared by their text form as it is given: JSON, and the types of the program's own tables. */
static bool is_told(gf_type type)
{
    return type >= GF_TYPE_JSON;
}

static gf_status add_demand(gf_rows *r, gf_slice text, cell_demand *d, gf_error *err)
{
    gf_slice name, value;
    if (!split(text, &name, &d->comparison, &value))
        return gf_fail(err, GF_EINVAL, "\"%.*s\" has none of =, !=, <, <=, >, >= in it",
                       GF_SLICE_ARG(text));
    gf_buffer_reset(&r->text);
    gf_status st = gf_user_table_find_column(r->table, name, &d->family, &r->text, NULL, err);
    if (st != GF_OK) return st;
    d->qualifier = gf_arena_copy(&r->memory, gf_buffer_view(&r->text));
    d->type = gf_user_table_cell_type(r->table, d->family, d->qualifier);
    /* The value in the one form that cells are printed in. */
    gf_buffer bytes = {0};
    gf_buffer_reset(&r->text);
    if (is_told(d->type)) {
        gf_buffer_slice(&r->text, value);
    } else {
        st = gf_user_table_value_write(d->type, value, &bytes, err);
        if (st == GF_OK) gf_user_table_value_print(d->type, gf_buffer_view(&bytes), &r->text);
        if (st != GF_OK) gf_error_prefix(err, "%.*s", GF_SLICE_ARG(name));
    }
    gf_buffer_release(&bytes);
    if (st == GF_OK) st = gf_buffer_check(&r->text, err);
    if (st != GF_OK) return st;
    d->value = gf_arena_copy(&r->memory, gf_buffer_view(&r->text));
    d->is_number =
        (is_numeric(d->type) || is_told(d->type)) && gf_number_read_decimal(d->value, &d->number);
    return d->qualifier.ptr && d->value.ptr ? GF_OK : gf_fail_memory(err, "a scan");
}

static int compare_integers(gf_slice a, gf_slice b)
{
    int64_t x, y;
    uint64_t u, v;
    if (gf_number_read_signed(a, &x) && gf_number_read_signed(b, &y)) return x < y ? -1 : x > y;
    bool below_a = a.len && a.ptr[0] == '-', below_b = b.len && b.ptr[0] == '-';
    if (below_a != below_b) return below_a ? -1 : 1;
    if (!gf_number_read(a, &u) || !gf_number_read(b, &v)) return gf_slice_compare(a, b);
    return u < v ? -1 : u > v;
}

/* A JSON string is compared by what it says: "\"x\"" as x. */
static gf_slice plain(gf_slice json)
{
    bool quoted = json.len >= 2 && json.ptr[0] == '"' && !memchr(json.ptr, '\\', json.len);
    return quoted ? gf_slice_of(json.ptr + 1, json.len - 2) : json;
}

/* How the cell's text form compares; false where it cannot be compared. */
static bool compare(const cell_demand *d, gf_slice text, int *order)
{
    double number;
    if (d->type == GF_TYPE_FLOAT || (is_told(d->type) && d->is_number)) {
        if (!gf_number_read_decimal(text, &number)) return false;
        *order = number < d->number ? -1 : number > d->number;
    } else if (is_numeric(d->type)) {
        *order = compare_integers(text, d->value);
    } else {
        *order = gf_slice_compare(d->type == GF_TYPE_JSON ? plain(text) : text, d->value);
    }
    return true;
}

static bool holds(gf_comparison comparison, int order)
{
    switch (comparison) {
    case GF_IS:
        return order == 0;
    case GF_IS_NOT:
        return order != 0;
    case GF_IS_BELOW:
        return order < 0;
    case GF_IS_AT_MOST:
        return order <= 0;
    case GF_IS_ABOVE:
        return order > 0;
    default:
        return order >= 0;
    }
}

static const gf_cell *find_cell(const gf_row *row, unsigned family, gf_slice qualifier)
{
    for (size_t i = 0; i < row->n_cells; i++)
        if (row->cells[i].family == family && gf_slice_equal(row->cells[i].qualifier, qualifier))
            return &row->cells[i];
    return NULL;
}

static gf_status meets(gf_rows *r, const cell_demand *d, bool *met, gf_error *err)
{
    int order;
    const gf_cell *cell = find_cell(&r->row, d->family, d->qualifier);
    gf_buffer_reset(&r->text);
    bool comparable = cell && gf_user_table_value_print(d->type, cell->value, &r->text) &&
                      compare(d, gf_buffer_view(&r->text), &order);
    *met = comparable ? holds(d->comparison, order) : d->comparison == GF_IS_NOT;
    return gf_buffer_check(&r->text, err);
}

/* ---- opening --------------------------------------------------------------------------------- */

static gf_status step(family_scan *s, gf_error *err)
{
    return gf_scan_step(s->scan, &s->row, &s->there, err);
}

static gf_status open_scan(gf_rows *r, const gf_rows_options *o, unsigned family, gf_error *err)
{
    family_scan *s = &r->scans[r->n_scans++];
    gf_scan_options options =
        GF_SCAN_OPTIONS(.snapshot = r->snapshot ? r->snapshot : o->snapshot, .family = family,
                        .prefix = o->prefix, .start = o->start, .end = o->end,
                        .reverse = o->reverse, .keys_only = r->keys_only);
    s->family = family;
    gf_status st = gf_scan_open(r->table->rows, &options, &s->scan, err);
    return st == GF_OK ? step(s, err) : st;
}

static gf_status open_rows(gf_rows *r, const gf_rows_options *o, gf_error *err)
{
    uint32_t families;
    unsigned n = r->table->schema.schema.n_families;
    uint32_t all = n == GF_MAX_FAMILIES ? UINT32_MAX : (UINT32_C(1) << n) - 1;
    gf_status st = GF_OK;
    r->demands = gf_calloc(o->n_where + 1, sizeof *r->demands);
    if (!r->demands) return gf_fail_memory(err, "a scan");
    r->wanted = families = o->families ? o->families & all : all;
    for (; r->n_demands < o->n_where && st == GF_OK; r->n_demands++) {
        st = add_demand(r, o->where[r->n_demands], &r->demands[r->n_demands], err);
        if (st == GF_OK) families |= UINT32_C(1) << r->demands[r->n_demands].family;
    }
    if (st == GF_OK && !o->snapshot)
        st = gf_snapshot_create_if_any(r->table->store->db, &r->snapshot, err);
    for (unsigned f = 0; f < n && st == GF_OK; f++)
        if (families >> f & 1) st = open_scan(r, o, f, err);
    return st;
}

gf_status gf_rows_open(gf_user_table *table, const gf_rows_options *options, gf_rows **rows,
                       gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_ROWS_OPTIONS_VERSION, "gf_rows_options", err);
    if (known != GF_OK) return known;
    gf_rows *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "a scan");
    r->table = table;
    r->reverse = options->reverse;
    r->keys_only = options->keys_only && options->n_where == 0;
    r->offset = options->offset;
    r->left = options->limit ? options->limit : UINT64_MAX;
    gf_rows_options within = *options;
    if (within.prefix.len == 0) within.prefix = table->space; /* of the program's own tables */
    gf_status st = gf_slice_starts(within.prefix, table->space)
                       ? open_rows(r, &within, err)
                       : gf_fail(err, GF_EINVAL, "a walk over rows of another namespace");
    if (st != GF_OK) {
        gf_rows_close(r);
        return st;
    }
    *rows = r;
    return GF_OK;
}

void gf_rows_close(gf_rows *r)
{
    if (!r) return;
    for (unsigned i = 0; i < r->n_scans; i++) {
        gf_scan_close(r->scans[i].scan);
        gf_row_release(&r->scans[i].row);
    }
    gf_snapshot_free(r->snapshot);
    gf_buffer_release(&r->text);
    gf_buffer_release(&r->key);
    gf_arena_release(&r->memory);
    gf_arena_release(&r->of_row);
    gf_free(r->cells);
    gf_free(r->demands);
    gf_free(r);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static gf_status grow_cells(gf_rows *r, size_t n, gf_error *err)
{
    if (!gf_grow(&r->cells, &r->capacity, n, sizeof *r->cells)) return gf_fail_memory(err, "a row");
    r->row.cells = r->cells;
    return GF_OK;
}

static gf_status keep(gf_rows *r, const gf_row *row, gf_error *err)
{
    gf_status st = grow_cells(r, r->row.n_cells + row->n_cells, err);
    for (size_t i = 0; i < row->n_cells && st == GF_OK; i++) {
        gf_cell *cell = &r->cells[r->row.n_cells++];
        *cell = row->cells[i];
        cell->qualifier = gf_arena_copy(&r->of_row, cell->qualifier);
        cell->value = gf_arena_copy(&r->of_row, cell->value);
        if (!cell->qualifier.ptr || !cell->value.ptr) st = gf_fail_memory(err, "a row");
    }
    return st;
}

/* All entries of the row that a scan has: of a wide family one after the other. */
static gf_status collect(gf_rows *r, family_scan *s, gf_slice key, gf_error *err)
{
    gf_status st = GF_OK;
    size_t first = r->row.n_cells;
    const gf_cell key_alone = {.family = s->family};
    const gf_row of_key = {.cells = (gf_cell *)(uintptr_t)&key_alone, .n_cells = 1};
    while (st == GF_OK && s->there && gf_slice_equal(s->row.key, key)) {
        r->entries++;
        if (!r->keys_only)
            st = keep(r, &s->row, err);
        else if (r->row.n_cells == first)
            st = keep(r, &of_key, err);
        if (st == GF_OK) st = step(s, err);
    }
    /* A row looks the same from both ends. */
    size_t n = r->row.n_cells - first;
    bool wide = n > 1 && r->reverse &&
                r->table->schema.families[r->cells[first].family].layout == GF_LAYOUT_WIDE;
    for (size_t i = 0; wide && i < n / 2; i++) {
        gf_cell swapped = r->cells[first + i];
        r->cells[first + i] = r->cells[first + n - 1 - i];
        r->cells[first + n - 1 - i] = swapped;
    }
    return st;
}

static family_scan *find_first(gf_rows *r)
{
    family_scan *first = NULL;
    for (unsigned i = 0; i < r->n_scans; i++) {
        family_scan *s = &r->scans[i];
        if (!s->there) continue;
        int order = first ? gf_slice_compare(s->row.key, first->row.key) : 0;
        if (!first || (r->reverse ? order > 0 : order < 0)) first = s;
    }
    return first;
}

static gf_status put_together(gf_rows *r, gf_error *err)
{
    gf_row *row = &r->row;
    family_scan *first = find_first(r);
    row->n_cells = 0;
    r->entries = 0;
    gf_arena_reset(&r->of_row);
    if (!first) return GF_ENOTFOUND;
    gf_buffer_reset(&r->key);
    gf_buffer_slice(&r->key, first->row.key);
    gf_status st = gf_buffer_check(&r->key, err);
    row->key = gf_buffer_view(&r->key);
    for (unsigned i = 0; i < r->n_scans && st == GF_OK; i++)
        st = collect(r, &r->scans[i], row->key, err);
    row->cells = r->cells;
    return st;
}

/* Take out what was only demanded. A row without a wanted cell is none. */
static void restrict_families(gf_rows *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->row.n_cells; i++)
        if (r->wanted >> r->cells[i].family & 1) r->cells[n++] = r->cells[i];
    r->row.n_cells = n;
}

gf_status gf_rows_next(gf_rows *r, const gf_row **row, gf_error *err)
{
    while (r->left) {
        bool met = true;
        gf_status st = put_together(r, err);
        for (size_t i = 0; i < r->n_demands && st == GF_OK && met; i++)
            st = meets(r, &r->demands[i], &met, err);
        if (st == GF_ENOTFOUND) break;
        if (st != GF_OK) return st;
        restrict_families(r);
        if (!met || r->row.n_cells == 0) continue;
        if (r->offset) {
            r->offset--;
            continue;
        }
        r->left--;
        *row = &r->row;
        return GF_OK;
    }
    return gf_fail(err, GF_ENOTFOUND, "no further row");
}

uint64_t gf_rows_entries(const gf_rows *r)
{
    return r->entries;
}
