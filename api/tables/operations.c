/* The operations of this noun, in the order of the documentation. */
#include "api/tables/internal.h"

#include "api/groups_internal.h"

static const gf_operation *const operations[] = {
    &gf_table_create_operation, &gf_table_list_operation,          &gf_table_describe_operation,
    &gf_table_alter_operation,  &gf_table_drop_operation,          &gf_table_put_operation,
    &gf_table_get_operation,    &gf_table_scan_operation,          &gf_table_delete_operation,
    &gf_table_incr_operation,   &gf_table_check_and_put_operation, &gf_table_batch_operation,
    &gf_table_import_operation, &gf_table_export_operation,
};
const gf_operation_group gf_tables_operations = GF_OPERATION_GROUP(operations);
