/*
 * Clusters over time: one walk over memberships and documents keeps each document's cluster and
 * period; which periods are shown is known only at its end.
 */
#include "engine/view/view.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/rows/document_row.h"
#include "grouperfish/changes.h"

#include <math.h>
#include <stdlib.h>

#define NO_CLUSTER UINT32_MAX /* without terms */

typedef struct moment {
    int64_t period;
    uint32_t cluster; /* its place in the view's list, or NO_CLUSTER */
} moment;

typedef struct counting {
    gf_view *view;
    gf_period kind;
    moment *moments; /* n of capacity: documents with a time */
    size_t n, capacity;
    gf_trend *clusters;  /* view->n_clusters */
    uint32_t *documents; /* view->n_clusters * out.n_periods */
    gf_trends out;
} counting;

static gf_status add_moment(counting *c, moment m, gf_error *err)
{
    if (!gf_grow(&c->moments, &c->capacity, c->n + 1, sizeof *c->moments))
        return gf_fail_memory(err, "trends");
    c->moments[c->n++] = m;
    return GF_OK;
}

static gf_status count_member(void *context, gf_slice id, const gf_membership_cells *cells,
                              const gf_row *document, gf_error *err)
{
    counting *c = context;
    (void)id;
    const gf_listed_cluster *cluster = gf_view_find_cluster(c->view, cells->cluster);
    const gf_cell *time = gf_row_find(document, GF_DOCUMENTS_MAIN, "time");
    uint32_t at = cluster ? (uint32_t)(cluster - c->view->clusters) : NO_CLUSTER;
    int64_t ms;
    if (time && gf_document_row_moment(time->value, &ms))
        return add_moment(c, (moment){gf_calendar_period(c->kind, ms), at}, err);
    c->out.undated++;
    if (cluster) c->clusters[at].undated++;
    return GF_OK;
}

/* The latest periods, at most so many, none before the first document. */
static void choose_periods(counting *c, size_t most)
{
    if (c->n == 0) return;
    int64_t first = c->moments[0].period, last = first;
    for (size_t i = 1; i < c->n; i++) {
        if (c->moments[i].period < first) first = c->moments[i].period;
        if (c->moments[i].period > last) last = c->moments[i].period;
    }
    uint64_t span = (uint64_t)(last - first) + 1;
    c->out.n_periods = span < most ? (size_t)span : most;
    c->out.first = last - (int64_t)c->out.n_periods + 1;
    c->out.n_recent = c->out.n_periods < 4 ? 1 : c->out.n_periods / 4;
}

/* Count by cluster and period; recent[0] and recent[1]: all documents, earlier and recent. */
static gf_status count_periods(counting *c, uint64_t all[2], gf_error *err)
{
    size_t p = c->out.n_periods;
    c->documents = gf_calloc(c->view->n_clusters * p, sizeof *c->documents);
    if (!c->documents) return gf_fail_memory(err, "trends");
    for (size_t i = 0; i < c->n; i++) {
        moment m = c->moments[i];
        gf_trend *t = m.cluster == NO_CLUSTER ? NULL : &c->clusters[m.cluster];
        if (m.period < c->out.first) {
            c->out.before++;
            if (t) t->before++;
            continue;
        }
        size_t at = (size_t)(m.period - c->out.first);
        bool recent = at >= p - c->out.n_recent;
        all[recent]++;
        if (!t) continue;
        c->documents[m.cluster * p + at]++;
        *(recent ? &t->recent : &t->earlier) += 1;
    }
    return GF_OK;
}

static void compare_periods(gf_trend *t, const uint64_t all[2])
{
    if (all[0] == 0 || all[1] == 0) return;
    double recent = (double)t->recent + 0.5, earlier = (double)t->earlier + 0.5;
    double recent_rest = (double)(all[1] - t->recent) + 0.5;
    double earlier_rest = (double)(all[0] - t->earlier) + 0.5;
    t->change = log(recent / recent_rest) - log(earlier / earlier_rest);
    t->z = t->change / sqrt(1 / recent + 1 / recent_rest + 1 / earlier + 1 / earlier_rest);
}

static int by_change(const void *a, const void *b)
{
    const gf_trend *x = a, *y = b;
    if (fabs(x->z) > fabs(y->z)) return -1;
    if (fabs(x->z) < fabs(y->z)) return 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

static gf_status find_trends(counting *c, size_t most, gf_error *err)
{
    gf_view *v = c->view;
    uint64_t all[2] = {0, 0};
    c->clusters = gf_calloc(v->n_clusters, sizeof *c->clusters);
    if (!c->clusters) return gf_fail_memory(err, "trends");
    gf_status st = gf_view_each_member(v, count_member, c, err);
    if (st != GF_OK) return st;
    choose_periods(c, most);
    st = count_periods(c, all, err);
    for (size_t i = 0; i < v->n_clusters && st == GF_OK; i++) {
        gf_trend *t = &c->clusters[i];
        t->cluster = v->clusters[i].id;
        t->label = v->clusters[i].label;
        t->size = v->clusters[i].size;
        t->documents = c->documents + i * c->out.n_periods;
        compare_periods(t, all);
    }
    if (st == GF_OK && v->n_clusters)
        qsort(c->clusters, v->n_clusters, sizeof *c->clusters, by_change);
    return st;
}

gf_status gf_view_trends(gf_view *v, gf_period kind, size_t most_periods, gf_visit_trends *visit,
                         void *context, gf_error *err)
{
    counting c = {.view = v, .kind = kind, .out = {.kind = kind}};
    gf_status st = gf_view_load_clusters(v, err);
    if (st == GF_OK) st = find_trends(&c, most_periods, err);
    c.out.clusters = c.clusters;
    c.out.n_clusters = v->n_clusters;
    if (st == GF_OK) st = visit(context, &c.out, err);
    gf_free(c.moments);
    gf_free(c.clusters);
    gf_free(c.documents);
    return st;
}
