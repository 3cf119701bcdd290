/**
 * The steps of a rebuild, each one module with its input and output in a job.
 *
 *     begin     job.c       build time, progress row, snapshot
 *     gather    gather.c    documents of the snapshot -> rows of weights
 *     cluster   cluster.c   rows -> clusters, labels
 *     write     write.c  clusters, memberships, model
 *     publish   publish.c   the pointer moves; old builds go
 *
 * A job is one configuration of one collection. Several small ones begin, are written and are
 * published together, with one sync each.
 */
#ifndef GF_ENGINE_BUILD_INTERNAL_H
#define GF_ENGINE_BUILD_INTERNAL_H

#include "base/arena.h"
#include "base/pool.h"
#include "base/row_file.h"
#include "cluster/kmeans.h"
#include "cluster/label/tree.h"
#include "engine/build/estimate.h"
#include "engine/config/failure.h"
#include "engine/config/pins.h"
#include "engine/config/settings.h"
#include "engine/rows/languages.h"
#include "engine/rows/names.h"
#include "engine/rows/scan.h"
#include "engine/store/builds.h"
#include "engine/store/collections.h"
#include "engine/store/delete.h"
#include "engine/store/lock.h"
#include "engine/text/group.h"
#include "vectorize/rows/words.h"

/** The documents of a snapshot as rows, in the order of their ids. */
typedef struct gf_gathered {
    uint32_t n;
    uint64_t *id_start; /* n + 1 */
    size_t id_capacity;
    gf_buffer ids;      /* id i is ids[id_start[i] .. id_start[i + 1]) */
    gf_vectors vectors; /* n rows */
    gf_fallback fallback;
    gf_text_counts counts; /* of all that the configuration is about; n of them were taken */
} gf_gathered;

static inline gf_slice gf_gathered_id(const gf_gathered *g, uint32_t i)
{
    return gf_slice_of(g->ids.ptr + g->id_start[i], (size_t)(g->id_start[i + 1] - g->id_start[i]));
}

/** The rows of vectors that lie in a file. */
static inline gf_row_file gf_rows_in_file(const gf_vectors *v)
{
    return (gf_row_file){v->x.n_rows, v->x.n_cols, v->x.start, v->x.start[v->x.n_rows], v->entries};
}

typedef struct gf_job {
    gf_store *store;
    gf_place where;         /* copied */
    gf_slice configuration; /* copied */
    gf_arena memory;        /* of the names, the labels */
    const gf_rebuild_options *options;
    gf_pool *pool; /* NULL: this thread alone */

    gf_settings_map map;
    gf_resolved settings;
    gf_buffer settings_json;

    int64_t build;         /* its timestamp */
    int64_t served_before; /* 0: none */
    uint64_t seq, size;    /* of the collection in the snapshot */
    uint32_t next_id;      /* first free cluster id */
    uint64_t chosen_for;   /* documents with terms when k was chosen; 0: it was given */
    gf_buffer key;         /* of the build */
    gf_pins pins;          /* of the configuration, when the job began */
    gf_buffer marked;      /* keys of older builds that go when this one is published */
    const gf_snapshot *snapshot;
    gf_activity activity; /* in the store's list from its beginning to its end */
    bool begun, published;
    uint64_t trim_to; /* changes up to this one are needed by no build any more */
    double seconds;   /* that computing took */

    uint32_t every; /* of the documents one in so many is gathered: 1 for a build */
    bool spills;    /* rows are in a file; of clusters, words and texts as much as `plan` says */
    gf_memory_plan plan;
    gf_gathered documents;
    gf_analyser *analyser; /* with the words of the documents; only where there is no pool */
    gf_text *texts; /* documents.n, in text_memory: of few documents, without a pool; or NULL */
    gf_arena text_memory;
    bool keeps_words; /* have them kept, for the index that search reads */
    gf_words *words;  /* then, where all documents of the snapshot were gathered; else NULL */

    /* of the served build; k_before is 0 where there is none */
    uint32_t *before;     /* documents.n: place in before_ids, or UINT32_MAX */
    uint32_t *before_ids; /* k_before: ids of clusters that still have documents, rising */
    uint32_t k_before;

    uint32_t
        *row_of; /* clusters.n: document of each clustered row; those without terms have none */
    gf_kmeans clusters; /* of the rows that have terms */
    uint32_t *members;  /* clusters.n: rows by cluster, best first */
    uint32_t *start;    /* clusters.k + 1: where each cluster begins in members */
    uint32_t *ids; /* clusters.k: what each is called; the served build's where it is the same */
    uint64_t next_id_after;
    gf_tree tree;     /* over the clusters */
    gf_slice *labels; /* clusters.k, then of the tree's inner nodes (may be empty); in memory */
    gf_centres term_centres; /* of the members' texts, where the rows are a matrix's */
    uint64_t unknown;        /* rows of the matrix that are no document's */

    gf_build_info info; /* of the finished build; its slices are borrowed from the job */
} gf_job;

