#include "engine/build/once.h"

#include "base/memory.h"
#include "cluster/near/duplicates.h"
#include "cluster/passes/nearest_centres.h"
#include "cluster/passes/points.h"

#include <stdlib.h>

enum { TASK_ROWS = 1024 };

void gf_build_once_release(gf_build_once *o)
{
    gf_csr_release(&o->x);
    gf_free(o->row);
    gf_free(o->row_of);
    gf_free(o->of);
    *o = (gf_build_once){0};
}

/* ---- groups ---------------------------------------------------------------------------------- */

typedef struct ordering {
    const int64_t *moment; /* of documents */
    const uint32_t *row_of;
} ordering;

static int by_time(const void *a, const void *b, void *context)
{
    const ordering *o = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int64_t p = o->moment[o->row_of[x]], q = o->moment[o->row_of[y]];
    if (p != q) return p < q ? -1 : 1;
    return x < y ? -1 : x > y; /* rows come by id */
}

/* Number the rows that count; *of: the place of what each row counts with. */
static gf_status list_rows(const gf_duplicates *d, const uint32_t *row_of, gf_build_once *out,
                           gf_error *err)
{
    uint32_t n = d->n - d->copies, at = 0;
    out->row = gf_array(n, sizeof *out->row);
    out->row_of = gf_array(n, sizeof *out->row_of);
    out->of = gf_array(d->n, sizeof *out->of);
    if (!out->row || !out->row_of || !out->of) return gf_fail_memory(err, "near-duplicates");
    for (uint32_t r = 0; r < d->n; r++) {
        if (d->of[r] != r) continue;
        out->row[at] = r;
        out->row_of[at] = row_of[r];
        out->of[r] = at++;
    }
    for (uint32_t r = 0; r < d->n; r++)
        out->of[r] = out->of[d->of[r]];
    return GF_OK;
}

/* Tell for each document what it counts with. */
static gf_status list_documents(const gf_duplicates *d, const uint32_t *row_of, uint32_t n,
                                gf_build_clustered *c, gf_error *err)
{
    gf_free(c->once);
    c->once = gf_array(n, sizeof *c->once);
    if (!c->once) return gf_fail_memory(err, "near-duplicates");
    for (uint32_t i = 0; i < n; i++)
        c->once[i] = i;
    for (uint32_t r = 0; r < d->n; r++)
        c->once[row_of[r]] = row_of[d->of[r]];
    return GF_OK;
}

gf_status gf_build_once_find(const gf_build_plan *plan, gf_pool *pool,
                             const gf_build_gathered *documents, const gf_csr *x,
                             const uint32_t *row_of, gf_build_clustered *clustered,
                             gf_build_once *out, gf_error *err)
{
    gf_duplicates found = {0};
    gf_points points = {x, NULL};
    ordering o = {documents->moments, row_of};
    float *weight = NULL;
    uint32_t *order = gf_array(x->n_rows, sizeof *order);
    if (!order) return gf_fail_memory(err, "near-duplicates");
    gf_build_plan_progress(plan, "finding near-duplicates", 0, 0);
    for (uint32_t r = 0; r < x->n_rows; r++)
        order[r] = r;
    if (x->n_rows) qsort_r(order, x->n_rows, sizeof *order, by_time, &o);
    gf_status st = gf_duplicates_find(pool, x, order, plan->settings.near_least,
                                      plan->options->cancel, &found, err);
    if (st == GF_OK && found.copies) {
        st = list_rows(&found, row_of, out, err);
        if (st == GF_OK && clustered)
            st = list_documents(&found, row_of, documents->n, clustered, err);
        if (st == GF_OK)
            st = gf_points_gather(pool, &points, out->row, found.n - found.copies, &out->x, &weight,
                                  err);
    }
    gf_free(weight);
    gf_free(order);
    gf_duplicates_release(&found);
    return st;
}

/* ---- places ---------------------------------------------------------------------------------- */

typedef struct joining {
    const gf_csr *x;
    const gf_build_once *once;
    const gf_kmeans *of; /* the rows that count */
    gf_kmeans *all;      /* all rows */
    gf_nearest_centres locator;
} joining;

static float within_1(double v)
{
    return v < 1 ? v > 0 ? (float)v : 0 : 1;
}

