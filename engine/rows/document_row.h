/** Documents as columns of documents:main (the columns' names: document_row.c). */
#ifndef GF_ENGINE_ROWS_DOCUMENT_ROW_H
#define GF_ENGINE_ROWS_DOCUMENT_ROW_H

#include "base/json/json.h"
#include "grouperfish/buffer.h"
#include "grouperfish/document.h"
#include "grouperfish/table.h"

/**
 * The columns of a document, borrowed from it and from `names`, in stored order: text, time and
 * lang (where there are any), seq with an empty value, then the fields by name.
 */
typedef struct gf_document_cells {
    gf_column *columns; /* n of capacity */
    size_t n, capacity;
    size_t seq_at;   /* place of seq */
    gf_buffer names; /* of fields that had to be renamed */
} gf_document_cells;

/** Make a document's columns. The cells are reused; release them at the end. */
gf_status gf_document_row_to_cells(const gf_document *document, gf_document_cells *cells,
                                   gf_error *err);
void gf_document_row_release_cells(gf_document_cells *cells);

/** True if two fields of the document have the same name; *name is it. */
bool gf_document_row_repeats(const gf_document_cells *cells, gf_slice *name);

/** Append the name of the column for a field that is neither text, time nor lang. */
void gf_document_row_column(gf_buffer *column, gf_slice field);

/**
 * A document from its row. Everything is borrowed from the row.
 *
 * @param fields  room for row->n_cells
 */
void gf_document_row_read(const gf_row *row, gf_slice id, gf_field *fields, gf_document *document,
                          uint64_t *seq);

/**
 * The value of a field, of the language or of the time as text: decoded where it is a string, else as JSON;
 * empty where the document has none, or null.
 *
 * @param[out] value  borrowed from the document or, until its next text, from the parser
 * @return GF_OK; GF_ECORRUPT (a string that is none), GF_ENOMEM
 */
gf_status gf_document_row_value(const gf_document *document, gf_slice field, gf_json_parser *parser,
                                gf_slice *value, gf_error *err);

/** A document's time, as it is kept (JSON), in milliseconds since 1970; false where it is none. */
bool gf_document_row_moment(gf_slice json, int64_t *ms);

/** True if the row holds just these columns, in their order; seq counts in neither. */
bool gf_document_row_equals(const gf_row *row, const gf_column *columns, size_t n);

#endif
