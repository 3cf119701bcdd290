/**
 * A view: one build seen through one snapshot. For the engine's reading files.
 *
 *     view.c           opening, documents, memberships
 *     clusters.c  the list of clusters, and the changes since the build
 *     deleted.c      what has been deleted since the build
 *     members.c  clusters and members for the public
 *     assign.c         the nearest cluster of a text
 *     pending.c        documents that came after the build
 */
#ifndef GF_ENGINE_VIEW_VIEW_H
#define GF_ENGINE_VIEW_VIEW_H

#include "base/strings.h"
#include "engine/build/internal.h"
#include "engine/config/pins.h"
#include "engine/rows/filter.h"
#include "engine/rows/model.h"
#include "engine/view/cluster_cache.h"
#include "grouperfish/views.h"

/** A cluster of the view's build, in memory. */
typedef struct gf_known_cluster {
    uint32_t id;
    uint64_t size;  /* documents that are still there */
    gf_slice label; /* what it is called: the pinned label, else its own; in the view's memory */
    gf_slice own_label; /* that its row's key has */
} gf_known_cluster;

/** Documents of a view's build that have been deleted since, as of one seq of the collection. */
typedef struct gf_gone {
    gf_strings ids;
    uint32_t *place; /* ids.n: of each one's cluster, in the list by id */
    uint64_t *lost;  /* n_clusters: members that each cluster has lost */
    unsigned users;  /* under the lock of the store's cluster_cache */
} gf_gone;

/** The centres, ready to be compared with: assign.c. */
typedef struct gf_assigner gf_assigner;

struct gf_view {
    gf_store *store;
    gf_snapshot *snapshot;
    gf_arena memory; /* names, labels, the build's strings */
    gf_place where;
    gf_slice configuration;
    uint64_t seq; /* of the collection, in the snapshot */
    gf_build_info info;
    gf_buffer key; /* of the build */
    gf_pins pins;  /* of the configuration */

    gf_known_cluster *clusters; /* n_clusters, by id; once they were needed */
    uint32_t *by_size; /* n_clusters: places in clusters, largest first, then by id; once they
                          were ordered */
    size_t n_clusters;
    gf_cluster_list *list; /* that own labels may be borrowed from; NULL: from the memory */
    bool clusters_known;
    gf_gone *gone; /* NULL: nobody has */

    gf_model model; /* once it was needed */
    bool model_loaded;
    gf_analysis analysis; /* likewise, without the vocabulary */
    bool analysis_loaded;
    gf_assigner *assigner; /* likewise */
    gf_filter filter;      /* of the build's settings; likewise */
    bool filter_loaded;

    gf_row row, document_row; /* of the call at hand */
    gf_buffer text;
};

/** Load the list of clusters, and what was deleted since the build. */
gf_status gf_view_know_clusters(gf_view *view, gf_error *err);

/** The same, and their order by size. */
gf_status gf_view_order_clusters(gf_view *view, gf_error *err);

/** The clusters as the build wrote them, with their sizes then, by id. */
gf_status gf_view_list_clusters(gf_view *view, gf_error *err);

/** The list that another view has read already, if there is one; and keep this view's for others.
 */
gf_status gf_cluster_cache_take(gf_view *view, bool *taken, gf_error *err);
gf_status gf_cluster_cache_keep(gf_view *view, gf_error *err);
void gf_cluster_list_let_go(gf_cluster_list *list);

/**
 * Learn what has been deleted since the build, and take that from the sizes of the clusters, which
 * are listed already.
 */
gf_status gf_view_know_gone(gf_view *view, gf_error *err);

/** Whether a document is one of those; none is in NULL. */
bool gf_gone_has(const gf_gone *gone, gf_slice id);
void gf_gone_free(gf_gone *gone);

/**
 * Take what another view has found, into view->gone; return the seq up to which that goes, which is
 * the build's where there is nothing. Keep view->gone, which goes up to view->seq, for others. Have
 * done with it.
 */
uint64_t gf_cluster_cache_take_gone(gf_view *view);
void gf_cluster_cache_keep_gone(gf_view *view);
void gf_cluster_cache_let_gone_go(gf_view *view);

/** A cluster of that id, or NULL. Listed clusters only; O(log n). */
gf_known_cluster *gf_view_find(const gf_view *view, uint32_t id);

/** Walk over the changes since the build, oldest first. */
gf_status gf_view_each_change(gf_view *view, gf_each_row *each, void *context, gf_error *err);

/** The same of those after a seq. */
gf_status gf_view_each_change_after(gf_view *view, uint64_t seq, gf_each_row *each, void *context,
                                    gf_error *err);

/** A document of the build that is still there: where it is, and its row in the snapshot. */
typedef gf_status gf_each_member(void *context, gf_slice id, const gf_membership_cells *cells,
                                 const gf_row *document, gf_error *err);

/** Walk over them by id, memberships and documents side by side; what is given is borrowed. */
gf_status gf_view_each_member(gf_view *view, gf_each_member *each, void *context, gf_error *err);

gf_status gf_view_need_model(gf_view *view, gf_error *err);

/** Whether a row of documents:main is one that the build's settings let through (filter.c). */
gf_status gf_view_is_about(gf_view *view, const gf_row *document, bool *about, gf_error *err);

void gf_assigner_free(gf_assigner *assigner);

/**
 * A cluster's centre, as arrays of n for the caller to free; GF_ECORRUPT where it is lost.
 */
gf_status gf_view_read_centre(gf_view *view, uint32_t id, uint32_t **col, float **val, uint32_t *n,
                              gf_error *err);

/** Read a document's place as it is stored, into view->row; GF_ENOTFOUND. */
gf_status gf_view_read_cells(gf_view *view, gf_slice id, gf_membership_cells *cells, gf_error *err);

/** A membership's public form, its labels looked up. */
void gf_view_describe(const gf_view *view, const gf_membership_cells *cells, gf_membership *m);

/**
 * Read a document from the snapshot into the row, from which it borrows; GF_ENOTFOUND. *fields is
 * the caller's to free.
 */
gf_status gf_view_read_document(gf_view *view, gf_slice id, gf_row *row, gf_document *document,
                                gf_field **fields, uint64_t *seq, gf_error *err);

#endif
