/**
 * Rows in the formats of the command line.
 *
 *     table   aligned, cut or folded to the terminal's width; for people
 *     plain   values with a tab between, a row a line, no header; for cut, sort, awk
 *     csv     RFC 4180 with a header
 *     spreadsheet  the same for Excel and its like: with a byte order mark, and no cell a formula
 *     json    one JSON document: an array of the rows, or the one row
 *     jsonl   a row a line, as the operations give them
 *     geojson one FeatureCollection of the rows, which are features
 */
#ifndef GF_CLI_TERMINAL_OUTPUT_H
#define GF_CLI_TERMINAL_OUTPUT_H

#include "cli/terminal/display.h"
#include "cli/terminal/spread.h"
#include "cli/terminal/text_table.h"

typedef enum gf_output_format {
    GF_OUTPUT_TABLE,
    GF_OUTPUT_PLAIN,
    GF_OUTPUT_CSV,
    GF_OUTPUT_SPREADSHEET,
    GF_OUTPUT_JSON,
    GF_OUTPUT_JSONL,
    GF_OUTPUT_GEOJSON
} gf_output_format;

/** The formats of every command; geojson is for export alone. */
#define GF_OUTPUT_FORMATS "table|json|jsonl|csv|spreadsheet|plain"

/** False where the name is none of the seven. */
bool gf_output_format_named(const char *name, gf_output_format *format);

typedef struct gf_output {
    gf_output_format format; /* CSV also for SPREADSHEET */
    bool csv_mark;           /* a byte order mark before the header */
    unsigned csv_style;
    const gf_display *display;
    gf_session *session; /* handed to the display's functions */
    FILE *out;
    unsigned width; /* of the terminal; 0: no limit */
    gf_json_parser *parser;
    uint64_t n_rows;
    gf_buffer cell, csv;
    gf_text_table table;
    gf_spread spread; /* of csv, where the display says so */
} gf_output;

gf_status gf_output_init(gf_output *o, gf_output_format format, const gf_display *display,
                         gf_session *session, FILE *out, gf_error *err);
void gf_output_release(gf_output *o);

/** Whether a file that the operation writes is printed in place of its rows. */
bool gf_output_is_file(const gf_display *display, gf_output_format format);

/** Print bytes of that file; fails as gf_output_row does. */
gf_status gf_output_bytes(gf_output *o, gf_slice bytes, gf_error *err);

/** @return GF_ECANCELLED where the reader closed the pipe; GF_EIO where a row cannot be written. */
gf_status gf_output_row(gf_output *o, gf_slice row, gf_error *err);

/** Print the rest: kept rows, closing brackets, a header where there were no rows. */
gf_status gf_output_end(gf_output *o, gf_error *err);

#endif
