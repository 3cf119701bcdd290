/**
 * Lines of a call's input, and rows of JSON Lines and CSV that are put into users' tables.
 */
#ifndef GF_API_TABLES_INPUT_H
#define GF_API_TABLES_INPUT_H

#include "api/tables/internal.h"
#include "formats/lines.h"
#include "storage/write_behind.h"

/** The lines of a call's input. */
gf_status gf_table_lines_open(const gf_call *call, gf_lines **lines, gf_error *err);

/** The next line; as gf_lines_next, and GF_ELIMIT for one of more than 256 MiB. */
gf_status gf_table_lines_next(gf_lines *lines, gf_text_line *line, gf_error *err);

/** Rows that go into one table, a batch at a time. */
typedef struct gf_table_import {
    gf_table_call c;
    gf_write_behind out;
    gf_cell_reader cells;
    gf_json_parser *parser;
    size_t before; /* changes of the batch before the row at hand */
    uint64_t read, rows, put, refused;
} gf_table_import;

/** A row comes, whose cells are put into the batch one by one. */
void gf_table_import_begin_row(gf_table_import *i);

/** The row is refused: out of the batch, told, counted, handed to whoever keeps those. */
gf_status gf_table_import_refuse(gf_table_import *i, gf_slice source, uint64_t line,
                                 gf_slice record, const char *message, gf_error *err);

/** The row is in the batch: count it, and write where there is enough. */
gf_status gf_table_import_row(gf_table_import *i, gf_error *err);

/** The input as CSV with a header (csv.c). */
gf_status gf_table_import_csv(gf_table_import *i, gf_error *err);

/** Append CSV: a header (row NULL), or a row. */
gf_status gf_table_export_csv(gf_table_call *c, const gf_row *row, uint32_t families,
                              gf_buffer *csv, gf_error *err);

#endif
