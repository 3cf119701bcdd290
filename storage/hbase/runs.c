/*
 * Runs: blocks of many entries (storage/run.h), each a cell under its last entry's key.
 *
 *     packed    a row of HBase is a block: its row is that of the last entry, its cell `block`
 *     wide      a cell of the row is a block: its qualifier is that of the last entry
 *
 * So the block that an entry is in is the first one that is not below it, and is deleted as that one
 * row or cell. A scan whose end lies amid a block goes on to that one, but not beyond its granule. Entries
 * that lie by themselves are given in their places. What is given never goes back, also where blocks
 * are replaced by others while a scan goes on.
 *
 * In reverse the keys of the blocks are listed first, then the blocks are read from the last on.
 */
#include "storage/hbase/internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "storage/run.h"
#include "storage/schema.h"

typedef struct run_scan {
    gf_hbase *b;
    const gf_schema *schema;
    gf_hbase_table *t;
    unsigned family;
    bool is_run, is_wide, reverse, keys_only;
    gf_hbase_stored_scan *stored; /* forwards, or where it is no run; else NULL */
    gf_buffer lower, upper; /* of keys of entries: row key | encoded qualifier; empty upper: none */
    gf_row at;              /* the block at hand */
    gf_buffer key;          /* its key */
    gf_run_reader reader;
    bool in_block, is_fresh; /* nothing of the block was given */
    gf_buffer last;          /* the entry that was given last */
    gf_buffer names;         /* keys of blocks, one behind the other; of a scan in reverse */
    size_t *name_ends;       /* n_names of capacity */
    size_t n_names, capacity;
    gf_buffer qualifier;
} run_scan;

/* ---- ranges ---------------------------------------------------------------------------------- */

static void raise_lower(run_scan *s, gf_slice key)
{
    if (gf_slice_compare(key, gf_buffer_view(&s->lower)) <= 0) return;
    gf_buffer_reset(&s->lower);
    gf_buffer_slice(&s->lower, key);
}

static void reduce_upper(run_scan *s, gf_slice key)
{
    if (key.len == 0) return;
    if (s->upper.len && gf_slice_compare(key, gf_buffer_view(&s->upper)) >= 0) return;
    gf_buffer_reset(&s->upper);
    gf_buffer_slice(&s->upper, key);
}

/* All keys that begin so. */
static gf_status bound_within(run_scan *s, gf_slice prefix, gf_error *err)
{
    gf_buffer behind = {0};
    gf_key_after_prefix(prefix, &behind);
    raise_lower(s, prefix);
    reduce_upper(s, gf_buffer_view(&behind));
    gf_status st = gf_buffer_check(&behind, err);
    gf_buffer_release(&behind);
    return st;
}

static gf_status bound_after(run_scan *s, const gf_scan_options *o, gf_error *err)
{
    gf_buffer key = {0}, behind = {0};
    gf_buffer_slice(&key, o->prefix);
    gf_key_string(&key, o->after_qualifier);
    gf_key_after_prefix(gf_buffer_view(&key), &behind);
    if (o->reverse)
        reduce_upper(s, gf_buffer_view(&key));
    else
        raise_lower(s, gf_buffer_view(&behind));
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_buffer_check(&behind, err);
    gf_buffer_release(&key);
    gf_buffer_release(&behind);
    return st;
}

static gf_status make_range(run_scan *s, const gf_scan_options *o, gf_error *err)
{
    gf_buffer key = {0};
    gf_status st = bound_within(s, o->prefix, err);
    raise_lower(s, o->start);
    reduce_upper(s, o->end);
    if (st == GF_OK && o->qualifier_prefix.len) {
        gf_buffer_slice(&key, o->prefix);
        gf_key_string_start(&key, o->qualifier_prefix);
        st = gf_buffer_check(&key, err);
        if (st == GF_OK) st = bound_within(s, gf_buffer_view(&key), err);
        gf_buffer_release(&key);
    }
    if (st == GF_OK && o->after_qualifier.ptr) st = bound_after(s, o, err);
    if (st == GF_OK) st = gf_buffer_check(&s->lower, err);
    return st == GF_OK ? gf_buffer_check(&s->upper, err) : st;
}

