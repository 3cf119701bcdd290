/*
 * table delete of a range: rows by their keys, in batches that are each synced.
 *
 * The walk is over one state of the table, and of keys alone unless a condition has to be looked at.
 * So a row that is put meanwhile may go or stay. What is cut short (Ctrl-C, the end of the process)
 * has deleted whole rows, from the first on; the same call goes on.
 */
#include "api/tables/internal.h"

/* A batch is written once it has so many rows, or these have so many cells. */
enum { BATCH_ROWS = 1000, BATCH_ENTRIES = 20000 };

typedef struct deletion {
    gf_table_call *c;
    gf_table_range range;
    bool dry;
    uint64_t rows, in_batch, entries;
} deletion;

bool gf_table_call_deletes_rows(const gf_call *call)
{
    static const char *const names[] = {"prefix", "from", "to", "where", "rows", "dry-run"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (gf_call_has(call, names[i])) return true;
    return false;
}

static gf_status check_bounds(const gf_call *call, gf_error *err)
{
    static const char *const bounds[] = {"key", "prefix", "from", "to", "where"};
    if (gf_call_has(call, "column"))
        return gf_fail(err, GF_EINVAL, "of a range whole rows go, or families of them: no columns");
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (gf_call_has(call, bounds[i])) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "a range needs parts of the key, prefix, from, to or where; table drop deletes "
                   "all rows");
}

static gf_status write_batch(deletion *d, gf_error *err)
{
    gf_status st = d->in_batch ? gf_batch_write(d->c->batch, GF_SYNC_ON, err) : GF_OK;
    if (st == GF_OK) d->rows += d->in_batch;
    d->in_batch = d->entries = 0;
    return st;
}

static gf_status delete_row(deletion *d, gf_slice key, uint64_t entries, gf_error *err)
{
    gf_table_call *c = d->c;
    gf_status st = gf_cancel_check(c->call->cancel, err);
    if (st != GF_OK) return st;
    if (d->dry) {
        d->rows++;
        return GF_OK;
    }
    uint32_t families = d->range.options.families;
    gf_batch_delete_row(c->batch, gf_user_table_rows(c->table), key,
                        families ? families : GF_ALL_FAMILIES);
    d->entries += entries;
    if (++d->in_batch < BATCH_ROWS && d->entries < BATCH_ENTRIES) return GF_OK;
    st = write_batch(d, err);
    if (st == GF_OK) gf_call_progress(c->call, gf_user_table_name(c->table), "delete", d->rows, 0);
    return st;
}

static gf_status delete_rows(deletion *d, gf_error *err)
{
    gf_rows *rows;
    const gf_row *row;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_rows_open(d->c->table, &d->range.options, &rows, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && (st = gf_rows_next(rows, &row, err)) == GF_OK)
        st = delete_row(d, row->key, gf_rows_entries(rows), err);
    gf_rows_close(rows);
    if (st == GF_ENOTFOUND) return write_batch(d, err);
    /* The rows before the end go, also where a failure ended the walk. */
    if (write_batch(d, &why) != GF_OK && st == GF_ECANCELLED && err) *err = why;
    return st;
}

static gf_status emit_count(deletion *d, gf_error *err)
{
    gf_json_writer *w = gf_row_writer_begin(&d->c->writer);
    gf_json_put_string(w, "table", gf_user_table_name(d->c->table));
    gf_json_put_uint(w, "rows", d->rows);
    if (d->dry) gf_json_put_bool(w, "dry_run", true);
    if (d->rows == 0) d->c->call->outcome = GF_OUTCOME_SOME_ABSENT;
    return gf_row_writer_emit(&d->c->writer, err);
}

gf_status gf_table_call_delete_rows(gf_table_call *c, gf_error *err)
{
    deletion d = {.c = c,
                  .range.options = GF_ROWS_OPTIONS(.keys_only = true),
                  .dry = gf_call_flag(c->call, "dry-run")};
    gf_status st = check_bounds(c->call, err);
    if (st == GF_OK) st = gf_table_range_read(c, &d.range, err);
    if (st == GF_OK) st = delete_rows(&d, err);
    if (st == GF_OK) st = emit_count(&d, err);
    gf_table_range_release(&d.range);
    return st;
}