static void place_row(const joining *j, unsigned worker, uint32_t r)
{
    uint32_t counts = j->once->of[r], own = j->of->label[counts];
    gf_kmeans *all = j->all;
    all->label[r] = own;
    if (j->once->row[counts] == r) {
        all->score[r] = j->of->score[counts];
        all->runner_up[r] = j->of->runner_up[counts];
        all->second[r] = j->of->second[counts];
        return;
    }
    gf_row_view row = gf_csr_row(j->x, r);
    gf_nearest_two two = gf_nearest_centres_find(&j->locator, worker, row);
    bool nearest = two.cluster == own, alone = j->of->k < 2;
    all->score[r] = within_1(nearest ? two.similarity
                                     : gf_csr_row_dot(row, gf_centre_row(&j->of->centres.at[own])));
    all->runner_up[r] = alone ? GF_NO_CLUSTER : nearest ? two.runner_up : two.cluster;
    all->second[r] = alone ? 0 : within_1(nearest ? two.of_second : two.similarity);
}

static gf_status place_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    const joining *j = context;
    uint32_t n = j->x->n_rows, from = (uint32_t)index * TASK_ROWS;
    uint32_t to = n - from > TASK_ROWS ? from + TASK_ROWS : n;
    (void)err;
    for (uint32_t r = from; r < to; r++)
        place_row(j, worker, r);
    return GF_OK;
}

gf_status gf_build_once_join(const gf_build_plan *plan, gf_pool *pool, const gf_csr *x,
                             const gf_build_once *once, gf_kmeans *kmeans, gf_error *err)
{
    uint32_t n = x->n_rows;
    gf_kmeans all = {.n = n,
                     .label = gf_array(n, sizeof *all.label),
                     .score = gf_array(n, sizeof *all.score),
                     .runner_up = gf_array(n, sizeof *all.runner_up),
                     .second = gf_array(n, sizeof *all.second)};
    joining j = {.x = x, .once = once, .of = kmeans, .all = &all};
    gf_centres copy = {0};
    bool ok = all.label && all.score && all.runner_up && all.second;
    gf_status st = ok ? GF_OK : gf_fail_memory(err, "clusters");
    if (st == GF_OK) st = gf_centres_copy(&kmeans->centres, &copy, err);
    if (st == GF_OK) st = gf_nearest_centres_init(&j.locator, &copy, NULL, err);
    gf_centres_release(&copy);
    if (st == GF_OK) {
        st = gf_nearest_centres_make_room(&j.locator, gf_pool_size(pool), err);
        if (st == GF_OK)
            st = gf_pool_run(pool, ((size_t)n + TASK_ROWS - 1) / TASK_ROWS, place_task, &j,
                             plan->options->cancel, err);
        gf_nearest_centres_release(&j.locator);
    }
    if (st == GF_OK) {
        /* A representative keeps the sum of its own scores, to the last bit. */
        for (uint32_t r = 0; r < n; r++)
            if (once->row[once->of[r]] != r) kmeans->objective += (double)all.score[r];
        kmeans->n = n;
        gf_free(kmeans->label);
        gf_free(kmeans->score);
        gf_free(kmeans->runner_up);
        gf_free(kmeans->second);
        kmeans->label = all.label;
        kmeans->score = all.score;
        kmeans->runner_up = all.runner_up;
        kmeans->second = all.second;
        return GF_OK;
    }
    gf_free(all.label);
    gf_free(all.score);
    gf_free(all.runner_up);
    gf_free(all.second);
    return st;
}

/* ---- names ----------------------------------------------------------------------------------- */

gf_status gf_build_once_members(const gf_build_clustered *c, uint32_t n_documents,
                                uint32_t **members, uint32_t **start, gf_error *err)
{
    uint32_t k = c->kmeans.k, n = 0;
    if (!c->once || k == 0) return GF_OK;
    uint32_t *seen =
        gf_calloc(n_documents, sizeof *seen); /* the last cluster with its group, from 1 on */
    uint32_t *list = gf_array(c->kmeans.n, sizeof *list);
    uint32_t *from = gf_array((size_t)k + 1, sizeof *from);
    gf_status st = seen && list && from ? GF_OK : gf_fail_memory(err, "cluster members");
    for (uint32_t i = 0; st == GF_OK && i < k; i++) {
        from[i] = n;
        for (uint32_t m = c->start[i]; m < c->start[i + 1]; m++) {
            uint32_t *of = &seen[c->once[c->row_of[c->members[m]]]];
            if (*of == i + 1) continue;
            *of = i + 1;
            list[n++] = c->members[m];
        }
        from[i + 1] = n;
    }
    gf_free(seen);
    if (st == GF_OK) {
        *members = list;
        *start = from;
        return GF_OK;
    }
    gf_free(list);
    gf_free(from);
    return st;
}
