/** The members of rows: tables that the operations of documents name (api/row_member.h). */
#ifndef GF_API_DOCUMENTS_SCHEMA_H
#define GF_API_DOCUMENTS_SCHEMA_H

#include "api/row_member.h"

extern const gf_row_member gf_schema_put[], gf_schema_delete[], gf_schema_doc[], gf_schema_search[],
    gf_schema_similar[], gf_schema_duplicates[];

#endif
