/* Scans: a range of rows, or of one row's cells, of one family. */
#include "base/memory.h"
#include "storage/leveldb/cells.h"
#include "storage/packed.h"

struct gf_backend_scan {
    gf_leveldb_cells cells;
    unsigned family;
    gf_buffer qualifier;
};

/*
 * The bounds of a scan grow together from its options: the highest of all lower ones, the lowest of
 * all upper ones. Each is a physical key, made in `key`.
 */
typedef struct range {
    gf_leveldb_cells *cells;
    unsigned table;
    const gf_scan_options *options;
    gf_buffer key, after;
} range;

static gf_status raise_lower(range *r, const gf_buffer *key, gf_error *err)
{
    gf_buffer *lower = &r->cells->lower;
    gf_status st = gf_buffer_check(key, err);
    if (st != GF_OK || gf_slice_compare(gf_buffer_view(key), gf_buffer_view(lower)) <= 0) return st;
    gf_buffer_reset(lower);
    gf_buffer_slice(lower, gf_buffer_view(key));
    return gf_buffer_check(lower, err);
}

static gf_status reduce_upper(range *r, const gf_buffer *key, gf_error *err)
{
    gf_buffer *upper = &r->cells->upper;
    gf_status st = gf_buffer_check(key, err);
    if (st != GF_OK) return st;
    if (upper->len && gf_slice_compare(gf_buffer_view(key), gf_buffer_view(upper)) >= 0)
        return GF_OK;
    gf_buffer_reset(upper);
    gf_buffer_slice(upper, gf_buffer_view(key));
    return gf_buffer_check(upper, err);
}

/* r->key becomes the family's prefix and `row`. */
static void begin_key(range *r, gf_slice row)
{
    gf_buffer_reset(&r->key);
    gf_leveldb_keys_family(&r->key, r->table, r->options->family);
    gf_buffer_slice(&r->key, row);
}

/* r->after becomes the lowest key behind all that start with r->key: there is one, see
 * GF_MAX_TABLES.
 */
static const gf_buffer *behind(range *r)
{
    gf_buffer_reset(&r->after);
    gf_key_after_prefix(gf_buffer_view(&r->key), &r->after);
    return &r->after;
}

/* All keys that start with r->key. */
static gf_status bound_within(range *r, gf_error *err)
{
    gf_status st = raise_lower(r, &r->key, err);
    return st == GF_OK ? reduce_upper(r, behind(r), err) : st;
}

static gf_status bound_rows(range *r, gf_error *err)
{
    const gf_scan_options *o = r->options;
    begin_key(r, o->prefix);
    gf_status st = bound_within(r, err);
    begin_key(r, o->start);
    if (st == GF_OK) st = raise_lower(r, &r->key, err);
    begin_key(r, o->end);
    if (st == GF_OK && o->end.len) st = reduce_upper(r, &r->key, err);
    return st;
}

static gf_status bound_qualifiers(range *r, gf_error *err)
{
    const gf_scan_options *o = r->options;
    gf_status st = GF_OK;
    if (o->qualifier_prefix.len) {
        begin_key(r, o->prefix);
        gf_key_string_start(&r->key, o->qualifier_prefix);
        st = bound_within(r, err);
    }
    if (st == GF_OK && o->after_qualifier.ptr) {
        begin_key(r, o->prefix);
        gf_key_string(&r->key, o->after_qualifier);
        st = o->reverse ? reduce_upper(r, &r->key, err) : raise_lower(r, behind(r), err);
    }
    return st;
}

gf_status gf_leveldb_scan_range(gf_leveldb_cells *cells, gf_leveldb *b,
                                const gf_leveldb_snapshot *snapshot, unsigned table,
                                const gf_scan_options *options, gf_error *err)
{
    gf_leveldb_cells_open(cells, b, snapshot, false, table, options->family, 1);
    cells->reverse = options->reverse;
    cells->keys_only = options->keys_only;
    cells->as_stored = options->as_stored && options->keys_only;
    range r = {.cells = cells, .table = table, .options = options};
    gf_status st = bound_rows(&r, err);
    if (st == GF_OK) st = bound_qualifiers(&r, err);
    gf_buffer_release(&r.key);
    gf_buffer_release(&r.after);
    return st;
}

