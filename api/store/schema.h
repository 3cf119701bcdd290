/** The members of rows: tables that the operations of the store name (api/row_member.h). */
#ifndef GF_API_STORE_SCHEMA_H
#define GF_API_STORE_SCHEMA_H

#include "api/row_member.h"

extern const gf_row_member gf_schema_init[], gf_schema_status[], gf_schema_upgrade[],
    gf_schema_verify[], gf_schema_backup[], gf_schema_archive[], gf_schema_restore[],
    gf_schema_copy[], gf_schema_repair[], gf_schema_version[];

#endif
