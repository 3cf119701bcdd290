/** Builds read: clusters, their members, documents, and why they are where they are. */
#ifndef GF_GROUPERFISH_VIEWS_H
#define GF_GROUPERFISH_VIEWS_H

#include "grouperfish/builds.h"
#include "grouperfish/csr.h"
#include "grouperfish/export.h"
#include "grouperfish/state.h"

GF_PUBLIC_BEGIN

/**
 * One build, seen through one snapshot: what is put, deleted or published meanwhile does not show.
 */
typedef struct gf_view gf_view;

/**
 * @param build  its timestamp; 0 for the one that is served
 * @return GF_OK; GF_ENOTFOUND (collection, configuration, or no such build)
 */
gf_status gf_view_open(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                       gf_view **view, gf_error *err);

/** The same in a state of the collection, which is closed after the view. */
gf_status gf_view_open_in(const gf_state *state, gf_slice configuration, int64_t build,
                          gf_view **view, gf_error *err);
void gf_view_close(gf_view *view);

/**
 * Open the newest build before a view's, of the same configuration and in the same state. It is
 * closed before the later view.
 * @return GF_OK; GF_ENOTFOUND where no older build is kept
 */
gf_status gf_view_open_before(const gf_view *later, gf_view **earlier, gf_error *err);

/** The build, and the state that the view was opened in; borrowed until close. */
const gf_build_info *gf_view_build(const gf_view *view);
const gf_state *gf_view_state(const gf_view *view);

typedef gf_status gf_visit_build(void *context, const gf_build_info *info, gf_error *err);

/** The builds of a configuration that are kept, newest first. */
gf_status gf_builds_visit(gf_store *store, gf_place where, gf_slice configuration,
                          gf_visit_build *visit, void *context, gf_error *err);

/** A term of a cluster's centre. */
typedef struct gf_term {
    gf_slice surface; /* as documents write it most often */
    float weight;     /* in the centre, a unit vector */
} gf_term;

/** A cluster in one word, by figures that need no classes (docs/figures.md). */
typedef enum gf_clarity { GF_CLARITY_CLEAR, GF_CLARITY_FAIR, GF_CLARITY_MIXED } gf_clarity;

/** A member fits weakly where the next centre is this part of its own similarity, or more. */
#define GF_WEAK_FIT 0.8

/** The word: "clear", "fair" or "mixed". */
const char *gf_cluster_figures_word(gf_clarity clarity);

/**
 * Figures that a cluster's documents, terms and label give without known classes, as of its build.
 * docs/figures.md has the definitions, their sources and what is a good value.
 */
typedef struct gf_cluster_figures {
    gf_clarity clarity;
    uint64_t documents; /* members at the time of the build, which shares are of */
    double score;       /* mean similarity of the members to the centre, 0..1 */
    double margin;      /* mean of what the next cluster is less similar, 0..1; k = 1: the score */
    uint64_t weak;      /* members that fit the next cluster nearly as well: GF_WEAK_FIT */
    bool has_label;     /* the label's words are terms of the build */
    uint64_t found;     /* documents of the build that the label finds */
    uint64_t hits;      /* members among them */
    double npmi;        /* of the ten heaviest terms, -1..1; NAN where there are not two */
    uint32_t terms;     /* heaviest terms that were looked at, at most ten */
    uint32_t own_terms; /* of these, terms that no other cluster has among its own */
    uint32_t nearest;   /* id of the cluster that is next best for most members; 0: none */
    gf_slice nearest_label;
    double similarity; /* of that one's centre, 0..1 */
} gf_cluster_figures;

