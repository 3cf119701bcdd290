/**
 * Grouperfish: collections of documents, clustered, named, kept and served.
 *
 *     gf_store *store;
 *     gf_store_open("feedback.store", &(gf_store_options){.create = true}, &store, &err);
 *     gf_put_open / gf_put_document ... / gf_put_close      documents go in
 *     gf_rebuild(store, where, "default", ...)              a clustering is built and published
 *     gf_view_open / gf_view_clusters ... / gf_view_close   it is read
 *     gf_store_close(store);
 *
 * Conventions. Functions that can fail return a gf_status and take a last, nullable gf_error. Text
 * is a gf_slice, UTF-8, and never assumed to end in NUL. What a visitor is given is borrowed until
 * it returns; what a `release`, `free` or `close` exists for belongs to the caller. Times are
 * milliseconds since 1970-01-01T00:00:00Z. On failure outputs are unchanged.
 *
 * Threads. A store may be used by several threads at once: any number of readers, writers that wait
 * for each other, one rebuild of a configuration at a time. A put and a view are for one thread
 * each.
 *
 * Durability. What a function reports as done is on disk: it survives a crash and the loss of
 * power.
 */
#ifndef GF_GROUPERFISH_H
#define GF_GROUPERFISH_H

#include "base/buffer.h"
#include "base/calendar.h"
#include "base/cancel.h"
#include "base/csr.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/document.h"
#include "engine/user_tables.h"
#include "storage/table.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GF_VERSION "0.1.0"

/** The version of the library that is linked, and of those it was built with, in words. */
const char *gf_version(void);
const char *gf_library_versions(void);

/* ---- stores -----------------------------------------------------------------------------------
 */

typedef struct gf_store gf_store;

typedef struct gf_store_options {
    bool create;             /* make the store where there is none */
    double wait_seconds;     /* how long to wait while another process holds it */
    const char *purpose;     /* shown to those who wait, such as "rebuild"; may be NULL */
    const gf_cancel *cancel; /* ends the waiting; may be NULL */
} gf_store_options;

/**
 * Open the store in a folder. One process holds a store at a time.
 * @return GF_OK; GF_ENOTFOUND (there is none), GF_EBUSY (held; the message says by whom),
 *         GF_ECORRUPT (damaged), GF_EINVAL (not a store, or of a newer format), GF_EIO, GF_ENOMEM
 */
gf_status gf_store_open(const char *path, const gf_store_options *options, gf_store **store,
                        gf_error *err);
void gf_store_close(gf_store *store);

/** Whether gf_store_open made the store just now. */
bool gf_store_is_new(const gf_store *store);

/** The wide-column tables that everything is kept in (storage/table.h): for further tables too. */
gf_database *gf_store_database(gf_store *store);

typedef struct gf_store_status {
    uint64_t collections, documents, builds; /* builds: finished ones, of all configurations */
    uint64_t unfinished;                     /* builds and deletions that were cut short */
    uint64_t bytes;                          /* of the store's files */
} gf_store_status;

gf_status gf_store_read_status(gf_store *store, gf_store_status *status, gf_error *err);

/* ---- collections ------------------------------------------------------------------------------
 */

/** A collection: its namespace and its name in it; names have 1 to GF_MAX_NAME bytes. */
typedef struct gf_place {
    gf_slice name_space;
    gf_slice collection;
} gf_place;

typedef struct gf_configuration_state {
    gf_slice name;
    int64_t rebuilt;   /* the served build; 0 where there is none */
    int64_t processed; /* when that was last brought up to date; 0 likewise */
} gf_configuration_state;

typedef struct gf_collection_info {
    gf_slice name;
    uint64_t size;    /* documents */
    uint64_t seq;     /* raised by every put that changes something, and by every delete */
    int64_t modified; /* time of the last of those; 0 for none */
    const gf_configuration_state *configurations; /* n: those that have a served build, by name */
    size_t n_configurations;
} gf_collection_info;

typedef gf_status gf_visit_collection(void *context, const gf_collection_info *info, gf_error *err);

/** GF_EEXISTS where it is there. */
gf_status gf_collection_create(gf_store *store, gf_place where, gf_error *err);

/** GF_ENOTFOUND where there is none. */
gf_status gf_collection_read(gf_store *store, gf_place where, gf_visit_collection *visit,
                             void *context, gf_error *err);

/**
 * Tell whether anything about a collection has changed: *hash is of all that its row says (documents
 * by seq, settings, pins, which builds are served), and *served the build of a configuration that
 * is served, or 0. One look-up. GF_ENOTFOUND where there is no such collection.
 */
