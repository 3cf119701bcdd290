/* The operations of this noun, in the order of the documentation. */
#include "api/clusters/internal.h"

#include "api/groups_internal.h"

static const gf_operation *const operations[] = {
    &gf_clusters_operation, &gf_cluster_operation, &gf_members_operation,  &gf_export_operation,
    &gf_assign_operation,   &gf_diff_operation,    &gf_evaluate_operation,
};
const gf_operation_group gf_clusters_operations = GF_OPERATION_GROUP(operations);
