/*
 * Scans: the gateway keeps a scanner, of which results are fetched in pages.
 *
 *     packed            a result is a row, and an entry
 *     wide              a result is a part of a row, a cell of it an entry
 *     wide, in reverse  a result is a whole row, and its cells are entries from the last on
 *
 * A scanner goes with its gateway, and after a minute in which nobody has asked for more. The scan
 * then opens another behind the entry that it gave last; what was given is not given again.
 */
#include "storage/hbase/internal.h"

#include "base/memory.h"

enum {
    FIRST_PAGE = 32,    /* results */
    LARGEST_PAGE = 512, /* likewise */
    PAGE_BYTES = 1 << 20,
    PART = 128, /* cells of a part of a row */
    BLOCKS = 8  /* likewise, of a run; and results of the first page */
};

struct gf_hbase_stored_scan {
    gf_hbase *b;
    unsigned table;
    gf_hbase_table *t;
    const gf_schema *schema;
    unsigned family;
    bool reverse, is_wide, keys_only, is_open, at_end, is_empty;
    bool for_run; /* of blocks, which are large */
    int32_t scanner;
    int32_t page, most;   /* results that are asked for, and may be */
    gf_buffer start, end; /* of HBase's rows: the first, the first behind; empty: no end */
    gf_buffer filter;
    gf_hbase_call call;
    gf_thrift_reader results; /* n_results of them come next */
    uint32_t n_results;
    gf_hbase_result at;   /* the result at hand */
    uint32_t left;        /* its cells that were not given yet */
    gf_hbase_cell *cells; /* capacity: of a row that is given in reverse */
    size_t capacity;
    gf_buffer row, qualifier; /* of the entry that was given last */
    bool has_given;
    gf_buffer key;
};

/* ---- opening --------------------------------------------------------------------------------- */

/* Each ' is written twice. */
void gf_hbase_put_quoted(gf_buffer *b, gf_slice s)
{
    gf_buffer_byte(b, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\'') gf_buffer_byte(b, '\'');
        gf_buffer_byte(b, s.ptr[i]);
    }
    gf_buffer_byte(b, '\'');
}

/* The cells of a row that begin so, and come behind (in reverse: before) one. */
static gf_status make_filter(gf_hbase_stored_scan *s, const gf_scan_options *o, gf_error *err)
{
    gf_buffer from = {0}, to = {0}; /* the first, and the first behind; empty: there is no end */
    if (s->keys_only) gf_buffer_str(&s->filter, "KeyOnlyFilter()");
    if (s->keys_only && !s->is_wide) gf_buffer_str(&s->filter, " AND FirstKeyOnlyFilter()");
    gf_buffer_slice(&from, o->qualifier_prefix);
    gf_key_after_prefix(o->qualifier_prefix, &to);
    gf_slice after = o->after_qualifier;
    if (after.ptr && !o->reverse && gf_slice_compare(after, gf_buffer_view(&from)) >= 0) {
        from.len = 0;
        gf_buffer_slice(&from, after);
        gf_buffer_byte(&from, 0);
    }
    if (after.ptr && o->reverse) {
        if (after.len == 0) s->is_empty = true; /* nothing is before the empty one */
        if (to.len == 0 || gf_slice_compare(after, gf_buffer_view(&to)) < 0) {
            to.len = 0;
            gf_buffer_slice(&to, after);
        }
    }
    if (to.len && gf_slice_compare(gf_buffer_view(&from), gf_buffer_view(&to)) >= 0)
        s->is_empty = true;
    if (s->for_run) to.len = 0;
    if (from.len || to.len) {
        gf_buffer_str(&s->filter, s->filter.len ? " AND ColumnRangeFilter(" : "ColumnRangeFilter(");
        gf_hbase_put_quoted(&s->filter, gf_buffer_view(&from));
        gf_buffer_str(&s->filter, ", true, ");
        gf_hbase_put_quoted(&s->filter, gf_buffer_view(&to));
        gf_buffer_str(&s->filter, ", false)");
    }
    gf_status st = gf_buffer_check(&from, err);
    if (st == GF_OK) st = gf_buffer_check(&to, err);
    gf_buffer_release(&from);
    gf_buffer_release(&to);
    return st == GF_OK ? gf_buffer_check(&s->filter, err) : st;
}

static void take_later(gf_buffer *a, const gf_buffer *b)
{
    if (gf_slice_compare(gf_buffer_view(b), gf_buffer_view(a)) <= 0) return;
    a->len = 0;
    gf_buffer_slice(a, gf_buffer_view(b));
}

