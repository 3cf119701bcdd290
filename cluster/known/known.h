/**
 * Known topics: groups that somebody described by words, or by a few documents that belong there,
 * grown over all rows.
 *
 * A topic's centre is the unit sum of what describes it and of the rows that it has taken. In each
 * round every row goes to the most similar centre, and each topic takes, of the rows that came to
 * it, the surest: those that are most similar to it in comparison with the next best. First it
 * takes few (2 rows in 100 for all topics together), then more, then all that come, until few rows
 * change. So what three words or five documents say becomes a centre of many words before the rows
 * that are hard to tell can blur it.
 *
 * Beside the topics stands the background, the unit sum of all rows: a row that is more like the
 * whole collection than like any topic belongs to none. So no threshold has to be chosen. Where
 * every row is to have a topic the background is left out.
 *
 * Beside few topics stand subjects that nobody described, and the sum of all is like none of them:
 * a topic would grow over whole subjects that are a little more like it than like the sum. So clusters
 * of all rows are given as well, and a topic gets no row that is more similar to its cluster. That
 * counts in full against a topic of words, and by three tenths against one of three examples or more,
 * which may stand for a class of many clusters; and not at all where the cluster is a topic's own: a third
 * of its examples are in it, or, of a topic of words, of the 20 rows that are most similar to these.
 *
 * Deterministic: the same rows and topics give the same result, bit for bit, for any number of
 * threads. Of equally similar topics the first wins, of equally sure rows the lowest.
 *
 * Sources: Basu, Banerjee & Mooney, ICML 2002, 27-34 (seeded k-means); Nigam, McCallum, Thrun &
 * Mitchell, Machine Learning 39 (2000) 103-134 (few labelled documents and many others). Growing by
 * the surest rows, the background and the clusters are ours: docs/algorithms.md has their figures.
 */
#ifndef GF_CLUSTER_KNOWN_KNOWN_H
#define GF_CLUSTER_KNOWN_KNOWN_H

#include "cluster/passes/lloyd.h"

/** In a label: the row has no topic. */
#define GF_NO_TOPIC UINT32_MAX

typedef struct gf_known_topics {
    uint32_t n;              /* topics, at least 1 */
    const uint32_t *example; /* rows: the topic that the row is an example of, or GF_NO_TOPIC; NULL:
                                 no row is */
    const gf_csr *words;     /* rows that describe topics and are no documents, of unit length and
                                 over the same columns; NULL: none */
    const uint32_t *words_of;   /* words->n_rows: the topic of each */
    bool all;                   /* every row is to have a topic */
    uint32_t n_clusters;        /* of all rows; 0: there are none */
    const uint32_t *cluster_of; /* rows: 0..n_clusters-1 */
    const float *cluster_score; /* rows: similarity to the centre of its cluster */
} gf_known_topics;

/** All arrays belong to it. */
typedef struct gf_known {
    uint32_t n;         /* rows */
    uint32_t *label;    /* n: the topic, or GF_NO_TOPIC; an example's is always its own */
    float *score;       /* n: similarity to the centre of its topic; where it has none, to the
                           most similar of all centres */
    gf_centres centres; /* the topics', then the background's, which is empty where there is none.
                           Labels are the most similar of them, but for examples and rows of
                           clusters beside them */
    unsigned rounds;
} gf_known;

/**
 * Grow topics over rows.
 *
 * @param points  of unit length; none is empty
 * @param cancel  may be NULL
 * @param[out] out  the caller's to release; untouched after a failure
 * @return GF_OK; GF_EINVAL (a topic that neither words nor rows describe), GF_ENOMEM, GF_ECANCELLED,
 *         GF_ELIMIT (see gf_centre_index_build)
 * Cost: 10 to 20 passes, each of at most entries * topics; for each topic of fewer than
 *       three examples a pass over the entries; memory 28 bytes a row, and the centres.
 */
gf_status gf_known_grow(gf_pool *pool, const gf_points *points, const gf_known_topics *topics,
                        const gf_cancel *cancel, gf_known *out, gf_error *err);
void gf_known_release(gf_known *known);

#endif