/* The end of a scan of blocks for entries before `upper`: behind the granule that it lies in. */
static void end_of_granule(const gf_schema *s, gf_slice upper, gf_buffer *end)
{
    gf_schema less = *s;
    less.n_parts--;
    size_t n = less.n_parts ? gf_schema_row_length(&less, upper) : 0;
    if (less.n_parts == 0) return; /* all rows are one granule */
    if (n == 0 || n == upper.len)
        gf_buffer_slice(end, upper);
    else
        gf_key_after_prefix(gf_slice_of(upper.ptr, n), end);
}

static gf_status open_stored(run_scan *s, unsigned table, const gf_scan_options *options,
                             bool keys_only, gf_hbase_stored_scan **stored, gf_error *err)
{
    gf_scan_options o = *options;
    gf_buffer end = {0};
    gf_status st = GF_OK;
    o.keys_only = keys_only;
    if (!s->is_wide) {
        end_of_granule(s->schema, gf_buffer_view(&s->upper), &end);
        o = GF_SCAN_OPTIONS(.family = s->family, .start = gf_buffer_view(&s->lower),
                            .end = gf_buffer_view(&end), .keys_only = keys_only);
        st = gf_buffer_check(&end, err);
    } else if (o.reverse) {
        o.reverse = false; /* up to the one that the first to be given is in */
        o.after_qualifier = (gf_slice){0};
    }
    if (st == GF_OK) st = gf_hbase_stored_scan_open(s->b, table, &o, true, stored, err);
    gf_buffer_release(&end);
    return st;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The key of the stored row or cell at hand. */
static gf_status make_key(const run_scan *s, const gf_row *row, gf_buffer *key, gf_error *err)
{
    gf_buffer_reset(key);
    gf_buffer_slice(key, row->key);
    if (s->is_wide && row->n_cells) gf_key_string(key, row->cells[0].qualifier);
    return gf_buffer_check(key, err);
}

static bool is_behind(const run_scan *s, gf_slice key)
{
    return s->upper.len && gf_slice_compare(key, gf_buffer_view(&s->upper)) >= 0;
}

static bool is_before(const run_scan *s, gf_slice key)
{
    return gf_slice_compare(key, gf_buffer_view(&s->lower)) < 0;
}

static gf_status add_columns(const run_scan *s, gf_slice value, gf_row *row, gf_error *err)
{
    gf_packed_reader reader = {.family = &s->schema->families[s->family], .rest = value};
    int64_t timestamp = s->at.cells[0].timestamp;
    for (;;) {
        gf_column column;
        gf_status st = gf_packed_next(&reader, &column, err);
        if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
        st = gf_row_add(row, &(gf_cell){s->family, column.name, column.value, timestamp}, err);
        if (st != GF_OK) return st;
    }
}

/* Give the entry that the reader is at; the row has a key already where `cells_only`. */
static gf_status give_entry(run_scan *s, gf_row *row, bool cells_only, gf_error *err)
{
    gf_slice key = gf_run_reader_key(&s->reader), value = {0};
    gf_slice of_row = gf_slice_of(key.ptr, gf_schema_row_length(s->schema, key));
    gf_status st = cells_only ? GF_OK : gf_row_set_key(row, of_row, err);
    if (st == GF_OK && !s->keys_only) st = gf_run_reader_value(&s->reader, &value, err);
    if (st != GF_OK) return st;
    value = gf_row_keep(row, value);
    if (!value.ptr) return gf_fail_memory(err, "a row");
    if (!s->is_wide) return s->keys_only ? GF_OK : add_columns(s, value, row, err);
    gf_slice rest = gf_slice_skip(key, of_row.len);
    gf_buffer_reset(&s->qualifier);
    if (!gf_key_take_string(&rest, &s->qualifier))
        return gf_fail(err, GF_ECORRUPT, "a block of a run has a key that is none");
    st = gf_buffer_check(&s->qualifier, err);
    if (st != GF_OK) return st;
    gf_cell cell = {s->family, gf_row_keep(row, gf_buffer_view(&s->qualifier)), value,
                    s->at.cells[0].timestamp};
    if (!cell.qualifier.ptr) return gf_fail_memory(err, "a row");
    return gf_row_add(row, &cell, err);
}

/* Give the stored row or cell at hand, which is an entry by itself. */
static gf_status give_stored(run_scan *s, gf_row *row, bool cells_only, gf_error *err)
{
    gf_status st = cells_only ? GF_OK : gf_row_set_key(row, s->at.key, err);
    for (size_t i = 0; i < s->at.n_cells && st == GF_OK && (s->is_wide || !s->keys_only); i++) {
        gf_cell cell = s->at.cells[i];
        cell.qualifier = gf_row_keep(row, cell.qualifier);
        cell.value = gf_row_keep(row, s->keys_only ? (gf_slice){0} : cell.value);
        st = cell.qualifier.ptr && cell.value.ptr ? gf_row_add(row, &cell, err)
                                                  : gf_fail_memory(err, "a row");
    }
    return st;
}

static gf_status note_last(run_scan *s, gf_slice key, gf_error *err)
{
    gf_buffer_reset(&s->last);
    gf_buffer_slice(&s->last, key);
    return gf_buffer_check(&s->last, err);
}

/* Open the block at hand, whose key is s->key. */
static gf_status enter_block(run_scan *s, gf_error *err)
{
    gf_run_reader_release(&s->reader);
    s->reader = (gf_run_reader){0};
    gf_status st =
        gf_run_reader_open(&s->reader, gf_buffer_view(&s->key), 0, s->at.cells[0].value, err);
    s->in_block = s->is_fresh = st == GF_OK;
    return st;
}

/* ---- forwards -------------------------------------------------------------------------------- */

/* To the next entry of the block; GF_ENOTFOUND: it has none in the range any more. */
static gf_status move_on(run_scan *s, gf_error *err)
{
    gf_slice from = gf_buffer_view(s->last.len ? &s->last : &s->lower);
    gf_status st = s->is_fresh ? gf_run_reader_seek(&s->reader, from, err)
                               : gf_run_reader_next(&s->reader, err);
    s->is_fresh = false;
    while (st == GF_OK && s->last.len &&
           gf_slice_compare(gf_run_reader_key(&s->reader), gf_buffer_view(&s->last)) <= 0)
        st = gf_run_reader_next(&s->reader, err);
    return st;
}

static gf_status next_forwards(run_scan *s, gf_row *row, gf_error *err)
{
    bool is_block;
    for (;;) {
        gf_status st = s->in_block ? move_on(s, err) : GF_ENOTFOUND;
        if (st == GF_OK) {
            gf_slice key = gf_run_reader_key(&s->reader);
            if (is_behind(s, key)) return GF_ENOTFOUND;
            st = note_last(s, key, err);
            return st == GF_OK ? give_entry(s, row, false, err) : st;
        }
        s->in_block = false;
        if (st == GF_ENOTFOUND) st = gf_row_begin(&s->at, err);
        if (st == GF_OK) st = gf_hbase_stored_scan_next(s->stored, &s->at, &is_block, err);
        if (st == GF_OK) st = make_key(s, &s->at, &s->key, err);
        if (st == GF_OK && is_block) st = enter_block(s, err);
        if (st != GF_OK) return st;
        if (is_block) continue;
        gf_slice key = gf_buffer_view(&s->key);
        if (is_behind(s, key)) return GF_ENOTFOUND;
        if (is_before(s, key) ||
            (s->last.len && gf_slice_compare(key, gf_buffer_view(&s->last)) <= 0))
            continue;
        st = note_last(s, key, err);
        return st == GF_OK ? give_stored(s, row, false, err) : st;
    }
}

/* ---- in reverse ------------------------------------------------------------------------------ */

static gf_status list_blocks(run_scan *s, unsigned table, const gf_scan_options *o, gf_error *err)
{
    gf_hbase_stored_scan *names = NULL;
    bool is_last = false;
    gf_status st = open_stored(s, table, o, true, &names, err);
    while (st == GF_OK && !is_last) {
        st = gf_row_begin(&s->at, err);
        if (st == GF_OK) st = gf_hbase_stored_scan_next(names, &s->at, NULL, err);
        if (st == GF_OK) st = make_key(s, &s->at, &s->key, err);
        if (st != GF_OK) break;
        gf_buffer_slice(&s->names, gf_buffer_view(&s->key));
        if (!gf_grow(&s->name_ends, &s->capacity, s->n_names + 1, sizeof *s->name_ends))
            st = gf_fail_memory(err, "a scan");
        else
            s->name_ends[s->n_names++] = s->names.len;
        is_last = is_behind(s, gf_buffer_view(&s->key));
    }
    gf_hbase_stored_scan_close(names);
    if (st == GF_ENOTFOUND) st = GF_OK;
    return st == GF_OK ? gf_buffer_check(&s->names, err) : st;
}

/* The block that comes before those that were read, or nothing where it has gone meanwhile. */
static gf_status read_block_before(run_scan *s, bool *is_block, gf_error *err)
{
    size_t i = --s->n_names, from = i ? s->name_ends[i - 1] : 0;
    gf_slice key = gf_slice_of(s->names.ptr + from, s->name_ends[i] - from);
    gf_slice of_row = gf_slice_of(key.ptr, gf_schema_row_length(s->schema, key));
    gf_slice rest = gf_slice_skip(key, of_row.len);
    gf_selection what = {UINT32_C(1) << s->family, s->is_wide, (gf_slice){0}, 1};
    gf_status st = gf_row_begin(&s->at, err);
    gf_buffer_reset(&s->qualifier);
    if (st == GF_OK && s->is_wide) {
        gf_key_take_string(&rest, &s->qualifier);
        what.qualifier = gf_buffer_view(&s->qualifier);
        st = gf_buffer_check(&s->qualifier, err);
    }
    *is_block = false;
    if (st == GF_OK) st = gf_row_set_key(&s->at, of_row, err);
    if (st == GF_OK)
        st = gf_hbase_get_stored(s->b, s->t, s->schema, of_row, &what, &s->at, is_block, err);
    return st == GF_OK ? make_key(s, &s->at, &s->key, err) : st;
}

static gf_status move_back(run_scan *s, gf_error *err)
{
    gf_status st;
    if (!s->is_fresh) return gf_run_reader_previous(&s->reader, err);
    s->is_fresh = false;
    st = s->upper.len ? gf_run_reader_seek(&s->reader, gf_buffer_view(&s->upper), err)
                      : GF_ENOTFOUND;
    if (st == GF_ENOTFOUND) return gf_run_reader_last(&s->reader, err);
    return st == GF_OK ? gf_run_reader_previous(&s->reader, err) : st;
}

static gf_status next_in_reverse(run_scan *s, gf_row *row, gf_error *err)
{
    bool is_block;
    for (;;) {
        gf_status st = s->in_block ? move_back(s, err) : GF_ENOTFOUND;
        if (st == GF_OK)
            return is_before(s, gf_run_reader_key(&s->reader)) ? GF_ENOTFOUND
                                                               : give_entry(s, row, false, err);
        s->in_block = false;
        if (st != GF_ENOTFOUND || s->n_names == 0) return st;
        st = read_block_before(s, &is_block, err);
        if (st == GF_OK && is_block) st = enter_block(s, err);
        if (st != GF_OK) return st;
        if (is_block || s->at.n_cells == 0) continue;
        gf_slice key = gf_buffer_view(&s->key);
        if (is_before(s, key)) return GF_ENOTFOUND;
        if (!is_behind(s, key)) return give_stored(s, row, false, err);
    }
}

/* ---- scans ----------------------------------------------------------------------------------- */

gf_status gf_hbase_scan_open(gf_backend *backend, const void *snapshot, unsigned table,
                             const gf_scan_options *o, gf_backend_scan **scan, gf_error *err)
{
    (void)snapshot;
    run_scan *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a scan");
    s->b = (gf_hbase *)backend;
    gf_status st = gf_hbase_find_table(s->b, table, &s->t, &s->schema, err);
    if (st == GF_OK) {
        const gf_family *f = &s->schema->families[o->family];
        s->family = o->family;
        s->is_wide = f->layout == GF_LAYOUT_WIDE;
        s->is_run = f->run && !(o->as_stored && o->keys_only);
        s->reverse = o->reverse;
        s->keys_only = o->keys_only;
        if (!s->is_run) {
            st = gf_hbase_stored_scan_open(s->b, table, o, false, &s->stored, err);
        } else {
            st = make_range(s, o, err);
            if (st == GF_OK)
                st = o->reverse ? list_blocks(s, table, o, err)
                                : open_stored(s, table, o, false, &s->stored, err);
        }
    }
    if (st != GF_OK) {
        gf_hbase_scan_close((gf_backend_scan *)s);
        return st;
    }
    *scan = (gf_backend_scan *)s;
    return GF_OK;
}

gf_status gf_hbase_scan_next(gf_backend_scan *scan, gf_row *row, gf_error *err)
{
    run_scan *s = (run_scan *)scan;
    if (!s->is_run) return gf_hbase_stored_scan_next(s->stored, row, NULL, err);
    return s->reverse ? next_in_reverse(s, row, err) : next_forwards(s, row, err);
}

static void release_scan(run_scan *s)
{
    gf_hbase_stored_scan_close(s->stored);
    gf_run_reader_release(&s->reader);
    gf_row_release(&s->at);
    gf_buffer_release(&s->lower);
    gf_buffer_release(&s->upper);
    gf_buffer_release(&s->key);
    gf_buffer_release(&s->last);
    gf_buffer_release(&s->names);
    gf_buffer_release(&s->qualifier);
    gf_free(s->name_ends);
}

void gf_hbase_scan_close(gf_backend_scan *scan)
{
    release_scan((run_scan *)scan);
    gf_free(scan);
}

/* ---- one entry ------------------------------------------------------------------------------- */

/* The request for the first stored row or cell that is not below an entry, in one call. */
static gf_status begin_find(run_scan *s, gf_slice key, const gf_slice *qualifier,
                            gf_hbase_call *call, gf_error *err)
{
    gf_buffer start = {0}, end = {0}, bound = {0}, filter = {0}, *to = &call->request;
    gf_status st = gf_hbase_row_of_key(s->schema, key, &start, err);
    if (qualifier) {
        gf_buffer_slice(&end, gf_buffer_view(&start));
        gf_buffer_byte(&end, 0);
        gf_buffer_str(&filter, "ColumnRangeFilter(");
        gf_hbase_put_quoted(&filter, *qualifier);
        gf_buffer_str(&filter, ", true, '', false)");
    } else {
        end_of_granule(s->schema, key, &bound);
        gf_hbase_row_of_bound(s->schema, gf_buffer_view(&bound), &end);
    }
    gf_hbase_begin_on_table(call, "getScannerResults", s->t);
    gf_thrift_field(to, GF_THRIFT_STRUCT, 2);
    gf_thrift_string_field(to, 1, gf_buffer_view(&start));
    gf_thrift_string_field(to, 2, gf_buffer_view(&end));
    gf_thrift_field(to, GF_THRIFT_LIST, 3);
    gf_thrift_list(to, GF_THRIFT_STRUCT, 1);
    gf_thrift_string_field(to, 1, gf_slice_str(s->schema->families[s->family].name));
    gf_thrift_stop(to);
    gf_thrift_i32_field(to, 4, 1); /* results that the gateway asks for at a time */
    if (qualifier) gf_thrift_string_field(to, 7, gf_buffer_view(&filter));
    if (qualifier) gf_thrift_i32_field(to, 8, 1);
    gf_thrift_stop(to);
    gf_thrift_i32_field(to, 3, 1);
    gf_buffer *all[] = {&start, &end, &bound, &filter};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (st == GF_OK) st = gf_buffer_check(all[i], err);
        gf_buffer_release(all[i]);
    }
    return st;
}

