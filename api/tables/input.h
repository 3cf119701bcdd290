/**
 * The input of operations on users' tables: lines, times, and rows of CSV; CSV is written, too.
 */
#ifndef GF_API_TABLES_INPUT_H
#define GF_API_TABLES_INPUT_H

#include "api/tables/internal.h"
#include "formats/text/lines.h"

/** The lines of a call's input, which must last as long. */
gf_status gf_table_lines_open(gf_call *call, gf_lines **lines, gf_error *err);

/** The next line; as gf_lines_next, and GF_ELIMIT for one of more than 256 MiB. */
gf_status gf_table_lines_next(gf_lines *lines, gf_text_line *line, gf_error *err);

/** Whether a cell can be of that time, which is given: GF_EINVAL below 1. */
gf_status gf_table_check_time(int64_t milliseconds, gf_error *err);

/** Reads rows of CSV; each source begins with a header. */
typedef struct gf_table_csv gf_table_csv;

gf_status gf_table_csv_open(gf_call *call, const gf_user_table *table, gf_table_csv **csv,
                            gf_error *err);
void gf_table_csv_close(gf_table_csv *csv);

/** Read the next row: source and number are the record's. As gf_csv_reader_next, and GF_EINVAL of
 * a header that does not fit the table. */
gf_status gf_table_csv_next(gf_table_csv *csv, gf_record *record, gf_error *err);

/** Put the row's cells into the batch; GF_EINVAL where a value is not of its type. */
gf_status gf_table_csv_put(gf_table_csv *csv, gf_table_call *c, gf_batch *batch, gf_error *err);

/** The row as a line of CSV, behind its header where that was not given yet; borrowed. */
gf_status gf_table_csv_line(gf_table_csv *csv, gf_slice *line, gf_error *err);

/** Append CSV: a header (row NULL), or a row. */
gf_status gf_table_export_csv(gf_table_call *c, const gf_row *row, uint32_t families,
                              gf_buffer *csv, gf_error *err);

#endif
