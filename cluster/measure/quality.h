/**
 * External quality: how well a clustering agrees with known classes of the same documents.
 *
 * All measures are functions of the contingency table, whose cell (c, k) counts the documents of
 * class c that lie in cluster k. It is kept sparse, as one row of cells per class, since most pairs
 * have no document:
 *
 *     classes    7        9    12           by rising label
 *     row        k0 k2    k2   k0 k1 k3     cells start[i] .. start[i + 1] - 1, by rising cluster
 *
 * Labels are any 32-bit numbers; they need not be dense, and a label for "in no cluster" is a label
 * like any other.
 *
 * With n documents, a_c of them in class c, b_k in cluster k, n_ck in both, natural logarithms:
 *
 *     H(C) = - sum_c a_c/n ln(a_c/n)                 entropy of the classes; H(K) likewise
 *     I    = sum_ck n_ck/n ln(n n_ck / (a_c b_k))    mutual information
 *
 *     nmi            I / ((H(C) + H(K)) / 2)         0..1
 *     homogeneity h  I / H(C)                        0..1; 1 where each cluster holds one class
 *     completeness   I / H(K)                        0..1; 1 where each class lies in one cluster
 *     v_measure      2 h c / (h + c)                 0..1; c is the completeness
 *     ari            2 (tp tn - fn fp) / ((tp + fn)(fn + tn) + (tp + fp)(fp + tn))
 *                                                    -0.5..1; 0 is what chance gives
 *     purity         sum_k max_c n_ck / n            0..1; 1 too where no two share a cluster
 *
 * where tp counts the pairs of documents of one class and one cluster, fn those of one class only,
 * fp those of one cluster only, tn those of neither.
 *
 * The limits are scikit-learn's: where a divisor is 0 the measure is 1 (as for nmi and ari of one
 * cluster and one class, and for all of them without documents), but v_measure is 0 where h + c is.
 *
 * Threads: the arrays are only read. The results do not depend on the order of the documents.
 * Source: Strehl & Ghosh, Journal of Machine Learning Research 3 (2002) 583-617: nmi, here with the
 *         arithmetic mean of the entropies, as in scikit-learn, in place of their geometric one;
 *         Hubert & Arabie, Journal of Classification 2 (1985) 193-218: ari;
 *         Rosenberg & Hirschberg, EMNLP-CoNLL (2007) 410-420: homogeneity, completeness, v_measure;
 *         Zhao & Karypis, Machine Learning 55 (2004) 311-331: purity.
 */
#ifndef GF_CLUSTER_MEASURE_QUALITY_H
#define GF_CLUSTER_MEASURE_QUALITY_H

#include "grouperfish/status.h"

#include <stdint.h>

/** How a class fared: the cluster that holds most of it. */
typedef struct gf_quality_class {
    uint32_t label;
    uint32_t size;    /* documents of the class, 1..n */
    uint32_t cluster; /* label; of several that hold as many the smallest, then the lowest label */
    uint32_t both;    /* documents of the class in that cluster, 1..size */
    double recall;    /* both / size */
    double precision; /* both / size of the cluster */
    double f1;        /* 2 recall precision / (recall + precision) */
} gf_quality_class;

typedef struct gf_quality {
    double nmi, ari, homogeneity, completeness, v_measure, purity;
    uint32_t n;                /* documents */
    uint32_t n_clusters;       /* distinct labels, 0..n */
    uint32_t n_classes;        /* distinct labels, 0..n */
    uint32_t *cluster_label;   /* by rising label (n_clusters) */
    uint32_t *cluster_size;    /* documents in each (n_clusters) */
    gf_quality_class *classes; /* by rising label (n_classes) */
    uint32_t *start;           /* first cell of each class (n_classes + 1) */
    uint32_t *cell_cluster;    /* position in cluster_label, rising in a class (start[n_classes]) */
    uint32_t *cell_count;      /* documents in the cell, at least 1 (start[n_classes]) */
} gf_quality;

/**
 * Compare a clustering with classes.
 *
 * @param clusters  n labels: the cluster of each document
 * @param classes   n labels: the class of each
 * @param[out] out  measures, contingency table and classes
 * @return GF_OK; GF_ENOMEM, and *out is unchanged
 * Owner:  the caller calls gf_quality_release(out).
 * Cost:   O(n + cells), whatever the labels; memory 16 bytes a document beside the results.
 */
gf_status gf_quality_compare(const uint32_t *clusters, const uint32_t *classes, uint32_t n,
                             gf_quality *out, gf_error *err);

void gf_quality_release(gf_quality *q);

#endif
