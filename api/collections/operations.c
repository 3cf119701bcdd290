/* The operations of this noun, in the order of the documentation. */
#include "api/collections/internal.h"

#include "api/groups_internal.h"

static const gf_operation *const operations[] = {
    &gf_collection_create_operation, &gf_collection_list_operation, &gf_collection_show_operation,
    &gf_collection_delete_operation, &gf_config_set_operation,      &gf_config_show_operation,
    &gf_config_list_operation,       &gf_config_delete_operation,   &gf_config_keys_operation,
};
const gf_operation_group gf_collections_operations = GF_OPERATION_GROUP(operations);
