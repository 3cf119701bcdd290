/** Rows of the table of builds. */
#ifndef GF_ENGINE_STORE_BUILDS_H
#define GF_ENGINE_STORE_BUILDS_H

#include "engine/store/store_internal.h"
#include "grouperfish/builds.h"

/** The word that a build's column `matrix` has for its rows, where they are not the texts'. */
const char *gf_build_rows_name(gf_rows_kind kind);

/** Decode a row of builds:main; slices are borrowed from the row. `served` is not set. */
gf_status gf_build_decode(gf_store *store, const gf_row *row, gf_build_info *info, gf_error *err);

/** *served: the collection's row points at the build of that key. */
gf_status gf_build_is_served(gf_store *store, gf_slice build_key, bool *served, gf_error *err);

/**
 * The finished builds of a configuration, newest first, without those being deleted; free the list
 * with gf_free.
 */
gf_status gf_builds_list(gf_store *store, const gf_snapshot *snapshot, gf_slice configuration_key,
                         int64_t **builds, size_t *n, gf_error *err);

#endif
