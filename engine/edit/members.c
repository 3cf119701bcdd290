/* Members of clusters that are edited, read in one walk over the memberships, and their rows. */
#include "engine/edit/internal.h"

#include "base/grid.h"
#include "base/grow.h"
#include "base/memory.h"
#include "engine/rows/kept_rows.h"

typedef struct member_walk {
    gf_editing *e;
    gf_edit_members *m;
    gf_buffer id;
} member_walk;

static uint32_t place_of(const gf_edit_members *m, uint32_t cluster)
{
    for (size_t i = 0; i < m->n_clusters; i++)
        if (m->clusters[i] == cluster) return (uint32_t)i;
    return UINT32_MAX;
}

static gf_status add_other(member_walk *w, gf_slice id, const gf_membership_cells *cells,
                           gf_error *err)
{
    gf_edit_members *m = w->m;
    if (!gf_grow(&m->others, &m->others_capacity, m->n_others + 1, sizeof *m->others))
        return gf_fail_memory(err, "memberships");
    gf_slice copy = gf_arena_copy(&w->e->memory, id);
    if (!copy.ptr) return gf_fail_memory(err, "memberships");
    m->others[m->n_others++] = (gf_group_place){.id = copy,
                                                .cluster = cells->cluster,
                                                .runner_up = cells->runner_up,
                                                .score = cells->score,
                                                .second = cells->second};
    return GF_OK;
}

static gf_status add_member(member_walk *w, gf_slice id, const gf_membership_cells *cells,
                            uint32_t from, gf_error *err)
{
    gf_edit_members *m = w->m;
    if (!gf_grow(&m->at, &m->capacity, m->n + 1, sizeof *m->at))
        return gf_fail_memory(err, "memberships");
    gf_edit_member *at = &m->at[m->n];
    *at = (gf_edit_member){.id = gf_arena_copy(&w->e->memory, id),
                           .cells = *cells,
                           .from = from,
                           .gone = gf_deleted_set_has(w->e->view->deleted, id),
                           .score = cells->score,
                           .second = cells->second,
                           .runner_up = cells->runner_up};
    if (!at->id.ptr) return gf_fail_memory(err, "memberships");
    at->cells.vector = (gf_slice){0};
    m->n++;
    return GF_OK;
}

static gf_status look_at(void *context, const gf_row *row, gf_error *err)
{
    member_walk *w = context;
    gf_view *v = w->e->view;
    gf_membership_cells cells;
    gf_slice id;
    gf_status st = gf_tables_key_rest_string(v->store->tables.memberships, row->key, v->key.len,
                                             &w->id, &id, err);
    if (st == GF_OK) st = gf_tables_membership_read(row, GF_MEMBERSHIPS_MAIN, &cells, err);
    if (st != GF_OK) return st;
    uint32_t from = cells.cluster ? place_of(w->m, cells.cluster) : UINT32_MAX;
    if (from != UINT32_MAX) return add_member(w, id, &cells, from, err);
    uint32_t next = w->m->ends && cells.runner_up ? place_of(w->m, cells.runner_up) : 0;
    return next != 0 && next != UINT32_MAX ? add_other(w, id, &cells, err) : GF_OK;
}

gf_status gf_edit_members_read(gf_editing *e, gf_edit_members *m, gf_error *err)
{
    gf_view *v = e->view;
    member_walk w = {.e = e, .m = m};
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_MEMBERSHIPS_MAIN,
                                        .prefix = gf_buffer_view(&v->key));
    gf_status st = gf_scan_each(v->store->tables.memberships, &o, look_at, &w, err);
    gf_buffer_release(&w.id);
    return st;
}

void gf_edit_members_release(gf_edit_members *m)
{
    gf_free(m->at);
    gf_free(m->others);
    m->at = NULL;
    m->others = NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Given rows are on the grid as they are clustered; those of texts are there already. */
static gf_status keep_row(gf_editing *e, gf_row_view row, gf_edit_member *member, gf_error *err)
{
    uint32_t n = 0;
    uint32_t *col = gf_arena_alloc(&e->memory, (row.n + 1) * sizeof *col);
    float *val = gf_arena_alloc(&e->memory, (row.n + 1) * sizeof *val);
    if (!col || !val) return gf_fail_memory(err, "rows");
    for (uint32_t i = 0; i < row.n; i++) {
        float value = gf_grid_round((double)row.val[i]);
        if (value == 0) continue;
        col[n] = row.col ? row.col[i] : i;
        val[n++] = value;
    }
    member->row = (gf_row_view){col, val, n};
    return GF_OK;
}

/* The row that a text has by the build's analysis. */
static gf_status read_text_row(gf_editing *e, gf_edit_member *member, gf_error *err)
{
    gf_view *v = e->view;
    gf_document d;
    gf_field *fields = NULL;
    gf_row_view row = {NULL, NULL, 0};
    uint64_t seq;
    gf_status st =
        gf_state_document_row(v->state, member->id, &v->document_row, &d, &fields, &seq, err);
    if (st == GF_OK) st = gf_view_row_of(v, &d, &row, err);
    if (st == GF_OK) st = keep_row(e, row, member, err);
    gf_free(fields);
    return st;
}

static gf_status read_kept_row(gf_editing *e, gf_kept_rows *kept, gf_edit_member *member,
                               gf_error *err)
{
    gf_row_view row;
    gf_vector *unit = &e->view->vector;
    gf_status st = gf_kept_rows_find(kept, member->id, &row, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st == GF_OK) st = gf_vector_take(unit, row, err);
    return st == GF_OK ? keep_row(e, gf_vector_row(unit), member, err) : st;
}

static gf_status open_kept(gf_view *v, gf_kept_rows *kept, gf_error *err)
{
    gf_status st =
        gf_kept_rows_open(kept, v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key), err);
    if (st == GF_OK && kept->n_cols > v->info.terms)
        return gf_fail(err, GF_ECORRUPT, "the rows that a build keeps are wider than its centres");
    if (st != GF_ENOTFOUND) return st;
    return gf_fail(err, GF_ECONFLICT,
                   "this build of a matrix keeps no rows, so that its clusters cannot be merged or "
                   "split; rebuild it with the matrix first");
}

static gf_status read_each(gf_editing *e, gf_edit_member *members, size_t n, gf_error *err)
{
    gf_view *v = e->view;
    gf_kept_rows kept = {.n = 0};
    bool texts = v->info.rows == GF_ROWS_OF_TEXTS;
    gf_status st = gf_view_load_analysis(v, err);
    if (st == GF_OK && !texts) st = open_kept(v, &kept, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        if (members[i].gone) continue;
        st = texts ? read_text_row(e, &members[i], err) : read_kept_row(e, &kept, &members[i], err);
    }
    gf_kept_rows_release(&kept);
    return st;
}

gf_status gf_edit_members_read_row(gf_editing *e, gf_edit_member *member, gf_error *err)
{
    return read_each(e, member, 1, err);
}

gf_status gf_edit_members_read_rows(gf_editing *e, gf_edit_members *m, gf_error *err)
{
    return read_each(e, m->at, m->n, err);
}
