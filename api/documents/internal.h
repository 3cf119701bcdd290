/**
 * The operations on documents, and what they share.
 */
#ifndef GF_API_DOCUMENTS_INTERNAL_H
#define GF_API_DOCUMENTS_INTERNAL_H

#include "api/call.h"
#include "api/parameters.h"

/** Each stands behind its handler. */
extern const gf_operation gf_put_operation, gf_delete_operation, gf_doc_operation,
    gf_search_operation, gf_similar_operation, gf_duplicates_operation;

/** A row of search or similar: the document, where it is, and a piece of its text (search.c). */
gf_status gf_search_emit_hit(void *row_writer, const gf_hit *hit, gf_error *err);

/** The members of such a row, into one that was begun. */
gf_status gf_search_put_hit(gf_row_writer *row, const gf_hit *hit, gf_error *err);

#endif
