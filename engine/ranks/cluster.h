/**
 * Clustering by ranks, as the holder of the store sees it: rows in a file go out, labels and centres
 * come back.
 *
 * A job whose rank dies, or of which nothing is heard for a minute, is ended and started again, twice
 * at most (engine/ranks/session.h); what comes out is the same, bit for bit, whatever the number of ranks.
 */
#ifndef GF_ENGINE_RANKS_CLUSTER_H
#define GF_ENGINE_RANKS_CLUSTER_H

#include "base/row_file.h"
#include "cluster/kmeans.h"
#include "engine/ranks/session.h"

/** The memory and the network of ranks, of counts of the documents. */
typedef struct gf_ranks_cost {
    uint64_t memory, first_memory; /* bytes of a rank; of rank 0, which has the sample, too */
    uint64_t handed_out; /* bytes of texts, rows and labels that go to ranks, and come back */
    uint64_t first_pass,
        pass; /* bytes that a rank sends in the first pass; at most in a later one */
} gf_ranks_cost;

typedef struct gf_ranks_counts {
    uint64_t rows;
    double entries, terms;
    double centre_entries; /* of k centres */
    double text;           /* bytes of texts that ranks analyse; 0: they do not */
    double words;          /* different ones of each document, that are kept for the index */
    double distinct_words; /* of all documents */
    uint32_t k;
    unsigned ranks, threads; /* of each */
} gf_ranks_counts;

/** The formula of docs/scale.md. */
gf_ranks_cost gf_ranks_cluster_cost(const gf_ranks_counts *counts);

/** Rows of the sample that seeds are found in: of the number of rows alone. */
uint32_t gf_ranks_cluster_sample(uint64_t rows);

/**
 * Cluster, and end the session. Rows that the ranks hold from an analysis in this session stay there;
 * else they are handed out, as where the job is started again.
 *
 * @param session  open or not
 * @param pool   this process' own, for the sweeps of the refinement
 * @param rows   of unit length, none empty
 * @param options  as of gf_kmeans_run; rows are swept where refinement->count is not NULL and it pays
 * @param out    as of gf_kmeans_run; rounds are 0
 * @return GF_OK; GF_EINVAL (ranks that are not alike, more than 10,000 clusters), GF_EIO (they do not
 *         start, or died three times), GF_ENOMEM, GF_ECANCELLED, GF_ELIMIT
 * Owner:  gf_kmeans_release(out).
 */
gf_status gf_ranks_cluster(gf_ranks_session *session, gf_pool *pool, const gf_row_file *rows,
                           const gf_kmeans_options *options, gf_kmeans *out, gf_error *err);

#endif
