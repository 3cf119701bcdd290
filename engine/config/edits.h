/**
 * Edits of a configuration as they are kept: three wide families of the collection's row, whose cells
 * go with it.
 *
 *     edits      configuration, number           what was done, JSON (below)
 *     witnesses  configuration, number, side     ids of documents that stand for a group: for each varint
 *                                                length and bytes, the id empty where a purge forgot it.
 *                                                Side 0 is the cluster that the edit is of; of a merge
 *                                                1... are the others, of a split the new ones. Side
 *                                                GF_EDIT_CENTRE is a locked cluster's centre: for each
 *                                                term its text (length and bytes) and weight (float, u32 BE)
 *     before     configuration, number           the groups as they were before (engine/edit/groups.h)
 *
 * A qualifier is the configuration as a string of a key, and the number, 8 bytes, big-endian; of
 * witnesses then the side, 4 bytes.
 *
 *     {"kind": "merge", "cluster": 3, "others": [9], "when": 1795181177213, "build": 1795181177000,
 *      "by": "ann", "reason": "one and the same", "lost": "no document of cluster 9 is left"}
 *
 * and, each where it is there: "off", "document", "text", "state", "was" (what a label, a flag or a state
 * was before). "taken_back": a merge or a split that was undone, of which the served build has the effect; the
 * next rebuild undoes that by the witnesses, and then forgets it. A topic has its name in "text", "words", "field", and as "like" the number of its examples,
 * which are the witnesses of side 0; "cluster" is 0 until it has one.
 */
#ifndef GF_ENGINE_CONFIG_EDITS_H
#define GF_ENGINE_CONFIG_EDITS_H

#include "base/arena.h"
#include "engine/store/store_internal.h"
#include "grouperfish/edits.h"

enum { GF_EDIT_WITNESSES = 1000 /* at most, of each side */ };
#define GF_EDIT_CENTRE UINT32_MAX

/** The label, flag or state before the edit. */
typedef struct gf_edit_was {
    bool flag;
    gf_slice label;
    gf_cluster_state state;
} gf_edit_was;

/** An edit that is kept; in the list's memory. */
typedef struct gf_kept_edit {
    gf_edit edit;
    gf_edit_was was;
    bool taken_back;
} gf_kept_edit;

/** The edits of a configuration, oldest first. {0} to begin with. */
typedef struct gf_kept_edits {
    gf_kept_edit *at; /* n: those that hold */
    size_t n, capacity;
    gf_kept_edit *back; /* n_back: those that were taken back, and that a rebuild has to undo */
    size_t n_back, back_capacity;
    gf_arena memory;
} gf_kept_edits;

gf_status gf_edits_read(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                        gf_slice configuration, gf_kept_edits *out, gf_error *err);
void gf_edits_release(gf_kept_edits *edits);

/** The number of the last edit, by the pins or by the list, where pins were lost as of a row that was repaired. */
uint64_t gf_edits_last_number(const gf_kept_edits *edits, uint64_t pinned);

/** Put an edit's cell, delete all that is kept of it, delete what it was before. */
gf_status gf_edits_put(gf_store *store, gf_place where, gf_slice configuration,
                       const gf_kept_edit *edit, gf_batch *batch, gf_error *err);
gf_status gf_edits_delete(gf_store *store, gf_place where, gf_slice configuration,
                          const gf_edit *edit, gf_batch *batch, gf_error *err);
gf_status gf_edits_delete_before(gf_store *store, gf_place where, gf_slice configuration,
                                 uint64_t number, gf_batch *batch, gf_error *err);

/** Put and read a side's witnesses, or the groups as they were; GF_ENOTFOUND, without a message. */
gf_status gf_edits_put_side(gf_store *store, gf_place where, gf_slice configuration,
                            uint64_t number, uint32_t side, gf_slice bytes, gf_batch *batch,
                            gf_error *err);
gf_status gf_edits_read_side(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                             gf_slice configuration, uint64_t number, uint32_t side, gf_row *row,
                             gf_error *err);
gf_status gf_edits_put_before(gf_store *store, gf_place where, gf_slice configuration,
                              uint64_t number, gf_slice bytes, gf_batch *batch, gf_error *err);
gf_status gf_edits_read_before(gf_store *store, gf_place where, gf_slice configuration,
                               uint64_t number, gf_row *row, gf_error *err);

/** Append those ids, each with its length, whose documents are there; *any: some are not. */
gf_status gf_edits_keep_living(gf_store *store, gf_place where, gf_slice ids, gf_buffer *left,
                               bool *any, gf_error *err);

/** Put the witnesses of an edit again, empty ids in place of those whose documents are gone. */
gf_status gf_edits_forget_witnesses(gf_store *store, gf_place where, gf_slice configuration,
                                    const gf_edit *edit, gf_batch *batch, gf_error *err);

/** Delete the edits of a configuration, which is deleted. */
gf_status gf_edits_delete_all(gf_store *store, gf_place where, gf_slice configuration,
                              gf_batch *batch, gf_error *err);

/**
 * Whether a topic, by its place in the list, was added, and nothing was said of its name since, neither that it
 * ends nor that another has it (deletions may be undone in any order); the place of the one of that
 * name, in whatever case, or edits->n.
 */
bool gf_edits_topic_holds(const gf_kept_edits *edits, size_t at);
size_t gf_edits_find_topic(const gf_kept_edits *edits, gf_slice name);

/** The place of the topic that holds and has this cluster; edits->n: there is none. */
size_t gf_edits_topic_of(const gf_kept_edits *edits, uint32_t cluster);

/** The id of a cluster that the edit at that place names, after the merges behind it. */
uint32_t gf_edits_called_after(const gf_kept_edits *edits, size_t at, uint32_t id);

/** The numbers of the topics that hold, with commas between: what a build keeps of those that it obeyed. */
gf_status gf_edits_list_topics(const gf_kept_edits *edits, gf_buffer *out, gf_error *err);

/** Whether clusters have other documents by the edit. */
static inline bool gf_edit_changes_groups(const gf_edit *e)
{
    return e->kind == GF_EDIT_MERGE || e->kind == GF_EDIT_SPLIT || e->kind == GF_EDIT_MOVE;
}

/** Sides that an edit has witnesses of: 1, and the others'. */
static inline size_t gf_edit_sides(const gf_edit *e)
{
    bool several = e->kind == GF_EDIT_MERGE || e->kind == GF_EDIT_SPLIT;
    return several ? 1 + e->n_others : 1;
}

#endif
