/*
 * Clusters over time: documents by cluster and hour (hours.c) become periods; which unit they have,
 * and which of them are shown, is known only once all documents are counted.
 */
#include "engine/view/trends.h"

#include "base/memory.h"
#include "grouperfish/calendar.h"
#include "grouperfish/changes.h"

#include <math.h>
#include <stdlib.h>

#define CLEAR 2.0 /* |z| from which a cluster rises or falls */

enum { MS_PER_HOUR = 3600000 };

typedef struct counting {
    gf_view *view;
    gf_hour_counts hours;
    gf_trend *clusters;  /* view->n_clusters */
    uint32_t *documents; /* view->n_clusters * out.n_periods */
    gf_trends out;
} counting;

static int64_t period_of(gf_period kind, int32_t hour)
{
    return gf_calendar_period(kind, (int64_t)hour * MS_PER_HOUR);
}

/* ---- the unit -------------------------------------------------------------------------------- */

/* From the finest to the coarsest. */
static const gf_period units[] = {GF_PERIOD_HOUR,  GF_PERIOD_DAY,     GF_PERIOD_WEEK,
                                  GF_PERIOD_MONTH, GF_PERIOD_QUARTER, GF_PERIOD_YEAR};
enum { N_UNITS = sizeof units / sizeof units[0] };

/* The first hour of the latest so many periods. */
static int64_t window_begin(gf_period kind, int32_t last, size_t most)
{
    int64_t first = period_of(kind, last) - (int64_t)most + 1;
    return kind == GF_PERIOD_HOUR ? first : gf_calendar_first_day(kind, first) * 24;
}

/*
 * The finest unit of which `most` periods reach from the last document back to the first. A few of
 * long ago, at most one in a hundred, do not decide: where the others would have a unit that is
 * finer by two steps or more, it is taken.
 */
static gf_period choose_unit(const gf_hour_counts *h, int32_t last, size_t most)
{
    int64_t begin[N_UNITS];
    uint64_t before[N_UNITS] = {0}, all = 0;
    for (size_t u = 0; u < N_UNITS; u++)
        begin[u] = window_begin(units[u], last, most);
    for (size_t i = 0; i < h->n; i++) {
        all += h->at[i].documents;
        for (size_t u = 0; u < N_UNITS && h->at[i].hour < begin[u]; u++)
            before[u] += h->at[i].documents;
    }
    size_t of_all = 0, of_most = 0;
    while (of_all + 1 < N_UNITS && before[of_all] > 0)
        of_all++;
    while (of_most + 1 < N_UNITS && before[of_most] > all / 100)
        of_most++;
    return units[of_most + 2 <= of_all ? of_most : of_all];
}

/* ---- periods --------------------------------------------------------------------------------- */

void gf_view_choose_periods(const gf_hour_counts *h, gf_period kind, size_t most, gf_trends *out)
{
    int32_t first = INT32_MAX, last = INT32_MIN;
    for (size_t i = 0; i < h->n; i++) {
        if (h->at[i].documents == 0) continue;
        if (h->at[i].hour < first) first = h->at[i].hour;
        if (h->at[i].hour > last) last = h->at[i].hour;
    }
    out->kind = kind == GF_PERIOD_AUTO ? GF_PERIOD_DAY : kind;
    if (first > last) return;
    if (kind == GF_PERIOD_AUTO) {
        out->kind = choose_unit(h, last, most);
        int64_t begin = window_begin(out->kind, last, most);
        first = INT32_MAX;
        for (size_t i = 0; i < h->n; i++)
            if (h->at[i].documents && h->at[i].hour >= begin && h->at[i].hour < first)
                first = h->at[i].hour;
    }
    int64_t end = period_of(out->kind, last);
    uint64_t span = (uint64_t)(end - period_of(out->kind, first)) + 1;
    out->n_periods = span < most ? (size_t)span : most;
    out->first = end - (int64_t)out->n_periods + 1;
    out->n_recent = out->n_periods < 4 ? 1 : out->n_periods / 4;
}

