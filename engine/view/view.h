/**
 * A view: one build seen in one state of its collection. Files of this room, each of which calls
 * only those above it:
 *
 *     deleted_set.c     a set of documents that have been deleted since a build
 *     cluster_cache.c   lists of clusters, and such sets, shared by the views of a store
 *     state.c           one state of a collection
 *     rows.c            rows of the snapshot: changes, memberships, centres
 *     clusters.c        the clusters as the build wrote them
 *     deleted.c         documents that have been deleted since the build
 *     sizes.c           the clusters without those documents
 *     memberships.c     documents of the build and their clusters
 *     new_clusters.c    candidates as clusters, before a rebuild makes them
 *     members.c         documents of one cluster; clusters with their terms
 *     different.c       the best documents of one cluster that are different
 *     model.c filter.c  how the build analyses texts, and which documents it selects
 *     assign.c          the nearest cluster of a text or a row
 *     pending.c         documents that came after the build
 *     candidates.c      groups of these that fit no cluster
 *     hours.c           documents by cluster and hour
 *     tree.c explain.c trends.c by_field.c evaluate.c figures.c build_matrix.c diff.c
 *     text_rows.c map.c build_matrix.c
 *     shelf.c           parts of views that are not in use, for who places one document at a time
 *     view.c            views opened and closed
 *     builds.c columns.c pin.c
 *
 * Parts are loaded when they are first needed and last until the view is closed. A view is for one
 * thread.
 */
#ifndef GF_ENGINE_VIEW_VIEW_H
#define GF_ENGINE_VIEW_VIEW_H

#include "base/json/json.h"
#include "base/strings.h"
#include "engine/config/pins.h"
#include "engine/rows/filter.h"
#include "engine/rows/id_set.h"
#include "engine/rows/model.h"
#include "engine/rows/scan.h"
#include "engine/rows/term_vectors.h"
#include "engine/rows/vector.h"
#include "engine/view/cluster_cache.h"
#include "engine/view/new_clusters.h"
#include "engine/view/state.h"
#include "grouperfish/views.h"

/** The centres, ready to be compared with: assign.c. */
typedef struct gf_assigner gf_assigner;

struct gf_view {
    const gf_state *state;
    gf_state *own_state; /* the same, if it was opened with the view; else NULL */
    gf_store *store;     /* the state's, as are snapshot and where */
    const gf_snapshot *snapshot;
    gf_place where;
    uint64_t seq; /* of the collection, in the snapshot */

    gf_arena memory; /* names, labels, the build's strings */
    gf_slice configuration;
    gf_build_info info;
    gf_buffer key; /* of the build */
    gf_pins pins;  /* of the configuration */

    /* Clusters, once they were needed. */
    gf_listed_cluster *clusters; /* n_clusters, by id; sizes without deleted documents */
    uint32_t *by_size;           /* n_clusters: places in clusters, largest first, mixed last */
    size_t n_clusters;
    gf_cluster_list *list; /* where own labels may be borrowed from; NULL: from the memory */
    bool clusters_loaded;
    gf_deleted_set *deleted; /* since the build; NULL: none */

    /* Once they were needed. */
    gf_model model;
    bool model_loaded;
    gf_model_analysis analysis; /* without the vocabulary */
    bool analysis_loaded;
    gf_assigner *assigner;
    gf_vector vector;      /* that a document brought along, or the sum of its words' */
    gf_term_vectors words; /* where the rows are such sums */
    double *word_sum;      /* words.d, scratch */
    gf_filter filter;      /* of the build's settings */
    gf_id_set within;      /* likewise: what the filter's points to */
    bool filter_loaded;

    gf_new_clusters new_clusters; /* once they were needed */

    gf_row row, document_row; /* of the call at hand */
    gf_buffer text;
    bool warm; /* its parts go on the shelf when it is closed */
};

/* ---- rows.c ---------------------------------------------------------------------------------- */

/** Walk over the changes after a seq, oldest first. */
gf_status gf_view_each_change_after(gf_view *view, uint64_t seq, gf_each_row *each, void *context,
                                    gf_error *err);

/** The same of the changes since the build. */
gf_status gf_view_each_change(gf_view *view, gf_each_row *each, void *context, gf_error *err);

/** Add the ids of documents that were put or deleted since the build, each once. */
gf_status gf_view_changed_ids(gf_view *view, gf_strings *ids, gf_error *err);

