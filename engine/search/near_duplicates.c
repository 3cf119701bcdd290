/*
 * Groups of near-duplicates among the documents of a collection:
 *
 *     1. all texts are read and analysed again, by all threads: the build's index has weights of a byte, and
 *        nothing of documents put since, while to analyse a short text costs about as much as to
 *        take its row out of postings
 *     2. the rows, in the order of time, are grouped (cluster/near/duplicates.h)
 *     3. documents of the groups that are shown are read once more
 *
 * All is of one snapshot.
 */
#include "engine/search/internal.h"

#include "base/memory.h"
#include "base/options.h"
#include "cluster/near/duplicates.h"
#include "engine/view/text_rows.h"

#include <stdlib.h>

typedef struct grouping {
    const gf_near_duplicates_options *options;
    gf_view *view;
    gf_model_workers workers;
    gf_text_rows rows;
    uint32_t *order; /* rows.x.n_rows: by time, then by id */
    uint32_t *rank;  /* rows.x.n_rows: the place in it */
    gf_duplicates found;
    gf_strings changed; /* ids put or deleted after the build, where they are asked for */
} grouping;

/* ---- order ----------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b, void *context)
{
    const grouping *g = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (g->rows.moment[x] != g->rows.moment[y])
        return g->rows.moment[x] < g->rows.moment[y] ? -1 : 1;
    return x < y ? -1 : x > y; /* rows come by id */
}

static gf_status order_rows(grouping *g, gf_error *err)
{
    uint32_t n = g->rows.x.n_rows;
    g->order = gf_array(n, sizeof *g->order);
    g->rank = gf_array(n, sizeof *g->rank);
    if (!g->order || !g->rank) return gf_fail_memory(err, "near-duplicates");
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        g->order[i] = i;
        if (i && g->rows.moment[i] < g->rows.moment[i - 1]) sorted = false;
    }
    if (!sorted) qsort_r(g->order, n, sizeof *g->order, by_time, g);
    for (uint32_t i = 0; i < n; i++)
        g->rank[g->order[i]] = i;
    return GF_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

typedef struct group {
    uint32_t row; /* the representative */
    uint32_t first, size;
    bool fresh; /* one of them was put after the build */
} group;

static int by_size(const void *a, const void *b, void *context)
{
    const grouping *g = context;
    const group *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return g->rank[x->row] < g->rank[y->row] ? -1 : g->rank[x->row] > g->rank[y->row];
}

/* The representative is before a member that equals it. */
static int by_score(const void *a, const void *b, void *context)
{
    const grouping *g = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double p = g->found.cosine[x], q = g->found.cosine[y];
    if (p != q) return p > q ? -1 : 1;
    return g->rank[x] < g->rank[y] ? -1 : g->rank[x] > g->rank[y];
}

static gf_status visit_document(grouping *g, uint32_t row, gf_near_duplicate *hit, gf_row *cells,
                                gf_visit_near_duplicate *visit, void *context, gf_error *err)
{
    gf_document document;
    gf_field *fields = NULL;
    gf_membership m;
    bool placed;
    gf_status st = gf_cancel_check(g->options->cancel, err);
    if (st == GF_OK)
        st = gf_search_read_placed(g->view, g->rows.id[row], cells, &document, &fields, &m, &placed,
                                   err);
    if (st != GF_OK) return st;
    hit->document = &document;
    hit->score = g->found.cosine[row];
    hit->membership = placed ? &m : NULL;
    hit->representative = g->found.of[row] == row;
    st = visit(context, hit, err);
    gf_free(fields);
    return st;
}

static gf_status visit_groups(grouping *g, const group *groups, uint32_t n, uint32_t *members,
                              gf_visit_near_duplicate *visit, void *context, gf_error *err)
{
    const gf_near_duplicates_options *o = g->options;
    gf_near_duplicate hit = {.groups = g->found.groups, .copies = g->found.copies};
    gf_row cells = {0};
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < n && st == GF_OK && (!o->limit || hit.group < o->limit); i++) {
        if (o->fresh && !groups[i].fresh) continue;
        uint32_t shown = groups[i].size;
        hit.group++;
        hit.size = shown;
        qsort_r(members + groups[i].first, shown, sizeof *members, by_score, g);
        if (o->members && o->members < shown) shown = (uint32_t)o->members;
        for (uint32_t m = 0; m < shown && st == GF_OK; m++)
            st = visit_document(g, members[groups[i].first + m], &hit, &cells, visit, context, err);
    }
    gf_row_release(&cells);
    return st;
}

