/*
 * Edits taken back: out of the served build, where what was before is kept, or as facts that the next rebuild undoes.
 * What is made again, behind one that was taken out or in a build that was begun before, goes by the same steps.
 */
#include "engine/edit/edit.h"

#include "engine/edit/internal.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "engine/store/hold.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- taking back ----------------------------------------------------------------------------- */

/* Whether an edit, by its place, was made on the served build, and is in it. */
static bool is_in_build(const gf_editing *e, size_t at)
{
    const gf_edit *x = &e->edits.at[at].edit;
    return gf_edit_changes_groups(x) && e->view && x->build == e->view->info.build;
}

/* The next later edit of the same label, flag or state; NULL: there is none. */
static gf_kept_edit *next_of_kind(gf_editing *e, size_t at)
{
    const gf_edit *x = &e->edits.at[at].edit;
    for (size_t i = at + 1; i < e->edits.n; i++) {
        const gf_edit *y = &e->edits.at[i].edit;
        if (y->kind == x->kind && y->cluster == x->cluster) return &e->edits.at[i];
    }
    return NULL;
}

/*
 * Each part of a state that the edit set goes back to what it was: with the cluster now, or, where a later
 * edit has set that part, up to it. That edit remembers it then.
 */
static gf_status restore_state(gf_editing *e, size_t at, gf_error *err)
{
    gf_kept_edit *kept = &e->edits.at[at];
    const gf_cluster_state *now = gf_pins_state(&e->pins, kept->edit.cluster);
    gf_cluster_state state = now ? *now : gf_edit_no_state;
    gf_status st = GF_OK;
    for (size_t p = 0; p < GF_EDIT_PARTS_OF_STATE; p++) {
        gf_slice set = *gf_edit_part_of_state(&kept->edit.state, p);
        gf_slice was = *gf_edit_part_of_state(&kept->was.state, p);
        bool holds = true;
        if (gf_slice_equal(set, was)) continue;
        for (gf_kept_edit *y = kept; holds && (y = next_of_kind(e, (size_t)(y - e->edits.at)));) {
            gf_slice *later = gf_edit_part_of_state(&y->edit.state, p);
            *gf_edit_part_of_state(&y->was.state, p) = was;
            holds = gf_slice_equal(*later, set);
            if (holds) *later = was;
        }
        if (holds) *gf_edit_part_of_state(&state, p) = was;
    }
    for (gf_kept_edit *y = kept; st == GF_OK && (y = next_of_kind(e, (size_t)(y - e->edits.at)));)
        st = gf_edits_put(e->store, e->where, e->configuration, y, e->batch, err);
    return st == GF_OK ? gf_pins_set_state(&e->pins, kept->edit.cluster, &state, err) : st;
}

/* The label, flag or state of before comes back; a later edit of the same remembers it instead. */
static gf_status restore_pins(gf_editing *e, size_t at, gf_error *err)
{
    gf_kept_edit *kept = &e->edits.at[at], *next = next_of_kind(e, at);
    const gf_edit *x = &kept->edit;
    const gf_edit_was *was = &kept->was;
    if (x->kind == GF_EDIT_STATE) return restore_state(e, at, err);
    if (next) {
        next->was = *was;
        return gf_edits_put(e->store, e->where, e->configuration, next, e->batch, err);
    }
    switch (x->kind) {
    case GF_EDIT_LABEL:
        return gf_edit_pin_label(e, x->cluster, was->label, GF_ECONFLICT, err);
    case GF_EDIT_HIDE:
        return gf_pins_set_hidden(&e->pins, x->cluster, was->flag, err);
    case GF_EDIT_LOCK:
        return gf_pins_set_locked(&e->pins, x->cluster, was->flag, err);
    default:
        return GF_OK;
    }
}

static bool names(const gf_edit *e, uint32_t cluster)
{
    bool any = e->cluster == cluster;
    for (size_t i = 0; i < e->n_others; i++)
        any = any || e->others[i] == cluster;
    return any;
}

