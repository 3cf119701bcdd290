/**
 * The operations on clusters and memberships, and what they share.
 */
#ifndef GF_API_CLUSTERS_INTERNAL_H
#define GF_API_CLUSTERS_INTERNAL_H

#include "api/call.h"
#include "api/parameters.h"

/** Each stands behind its handler. */
extern const gf_operation gf_clusters_operation, gf_cluster_operation, gf_members_operation,
    gf_export_operation, gf_assign_operation, gf_diff_operation, gf_evaluate_operation,
    gf_names_operation, gf_merge_operation, gf_split_operation, gf_hide_operation,
    gf_show_operation, gf_lock_operation, gf_unlock_operation, gf_set_operation,
    gf_rename_operation, gf_move_operation, gf_keep_operation, gf_edits_operation,
    gf_undo_operation, gf_new_operation, gf_topic_add_operation, gf_topic_list_operation,
    gf_topic_delete_operation, gf_watch_add_operation, gf_watch_list_operation,
    gf_watch_delete_operation, gf_watch_run_operation, gf_alerts_operation;

/** A row for an edit, whoever made it (api/clusters/edits.c); the context is a gf_row_writer. */
gf_status gf_edits_emit(void *context, const gf_edit *edit, gf_error *err);

/** Put that name as a member of a row. */
void gf_group_put(gf_json_writer *w, const char *member, uint32_t group);

/** Tell how many clusters were left out of a list. */
void gf_clusters_tell_hidden(const gf_call *call, uint64_t hidden);

/* ---- what clusters gives instead of its list, with these arguments --------------------------- */

/** by: a row for each cluster with its documents over time (api/clusters/by.c). */
gf_status gf_clusters_run_by(gf_call *call, gf_view *view, gf_error *err);

/** by-field: a row for each cluster, and in each period of by (api/clusters/by_field.c). */
gf_status gf_clusters_run_by_field(gf_call *call, gf_view *view, gf_error *err);

/** Periods that are told of: as many as the call says, else what suits its `by`. */
uint64_t gf_clusters_periods(const gf_call *call);

/** tree: a row for each node of the hierarchy (api/clusters/tree.c). */
gf_status gf_clusters_run_tree(gf_call *call, gf_view *view, gf_error *err);

/** levels: a row for each group that the hierarchy is cut into (likewise). */
gf_status gf_clusters_run_levels(gf_call *call, gf_view *view, gf_error *err);

/* ---- export's other kinds -------------------------------------------------------------------- */

gf_status gf_export_documents(gf_call *call, gf_error *err);
gf_status gf_export_matrix(gf_call *call, gf_error *err);
gf_status gf_export_geojson(gf_call *call, gf_error *err);

#endif
