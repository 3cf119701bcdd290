/**
 * Rows as people or programs want them.
 *
 *     table   aligned, cut to the terminal's width; for people
 *     plain   values with a tab between, a row a line, no header; for cut, sort, awk
 *     csv     RFC 4180 with a header
 *     json    one JSON document: an array of the rows, or the one row
 *     jsonl   a row a line, as the operations give them
 */
#ifndef GF_CLI_OUTPUT_H
#define GF_CLI_OUTPUT_H

#include "base/arena.h"
#include "cli/command.h"

#include <stdio.h>

typedef enum gf_output_format {
    GF_TABLE,
    GF_PLAIN_ROWS,
    GF_CSV,
    GF_JSON,
    GF_JSONL
} gf_output_format;

/** False where the name is none of the five. */
bool gf_output_format_named(const char *name, gf_output_format *format);

typedef struct gf_output {
    gf_output_format format;
    const gf_command *command;
    gf_session *session; /* handed to command->show */
    FILE *out;
    unsigned width; /* columns of the terminal; 0: no limit */
    gf_json_parser *parser;
    uint64_t n_rows;
    gf_buffer cell;

    /* a table's first rows are kept until its columns' widths are known */
    gf_arena memory;
    gf_slice *cells; /* n_kept rows of command->n_columns */
    size_t n_kept, capacity;
    unsigned *widths; /* per column; NULL while rows are kept */
} gf_output;

gf_status gf_output_init(gf_output *o, gf_output_format format, const gf_command *command,
                         gf_session *session, FILE *out, gf_error *err);
void gf_output_release(gf_output *o);

/** One row, a JSON object. GF_ECANCELLED where nobody reads any more. */
gf_status gf_output_row(gf_output *o, gf_slice row, gf_error *err);

/** What is left: the kept rows, the closing bracket. */
gf_status gf_output_end(gf_output *o, gf_error *err);

/* For the commands' own views. */

/** Text without control characters, white space folded, cut to `width` columns (0: whole). */
void gf_print_text(FILE *out, gf_slice text, unsigned width);

/** Columns that text takes on a terminal. */
unsigned gf_text_width(gf_slice text);

/** Append a member of a row in its kind, as a table shows it. */
void gf_write_cell(gf_buffer *b, gf_json_value row, const gf_show_column *column, bool readable);

/** Members of an object: what is missing is empty, 0, or false. */
gf_slice gf_row_text(gf_json_value row, const char *key);
double gf_row_number(gf_json_value row, const char *key);
bool gf_row_flag(gf_json_value row, const char *key);

/** 1,234,567 */
void gf_buffer_count(gf_buffer *b, uint64_t n);

#endif