static void take_earlier_end(gf_buffer *a, const gf_buffer *b)
{
    if (b->len == 0) return;
    if (a->len && gf_slice_compare(gf_buffer_view(b), gf_buffer_view(a)) >= 0) return;
    a->len = 0;
    gf_buffer_slice(a, gf_buffer_view(b));
}

static gf_status make_range(gf_hbase_stored_scan *s, const gf_scan_options *o, gf_error *err)
{
    gf_buffer start = {0}, end = {0};
    gf_hbase_rows_of_prefix(s->schema, o->prefix, &s->start, &s->end);
    gf_hbase_row_of_bound(s->schema, o->start, &start);
    gf_hbase_row_of_bound(s->schema, o->end, &end);
    take_later(&s->start, &start);
    take_earlier_end(&s->end, &end);
    /* An end that is there, and is before all rows. */
    if (o->end.len && end.len == 0) s->is_empty = true;
    if (s->end.len && gf_slice_compare(gf_buffer_view(&s->start), gf_buffer_view(&s->end)) >= 0)
        s->is_empty = true;
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_buffer_check(&end, err);
    if (st == GF_OK) st = gf_buffer_check(&s->start, err);
    if (st == GF_OK) st = gf_buffer_check(&s->end, err);
    gf_buffer_release(&start);
    gf_buffer_release(&end);
    return st;
}

gf_status gf_hbase_stored_scan_open(gf_hbase *b, unsigned table, const gf_scan_options *o,
                                    bool for_run, gf_hbase_stored_scan **scan, gf_error *err)
{
    bool there = false;
    gf_hbase_stored_scan *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a scan");
    s->b = b;
    s->table = table;
    gf_status st = gf_hbase_find_table(s->b, table, &s->t, &s->schema, err);
    if (st == GF_OK) st = gf_hbase_look_for_table(s->b, s->t, &there, err);
    if (st == GF_OK) {
        s->family = o->family;
        s->reverse = o->reverse;
        s->keys_only = o->keys_only;
        s->for_run = for_run;
        s->is_wide = s->schema->families[o->family].layout == GF_LAYOUT_WIDE;
        s->page = for_run && !o->keys_only ? BLOCKS : FIRST_PAGE;
        s->most = LARGEST_PAGE;
        st = make_range(s, o, err);
    }
    if (st == GF_OK) st = make_filter(s, o, err);
    if (st != GF_OK) {
        gf_hbase_stored_scan_close(s);
        return st;
    }
    s->at_end = s->is_empty || !there;
    *scan = s;
    return GF_OK;
}

static void close_scanner(gf_hbase_stored_scan *s)
{
    if (!s->is_open) return;
    s->is_open = false;
    gf_hbase_call_begin(&s->call, "closeScanner");
    gf_thrift_i32_field(&s->call.request, 1, s->scanner);
    /* One that cannot be closed ends by itself. */
    (void)gf_hbase_call_run(s->b->client, &s->call, GF_THRIFT_STOP, GF_HBASE_READS_ONCE, NULL);
}

