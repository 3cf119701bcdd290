/* The clusters of a view's build, as the build wrote them. */
#include "engine/view/view.h"

#include "base/grow.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct cluster_walk {
    gf_view *view;
    size_t capacity;
} cluster_walk;

static gf_status add_cluster(void *context, const gf_row *row, gf_error *err)
{
    cluster_walk *w = context;
    gf_view *v = w->view;
    uint64_t id = 0, size;
    if (!gf_grow(&v->clusters, &w->capacity, v->n_clusters + 1, sizeof *v->clusters))
        return gf_fail_memory(err, "clusters");
    if (!gf_rows_cell_number(gf_row_find(row, GF_CLUSTERS_MAIN, "id"), &id) || id == 0 ||
        id > UINT32_MAX || !gf_rows_cell_number(gf_row_find(row, GF_CLUSTERS_MAIN, "size"), &size))
        return gf_fail(err, GF_ECORRUPT, "table clusters: a row is damaged");
    gf_buffer_reset(&v->text);
    gf_status st = gf_tables_key_last_string(v->store->tables.clusters, row->key, &v->text, err);
    if (st != GF_OK) return st;
    gf_slice label = gf_arena_copy(&v->memory, gf_buffer_view(&v->text));
    if (!label.ptr) return gf_fail_memory(err, "clusters");
    const gf_slice *pinned = gf_pins_label(&v->pins, (uint32_t)id);
    v->clusters[v->n_clusters++] =
        (gf_listed_cluster){(uint32_t)id, size, pinned ? *pinned : label, label};
    return GF_OK;
}

static int by_id(const void *a, const void *b)
{
    const gf_listed_cluster *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

gf_status gf_view_list_clusters(gf_view *v, gf_error *err)
{
    cluster_walk w = {.view = v};
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_CLUSTERS_MAIN,
                                        .prefix = gf_buffer_view(&v->key));
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

gf_listed_cluster *gf_view_find_cluster(const gf_view *v, uint32_t id)
{
    gf_listed_cluster key = {.id = id};
    if (id == 0 || v->n_clusters == 0) return NULL;
    return bsearch(&key, v->clusters, v->n_clusters, sizeof *v->clusters, by_id);
}

gf_status gf_view_take_terms(gf_json_parser *parser, gf_slice json, gf_term **terms, size_t *n,
                             gf_error *err)
{
    gf_json_value root, item, part;
    gf_slice name;
    size_t count = 0;
    gf_status st = gf_json_parse_copy(parser, json, &root, err);
    if (st == GF_EINVAL) return gf_fail(err, GF_ECORRUPT, "table clusters: terms are damaged");
    if (st != GF_OK) return st;
    gf_json_iterator it = gf_json_items(root);
    while (gf_json_next(&it, &name, &item))
        count++;
    gf_term *list = gf_calloc(count, sizeof *list);
    if (!list) return gf_fail_memory(err, "terms");
    it = gf_json_items(root);
    for (size_t i = 0; gf_json_next(&it, &name, &item); i++) {
        gf_json_iterator pair = gf_json_items(item);
        if (gf_json_next(&pair, &name, &part)) list[i].surface = gf_json_get_string(part);
        if (gf_json_next(&pair, &name, &part)) list[i].weight = (float)gf_json_number(part);
    }
    *terms = list;
    *n = count;
    return GF_OK;
}
