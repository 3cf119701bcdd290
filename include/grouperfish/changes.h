/** Clusters over time: trends of their documents, and what one build changed. */
#ifndef GF_GROUPERFISH_CHANGES_H
#define GF_GROUPERFISH_CHANGES_H

#include "grouperfish/calendar.h"
#include "grouperfish/cancel.h"
#include "grouperfish/export.h"
#include "grouperfish/views.h"

GF_PUBLIC_BEGIN

typedef enum gf_direction { GF_STEADY, GF_RISING, GF_FALLING } gf_direction;

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
    gf_direction direction;    /* rising or falling: |z| is 2 or more */
} gf_trend;

typedef struct gf_trends {
    gf_period kind;   /* never GF_PERIOD_AUTO */
    int64_t first;    /* the first period (include/grouperfish/calendar.h) */
    size_t n_periods; /* one behind the other, up to the last that has a document; 0: no times */
    size_t n_recent;  /* the last of them that count as recent: a quarter, at least one */
    const gf_trend *clusters; /* n_clusters: by falling |z|, then by size, then by id */
    size_t n_clusters;
    uint64_t before, undated; /* documents of the build, those without terms too */
} gf_trends;

typedef gf_status gf_visit_trends(void *context, const gf_trends *trends, gf_error *err);

/**
 * Count each cluster's documents by a unit of time, and compare its share of the recent ones with
 * its share of those before.
 *
 * @param kind  GF_PERIOD_AUTO: the finest unit of which most_periods reach from the last document
 *              back to the first; but a few of long ago, at most one in a hundred, do not decide
 * @param most_periods  the latest so many, 1 or more; documents before them are counted as `before`
 * @param cancel  may be NULL
 *
 * Documents of the build count that are still there, with the time that they have now.
 *
 * change = ln((r + 1/2) / (R - r + 1/2)) - ln((e + 1/2) / (E - e + 1/2)), where r of R recent and e
 * of E earlier documents are the cluster's; its standard error is the root of the sum of the four
 * terms' reciprocals. Both are 0 where all documents are recent.
 *
 * Cost: what the build keeps of its documents' times is read (2 to 4 bytes for each hour and
 * cluster that has documents), and what has changed since is looked up; builds of earlier
 * versions keep nothing, and all their documents are read.
 * Memory: 12 bytes for each hour and cluster that has documents, 4 for each cluster and period.
 * Source: Woolf, Annals of Human Genetics 19 (1955) 251-253; the halves: Haldane, ibid. 20 (1956)
 * 309-311.
 */
gf_status gf_view_trends(gf_view *view, gf_period kind, size_t most_periods,
                         const gf_cancel *cancel, gf_visit_trends *visit, void *context,
                         gf_error *err);

/** The fate of a cluster from one build to another. */
typedef enum gf_fate { GF_FATE_GONE, GF_FATE_NEW, GF_FATE_CONTINUED } gf_fate;

/** Documents that two clusters, of one build each, have in common. */
typedef struct gf_flow {
    uint32_t cluster; /* id of the other one */
    gf_slice label;
    uint64_t documents;
} gf_flow;

enum { GF_CHANGE_MOST_PARTS = 4 }; /* of 25 % or more each */

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
    gf_flow split[GF_CHANGE_MOST_PARTS];  /* n_split: where those it had are now */
    gf_flow merged[GF_CHANGE_MOST_PARTS]; /* n_merged: where those it has were */
    size_t n_split, n_merged;
    /* Documents of the candidate that had this id in the earlier build (views.h), as the later one has them; 0: there
       was none. They count as added; where the cluster is gone `split` tells where they are. */
    uint64_t candidate;
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

/** The documents that gf_diff counts as left and came, by id. It needs no memory. */
gf_status gf_diff_documents(gf_view *earlier, gf_view *later, const gf_cancel *cancel,
                            gf_visit_moved *visit, void *context, gf_error *err);

/** Documents that came since a build, belong together and fit none of its clusters. */
typedef struct gf_new_group {
    gf_slice label;       /* one or two of its terms */
    uint64_t size;        /* documents */
    const gf_term *terms; /* n_terms: the heaviest, by falling weight */
    size_t n_terms;
    const gf_slice *id, *text; /* n_documents: the most central ones, best first */
    const double *score;       /* likewise: similarity to their centre */
    size_t n_documents;
    bool has_times;
    int64_t first, last; /* of the documents' times, in milliseconds; where it has any */
    uint32_t nearest;    /* id of the cluster that most of them are nearest to; 0: none */
    gf_slice nearest_label;
    double similarity; /* mean over the documents, of that to their nearest cluster's centre */
    double p;          /* chance that documents that came at random have such a term: all that were
                          looked at are counted */
    uint32_t
        candidate; /* the id that it was given when it was checked first (watches.h); 0: none yet */
    const gf_slice *all;    /* size: ids of all its documents, the most central first */
    const float *all_score; /* size: their similarity to the centre */
} gf_new_group;

typedef gf_status gf_visit_candidate(void *context, const gf_new_group *candidate, gf_error *err);

/**
 * Candidates, what is new: groups among the documents that came or were put anew since the build
 * (gf_view_pending), the largest first.
 *
 * A document fits nowhere where its similarity to the nearest centre, of which terms that the build
 * does not know take their part, is less than that of three quarters of that cluster's members, or
 * where it is in no cluster. A term is new where it is in more of the pending documents than chance
 * would have it (binomial; corrected for all terms of both, 5 %), and half of those fit nowhere.
 * Documents that fit nowhere and have a new term are clustered by k-means; clusters half of which have
 * the same new term are one group. A group of `least` documents or more, half of which have one such term, is a candidate.
 * Then it grows by documents that are more like its centre than their own cluster's, and than nearly all of the build's.
 *
 * So where the pending documents are a random sample of all, any candidate is told of in at most 5
 * of 100 cases.
 *
 * @param least   documents of a candidate, 2 or more; 0: 5
 * @param cancel  may be NULL
 * @return GF_OK; GF_ECONFLICT where the build's rows were made elsewhere; GF_ECANCELLED, GF_ENOMEM,
 *         GF_ECORRUPT
 * Cost: that of gf_view_pending, the analysis of these documents and of 300 of the build, and a step
 *       for a quarter of the members of the clusters that they are nearest to. Memory: their texts.
 * Source: the correction is Bonferroni's; terms that burst: Kleinberg, KDD 2002, 91-101.
 */
gf_status gf_view_candidates(gf_view *view, uint32_t least, const gf_cancel *cancel,
                             gf_visit_candidate *visit, void *context, gf_error *err);

GF_PUBLIC_END

#endif
