/**
 * Candidates that are kept: groups of new documents that have an id of the clusters' sequence, as the last look at
 * them found them (engine/watch/check.c). Cells of the configuration's watches (watches.h):
 *
 *     'c', id   {"build": ms, "seq": 2041, "when": ms, "size": 20, "label": "chargers", "nearest": 8,
 *                "terms": [["chargers", 0.71], ...], "over": true}
 *     'm', id   ids of documents: varint length and bytes each
 *     'd', id   the same, each with its similarity to the group's centre: 4 bytes, big-endian, a float
 *
 * "over": no group is it any more, and its id waits for one that is. Those of earlier versions have no 'd': they are
 * no clusters until the next look.
 */
#ifndef GF_ENGINE_CONFIG_CANDIDATES_H
#define GF_ENGINE_CONFIG_CANDIDATES_H

#include "base/arena.h"
#include "engine/store/store_internal.h"
#include "grouperfish/changes.h"

/** A document of a candidate. */
typedef struct gf_candidate_document {
    gf_slice id;
    float score; /* similarity to the centre of the group */
} gf_candidate_document;

typedef struct gf_new_candidate {
    uint32_t id, nearest; /* nearest: the cluster that most documents are nearest to; 0: none */
    int64_t build;        /* that it came after */
    uint64_t seq;         /* of the collection, at the look */
    uint64_t size;
    gf_slice label, terms;            /* terms: JSON, [["surface", weight], ...] */
    gf_candidate_document *documents; /* n, most similar first: at most GF_WATCH_MEMBERS */
    size_t n;
} gf_new_candidate;

/** A list in its memory. {0} to begin with. */
typedef struct gf_candidates {
    gf_new_candidate *at; /* n, by id */
    size_t n, capacity;
    gf_arena memory;
} gf_candidates;

/** Read those that came after a build, and are not over. */
gf_status gf_candidates_read(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                             gf_slice configuration, int64_t build, gf_candidates *out,
                             gf_error *err);
void gf_candidates_release(gf_candidates *candidates);

/**
 * Tell the build that one came after; 0 where it is not there. The ids of other builds' are a cluster's now, or have
 * ended.
 */
gf_status gf_candidates_build(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                              gf_slice configuration, uint64_t id, int64_t *build, gf_error *err);

/** Put one into the batch, in place of what is kept of it. */
gf_status gf_candidates_put(gf_store *store, gf_place where, gf_slice configuration,
                            const gf_new_candidate *candidate, gf_batch *batch, gf_error *err);

/**
 * Note that candidates other than the `n` ids are groups no more: of the same build they are over, and their ids wait;
 * of another one they have ended.
 */
gf_status gf_candidates_end_others(gf_store *store, gf_place where, gf_slice configuration,
                                   int64_t build, const uint32_t *ids, size_t n, gf_batch *batch,
                                   gf_error *err);

/**
 * The fate of a candidate at a rebuild; the new build keeps it, in the cell "candidates" of its model: the build
 * that they came after as a varint, and for each id, size, label, n and n times a cluster and documents.
 */
typedef struct gf_candidate_fate {
    uint32_t id;
    uint64_t size;  /* documents that the build has */
    gf_slice label; /* that it had */
    struct {
        uint32_t cluster;
        uint64_t documents;
    } parts
        [GF_CHANGE_MOST_PARTS]; /* n_parts: where a quarter or more of them are now, most first */
    size_t n_parts;
} gf_candidate_fate;

void gf_candidate_fate_write(const gf_candidate_fate *fate, gf_buffer *out);

/** Take one; the label is borrowed. False: damaged. */
bool gf_candidate_fate_take(gf_slice *bytes, gf_candidate_fate *fate);

#endif
