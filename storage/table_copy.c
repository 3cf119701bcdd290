/*
 * Copying rows.
 *
 *     a family is scanned by rows (packed) or cells (wide), each in its newest version; where the
 *     family keeps several, all of the row, or of the cell, are read beside it
 *     batches are written by another thread while the next one is filled
 */
#include "storage/table_copy.h"

#include "base/grow.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/number.h"
#include "storage/schema.h"
#include "storage/table_internal.h"
#include "storage/tables.h"
#include "storage/write_behind.h"

#include <stdlib.h>

enum { BATCH_CHANGES = 4000, BATCH_BYTES = 4 << 20, TELL_EACH = 1000 };

typedef struct filling {
    gf_table_copying *c;
    unsigned family;
    const gf_family *of_from, *of_to;
    gf_write_behind behind;
    gf_row row, versions;
    gf_slice key; /* of the row in `to` */
    gf_buffer made_key;
    gf_column *columns;     /* column_capacity */
    const gf_cell **sorted; /* sorted_capacity */
    size_t column_capacity, sorted_capacity;
    /* A run's block in the making, whose values are of these columns, or bytes (n_typed 0). */
    gf_run_block block;
    const gf_run_column *typed; /* n_typed */
    size_t n_typed;
    bool open, open_typed;
    gf_buffer text;
} filling;

/* ---- versions -------------------------------------------------------------------------------- */

static gf_status grow_columns(filling *f, size_t n, gf_error *err)
{
    if (gf_grow(&f->columns, &f->column_capacity, n + 1, sizeof *f->columns)) return GF_OK;
    return gf_fail_memory(err, "a row");
}

/* All versions of all columns of a packed row. */
static gf_status read_versions(filling *f, gf_slice key, gf_error *err)
{
    gf_table *t = f->c->from;
    gf_backend *b = t->db->backend;
    gf_selection what = {.families = UINT32_C(1) << f->family, .versions = f->of_from->versions};
    gf_status st = gf_row_begin(&f->versions, err);
    if (st == GF_OK) st = gf_row_set_key(&f->versions, key, err);
    if (st == GF_OK)
        st = b->operations->get(b, gf_snapshot_of_backend(f->c->snapshot), t->number, key, &what,
                                &f->versions, err);
    if (st != GF_OK) gf_error_prefix(err, "table %s", gf_table_schema(t)->name);
    return st;
}