/* Count by cluster and period; all[0] and all[1]: all documents, earlier and recent. */
static gf_status count_periods(counting *c, uint64_t all[2], gf_error *err)
{
    size_t p = c->out.n_periods;
    const gf_hour_counts *h = &c->hours;
    c->documents = gf_calloc(c->view->n_clusters * p, sizeof *c->documents);
    if (!c->documents) return gf_fail_memory(err, "trends");
    for (size_t i = 0; i < h->n; i++) {
        gf_hour_count m = h->at[i];
        if (m.documents == 0) continue;
        int64_t period = period_of(c->out.kind, m.hour);
        gf_trend *t = m.cluster ? &c->clusters[m.cluster - 1] : NULL;
        if (period < c->out.first) {
            c->out.before += m.documents;
            if (t) t->before += m.documents;
            continue;
        }
        size_t at = (size_t)(period - c->out.first);
        bool recent = at >= p - c->out.n_recent;
        all[recent] += m.documents;
        if (!t) continue;
        c->documents[(m.cluster - 1) * p + at] += m.documents;
        *(recent ? &t->recent : &t->earlier) += m.documents;
    }
    return GF_OK;
}

/* ---- trends ---------------------------------------------------------------------------------- */

static void compare_periods(gf_trend *t, const uint64_t all[2])
{
    if (all[0] == 0 || all[1] == 0) return;
    double recent = (double)t->recent + 0.5, earlier = (double)t->earlier + 0.5;
    double recent_rest = (double)(all[1] - t->recent) + 0.5;
    double earlier_rest = (double)(all[0] - t->earlier) + 0.5;
    t->change = log(recent / recent_rest) - log(earlier / earlier_rest);
    t->z = t->change / sqrt(1 / recent + 1 / recent_rest + 1 / earlier + 1 / earlier_rest);
    t->direction = t->z >= CLEAR ? GF_RISING : t->z <= -CLEAR ? GF_FALLING : GF_STEADY;
}

static int by_change(const void *a, const void *b)
{
    const gf_trend *x = a, *y = b;
    if (fabs(x->z) > fabs(y->z)) return -1;
    if (fabs(x->z) < fabs(y->z)) return 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

static gf_status find_trends(counting *c, gf_period kind, size_t most, const gf_cancel *cancel,
                             gf_error *err)
{
    gf_view *v = c->view;
    uint64_t all[2] = {0, 0};
    gf_status st = gf_view_count_hours(v, cancel, &c->hours, err);
    if (st != GF_OK) return st;
    c->clusters = gf_calloc(v->n_clusters, sizeof *c->clusters);
    if (!c->clusters) return gf_fail_memory(err, "trends");
    gf_view_choose_periods(&c->hours, kind, most, &c->out);
    st = count_periods(c, all, err);
    if (st != GF_OK) return st;
    c->out.undated = c->hours.undated[0];
    for (size_t i = 0; i < v->n_clusters; i++) {
        gf_trend *t = &c->clusters[i];
        t->cluster = v->clusters[i].id;
        t->label = v->clusters[i].label;
        t->size = v->clusters[i].size;
        t->undated = c->hours.undated[i + 1];
        t->documents = c->documents + i * c->out.n_periods;
        c->out.undated += t->undated;
        compare_periods(t, all);
    }
    if (v->n_clusters) qsort(c->clusters, v->n_clusters, sizeof *c->clusters, by_change);
    return GF_OK;
}

gf_status gf_view_trends(gf_view *v, gf_period kind, size_t most_periods, const gf_cancel *cancel,
                         gf_visit_trends *visit, void *context, gf_error *err)
{
    counting c = {.view = v};
    gf_status st = find_trends(&c, kind, most_periods, cancel, err);
    c.out.clusters = c.clusters;
    c.out.n_clusters = v->n_clusters;
    if (st == GF_OK) st = visit(context, &c.out, err);
    gf_hour_counts_release(&c.hours);
    gf_free(c.clusters);
    gf_free(c.documents);
    return st;
}
