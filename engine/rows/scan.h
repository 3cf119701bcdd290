/** Walks over the rows of a table. */
#ifndef GF_ENGINE_ROWS_SCAN_H
#define GF_ENGINE_ROWS_SCAN_H

#include "grouperfish/table.h"

/** Called with each row; any result but GF_OK ends the walk and is its result. */
typedef gf_status gf_each_row(void *context, const gf_row *row, gf_error *err);

gf_status gf_scan_each(gf_table *table, const gf_scan_options *options, gf_each_row *each,
                       void *context, gf_error *err);

/** gf_scan_next, with *more false at the end instead of GF_ENOTFOUND. */
gf_status gf_scan_step(gf_scan *scan, gf_row *row, bool *more, gf_error *err);

/** *found: there is a row below prefix; *n: how many. */
gf_status gf_scan_finds(gf_table *table, const gf_snapshot *snapshot, unsigned family,
                        gf_slice prefix, bool *found, gf_error *err);
gf_status gf_scan_count(gf_table *table, const gf_snapshot *snapshot, unsigned family,
                        gf_slice prefix, uint64_t *n, gf_error *err);

/** A cell's number in base 10; false where the cell is NULL or holds anything else. */
bool gf_rows_cell_number(const gf_cell *cell, uint64_t *v);

#endif
