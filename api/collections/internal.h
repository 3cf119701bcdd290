/**
 * The operations on collections and their configurations.
 */
#ifndef GF_API_COLLECTIONS_INTERNAL_H
#define GF_API_COLLECTIONS_INTERNAL_H

#include "api/call.h"
#include "api/parameters.h"

/** Each stands behind its handler. */
extern const gf_operation gf_collection_create_operation, gf_collection_list_operation,
    gf_collection_show_operation, gf_collection_delete_operation, gf_config_set_operation,
    gf_config_show_operation, gf_config_list_operation, gf_config_delete_operation,
    gf_config_keys_operation, gf_source_list_operation;

#endif