/** A job with its names copied; nothing is read yet. */
gf_status gf_job_init(gf_job *job, gf_store *store, gf_place where, gf_slice configuration,
                      const gf_rebuild_options *options, gf_error *err);
void gf_job_release(gf_job *job);

/** Free what was computed, once it is written. */
void gf_job_release_results(gf_job *job);

/** Tell how far it is. */
void gf_job_tell(const gf_job *job, const char *phase, uint64_t done, uint64_t total);

/**
 * Read size, settings and whether anything has changed since the served build; *modified is false
 * where nothing has. job->info tells of the served build, where there is one.
 */
gf_status gf_job_look(gf_job *job, bool *modified, gf_error *err);

/**
 * Begin jobs together: give each its build time, mark it as under way (synced), take the snapshot
 * that all read from. The write lock is taken here. gf_jobs_end must follow, whatever comes of it.
 * @return GF_EBUSY where one of them is being rebuilt already, GF_ENOTFOUND where it has gone
 */
gf_status gf_jobs_begin(gf_job *const *jobs, size_t n, gf_snapshot **snapshot, gf_error *err);

/** Take jobs off the store's list; those not published leave nothing behind. */
void gf_jobs_end(gf_job *const *jobs, size_t n);

gf_status gf_job_gather(gf_job *job, gf_error *err);

/** match.c: where the gathered documents were in the served build. */
gf_status gf_job_read_served(gf_job *job, gf_error *err);

/**
 * Whether to begin from the served clusters, and how many clusters there are to be.
 *
 * @param start  a label for each row that has terms, to be freed; NULL: from seeds
 * @param k      0: choose
 */
gf_status gf_job_choose_start(gf_job *job, uint32_t **start, uint32_t *k, gf_error *err);

/** Give each cluster its id: that of the served one that it goes on from, or one never used. */
gf_status gf_job_number_clusters(gf_job *job, gf_error *err);

gf_status gf_job_cluster(gf_job *job, gf_error *err);
/** The choice of k alone, of gathered documents; *choice stays empty where none has terms. */
gf_status gf_job_choose_k(gf_job *job, gf_choice *choice, gf_error *err);
gf_status gf_job_name_clusters(gf_job *job, gf_error *err);

/** The clusters' centres in terms: those that were clustered by, but where the rows are a matrix's.
 */
static inline const gf_centres *gf_job_term_centres(const gf_job *j)
{
    return j->options->matrix ? &j->term_centres : &j->clusters.centres;
}

/** matrix_rows.c: the matrix's rows -> row_of, clusters, term_centres. */
gf_status gf_job_cluster_matrix(gf_job *job, const gf_kmeans_options *options, gf_error *err);

/** Whether the build has an index of all words, which search reads. */
bool gf_job_indexes_words(const gf_job *job);

/** Add the build's rows to the batch, which is written (synced) whenever it is full. */
gf_status gf_job_write(gf_job *job, gf_batch *batch, gf_error *err);

/**
 * Move the pointers of written jobs in one synced write; then drop builds that need not be kept.
 * The write lock is taken for the first part.
 */
gf_status gf_jobs_publish(gf_job *const *jobs, size_t n, gf_error *err);

/**
 * Changes up to which no build of the collection needs any: builds that are there need those since
 * their own snapshot, and so do those that are being made. *seq is the collection's, and is lowered
 * to what is needed. With the write lock held.
 */
gf_status gf_oldest_need(gf_store *store, gf_slice collection_key, uint64_t *seq, gf_error *err);

/** Delete a collection's changes up to that one. */
gf_status gf_trim_changes(gf_store *store, gf_place where, uint64_t seq, gf_batch *batch,
                          gf_error *err);

/** Gather, cluster and name: all between beginning and writing. */
gf_status gf_job_compute(gf_job *job, gf_error *err);

enum { GF_WRITE_BYTES = 4 << 20, GF_WRITE_CHANGES = 100000 };

#endif