/** Read a document's membership as it is stored, into view->row; GF_ENOTFOUND. */
gf_status gf_view_read_cells(gf_view *view, gf_slice id, gf_membership_cells *cells, gf_error *err);

/** A cluster's centre, as arrays of n for the caller to free; GF_ECORRUPT where it is lost. */
gf_status gf_view_read_centre(gf_view *view, uint32_t id, uint32_t **col, float **val, uint32_t *n,
                              gf_error *err);

/** The same of the sum of all rows, which builds of topics alone have; *n is 0 where there is none. */
gf_status gf_view_read_background(gf_view *view, uint32_t **col, float **val, uint32_t *n,
                                  gf_error *err);

/* ---- clusters.c ------------------------------------------------------------------------------ */

/** Read the clusters as the build wrote them, by id, with pinned labels. */
gf_status gf_view_list_clusters(gf_view *view, gf_error *err);

/** A cluster of that id, or NULL. Listed clusters only; O(log n). */
gf_listed_cluster *gf_view_find_cluster(const gf_view *view, uint32_t id);

/** Read [["surface", weight], ...] into terms for the caller to free, which borrow from the parser. */
gf_status gf_view_take_terms(gf_json_parser *parser, gf_slice json, gf_term **terms, size_t *n,
                             gf_error *err);

/* ---- deleted.c ------------------------------------------------------------------------------- */

/** Find what has been deleted since the build; the clusters are listed. */
gf_status gf_view_load_deleted(gf_view *view, gf_error *err);

/* ---- sizes.c --------------------------------------------------------------------------------- */

/** Load the clusters, with the sizes that they have without what was deleted since the build. */
gf_status gf_view_load_clusters(gf_view *view, gf_error *err);

/** The same, and their order by size. */
gf_status gf_view_order_clusters(gf_view *view, gf_error *err);

/* ---- memberships.c --------------------------------------------------------------------------- */

/** A membership's public form, its labels looked up. */
void gf_view_describe(const gf_view *view, const gf_membership_cells *cells, gf_membership *m);

/** The label of documents that are in no cluster, where it is not known why. */
gf_slice gf_view_label_of_none(const gf_view *view);

/** A document of the build that is still there: its membership, and its row in the snapshot. */
typedef gf_status gf_each_member(void *context, gf_slice id, const gf_membership_cells *cells,
                                 const gf_row *document, gf_error *err);

/** Walk over them by id, memberships and documents side by side; arguments are borrowed. */
gf_status gf_view_each_member(gf_view *view, gf_each_member *each, void *context, gf_error *err);

/* ---- pending.c ------------------------------------------------------------------------------- */

/** gf_view_pending by the build alone: what is in a candidate is told as where it would be without it. */
gf_status gf_view_each_pending(gf_view *view, gf_visit_pending *visit, void *context,
                               gf_error *err);

/* ---- model.c, filter.c, assign.c ------------------------------------------------------------- */

gf_status gf_view_load_model(gf_view *view, gf_error *err);

/** The documents that the build may be of, where its setting `within` says so; else NULL. */
gf_status gf_view_within(gf_view *view, const gf_id_set **within, gf_error *err);

/** Test whether the build's settings select a row of documents:main. */
gf_status gf_view_selects(gf_view *view, const gf_row *document, bool *selected, gf_error *err);

/** Load what texts become rows by: the model, and the vectors of its terms where there are any. */
gf_status gf_view_load_analysis(gf_view *view, gf_error *err);

/**
 * The row of a document as it is now, in the build's space; borrowed until the next call. n is 0
 * where it has none, and view->vector.why says why where the build's rows are not the texts'.
 */
gf_status gf_view_row_of(gf_view *view, const gf_document *document, gf_row_view *row,
                         gf_error *err);

void gf_assign_free(gf_assigner *assigner);

/** End the threads of an assigner, if it has any. */
void gf_assign_release_workers(gf_assigner *assigner);

/** Bytes of its index of centres, about. */
size_t gf_assign_bytes(const gf_assigner *assigner);

/* ---- view.c ---------------------------------------------------------------------------------- */

/** As gf_view_open, for whoever places documents: its parts may be there already (shelf.h). */
gf_status gf_view_open_warm(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                            gf_view **view, gf_error *err);

/* ---- candidates.c ---------------------------------------------------------------------------- */

/** The chance that of `all` documents `n` or more are among those with this share of all: binomial. */
double gf_view_chance(uint64_t all, uint64_t n, double share);

#endif
