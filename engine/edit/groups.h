/**
 * Groups: clusters of a build with all that is kept of them, read, written anew in place, and kept as
 * bytes so that an edit can be taken back.
 *
 *     byte 1 | varint k | objective (8 bytes, a double's bits, big-endian) | tree
 *     varint groups, of each:
 *         varint id | label | terms | figures | sentence | its document
 *         title | its model | its prompt | centre | times | copies
 *         varint members, of each: id | score (a float's bits, u32 BE); best first
 *     varint places, of each: id | varint cluster | score | varint runner-up | its similarity
 *     ids of the tree's groups; only where there are, and the first byte is then 2
 *
 * Strings are a varint length and bytes; those that may be missing a varint length + 1, or 0. Places are
 * the memberships that the edit changed, by id.
 */
#ifndef GF_ENGINE_EDIT_GROUPS_H
#define GF_ENGINE_EDIT_GROUPS_H

#include "engine/view/view.h"

typedef struct gf_group_member {
    gf_slice id;
    float score;
} gf_group_member;

/** A cluster; slices with ptr NULL are not there. All of it lies in memory that the caller has. */
typedef struct gf_group {
    uint32_t id;
    gf_slice label; /* its own: in the key of its row */
    gf_slice terms, figures, sentence, sentence_of;
    gf_slice title, title_model, title_prompt;
    gf_slice centre, times, copies;
    gf_group_member *members; /* n, best first */
    size_t n;
} gf_group;

/** A document's place, as a membership has it. */
typedef struct gf_group_place {
    gf_slice id;
    uint32_t cluster, runner_up;
    float score, second;
} gf_group_place;

/** Groups of one build, and what else of it an edit touches. */
typedef struct gf_grouping {
    gf_group *at; /* n */
    size_t n;
    gf_group_place *places; /* n_places, by id */
    size_t n_places;
    uint32_t k;
    double objective;
    gf_slice tree;      /* ptr NULL: none */
    gf_slice group_ids; /* the cell "groups" beside it; likewise */
} gf_grouping;

/** Read a cluster's row and model, without its members, into the memory. */
gf_status gf_groups_read_cluster(gf_view *view, const gf_listed_cluster *cluster, gf_arena *memory,
                                 gf_group *out, gf_error *err);

/** Read the build's tree and the ids of its groups, as bytes, into the memory. */
gf_status gf_groups_read_tree(gf_view *view, gf_arena *memory, gf_grouping *out, gf_error *err);

/** Sort members as a ranking has them. */
void gf_groups_rank(gf_group_member *members, size_t n);

/**
 * Put groups in the place of the clusters of these ids, with the places that change by them. GF_ECORRUPT where
 * two of them have one label.
 * @param next_id  the first id that was never used; 0: as it is
 */
gf_status gf_groups_put(gf_view *view, const uint32_t *ids, size_t n, const gf_grouping *after,
                        uint64_t next_id, gf_batch *batch, gf_error *err);

void gf_groups_write(const gf_grouping *groups, gf_buffer *out);

/** Read them; they borrow from the bytes and the memory. GF_ECORRUPT, GF_ENOMEM. */
gf_status gf_groups_read(gf_slice bytes, gf_arena *memory, gf_grouping *out, gf_error *err);

#endif
