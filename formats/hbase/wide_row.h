/**
 * A row of another system's wide-column table: bytes, whatever they mean there.
 *
 * Owner: whoever reads it has the bytes; a row borrows them.
 */
#ifndef GF_FORMATS_HBASE_WIDE_ROW_H
#define GF_FORMATS_HBASE_WIDE_ROW_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

/** HBase's numbers of its kinds of cells; those behind PUT mark what was deleted. */
typedef enum gf_wide_kind {
    GF_WIDE_PUT = 4,
    GF_WIDE_DELETE_VERSION = 8,         /* the cell's version of just that time */
    GF_WIDE_DELETE_FAMILY_VERSION = 10, /* all cells of the family of just that time */
    GF_WIDE_DELETE_CELL = 12,           /* all versions of that time or before */
    GF_WIDE_DELETE_FAMILY = 14          /* all cells of the family likewise */
} gf_wide_kind;

typedef struct gf_wide_cell {
    gf_slice family, qualifier, value;
    int64_t timestamp; /* milliseconds since 1970; INT64_MAX: none is known */
    gf_wide_kind kind;
} gf_wide_cell;

/** Begin with {0}. */
typedef struct gf_wide_row {
    gf_slice key;
    gf_wide_cell *cells; /* n */
    size_t n, capacity;
} gf_wide_row;

/** Add a cell. GF_ENOMEM. */
gf_status gf_wide_row_add(gf_wide_row *row, const gf_wide_cell *cell, gf_error *err);
void gf_wide_row_release(gf_wide_row *row);

#endif
