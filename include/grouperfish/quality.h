/** How good a build is, without known classes and beside them; cells of tables as documented. */
#ifndef GF_GROUPERFISH_QUALITY_H
#define GF_GROUPERFISH_QUALITY_H

#include "grouperfish/cancel.h"
#include "grouperfish/export.h"
#include "grouperfish/rebuild.h"
#include "grouperfish/views.h"

GF_PUBLIC_BEGIN

/**
 * Figures of a whole build without known classes: docs/figures.md has the definitions. Where a
 * build has no clusters, or none that a mean is over, the number is NAN.
 */
typedef struct gf_figures {
    uint64_t documents; /* in clusters, at the time of the build */
    uint64_t clusters;
    uint64_t clear, fair, mixed; /* clusters */
    double score, margin;        /* means over the documents */
    double weak;                 /* share of the documents that fit the next cluster as well */
    double recall, precision;    /* of all labels: hits / members, hits / found */
    double f1;                   /* 2 recall precision / (recall + precision) */
    double npmi;                 /* mean over clusters, -1..1 */
    double diversity;            /* distinct terms among all clusters' ten, over all of them */
    double similarity;           /* mean over clusters, of the nearest other centre */
} gf_figures;

/**
 * The figures of a view's build, as of the time when it was made. Those of each cluster come with
 * gf_view_clusters.
 *
 * @return GF_OK; GF_ENOTFOUND (the build is of a version that made none); GF_ECORRUPT, GF_EIO,
 *         GF_ENOMEM
 * Cost: a read of the clusters.
 */
gf_status gf_view_figures(gf_view *view, gf_figures *figures, gf_error *err);

/** Runs of gf_stability_measure. */
enum { GF_STABILITY_SEEDS = 3, GF_STABILITY_HALVES = 2 };

/** A cluster's best Jaccard with a cluster of another run, mean over the runs: 0..1. */
typedef struct gf_cluster_stability {
    uint32_t cluster;
    double seeds, halves; /* NAN where no run had a document of it */
} gf_cluster_stability;

/** The agreement of the served build with clusterings made again: means over the runs. */
typedef struct gf_stability {
    int64_t build;      /* the served one */
    uint64_t documents; /* that were clustered again */
    double seeds_nmi, seeds_ari, halves_nmi, halves_ari;
    const gf_cluster_stability *clusters; /* n_clusters, by id */
    size_t n_clusters;
} gf_stability;

typedef gf_status gf_visit_stability(void *context, const gf_stability *stability, gf_error *err);

/**
 * Cluster a collection's documents again, by the configuration as it is now and into as many
 * clusters as the served build has: with three other seeds, and each half (every other document)
 * for itself. Each run is compared with the served build over the documents that both have. Nothing
 * is written. Of more than 50,000 documents so many, evenly spread, stand for all.
 *
 * @param options  threads, cancel and progress count
 * @return GF_OK; GF_ENOTFOUND (collection, configuration, or there is no build); GF_ECONFLICT (the
 *         build's rows were a matrix's); else as gf_rebuild
 * Cost: five clusterings; memory that of a rebuild of 50,000 documents at most.
 * Source: Hennig, Computational Statistics & Data Analysis 52 (2007) 258-271: a cluster whose mean
 *         Jaccard is below 0.5 dissolves, from 0.75 on it is stable.
 */
gf_status gf_stability_measure(gf_store *store, gf_place where, gf_slice configuration,
                               const gf_rebuild_options *options, gf_visit_stability *visit,
                               void *context, gf_error *err);

typedef struct gf_class_score {
    gf_slice name;
    uint64_t size;
    uint32_t cluster; /* id of the cluster that holds most of it; 0: the documents without terms */
    gf_slice label;
    double recall, precision, f1;
} gf_class_score;

typedef struct gf_evaluation {
    uint64_t documents; /* that have both a class and a cluster */
    uint64_t classes, clusters;
    double nmi, ari, homogeneity, completeness, v_measure, purity;
    const gf_class_score *scores; /* per class, by name */
} gf_evaluation;

typedef gf_status gf_visit_evaluation(void *context, const gf_evaluation *e, gf_error *err);

/** The class of a document, or an empty slice; borrowed until the next call. */
typedef gf_status gf_class_of(void *context, gf_slice id, gf_slice *name, gf_error *err);

/**
 * Compare a build with known classes: those that class_of tells, or where that is NULL those in a
 * field of the documents. Documents without a class are left out. Those in no cluster count together as
 * one cluster more, as scikit-learn's scores count the label -1: to leave documents out is not free.
 *
 * @param cancel  may be NULL
 * @return GF_OK; GF_ENOTFOUND (no document has a class); GF_ECANCELLED, GF_ECORRUPT, GF_EIO,
 * GF_ENOMEM
 */
gf_status gf_view_evaluate(gf_view *view, gf_slice field, gf_class_of *class_of,
                           void *class_context, const gf_cancel *cancel, gf_visit_evaluation *visit,
                           void *context, gf_error *err);

/** A cell of the tables as documented (docs/tables.md), stored or worked out. */
typedef gf_status gf_visit_column(void *context, const char *family, gf_slice qualifier,
                                  gf_slice value, gf_error *err);

gf_status gf_columns_document(gf_store *store, gf_place where, gf_slice id, gf_visit_column *visit,
                              void *context, gf_error *err);
gf_status gf_columns_cluster(gf_view *view, uint32_t cluster, gf_visit_column *visit, void *context,
                             gf_error *err);
gf_status gf_columns_collection(gf_store *store, gf_place where, gf_visit_column *visit,
                                void *context, gf_error *err);

GF_PUBLIC_END

#endif
