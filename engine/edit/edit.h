/** Edits that were made while a rebuild was under way. */
#ifndef GF_ENGINE_EDIT_EDIT_H
#define GF_ENGINE_EDIT_EDIT_H

#include "engine/store/store_internal.h"
#include "grouperfish/edits.h"

/**
 * Make the edits of a number above `since` in the served build, which was begun before they were made. One
 * that cannot be made there is marked so, with the reason. The collection is held.
 */
gf_status gf_edits_catch_up(gf_store *store, gf_place where, gf_slice configuration, uint64_t since,
                            gf_error *err);

#endif