/* A document that was moved, and is kept where it is then, cannot go back. */
static gf_status check_kept(const gf_editing *e, size_t at, gf_error *err)
{
    const gf_edit *x = &e->edits.at[at].edit;
    for (size_t i = at + 1; i < e->edits.n && x->kind == GF_EDIT_MOVE; i++) {
        const gf_edit *y = &e->edits.at[i].edit;
        if (!gf_slice_equal(y->document, x->document)) continue;
        if (y->kind == GF_EDIT_MOVE) return GF_OK;
        return gf_fail(err, GF_ECONFLICT, "edit %" PRIu64 " keeps it there: undo %" PRIu64 " first",
                       y->number, y->number);
    }
    return GF_OK;
}

/* The topic that holds again without the edit; NULL: there is none. */
static const gf_edit *find_coming_topic(const gf_editing *e, size_t at)
{
    const gf_edit *x = &e->edits.at[at].edit;
    for (size_t i = e->edits.n; i-- > 0 && x->kind == GF_EDIT_TOPIC;) {
        const gf_edit *y = &e->edits.at[i].edit;
        if (i != at && y->kind == GF_EDIT_TOPIC && gf_utf8_same_letters(x->text, y->text))
            return !y->off && i < at ? y : NULL;
    }
    return NULL;
}

/* A topic comes back only while its name is free, and its cluster was not merged into another. */
static gf_status check_topic(const gf_editing *e, size_t at, gf_error *err)
{
    const gf_edit *x = &e->edits.at[at].edit, *back = find_coming_topic(e, at);
    size_t now =
        x->kind == GF_EDIT_TOPIC && x->off ? gf_edits_find_topic(&e->edits, x->text) : e->edits.n;
    if (now < e->edits.n)
        return gf_fail(err, GF_ECONFLICT,
                       "there is a topic \"%.*s\" again since: delete it first (edit %" PRIu64 ")",
                       GF_SLICE_ARG(x->text), e->edits.at[now].edit.number);
    if (!back) return GF_OK;
    for (size_t i = 0; i < e->edits.n && back->cluster; i++) {
        const gf_edit *y = &e->edits.at[i].edit;
        for (size_t o = 0; o < y->n_others && y->kind == GF_EDIT_MERGE; o++)
            if (y->others[o] == back->cluster)
                return gf_fail(err, GF_ECONFLICT,
                               "cluster %" PRIu32
                               ", which the topic \"%.*s\" had, was merged into cluster %" PRIu32
                               ": undo %" PRIu64 " first",
                               back->cluster, GF_SLICE_ARG(back->text), y->cluster, y->number);
    }
    return gf_edit_check_pinned(e, back->text, back->cluster, GF_ECONFLICT, err);
}

/* Clusters that a split made must be nobody's any more; those that a merge ended come back. */
static gf_status check_later(const gf_editing *e, size_t at, gf_error *err)
{
    const gf_edit *x = &e->edits.at[at].edit;
    for (size_t i = at + 1; i < e->edits.n && x->kind == GF_EDIT_SPLIT; i++) {
        const gf_edit *y = &e->edits.at[i].edit;
        for (size_t o = 0; o < x->n_others; o++)
            if (names(y, x->others[o]))
                return gf_fail(err, GF_ECONFLICT,
                               "edit %" PRIu64 " is about cluster %" PRIu32 ", which edit %" PRIu64
                               " made: undo %" PRIu64 " first",
                               y->number, x->others[o], x->number, y->number);
    }
    return GF_OK;
}

