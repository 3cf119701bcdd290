/* A build as a map: its rows, as export gives them, laid out by cluster/map. */
#include "engine/view/view.h"

#include "base/memory.h"
#include "base/pool.h"
#include "cluster/map/map.h"
#include "grouperfish/matrix.h"

/* Ids of clusters to rows of the centres; of a document that is in none, n_clusters. */
static void number_clusters(gf_build_matrix *m)
{
    for (uint32_t i = 0; i < m->rows.n_rows; i++) {
        uint32_t low = 0, high = m->n_clusters;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (m->cluster[middle] < m->label[i])
                low = middle + 1;
            else
                high = middle;
        }
        bool found = low < m->n_clusters && m->cluster[low] == m->label[i];
        m->label[i] = found ? low : m->n_clusters;
    }
}

static gf_status split_places(const gf_map_place *place, uint32_t n, gf_build_map *map,
                              gf_error *err)
{
    float *x = gf_array((size_t)n + 1, sizeof *x), *y = gf_array((size_t)n + 1, sizeof *y);
    if (!x || !y) {
        gf_free(x);
        gf_free(y);
        return gf_fail_memory(err, "a map");
    }
    for (uint32_t i = 0; i < n; i++) {
        x[i] = place[i].x;
        y[i] = place[i].y;
    }
    *map = (gf_build_map){n, x, y};
    return GF_OK;
}

gf_status gf_view_read_map(gf_view *view, unsigned threads, const gf_cancel *cancel,
                           gf_build_map *map, gf_error *err)
{
    gf_build_matrix m = {0};
    gf_pool *pool = NULL;
    gf_map_place *place = NULL;
    if (view->info.rows != GF_ROWS_OF_TEXTS && view->info.rows != GF_ROWS_SPARSE)
        return gf_fail(err, GF_ECONFLICT,
                       "this build clusters dense vectors, and a map finds neighbours by the terms "
                       "that rows share: name a configuration of texts");
    gf_status st = gf_view_read_matrix(view, cancel, &m, err);
    if (st != GF_OK) return st;
    number_clusters(&m);
    place = gf_array((size_t)m.rows.n_rows + 1, sizeof *place);
    st = place ? gf_pool_create(threads, &pool, err) : gf_fail_memory(err, "a map");
    if (st == GF_OK)
        st = gf_map_lay_out(pool, &m.rows, m.label, &m.centroids, 0, cancel, place, NULL, err);
    if (st == GF_OK) st = split_places(place, m.rows.n_rows, map, err);
    gf_pool_free(pool);
    gf_free(place);
    gf_build_matrix_release(&m);
    return st;
}

void gf_build_map_release(gf_build_map *map)
{
    gf_free(map->x);
    gf_free(map->y);
    *map = (gf_build_map){.n = 0};
}
