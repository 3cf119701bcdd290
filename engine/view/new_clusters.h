/**
 * Candidates as clusters of a view, before the next rebuild makes some of them (engine/config/candidates.h): those of
 * the served build, with the documents that are there as the last look saw them.
 */
#ifndef GF_ENGINE_VIEW_NEW_CLUSTERS_H
#define GF_ENGINE_VIEW_NEW_CLUSTERS_H

#include "base/strings.h"
#include "engine/config/candidates.h"
#include "grouperfish/views.h"

/** {0} to begin with. Those without a document are left out; sizes are those of the documents that are left. */
typedef struct gf_new_clusters {
    gf_candidates list;
    gf_strings documents;
    uint32_t *of, *rank; /* documents.n: places in the list and among its documents */
    size_t of_capacity, rank_capacity;
    bool loaded;
} gf_new_clusters;

void gf_new_clusters_release(gf_new_clusters *clusters);

/** Load those of the view; none where its build is not the served one. */
gf_status gf_view_load_new(gf_view *view, gf_error *err);

/** The one of that id, or NULL, once they are loaded. */
gf_new_candidate *gf_view_find_new(const gf_view *view, uint32_t id);

/** The one of that label, whose label differs in case alone; NULL. */
gf_new_candidate *gf_view_find_new_label(const gf_view *view, gf_slice label);

/** The one that a document is in, or NULL; *at: the document. */
const gf_new_candidate *gf_view_new_of(const gf_view *view, gf_slice id,
                                       const gf_candidate_document **at);

/** Have a membership say that the document is in a candidate; what was its cluster comes next. */
void gf_view_describe_new(const gf_view *view, const gf_new_candidate *candidate,
                          const gf_candidate_document *document, gf_membership *m);

/** Visit its documents, from the one behind `after` on; NULL: from the first. */
gf_status gf_view_visit_new_members(gf_view *view, const gf_new_candidate *candidate, bool reverse,
                                    const gf_member_place *after, uint64_t limit,
                                    gf_visit_member *visit, void *context, gf_error *err);

/** Visit one as a cluster. */
gf_status gf_view_visit_new(gf_view *view, const gf_new_candidate *candidate,
                            gf_visit_cluster *visit, void *context, gf_error *err);

#endif
