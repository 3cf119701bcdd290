/**
 * Values of the cells of a workbook as text: what a spreadsheet writes when it saves the sheet as CSV.
 *
 *     <c r="B2" s="4"><v>42056.573</v></c>     by the format of style 4: 2015-02-21T13:45:07.2
 *
 * Days are counted from 1899-12-30, with the 29th of February 1900 that Lotus 1-2-3 had, or from
 * 1904-01-01 (ECMA-376 part 1, 18.17.4.1).
 */
#ifndef GF_FORMATS_WORKBOOK_WORKBOOK_CELL_H
#define GF_FORMATS_WORKBOOK_WORKBOOK_CELL_H

#include "grouperfish/buffer.h"

/** The parts of a date that a number's format shows; both: a moment. */
typedef enum gf_workbook_format {
    GF_WORKBOOK_NUMBER = 0,
    GF_WORKBOOK_DATE = 1,
    GF_WORKBOOK_TIME = 2
} gf_workbook_format;

/** The format of a number that every program knows: 14 is a date. */
unsigned gf_workbook_cell_format_of_number(unsigned id);

/** The format of a code, such as "yyyy\-mm\-dd hh:mm" or "[Red]0.00". */
unsigned gf_workbook_cell_format_of_code(gf_slice code);

/**
 * Append a number, which is given as the file has it; of a format that shows dates or times as ISO
 * 8601 without an offset. What is no number is appended as it is.
 * @param format    of GF_WORKBOOK_DATE and GF_WORKBOOK_TIME
 * @param from_1904 days are counted from 1904-01-01
 */
void gf_workbook_cell_append_number(gf_buffer *out, gf_slice number, unsigned format,
                                    bool from_1904);

/** Append a text with its _x000D_ and the like undone: UTF-16 units that XML does not allow. */
void gf_workbook_cell_append_text(gf_buffer *out, gf_slice text);

#endif
