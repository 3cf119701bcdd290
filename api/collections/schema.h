/** The members of rows: tables that the operations of collections and configurations name (api/row_member.h). */
#ifndef GF_API_COLLECTIONS_SCHEMA_H
#define GF_API_COLLECTIONS_SCHEMA_H

#include "api/row_member.h"

extern const gf_row_member gf_schema_collection_create[], gf_schema_collection_list[],
    gf_schema_collection_show[], gf_schema_collection_delete[], gf_schema_config_set[],
    gf_schema_config_show[], gf_schema_config_list[], gf_schema_config_delete[],
    gf_schema_config_keys[], gf_schema_source_list[];

#endif