gf_status gf_collection_mark(gf_store *store, gf_place where, gf_slice configuration,
                             uint64_t *hash, int64_t *served, gf_error *err);

/** All collections of a namespace whose names start with a prefix, by name. */
gf_status gf_collections_visit(gf_store *store, gf_slice name_space, gf_slice prefix,
                               gf_visit_collection *visit, void *context, gf_error *err);

typedef gf_status gf_visit_name(void *context, gf_slice name, gf_error *err);

/** All namespaces that have a collection, in order. Cost: a look-up for each. */
gf_status gf_namespaces_visit(gf_store *store, gf_visit_name *visit, void *context, gf_error *err);

/** Delete a collection with its documents, builds and settings. What a crash leaves is finished
 * later. */
gf_status gf_collection_delete(gf_store *store, gf_place where, gf_error *err);

/* ---- documents in -----------------------------------------------------------------------------
 */

typedef struct gf_put gf_put;

typedef struct gf_put_options {
    gf_slice name_space;
    uint64_t max_document;    /* bytes of text and fields; 0: GF_MAX_DOCUMENT */
    uint32_t max_collections; /* that may be made; 0: 100,000 */
} gf_put_options;

/** What was done and synced so far. */
typedef struct gf_put_counts {
    uint64_t created, changed, unchanged; /* documents put */
    uint64_t deleted, absent;             /* documents asked to be deleted: there, and not there */
    uint64_t collections;                 /* made */
} gf_put_counts;

/** Begin to put documents into collections of a namespace, which are made where they are missing.
 */
gf_status gf_put_open(gf_store *store, const gf_put_options *options, gf_put **put, gf_error *err);

/**
 * Put a document; one of the same id is replaced. Documents are collected and written some thousand
 * at a time, by a thread of the put's own while the next are collected: only those that
 * gf_put_counted counts are sure to be on disk. A failure of the writing is told by a later call.
 * A change of one that is there waits for gf_put_flush, or until 64 MB of such wait: of several of
 * one id the last counts, and those before it count as unchanged. So what was put once changes
 * nothing when it is put again.
 *
 * @return GF_OK; GF_EINVAL or GF_ELIMIT where this document cannot be taken (its id is empty or
 * longer than GF_MAX_ID, it is too large, ...): the put goes on without it. After any other failure
 *         the put is only good to be closed.
 */
gf_status gf_put_document(gf_put *put, gf_slice collection, const gf_document *document,
                          gf_error *err);

/** Delete a document, likewise. The collection must exist. */
gf_status gf_put_delete(gf_put *put, gf_slice collection, gf_slice id, gf_error *err);

/** Write and sync what was collected. */
gf_status gf_put_flush(gf_put *put, gf_error *err);

/** Whether it can go on: false after a failure that was not one document's. */
bool gf_put_is_good(const gf_put *put);

/** What was written and synced so far; after a flush that is all. */
gf_put_counts gf_put_counted(const gf_put *put);

/** Forgets what is collected and was not flushed; waits for what is being written. */
void gf_put_close(gf_put *put);

/** Which documents are meant: all that is said must hold. */
typedef struct gf_document_choice {
    const gf_slice *where; /* n_where: "field=value", also with !=, <, <=, >, >= */
    size_t n_where;
    gf_slice before; /* ISO 8601, Unix seconds, or an age such as 30d; empty: of any time */
} gf_document_choice;

typedef gf_status gf_visit_id(void *context, gf_slice id, gf_error *err);

/** The ids of these documents, as they were when the walk began; GF_EINVAL for what is no choice.
 */
gf_status gf_documents_choose(gf_store *store, gf_place where, const gf_document_choice *choice,
                              gf_visit_id *visit, void *context, gf_error *err);

/* ---- settings ---------------------------------------------------------------------------------
 */

/*
 * Where a function of this part takes a place without a collection, the namespace's defaults are
 * meant. All its collections have the configurations that are named there, and what they say counts
 * where a collection sets nothing itself. A collection leaves one out by rebuild=off.
 */

/** A key that configurations have. */
typedef struct gf_setting {
    const char *name;
    const char *values;  /* what it may be, in words */
    const char *initial; /* what it is where nothing is set */
    const char *meaning; /* one sentence */
} gf_setting;

/** All keys, NULL names none: a constant table of *n entries. */
const gf_setting *gf_settings(size_t *n);

typedef struct gf_pair {
    gf_slice name, value;
} gf_pair;

/** Where a configuration's value comes from. */
typedef enum gf_origin { GF_FROM_PROGRAM, GF_FROM_NAMESPACE, GF_FROM_COLLECTION } gf_origin;

/**
 * Set keys of a configuration, which is made where it is missing; an empty value takes the key back
 * to what it is by default. All or nothing: GF_EINVAL names the unknown key, and the nearest known,
 * or the value that is not one.
 */
