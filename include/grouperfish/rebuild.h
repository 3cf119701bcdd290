/** Rebuilding: clustering collections as they are now, and serving the result. */
#ifndef GF_GROUPERFISH_REBUILD_H
#define GF_GROUPERFISH_REBUILD_H

#include "grouperfish/builds.h"
#include "grouperfish/cancel.h"
#include "grouperfish/configurations.h"
#include "grouperfish/csr.h"
#include "grouperfish/export.h"

GF_PUBLIC_BEGIN

/** Called with the progress of a rebuild, from one thread at a time; total 0 is not known. */
typedef void gf_progress(void *context, gf_place where, const char *phase, uint64_t done,
                         uint64_t total);

/** The start of a clustering: the served clusters, which keep their ids, or new seeds. */
typedef enum gf_start { GF_START_CONFIGURED, GF_START_SERVED, GF_START_FRESH } gf_start;

typedef struct gf_rebuild_options {
    unsigned version; /* GF_REBUILD_OPTIONS_VERSION: set by GF_REBUILD_OPTIONS() */
    bool force;       /* rebuild also if nothing has changed, or the served build is of a matrix */
    bool dry_run;     /* report what would be done, and do nothing */
    gf_start start;
    const gf_matrix *matrix; /* cluster its rows, also where nothing has changed; may be NULL */
    unsigned threads;        /* 0: one per processor */
    uint64_t memory;         /* bytes that the process may take (gf_memory_estimate); 0: any */
    const gf_cancel *cancel; /* may be NULL */
    gf_progress *progress;   /* may be NULL */
    void *context;
    bool same_rows; /* where the served build keeps rows that were made elsewhere, cluster those,
                       also where `force` would cluster the texts */
    const gf_pair *set; /* n_set settings of these builds alone, over those of the configuration,
                           which stays as it is; an empty value takes a key back to its default */
    size_t n_set;
    unsigned ranks; /* processes that cluster together, started by Open MPI's mpirun; 0: this
                          one alone, or as many as there are hosts */
    const char
        *hosts; /* file with a host a line, as mpirun reads it, on which they run, this machine
                          first; NULL: all here */
} gf_rebuild_options;

#define GF_REBUILD_OPTIONS_VERSION 1
/** Options with these members, as in GF_REBUILD_OPTIONS(.member = value), and all others 0. */
#define GF_REBUILD_OPTIONS(...)                                                                    \
    ((gf_rebuild_options){.version = GF_REBUILD_OPTIONS_VERSION, __VA_ARGS__})

/**
 * The memory of a rebuild, in bytes, estimated from the documents (of many from 20,000, evenly
 * spread) before anything is built. Pages of the store's files that the system maps, and frees as
 * it likes, are not counted. docs/algorithms.md has the formula.
 */
typedef struct gf_memory_estimate {
    uint64_t documents; /* documents that the configuration is about */
    uint64_t text;      /* bytes of their texts */
    uint64_t entries;   /* entries of the matrix */
    uint64_t terms;     /* columns of the matrix */
    uint64_t words;     /* distinct words of all texts */
    uint32_t k;         /* clusters: the configured number, else the served one, else 100 */

    uint64_t program; /* the program and the store's buffers */
    uint64_t reading; /* groups of texts, words of each thread, counted documents */
    uint64_t rows;    /* CSR: 8 bytes an entry, 9 a row */
    uint64_t ids;     /* ids of the documents, and the vocabulary */
    uint64_t points;  /* distinct rows: 8 bytes an entry */
    uint64_t labels;  /* labels, bounds, scores of each row */
    uint64_t centres; /* centroids and their index */
    uint64_t naming;  /* texts that labels are chosen from */
    uint64_t writing; /* changes on their way to disk */
    uint64_t index;   /* inverted index, for search */
    uint64_t peak;    /* most of all this that is held at a time */
    uint64_t least;   /* peak with the least `memory` that will do */

    /* By ranks alone (gf_rebuild_options), else 0: then `peak` is this process'. */
    uint64_t rank;       /* of each rank */
    uint64_t first_rank; /* of the first, which clusters the sample, too */
    uint64_t handed_out; /* texts, rows, words, labels: between this process and the ranks */
    uint64_t first_pass; /* bytes that a rank sends in the first pass */
    uint64_t pass;       /* the same in one in which a tenth of the rows move */
} gf_memory_estimate;

/** A build of given rows is kept until documents bring rows, others are given, or `force` clusters
 * the texts. */
typedef enum gf_rebuild_outcome {
    GF_REBUILD_MADE,
    GF_REBUILD_UNMODIFIED,
    GF_REBUILD_DUE,
    GF_REBUILD_KEPT
} gf_rebuild_outcome;

typedef struct gf_rebuild_result {
    gf_rebuild_outcome outcome;
    gf_build_info build;       /* the new build, or the served one; slices are empty */
    uint64_t unknown;          /* rows of the matrix whose id no document has */
    gf_memory_estimate memory; /* only with dry_run: the memory that the rebuild would need */
} gf_rebuild_result;

/**
 * Cluster a collection's documents by a configuration and publish the result. Readers keep the
 * served build until the new one is whole. A rebuild that fails or is cancelled changes
 * nothing.
 *
 * If the rows are a matrix's, labels and terms still come from the texts; documents without a row
 * are in no cluster. The build keeps the rows. A rebuild without a matrix clusters them again, with
 * those of documents put since that brought a row in their field "vector" (gf_view_assign_document);
 * where none did, it has the outcome GF_REBUILD_KEPT, whatever else changed. `force` has the texts
 * clustered.
 *
 * With settings of its own (`set`) it is made as if the configuration said so. The build keeps them,
 * so that the next rebuild without them finds a difference, and goes back to the configuration's.
 *
 * @return GF_OK; GF_ENOTFOUND (collection or configuration), GF_EBUSY (that configuration is being
 *         rebuilt), GF_EINVAL (a matrix that is not sound, an id twice, no row of any document; a
 *         setting that there is not, its value, or `rebuild`, which no build has), GF_ECANCELLED,
 *         GF_ENOMEM, GF_EIO, GF_ECORRUPT
 */
gf_status gf_rebuild(gf_store *store, gf_place where, gf_slice configuration,
                     const gf_rebuild_options *options, gf_rebuild_result *result, gf_error *err);

/** Called after each rebuild; if it failed, status and message say why, and result is NULL. */
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

/** A number of clusters that the choice of k=auto has tried. */
typedef struct gf_k_step {
    uint32_t k;        /* clusters */
    double separation; /* of so many clusters, -1..1; for k = 1 the least that others must exceed */
    double worth;      /* separation * k^-0.02, which is compared */
    bool plateau;      /* as good as the best: one of those that the choice is among */
    bool chosen;
    const char *why; /* of the one that is chosen: the reason in words, until the visit returns */
} gf_k_step;

typedef gf_status gf_visit_k(void *context, const gf_k_step *step, gf_error *err);

/**
 * How many clusters k=auto would choose for a collection's documents as they are now, and why: each
 * number that was tried, rising. The configuration's k is ignored; all its other settings count.
 * Nothing is built or changed. If no document has a term there is no step.
 *
 * @param options  threads, set, cancel and progress count
 * @return as gf_rebuild
 * Source: docs/algorithms.md, "The number of clusters".
 */
gf_status gf_explain_k(gf_store *store, gf_place where, gf_slice configuration,
                       const gf_rebuild_options *options, gf_visit_k *visit, void *context,
                       gf_error *err);

GF_PUBLIC_END

#endif
