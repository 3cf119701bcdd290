/**
 * The groups of operations that api itself has, one for each noun.
 */
#ifndef GF_API_GROUPS_INTERNAL_H
#define GF_API_GROUPS_INTERNAL_H

#include "api/operation.h"

extern const gf_operation_group gf_collections_operations, gf_documents_operations,
    gf_builds_operations, gf_clusters_operations, gf_report_operations, gf_tables_operations,
    gf_store_operations;

#endif