/* Take what the call found into s->at. */
static gf_status take_found(run_scan *s, gf_hbase_call *call, bool *is_block, gf_error *err)
{
    gf_thrift_reader results = call->result;
    gf_hbase_result found = {0};
    gf_hbase_cell cell;
    gf_buffer key = {0};
    *is_block = false;
    uint32_t n = call->has_result ? gf_thrift_take_list(&results, GF_THRIFT_STRUCT) : 0;
    gf_status st = gf_row_begin(&s->at, err);
    if (st != GF_OK || n == 0) return st;
    if (!gf_hbase_take_result(&results, &found))
        return gf_fail(err, GF_EIO, "the gateway of HBase sent rows that cannot be read");
    st = gf_hbase_key_of_row(s->schema, found.row, &key, err);
    if (st == GF_OK) st = gf_row_set_key(&s->at, gf_buffer_view(&key), err);
    gf_buffer_release(&key);
    for (uint32_t i = 0; i < found.n_cells && st == GF_OK; i++)
        st = gf_hbase_take_cell(&found.cells, &cell)
                 ? gf_hbase_add_cell(s->b, s->t, found.row, &s->at, s->family, &cell, is_block, err)
                 : gf_fail(err, GF_EIO, "the gateway of HBase sent a cell that cannot be read");
    return st == GF_OK ? make_key(s, &s->at, &s->key, err) : st;
}

