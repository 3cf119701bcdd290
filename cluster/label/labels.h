/**
 * Labels: for each cluster the phrase that says best what its documents are about.
 *
 * A phrase is a run of one to four words of a document, without punctuation inside, that neither
 * begins nor ends with a stop word, a number alone or a link. Two phrases are the same where their
 * terms are (so "engine" and "engines"); it is shown in the form in which the cluster's documents
 * write it most often. It is rated by how well "has it" tells the members from the rest,
 *
 *     score = sqrt(information gain / entropy of membership * F1) * factor
 *
 * with a factor of 1, 1.25, 1.2, 1 for one to four words that are no stop words, 0.85 for each that
 * is one, half for a single ideograph and for what begins with a digit, a quarter for vague words.
 * Single words are counted over all documents where their rows are given, phrases over those that
 * stand for all.
 *
 * The best phrase gives way to one of half its score that is in a quarter of the members, where it
 * is in fewer itself; to a longer one that holds it and is nearly as frequent; and where a larger
 * cluster has a name that means the same, to one of half its score. A single word that is in few
 * members gets a second one beside it, which others of them have: "games / season". If nothing but
 * vague words holds a cluster together, its label is "mixed: " and three of them (of the only cluster these alone). The label that a
 * cluster had before stays as long as it scores 80 % of the new one. No two labels have the same
 * terms or the same letters; larger clusters choose first. docs/names.md has the whole rule.
 *
 * Sources: Manning, Raghavan & Schuetze, Introduction to Information Retrieval (2008), sections
 * 8.3 (F1), 13.5.1 (mutual information of a term and a class) and 17.7 (cluster labels by it);
 * Osinski & Weiss, IEEE Intell. Syst. 20 (2005) 48-54 (complete phrases).
 */
#ifndef GF_CLUSTER_LABEL_LABELS_H
#define GF_CLUSTER_LABEL_LABELS_H

#include "base/arena.h"
#include "base/pool.h"
#include "cluster/label/tree.h"
#include "grouperfish/cancel.h"
#include "grouperfish/csr.h"

#include <stdint.h>

#define GF_LABEL_NO_TERM UINT32_MAX

enum {
    GF_LABEL_BREAK = 1,  /* punctuation stands before the word */
    GF_LABEL_INNER = 2,  /* a stop word and the like: only inside a phrase */
    GF_LABEL_NEVER = 4,  /* a link: in no phrase */
    GF_LABEL_NUMBER = 8, /* digits only: not first, and not alone */
    GF_LABEL_VAGUE = 16, /* says nothing alone: "new", "day" */
    GF_LABEL_UNIT =
        32, /* a reporting word or a unit ("said", "pct"): neither alone nor at an end */
    GF_LABEL_MENTION = 64, /* of @name */
    GF_LABEL_NAME = 128    /* has a capital inside a sentence of small letters */
};

typedef struct gf_label_word {
    uint32_t term; /* what makes words the same; GF_LABEL_NO_TERM: its letters do */
    uint32_t flags;
    uint32_t start, length; /* bytes in the document's text */
} gf_label_word;

typedef struct gf_label_document {
    gf_slice text;
    const gf_label_word *words; /* n_words, in order */
    uint32_t n_words;
} gf_label_document;

/** A cluster: documents of it that stand for all, such as every tenth by score. */
typedef struct gf_label_cluster {
    const gf_label_document *documents; /* n_documents */
    uint32_t n_documents;
    uint64_t size;      /* documents that it has */
    gf_slice otherwise; /* label where no phrase can be found; may be empty */
    gf_slice before;    /* label that it had in the build that it continues; may be empty */
} gf_label_cluster;

/**
 * Terms that the documents of each cluster have: all documents, so that single words need not be
 * estimated from those that stand for all. Cluster j has the rows document[member[i]] of x with
 * i = start[j] .. start[j + 1] - 1.
 */
typedef struct gf_label_rows {
    const gf_csr *x;
    const uint32_t *document, *member, *start;
} gf_label_rows;

/** Everything else that labels are chosen by. */
typedef struct gf_label_options {
    const gf_label_rows *rows; /* NULL: everything is estimated */
    const gf_tree *tree;       /* over k leaves, which are the clusters; NULL: none */
    const gf_slice *taken;     /* n_taken labels that must not be used */
    size_t n_taken;
    const gf_cancel *cancel; /* may be NULL */
} gf_label_options;

/**
 * Choose labels for k clusters, which come by falling size, and for the inner nodes of a tree over
 * them.
 *
 * A node's phrase is in at least 10 % of its documents, three times as frequent as outside, and in
 * 5 % of the documents of either child: it says what the two have in common, not what one of them
 * is. Its score is the one above, times the share of the child that has it less over that of the
 * node. No node has the label of another, or of a cluster.
 *
 * @param memory  where the labels are put
 * @param labels  out: k labels, UTF-8, none empty, all distinct; and one for each inner node of the
 *                tree, empty for the root and where no phrase is good. Valid as long as memory
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED. Deterministic for any number of threads.
 * Cost: O(words of the documents * 5 + entries of the rows + inner nodes * phrases looked at *
 *       log k); memory in proportion to the frequent phrases.
 */
gf_status gf_labels_choose(gf_pool *pool, const gf_label_cluster *clusters, uint32_t k,
                           const gf_label_options *options, gf_arena *memory, gf_slice *labels,
                           gf_error *err);

/** True for the label of a cluster without a subject, which begins with "mixed: ". */
bool gf_label_is_mixed(gf_slice label);

#endif
