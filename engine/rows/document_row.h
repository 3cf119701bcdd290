/** Documents as columns of documents:main (the columns' names: document_row.c). */
#ifndef GF_ENGINE_ROWS_DOCUMENT_ROW_H
#define GF_ENGINE_ROWS_DOCUMENT_ROW_H

#include "grouperfish/buffer.h"
#include "grouperfish/document.h"
#include "grouperfish/table.h"

/** Columns of a document, borrowed from it and from names. */
typedef struct gf_document_cells {
    gf_column *columns; /* n, in stored order, with room for one more: seq */
    size_t n, capacity;
    gf_buffer names; /* of fields that had to be renamed */
} gf_document_cells;

/** Write a document's columns but seq. The cells are reused; release them at the end. */
gf_status gf_document_to_cells(const gf_document *document, gf_document_cells *cells,
                               gf_error *err);
void gf_document_cells_release(gf_document_cells *cells);

/** Append the name of the column for a field that is neither text, time nor lang. */
void gf_document_column(gf_buffer *column, gf_slice field);

/**
 * A document from its row. Everything is borrowed from the row.
 *
 * @param fields  room for row->n_cells
 */
void gf_document_from_row(const gf_row *row, gf_slice id, gf_field *fields, gf_document *document,
                          uint64_t *seq);

/** A document's time, as it is kept (JSON), in milliseconds since 1970; false where it is none. */
bool gf_document_moment(gf_slice json, int64_t *ms);

/** Whether the row holds just these columns, seq aside. */
bool gf_document_same(const gf_row *row, const gf_document_cells *cells);

#endif
