/** Builds: made, published, pinned; what is left of deleted texts purged. */
#ifndef GF_GROUPERFISH_REBUILD_H
#define GF_GROUPERFISH_REBUILD_H

#include "grouperfish/cancel.h"
#include "grouperfish/configurations.h"
#include "grouperfish/csr.h"
#include "grouperfish/export.h"

GF_PUBLIC_BEGIN

/** Told how far a rebuild is; from one thread at a time. total is 0 where it is not known. */
typedef void gf_progress(void *context, gf_place where, const char *phase, uint64_t done,
                         uint64_t total);

/** What a rebuild begins from: the served clusters, which then go on, or new seeds. */
typedef enum gf_start { GF_START_CONFIGURED, GF_START_SERVED, GF_START_FRESH } gf_start;

typedef struct gf_rebuild_options {
    bool force;   /* also where nothing has changed since the served build */
    bool dry_run; /* say what would be done, and do nothing */
    gf_start start;
    const gf_matrix *matrix; /* cluster its rows, also where nothing has changed; may be NULL */
    unsigned threads;        /* 0: one per processor */
    uint64_t memory;         /* bytes that the process may take (gf_memory_estimate); 0: any */
    const gf_cancel *cancel; /* may be NULL */
    gf_progress *progress;   /* may be NULL */
    void *context;
} gf_rebuild_options;

/**
 * What a rebuild holds in memory, in bytes: counted from the documents (of many of them from 20,000,
 * evenly spread), before anything is built. Pages of the store's files that the system maps and
 * takes back as it likes are not counted. docs/algorithms.md has the formula.
 */
typedef struct gf_memory_estimate {
    uint64_t documents; /* that the configuration is about */
    uint64_t text;      /* bytes of their texts */
    uint64_t entries;   /* of the matrix */
    uint64_t terms;     /* of the matrix; and words of all texts: */
    uint64_t words;
    uint32_t k; /* clusters: what is set, else those that are served, else 100 */

    uint64_t program; /* and the store's buffers */
    uint64_t reading; /* texts at hand, words of each thread, counted documents */
    uint64_t rows;    /* CSR: 8 bytes an entry, 9 a row */
    uint64_t ids;     /* of the documents, and the vocabulary */
    uint64_t points;  /* the distinct rows: 8 bytes an entry */
    uint64_t labels;  /* labels, bounds, scores of each row */
    uint64_t centres; /* and their index */
    uint64_t naming;  /* texts that labels are chosen from */
    uint64_t writing; /* changes on their way to disk */
    uint64_t index;   /* inverted, for search */
    uint64_t peak;    /* of all that is held at a time */
    uint64_t least;   /* peak of the least --memory that does */
} gf_memory_estimate;

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
    gf_build_info build;       /* the new build, or the one that is served; slices are empty */
    uint64_t unknown;          /* rows of the matrix that no document has the id of */
    gf_memory_estimate memory; /* only with dry_run: what the rebuild would take */
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
 * meanwhile; views that are open are waited for, twenty seconds at most. The names of rows (ids,
 * labels) that lie at the ends of files are in LevelDB's MANIFEST until the store is opened again.
 * @return GF_EBUSY where a view is open still: what it has may be left until the next purge
 * Cost: time and room as for writing all that the store has.
 */
gf_status gf_store_purge(gf_store *store, gf_error *err);

/** How a store's collections are. */
typedef struct gf_store_health {
    unsigned format;   /* of the store (docs/storage.md) */
    uint64_t running;  /* builds that this process makes at this moment */
    uint64_t changed;  /* collections with other documents than one of their builds had */
    uint64_t failed;   /* configurations whose last rebuild failed */
    int64_t failed_at; /* the latest of those; 0: none */
    char failed_namespace[GF_MAX_NAME + 1], failed_collection[GF_MAX_NAME + 1],
        failed_configuration[GF_MAX_NAME + 1], failed_why[GF_ERROR_MESSAGE];
} gf_store_health;

/** Told of a collection that has changed since it was built. */
typedef gf_status gf_visit_changed(void *context, gf_place where, gf_error *err);

/**
 * Look at all collections of all namespaces.
 * @param visit  may be NULL
 * Cost: a look-up for each configuration that is served.
 */
gf_status gf_store_read_health(gf_store *store, gf_visit_changed *visit, void *context,
                               gf_store_health *health, gf_error *err);

GF_PUBLIC_END

#endif
