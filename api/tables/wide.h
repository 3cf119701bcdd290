/**
 * Rows of other wide-column stores for users' tables: what HBase's Export wrote, and what the shells of
 * HBase and Accumulo list.
 *
 *     row key    taken apart by the key's parts (gf_user_table_key_divide), or at a separator
 *     family     by its name
 *     qualifier  bytes, which must be of the family's type of qualifiers
 *     value      bytes as they are, whatever the type of the column: so nothing is lost
 *     time       of the cell, in families that keep versions or let cells expire
 *
 * The cells of a row are put from the oldest on, so that of a family of one version the newest stays. A
 * mark of deletion takes the older cells of its row, and those that the table has by now.
 */
#ifndef GF_API_TABLES_WIDE_H
#define GF_API_TABLES_WIDE_H

#include "api/tables/internal.h"

typedef struct gf_table_wide gf_table_wide;

/** Whether the call's argument "from" names one of these formats; or, without it, its input's first bytes. */
bool gf_table_wide_named(gf_slice from);

/**
 * Open the input's rows for the call's table, and the table. Where there is none of that name and the call
 * says "create", it is made of the first row, and gets each further family when it is met.
 *
 * @return GF_OK, and c->table is open; GF_ENOTFOUND (no such table), GF_EINVAL; as gf_table_wide_next
 */
gf_status gf_table_wide_open(gf_table_call *c, gf_slice from, gf_table_wide **wide, gf_error *err);

/** Before the batches of its rows have been written it stays open. */
void gf_table_wide_close(gf_table_wide *wide);

/** The next row or a refused line; GF_ENOTFOUND at the end; else the input ends here. */
gf_status gf_table_wide_next(gf_table_wide *wide, gf_record *record, gf_error *err);

/** Put the row into the batch, *put cells of it; GF_EINVAL where it does not fit the table. */
gf_status gf_table_wide_put(gf_table_wide *wide, gf_batch *batch, uint64_t *put, gf_error *err);

/** The row as HBase's shell lists it, for the keeper of refused rows; borrowed. */
gf_status gf_table_wide_line(gf_table_wide *wide, gf_slice *line, gf_error *err);

/** Write the counts of cells that are no put: deletions, and values that are not of their column's type. */
void gf_table_wide_put_counts(const gf_table_wide *wide, gf_json_writer *w);

#endif
