/**
 * Topics in a rebuild (grouperfish/topics.h): growing them over the rows that have terms, and their clusters
 * beside those of the documents that no topic took.
 *
 *     edits of kind topic -> examples, rows of words    gf_build_topics_grow
 *     -> clusters of all rows, to stand beside them
 *     -> topics over all rows (cluster/known)
 *     -> rows that none took                            rest, clustered by whoever asks
 *     -> one partition: topics' centres and the rest's  gf_build_topics_join
 *
 * In the joined partition each row is in the cluster of the most similar centre, but for examples, which are in
 * their topic; the topics' centres are held as they grew. So a document of the build gets from `assign` the place
 * that it has there. With topics=only the rest is not clustered: a row that is more similar to the background, the
 * unit sum of all rows, than to any topic is in no cluster.
 *
 * A document that was moved or kept by hand in a topic's cluster is one of its examples.
 */
#ifndef GF_ENGINE_BUILD_TOPICS_H
#define GF_ENGINE_BUILD_TOPICS_H

#include "cluster/known/known.h"
#include "engine/build/cluster.h"

/** {0} to begin with. */
typedef struct gf_build_grown {
    uint32_t n;   /* topics that have rows or words; 0: nothing has grown */
    size_t *edit; /* n: places in the plan's list */
    gf_known known;
    uint32_t *example; /* rows: the topic that each is an example of, or GF_NO_TOPIC */
    gf_csr rest;       /* rows that no topic took; no rows with topics=only */
    uint32_t *rest_of; /* rest.n_rows: the document of each */
} gf_build_grown;

void gf_build_grown_release(gf_build_grown *grown);

/** Whether a topic of the plan holds, so that growing has something to do. */
bool gf_build_topics_hold(const gf_build_plan *plan);

/**
 * Grow the plan's topics.
 *
 * @param x       rows that have terms
 * @param row_of  x->n_rows: the document of each, rising
 * @param options  of the clusters of the rest: those that stand beside the topics are made likewise
 * @param[in,out] clustered  topic_lost is set
 * @param[out] out           to be released, also after a failure
 * @return GF_OK; GF_EINVAL (topics=only or all without a topic that documents are of, or rows in a file), GF_ENOMEM,
 *         GF_EIO, GF_ECORRUPT, GF_ECANCELLED, GF_ELIMIT
 * Cost: of a field a walk over the documents; a run of k-means over all rows, but where each is to have a topic;
 *       see gf_known_grow; a copy of the rows that no topic took.
 */
gf_status gf_build_topics_grow(const gf_build_plan *plan, gf_pool *pool,
                               const gf_build_gathered *documents, const gf_csr *x,
                               const uint32_t *row_of, const gf_kmeans_options *options,
                               gf_build_clustered *clustered, gf_build_grown *out, gf_error *err);

/** Mark all topics of the plan lost, for that reason. GF_ENOMEM. */
gf_status gf_build_topics_lose(const gf_build_plan *plan, const char *why,
                               gf_build_clustered *clustered, gf_error *err);

/**
 * Put the topics and the clusters of the rest, which `clustered` has, together.
 *
 * @param row_of  taken over, and set to the rows that are in a cluster
 */
gf_status gf_build_topics_join(const gf_build_plan *plan, gf_pool *pool, const gf_csr *x,
                               uint32_t **row_of, gf_build_grown *grown,
                               gf_build_clustered *clustered, gf_error *err);

/** Find the nearest cluster of documents that are in none, once all clusters are settled. */
gf_status gf_build_topics_place(const gf_build_plan *plan, const gf_build_gathered *documents,
                                gf_build_clustered *clustered, gf_error *err);

#endif