/* The groups as they were before the edit, in the editing's memory; *there: they are kept. */
static gf_status read_before(gf_editing *e, const gf_edit *x, gf_grouping *before, bool *there,
                             gf_error *err)
{
    gf_row row = {0};
    gf_slice bytes = {0};
    gf_status st = gf_edits_read_before(e->store, e->where, e->configuration, x->number, &row, err);
    *there = st == GF_OK;
    if (st == GF_OK) {
        bytes = gf_arena_copy(&e->memory, row.cells[0].value);
        st = bytes.ptr ? gf_groups_read(bytes, &e->memory, before, err)
                       : gf_fail_memory(err, "an edit");
    }
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* The groups are put as they were; the clusters of the edit go. */
static gf_status restore_groups(gf_editing *e, const gf_edit *x, gf_error *err)
{
    gf_grouping before;
    bool there;
    size_t n = 0;
    gf_status st = read_before(e, x, &before, &there, err);
    if (st != GF_OK || !there) return st; /* it was lost, or the document was there already */
    uint32_t *ids = gf_arena_alloc(&e->memory, (before.n + x->n_others + 1) * sizeof *ids);
    if (!ids) return gf_fail_memory(err, "an edit");
    ids[n++] = x->cluster;
    for (size_t i = 0; i < x->n_others; i++)
        ids[n++] = x->others[i];
    for (size_t i = 0; i < before.n && x->kind == GF_EDIT_MOVE; i++)
        if (before.at[i].id != x->cluster) ids[n++] = before.at[i].id;
    st = gf_groups_put(e->view, ids, n, &before, 0, e->batch, err);
    if (st == GF_OK)
        st = gf_edits_delete_before(e->store, e->where, e->configuration, x->number, e->batch, err);
    return st;
}

/* No cluster that comes back may have the label that was pinned to another one meanwhile. */
static gf_status check_labels(const gf_editing *e, const gf_grouping *before, gf_error *err)
{
    for (size_t i = 0; i < before->n; i++) {
        const gf_group *g = &before->at[i];
        const gf_slice *pinned = gf_pins_kept_label(&e->pins, g->id);
        gf_slice label = pinned ? *pinned : g->label;
        for (size_t j = 0; j < e->pins.n_labels; j++) {
            const gf_pinned_label *other = &e->pins.labels[j];
            if (other->cluster == g->id || !gf_view_find_cluster(e->view, other->cluster) ||
                !gf_utf8_same_letters(other->label, label))
                continue;
            return gf_fail(err, GF_ECONFLICT,
                           "cluster %" PRIu32
                           ", which comes back, is called \"%.*s\", as cluster %" PRIu32
                           " is now: rename that one first",
                           g->id, GF_SLICE_ARG(label), other->cluster);
        }
    }
    return GF_OK;
}

/* The place that a document goes back to with the edit; NULL: it stays where it is. */
static const gf_group_place *find_before(const gf_grouping *before, gf_slice id)
{
    for (size_t i = 0; i < before->n_places; i++)
        if (gf_slice_equal(before->places[i].id, id)) return &before->places[i];
    return NULL;
}

/* A document that is kept in the cluster that the edit brought it to cannot go back with the others. */
static gf_status check_kept_after(const gf_editing *e, size_t at, const gf_grouping *before,
                                  gf_error *err)
{
    for (size_t i = at + 1; i < e->edits.n; i++) {
        const gf_edit *x = &e->edits.at[i].edit;
        const gf_group_place *back =
            x->kind == GF_EDIT_KEEP ? find_before(before, x->document) : NULL;
        bool moved = false; /* by hand, and so it does not go back */
        for (size_t j = at + 1; j < e->edits.n && back; j++)
            moved = moved || (e->edits.at[j].edit.kind == GF_EDIT_MOVE &&
                              gf_slice_equal(e->edits.at[j].edit.document, x->document));
        if (!back || moved ||
            gf_edits_called_after(&e->edits, at, back->cluster) ==
                gf_edits_called_after(&e->edits, i, x->cluster))
            continue;
        return gf_fail(err, GF_ECONFLICT,
                       "document \"%.*s\" would go back to cluster %" PRIu32 ", and edit %" PRIu64
                       " keeps it in cluster %" PRIu32 ": undo %" PRIu64 " first",
                       GF_SLICE_ARG(x->document), back->cluster, x->number, x->cluster, x->number);
    }
    return GF_OK;
}

/*
 * Whether the edit, and later ones for it, can be taken out of the served build. Where what was before is kept
 * no longer, as after a purge, only the fact can go.
 */
static gf_status look_before(gf_editing *e, size_t at, bool *restorable, gf_error *err)
{
    gf_status st = GF_OK;
    *restorable = is_in_build(e, at);
    for (size_t i = at; i < e->edits.n && *restorable && st == GF_OK; i++) {
        const gf_edit *x = &e->edits.at[i].edit;
        gf_grouping before = {.n = 0};
        bool there;
        if (!is_in_build(e, i)) continue;
        st = read_before(e, x, &before, &there, err);
        /* A later move may have found its document there already. */
        if (st == GF_OK && !there) {
            *restorable = x->lost.len || (i > at && x->kind == GF_EDIT_MOVE);
        } else if (st == GF_OK && i == at) {
            st = check_labels(e, &before, err);
            if (st == GF_OK) st = check_kept_after(e, at, &before, err);
        }
    }
    return st;
}

/*
 * Write what has gathered, and read the state that came of it. The pins count each step, so that nothing
 * that was cached of one is taken for another.
 */
static gf_status go_on(gf_editing *e, gf_error *err)
{
    e->pins.edited++;
    gf_status st = gf_edit_put_pins(e, err);
    if (st == GF_OK) st = gf_batch_write(e->batch, GF_SYNC_ON, err);
    gf_view_close(e->view);
    e->view = NULL;
    return st == GF_OK ? gf_edit_open_view(e, err) : st;
}

/* Take later edits on the build out of it, the last one first; the facts stay. */
static gf_status take_out_later(gf_editing *e, size_t at, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = e->edits.n; i-- > at + 1 && st == GF_OK;) {
        if (!is_in_build(e, i)) continue;
        st = restore_groups(e, &e->edits.at[i].edit, err);
        if (st == GF_OK) st = go_on(e, err);
    }
    return st;
}

