/** One state of a collection, from which several answers are read. */
#ifndef GF_GROUPERFISH_STATE_H
#define GF_GROUPERFISH_STATE_H

#include "grouperfish/configurations.h"
#include "grouperfish/document.h"
#include "grouperfish/export.h"

GF_PUBLIC_BEGIN

/**
 * A collection as it was at one moment: a snapshot, and the collection's row, which is read once.
 * Documents, configurations and views (gf_view_open_in) that are read from it belong together:
 * what is put, deleted, set or published meanwhile does not show in any of them.
 *
 * Several threads may read from one state.
 */
typedef struct gf_state gf_state;

/** @return GF_OK; GF_ENOTFOUND where there is no such collection */
gf_status gf_state_open(gf_store *store, gf_place where, gf_state **state, gf_error *err);

/** Views that were opened from the state are closed before it. */
void gf_state_close(gf_state *state);

typedef gf_status gf_visit_document(void *context, const gf_document *document, gf_error *err);

/** A document, whether or not a build has it; GF_ENOTFOUND. */
gf_status gf_state_document(const gf_state *state, gf_slice id, gf_visit_document *visit,
                            void *context, gf_error *err);

/** The collection's configurations, as gf_configuration_list_visit gives them. */
gf_status gf_state_configurations(const gf_state *state, gf_visit_configuration *visit,
                                  void *context, gf_error *err);

/** gf_state_document of the collection as it is now. */
gf_status gf_document_read(gf_store *store, gf_place where, gf_slice id, gf_visit_document *visit,
                           void *context, gf_error *err);

/** All documents of a collection, by id. */
gf_status gf_documents_visit(gf_store *store, gf_place where, gf_visit_document *visit,
                             void *context, gf_error *err);

GF_PUBLIC_END

#endif
