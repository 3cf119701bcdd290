/**
 * CSV split into rows of cells by libcsv: the one use of libcsv.
 *
 * Bytes go to libcsv line by line: a row can only end where a line does, so that the row's first
 * line, its raw bytes and the next row's start are known without a second state machine.
 *
 *     line    libcsv's answer
 *     a,"b    no row: a quoted cell goes on in the next line
 *     c",d    row [a] [b LF c] [d], which began in the line above
 *
 * A quote inside a cell that is not quoted is an ordinary character. Empty lines are no rows.
 */
#ifndef GF_FORMATS_TEXT_CSV_ROWS_INTERNAL_H
#define GF_FORMATS_TEXT_CSV_ROWS_INTERNAL_H

#include "formats/text/text_cells_internal.h"

#include <csv.h>

typedef enum gf_csv_line_end {
    GF_CSV_ANY, /* LF, CR LF or a lone CR */
    GF_CSV_LF,  /* LF or CR LF; a lone CR belongs to the cell */
    GF_CSV_CR   /* a lone CR (old Macintosh files); LF belongs to the cell */
} gf_csv_line_end;

typedef struct gf_csv_rows {
    gf_read_buffer *buffer;
    gf_record_bounds bounds;
    size_t most_cells; /* of a row; 0: any number */
    struct csv_parser csv;
    gf_csv_line_end line_end;
    bool keeps_blanks;
    uint64_t line;       /* of the next unread byte */
    gf_text_cells cells; /* of the current row */
    bool *is_absent;     /* absent_capacity: cells without a byte and without quotes */
    size_t absent_capacity;
    uint64_t n_lines;  /* line ends in the current row */
    uint64_t row_size; /* bytes of the current row so far */
    bool row_ended, has_too_many, out_of_memory;
} gf_csv_rows;

/** Rows of comma-separated cells with any line end; only good to be released on failure. */
gf_status gf_csv_rows_init(gf_csv_rows *rows, gf_error *err);
void gf_csv_rows_release(gf_csv_rows *rows);

/** Read from the start of a stream. */
void gf_csv_rows_begin(gf_csv_rows *rows, gf_read_buffer *buffer, gf_record_bounds bounds);

/**
 * Set the dialect of the rows to come.
 * @param keeps_blanks  white space around a cell belongs to it; else only within its quotes
 */
void gf_csv_rows_set_dialect(gf_csv_rows *rows, char delimiter, gf_csv_line_end line_end,
                             bool keeps_blanks);

typedef struct gf_csv_span {
    uint64_t line;     /* of its first byte */
    gf_slice raw;      /* its bytes without line end, borrowed until the next read */
    bool too_long;     /* over bounds.most: raw is the start of it, and cells are missing */
    bool is_open;      /* the stream ended within quotes */
    bool has_too_many; /* over most_cells, which are in the row: reading ends here */
} gf_csv_span;

/**
 * Read a row into rows->cells.
 * @return GF_OK; GF_ENOTFOUND at the end of the stream; the buffer's failure; GF_ENOMEM
 */
gf_status gf_csv_rows_next(gf_csv_rows *rows, gf_csv_span *row, gf_error *err);

#endif
