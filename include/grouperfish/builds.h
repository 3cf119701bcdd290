/** Builds: finished clusterings of a collection, published and pinned. */
#ifndef GF_GROUPERFISH_BUILDS_H
#define GF_GROUPERFISH_BUILDS_H

#include "grouperfish/collections.h"
#include "grouperfish/export.h"

GF_PUBLIC_BEGIN

/** The rows that were clustered. */
typedef enum gf_rows_kind {
    GF_ROWS_OF_TEXTS, /* their terms */
    GF_ROWS_SPARSE,   /* of a matrix */
    GF_ROWS_DENSE,    /* likewise */
    GF_ROWS_OF_WORDS  /* sums of the vectors of their words */
} gf_rows_kind;

/** Whether they were made elsewhere (`rebuild --matrix`), so that no text says what they are. */
static inline bool gf_rows_are_given(gf_rows_kind kind)
{
    return kind == GF_ROWS_SPARSE || kind == GF_ROWS_DENSE;
}

/** A finished build. */
typedef struct gf_build_info {
    int64_t build; /* its timestamp, which names it */
    bool served;
    bool pinned;            /* kept whatever `keep` says; set by gf_builds_visit */
    uint64_t documents;     /* documents in the build */
    uint64_t without_terms; /* documents without any word (or any row), in no cluster */
    uint64_t distinct;      /* distinct rows of the documents */
    uint32_t terms;         /* columns of the matrix */
    uint32_t k;             /* clusters */
    double objective;       /* mean similarity of a document to its cluster's centroid, 0..1 */
    double seconds;         /* time of building */
    uint64_t seq;           /* of the collection, when its documents were read */
    gf_slice settings;      /* JSON object: the keys that differ from their default */
    gf_slice versions;      /* of the libraries that made it */
    gf_rows_kind rows;      /* of the texts, of a matrix, or of word vectors */
    uint64_t edits;         /* changes that edits have made to it in place (edits.h) */
    uint64_t unplaced;      /* documents that no topic took, in no cluster (topics.h) */
} gf_build_info;

/** Notes of people on a cluster (edits.h); parts that nobody has set are empty. */
typedef struct gf_cluster_state {
    gf_slice status, owner, link, note;
} gf_cluster_state;

/** Serve a kept build again; GF_ENOTFOUND. A rebuild that is under way then fails. */
gf_status gf_pin_publish(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                         gf_error *err);

/** Pin a build, so that it is kept, or unpin it; GF_ENOTFOUND. Repeating it changes nothing. */
gf_status gf_pin_build(gf_store *store, gf_place where, gf_slice configuration, int64_t build,
                       bool pinned, gf_error *err);

/**
 * Pin the label of a cluster of the served build: every read has it at once, and rebuilds keep it
 * as long as the cluster lasts. An empty label unpins. It is an edit of kind GF_EDIT_LABEL (edits.h),
 * by nobody and without a reason.
 * @return GF_OK; GF_ENOTFOUND (cluster, pin), GF_EEXISTS (another cluster has the label), GF_EINVAL
 *         (more than 200 bytes, control characters)
 */
gf_status gf_pin_label(gf_store *store, gf_place where, gf_slice configuration, uint32_t cluster,
                       gf_slice label, gf_error *err);

GF_PUBLIC_END

#endif