typedef struct gf_cluster_info {
    uint32_t id;          /* lasts across builds */
    gf_slice label;       /* unique in its build */
    uint64_t size;        /* documents that are still there */
    const gf_term *terms; /* n_terms: the heaviest, by falling weight */
    size_t n_terms;
    const gf_cluster_figures *figures; /* NULL: the build is of a version that made none */
    /* The most central sentence of its documents, and the one that it is of; both empty where none
       of them has a sentence that can be shown, where that one was deleted or put anew since, and
       in builds of earlier versions. */
    gf_slice sentence, sentence_of;
    /* A name in a few words by a language model, that model, and the hash of what it was asked;
       empty where none was asked, and where a person has pinned the label. */
    gf_slice title, title_model, title_prompt;
    /* By edits (edits.h). */
    bool hidden, locked;
    const gf_cluster_state *state; /* NULL: none */
    bool is_new; /* a candidate: documents that came since the build (gf_view_new_clusters) */
} gf_cluster_info;

typedef gf_status gf_visit_cluster(void *context, const gf_cluster_info *info, gf_error *err);

/** All clusters, largest first; behind them those without a subject, whose label begins "mixed: ". */
gf_status gf_view_clusters(gf_view *view, gf_visit_cluster *visit, void *context, gf_error *err);

/**
 * Candidates of the served build that have an id, the largest first: groups of documents that came since the build
 * and fit none of its clusters (gf_view_candidates), as the last look found them (gf_watch_check), without the
 * documents that were deleted or put anew since. Each is a cluster that gf_view_cluster, gf_view_members and their
 * like read by its id or label; the next rebuild's cluster that has most of its documents takes its id. It is no part
 * of the build: gf_view_clusters, the tree and the map leave it out.
 */
gf_status gf_view_new_clusters(gf_view *view, gf_visit_cluster *visit, void *context,
                               gf_error *err);

/**
 * As gf_view_clusters, but sizes count only the documents whose score is min_score or more, and the order is
 * by these sizes. Cost: a step for each document that counts.
 */
gf_status gf_view_clusters_above(gf_view *view, float min_score, gf_visit_cluster *visit,
                                 void *context, gf_error *err);

/**
 * The documents of the build that are still there, which a cluster's share is of. Those in no cluster are
 * counted, also where they have been deleted since.
 */
gf_status gf_view_documents_left(gf_view *view, uint64_t *documents, gf_error *err);

/** Whether a cluster is hidden by an edit: lists leave it out (edits.h). */
bool gf_view_hides(const gf_view *view, uint32_t cluster);

/**
 * Documents of a cluster that are still there; 0: the build has no such cluster. Once a membership of the view
 * was read, or its clusters were listed.
 */
uint64_t gf_view_cluster_size(const gf_view *view, uint32_t cluster);

/** The cluster of that id, or where id is 0 of that label; GF_ENOTFOUND. */
gf_status gf_view_cluster(gf_view *view, uint32_t id, gf_slice label, gf_visit_cluster *visit,
                          void *context, gf_error *err);

/** A node of the tree over a build's clusters. */
typedef struct gf_tree_node {
    uint32_t node;            /* its number: 1 for the root, then depth first */
    uint32_t parent;          /* number; 0: none */
    uint32_t depth;           /* of the root 0 */
    uint32_t cluster;         /* of a leaf its cluster's id; else 0 */
    gf_slice label;           /* of a leaf its cluster's; of the root, as a rule, empty */
    uint64_t size;            /* documents below it that are still there */
    uint32_t clusters;        /* leaves below it */
    double height;            /* 1 - the mean similarity of the two groups that were joined here */
    const uint32_t *children; /* n_children: numbers; the larger first */
    size_t n_children;
    /* From gf_view_levels alone: the levels that it is a group of, from 1 on (0, 0: the root is of
     * none), and the labels of up to three of its clusters, the largest of each part of it. */
    uint32_t first_level, last_level;
    gf_slice parts[3]; /* n_parts; a cluster has none */
    size_t n_parts;
    uint32_t
        group; /* id, which lasts across builds as a cluster's does; 0: a cluster, and what an edit
                     * made since the build, or a build of earlier versions */
} gf_tree_node;

typedef gf_status gf_visit_tree_node(void *context, const gf_tree_node *node, gf_error *err);

