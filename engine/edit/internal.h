/**
 * An edit in the making (edit.c) or taken back (undo.c), while its collection is held, and the steps of those that change groups:
 *
 *     members of the clusters concerned, with their places     members.c
 *     -> their rows -> new groups, centres, scores              regroup.c
 *     -> labels of new groups                                   name.c
 *     -> the tree                                               tree.c
 *     -> cells, in one batch with the fact itself               groups.c
 *
 * Topics are facts alone, which the next rebuild obeys (topics.c).
 */
#ifndef GF_ENGINE_EDIT_INTERNAL_H
#define GF_ENGINE_EDIT_INTERNAL_H

#include "engine/config/edits.h"
#include "engine/config/pins.h"
#include "engine/edit/groups.h"
#include "engine/store/lease.h"
#include "engine/view/view.h"

typedef struct gf_editing {
    gf_store *store;
    gf_place where;
    gf_slice configuration;
    gf_buffer key; /* of the collection */
    gf_collection_row row;
    gf_pins pins;
    gf_kept_edits edits; /* that were made so far */
    gf_view *view;       /* of the served build, as it is now */
    gf_batch *batch;
    gf_arena memory; /* of what the edit makes */
    bool again;      /* it was made before: locks that came later, and ids it has, are no matter */
} gf_editing;

enum { GF_EDIT_MOST_LABEL = 200, GF_EDIT_MOST_TEXT = 2000 /* bytes */ };

/** Read what edits are made by, while the collection is held; the view of the served build; release it all. */
gf_status gf_edit_begin(gf_editing *e, gf_error *err);
gf_status gf_edit_open_view(gf_editing *e, gf_error *err);
void gf_edit_release(gf_editing *e);

/** Put the pins as they are now into the batch. */
gf_status gf_edit_put_pins(gf_editing *e, gf_error *err);

/** GF_EINVAL for what is too long, no UTF-8 or has control characters; for a label that is reserved. */
gf_status gf_edit_check_text(gf_slice text, const char *what, size_t most, gf_error *err);
gf_status gf_edit_check_label(gf_slice label, gf_error *err);

/**
 * The status `taken` where a person has called a cluster other than `own` so, in whatever case: one of the served
 * build, or one that may come back.
 */
gf_status gf_edit_check_pinned(const gf_editing *e, gf_slice name, uint32_t own, gf_status taken,
                               gf_error *err);

/** Make an edit, as it was asked for or once more: its change to pins and groups goes into the batch. */
gf_status gf_edit_make_kind(gf_editing *e, const gf_edit_request *r, gf_kept_edit *kept,
                            gf_error *err);

/** Pin a label; an empty one is taken back. `taken`: the status where another cluster has it. */
gf_status gf_edit_pin_label(gf_editing *e, uint32_t cluster, gf_slice label, gf_status taken,
                            gf_error *err);

/**
 * Whether a label that a cluster had is in the build in place of its own, which only a rebuild can bring back. One that
 * is under way may have it, too.
 */
gf_status gf_edit_is_of_build(const gf_editing *e, uint32_t cluster, gf_slice label, bool *is,
                              gf_error *err);

/** A part of a state by its place: status, owner, link, note; the state without any. */
enum { GF_EDIT_PARTS_OF_STATE = 4 };
gf_slice *gf_edit_part_of_state(gf_cluster_state *s, size_t part);
extern const gf_cluster_state gf_edit_no_state;

/** Whose lease the rebuild of the configuration has, if one is under way. */
gf_status gf_edit_find_rebuild(const gf_editing *e, gf_lease_owner *owner, gf_error *err);

/** A member of one of the clusters that an edit is about. */
typedef struct gf_edit_member {
    gf_slice id;
    gf_membership_cells cells; /* without its vector */
    uint32_t from, to;         /* places in the lists of clusters and of new groups */
    bool gone;                 /* its document was deleted since the build */
    gf_row_view row;           /* n is 0: none */
    float score, second;       /* in the new group */
    uint32_t runner_up;        /* id */
} gf_edit_member;

/** The clusters that an edit is about, their members, and others whose next best cluster ends. */
typedef struct gf_edit_members {
    const uint32_t *clusters; /* n_clusters: ids */
    size_t n_clusters;
    bool ends;          /* all but the first end */
    gf_edit_member *at; /* n, by id */
    size_t n, capacity;
    gf_group_place *others; /* n_others, by id: as they are */
    size_t n_others, others_capacity;
} gf_edit_members;

/** Walk over the memberships; ids lie in the memory. */
gf_status gf_edit_members_read(gf_editing *e, gf_edit_members *m, gf_error *err);
void gf_edit_members_release(gf_edit_members *m);

/** Read the rows of all members, or of the one of that place, into the memory. */
gf_status gf_edit_members_read_rows(gf_editing *e, gf_edit_members *m, gf_error *err);
gf_status gf_edit_members_read_row(gf_editing *e, gf_edit_member *member, gf_error *err);

/** Groups that a regrouping made, to be put by gf_groups_put, and those that were there before. */
typedef struct gf_regrouped {
    gf_grouping before, after;
    uint32_t *ids; /* n_ids: the clusters that were concerned */
    size_t n_ids;
    uint64_t next_id; /* 0: as it was */
} gf_regrouped;

/**
 * Merge clusters into the first; cut a cluster into parts; move a document. In the editing's memory.
 *
 * @param edit  merge: cluster and others; split: cluster; others are set to the new ids; move: document, cluster
 */
gf_status gf_regroup_merge(gf_editing *e, const gf_edit *edit, gf_regrouped *out, gf_error *err);
gf_status gf_regroup_split(gf_editing *e, gf_edit *edit, uint32_t parts, gf_regrouped *out,
                           gf_error *err);
gf_status gf_regroup_move(gf_editing *e, const gf_edit *edit, gf_regrouped *out, gf_error *err);

/** Choose labels for new groups in place of the clusters of these ids, in the editing's memory. */
gf_status gf_edit_name(gf_editing *e, gf_group *groups, size_t n, const uint32_t *ids, size_t n_ids,
                       gf_error *err);

/**
 * The tree over the clusters as they are afterwards and the ids of its groups, as bytes in the
 * editing's memory: after->tree and after->group_ids.
 * @param before   the groups that were there in place of those of `after`: one of the two has one
 * @param centres  of all of them; ids and sizes: centres->k
 */
gf_status gf_edit_tree(gf_editing *e, const gf_grouping *before, gf_grouping *after,
                       const gf_centres *centres, const uint32_t *ids, const uint64_t *sizes,
                       gf_error *err);

/**
 * The first cluster id that was never used, by all builds of the configuration, and the key of its
 * newest build, which has to know of ids that are used.
 */
gf_status gf_edit_next_id(gf_editing *e, uint64_t *next_id, gf_buffer *newest, gf_error *err);

#endif