static gf_status find_entry(run_scan *s, gf_slice key, const gf_slice *qualifier, gf_row *row,
                            gf_error *err)
{
    gf_hbase_call call = {0};
    gf_buffer wanted = {0};
    bool is_block;
    gf_buffer_slice(&wanted, key);
    if (qualifier) gf_key_string(&wanted, *qualifier);
    gf_status st = gf_buffer_check(&wanted, err);
    if (st == GF_OK) st = begin_find(s, key, qualifier, &call, err);
    if (st == GF_OK)
        st = gf_hbase_call_run(s->b->client, &call, GF_THRIFT_LIST, GF_HBASE_READS, err);
    if (st == GF_OK) st = take_found(s, &call, &is_block, err);
    if (st != GF_OK || s->at.n_cells == 0) goto done;
    if (!is_block) {
        if (gf_slice_equal(gf_buffer_view(&s->key), gf_buffer_view(&wanted)))
            st = give_stored(s, row, true, err);
        goto done;
    }
    st = enter_block(s, err);
    if (st == GF_OK) st = gf_run_reader_seek(&s->reader, gf_buffer_view(&wanted), err);
    if (st == GF_OK && gf_slice_equal(gf_run_reader_key(&s->reader), gf_buffer_view(&wanted)))
        st = give_entry(s, row, true, err);
    if (st == GF_ENOTFOUND) st = GF_OK;
done:
    gf_hbase_call_release(&call);
    gf_buffer_release(&wanted);
    return st;
}

