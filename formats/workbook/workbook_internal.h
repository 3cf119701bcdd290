/**
 * An Excel workbook (.xlsx, .xlsm; ECMA-376): a zip of XML parts.
 *
 *     xl/workbook.xml              names of the sheets, and whether days are counted from 1904
 *     xl/_rels/workbook.xml.rels   the part of each sheet
 *     xl/styles.xml                formats of numbers: which are dates
 *     xl/sharedStrings.xml         texts, to which cells refer by number
 *     xl/worksheets/sheet1.xml     rows of cells
 *
 * A sheet's part mostly comes before the texts that it refers to, so the packed bytes are kept in a
 * file without a name (base/spill.h), and gone through twice. The texts go to such a file, too: memory
 * does not grow with the workbook.
 *
 * GF_ECORRUPT says what is wrong with the workbook, without its name; any other failure ends the
 * import. Threads: one.
 */
#ifndef GF_FORMATS_WORKBOOK_WORKBOOK_INTERNAL_H
#define GF_FORMATS_WORKBOOK_WORKBOOK_INTERNAL_H

#include "base/spill.h"
#include "formats/bytes/archive.h"
#include "formats/bytes/input.h"
#include "formats/documents/xml_stream.h"
#include "formats/read_buffer.h"
#include "grouperfish/buffer.h"

typedef struct gf_workbook_sheet {
    char *name, *relation;
    bool is_hidden;
} gf_workbook_sheet;

typedef struct gf_workbook_relation {
    char *id, *path;
} gf_workbook_relation;

/** Set to {0}, then input, name and most. */
typedef struct gf_workbook {
    const gf_input *input; /* whose bounds hold */
    gf_slice name;         /* of the stream, for messages */
    size_t most;           /* bytes of a text that are kept, and one more of a longer one */

    gf_spill *packed;
    uint64_t size; /* of that */
    uint64_t at;   /* the next byte that libarchive gets */
    uint64_t out;  /* bytes that came out of all parts */
    char *block;   /* GF_XML_STREAM_TAG bytes, lent to libarchive */
    struct archive *archive;
    gf_error failure; /* of reading for libarchive */

    gf_workbook_sheet *sheets; /* n_sheets */
    size_t n_sheets, sheet_capacity;
    gf_workbook_relation *relations; /* n_relations: worksheets alone */
    size_t n_relations, relation_capacity;
    bool from_1904;
    uint8_t *formats; /* n_formats: of the styles of cells, as workbook_cell.h has them */
    size_t n_formats, format_capacity;

    gf_spill *strings, *offsets; /* n_strings texts; where each begins, and where the last ends */
    uint64_t n_strings, strings_end;
} gf_workbook;

void gf_workbook_release(gf_workbook *book);

/** Read all bytes, and all parts but the sheets. */
gf_status gf_workbook_read(gf_workbook *book, gf_read_buffer *from, gf_error *err);

/**
 * Go to a sheet's part.
 * @param wanted  a sheet's name, or its number from 1 on; empty: the first that is not hidden
 * @param[out] at  which it is
 * @return GF_OK; GF_EINVAL where there is no such sheet, naming those that there are; GF_ECORRUPT
 */
gf_status gf_workbook_open_sheet(gf_workbook *book, gf_slice wanted, size_t *at, gf_error *err);

/** Put up to n bytes of the part that is open at `to`; *got is 0 at its end. */
gf_status gf_workbook_read_part(gf_workbook *book, char *to, size_t n, size_t *got, gf_error *err);

/** Append the text of that number; GF_ECORRUPT where there is none. */
gf_status gf_workbook_append_string(gf_workbook *book, uint64_t number, gf_buffer *out,
                                    gf_error *err);

/** Append the names of the sheets that are not hidden, as many as a message has room for. */
void gf_workbook_append_names(const gf_workbook *book, gf_buffer *out);

#endif
