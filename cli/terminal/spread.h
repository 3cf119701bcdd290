/**
 * Rows as one CSV table whose columns are the members of any row. All columns are known only after
 * the last row, so the rows are kept in a temporary file until then.
 */
#ifndef GF_CLI_TERMINAL_SPREAD_H
#define GF_CLI_TERMINAL_SPREAD_H

#include "base/json/json.h"
#include "base/strings.h"
#include "grouperfish/buffer.h"

#include <stdint.h>
#include <stdio.h>

typedef struct gf_spread_value {
    uint64_t row; /* number of the row that has it, from 1 */
    gf_json_value value;
} gf_spread_value;

typedef struct gf_spread {
    FILE *rows;
    gf_strings names;
    gf_spread_value *values; /* names.n: of the current row */
    uint64_t n_rows;
    uint32_t n_fixed;  /* columns before those of the rows */
    const char *inner; /* the member whose members are columns; NULL: those of the row are */
    gf_buffer cell, name;
    char *line; /* capacity */
    size_t capacity;
} gf_spread;

/**
 * @param inner  one member of the row, or several with | between them; lasts. Of these, not of the row, all members are columns; one that is called as a column
 *               before them, or begins with "field:", is called field:NAME
 */
gf_status gf_spread_init(gf_spread *spread, const char *inner, gf_error *err);
void gf_spread_release(gf_spread *spread);

/** Add a column before those of the rows. */
gf_status gf_spread_column(gf_spread *spread, gf_slice name, gf_error *err);

/** Keep a row: an object, and its text in one line. */
gf_status gf_spread_add(gf_spread *spread, gf_slice text, gf_json_value row, gf_error *err);

/** Writes one cell. */
typedef void gf_spread_cell(void *context, gf_slice text);

/** Write a header and the rows: strings as they are, other values as JSON. */
gf_status gf_spread_write(gf_spread *spread, gf_json_parser *parser, gf_spread_cell *cell,
                          void *context, FILE *out, gf_error *err);

#endif