static gf_status add_row(gf_backend_scan *from, unsigned family, gf_row *row, gf_error *err)
{
    gf_row entry = {0};
    for (;;) {
        gf_status st = gf_row_begin(&entry, err);
        if (st == GF_OK) st = gf_hbase_scan_next(from, &entry, err);
        for (size_t i = 0; i < entry.n_cells && st == GF_OK; i++) {
            gf_cell cell = entry.cells[i];
            cell.qualifier = gf_row_keep(row, cell.qualifier);
            cell.value = gf_row_keep(row, cell.value);
            cell.family = family;
            st = cell.qualifier.ptr && cell.value.ptr ? gf_row_add(row, &cell, err)
                                                      : gf_fail_memory(err, "a row");
        }
        if (st == GF_OK) continue;
        gf_row_release(&entry);
        return st == GF_ENOTFOUND ? GF_OK : st;
    }
}

gf_status gf_hbase_get_of_run(gf_hbase *b, unsigned table, unsigned family, gf_slice key,
                              const gf_slice *qualifier, gf_row *row, gf_error *err)
{
    gf_backend_scan *all;
    run_scan s = {.b = b, .family = family};
    gf_status st = gf_hbase_find_table(b, table, &s.t, &s.schema, err);
    if (st != GF_OK) return st;
    s.is_wide = s.schema->families[family].layout == GF_LAYOUT_WIDE;
    if (s.is_wide && !qualifier) {
        gf_scan_options o = GF_SCAN_OPTIONS(.family = family, .prefix = key);
        st = gf_hbase_scan_open(&b->base, NULL, table, &o, &all, err);
        if (st != GF_OK) return st;
        st = add_row(all, family, row, err);
        gf_hbase_scan_close(all);
        return st;
    }
    if (s.is_wide) {
        st = find_entry(&s, key, qualifier, row, err);
    } else {
        size_t before = row->n_cells;
        st = find_entry(&s, key, NULL, row, err);
        if (st == GF_OK && qualifier) { /* of all columns one */
            size_t kept = before;
            for (size_t i = before; i < row->n_cells; i++)
                if (gf_slice_equal(row->cells[i].qualifier, *qualifier))
                    row->cells[kept++] = row->cells[i];
            row->n_cells = kept;
        }
    }
    release_scan(&s);
    return st;
}
