/*
 * A check of a store in the making: what is found, and its parts, each of which adds to it.
 *
 *     verify.c              files, then the tables and their totals
 *     verify_collection.c   a collection: documents, and configurations with their builds, edits, watches
 *     verify_build.c        a build: clusters, memberships, rows, indexes, hours
 */
#ifndef GF_ENGINE_UPKEEP_VERIFY_INTERNAL_H
#define GF_ENGINE_UPKEEP_VERIFY_INTERNAL_H

#include "engine/rows/audit.h"
#include "engine/rows/collection_row.h"

typedef struct gf_verifying {
    gf_audit audit;
    gf_verified found;
    gf_snapshot *snapshot;
    gf_error visit_error; /* of a visitor that ended the check of files */
    uint64_t documents, clusters, listed, memberships; /* as the rows that count them say */
    bool unfinished; /* there are rows of interrupted builds: totals do not add up */
} gf_verifying;

/** Write into `text` what is checked, and return it: the collection, its configuration, its build. */
const char *gf_verify_name(gf_buffer *text, gf_slice collection, gf_slice configuration,
                           int64_t build);

/** Check a build; one that is not finished, and has no row, is noted as such. */
gf_status gf_verify_one_build(gf_verifying *c, gf_place where, gf_slice configuration,
                              int64_t build, gf_error *err);

/** Check a collection that is not being deleted. @param row  as it was scanned; decoded here */
gf_status gf_verify_collection(gf_verifying *c, gf_collection_row *row, gf_error *err);

#endif