/**
 * The tree over the clusters, depth first. Besides the root and the clusters it has the nodes whose
 * documents have a phrase in common that others lack; labels are unique in the build.
 *
 * @param most_depth  leave out what lies deeper
 * @return GF_OK; GF_ENOTFOUND where the build has none (it is of an older version, or has more than
 *         10,000 clusters), GF_ECORRUPT, GF_ENOMEM
 */
gf_status gf_view_tree(gf_view *view, uint32_t most_depth, gf_visit_tree_node *visit, void *context,
                       gf_error *err);

/**
 * The tree cut into so many groups on each level: depth first, the root, then the groups. Levels
 * nest. A group that is the same on several levels comes once; so the groups of a level, which are
 * disjoint and hold all clusters, are those of which it is not before first_level nor behind
 * last_level. Each but the root has a label, unique among all groups: the phrase that its documents
 * have in common, else the labels of its parts with commas between.
 *
 * A cut undoes the joins that cost most, so that the groups of a level are as distinct as the tree
 * has them.
 *
 * @param groups  n_levels, strictly rising, 1 or more; more than there are clusters: all of them
 * @return as gf_view_tree; GF_EINVAL where the numbers do not rise, or there is none
 */
gf_status gf_view_levels(gf_view *view, const uint32_t *groups, size_t n_levels,
                         gf_visit_tree_node *visit, void *context, gf_error *err);

/** A group of the tree: an inner node, the root included. */
typedef struct gf_group_info {
    uint32_t id;    /* lasts across builds, as a cluster's does; told as g12 */
    uint32_t above; /* id of the group that it is part of; 0: none */
    gf_slice label; /* the phrase of its documents, else labels of three of its clusters */
    uint64_t size;  /* documents that are still there */
    const uint32_t *clusters; /* n_clusters: ids; those without a subject last, the larger first */
    size_t n_clusters;
    double height; /* as of a gf_tree_node */
} gf_group_info;

typedef gf_status gf_visit_group(void *context, const gf_group_info *group, gf_error *err);

/**
 * The group of that id. What it is told with is borrowed until the visitor returns.
 * @return as gf_view_tree; GF_ENOTFOUND also where the build has no such group
 */
gf_status gf_view_group(gf_view *view, uint32_t group, gf_visit_group *visit, void *context,
                        gf_error *err);

/** A document's place in a build. */
typedef struct gf_membership {
    uint32_t cluster; /* id; 0: the document has no terms (or no row), and is in no cluster */
    gf_slice label;
    float score;        /* similarity to the cluster's centre, 0..1 */
    uint32_t runner_up; /* id of the second most similar cluster; 0: there is none */
    gf_slice runner_up_label;
    float second;     /* similarity to that one's centre */
    bool replaced;    /* the document was put anew since the build */
    bool provisional; /* the build does not have this text: it is where it would be */
    uint64_t copies;  /* of gf_view_different: documents like it that are not given; else 0 */
    const gf_cluster_state *state; /* of the cluster; NULL: none */
    bool is_new;     /* the cluster is a candidate; the runner-up is where it would be without it */
    uint32_t before; /* of a replaced document: the cluster that the build has it in; else 0 */
} gf_membership;

typedef gf_status gf_visit_member(void *context, gf_slice id, const gf_membership *membership,
                                  gf_error *err);

/** The documents of a cluster that are still there, best first; at most limit (0: all). */
gf_status gf_view_members(gf_view *view, uint32_t cluster, uint64_t limit, gf_visit_member *visit,
                          void *context, gf_error *err);

/** The same, beginning behind the document of that score and id: for reading in pages. */
gf_status gf_view_members_after(gf_view *view, uint32_t cluster, float score, gf_slice id,
                                uint64_t limit, gf_visit_member *visit, void *context,
                                gf_error *err);

/** A place in a ranking. */
typedef struct gf_member_place {
    float score;
    gf_slice id;
} gf_member_place;