gf_status gf_configuration_set(gf_store *store, gf_place where, gf_slice configuration,
                               const gf_pair *pairs, size_t n, gf_error *err);

typedef gf_status gf_visit_setting(void *context, const gf_setting *setting, gf_slice value,
                                   gf_origin origin, gf_error *err);

/** Every key with its value; GF_ENOTFOUND where there is no such configuration. */
gf_status gf_configuration_read(gf_store *store, gf_place where, gf_slice configuration,
                                gf_visit_setting *visit, void *context, gf_error *err);

typedef struct gf_configuration_info {
    gf_slice name;
    gf_origin origin; /* who names it; the program has "default", and what was built */
    bool rebuilt;     /* false: its setting `rebuild` is off */
} gf_configuration_info;

typedef gf_status gf_visit_configuration(void *context, const gf_configuration_info *info,
                                         gf_error *err);

/**
 * All configurations of a collection, its namespace's among them, by name; "default" is always
 * there.
 */
gf_status gf_configurations_visit(gf_store *store, gf_place where, gf_visit_configuration *visit,
                                  void *context, gf_error *err);

/**
 * Delete a configuration with its builds. Of "default" only settings and builds go.
 *
 * A namespace's goes with the builds of all collections that have set nothing in it themselves;
 * those that have keep theirs. In a collection that has set something in an inherited one, that and
 * the builds go, and it is as inherited again; rebuild=off stays.
 *
 * @return GF_OK; GF_ENOTFOUND; GF_EBUSY (it is being rebuilt); GF_EINVAL (a collection's, which
 * it has from its namespace alone)
 */
gf_status gf_configuration_delete(gf_store *store, gf_place where, gf_slice configuration,
                                  gf_error *err);

/* ---- rebuilding -------------------------------------------------------------------------------
 */

/** Told how far a rebuild is; from one thread at a time. total is 0 where it is not known. */
typedef void gf_progress(void *context, gf_place where, const char *phase, uint64_t done,
                         uint64_t total);

/** What a rebuild begins from: the served clusters, which then go on, or new seeds. */
typedef enum gf_start { GF_START_CONFIGURED, GF_START_SERVED, GF_START_FRESH } gf_start;

/**
 * Rows that were made elsewhere (embeddings, a matrix of another program), to be clustered in place
 * of the TF-IDF rows of the texts. They may be of any length: they are scaled to unit length. A row
 * of zeros has no direction, and counts as if it were not there.
 */
typedef struct gf_matrix {
    uint32_t n_rows, n_cols;
    const gf_slice *id;   /* n_rows: the document of each; none twice */
    const gf_csr *sparse; /* [n_rows x n_cols]; NULL: dense */
    const float *dense;   /* n_rows * n_cols, row by row */
} gf_matrix;

typedef struct gf_rebuild_options {
    bool force;   /* also where nothing has changed since the served build */
    bool dry_run; /* say what would be done, and do nothing */
    gf_start start;
    const gf_matrix *matrix; /* cluster its rows, also where nothing has changed; may be NULL */
    unsigned threads;        /* 0: one per processor */
    const gf_cancel *cancel; /* may be NULL */
    gf_progress *progress;   /* may be NULL */
    void *context;
} gf_rebuild_options;

typedef enum gf_rebuild_outcome { GF_REBUILT, GF_UNMODIFIED, GF_WOULD_REBUILD } gf_rebuild_outcome;

/** What a build's rows were. */
typedef enum gf_rows_kind { GF_ROWS_OF_TEXTS, GF_ROWS_SPARSE, GF_ROWS_DENSE } gf_rows_kind;

/** A finished build. */
typedef struct gf_build_info {
    int64_t build; /* its timestamp, which names it */
    bool served;
    bool pinned;            /* kept whatever `keep` says; set by gf_builds_visit */
    uint64_t documents;     /* that it has */
    uint64_t without_terms; /* of these: without any word (or any row), in no cluster */
    uint64_t distinct;      /* of these: different from all others */
    uint32_t terms;         /* columns of the matrix */
    uint32_t k;             /* clusters */
    double objective;       /* mean similarity of a document to its cluster's centre, 0..1 */
    double seconds;         /* that building took */
    uint64_t seq;           /* of the collection, when its documents were read */
    gf_slice settings;      /* JSON object: the keys that differ from their default */
    gf_slice versions;      /* of the libraries that made it */
    gf_rows_kind rows;      /* those of the texts, or of a matrix */
} gf_build_info;

