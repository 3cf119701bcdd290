/** The fields of a state, for the files that read from its snapshot. */
#ifndef GF_ENGINE_VIEW_STATE_H
#define GF_ENGINE_VIEW_STATE_H

#include "base/arena.h"
#include "engine/store/collections.h"
#include "grouperfish/state.h"

struct gf_state {
    gf_store *store;
    gf_snapshot *snapshot;
    gf_place where; /* in memory */
    gf_arena memory;
    gf_collection_row row;
};

/**
 * Read a document's row (documents:main) from the snapshot.
 * @return GF_OK; GF_ENOTFOUND, with a message that names it
 */
gf_status gf_state_row(const gf_state *state, gf_slice id, gf_row *row, gf_error *err);

/**
 * The same with the document, which borrows from the row. *fields is the caller's to free; seq is
 * the collection's when the document was put.
 */
gf_status gf_state_document_row(const gf_state *state, gf_slice id, gf_row *row,
                                gf_document *document, gf_field **fields, uint64_t *seq,
                                gf_error *err);

#endif
