/*
 * The best documents of a cluster that are different: the walk over its ranking passes over copies,
 * as the build found them (engine/rows/copy_list.h).
 *
 * A copy whose different document was deleted since takes its place, and the next copies are then
 * its own: of each group the first that is still there is given, with the number of the others.
 */
#include "engine/view/view.h"

#include "base/memory.h"
#include "engine/rows/copy_list.h"

typedef struct different_walk {
    gf_view *view;
    const gf_listed_cluster *cluster;
    uint32_t n;      /* members, as the build wrote them */
    uint32_t *first; /* n, or NULL: none is a copy */
    uint32_t *there; /* n: of each group, by its first place, those that are still there */
    bool *given;     /* n: of each group, whether one of it was passed */
    gf_slice after;  /* rank behind which documents are given; empty: all */
    uint64_t left;
    gf_visit_member *visit;
    void *context;
    gf_row row;
} different_walk;

static gf_status read_copies(different_walk *w, gf_error *err)
{
    gf_view *v = w->view;
    gf_buffer_reset(&v->text);
    gf_copy_list_qualifier(&v->text, w->cluster->id);
    gf_status st = gf_buffer_check(&v->text, err);
    if (st == GF_OK)
        st = gf_table_get_cell(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                               GF_BUILDS_MODEL, gf_buffer_view(&v->text), 1, &v->row, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st != GF_OK) return st;
    uint64_t lost = v->deleted ? v->deleted->lost[w->cluster - v->clusters] : 0;
    if (w->cluster->size + lost > v->info.documents)
        return gf_fail(err, GF_ECORRUPT, "table clusters: a row is damaged");
    w->n = (uint32_t)(w->cluster->size + lost);
    w->first = gf_array(w->n, sizeof *w->first);
    w->there = gf_calloc(w->n, sizeof *w->there);
    w->given = gf_calloc(w->n, sizeof *w->given);
    if (!w->first || !w->there || !w->given) return gf_fail_memory(err, "near-duplicates");
    return gf_copy_list_read(v->row.cells[0].value, w->first, w->n, err);
}

typedef gf_status each_rank(different_walk *w, uint32_t place, gf_slice id, float score, bool *more,
                            gf_error *err);

static gf_status walk(different_walk *w, each_rank *each, gf_error *err)
{
    gf_view *v = w->view;
    gf_buffer key = {0};
    gf_scan *scan = NULL;
    bool more = true;
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), w->cluster->own_label);
    gf_status st = gf_buffer_check(&key, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_CLUSTERS_RANKED,
                                        .prefix = gf_buffer_view(&key), .keys_only = true);
    if (st == GF_OK) st = gf_scan_open(v->store->tables.clusters, &o, &scan, err);
    for (uint32_t place = 0; st == GF_OK && more; place++) {
        float score;
        gf_slice id;
        st = gf_scan_step(scan, &w->row, &more, err);
        if (st != GF_OK || !more) break;
        if (!gf_tables_rank_read(w->row.cells[0].qualifier, &score, &id) ||
            (w->first && place >= w->n))
            st = gf_fail(err, GF_ECORRUPT, "table clusters: a rank is damaged");
        else
            st = each(w, place, id, score, &more, err);
    }
    gf_scan_close(scan);
    gf_buffer_release(&key);
    return st;
}

static gf_status count_there(different_walk *w, uint32_t place, gf_slice id, float score,
                             bool *more, gf_error *err)
{
    (void)score, (void)more, (void)err;
    w->there[w->first[place]] += !gf_deleted_set_has(w->view->deleted, id);
    return GF_OK;
}

/* Count the members of each group: by their places alone where none of the cluster was deleted. */
static gf_status count_groups(different_walk *w, gf_error *err)
{
    gf_view *v = w->view;
    if (!w->first) return GF_OK;
    if (v->deleted && v->deleted->lost[w->cluster - v->clusters]) return walk(w, count_there, err);
    for (uint32_t i = 0; i < w->n; i++)
        w->there[w->first[i]]++;
    return GF_OK;
}

static gf_status give(different_walk *w, uint32_t place, gf_slice id, float score, bool *more,
                      gf_error *err)
{
    gf_membership m;
    uint32_t first = w->first ? w->first[place] : place;
    (void)score;
    if (gf_deleted_set_has(w->view->deleted, id)) return GF_OK;
    if (w->first && w->given[first]) return GF_OK;
    if (w->first) w->given[first] = true;
    if (w->after.len && gf_slice_compare(w->row.cells[0].qualifier, w->after) <= 0) return GF_OK;
    gf_status st = gf_view_membership(w->view, id, &m, err);
    if (st == GF_ENOTFOUND && !w->view->snapshot) return GF_OK; /* deleted just now */
    if (st == GF_ENOTFOUND)
        return gf_fail(err, GF_ECORRUPT, "a member of a cluster, \"%.*s\", is missing",
                       GF_SLICE_ARG(id));
    if (st != GF_OK) return st;
    m.copies = w->first ? w->there[first] - 1 : 0;
    *more = --w->left > 0;
    return w->visit(w->context, id, &m, err);
}

/* Copies of a candidate's documents are not counted: all are given. */
static gf_status visit_new(gf_view *v, uint32_t cluster, const different_walk *w, gf_error *err)
{
    gf_member_place after;
    gf_status st = gf_view_load_new(v, err);
    if (st != GF_OK) return st;
    const gf_new_candidate *c = gf_view_find_new(v, cluster);
    if (!c) return gf_fail(err, GF_ENOTFOUND, "there is no cluster %u", cluster);
    if (w->after.len) gf_tables_rank_read(w->after, &after.score, &after.id);
    return gf_view_visit_new_members(v, c, false, w->after.len ? &after : NULL, w->left, w->visit,
                                     w->context, err);
}

static gf_status visit_different(gf_view *v, uint32_t cluster, different_walk *w, gf_error *err)
{
    gf_status st = gf_view_load_clusters(v, err);
    if (st != GF_OK) return st;
    w->cluster = gf_view_find_cluster(v, cluster);
    if (!w->cluster) return visit_new(v, cluster, w, err);
    if (w->left == 0) w->left = UINT64_MAX;
    st = read_copies(w, err);
    if (st == GF_OK) st = count_groups(w, err);
    if (st == GF_OK) st = walk(w, give, err);
    gf_free(w->first);
    gf_free(w->there);
    gf_free(w->given);
    gf_row_release(&w->row);
    return st;
}

gf_status gf_view_different(gf_view *v, uint32_t cluster, uint64_t limit, gf_visit_member *visit,
                            void *context, gf_error *err)
{
    different_walk w = {.view = v, .visit = visit, .context = context, .left = limit};
    return visit_different(v, cluster, &w, err);
}

gf_status gf_view_different_after(gf_view *v, uint32_t cluster, float score, gf_slice id,
                                  uint64_t limit, gf_visit_member *visit, void *context,
                                  gf_error *err)
{
    gf_buffer after = {0};
    gf_tables_rank_write(&after, score, id);
    gf_status st = gf_buffer_check(&after, err);
    different_walk w = {.view = v,
                        .visit = visit,
                        .context = context,
                        .left = limit,
                        .after = gf_buffer_view(&after)};
    if (st == GF_OK) st = visit_different(v, cluster, &w, err);
    gf_buffer_release(&after);
    return st;
}
