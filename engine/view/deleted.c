/*
 * Documents of a view's build that have been deleted since.
 *
 * The changes after the build name them, and the collection's seq tells how far these go. So what
 * one view has found is kept beside the list of clusters, with that seq, and a view of the same
 * seq takes it as it is; a later one looks at the changes that came in between:
 *
 *     build's seq . . . . . . . . . . . seq of what is kept . . . . . . . view's seq
 *                  found by an earlier view                looked at by this one
 *
 * A view whose snapshot is older than what is kept finds its own. Without that every read of a
 * cluster walked over all that came or went in its collection since the build.
 *
 * What is kept never changes: what differs is made anew. It has an id of the build only, each in
 * the cluster that it was in; those without terms are in none, and are no one's member.
 */
#include "engine/view/view.h"

#include "base/memory.h"

typedef struct gone_walk {
    gf_view *view;
    const gf_gone *before; /* NULL: nobody had gone */
    gf_strings touched;    /* ids that were deleted, or came back */
    bool *there;           /* touched.n: whether they are, in the view's snapshot */
    bool differs;          /* from what was before */
    gf_buffer key;
    gf_row row;
} gone_walk;

/* ---- one set --------------------------------------------------------------------------------- */

bool gf_gone_has(const gf_gone *g, gf_slice id)
{
    return g && gf_strings_find(&g->ids, id) != GF_STRING_NONE;
}

void gf_gone_free(gf_gone *g)
{
    if (!g) return;
    gf_strings_release(&g->ids);
    gf_free(g->place);
    gf_free(g->lost);
    gf_free(g);
}

static gf_gone *create(uint32_t most, size_t n_clusters)
{
    gf_gone *g = gf_calloc(1, sizeof *g);
    if (!g) return NULL;
    g->users = 1;
    g->place = gf_array(most, sizeof *g->place);
    g->lost = gf_calloc(n_clusters + 1, sizeof *g->lost);
    if (g->place && g->lost) return g;
    gf_gone_free(g);
    return NULL;
}

static gf_status add(gf_gone *g, gf_slice id, uint32_t place, gf_error *err)
{
    uint32_t number;
    gf_status st = gf_strings_add(&g->ids, id, &number, NULL, err);
    if (st != GF_OK) return st;
    g->place[number] = place;
    g->lost[place]++;
    return GF_OK;
}

/* ---- what has changed ------------------------------------------------------------------------ */

static gf_status look_at_change(void *context, const gf_row *row, gf_error *err)
{
    gone_walk *w = context;
    uint32_t number;
    const gf_cell *id = gf_row_find(row, GF_CHANGES_MAIN, "id");
    const gf_cell *operation = gf_row_find(row, GF_CHANGES_MAIN, "operation");
    if (!id || !operation) return gf_fail(err, GF_ECORRUPT, "table changes: a row is damaged");
    if (!gf_slice_equal(operation->value, GF_SLICE("delete")) && !gf_gone_has(w->before, id->value))
        return GF_OK;
    return gf_strings_add(&w->touched, id->value, &number, NULL, err);
}

static gf_status look_for_document(gone_walk *w, uint32_t i, gf_error *err)
{
    gf_view *v = w->view;
    gf_slice id = gf_strings_at(&w->touched, i);
    gf_buffer_reset(&w->key);
    gf_document_key(&w->key, v->where.name_space, v->where.collection, id);
    gf_status st = gf_buffer_check(&w->key, err);
    if (st == GF_OK)
        st = gf_table_get(v->store->tables.documents, v->snapshot, gf_buffer_view(&w->key),
                          1u << GF_DOCUMENTS_MAIN, &w->row, err);
    w->there[i] = st == GF_OK;
    w->differs |= w->there[i] == gf_gone_has(w->before, id);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status look_for_documents(gone_walk *w, gf_error *err)
{
    w->there = gf_calloc(w->touched.n + 1, sizeof *w->there);
    gf_status st = w->there ? GF_OK : gf_fail_memory(err, "clusters");
    for (uint32_t i = 0; i < w->touched.n && st == GF_OK; i++)
        st = look_for_document(w, i, err);
    return st;
}

/* ---- anew ------------------------------------------------------------------------------------ */

/* One that was put and deleted after the build is in none of its clusters. */
static gf_status add_touched(gone_walk *w, gf_gone *g, gf_slice id, gf_error *err)
{
    gf_membership_cells m;
    gf_status st = gf_view_read_cells(w->view, id, &m, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    const gf_known_cluster *c = st == GF_OK ? gf_view_find(w->view, m.cluster) : NULL;
    return c ? add(g, id, (uint32_t)(c - w->view->clusters), err) : st;
}

static gf_status fill(gone_walk *w, gf_gone *g, gf_error *err)
{
    const gf_gone *before = w->before;
    gf_status st = GF_OK;
    for (uint32_t i = 0; before && i < before->ids.n && st == GF_OK; i++) {
        gf_slice id = gf_strings_at(&before->ids, i);
        uint32_t touched = gf_strings_find(&w->touched, id);
        bool back = touched != GF_STRING_NONE && w->there[touched];
        if (!back) st = add(g, id, before->place[i], err);
    }
    for (uint32_t i = 0; i < w->touched.n && st == GF_OK; i++) {
        gf_slice id = gf_strings_at(&w->touched, i);
        if (!w->there[i] && !gf_gone_has(before, id)) st = add_touched(w, g, id, err);
    }
    return st;
}

static gf_status make_anew(gone_walk *w, gf_gone **made, gf_error *err)
{
    uint32_t most = w->touched.n + (w->before ? w->before->ids.n : 0);
    gf_gone *g = create(most, w->view->n_clusters);
    if (!g) return gf_fail_memory(err, "clusters");
    gf_status st = fill(w, g, err);
    if (st == GF_OK)
        *made = g;
    else
        gf_gone_free(g);
    return st;
}

/* ---- the view's ------------------------------------------------------------------------------ */

/* What has gone between that seq and the view's; *made stays NULL where nothing has changed. */
static gf_status find(gf_view *v, uint64_t seq, const gf_gone *before, gf_gone **made,
                      gf_error *err)
{
    gone_walk w = {.view = v, .before = before};
    gf_status st = gf_view_each_change_after(v, seq, look_at_change, &w, err);
    if (st == GF_OK && w.touched.n) st = look_for_documents(&w, err);
    if (st == GF_OK && w.differs) st = make_anew(&w, made, err);
    gf_free(w.there);
    gf_strings_release(&w.touched);
    gf_row_release(&w.row);
    gf_buffer_release(&w.key);
    return st;
}

gf_status gf_view_know_gone(gf_view *v, gf_error *err)
{
    gf_gone *made = NULL;
    gf_cluster_cache_let_gone_go(v); /* where a call before has failed */
    uint64_t seq = gf_cluster_cache_take_gone(v);
    gf_status st = seq < v->seq ? find(v, seq, v->gone, &made, err) : GF_OK;
    if (st != GF_OK) return st;
    if (made) {
        gf_cluster_cache_let_gone_go(v);
        v->gone = made;
    }
    if (seq < v->seq) gf_cluster_cache_keep_gone(v);
    for (size_t i = 0; v->gone && i < v->n_clusters; i++) {
        uint64_t *size = &v->clusters[i].size, lost = v->gone->lost[i];
        *size -= lost < *size ? lost : *size;
    }
    return GF_OK;
}
