/* The clusters of a view's build, and the changes since. */
#include "engine/view/view.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- changes --------------------------------------------------------------------------------- */

gf_status gf_view_each_change_after(gf_view *v, uint64_t seq, gf_each_row *each, void *context,
                                    gf_error *err)
{
    gf_buffer start = {0}, prefix = {0};
    gf_collection_key(&prefix, v->where.name_space, v->where.collection);
    gf_change_key(&start, v->where.name_space, v->where.collection, seq + 1);
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_buffer_check(&prefix, err);
    gf_scan_options o = {.snapshot = v->snapshot,
                         .family = GF_CHANGES_MAIN,
                         .prefix = gf_buffer_view(&prefix),
                         .start = gf_buffer_view(&start)};
    if (st == GF_OK) st = gf_scan_each(v->store->tables.changes, &o, each, context, err);
    gf_buffer_release(&start);
    gf_buffer_release(&prefix);
    return st;
}

gf_status gf_view_each_change(gf_view *v, gf_each_row *each, void *context, gf_error *err)
{
    return gf_view_each_change_after(v, v->info.seq, each, context, err);
}

/* ---- the list -------------------------------------------------------------------------------- */

typedef struct cluster_walk {
    gf_view *view;
    size_t capacity;
} cluster_walk;

static gf_status add_cluster(void *context, const gf_row *row, gf_error *err)
{
    cluster_walk *w = context;
    gf_view *v = w->view;
    uint64_t id = 0, size;
    if (v->n_clusters == w->capacity) {
        size_t capacity = w->capacity ? w->capacity * 2 : 32;
        gf_known_cluster *grown = gf_realloc(v->clusters, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "clusters");
        v->clusters = grown;
        w->capacity = capacity;
    }
    if (!gf_cell_number(gf_row_find(row, GF_CLUSTERS_MAIN, "id"), &id) || id == 0 ||
        id > UINT32_MAX || !gf_cell_number(gf_row_find(row, GF_CLUSTERS_MAIN, "size"), &size))
        return gf_fail(err, GF_ECORRUPT, "table clusters: a row is damaged");
    gf_buffer_reset(&v->text);
    gf_status st = gf_key_last_string(v->store->tables.clusters, row->key, &v->text, err);
    if (st != GF_OK) return st;
    gf_slice label = gf_arena_copy(&v->memory, gf_buffer_view(&v->text));
    if (!label.ptr) return gf_fail_memory(err, "clusters");
    const gf_slice *pinned = gf_pins_label(&v->pins, (uint32_t)id);
    v->clusters[v->n_clusters++] =
        (gf_known_cluster){(uint32_t)id, size, pinned ? *pinned : label, label};
    return GF_OK;
}

static int by_id(const void *a, const void *b)
{
    const gf_known_cluster *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

gf_status gf_view_list_clusters(gf_view *v, gf_error *err)
{
    cluster_walk w = {.view = v};
    gf_scan_options o = {
        .snapshot = v->snapshot, .family = GF_CLUSTERS_MAIN, .prefix = gf_buffer_view(&v->key)};
    v->n_clusters = 0;
    gf_status st = gf_scan_each(v->store->tables.clusters, &o, add_cluster, &w, err);
    if (st != GF_OK) return st;
    if (v->n_clusters) qsort(v->clusters, v->n_clusters, sizeof *v->clusters, by_id);
    for (size_t i = 1; i < v->n_clusters; i++)
        if (v->clusters[i - 1].id == v->clusters[i].id)
            return gf_fail(err, GF_ECORRUPT, "two clusters have the id %" PRIu32,
                           v->clusters[i].id);
    if (v->n_clusters == v->info.k) return GF_OK;
    return gf_fail(err, GF_ECORRUPT, "a build of %" PRIu32 " clusters has %zu", v->info.k,
                   v->n_clusters);
}

gf_known_cluster *gf_view_find(const gf_view *v, uint32_t id)
{
    gf_known_cluster key = {.id = id};
    if (id == 0 || v->n_clusters == 0) return NULL;
    return bsearch(&key, v->clusters, v->n_clusters, sizeof *v->clusters, by_id);
}

gf_status gf_view_know_clusters(gf_view *v, gf_error *err)
{
    bool taken = false;
    if (v->clusters_known) return GF_OK;
    gf_status st = gf_cluster_cache_take(v, &taken, err);
    if (st == GF_OK && !taken) st = gf_view_list_clusters(v, err);
    if (st == GF_OK && !taken) st = gf_cluster_cache_keep(v, err);
    if (st == GF_OK) st = gf_view_know_gone(v, err);
    v->clusters_known = st == GF_OK;
    return st;
}

static int by_falling_size(const void *a, const void *b, void *context)
{
    const gf_known_cluster *clusters = context;
    const gf_known_cluster *x = &clusters[*(const uint32_t *)a];
    const gf_known_cluster *y = &clusters[*(const uint32_t *)b];
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

gf_status gf_view_order_clusters(gf_view *v, gf_error *err)
{
    gf_status st = gf_view_know_clusters(v, err);
    if (st != GF_OK || v->by_size) return st;
    uint32_t *order = gf_array(v->n_clusters, sizeof *order);
    if (!order) return gf_fail_memory(err, "clusters");
    v->by_size = order;
    for (uint32_t i = 0; i < v->n_clusters; i++)
        order[i] = i;
    qsort_r(order, v->n_clusters, sizeof *order, by_falling_size, v->clusters);
    return GF_OK;
}