/* Make an edit under its number; where it cannot be made any more, say why in the fact and nothing else. */
static gf_status make_again(gf_editing *e, gf_kept_edit *kept, bool *lost, gf_error *err)
{
    gf_edit *x = &kept->edit;
    gf_error why = {GF_OK, ""};
    gf_edit_request r = GF_EDIT_REQUEST(.kind = x->kind, .parts = 1 + (uint32_t)x->n_others);
    e->again = true;
    gf_status st = gf_edit_make_kind(e, &r, kept, &why);
    e->again = false;
    *lost = false;
    if (st == GF_OK) {
        x->lost = GF_SLICE("");
        return GF_OK;
    }
    if (st == GF_ENOMEM || st == GF_EIO || st == GF_ECORRUPT) {
        if (err) *err = why;
        return st;
    }
    gf_batch_reset(e->batch);
    *lost = true;
    x->lost = gf_arena_copy(&e->memory, gf_slice_str(why.message));
    return x->lost.ptr ? GF_OK : gf_fail_memory(err, "an edit");
}

/* A split that cannot be made again is lost with all that was said of the clusters that it made. */
static gf_status lose_with_split(gf_editing *e, size_t at, gf_error *err)
{
    const gf_edit *split = &e->edits.at[at].edit;
    gf_status st = GF_OK;
    for (size_t i = at + 1; i < e->edits.n && st == GF_OK; i++) {
        gf_edit *x = &e->edits.at[i].edit;
        char text[80];
        bool made = false;
        for (size_t o = 0; o < split->n_others; o++)
            made = made || x->cluster == split->others[o];
        if (!made || gf_edit_changes_groups(x) || x->lost.len) continue;
        snprintf(text, sizeof text, "cluster %" PRIu32 ", which edit %" PRIu64 " made, is gone",
                 x->cluster, split->number);
        x->lost = gf_arena_copy(&e->memory, gf_slice_str(text));
        st = x->lost.ptr ? gf_edits_put(e->store, e->where, e->configuration, &e->edits.at[i],
                                        e->batch, err)
                         : gf_fail_memory(err, "an edit");
    }
    return st;
}

/* Make later edits again, the first one first, under their numbers. */
static gf_status make_later(gf_editing *e, size_t at, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = at + 1; i < e->edits.n && st == GF_OK; i++) {
        gf_kept_edit *kept = &e->edits.at[i];
        bool lost;
        if (!is_in_build(e, i)) continue;
        st = make_again(e, kept, &lost, err);
        if (st == GF_OK)
            st = gf_edits_put(e->store, e->where, e->configuration, kept, e->batch, err);
        if (st == GF_OK && lost && kept->edit.kind == GF_EDIT_SPLIT)
            st = lose_with_split(e, i, err);
        if (st == GF_OK) st = go_on(e, err);
        if (st != GF_OK)
            gf_error_prefix(err, "edit %" PRIu64 ", which is made again", kept->edit.number);
    }
    return st;
}