typedef struct gf_rebuild_result {
    gf_rebuild_outcome outcome;
    gf_build_info build; /* the new build, or the one that is served; slices are empty */
    uint64_t unknown;    /* rows of the matrix that no document has the id of */
} gf_rebuild_result;

/**
 * Cluster a collection's documents by a configuration and publish the result. Readers go on with
 * the served build until the new one is whole. A rebuild that fails or is cancelled changes
 * nothing.
 *
 * Where the rows are a matrix's, labels and terms still come from the texts; documents without a
 * row are in no cluster. The build stands until the collection is rebuilt from its texts again,
 * which counts as a change.
 *
 * @return GF_OK; GF_ENOTFOUND (collection or configuration), GF_EBUSY (that configuration is being
 *         rebuilt), GF_EINVAL (a matrix that is not sound, an id twice, no row of any document),
 *         GF_ECANCELLED, GF_ENOMEM, GF_EIO, GF_ECORRUPT
 */
gf_status gf_rebuild(gf_store *store, gf_place where, gf_slice configuration,
                     const gf_rebuild_options *options, gf_rebuild_result *result, gf_error *err);

/** Told of each; status and message say what failed, and result is then NULL. */
typedef gf_status gf_visit_rebuild(void *context, gf_place where, gf_slice configuration,
                                   gf_status status, const char *message,
                                   const gf_rebuild_result *result, gf_error *err);

/**
 * Rebuild collections of a namespace, whose names start with a prefix, by all their configurations
 * or by the one named. Small ones are built many at a time. One that fails does not stop the rest.
 */
gf_status gf_rebuild_all(gf_store *store, gf_slice name_space, gf_slice prefix,
                         gf_slice configuration, const gf_rebuild_options *options,
                         gf_visit_rebuild *visit, void *context, gf_error *err);

/* ---- pinning ----------------------------------------------------------------------------------
 */

/** Serve a kept build again; GF_ENOTFOUND. A rebuild that is under way then fails. */
gf_status gf_build_publish(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                           gf_error *err);

/** Keep a build, or no longer; GF_ENOTFOUND. What is pinned, or not, already stays so. */
gf_status gf_build_pin(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                       bool pinned, gf_error *err);

/**
 * Call a cluster of the served build so as long as it lasts, in every read at once; an empty label
 * takes that back.
 * @return GF_OK; GF_ENOTFOUND (cluster, pin), GF_EEXISTS (a sibling is called so), GF_EINVAL (more
 *         than 200 bytes, control characters)
 */
gf_status gf_label_pin(gf_store *store, gf_place where, gf_slice configuration, uint32_t cluster,
                       gf_slice label, gf_error *err);

/* ---- purging ----------------------------------------------------------------------------------
 */

typedef struct gf_purged {
    uint64_t rebuilt; /* configurations */
    uint64_t dropped; /* builds */
} gf_purged;

/**
 * Rid the store of all that came from documents of a collection which were deleted or put anew: a
 * build that had one of them has words of its text in its terms and labels, and its id in lists. So
 * a configuration whose served build had one is rebuilt, every other such build is dropped, and
 * then gf_store_purge is done. May be repeated; does nothing but the last where there is nothing.
 *
 * @return as gf_rebuild and gf_store_purge; what was done before a failure stays done
 */
gf_status gf_collection_purge(gf_store *store, gf_place where, const gf_rebuild_options *options,
                              gf_purged *purged, gf_error *err);

/**
 * Write the store's files anew, without what was deleted or replaced. Others may read and write
 * meanwhile; what a view has that is open then may stay until the next purge. The names of rows
 * (ids, labels) that lie at the ends of files are in LevelDB's MANIFEST until the store is opened
 * again.
 * Cost: time and room as for writing all that the store has.
 */
gf_status gf_store_purge(gf_store *store, gf_error *err);
/** A step of the way on which k=auto is chosen. */
typedef struct gf_k_step {
    uint32_t k;        /* clusters */
    double separation; /* how well so many clusters are separated, -1..1; of k = 1 what more
                          clusters must exceed to be chosen at all */
    bool chosen;
} gf_k_step;

typedef gf_status gf_visit_k(void *context, const gf_k_step *step, gf_error *err);

/**
 * How many clusters k=auto would choose for a collection's documents as they are now, and why: each
 * number that was tried, rising. The configuration's k is not looked at; all its other settings
 * are. Nothing is built or changed. Where no document has a term there is no step.
 *
 * @param options  threads, cancel and progress are looked at
 * @return as gf_rebuild
 * Source: docs/algorithms.md, "The number of clusters".
 */
gf_status gf_explain_k(gf_store *store, gf_place where, gf_slice configuration,
                       const gf_rebuild_options *options, gf_visit_k *visit, void *context,
                       gf_error *err);

