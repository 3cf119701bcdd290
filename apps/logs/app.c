/* The application `logs`, as api sees it. */
#include "apps/apps.h"
#include "apps/logs/internal.h"

static const gf_operation *const operations[] = {
    &gf_log_import_operation,
    &gf_log_report_operation,
    &gf_log_find_operation,
};

/* Its tables are tables of users, which the engine checks. */
const gf_app gf_logs_app = {
    .name = "logs",
    .operations = GF_OPERATION_GROUP(operations),
};
