/** A build beside known classes; the cells of the tables as they are documented. */
#ifndef GF_GROUPERFISH_QUALITY_H
#define GF_GROUPERFISH_QUALITY_H

#include "grouperfish/export.h"
#include "grouperfish/views.h"

GF_PUBLIC_BEGIN

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
 * field of the documents. Documents without a class are left out.
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
