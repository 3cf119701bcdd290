/**
 * The parts in which a build is written (write.c). For engine/build/ itself.
 *
 *     section      parts of                 in the order of the keys, and of the writing
 *     clusters     64 rows                  clusters by label
 *     documents    16,384 members           by cluster and id: blocks (storage/run.h)
 *     ranked       16,384 members           by cluster and rank: blocks
 *     memberships  16,384 documents         by id: blocks
 *     analysis, vocabulary, centres, ...    the model
 *
 * A part is a task of its own: it reads the results of a build and fills one batch, with finished blocks
 * where that is of a run. Where parts are
 * cut depends on the data alone, so that what is written is the same for any number of threads.
 */
#ifndef GF_ENGINE_BUILD_WRITE_INTERNAL_H
#define GF_ENGINE_BUILD_WRITE_INTERNAL_H

#include "engine/build/build.h"

enum {
    GF_PART_CLUSTERS = 64,
    GF_PART_MEMBERS = 16384,
    GF_PART_WITH_VECTORS = 1024 /* memberships, where each has its document's vector */
};

/** The context that all parts read. */
typedef struct gf_build_writing {
    const gf_build_plan *plan;
    const gf_build_gathered *documents;
    const gf_build_clustered *clustered;
    const uint32_t *ids;    /* one per cluster */
    const uint32_t *groups; /* one per inner node of the tree */
    const gf_build_named *named;
    const gf_build_figures *figures;
    const gf_build_best *best;
    const gf_build_previous *previous;
    const gf_tables *tables;
    gf_slice key; /* of the build */

    uint32_t *order;   /* k: clusters by label */
    uint32_t *offset;  /* k + 1: members of the clusters before, in that order */
    uint32_t *members; /* kmeans.n: rows by cluster (clustered->start), each cluster's by id */
} gf_build_writing;

/** Fill a batch with part `part` of a section. */
typedef gf_status gf_build_fill(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                                gf_error *err);

/** Set order, offset and members; to be released, also after a failure. */
gf_status gf_build_order_members(gf_build_writing *w, gf_error *err);
void gf_build_writing_release(gf_build_writing *w);

/* Rows of clusters, their members by id and by rank (write_clusters.c). */
gf_build_fill gf_build_fill_clusters, gf_build_fill_documents, gf_build_fill_ranked;
/** Places of documents (write_memberships.c). */
gf_build_fill gf_build_fill_memberships;
/* The model: cells that are compressed as they are filled in (write_model.c). */
gf_build_fill gf_build_fill_analysis, gf_build_fill_vocabulary, gf_build_fill_centres,
    gf_build_fill_copies, gf_build_fill_hours, gf_build_fill_tree, gf_build_fill_group_ids,
    gf_build_fill_candidates;

uint32_t gf_build_membership_part(const gf_build_plan *plan);

/**
 * Put a cell of the model, compressed here if the backend takes it so.
 * @param memory  scratch; its content is replaced
 */
gf_status gf_build_put_model(const gf_build_writing *w, gf_batch *batch, gf_slice qualifier,
                             const gf_buffer *value, gf_buffer *memory, gf_error *err);

#endif
