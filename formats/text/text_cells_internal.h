/**
 * Rows of cells with a header: the common part of CSV, TSV and Firefox Input.
 *
 *     bytes  | id | LF | text | LF | time | LF |     one row, cell after cell
 *     ends       ^           ^           ^           the end of each cell, without its LF
 *
 * The line feed behind each cell keeps an ill-formed byte sequence from running into the next one.
 * Failures to allocate are kept and reported by the calls that return a status.
 */
#ifndef GF_FORMATS_TEXT_TEXT_CELLS_INTERNAL_H
#define GF_FORMATS_TEXT_TEXT_CELLS_INTERNAL_H

#include "base/arena.h"
#include "formats/duplicate_fields_internal.h"
#include "formats/format_internal.h"

typedef struct gf_text_cells {
    gf_buffer bytes;
    size_t *ends; /* capacity; n of them */
    size_t n, capacity;
    gf_buffer repaired;
    gf_member *members; /* n_members: one per column, in order */
    size_t n_members;
    gf_arena names;
    gf_duplicate_fields duplicates; /* has the names of columns whose own is another's */
    gf_slice renamed;               /* the first of these */
    bool out_of_memory;
} gf_text_cells;

/** Set to {0}. */
void gf_text_cells_release(gf_text_cells *cells);

/** Forget the row, keep the columns. */
void gf_text_cells_reset(gf_text_cells *cells);

/** Append bytes to the current cell. */
static inline void gf_text_cells_append(gf_text_cells *cells, gf_slice bytes)
{
    gf_buffer_slice(&cells->bytes, bytes);
}

/** End the current cell: bytes that are appended later belong to the next one. */
void gf_text_cells_end(gf_text_cells *cells);

/** The bytes of cell i < n, borrowed until the row changes. */
gf_slice gf_text_cells_at(const gf_text_cells *cells, size_t i);

/** GF_OK, or the first failure of the row. */
gf_status gf_text_cells_check(const gf_text_cells *cells, gf_error *err);

/**
 * Name the columns by the cells of the row. A column without a name is called column<N>, and no two
 * are called the same (duplicate_fields_internal.h).
 * @param stream  its name, for the message
 * @return GF_OK; GF_EINVAL where there are more than GF_MOST_MEMBERS; GF_ENOMEM
 */
gf_status gf_text_cells_to_header(gf_text_cells *cells, gf_slice stream, gf_error *err);

/**
 * Make the cells of the row the record's members, which are borrowed until the next row. Ill-formed
 * UTF-8 is replaced and counted. With another number of cells than columns it is refused.
 */
gf_status gf_text_cells_to_record(gf_text_cells *cells, gf_parsed_record *parsed, gf_error *err);

/** Reads a row into the parser's cells and fills parsed->line and raw; GF_ENOTFOUND at the end. */
typedef gf_status gf_text_cells_read_row(void *parser, gf_parsed_record *parsed, gf_error *err);

/** Read the header with read_row. An empty stream is no failure: its first row says so. */
gf_status gf_text_cells_read_header(gf_text_cells *cells, gf_slice stream,
                                    gf_text_cells_read_row *read_row, void *parser, gf_error *err);

/** Read a row with read_row and make it a record: the `next` of a parser. */
gf_status gf_text_cells_next(gf_text_cells *cells, gf_text_cells_read_row *read_row, void *parser,
                             gf_parsed_record *parsed, gf_error *err);

#endif
