/*
 * Candidates and counts that labels.c (clusters) and nodes.c (inner nodes of their tree) share.
 */
#ifndef GF_CLUSTER_LABEL_INTERNAL_H
#define GF_CLUSTER_LABEL_INTERNAL_H

#include "base/strings.h"
#include "cluster/label/labels.h"
#include "cluster/label/phrases.h"

enum { GF_LABEL_CANDIDATES = 400 }; /* of a cluster, or a node */

#define GF_LABEL_RARE     0.05 /* share of the documents below which a phrase is no candidate */
#define GF_LABEL_FREQUENT 0.10 /* share from which it is a good label */
#define GF_LABEL_LIFT     3.0  /* how much more frequent than outside a good label is */
#define GF_LABEL_COMPLETE 0.7  /* share of a phrase's documents that also have the longer one */

/* A phrase that may become a cluster's label. */
typedef struct gf_label_candidate {
    gf_slice key;              /* terms and letters, phrases.h */
    uint32_t phrase;           /* number among the phrases of all clusters */
    uint32_t count;            /* documents of the cluster that have it */
    uint32_t n_words, n_inner; /* words; of these stop words inside */
    bool weak;                 /* see gf_phrase_is_weak */
    bool hidden;               /* a longer phrase says the same */
    double score;
    bool good;
} gf_label_candidate;

/* Phrases of one cluster and their counts. */
typedef struct gf_label_counted {
    gf_label_candidate *candidates; /* n, by falling score in the end */
    uint32_t n;
    gf_strings keys;   /* of the candidates, in order */
    uint32_t *phrases; /* n_found, rising: phrases of all clusters that its documents have */
    uint32_t *counts;  /* n_found: in how many */
    uint32_t n_found;
} gf_label_counted;

typedef struct gf_labelling {
    const gf_label_cluster *clusters;
    gf_label_counted *counted; /* k */
    uint32_t k;
    gf_strings phrases;    /* keys of all candidates */
    gf_phrase_slots words; /* marked: those of the candidates */
    double *outside;       /* per phrase: documents of all clusters that have it, estimated */
    double documents;      /* of all clusters */
    uint64_t sampled;
} gf_labelling;

/* The labels given so far, by their terms and by their letters in lower case. */
typedef struct gf_labels_given {
    gf_strings keys, letters;
} gf_labels_given;

/* How much longer phrases count, with fewer stop words inside; and weak ones less. */
double gf_label_length_factor(uint32_t n_words, uint32_t n_inner, bool weak);

/* Give a label; *fresh is false where its letters were given before. */
gf_status gf_label_give(gf_labels_given *g, gf_slice label, bool *fresh, gf_error *err);

/* Labels of the inner nodes, once the clusters have theirs: labels[k .. tree->n_nodes - 1]. */
gf_status gf_label_nodes(const gf_labelling *l, const gf_tree *tree, gf_labels_given *given,
                         const gf_cancel *cancel, gf_arena *memory, gf_slice *labels,
                         gf_error *err);

#endif
