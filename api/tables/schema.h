/** The members of rows: tables that the operations of users' tables name (api/row_member.h). */
#ifndef GF_API_TABLES_SCHEMA_H
#define GF_API_TABLES_SCHEMA_H

#include "api/row_member.h"

extern const gf_row_member gf_schema_table_create[], gf_schema_table_list[], gf_schema_table_drop[],
    gf_schema_table_put[], gf_schema_table_get[], gf_schema_table_scan[], gf_schema_table_delete[],
    gf_schema_table_incr[], gf_schema_table_check_and_put[], gf_schema_table_batch[],
    gf_schema_table_import[], gf_schema_table_export[];

#endif
