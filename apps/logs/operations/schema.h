/** The members of rows: tables that the operations of access logs name (api/row_member.h). */
#ifndef GF_APPS_LOGS_OPERATIONS_SCHEMA_H
#define GF_APPS_LOGS_OPERATIONS_SCHEMA_H

#include "api/row_member.h"

extern const gf_row_member gf_schema_log_import[], gf_schema_log_report[], gf_schema_log_find[],
    gf_schema_log_delete[], gf_schema_log_rollup[];

#endif
