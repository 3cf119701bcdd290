/*
 * Documents of a view's build that have been deleted since.
 *
 * The changes after the build name them, and the collection's seq says how far the changes go. So
 * the set that one view has found is kept beside the list of clusters, with that seq. A view of the
 * same seq shares it as it is; a later one looks at the changes in between:
 *
 *     build's seq . . . . . . . . . . . seq of the kept set . . . . . . . view's seq
 *                  found by an earlier view                looked at by this one
 *
 * Where there are no snapshots, changes that the seq does not count yet are looked at, too: they are
 * there before any document goes, and documents are read as they are.
 *
 * A view whose snapshot is older than the kept set finds its own. Without the kept set every read of
 * a cluster would walk over all documents that came or went in its collection since the build.
 *
 * A set has only ids of the build, each with the cluster that it was in. Documents without terms
 * are members of no cluster, and left out.
 */
#include "engine/view/view.h"

#include "base/memory.h"

typedef struct deleted_walk {
    gf_view *view;
    const gf_deleted_set *before; /* NULL: none */
    gf_strings touched;           /* ids that were deleted, or came back */
    bool *there;                  /* touched.n: whether they are, in the view's snapshot */
    bool differs;                 /* from the set before */
    gf_row row;
} deleted_walk;

/* ---- changes --------------------------------------------------------------------------------- */

static gf_status look_at_change(void *context, const gf_row *row, gf_error *err)
{
    deleted_walk *w = context;
    uint32_t number;
    const gf_cell *id = gf_row_find(row, GF_CHANGES_MAIN, "id");
    const gf_cell *operation = gf_row_find(row, GF_CHANGES_MAIN, "operation");
    if (!id || !operation) return gf_fail(err, GF_ECORRUPT, "table changes: a row is damaged");
    if (!gf_slice_equal(operation->value, GF_SLICE("delete")) &&
        !gf_deleted_set_has(w->before, id->value))
        return GF_OK;
    return gf_strings_add(&w->touched, id->value, &number, NULL, err);
}

static gf_status look_for_documents(deleted_walk *w, gf_error *err)
{
    gf_status st = GF_OK;
    w->there = gf_calloc(w->touched.n + 1, sizeof *w->there);
    if (!w->there) return gf_fail_memory(err, "clusters");
    for (uint32_t i = 0; i < w->touched.n; i++) {
        gf_slice id = gf_strings_at(&w->touched, i);
        st = gf_state_row(w->view->state, id, &w->row, err);
        if (st != GF_OK && st != GF_ENOTFOUND) return st;
        w->there[i] = st == GF_OK;
        w->differs |= w->there[i] == gf_deleted_set_has(w->before, id);
    }
    return GF_OK;
}

/* ---- a new set ------------------------------------------------------------------------------- */

/* A document that was put and deleted after the build is in none of its clusters. */
static gf_status add_touched(deleted_walk *w, gf_deleted_set *set, gf_slice id, gf_error *err)
{
    gf_membership_cells m;
    gf_status st = gf_view_read_cells(w->view, id, &m, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st != GF_OK) return st;
    const gf_listed_cluster *c = gf_view_find_cluster(w->view, m.cluster);
    return c ? gf_deleted_set_add(set, id, (uint32_t)(c - w->view->clusters), err) : GF_OK;
}

static gf_status fill_set(deleted_walk *w, gf_deleted_set *set, gf_error *err)
{
    const gf_deleted_set *before = w->before;
    gf_status st = GF_OK;
    for (uint32_t i = 0; before && i < before->ids.n && st == GF_OK; i++) {
        gf_slice id = gf_strings_at(&before->ids, i);
        uint32_t touched = gf_strings_find(&w->touched, id);
        bool back = touched != GF_STRING_NONE && w->there[touched];
        if (!back) st = gf_deleted_set_add(set, id, before->cluster[i], err);
    }
    for (uint32_t i = 0; i < w->touched.n && st == GF_OK; i++) {
        gf_slice id = gf_strings_at(&w->touched, i);
        if (!w->there[i] && !gf_deleted_set_has(before, id)) st = add_touched(w, set, id, err);
    }
    return st;
}

/* The set as of the view's seq, from that of an earlier one; *made is NULL where it is the same. */
static gf_status find_deleted(gf_view *v, uint64_t seq, const gf_deleted_set *before,
                              gf_deleted_set **made, gf_error *err)
{
    deleted_walk w = {.view = v, .before = before};
    gf_deleted_set *set = NULL;
    gf_status st = gf_view_each_change_after(v, seq, look_at_change, &w, err);
    if (st == GF_OK && w.touched.n) st = look_for_documents(&w, err);
    if (st == GF_OK && w.differs) {
        set = gf_deleted_set_create(w.touched.n + (before ? before->ids.n : 0), v->n_clusters);
        st = set ? fill_set(&w, set, err) : gf_fail_memory(err, "clusters");
    }
    if (st != GF_OK) {
        gf_deleted_set_drop(set);
        set = NULL;
    }
    *made = set;
    gf_free(w.there);
    gf_strings_release(&w.touched);
    gf_row_release(&w.row);
    return st;
}

gf_status gf_view_load_deleted(gf_view *v, gf_error *err)
{
    gf_deleted_set *made = NULL;
    uint64_t seq = v->info.seq;
    gf_deleted_set_drop(v->deleted); /* of a call before that failed */
    v->deleted = NULL;
    if (v->list) seq = gf_cluster_cache_deleted(v->list, v->seq, &v->deleted);
    /* Without a snapshot what is just being put is seen as well, before the seq counts it. */
    if (seq >= v->seq && v->snapshot) return GF_OK;
    gf_status st = find_deleted(v, seq, v->deleted, &made, err);
    if (st != GF_OK) return st;
    if (made) {
        gf_deleted_set_drop(v->deleted);
        v->deleted = made;
    }
    if (v->list) gf_cluster_cache_keep_deleted(v->list, v->seq, v->deleted);
    return GF_OK;
}