static int compare_times(const void *a, const void *b)
{
    const gf_cell *x = *(const gf_cell *const *)a, *y = *(const gf_cell *const *)b;
    if (x->timestamp != y->timestamp) return x->timestamp < y->timestamp ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The cells by their times, the oldest first. */
static gf_status sort_cells(filling *f, const gf_row *row, gf_error *err)
{
    if (!gf_grow(&f->sorted, &f->sorted_capacity, row->n_cells + 1, sizeof *f->sorted))
        return gf_fail_memory(err, "versions");
    for (size_t i = 0; i < row->n_cells; i++)
        f->sorted[i] = &row->cells[i];
    if (row->n_cells > 1) qsort(f->sorted, row->n_cells, sizeof *f->sorted, compare_times);
    return GF_OK;
}

/* The time of a cell in `to`. */
static int64_t time_of(filling *f, const gf_cell *cell)
{
    gf_table_copying *c = f->c;
    int64_t time = c->timeless ? 0 : cell->timestamp ? cell->timestamp : c->untimed;
    if (time > c->newest) c->newest = time;
    return time;
}

static void put_cell(filling *f, const gf_cell *cell)
{
    gf_batch_put(f->behind.batch, f->c->to, f->key, f->family, cell->qualifier, cell->value,
                 time_of(f, cell));
}

static gf_status put_cells(filling *f, const gf_row *row, gf_error *err)
{
    gf_status st = sort_cells(f, row, err);
    for (size_t i = 0; i < row->n_cells && st == GF_OK; i++)
        put_cell(f, f->sorted[i]);
    return st;
}

/* The cells from `from` to `to` of those that are sorted, which have one time. */
static gf_status replace_row(filling *f, size_t from, size_t to, gf_error *err)
{
    gf_status st = grow_columns(f, to - from, err);
    for (size_t i = from; i < to && st == GF_OK; i++)
        f->columns[i - from] = (gf_column){f->sorted[i]->qualifier, f->sorted[i]->value};
    if (st == GF_OK)
        gf_batch_replace(f->behind.batch, f->c->to, f->key, f->family, f->columns, to - from,
                         time_of(f, f->sorted[to - 1]));
    return st;
}

/* Each version of a row as a whole. */
static gf_status replace_versions(filling *f, const gf_row *row, gf_error *err)
{
    gf_status st = sort_cells(f, row, err);
    for (size_t i = 0, end; i < row->n_cells && st == GF_OK; i = end) {
        for (end = i + 1; end < row->n_cells; end++)
            if (f->sorted[end]->timestamp != f->sorted[i]->timestamp) break;
        st = replace_row(f, i, end, err);
    }
    return st;
}

/* ---- entries --------------------------------------------------------------------------------- */

static gf_status copy_row(filling *f, gf_error *err)
{
    const gf_row *row = &f->row;
    gf_status st = GF_OK;
    if (f->of_from->versions > 1) {
        st = read_versions(f, row->key, err);
        row = &f->versions;
        if (st != GF_OK || row->n_cells == 0) return st; /* expired since */
    }
    if (f->c->cell_times) return put_cells(f, row, err);
    if (f->of_from->versions > 1) return replace_versions(f, row, err);
    st = sort_cells(f, row, err);
    return st == GF_OK ? replace_row(f, 0, row->n_cells, err) : st;
}

static gf_status copy_cell(filling *f, gf_error *err)
{
    const gf_cell *cell = &f->row.cells[0];
    if (f->of_from->versions <= 1) {
        put_cell(f, cell);
        return GF_OK;
    }
    gf_status st = gf_table_get_cell(f->c->from, f->c->snapshot, f->row.key, f->family,
                                     cell->qualifier, f->of_from->versions, &f->versions, err);
    if (st == GF_ENOTFOUND) return GF_OK; /* expired since */
    return st == GF_OK ? put_cells(f, &f->versions, err) : st;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Columns of the program's own runs: their blocks are then as a rebuild makes them. */
static void find_typed(filling *f)
{
    const char *table = gf_table_schema(f->c->from)->name;
    if (strcmp(table, "memberships") == 0 && f->family == GF_MEMBERSHIPS_MAIN) {
        f->typed = gf_tables_membership_columns;
        f->n_typed = GF_MEMBERSHIP_COLUMNS;
    } else if (strcmp(table, "clusters") == 0 && f->family == GF_CLUSTERS_DOCUMENTS) {
        f->typed = &gf_tables_listed_column;
        f->n_typed = 1;
    } else {
        f->n_typed = 0;
    }
}

/* *typed: the number says all of the score's text. */
static gf_status read_score(filling *f, gf_slice text, gf_run_value *value, bool *typed,
                            gf_error *err)
{
    double number;
    if (!gf_number_read_decimal(text, &number)) return GF_OK;
    gf_buffer_reset(&f->text);
    gf_json_append_float(&f->text, (float)number);
    *value = gf_tables_listed_value((float)number);
    *typed = gf_slice_equal(gf_buffer_view(&f->text), text);
    return gf_buffer_check(&f->text, err);
}

/* *typed: the entry is of the columns' forms; what is of another is kept as bytes. */
static gf_status take_values(filling *f, gf_run_value *values, bool *typed, gf_error *err)
{
    gf_membership_cells m;
    size_t n = 0;
    *typed = false;
    if (f->n_typed == 0) return GF_OK;
    if (f->of_from->layout == GF_LAYOUT_WIDE)
        return read_score(f, f->row.cells[0].value, values, typed, err);
    if (gf_tables_membership_read(&f->row, f->family, &m, NULL) != GF_OK) return GF_OK;
    gf_tables_membership_values(&m, values);
    for (size_t i = 0; i < f->n_typed; i++)
        n += values[i].there;
    *typed = n == f->row.n_cells;
    return GF_OK;
}

static gf_status end_block(filling *f, gf_error *err)
{
    if (!f->open || f->block.n == 0) return GF_OK;
    gf_status st = gf_run_block_finish(&f->block, err);
    if (st == GF_OK) gf_batch_put_block(f->behind.batch, &f->block);
    f->open = false;
    return st;
}

static gf_status add_as_bytes(filling *f, gf_error *err)
{
    const gf_row *row = &f->row;
    if (f->of_from->layout == GF_LAYOUT_WIDE)
        return gf_run_block_add_cell(&f->block, f->key, row->cells[0].qualifier,
                                     row->cells[0].value, err);
    gf_status st = grow_columns(f, row->n_cells, err);
    for (size_t i = 0; i < row->n_cells && st == GF_OK; i++)
        f->columns[i] = (gf_column){row->cells[i].qualifier, row->cells[i].value};
    if (st == GF_OK) st = gf_run_block_add_row(&f->block, f->key, f->columns, row->n_cells, err);
    return st;
}

static gf_status add_to_run(filling *f, gf_error *err)
{
    gf_run_value values[GF_MEMBERSHIP_COLUMNS];
    gf_slice qualifier = {0};
    bool typed;
    gf_status st = take_values(f, values, &typed, err);
    if (st == GF_OK && f->open && f->block.n &&
        (typed != f->open_typed || gf_run_block_is_full(&f->block) ||
         !gf_run_block_takes(&f->block, f->key)))
        st = end_block(f, err);
    if (st == GF_OK && !f->open) {
        st = gf_run_block_begin(&f->block, f->c->to, f->family, typed ? f->typed : NULL,
                                typed ? f->n_typed : 0, err);
        f->open = st == GF_OK;
        f->open_typed = typed;
    }
    if (st != GF_OK) return st;
    if (f->of_from->layout == GF_LAYOUT_WIDE) qualifier = f->row.cells[0].qualifier;
    return typed ? gf_run_block_add(&f->block, f->key, qualifier, values, err)
                 : add_as_bytes(f, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void prepare(const gf_table_copying *c, gf_batch *b)
{
    if (c->prepare) c->prepare(c->context, b);
}

static gf_status write_if_full(filling *f, gf_error *err)
{
    gf_batch *b = f->behind.batch;
    if (gf_batch_changes(b) < BATCH_CHANGES && gf_batch_bytes(b) < BATCH_BYTES) return GF_OK;
    prepare(f->c, b);
    return gf_write_behind_next(&f->behind, err);
}

static gf_status make_key(filling *f, gf_error *err)
{
    const gf_table_copying *c = f->c;
    f->key = f->row.key;
    if (c->from_start.len == 0 && c->to_start.len == 0) return GF_OK;
    gf_buffer_reset(&f->made_key);
    gf_buffer_slice(&f->made_key, c->to_start);
    gf_buffer_slice(&f->made_key, gf_slice_skip(f->row.key, c->from_start.len));
    f->key = gf_buffer_view(&f->made_key);
    return gf_buffer_check(&f->made_key, err);
}

static void count_entry(filling *f)
{
    gf_table_copying *c = f->c;
    c->bytes += f->row.key.len;
    for (size_t i = 0; i < f->row.n_cells; i++)
        c->bytes += f->row.cells[i].qualifier.len + f->row.cells[i].value.len;
    if (++c->entries % TELL_EACH == 0 && c->told) c->told(c->context, c->entries);
}

static gf_status copy_entries(filling *f, gf_scan *scan, gf_error *err)
{
    bool run = f->of_to->run, wide = f->of_from->layout == GF_LAYOUT_WIDE;
    for (;;) {
        gf_status st = gf_scan_next(scan, &f->row, err);
        if (st == GF_ENOTFOUND) return run ? end_block(f, err) : GF_OK;
        if (st == GF_OK) st = gf_cancel_check(f->c->cancel, err);
        if (st == GF_OK) st = make_key(f, err);
        if (st != GF_OK) return st;
        st = run ? add_to_run(f, err) : wide ? copy_cell(f, err) : copy_row(f, err);
        if (st == GF_OK) st = write_if_full(f, err);
        if (st != GF_OK) return st;
        count_entry(f);
    }
}

static gf_status copy_family(filling *f, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = f->c->snapshot, .family = f->family,
                                        .prefix = f->c->from_start);
    f->of_from = &gf_table_schema(f->c->from)->families[f->family];
    f->of_to = &gf_table_schema(f->c->to)->families[f->family];
    find_typed(f);
    gf_status st = gf_scan_open(f->c->from, &o, &scan, err);
    if (st == GF_OK) st = copy_entries(f, scan, err);
    gf_scan_close(scan);
    return st;
}

gf_status gf_table_copy(gf_table_copying *c, gf_error *err)
{
    filling f = {.c = c};
    gf_batch *first;
    uint32_t families = gf_table_families(c->from, c->families);
    gf_status st = gf_batch_create(c->to->db, &first, err);
    if (st != GF_OK) return st;
    gf_write_behind_begin(&f.behind, c->to->db, first);
    /* A sync is then of all that was written before; else each row has one of its own. */
    f.behind.unsynced = gf_database_capabilities(c->to->db) & GF_BACKEND_BATCH;
    for (f.family = 0; f.family < GF_MAX_FAMILIES && st == GF_OK; f.family++)
        if (families >> f.family & 1) st = copy_family(&f, err);
    prepare(c, f.behind.batch); /* what is left is written at the end, by either */
    st = gf_write_behind_end(&f.behind, st, err);
    if (st == GF_OK) st = gf_batch_write(first, GF_SYNC_ON, err);
    if (st == GF_OK && c->told) c->told(c->context, c->entries);
    gf_batch_free(first);
    gf_row_release(&f.row);
    gf_row_release(&f.versions);
    gf_run_block_release(&f.block);
    gf_buffer_release(&f.text);
    gf_buffer_release(&f.made_key);
    gf_free(f.columns);
    gf_free(f.sorted);
    return st;
}
