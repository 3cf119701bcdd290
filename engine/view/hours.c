#include "engine/view/hours.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"
#include "engine/rows/hours.h"

#include <stdlib.h>

typedef struct hour_counting {
    gf_view *view;
    const gf_cancel *cancel;
    gf_hour_counts *out;
    size_t n_kept;      /* of out: as the build wrote them, by cluster and hour */
    size_t n_cells;     /* of the build that were read */
    gf_strings touched; /* ids of changes since the build */
} hour_counting;

void gf_hour_counts_release(gf_hour_counts *c)
{
    gf_free(c->at);
    gf_free(c->undated);
    *c = (gf_hour_counts){0};
}

static gf_status add_count(hour_counting *c, gf_hour_count count, gf_error *err)
{
    gf_hour_counts *out = c->out;
    if (!gf_grow(&out->at, &out->capacity, out->n + 1, sizeof *out->at))
        return gf_fail_memory(err, "trends");
    out->at[out->n++] = count;
    return GF_OK;
}

static gf_status add_document(hour_counting *c, uint32_t place, int32_t hour, gf_error *err)
{
    if (hour != GF_NO_HOUR) return add_count(c, (gf_hour_count){place, hour, 1}, err);
    c->out->undated[place]++;
    return GF_OK;
}

/* A cluster's place plus 1; 0 for no cluster. */
static uint32_t place_of(const gf_view *v, uint32_t id)
{
    const gf_listed_cluster *cluster = gf_view_find_cluster(v, id);
    return cluster ? (uint32_t)(cluster - v->clusters) + 1 : 0;
}

/* ---- as the build wrote them ----------------------------------------------------------------- */

static gf_status read_cell(void *context, const gf_row *row, gf_error *err)
{
    hour_counting *c = context;
    const gf_cell *cell = &row->cells[0];
    gf_hours hours;
    uint32_t id;
    bool more = true;
    gf_status st = gf_cancel_check(c->cancel, err);
    if (st == GF_OK) st = gf_hours_begin(&hours, cell->value, err);
    if (st != GF_OK) return st;
    if (!gf_hours_cluster(cell->qualifier, &id)) return GF_OK;
    uint32_t place = place_of(c->view, id);
    if (id && !place)
        return gf_fail(err, GF_ECORRUPT, "a build's documents by hour are of no cluster of it");
    c->n_cells++;
    c->out->undated[place] = hours.undated;
    while (st == GF_OK && (st = gf_hours_next(&hours, &more, err)) == GF_OK && more)
        st = add_count(c, (gf_hour_count){place, hours.hour, hours.documents}, err);
    return st;
}

/* Cells come by id, as the view's clusters do: what is read is in order. */
static gf_status read_kept(hour_counting *c, gf_error *err)
{
    gf_view *v = c->view;
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_BUILDS_MODEL,
                                        .prefix = gf_buffer_view(&v->key),
                                        .qualifier_prefix = GF_SLICE(GF_HOURS_PREFIX));
    gf_status st = gf_scan_each(v->store->tables.builds, &o, read_cell, c, err);
    c->n_kept = c->out->n;
    return st;
}

static int by_cluster_and_hour(const void *a, const void *b)
{
    const gf_hour_count *x = a, *y = b;
    if (x->cluster != y->cluster) return x->cluster < y->cluster ? -1 : 1;
    return x->hour < y->hour ? -1 : x->hour > y->hour;
}

/* Take a document out of the counts that the build wrote. */
static gf_status take_out(hour_counting *c, uint32_t place, const gf_membership_cells *m,
                          gf_error *err)
{
    gf_hour_counts *out = c->out;
    gf_hour_count key = {.cluster = place, .hour = m->hour};
    if (!m->dated && out->undated[place]) {
        out->undated[place]--;
        return GF_OK;
    }
    gf_hour_count *found = m->dated && c->n_kept
                               ? bsearch(&key, out->at, c->n_kept, sizeof key, by_cluster_and_hour)
                               : NULL;
    if (!found || found->documents == 0)
        return gf_fail(err, GF_ECORRUPT, "a build's documents by hour lack one of its documents");
    found->documents--;
    return GF_OK;
}

/* ---- what has changed since ------------------------------------------------------------------ */

static gf_status note_change(void *context, const gf_row *row, gf_error *err)
{
    hour_counting *c = context;
    uint32_t number;
    const gf_cell *id = gf_row_find(row, GF_CHANGES_MAIN, "id");
    if (!id) return gf_fail(err, GF_ECORRUPT, "table changes: a row is damaged");
    gf_status st = gf_cancel_check(c->cancel, err);
    return st == GF_OK ? gf_strings_add(&c->touched, id->value, &number, NULL, err) : st;
}

/* A document that the build has is taken out, and counted as it is now, if it is there. */
static gf_status count_again(hour_counting *c, gf_slice id, gf_error *err)
{
    gf_view *v = c->view;
    gf_membership_cells m;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_cancel_check(c->cancel, err);
    if (st != GF_OK) return st;
    st = gf_view_read_cells(v, id, &m, &why);
    if (st == GF_ENOTFOUND) return GF_OK;
    uint32_t place = st == GF_OK ? place_of(v, m.cluster) : 0;
    if (st == GF_OK) st = take_out(c, place, &m, &why);
    if (st == GF_OK) {
        st = gf_state_row(v->state, id, &v->document_row, &why);
        if (st == GF_ENOTFOUND) return GF_OK;
    }
    if (st == GF_OK) return add_document(c, place, gf_hours_of_row(&v->document_row), err);
    if (err) *err = why;
    return st;
}

static gf_status count_changes(hour_counting *c, gf_error *err)
{
    gf_status st = gf_view_each_change(c->view, note_change, c, err);
    for (uint32_t i = 0; i < c->touched.n && st == GF_OK; i++)
        st = count_again(c, gf_strings_at(&c->touched, i), err);
    gf_strings_release(&c->touched);
    return st;
}

/* ---- a walk over all ------------------------------------------------------------------------- */

static gf_status count_member(void *context, gf_slice id, const gf_membership_cells *cells,
                              const gf_row *document, gf_error *err)
{
    hour_counting *c = context;
    (void)id;
    gf_status st = gf_cancel_check(c->cancel, err);
    if (st != GF_OK) return st;
    return add_document(c, place_of(c->view, cells->cluster), gf_hours_of_row(document), err);
}

static gf_status walk_members(hour_counting *c, gf_error *err)
{
    gf_hour_counts *out = c->out;
    out->n = 0;
    for (size_t i = 0; i <= c->view->n_clusters; i++)
        out->undated[i] = 0;
    return gf_view_each_member(c->view, count_member, c, err);
}

gf_status gf_view_count_hours(gf_view *v, const gf_cancel *cancel, gf_hour_counts *out,
                              gf_error *err)
{
    hour_counting c = {.view = v, .cancel = cancel, .out = out};
    gf_status st = gf_view_load_clusters(v, err);
    if (st != GF_OK) return st;
    out->undated = gf_calloc(v->n_clusters + 1, sizeof *out->undated);
    if (!out->undated) return gf_fail_memory(err, "trends");
    st = read_kept(&c, err);
    if (st != GF_OK) return st;
    /* Each change is looked up; a walk reads one row after the other, which is faster for many. */
    bool few = v->seq - v->info.seq <= v->info.documents / 2;
    return c.n_cells == v->n_clusters + 1 && few ? count_changes(&c, err) : walk_members(&c, err);
}