/**
 * The documents of several clusters, such as those of a group, in one ranking.
 * @param clusters  n ids, no two the same
 * @param after     begin behind that place; NULL: with the best
 * @return as gf_view_members
 * Cost: a step of n for each document.
 */
gf_status gf_view_members_of(gf_view *view, const uint32_t *clusters, size_t n,
                             const gf_member_place *after, uint64_t limit, gf_visit_member *visit,
                             void *context, gf_error *err);

/**
 * As gf_view_members, without the near-duplicates of documents that come before: exact copies, and
 * texts that differ in little (docs/algorithms.md). Each document has the number of those that are
 * like it. Builds of earlier versions know no copies: all documents are given.
 * Cost: a step for each document passed; where some of the cluster were deleted, for each of it.
 */
gf_status gf_view_different(gf_view *view, uint32_t cluster, uint64_t limit, gf_visit_member *visit,
                            void *context, gf_error *err);

/** The same, beginning behind the document of that score and id. */
gf_status gf_view_different_after(gf_view *view, uint32_t cluster, float score, gf_slice id,
                                  uint64_t limit, gf_visit_member *visit, void *context,
                                  gf_error *err);

/** As gf_view_members, but worst first: the documents that fit least. */
gf_status gf_view_weakest(gf_view *view, uint32_t cluster, uint64_t limit, gf_visit_member *visit,
                          void *context, gf_error *err);

/** Every document of the build that is still there, by id. */
gf_status gf_view_memberships(gf_view *view, gf_visit_member *visit, void *context, gf_error *err);

typedef gf_status gf_visit_member_document(void *context, const gf_document *document,
                                           const gf_membership *membership, gf_error *err);

/**
 * The same with the documents as they are now, from one walk over both: a fraction of what
 * gf_view_document takes for each.
 */
gf_status gf_view_member_documents(gf_view *view, gf_visit_member_document *visit, void *context,
                                   gf_error *err);

/** One document's place, borrowed until the next call; GF_ENOTFOUND where the build lacks it. */
gf_status gf_view_membership(gf_view *view, gf_slice id, gf_membership *membership, gf_error *err);

/**
 * One document's place as its text is now: that of the build, or where the document came or was put
 * anew after the build a provisional one (see gf_view_assign_document). GF_ENOTFOUND where there is no such
 * document, or where the build's filter or bounds leave it out. Borrowed until close.
 */
gf_status gf_view_current_membership(gf_view *view, gf_slice id, gf_membership *membership,
                                     gf_error *err);

/**
 * The place of a text in the build: the cluster whose centre is most similar to the text's row
 * in the build's space (of equal ones the lowest id), with the score that a document of the build
 * with this text has. A text that has no term of the build is in none. Nothing is stored, and the
 * text counts nowhere.
 *
 * @param language    ISO 639 code or Snowball name; empty: not known
 * @param membership  provisional; its labels are borrowed until close
 * @return GF_OK; GF_ECONFLICT where the build's rows were made elsewhere, among which a text has no
 *         place; GF_ECORRUPT, GF_EIO, GF_ENOMEM; the membership is then unchanged
 * Cost: the first call of a view reads the build's vocabulary and centres: 8 bytes of memory for
 * each entry of a centre, 4 x k for each term that more than k / 12 centres have. After that the
 * analysis of the text, and at most k multiplications for each of its terms.
 */
gf_status gf_view_assign(gf_view *view, gf_slice language, gf_slice text, gf_membership *membership,
                         gf_error *err);

/**
 * The place of a document. Where the build's rows were made elsewhere, its field "vector" is its
 * row, and its text counts nowhere: a JSON array of as many numbers as there are columns, or an
 * object of numbers by column ({"17": 0.5, "40": -1}). Of any length: it is scaled. Without such a
 * field it is in no cluster, and the label says why. Else as gf_view_assign.
 */
gf_status gf_view_assign_document(gf_view *view, const gf_document *document,
                                  gf_membership *membership, gf_error *err);