/* ---- reading ----------------------------------------------------------------------------------
 */

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
void gf_view_close(gf_view *view);

/** Borrowed until close. */
const gf_build_info *gf_view_build(const gf_view *view);

typedef gf_status gf_visit_build(void *context, const gf_build_info *info, gf_error *err);

/** The builds of a configuration that are kept, newest first. */
gf_status gf_builds_visit(gf_store *store, gf_place where, gf_slice configuration,
                          gf_visit_build *visit, void *context, gf_error *err);

/** A term of a cluster's centre. */
typedef struct gf_term {
    gf_slice surface; /* as documents write it most often */
    float weight;     /* in the centre, a unit vector */
} gf_term;

typedef struct gf_cluster_info {
    uint32_t id;          /* lasts across builds */
    gf_slice label;       /* unique in its build */
    uint64_t size;        /* documents that are still there */
    const gf_term *terms; /* n_terms: the heaviest, by falling weight */
    size_t n_terms;
} gf_cluster_info;

typedef gf_status gf_visit_cluster(void *context, const gf_cluster_info *info, gf_error *err);

/** All clusters, largest first. */
gf_status gf_view_clusters(gf_view *view, gf_visit_cluster *visit, void *context, gf_error *err);

/**
 * The same, but sizes count only the documents whose score is min_score or more, and the order is
 * by these sizes. Cost: a step for each document that counts.
 */
gf_status gf_view_clusters_above(gf_view *view, float min_score, gf_visit_cluster *visit,
                                 void *context, gf_error *err);

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

