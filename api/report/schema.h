/** The members of rows: tables that the operations of reports name (api/row_member.h). */
#ifndef GF_API_REPORT_SCHEMA_H
#define GF_API_REPORT_SCHEMA_H

#include "api/row_member.h"

extern const gf_row_member gf_schema_report[];

#endif
