/*
 * Candidates and counts that the files of this folder share:
 *
 *     labels.c    candidates of each cluster, and how many documents have them
 *     places.c    how the best of them stand in the texts
 *     twins.c     names that mean the same as another
 *     choose.c    which candidate, or two of them, names a cluster
 *     nodes.c     labels of the inner nodes of the tree over the clusters
 */
#ifndef GF_CLUSTER_LABEL_INTERNAL_H
#define GF_CLUSTER_LABEL_INTERNAL_H

#include "base/strings.h"
#include "cluster/label/labels.h"
#include "cluster/label/phrases.h"

enum {
    GF_LABEL_CANDIDATES = 400, /* of a cluster, or a node */
    GF_LABEL_TOP = 60          /* of a cluster, whose places in the texts are looked at */
};

#define GF_LABEL_RARE          0.05 /* share of the documents below which a phrase is no candidate */
#define GF_LABEL_FREQUENT      0.10 /* share from which it may be a node's label */
#define GF_LABEL_LIFT          3.0  /* how much more frequent than outside a node's label is */
#define GF_LABEL_COMPLETE      0.7 /* share of a phrase's documents that also have the longer one */
#define GF_LABEL_COMPLETE_WORD 0.5 /* the same of a single word */
#define GF_LABEL_LEAST_SCORE   0.08 /* below which nothing names a cluster */

/* How a phrase stands in the texts of a cluster's sample. */
typedef struct gf_label_places {
    gf_slice form;       /* as it is shown; empty where it is in no text */
    uint64_t *documents; /* a bit per document of the sample */
    uint32_t n;          /* places */
    bool dropped;        /* it names nothing: a heading, a cut word, a name in all texts */
    bool boilerplate;    /* its neighbours are nearly always the same */
} gf_label_places;

/* A phrase that may become a cluster's label. */
typedef struct gf_label_candidate {
    gf_slice key;              /* terms and letters, phrases.h */
    uint32_t phrase;           /* number among the phrases of all clusters */
    uint32_t count;            /* documents of the sample that have it */
    uint32_t n_words, n_inner; /* words; of these stop words inside */
    gf_phrase_kind kind;
    bool hidden;            /* a longer phrase says the same */
    double documents;       /* of the cluster that have it, counted or estimated */
    double score;           /* 0..1, times the factors */
    gf_label_places places; /* of the first GF_LABEL_TOP */
} gf_label_candidate;

/* The parts of the label that the cluster had before, among its candidates. */
typedef struct gf_label_kept {
    const gf_label_candidate *first, *second; /* NULL: no such part, or no candidate any more */
    bool two, mixed, whole; /* it has two parts; it began with "mixed: "; all parts were found */
} gf_label_kept;

/* Phrases of one cluster and their counts. */
typedef struct gf_label_counted {
    gf_label_candidate *candidates; /* n, by falling score in the end */
    uint32_t n, n_top;              /* n_top: their places are known */
    gf_strings keys;                /* of the candidates, in order */
    gf_strings forms;               /* of the first n_top */
    uint64_t *bits;                 /* the places' documents */
    uint32_t *phrases;              /* n_found, rising: phrases of all clusters that it has */
    double *documents;              /* n_found: in how many of its documents */
    uint32_t n_found;
    gf_label_kept kept;
} gf_label_counted;

typedef struct gf_labelling {
    const gf_label_cluster *clusters;
    const gf_label_rows *rows; /* may be NULL */
    gf_label_counted *counted; /* k */
    uint32_t k;
    gf_strings phrases;                 /* keys of all candidates */
    gf_phrase_slots words;              /* marked: those of the candidates */
    uint32_t *phrase_of_term;           /* rows->n_terms: GF_STRING_NONE where it is no candidate */
    double *with;                       /* per phrase: documents of all clusters that have it */
    double documents;                   /* of all clusters */
    struct gf_label_counting *counting; /* per worker, while they count */
} gf_labelling;

/* A label that was given. */
typedef struct gf_label_given {
    uint32_t cluster;   /* GF_STRING_NONE: a reserved label */
    uint32_t phrase[2]; /* of its parts; GF_STRING_NONE where there is none */
    gf_slice words;     /* in lower case, in memory of the labels */
} gf_label_given;

/* The labels given so far: their terms, their letters in lower case, and what they say. */
typedef struct gf_labels_given {
    gf_strings keys, letters;
    gf_label_given *at; /* n of capacity */
    size_t n, capacity;
} gf_labels_given;

/* ---- labels.c -------------------------------------------------------------------------------- */

/*
 * How well "has the phrase" tells the members from the rest, 0..1: the geometric mean of the
 * information that it gives about membership (of all there is) and of F1; 0 where the phrase is no
 * more frequent inside. Without a rest it is the share.
 */
double gf_label_score(double with, double size, double with_outside, double rest);

/* How much longer phrases count, with fewer stop words inside; and weak and vague ones less. */
double gf_label_factor(uint32_t n_words, uint32_t n_inner, gf_phrase_kind kind);

/* Order of candidates: by falling score, equal ones by key. */
int gf_label_by_score(const void *a, const void *b);

/* Documents of a cluster that have a phrase. */
double gf_label_documents(const gf_labelling *l, uint32_t cluster, uint32_t phrase);

/* ---- places.c -------------------------------------------------------------------------------- */

/* Look at the places of the best candidates of a cluster, which are sorted. */
gf_status gf_label_look(const gf_labelling *l, uint32_t cluster, gf_error *err);

/* ---- twins.c --------------------------------------------------------------------------------- */

/* True if two words, in lower case, are one but for an ending or an abbreviation. */
bool gf_label_words_alike(gf_slice a, gf_slice b);

/* True if all words of a form are words of some label that was given, or like them. */
bool gf_label_is_twin(const gf_labelling *l, const gf_labels_given *given, uint32_t cluster,
                      const gf_label_candidate *c);

/* ---- choose.c -------------------------------------------------------------------------------- */

/* Give a label; *fresh is false where its letters were given before. */
gf_status gf_label_give(gf_labels_given *g, gf_slice label, bool *fresh, gf_error *err);

/* Labels of all clusters: labels[0 .. k - 1]. */
gf_status gf_label_choose_clusters(const gf_labelling *l, gf_labels_given *given, gf_arena *memory,
                                   gf_slice *labels, gf_error *err);

void gf_labels_given_release(gf_labels_given *given);

/* ---- nodes.c --------------------------------------------------------------------------------- */

/* Labels of the inner nodes, once the clusters have theirs: labels[k .. tree->n_nodes - 1]. */
gf_status gf_label_nodes(const gf_labelling *l, const gf_tree *tree, gf_labels_given *given,
                         const gf_cancel *cancel, gf_arena *memory, gf_slice *labels,
                         gf_error *err);

#endif
