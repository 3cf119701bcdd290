/**
 * CSV (RFC 4180) as plain rows of cells, for callers who know what the columns mean; records with a
 * header are read by formats/reader.h.
 *
 *     u2,"",,      cells "u2", "", and two that are absent
 *
 * Cells are separated by commas, rows end in LF, CR LF or CR, blanks belong to their cells, and
 * empty lines are no rows. A byte order mark at the start of a source is left out.
 */
#ifndef GF_FORMATS_TEXT_CSV_H
#define GF_FORMATS_TEXT_CSV_H

#include "formats/bytes/decoding.h"
#include "formats/bytes/input.h"
#include "grouperfish/buffer.h"

#include <stdbool.h>

typedef struct gf_csv_cell {
    gf_slice text;  /* as it is in the file: not always UTF-8 */
    bool is_absent; /* empty and without quotes */
} gf_csv_cell;

/** A row; everything is borrowed until the next one. */
typedef struct gf_csv_row {
    gf_slice source;    /* file, or archive and member: "a.zip/b.csv" */
    uint64_t number;    /* of the row, from 1 in each source */
    gf_csv_cell *cells; /* n */
    size_t n;
} gf_csv_row;

/** Reads the rows of an input: of its files, compressed files and the members of archives. */
typedef struct gf_csv_reader gf_csv_reader;

/**
 * @param input     copied; its context is borrowed until close
 * @param most_bytes, most_cells  of a row
 * @param decoding  NULL for the defaults
 * @return GF_OK; GF_EINVAL (an encoding that is not known); GF_ENOMEM. On failure *reader is unchanged.
 */
gf_status gf_csv_reader_open(const gf_input *input, size_t most_bytes, size_t most_cells,
                             const gf_decoding_options *decoding, gf_csv_reader **reader,
                             gf_error *err);
void gf_csv_reader_close(gf_csv_reader *reader);

/**
 * @return GF_OK; GF_ENOTFOUND at the end; GF_EINVAL (a source ends within quotes, is no text, or
 *         its encoding is not clear); GF_ELIMIT (too
 *         long a row); GF_ECORRUPT (a damaged archive); the input's failure;
 *         GF_ENOMEM
 */
gf_status gf_csv_reader_next(gf_csv_reader *reader, gf_csv_row *row, gf_error *err);

/** How a cell is written; several may be joined. */
typedef enum gf_csv_style {
    GF_CSV_AS_NEEDED = 0,   /* in quotes where it needs them, and where a blank is at an end */
    GF_CSV_QUOTED = 1,      /* in quotes always */
    GF_CSV_SPREADSHEET = 2, /* what a spreadsheet would work out gets a ' before it */
} gf_csv_style;

/** Spreadsheets take a file for UTF-8 that begins with this. */
#define GF_CSV_MARK "\xEF\xBB\xBF"

/**
 * Would a spreadsheet take the cell for a formula? It begins, blanks left out, with = + - @, or
 * with a TAB or a line end; but numbers are only numbers.
 */
bool gf_csv_is_formula(gf_slice text);

/** Append a cell: the one way in which all CSV is written. */
void gf_csv_write_cell(gf_buffer *out, gf_slice text, unsigned style);

#endif
