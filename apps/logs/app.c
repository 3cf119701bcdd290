/* The application `logs`, as api sees it. */
#include "apps/apps.h"
#include "apps/logs/check.h"

static const gf_operation *const operations[] = {
    &gf_log_import_operation, &gf_log_report_operation, &gf_log_find_operation,
    &gf_log_delete_operation, &gf_log_rollup_operation,
};

/* Its tables are tables of users, which the engine checks; roll-ups are held against the lines. */
const gf_app gf_logs_app = {
    .name = "logs",
    .operations = GF_OPERATION_GROUP(operations),
    .uncounted = true,
    .has_table = gf_logs_has_table,
    .check = gf_logs_check,
    .repair = gf_logs_repair,
    .tables = gf_logs_descriptions,
    .n_tables = GF_LOGS_TABLES,
};
