/* The clusters of a view's build without the documents that have been deleted since. */
#include "base/memory.h"
#include "cluster/label/labels.h"
#include "engine/view/view.h"

#include <stdlib.h>

/* The list that another view has read; *found is false where there is none. */
static gf_status take_cached(gf_view *v, bool *found, gf_error *err)
{
    gf_cluster_list *list =
        gf_cluster_cache_find(v->store->cluster_cache, gf_buffer_view(&v->key), &v->info);
    *found = list;
    if (!list) return GF_OK;
    gf_cluster_cache_drop(v->list);
    v->list = list;
    size_t n;
    const gf_listed_cluster *clusters = gf_cluster_cache_clusters(list, &n);
    gf_listed_cluster *copy = gf_realloc(v->clusters, n, sizeof *copy);
    if (!copy) return gf_fail_memory(err, "clusters");
    v->clusters = copy;
    v->n_clusters = n;
    for (size_t i = 0; i < n; i++) {
        const gf_slice *pinned = gf_pins_label(&v->pins, clusters[i].id);
        copy[i] = clusters[i];
        if (pinned) copy[i].label = *pinned;
    }
    return GF_OK;
}

static gf_status list_and_keep(gf_view *v, gf_error *err)
{
    gf_status st = gf_view_list_clusters(v, err);
    if (st != GF_OK) return st;
    gf_cluster_cache_drop(v->list);
    return gf_cluster_cache_add(v->store->cluster_cache, gf_buffer_view(&v->key), &v->info,
                                v->clusters, v->n_clusters, &v->list, err);
}

gf_status gf_view_load_clusters(gf_view *v, gf_error *err)
{
    bool cached;
    if (v->clusters_loaded) return GF_OK;
    gf_status st = take_cached(v, &cached, err);
    if (st == GF_OK && !cached) st = list_and_keep(v, err);
    if (st == GF_OK) st = gf_view_load_deleted(v, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; v->deleted && i < v->n_clusters; i++) {
        uint64_t *size = &v->clusters[i].size, lost = v->deleted->lost[i];
        *size -= lost < *size ? lost : *size;
    }
    v->clusters_loaded = true;
    return GF_OK;
}

gf_status gf_view_documents_left(gf_view *v, uint64_t *documents, gf_error *err)
{
    gf_status st = gf_view_load_clusters(v, err);
    if (st != GF_OK) return st;
    uint64_t deleted = v->deleted ? v->deleted->ids.n : 0;
    *documents = v->info.documents - (deleted < v->info.documents ? deleted : v->info.documents);
    return GF_OK;
}

/* Clusters without a subject come last. */
static int by_falling_size(const void *a, const void *b, void *context)
{
    const gf_listed_cluster *clusters = context;
    const gf_listed_cluster *x = &clusters[*(const uint32_t *)a];
    const gf_listed_cluster *y = &clusters[*(const uint32_t *)b];
    bool mixed = gf_label_is_mixed(x->label);
    if (mixed != gf_label_is_mixed(y->label)) return mixed ? 1 : -1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

gf_status gf_view_order_clusters(gf_view *v, gf_error *err)
{
    gf_status st = gf_view_load_clusters(v, err);
    if (st != GF_OK || v->by_size) return st;
    uint32_t *order = gf_array(v->n_clusters, sizeof *order);
    if (!order) return gf_fail_memory(err, "clusters");
    v->by_size = order;
    for (uint32_t i = 0; i < v->n_clusters; i++)
        order[i] = i;
    qsort_r(order, v->n_clusters, sizeof *order, by_falling_size, v->clusters);
    return GF_OK;
}