static gf_status find_edit(const gf_editing *e, uint64_t number, size_t *at, gf_error *err)
{
    if (e->edits.n == 0) return gf_fail(err, GF_ENOTFOUND, "there is no edit to undo");
    *at = e->edits.n - 1;
    if (number == 0) return GF_OK;
    for (*at = 0; *at < e->edits.n; ++*at)
        if (e->edits.at[*at].edit.number == number) return GF_OK;
    return gf_fail(err, GF_ENOTFOUND, "there is no edit %" PRIu64, number);
}

static bool has_later(const gf_editing *e, size_t at)
{
    for (size_t i = at + 1; i < e->edits.n; i++)
        if (is_in_build(e, i)) return true;
    return false;
}

/*
 * An edit stays in a build though its fact is of that build no longer. What was before earlier ones on the build
 * goes: who takes one of them out later, when the build is served again, would put clusters back beside those
 * that this edit made. An edit without a state of before is not in the build, or the earlier ones have none either.
 */
static gf_status close_earlier(gf_editing *e, const gf_edit *stays, int64_t build, gf_error *err)
{
    gf_row row = {0};
    gf_status st =
        gf_edits_read_before(e->store, e->where, e->configuration, stays->number, &row, err);
    gf_row_release(&row);
    if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
    for (size_t i = 0; i < e->edits.n && st == GF_OK; i++) {
        const gf_edit *x = &e->edits.at[i].edit;
        if (x->number < stays->number && x->build == build)
            st = gf_edits_delete_before(e->store, e->where, e->configuration, x->number, e->batch,
                                        err);
    }
    return st;
}

/*
 * Forget an edit that was taken back. Where a build has its effect, or will have it, a merge or a split stays as
 * one that the next rebuild undoes.
 */
static gf_status forget_edit(gf_editing *e, gf_kept_edit *kept, bool in_effect, gf_error *err)
{
    const gf_edit *x = &kept->edit;
    bool stays = in_effect && !x->lost.len && gf_edit_sides(x) > 1;
    if (!stays) return gf_edits_delete(e->store, e->where, e->configuration, x, e->batch, err);
    kept->taken_back = true;
    gf_status st =
        gf_edits_delete_before(e->store, e->where, e->configuration, x->number, e->batch, err);
    return st == GF_OK ? gf_edits_put(e->store, e->where, e->configuration, kept, e->batch, err)
                       : st;
}

/*
 * Take an edit, with its pins restored in the batch, out of the served build. Where later ones are made again
 * that goes by steps: until all are done a rebuild is owed, which obeys those that the build does not have.
 */
static gf_status take_out(gf_editing *e, size_t at, bool *waits, gf_error *err)
{
    const gf_edit *x = &e->edits.at[at].edit;
    bool later = has_later(e, at);
    gf_lease_owner owner;
    gf_status st = gf_edit_find_rebuild(e, &owner, err);
    bool rebuilt = owner.living;
    *waits = rebuilt;
    if (*waits) e->pins.owed = e->pins.edited + 1;
    uint64_t owed = e->pins.owed;
    if (later) e->pins.owed = e->pins.edited + 1;
    if (st == GF_OK) st = take_out_later(e, at, err);
    if (st == GF_OK) st = restore_groups(e, x, err);
    if (st == GF_OK) st = forget_edit(e, &e->edits.at[at], rebuilt, err);
    if (st == GF_OK) st = go_on(e, err);
    if (st == GF_OK) st = make_later(e, at, err);
    if (st != GF_OK || !later) return st;
    e->pins.owed = owed;
    return go_on(e, err);
}