/** A document's place in a build. */
typedef struct gf_membership {
    uint32_t cluster; /* id; 0: the document has no terms, and is in no cluster */
    gf_slice label;
    float score;        /* similarity to the cluster's centre, 0..1 */
    uint32_t runner_up; /* id of the second most similar cluster; 0: there is none */
    gf_slice runner_up_label;
    float second;     /* similarity to that one's centre */
    bool replaced;    /* the document was put anew since the build */
    bool provisional; /* the build does not have this text: it is where it would be */
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

/** As gf_view_members, but worst first: the documents that fit least. */
gf_status gf_view_weakest(gf_view *view, uint32_t cluster, uint64_t limit, gf_visit_member *visit,
                          void *context, gf_error *err);

/** Every document of the build that is still there, by id. */
gf_status gf_view_memberships(gf_view *view, gf_visit_member *visit, void *context, gf_error *err);

/** One document's place; GF_ENOTFOUND where the build does not have it. Borrowed until the next
 * call. */
gf_status gf_view_membership(gf_view *view, gf_slice id, gf_membership *membership, gf_error *err);

/**
 * One document's place as its text is now: that of the build, or where the document came or was put
 * anew after the build a provisional one (see gf_view_assign). GF_ENOTFOUND where there is no such
 * document, or where the build's filter or bounds leave it out. Borrowed until close.
 */
gf_status gf_view_current_membership(gf_view *view, gf_slice id, gf_membership *membership,
                                     gf_error *err);

/**
 * Where a text would be in the build: in the cluster whose centre is most similar to the text's row
 * in the build's space (of equal ones the lowest id), with the score that a document of the build
 * with this text has. A text that has no term of the build is in none. Nothing is stored, and the
 * text counts nowhere.
 *
 * @param language    ISO 639 code or Snowball name; empty: not known
 * @param membership  provisional; its labels are borrowed until close
 * @return GF_OK; GF_ECORRUPT, GF_EIO, GF_ENOMEM; the membership is then unchanged
 * Cost: the first call of a view reads the build's vocabulary and centres: 8 bytes of memory for
 * each entry of a centre, 4 x k for each term that more than k / 12 centres have. After that the
 * analysis of the text, and at most k multiplications for each of its terms.
 */
gf_status gf_view_assign(gf_view *view, gf_slice language, gf_slice text, gf_membership *membership,
                         gf_error *err);

/**
 * gf_view_assign for several texts side by side; of the documents text and language count.
 *
 * @param threads      of the view's first such call: 0 takes one per processor
 * @param memberships  n, in the order of the documents; the same for any number of threads
 */
gf_status gf_view_assign_all(gf_view *view, const gf_document *documents, size_t n,
                             unsigned threads, gf_membership *memberships, gf_error *err);

typedef gf_status gf_visit_document(void *context, const gf_document *document, gf_error *err);

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

/** A document that is there, whether or not a build has it. */
gf_status gf_document_read(gf_store *store, gf_place where, gf_slice id, gf_visit_document *visit,
                           void *context, gf_error *err);

/** All documents of a collection, by id. */
gf_status gf_documents_visit(gf_store *store, gf_place where, gf_visit_document *visit,
                             void *context, gf_error *err);

/** What a term adds to a document's score. */
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

/** A cluster's documents over their time. */
typedef struct gf_trend {
    uint32_t cluster; /* id */
    gf_slice label;
    uint64_t size;             /* documents that are still there */
    const uint32_t *documents; /* n_periods of gf_trends: in each period */
    uint64_t before;           /* documents from before the first period */
    uint64_t undated;          /* documents without a time */
    uint64_t recent, earlier;  /* in the last n_recent periods; in those before */
    double change;             /* log of the odds ratio of recent to earlier; > 0: it grows */
    double z;                  /* change in units of its standard error */
} gf_trend;

typedef struct gf_trends {
    gf_period kind;
    int64_t first;    /* the first period (base/calendar.h) */
    size_t n_periods; /* one behind the other, up to the last that has a document; 0: no times */
    size_t n_recent;  /* the last of them that count as recent: a quarter, at least one */
    const gf_trend *clusters; /* n_clusters: by falling |z|, then by size, then by id */
    size_t n_clusters;
    uint64_t before, undated; /* documents of the build, those without terms too */
} gf_trends;

typedef gf_status gf_visit_trends(void *context, const gf_trends *trends, gf_error *err);

/**
 * Count each cluster's documents by day, week or month, and compare its share of the recent ones
 * with its share of those before.
 *
 * @param most_periods  the latest so many, 1 or more; documents before them are counted as `before`
 *
 * change = ln((r + 1/2) / (R - r + 1/2)) - ln((e + 1/2) / (E - e + 1/2)), where r of R recent and e
 * of E earlier documents are the cluster's; its standard error is the root of the sum of the four
 * terms' reciprocals. Both are 0 where all documents are recent.
 *
 * Memory: 16 bytes for each document with a time, 4 for each cluster and period.
 * Source: Woolf, Annals of Human Genetics 19 (1955) 251-253; the halves: Haldane, ibid. 20 (1956)
 * 309-311.
 */
gf_status gf_view_trends(gf_view *view, gf_period kind, size_t most_periods, gf_visit_trends *visit,
                         void *context, gf_error *err);
/** What became of a cluster from one build to another. */
typedef enum gf_fate { GF_FATE_GONE, GF_FATE_NEW, GF_FATE_CONTINUED } gf_fate;

/** Documents that two clusters, of one build each, have in common. */
typedef struct gf_flow {
    uint32_t cluster; /* id of the other one */
    gf_slice label;
    uint64_t documents;
} gf_flow;

enum { GF_MOST_PARTS = 4 }; /* of 25 % or more each */

/** A cluster of the earlier build, of the later, or of both under one id. */
typedef struct gf_cluster_change {
    gf_fate fate;
    uint32_t cluster;            /* id */
    gf_slice label;              /* in the later build; of one that is gone in the earlier */
    gf_slice label_before;       /* in the earlier one; empty for a new cluster */
    uint64_t size_before, size;  /* stayed + left + removed; stayed + came + added */
    uint64_t stayed, came, left; /* documents in both builds */
    uint64_t added, removed;     /* documents that only the later has, or only the earlier */
    /* Clusters with 25 % or more of its documents that are in both builds, most first; either there
     * are two or more, or none is told. */
    gf_flow split[GF_MOST_PARTS];  /* n_split: where those it had are now */
    gf_flow merged[GF_MOST_PARTS]; /* n_merged: where those it has were */
    size_t n_split, n_merged;
} gf_cluster_change;

typedef gf_status gf_visit_change(void *context, const gf_cluster_change *change, gf_error *err);

/**
 * Compare two builds of a configuration: gone clusters and new ones first, by falling size, then
 * those that went on, by the documents that came and left. The earlier build is taken as it was
 * made; of the later one documents count that are still there. A document without terms is in no
 * cluster, which counts as another one that it comes from or leaves to.
 *
 * @param cancel  may be NULL
 * @return GF_OK; GF_EINVAL (builds of two configurations), GF_ECANCELLED, GF_ENOMEM, GF_ECORRUPT
 * Cost: a walk over both builds' memberships; memory 24 to 32 bytes for each document in both.
 */
gf_status gf_diff(gf_view *earlier, gf_view *later, const gf_cancel *cancel, gf_visit_change *visit,
                  void *context, gf_error *err);

/** A document that is in another cluster than before; 0: in none. */
typedef struct gf_moved {
    gf_slice id;
    uint32_t from, to; /* clusters' ids */
    gf_slice from_label, to_label;
} gf_moved;

typedef gf_status gf_visit_moved(void *context, const gf_moved *moved, gf_error *err);

/** Those documents, by id: the ones that gf_diff counts as left and came. It needs no memory. */
gf_status gf_diff_documents(gf_view *earlier, gf_view *later, const gf_cancel *cancel,
                            gf_visit_moved *visit, void *context, gf_error *err);

struct gf_vocabulary;

/** A build as a matrix. */
typedef struct gf_build_matrix {
    gf_csr rows;         /* documents that are still there, by id; weights, of unit length */
    gf_slice *id;        /* rows.n_rows */
    uint32_t *label;     /* rows.n_rows: id of the cluster; 0: in none */
    float *score;        /* rows.n_rows: similarity to its centroid */
    bool *replaced;      /* rows.n_rows: put anew since the build; the row is the new text's */
    uint32_t n_clusters; /* by id */
    uint32_t *cluster;   /* n_clusters: ids */
    gf_slice *name;      /* n_clusters: labels; borrowed from the view */
    gf_csr centroids;    /* [n_clusters x rows.n_cols], of unit length */
    const struct gf_vocabulary *vocabulary; /* of the columns; borrowed from the view */
    char *id_bytes;                         /* what id borrows from */
} gf_build_matrix;

/**
 * The rows of a build, worked out again from the stored texts, with its centroids and labels.
 * @return GF_OK; GF_ECONFLICT where the build's rows were a matrix's, which is not kept; GF_ENOMEM,
 *         GF_ECANCELLED, GF_ECORRUPT, GF_EIO. On failure *matrix is unchanged.
 * Owner:  gf_build_matrix_release; names and terms last until the view is closed.
 * Cost:   that of analysing the texts; memory 8 bytes an entry, 33 and the id for a row.
 */
gf_status gf_view_read_matrix(gf_view *view, const gf_cancel *cancel, gf_build_matrix *matrix,
                              gf_error *err);
void gf_build_matrix_release(gf_build_matrix *matrix);

/** What a column is: its term as it is counted (unique), and as documents write it most often. */
gf_slice gf_build_matrix_term(const gf_build_matrix *matrix, uint32_t column);
gf_slice gf_build_matrix_surface(const gf_build_matrix *matrix, uint32_t column);

/* ---- finding ----------------------------------------------------------------------------------
 */

/** A document that was found. */
typedef struct gf_hit {
    const gf_document *document;
    double score;                    /* of gf_search BM25, of gf_similar the cosine, 0..1 */
    const gf_membership *membership; /* where it is in the build; NULL where it is nowhere */
    gf_slice found;                  /* the part of the text that was found first; may be empty */
} gf_hit;

typedef gf_status gf_visit_hit(void *context, const gf_hit *hit, gf_error *err);

typedef struct gf_search_options {
    gf_slice configuration; /* whose served build says where documents are; empty: "default" */
    uint32_t cluster;       /* only documents of this cluster, by id */
    gf_slice cluster_label; /* or, where that is 0, by label; empty: of any */
    const gf_slice *where;  /* n_where: as of gf_document_choice */
    size_t n_where;
    gf_slice since, until; /* since <= time < until; as `before` of gf_document_choice */
    uint64_t limit;        /* documents at most; 0: all that are found */
    const gf_cancel *cancel; /* may be NULL */
} gf_search_options;

/**
 * The documents of a collection that have any of a query's words and all its phrases, and nothing
 * that it excludes, by falling BM25 score (k1 = 1.2, b = 0.75), then by id. Text and query are
 * analysed as by the configuration "default": its served build, or its settings where there is
 * none. A document is found as soon as its put has returned, as its text is then. docs/search.md.
 *
 * @param query  words, words with * at their end, "phrases", and any of them with - before it
 * @return GF_OK; GF_EINVAL (the query: the message says where; a filter); GF_ENOTFOUND (collection,
 *         configuration, cluster); GF_ECANCELLED, GF_ECORRUPT, GF_EIO, GF_ENOMEM
 * Cost: with an index (store_index) the postings of the words, 5 bytes of memory for each document,
 *       24 for each found; a text's analysis for each document put since, that has all words of a
 *       phrase, or that is told. Without one the analysis of all texts, on all processors.
 * Source: Robertson & Zaragoza, Foundations and Trends in Information Retrieval 3 (2009) 333-389.
 */
gf_status gf_search(gf_store *store, gf_place where, gf_slice query,
                    const gf_search_options *options, gf_visit_hit *visit, void *context,
                    gf_error *err);

typedef struct gf_similar_options {
    gf_slice id;             /* of a document that is there; or, where that is empty, */
    gf_slice text, language; /* a text, and its language as of gf_document; empty: not known */
    uint64_t limit;          /* documents at most; 0: all that share a term */
    const gf_cancel *cancel; /* may be NULL */
} gf_similar_options;

/**
 * The documents most similar to one, or to a text: by the cosine of their rows in the space of the
 * served build of "default", then by id; without the document itself, and without those that share
 * no term with it. Those put after the build count as their texts are now, those that the build's
 * filter or bounds leave out do not.
 *
 * @return GF_OK; GF_ENOTFOUND (collection, document, or there is no build yet); GF_ECANCELLED,
 *         GF_ECORRUPT, GF_EIO, GF_ENOMEM
 * Cost: with an index (store_index) the documents of the row's terms, 24 bytes of memory for each
 *       document, the build's vocabulary, and the analysis of each text that may be among the best
 *       or was put since; without one that of all texts.
 */
gf_status gf_similar(gf_store *store, gf_place where, const gf_similar_options *options,
                     gf_visit_hit *visit, void *context, gf_error *err);

/**
 * A short piece of a text around a part of it, on one line: at most `most` characters and an
 * ellipsis where it was cut, which is between words if there are any.
 */
void gf_snippet(gf_slice text, gf_slice part, size_t most, gf_buffer *out);

/* ---- quality and soundness --------------------------------------------------------------------
 */

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
 */
gf_status gf_view_evaluate(gf_view *view, gf_slice field, gf_class_of *class_of,
                           void *class_context, gf_visit_evaluation *visit, void *context,
                           gf_error *err);

/** A cell of the tables as documented (docs/tables.md), stored or worked out. */
typedef gf_status gf_visit_column(void *context, const char *family, gf_slice qualifier,
                                  gf_slice value, gf_error *err);

gf_status gf_document_columns(gf_store *store, gf_place where, gf_slice id, gf_visit_column *visit,
                              void *context, gf_error *err);
gf_status gf_cluster_columns(gf_view *view, uint32_t cluster, gf_visit_column *visit, void *context,
                             gf_error *err);
gf_status gf_collection_columns(gf_store *store, gf_place where, gf_visit_column *visit,
                                void *context, gf_error *err);

/** A fault that a check found: where it is, and what. */
typedef gf_status gf_visit_fault(void *context, const char *where, const char *what, gf_error *err);

typedef struct gf_verified {
    uint64_t collections, documents, builds, memberships;
    uint64_t tables, rows; /* of users; a row counts in each of its families */
    uint64_t faults;
} gf_verified;

/**
 * Check a store that nobody holds: every byte of its files, then that the tables agree with each
 * other (sizes with documents, clusters with memberships, pointers with builds, models with both).
 * @return GF_OK, whatever was found; else why it could not be checked to the end
 */
gf_status gf_verify(const char *path, const gf_store_options *options, gf_visit_fault *visit,
                    void *context, gf_verified *verified, gf_error *err);

/* ---- copies -----------------------------------------------------------------------------------
 */

/**
 * Copy the store, as it is now, into a folder that is not there yet; the copy is a store. Others
 * may read and write meanwhile. *status tells what the copy has.
 * @return GF_OK; GF_EEXISTS; GF_ECORRUPT (the store is damaged), GF_EIO, GF_ENOMEM, GF_ECANCELLED:
 *         there is then no copy
 */
gf_status gf_store_backup(gf_store *store, const char *path, const gf_cancel *cancel,
                          gf_store_status *status, gf_error *err);

/**
 * Check a backup that nobody holds, as gf_verify does, and where it is sound copy it likewise.
 * @return as gf_store_backup; GF_ECORRUPT where the backup has faults, of which `visit` is told
 */
gf_status gf_restore(const char *backup, const char *path, const gf_store_options *options,
                     gf_visit_fault *visit, void *context, gf_store_status *status, gf_error *err);

typedef struct gf_repaired {
    uint64_t documents;   /* that the new store has */
    uint64_t damages;     /* of the old store's files */
    uint64_t rows;        /* that were there and could not be read */
    uint64_t collections; /* whose numbers had to be set right */
    uint64_t builds;      /* that were not whole, and were dropped */
} gf_repaired;

/**
 * Make a new store of all that can be read of a damaged one, which nobody may hold and which stays
 * as it is. `visit` is told of each damage, of rows that could not be read and of builds that were
 * dropped.
 * @return GF_OK, however much was lost: *repaired says; GF_EEXISTS, GF_ENOTFOUND, GF_EBUSY, GF_EIO,
 *         GF_ENOMEM, GF_ECORRUPT (nothing of it is ours any more)
 */
gf_status gf_repair(const char *path, const char *to, const gf_store_options *options,
                    gf_visit_fault *visit, void *context, gf_repaired *repaired, gf_error *err);

#ifdef __cplusplus
}
#endif

#endif
