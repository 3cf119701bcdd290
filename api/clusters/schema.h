/** The members of rows: tables that the operations of clusterings name (api/row_member.h). */
#ifndef GF_API_CLUSTERS_SCHEMA_H
#define GF_API_CLUSTERS_SCHEMA_H

#include "api/row_member.h"

extern const gf_row_member gf_schema_clusters[], gf_schema_cluster[], gf_schema_members[],
    gf_schema_export[], gf_schema_assign[], gf_schema_diff[], gf_schema_evaluate[],
    gf_schema_terms[], gf_schema_names[], gf_schema_edit[], gf_schema_topic_edit[],
    gf_schema_topics[], gf_schema_undo[], gf_schema_new[], gf_schema_watch[], gf_schema_watch_run[],
    gf_schema_alert[];

#endif
