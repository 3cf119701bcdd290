/**
 * Rows of wide-column tables as shells list them, a cell in each line:
 *
 *     ROW  COLUMN+CELL                                                            HBase, scan
 *      u1 column=info:name, timestamp=1970-01-01T00:00:01, value=Ann
 *      u1 column=info:name, timestamp=1000, value=Ann                             up to 2.3
 *      u1 column=info:, timestamp=1900, type=DeleteFamily                         with RAW => true
 *
 *     u1 info:age [staff] 2000<TAB>\x00\x00\x00\x00\x00\x00\x00"                  Accumulo, scan -np -st
 *     u1 info:age [staff]<TAB>...                                                 without -st
 *
 * Bytes that cannot be shown are \xhh in both, a backslash is \x5C there and \\ here. HBase gives the
 * times of 2.4 and later without a zone: they are read as UTC.
 *
 * On a terminal HBase breaks lines at its width: each column goes on below itself, and the header shows
 * where the second begins. They are put together again; blanks at the end of a broken row or value are
 * lost, for the shell fills lines with blanks.
 *
 * What separates a row, a family and a qualifier may be in them, too, and is not escaped: HBase's line is
 * divided at the first " column=", Accumulo's where " FAMILY:" of a known family stands; where several
 * could, the line is refused. Headers, footers and prompts are passed over.
 *
 * Source: Shell::Formatter and Hbase::Table of HBase's shell (2.4); DefaultFormatter of Accumulo 2.1.
 *
 * Memory: the lines of a row; one of more than 64 MiB or 100,000 cells is given in pieces.
 * Threads: a reader is for one thread.
 */
#ifndef GF_FORMATS_BYTES_LISTING_H
#define GF_FORMATS_BYTES_LISTING_H

#include "formats/hbase/wide_row.h"
#include "formats/reader.h"
#include "grouperfish/buffer.h"

typedef enum gf_listing_kind { GF_LISTING_HBASE, GF_LISTING_ACCUMULO } gf_listing_kind;

typedef struct gf_listing gf_listing;

gf_status gf_listing_open(const gf_input *input, gf_listing_kind kind, gf_listing **listing,
                          gf_error *err);
void gf_listing_close(gf_listing *listing);

/** Whether a family of that name is known; of Accumulo's lines. `context` lasts as long as the listing. */
typedef bool gf_listing_has_family(void *context, gf_slice family);
void gf_listing_know_families(gf_listing *listing, gf_listing_has_family *has, void *context);

/**
 * The next row, or a line that is refused.
 *
 * @param[out] record  kind DOCUMENT: the row's; REFUSED: reason no_cell, ambiguous or too_long. Source,
 *                     line (of a row its first) and raw are set.
 * @param[out] row     of DOCUMENT; borrowed until the next call, as record is
 * @return GF_OK; GF_ENOTFOUND; as gf_lines_next
 */
gf_status gf_listing_next(gf_listing *listing, gf_record *record, gf_wide_row *row, gf_error *err);

/** Append a row in the form of HBase's listing, so that gf_listing_next reads it again. */
void gf_listing_write(const gf_wide_row *row, gf_buffer *out);

#endif
