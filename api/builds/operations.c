/* The operations of this noun, in the order of the documentation. */
#include "api/builds/internal.h"

#include "api/groups_internal.h"

static const gf_operation *const operations[] = {
    &gf_rebuild_operation, &gf_builds_operation, &gf_publish_operation,
    &gf_pin_operation,     &gf_unpin_operation,  &gf_label_operation,
};
const gf_operation_group gf_builds_operations = GF_OPERATION_GROUP(operations);