void gf_hbase_stored_scan_close(gf_hbase_stored_scan *s)
{
    if (!s) return;
    close_scanner(s);
    gf_hbase_call_release(&s->call);
    gf_buffer_release(&s->start);
    gf_buffer_release(&s->end);
    gf_buffer_release(&s->filter);
    gf_buffer_release(&s->row);
    gf_buffer_release(&s->qualifier);
    gf_buffer_release(&s->key);
    gf_free(s->cells);
    gf_free(s);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/*
 * Forwards from the row of the entry that was given last on, which may have more; in reverse from there
 * downwards, or from the end, which is not in the range, and is passed over.
 */
static gf_status open_scanner(gf_hbase_stored_scan *s, gf_error *err)
{
    gf_buffer *to = &s->call.request;
    gf_slice start = gf_buffer_view(s->has_given ? &s->row : s->reverse ? &s->end : &s->start);
    gf_hbase_begin_on_table(&s->call, "openScanner", s->t);
    gf_thrift_field(to, GF_THRIFT_STRUCT, 2);
    gf_thrift_string_field(to, 1, start);
    if (!s->reverse) gf_thrift_string_field(to, 2, gf_buffer_view(&s->end));
    gf_thrift_field(to, GF_THRIFT_LIST, 3);
    gf_thrift_list(to, GF_THRIFT_STRUCT, 1);
    gf_thrift_string_field(to, 1, gf_slice_str(s->schema->families[s->family].name));
    gf_thrift_stop(to);
    if (s->filter.len) gf_thrift_string_field(to, 7, gf_buffer_view(&s->filter));
    int32_t part = s->for_run && !s->keys_only ? BLOCKS : PART;
    if (s->is_wide && !s->reverse) gf_thrift_i32_field(to, 8, part);
    if (s->reverse) gf_thrift_bool_field(to, 11, true);
    gf_thrift_stop(to);
    gf_status st = gf_hbase_call_run(s->b->client, &s->call, GF_THRIFT_I32, GF_HBASE_READS, err);
    if (st != GF_OK) return gf_hbase_fail_table(s->t, st, err);
    if (!s->call.has_result) return gf_fail(err, GF_EIO, "the gateway of HBase opened no scan");
    s->scanner = gf_thrift_take_i32(&s->call.result);
    s->is_open = true;
    return GF_OK;
}

static gf_status try_page(gf_hbase_stored_scan *s, gf_error *err)
{
    gf_status st = s->is_open ? GF_OK : open_scanner(s, err);
    if (st != GF_OK) return st;
    gf_hbase_call_begin(&s->call, "getScannerRows");
    gf_thrift_i32_field(&s->call.request, 1, s->scanner);
    gf_thrift_i32_field(&s->call.request, 2, s->page);
    st = gf_hbase_call_run(s->b->client, &s->call, GF_THRIFT_LIST, GF_HBASE_READS_ONCE, err);
    if (st == GF_EINVAL) s->is_open = false; /* the gateway does not know it */
    return st;
}

/*
 * The next page, by another scanner where the one at hand is gone. One that is larger than an answer
 * may be is asked for again in parts: the rows before it were small.
 */
static gf_status next_page(gf_hbase_stored_scan *s, gf_error *err)
{
    enum { FEWER = 16 };
    bool was_open = s->is_open;
    gf_status st = try_page(s, err);
    if (was_open && (st == GF_EIO || st == GF_EINVAL)) {
        close_scanner(s);
        st = try_page(s, err);
    }
    while (st == GF_ELIMIT && s->page > 1) {
        s->most = s->page = s->page > FEWER ? s->page / FEWER : 1;
        close_scanner(s);
        st = try_page(s, err);
    }
    if (st != GF_OK) return st;
    s->results = s->call.result;
    s->n_results = s->call.has_result ? gf_thrift_take_list(&s->results, GF_THRIFT_STRUCT) : 0;
    if (s->results.bad) return gf_fail(err, GF_EIO, "the gateway of HBase sent no list of rows");
    s->at_end = s->n_results < (uint32_t)s->page;
    size_t bytes = s->call.answer.len;
    if (bytes < PAGE_BYTES / 2 && s->page < s->most) s->page *= 2;
    if (bytes > PAGE_BYTES && s->page > 1) s->page /= 2;
    return GF_OK;
}

/* ---- entries --------------------------------------------------------------------------------- */

static gf_status bad_page(gf_error *err)
{
    return gf_fail(err, GF_EIO, "the gateway of HBase sent rows that cannot be read");
}

/* A result of a row that was given, or of one that is not in the range. */
static bool passes_over(gf_hbase_stored_scan *s)
{
    gf_slice row = s->at.row;
    if (s->at.n_cells == 0) return true;
    if (s->has_given && gf_slice_equal(row, gf_buffer_view(&s->row)))
        return !s->is_wide; /* of a wide one cells may be left */
    return s->reverse && s->end.len && gf_slice_compare(row, gf_buffer_view(&s->end)) >= 0;
}

/* All cells of the row, to be given from the last on. */
static gf_status gather_cells(gf_hbase_stored_scan *s, gf_error *err)
{
    if (s->left > s->capacity) {
        gf_hbase_cell *more = gf_realloc(s->cells, s->left, sizeof *more);
        if (!more) return gf_fail_memory(err, "a scan");
        s->cells = more;
        s->capacity = s->left;
    }
    for (uint32_t i = 0; i < s->left; i++)
        if (!gf_hbase_take_cell(&s->at.cells, &s->cells[i])) return bad_page(err);
    return GF_OK;
}

/* The next result with entries in it; GF_ENOTFOUND at the end. */
static gf_status next_result(gf_hbase_stored_scan *s, gf_error *err)
{
    for (;;) {
        while (s->n_results == 0) {
            if (s->at_end) {
                close_scanner(s);
                return GF_ENOTFOUND;
            }
            gf_status st = next_page(s, err);
            if (st != GF_OK) return st;
        }
        s->n_results--;
        if (!gf_hbase_take_result(&s->results, &s->at)) return bad_page(err);
        if (passes_over(s)) continue;
        if (s->reverse && gf_slice_compare(s->at.row, gf_buffer_view(&s->start)) < 0) {
            s->at_end = true;
            s->n_results = 0;
            continue;
        }
        s->left = s->at.n_cells;
        return s->reverse && s->is_wide ? gather_cells(s, err) : GF_OK;
    }
}

static gf_status remember(gf_hbase_stored_scan *s, gf_slice qualifier, gf_error *err)
{
    if (!s->has_given || !gf_slice_equal(gf_buffer_view(&s->row), s->at.row)) {
        gf_buffer_reset(&s->row);
        gf_buffer_slice(&s->row, s->at.row);
    }
    gf_buffer_reset(&s->qualifier);
    gf_buffer_slice(&s->qualifier, qualifier);
    s->has_given = true;
    gf_status st = gf_buffer_check(&s->row, err);
    return st == GF_OK ? gf_buffer_check(&s->qualifier, err) : st;
}

static gf_status set_key(gf_hbase_stored_scan *s, gf_row *row, gf_error *err)
{
    gf_buffer_reset(&s->key);
    gf_status st = gf_hbase_key_of_row(s->schema, s->at.row, &s->key, err);
    return st == GF_OK ? gf_row_set_key(row, gf_buffer_view(&s->key), err) : st;
}

/* The cell was given by the scanner before this one. */
static bool was_given(const gf_hbase_stored_scan *s, const gf_hbase_cell *cell)
{
    if (!s->has_given || !gf_slice_equal(s->at.row, gf_buffer_view(&s->row))) return false;
    int order = gf_slice_compare(cell->qualifier, gf_buffer_view(&s->qualifier));
    return s->reverse ? order >= 0 : order <= 0;
}

/* The row once more, where a value that was cut went while it was read; perhaps there is none. */
static gf_status read_again(gf_hbase_stored_scan *s, const gf_slice *qualifier, gf_row *row,
                            bool *is_block, gf_error *err)
{
    gf_selection what = {UINT32_C(1) << s->family, qualifier != NULL,
                         qualifier ? *qualifier : (gf_slice){0}, 1};
    row->n_cells = 0;
    return gf_hbase_get_stored(s->b, s->t, s->schema, row->key, &what, row, is_block, err);
}

static gf_status next_cell(gf_hbase_stored_scan *s, gf_row *row, bool *is_block, gf_error *err)
{
    gf_hbase_cell cell;
    for (;;) {
        if (s->left == 0) {
            gf_status st = next_result(s, err);
            if (st != GF_OK) return st;
        }
        s->left--;
        if (s->reverse)
            cell = s->cells[s->left];
        else if (!gf_hbase_take_cell(&s->at.cells, &cell))
            return bad_page(err);
        if (was_given(s, &cell)) continue;
        gf_status st = set_key(s, row, err);
        if (st == GF_OK)
            st = gf_hbase_add_cell(s->b, s->t, s->at.row, row, s->family, &cell, is_block, err);
        if (st == GF_ECONFLICT) st = read_again(s, &cell.qualifier, row, is_block, err);
        if (st == GF_OK) st = remember(s, cell.qualifier, err);
        if (st != GF_OK || row->n_cells) return st;
    }
}

static gf_status next_row(gf_hbase_stored_scan *s, gf_row *row, bool *is_block, gf_error *err)
{
    gf_hbase_cell cell;
    for (;;) {
        gf_status st = next_result(s, err);
        if (st == GF_OK) st = set_key(s, row, err);
        for (uint32_t i = 0; i < s->at.n_cells && st == GF_OK && !s->keys_only; i++)
            st =
                gf_hbase_take_cell(&s->at.cells, &cell)
                    ? gf_hbase_add_cell(s->b, s->t, s->at.row, row, s->family, &cell, is_block, err)
                    : bad_page(err);
        if (st == GF_ECONFLICT) st = read_again(s, NULL, row, is_block, err);
        if (st != GF_OK) return st;
        s->left = 0;
        gf_hbase_sort_cells(s->schema, row);
        st = remember(s, (gf_slice){0}, err);
        if (st != GF_OK || row->n_cells || s->keys_only) return st;
    }
}

gf_status gf_hbase_stored_scan_next(gf_hbase_stored_scan *s, gf_row *row, bool *is_block,
                                    gf_error *err)
{
    bool ignored;
    if (!is_block) is_block = &ignored;
    *is_block = false;
    return s->is_wide ? next_cell(s, row, is_block, err) : next_row(s, row, is_block, err);
}
