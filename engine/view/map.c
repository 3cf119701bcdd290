/*
 * A build as a map: its rows laid out by cluster/map. Rows of texts are worked out by all threads
 * (text_rows.h), given ones are read as export gives them.
 */
#include "engine/view/text_rows.h"

#include "base/grow.h"
#include "base/lower_bound.h"
#include "base/memory.h"
#include "cluster/map/map.h"
#include "grouperfish/matrix.h"

typedef struct laying {
    gf_view *view;
    unsigned threads;
    const gf_cancel *cancel;
    gf_build_matrix m; /* clusters, centres, rows and their labels, then those as rows of centres */
    size_t start_capacity, label_capacity, col_capacity, val_capacity;
    gf_text_rows texts;
    uint32_t next; /* row of texts that no document was found for yet */
} laying;

/* A cluster's id to the row of its centre; n_clusters where there is none. */
static uint32_t number_of(const gf_build_matrix *m, uint32_t cluster)
{
    uint32_t low = gf_lower_bound(m->cluster, m->n_clusters, cluster);
    return low < m->n_clusters && m->cluster[low] == cluster ? low : m->n_clusters;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static gf_status add_row(laying *l, gf_row_view row, uint32_t cluster, gf_error *err)
{
    gf_build_matrix *m = &l->m;
    gf_csr *x = &m->rows;
    size_t at = x->start ? (size_t)x->start[x->n_rows] : 0;
    if (!gf_grow(&x->start, &l->start_capacity, (size_t)x->n_rows + 2, sizeof *x->start) ||
        !gf_grow(&m->label, &l->label_capacity, (size_t)x->n_rows + 1, sizeof *m->label) ||
        !gf_grow(&x->col, &l->col_capacity, at + row.n, sizeof *x->col) ||
        !gf_grow(&x->val, &l->val_capacity, at + row.n, sizeof *x->val))
        return gf_fail_memory(err, "a map");
    if (row.n) memcpy(x->col + at, row.col, row.n * sizeof *row.col);
    if (row.n) memcpy(x->val + at, row.val, row.n * sizeof *row.val);
    m->label[x->n_rows] = number_of(m, cluster);
    x->start[x->n_rows] = at;
    x->start[++x->n_rows] = at + row.n;
    return GF_OK;
}

/* A document of the build that its settings leave out by now: put anew, or of a cluster that went. */
static gf_status read_left_out(gf_view *v, gf_slice id, gf_row_view *row, gf_error *err)
{
    gf_document d;
    gf_field *fields = NULL;
    uint64_t seq;
    gf_status st = gf_state_document_row(v->state, id, &v->document_row, &d, &fields, &seq, err);
    if (st == GF_OK) st = gf_model_row(&v->model, d.language, d.text, row, err);
    gf_free(fields);
    return st;
}

/* Rows are by id, and so are members. Rows between are of documents that were put since. */
static gf_status find_row(void *context, gf_slice id, const gf_membership_cells *cells,
                          const gf_row *document, gf_error *err)
{
    laying *l = context;
    gf_row_view row;
    int order = 1;
    (void)document;
    while (l->next < l->texts.x.n_rows && (order = gf_slice_compare(l->texts.id[l->next], id)) < 0)
        l->next++;
    gf_status st = gf_cancel_check(l->cancel, err);
    if (st == GF_OK && order == 0)
        row = gf_csr_row(&l->texts.x, l->next++);
    else if (st == GF_OK)
        st = read_left_out(l->view, id, &row, err);
    return st == GF_OK ? add_row(l, row, cells->cluster, err) : st;
}

static gf_status read_texts(laying *l, gf_error *err)
{
    gf_build_matrix *m = &l->m;
    gf_model_workers workers;
    gf_status st = gf_view_read_centres(l->view, m, err);
    if (st != GF_OK) return st;
    st = gf_model_workers_init(&workers, &l->view->model, l->threads, err);
    if (st != GF_OK) return st;
    st = gf_text_rows_read(l->view, &workers, l->cancel, &l->texts, err);
    gf_model_workers_release(&workers);
    if (st == GF_OK) st = gf_view_each_member(l->view, find_row, l, err);
    gf_text_rows_release(&l->texts);
    return st;
}

static gf_status read_given(laying *l, gf_error *err)
{
    gf_build_matrix *m = &l->m;
    gf_status st = gf_view_read_matrix(l->view, l->cancel, m, err);
    for (uint32_t i = 0; i < m->rows.n_rows && st == GF_OK; i++)
        m->label[i] = number_of(m, m->label[i]);
    return st;
}

/* ---- places ---------------------------------------------------------------------------------- */

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

static gf_status lay_out(laying *l, gf_build_map *map, gf_error *err)
{
    const gf_build_matrix *m = &l->m;
    gf_pool *pool = NULL;
    gf_map_place *place = gf_array((size_t)m->rows.n_rows + 1, sizeof *place);
    gf_status st = place ? gf_pool_create(l->threads, &pool, err) : gf_fail_memory(err, "a map");
    if (st == GF_OK)
        st =
            gf_map_lay_out(pool, &m->rows, m->label, &m->centroids, 0, l->cancel, place, NULL, err);
    if (st == GF_OK) st = split_places(place, m->rows.n_rows, map, err);
    gf_pool_free(pool);
    gf_free(place);
    return st;
}

gf_status gf_view_read_map(gf_view *view, unsigned threads, const gf_cancel *cancel,
                           gf_build_map *map, gf_error *err)
{
    laying l = {.view = view, .threads = threads, .cancel = cancel};
    if (view->info.rows != GF_ROWS_OF_TEXTS && view->info.rows != GF_ROWS_SPARSE)
        return gf_fail(err, GF_ECONFLICT,
                       "this build clusters dense vectors, and a map finds neighbours by the terms "
                       "that rows share: name a configuration of texts");
    gf_status st = view->info.rows == GF_ROWS_OF_TEXTS ? read_texts(&l, err) : read_given(&l, err);
    if (st == GF_OK) st = lay_out(&l, map, err);
    gf_build_matrix_release(&l.m);
    return st;
}

void gf_build_map_release(gf_build_map *map)
{
    gf_free(map->x);
    gf_free(map->y);
    *map = (gf_build_map){.n = 0};
}
