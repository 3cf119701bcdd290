/**
 * Labels: for each cluster the phrase that says best what its documents are about.
 *
 * A phrase is a run of one to four words of a document, without punctuation inside, that neither
 * begins nor ends with a stop word, a number alone or a link. Two phrases are the same where their
 * terms are (so "engine" and "engines"); it is shown in the form in which the cluster's documents
 * write it most often. With f the share of the cluster's documents that have the phrase and g that
 * of all others,
 *
 *     score = f * ln(f / g) * factor
 *
 * where g counts half a document more than was seen, of those looked at, so that it is above 0, and
 * with a factor of 1, 1.25, 1.2, 1 for one to four words that are no stop words, and 0.85 for each
 * that is one, and half that for a single ideograph and for what begins with a digit. This is, but
 * for the factor, the phrase's part of the Kullback-Leibler divergence between the cluster and the
 * rest, close to c-TF-IDF. Phrases with f >= 10 % and f >= 3 g go first. A phrase gives way to a
 * longer one that holds it and is nearly as frequent ("complete phrases"). Larger clusters choose
 * first, and no two labels have the same terms or the same letters.
 *
 * Sources: Grootendorst, arXiv 2203.05794 (c-TF-IDF); Osinski & Weiss, IEEE Intell. Syst. 20 (2005)
 * 48-54 (Lingo: complete frequent phrases).
 */
#ifndef GF_CLUSTER_LABEL_LABELS_H
#define GF_CLUSTER_LABEL_LABELS_H

#include "base/arena.h"
#include "base/pool.h"
#include "cluster/label/tree.h"
#include "grouperfish/cancel.h"

#include <stdint.h>

#define GF_LABEL_NO_TERM UINT32_MAX

enum {
    GF_LABEL_BREAK = 1, /* punctuation stands before the word */
    GF_LABEL_INNER = 2, /* a stop word and the like: only inside a phrase */
    GF_LABEL_NEVER = 4, /* a link: in no phrase */
    GF_LABEL_NUMBER = 8 /* digits only: not first, and not alone */
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
} gf_label_cluster;

/**
 * Choose labels for k clusters, which come by falling size.
 *
 * @param taken   n_taken labels that must not be used
 * @param memory  where the labels are put
 * @param labels  out: k labels, UTF-8, none empty, all distinct; valid as long as memory
 * @return GF_OK; GF_ENOMEM, GF_ECANCELLED. Deterministic for any number of threads.
 * Cost: O(words of all documents * 4); memory in proportion to the frequent phrases.
 */
gf_status gf_labels_choose(gf_pool *pool, const gf_label_cluster *clusters, uint32_t k,
                           const gf_slice *taken, size_t n_taken, const gf_cancel *cancel,
                           gf_arena *memory, gf_slice *labels, gf_error *err);

/**
 * The same, and labels for the inner nodes of a tree over the clusters.
 *
 * A node's phrase is in at least 10 % of its documents, three times as frequent as outside, and in
 * 5 % of the documents of either child: it says what the two have in common, not what one of them
 * is. Its score is the one above with the share of the child that has it less for f. No node has
 * the label of another, or of a cluster.
 *
 * @param tree    over k leaves, which are the clusters; NULL for none
 * @param labels  out: one for each node of the tree, leaves first; an inner node for which no
 *                phrase is good, and the root, has an empty one
 * Cost: besides the above O(inner nodes * phrases looked at * log k).
 */
gf_status gf_labels_choose_tree(gf_pool *pool, const gf_label_cluster *clusters, uint32_t k,
                                const gf_tree *tree, const gf_slice *taken, size_t n_taken,
                                const gf_cancel *cancel, gf_arena *memory, gf_slice *labels,
                                gf_error *err);

#endif
