/* Scans: a range of rows, or of one row's cells, of one family. */
#include "storage/leveldb_internal.h"

#include "base/memory.h"
#include "storage/packed.h"
#include "storage/schema.h"

struct gf_backend_scan {
    gf_cells cells;
    unsigned family;
    gf_buffer qualifier;
};

/* Raise lower to `key` where that is higher; likewise lower upper. */
static void raise_lower(gf_cells *c, gf_slice key)
{
    if (gf_slice_compare(key, gf_buffer_view(&c->lower)) <= 0) return;
    gf_buffer_reset(&c->lower);
    gf_buffer_slice(&c->lower, key);
}

static void reduce_upper(gf_cells *c, gf_slice key)
{
    if (c->upper.len && gf_slice_compare(key, gf_buffer_view(&c->upper)) >= 0) return;
    gf_buffer_reset(&c->upper);
    gf_buffer_slice(&c->upper, key);
}

/* All physical keys that start with `prefix`. */
static void within_prefix(gf_cells *c, gf_slice prefix)
{
    gf_buffer after = {0};
    raise_lower(c, prefix);
    if (gf_key_after_prefix(prefix, &after)) reduce_upper(c, gf_buffer_view(&after));
    if (after.state != GF_OK) c->upper.state = after.state;
    gf_buffer_release(&after);
}

/* Behind (in reverse: before) the cell of that qualifier in the row `prefix`. */
static void beyond_qualifier(gf_cells *c, gf_buffer *key, gf_slice qualifier)
{
    gf_buffer after = {0};
    gf_key_string(key, qualifier);
    if (c->reverse)
        reduce_upper(c, gf_buffer_view(key));
    else if (gf_key_after_prefix(gf_buffer_view(key), &after))
        raise_lower(c, gf_buffer_view(&after));
    if (after.state != GF_OK) c->lower.state = after.state;
    gf_buffer_release(&after);
}

static gf_status set_range(gf_cells *c, unsigned table, const gf_scan_options *o, gf_error *err)
{
    gf_buffer key = {0};
    gf_physical_family(&key, table, o->family);
    within_prefix(c, gf_buffer_view(&key));
    size_t base = key.len;
    gf_buffer_slice(&key, o->prefix);
    size_t row = key.len;
    within_prefix(c, gf_buffer_view(&key));
    if (o->qualifier_prefix.len) {
        gf_key_string_start(&key, o->qualifier_prefix);
        within_prefix(c, gf_buffer_view(&key));
        key.len = row;
    }
    if (o->after_qualifier.ptr) beyond_qualifier(c, &key, o->after_qualifier);
    key.len = base;
    if (o->start.len) {
        gf_buffer_slice(&key, o->start);
        raise_lower(c, gf_buffer_view(&key));
        key.len = base;
    }
    if (o->end.len) {
        gf_buffer_slice(&key, o->end);
        reduce_upper(c, gf_buffer_view(&key));
    }
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_buffer_check(&c->lower, err);
    if (st == GF_OK) st = gf_buffer_check(&c->upper, err);
    gf_buffer_release(&key);
    return st;
}

static gf_status check_options(const gf_schema *schema, const gf_scan_options *o, gf_error *err)
{
    bool of_row = o->qualifier_prefix.len || o->after_qualifier.ptr;
    if (!of_row) return GF_OK;
    if (schema->families[o->family].layout == GF_WIDE && o->prefix.len &&
        gf_schema_row_length(schema, o->prefix) == o->prefix.len)
        return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "table %s: a range of qualifiers needs a wide family and one whole row key",
                   schema->name);
}

gf_status gf_leveldb_scan_open(gf_backend *backend, const void *snapshot, unsigned table,
                               const gf_scan_options *options, gf_backend_scan **scan,
                               gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    gf_status st = check_options(gf_leveldb_schema(b, table), options, err);
    if (st != GF_OK) return st;
    gf_backend_scan *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a scan");
    s->family = options->family;
    st = gf_cells_open(&s->cells, b, snapshot, table, options->family, 1, err);
    if (st == GF_OK) {
        s->cells.reverse = options->reverse;
        s->cells.keys_only = options->keys_only;
        st = set_range(&s->cells, table, options, err);
    }
    if (st != GF_OK) {
        gf_leveldb_scan_close(s);
        return st;
    }
    *scan = s;
    return GF_OK;
}

static gf_status add_columns(gf_backend_scan *s, gf_slice value, int64_t timestamp, gf_row *row,
                             gf_error *err)
{
    gf_slice rest = gf_row_keep(row, value);
    if (!rest.ptr) return gf_fail_memory(err, "a row");
    for (;;) {
        gf_column column;
        gf_status st = gf_packed_next(s->cells.family, &rest, &column, err);
        if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
        gf_cell cell = {s->family, column.name, column.value, timestamp};
        st = gf_row_add(row, &cell, err);
        if (st != GF_OK) return st;
    }
}

static gf_status add_cell(gf_backend_scan *s, const gf_found_cell *found, gf_row *row,
                          gf_error *err)
{
    gf_slice encoded = found->key.qualifier;
    gf_buffer_reset(&s->qualifier);
    gf_key_take_string(&encoded, &s->qualifier);
    gf_status st = gf_buffer_check(&s->qualifier, err);
    if (st != GF_OK) return st;
    gf_cell cell = {s->family, gf_row_keep(row, gf_buffer_view(&s->qualifier)),
                    gf_row_keep(row, found->value), found->timestamp};
    if (!cell.qualifier.ptr || !cell.value.ptr) return gf_fail_memory(err, "a row");
    return gf_row_add(row, &cell, err);
}

gf_status gf_leveldb_scan_next(gf_backend_scan *s, gf_row *row, gf_error *err)
{
    gf_found_cell found;
    gf_status st = gf_cells_next(&s->cells, &found, err);
    if (st == GF_ENOTFOUND) return st;
    if (st == GF_OK) st = gf_row_set_key(row, found.key.row, err);
    if (st == GF_OK)
        st = s->cells.family->layout == GF_PACKED
                 ? add_columns(s, found.value, found.timestamp, row, err)
                 : add_cell(s, &found, row, err);
    if (st != GF_OK) gf_error_prefix(err, "table %s", s->cells.schema->name);
    return st;
}

void gf_leveldb_scan_close(gf_backend_scan *s)
{
    if (!s) return;
    gf_cells_close(&s->cells);
    gf_buffer_release(&s->qualifier);
    gf_free(s);
}