/**
 * The places of rows in a build whose rows were made elsewhere.
 *
 * @param threads      of the view's first such call: 0 takes one per processor
 * @param cancel       looked at before every 256 rows; may be NULL
 * @param memberships  rows->n_rows, the same for any number of threads; ids do not count
 * @return GF_OK; GF_ECONFLICT where the build's rows are the texts'; GF_EINVAL where the columns
 *         are not as many as the build's, or a value is not finite; GF_ECANCELLED; as gf_view_assign
 */
gf_status gf_view_assign_rows(gf_view *view, const gf_matrix *rows, unsigned threads,
                              const gf_cancel *cancel, gf_membership *memberships, gf_error *err);

/**
 * gf_view_assign_document for several side by side.
 *
 * @param threads      of the view's first such call: 0 takes one per processor
 * @param memberships  n, in the order of the documents; the same for any number of threads
 */
gf_status gf_view_assign_all(gf_view *view, const gf_document *documents, size_t n,
                             unsigned threads, gf_membership *memberships, gf_error *err);

typedef gf_status gf_visit_pending(void *context, const gf_document *document,
                                   const gf_membership *membership, gf_error *err);

/**
 * The documents that came or were put anew after the build, each with its provisional membership,
 * in the order in which they were put last.
 * Cost: a look-up for each put and delete since the build, and gf_view_assign for each document.
 */
gf_status gf_view_pending(gf_view *view, gf_visit_pending *visit, void *context, gf_error *err);

/** A document as it is now in the view; GF_ENOTFOUND. */
gf_status gf_view_document(gf_view *view, gf_slice id, gf_visit_document *visit, void *context,
                           gf_error *err);

/**
 * The language that the build analyses a document in: what its settings say, else the document's
 * own `language`, else what was or is detected (see docs/analysis.md). It is worked out from the
 * document by the function that the build used, so it is that of the text as given.
 *
 * @param[out] name  Snowball's; NULL where the text is analysed in no language. Lasts for ever.
 * Cost: a detection of the text where the build's documents are in several languages,
 * else none.
 */
gf_status gf_view_language(gf_view *view, const gf_document *document, const char **name,
                           gf_error *err);

/** The part of a document's score that one term adds. */
typedef struct gf_reason {
    gf_slice surface;
    float in_document, in_centre; /* weights */
    double part;                  /* their product */
} gf_reason;

typedef struct gf_explanation {
    const gf_reason *reasons; /* n: by falling part */
    size_t n;
    double rest;  /* of the score, by all further shared terms */
    double score; /* the sum of all parts and the rest */
} gf_explanation;

typedef gf_status gf_visit_explanation(void *context, const gf_explanation *e, gf_error *err);

/**
 * Why a document is in its cluster (see gf_view_current_membership): the terms that it shares with
 * the centre, at most limit of them.
 * @return GF_OK; GF_ENOTFOUND; GF_ECONFLICT where the build's rows were a matrix's, which has no
 *         terms
 */
gf_status gf_view_explain(gf_view *view, gf_slice id, size_t limit, gf_visit_explanation *visit,
                          void *context, gf_error *err);

/** A term of a build's vocabulary; slices are borrowed. */
typedef struct gf_term_info {
    gf_slice term;      /* as it is counted: unique */
    gf_slice surface;   /* as documents write it most often */
    uint64_t documents; /* document frequency: documents of the build that have it */
} gf_term_info;

typedef gf_status gf_visit_term(void *context, const gf_term_info *term, gf_error *err);

/**
 * The first `limit` terms of a view's build whose counted form starts with `prefix` (empty: all), by
 * falling document frequency, then by bytes. Behind them come, in the same order, those that min_df or
 * max_df leave out and that stand only in documents without any other term.
 * Cost: that of reading the build's vocabulary once a view.
 */
gf_status gf_view_terms(gf_view *view, gf_slice prefix, uint64_t limit, gf_visit_term *visit,
                        void *context, gf_error *err);

GF_PUBLIC_END

#endif