/* Take back an edit that is not in the build; *waits: that shows only after a rebuild. */
static gf_status take_back_fact(gf_editing *e, size_t at, bool *waits, gf_error *err)
{
    const gf_edit *x = &e->edits.at[at].edit;
    bool label = false;
    gf_status st =
        x->kind == GF_EDIT_LABEL ? gf_edit_is_of_build(e, x->cluster, x->text, &label, err) : GF_OK;
    if (st == GF_OK) st = restore_pins(e, at, err);
    if (st == GF_OK) st = close_earlier(e, x, x->build, err);
    if (st == GF_OK) st = forget_edit(e, &e->edits.at[at], true, err);
    if (st != GF_OK) return st;
    *waits = gf_edit_changes_groups(x) || x->kind == GF_EDIT_KEEP || x->kind == GF_EDIT_LOCK ||
             x->kind == GF_EDIT_TOPIC || (label && !gf_pins_kept_label(&e->pins, x->cluster));
    e->pins.edited++;
    /* Topics are compared with those of the build. */
    if ((*waits || label) && x->kind != GF_EDIT_TOPIC) e->pins.owed = e->pins.edited;
    st = gf_edit_put_pins(e, err);
    return st == GF_OK ? gf_batch_write(e->batch, GF_SYNC_ON, err) : st;
}

static gf_status undo(gf_editing *e, uint64_t number, bool *waits, gf_visit_edit *visit,
                      void *context, gf_error *err)
{
    size_t at = 0;
    gf_status st = gf_edit_begin(e, err);
    if (st == GF_OK) st = find_edit(e, number, &at, err);
    if (st == GF_OK && gf_collection_row_served(&e->row, e->configuration))
        st = gf_edit_open_view(e, err);
    bool in_build = false;
    if (st == GF_OK) st = check_later(e, at, err);
    if (st == GF_OK) st = check_kept(e, at, err);
    if (st == GF_OK) st = check_topic(e, at, err);
    if (st == GF_OK) st = look_before(e, at, &in_build, err);
    if (st != GF_OK) return st;
    const gf_edit *x = &e->edits.at[at].edit;
    *waits = false;
    st = in_build ? take_out(e, at, waits, err) : take_back_fact(e, at, waits, err);
    return st == GF_OK && visit ? visit(context, x, err) : st;
}

gf_status gf_edit_undo(gf_store *store, gf_place where, gf_slice configuration, uint64_t number,
                       bool *waits, gf_visit_edit *visit, void *context, gf_error *err)
{
    gf_editing e = {.store = store, .where = where, .configuration = configuration};
    bool own;
    gf_hold hold;
    gf_status st = gf_hold_collection(store, where, &hold, err);
    if (st == GF_OK) st = undo(&e, number, waits ? waits : &own, visit, context, err);
    gf_hold_let_go(&hold);
    gf_edit_release(&e);
    return st;
}

/* ---- after a rebuild ------------------------------------------------------------------------- */

/*
 * Make an edit in a build that was begun before it. The groups of before are those of the build that it
 * was made on: they go first, as a move that needs nothing now keeps none. Where the edit cannot be made
 * it stays one of the build that it was made on, so that undoing it leaves this one alone.
 */
static gf_status make_in_new_build(gf_editing *e, gf_kept_edit *kept, gf_error *err)
{
    gf_edit *x = &kept->edit;
    int64_t was = x->build;
    x->build = e->view->info.build;
    gf_status st = close_earlier(e, x, was, err);
    if (st == GF_OK)
        st = gf_edits_delete_before(e->store, e->where, e->configuration, x->number, e->batch, err);
    bool lost = false;
    if (st == GF_OK) st = make_again(e, kept, &lost, err);
    if (lost) x->build = was;
    if (st == GF_OK) st = gf_edits_put(e->store, e->where, e->configuration, kept, e->batch, err);
    return st == GF_OK ? go_on(e, err) : st;
}

gf_status gf_edits_catch_up(gf_store *store, gf_place where, gf_slice configuration, uint64_t since,
                            gf_error *err)
{
    gf_editing e = {.store = store, .where = where, .configuration = configuration};
    gf_status st = gf_edit_begin(&e, err);
    if (st == GF_OK) st = gf_edit_open_view(&e, err);
    for (size_t i = 0; i < e.edits.n && st == GF_OK; i++)
        if (e.edits.at[i].edit.number > since && gf_edit_changes_groups(&e.edits.at[i].edit))
            st = make_in_new_build(&e, &e.edits.at[i], err);
    gf_edit_release(&e);
    return st;
}