gf_status gf_leveldb_scan_open(gf_backend *backend, const void *snapshot, unsigned table,
                               const gf_scan_options *options, gf_backend_scan **scan,
                               gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    gf_backend_scan *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a scan");
    s->family = options->family;
    gf_status st = gf_leveldb_scan_range(&s->cells, b, gf_leveldb_view_snapshot(snapshot), table,
                                         options, err);
    if (st != GF_OK) {
        gf_leveldb_scan_close(s);
        return st;
    }
    *scan = s;
    return GF_OK;
}

static gf_status add_columns(const gf_family *family, unsigned number, gf_slice value,
                             int64_t timestamp, gf_row *row, gf_error *err)
{
    gf_packed_reader reader = {.family = family, .rest = value};
    for (;;) {
        gf_column column;
        gf_status st = gf_packed_next(&reader, &column, err);
        if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
        gf_cell cell = {number, column.name, column.value, timestamp};
        st = gf_row_add(row, &cell, err);
        if (st != GF_OK) return st;
    }
}

/* The qualifier as it was before it became part of a key; most have nothing to decode. */
static gf_status decode_qualifier(gf_backend_scan *s, gf_slice encoded, gf_slice *qualifier,
                                  gf_error *err)
{
    enum { TERMINATOR = 2 };
    gf_slice bytes = gf_slice_of(encoded.ptr, encoded.len - TERMINATOR);
    if (bytes.len == 0 || !memchr(bytes.ptr, 0, bytes.len)) {
        *qualifier = bytes;
        return GF_OK;
    }
    gf_buffer_reset(&s->qualifier);
    gf_key_take_string(&encoded, &s->qualifier);
    *qualifier = gf_buffer_view(&s->qualifier);
    return gf_buffer_check(&s->qualifier, err);
}

static gf_slice append_bytes(char **to, gf_slice bytes)
{
    gf_slice copy = {*to, bytes.len};
    if (bytes.len) memcpy(*to, bytes.ptr, bytes.len);
    *to += bytes.len;
    return copy;
}

/* The row takes a copy of what was found, all in one piece. */
static gf_status fill_row(gf_backend_scan *s, const gf_leveldb_cell *found, gf_row *row,
                          gf_error *err)
{
    bool wide = s->cells.family->layout == GF_LAYOUT_WIDE;
    gf_slice qualifier = {0};
    gf_status st = wide ? decode_qualifier(s, found->key.qualifier, &qualifier, err) : GF_OK;
    if (st != GF_OK) return st;
    char *to = gf_row_room(row, found->key.row.len + qualifier.len + found->value.len);
    if (!to) return gf_fail_memory(err, "a row");
    row->key = append_bytes(&to, found->key.row);
    gf_cell cell = {.family = s->family, .timestamp = found->timestamp};
    cell.qualifier = append_bytes(&to, qualifier);
    cell.value = append_bytes(&to, found->value);
    if (wide) return gf_row_add(row, &cell, err);
    return add_columns(s->cells.family, s->family, cell.value, found->timestamp, row, err);
}

gf_status gf_leveldb_scan_next(gf_backend_scan *s, gf_row *row, gf_error *err)
{
    gf_leveldb_cell found;
    gf_status st = gf_leveldb_cells_next(&s->cells, &found, err);
    return st == GF_OK ? fill_row(s, &found, row, err) : st;
}

void gf_leveldb_scan_close(gf_backend_scan *s)
{
    if (!s) return;
    gf_leveldb_cells_close(&s->cells);
    gf_buffer_release(&s->qualifier);
    gf_free(s);
}