/* Members by group, groups by size. */
static gf_status list_groups(grouping *g, gf_visit_near_duplicate *visit, void *context,
                             gf_error *err)
{
    const gf_duplicates *d = &g->found;
    uint32_t n = d->groups, at = 0, first = 0;
    uint32_t *place = gf_array(d->n, sizeof *place); /* of a representative's group, from 1 on */
    group *groups = gf_calloc(n, sizeof *groups);
    uint32_t *members = gf_array((size_t)n + d->copies, sizeof *members);
    gf_status st =
        place && groups && members ? GF_OK : gf_fail_memory(err, "groups of near-duplicates");
    if (st == GF_OK) memset(place, 0, d->n * sizeof *place);
    for (uint32_t i = 0; i < d->n && st == GF_OK; i++) {
        if (d->of[i] == i) continue;
        if (!place[d->of[i]]) {
            groups[at] = (group){.row = d->of[i], .size = 1};
            place[d->of[i]] = ++at;
        }
        groups[place[d->of[i]] - 1].size++;
    }
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        groups[i].first = first;
        first += groups[i].size;
        groups[i].size = 0;
    }
    for (uint32_t i = 0; i < d->n && st == GF_OK; i++) {
        if (!place[d->of[i]]) continue;
        group *own = &groups[place[d->of[i]] - 1];
        members[own->first + own->size++] = i;
        own->fresh |= gf_strings_find(&g->changed, g->rows.id[i]) != GF_STRING_NONE;
    }
    if (st == GF_OK) {
        if (n) qsort_r(groups, n, sizeof *groups, by_size, g);
        st = visit_groups(g, groups, n, members, visit, context, err);
    }
    gf_free(place);
    gf_free(groups);
    gf_free(members);
    return st;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static gf_status load(grouping *g, gf_error *err)
{
    gf_view *v = g->view;
    if (gf_rows_are_given(v->info.rows))
        return gf_fail(err, GF_ECONFLICT,
                       "this build clusters vectors that were made elsewhere, and near-duplicates "
                       "are found by their words: name a configuration of texts");
    gf_status st = gf_view_load_model(v, err);
    if (st == GF_OK) st = gf_model_workers_init(&g->workers, &v->model, g->options->threads, err);
    if (st == GF_OK && g->options->fresh) st = gf_view_changed_ids(v, &g->changed, err);
    return st;
}

static void release(grouping *g)
{
    gf_model_workers_release(&g->workers);
    gf_text_rows_release(&g->rows);
    gf_free(g->order);
    gf_free(g->rank);
    gf_duplicates_release(&g->found);
    gf_strings_release(&g->changed);
    gf_view_close(g->view);
}

gf_status gf_near_duplicates(gf_store *store, gf_place where,
                             const gf_near_duplicates_options *options,
                             gf_visit_near_duplicate *visit, void *context, gf_error *err)
{
    gf_status known = gf_options_check(options->version, GF_NEAR_DUPLICATES_OPTIONS_VERSION,
                                       "gf_near_duplicates_options", err);
    if (known != GF_OK) return known;
    grouping g = {.options = options};
    gf_slice configuration =
        options->configuration.len ? options->configuration : GF_SLICE("default");
    double least = options->least != 0 ? options->least : GF_NEAR_DUPLICATES_LEAST;
    gf_status st = gf_view_open(store, where, configuration, 0, &g.view, err);
    if (st == GF_OK) st = load(&g, err);
    if (st == GF_OK) st = gf_text_rows_read(g.view, &g.workers, options->cancel, &g.rows, err);
    if (st == GF_OK) st = order_rows(&g, err);
    if (st == GF_OK)
        st = gf_duplicates_find(g.workers.pool, &g.rows.x, g.order, least, options->cancel,
                                &g.found, err);
    gf_csr_release(&g.rows.x);
    if (st == GF_OK) st = list_groups(&g, visit, context, err);
    release(&g);
    return st;
}
