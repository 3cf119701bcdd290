/** The members of rows: tables that the operations of builds name (api/row_member.h). */
#ifndef GF_API_BUILDS_SCHEMA_H
#define GF_API_BUILDS_SCHEMA_H

#include "api/row_member.h"

extern const gf_row_member gf_schema_rebuild[], gf_schema_builds[], gf_schema_publish[],
    gf_schema_pin[], gf_schema_unpin[], gf_schema_label[];

#endif
