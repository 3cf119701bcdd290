/* Walks over the rows of a table. */
#include "engine/rows/scan.h"

#include "base/number.h"

gf_status gf_scan_step(gf_scan *scan, gf_row *row, bool *more, gf_error *err)
{
    gf_status st = gf_scan_next(scan, row, err);
    *more = st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_scan_each(gf_table *table, const gf_scan_options *options, gf_each_row *each,
                       void *context, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    bool more = true;
    gf_status st = gf_scan_open(table, options, &scan, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && more) {
        st = gf_scan_step(scan, &row, &more, err);
        if (st == GF_OK && more) st = each(context, &row, err);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    return st;
}

static gf_status note_row(void *context, const gf_row *row, gf_error *err)
{
    (void)row, (void)err;
    *(bool *)context = true;
    return GF_OK;
}

gf_status gf_scan_finds(gf_table *table, const gf_snapshot *snapshot, unsigned family,
                        gf_slice prefix, bool *found, gf_error *err)
{
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = snapshot, .family = family, .prefix = prefix,
                                        .limit = 1, .keys_only = true);
    bool any = false;
    gf_status st = gf_scan_each(table, &o, note_row, &any, err);
    if (st == GF_OK) *found = any;
    return st;
}

static gf_status count_row(void *context, const gf_row *row, gf_error *err)
{
    (void)row, (void)err;
    ++*(uint64_t *)context;
    return GF_OK;
}

gf_status gf_scan_count(gf_table *table, const gf_snapshot *snapshot, unsigned family,
                        gf_slice prefix, uint64_t *n, gf_error *err)
{
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = snapshot, .family = family, .prefix = prefix,
                                        .keys_only = true);
    uint64_t count = 0;
    gf_status st = gf_scan_each(table, &o, count_row, &count, err);
    if (st == GF_OK) *n = count;
    return st;
}

bool gf_rows_cell_number(const gf_cell *cell, uint64_t *v)
{
    return cell && gf_number_read(cell->value, v);
}
