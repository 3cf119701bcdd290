/** The members of rows: tables that the operations of papers name (api/row_member.h). */
#ifndef GF_APPS_PAPERS_OPERATIONS_SCHEMA_H
#define GF_APPS_PAPERS_OPERATIONS_SCHEMA_H

#include "api/row_member.h"

extern const gf_row_member gf_schema_papers_import_cdx[], gf_schema_papers_import_tei[],
    gf_schema_papers_extract[], gf_schema_papers_show[], gf_schema_papers_list[],
    gf_schema_papers_counts[], gf_schema_papers_missing[], gf_schema_papers_dump[],
    gf_schema_papers_match[], gf_schema_papers_import[], gf_schema_papers_alter[];

#endif
