#include "cluster/passes/lloyd.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/*
 * Two scores in single precision may be wrong by this much between them: see
 * cluster/passes/centre_index.h for each term; the rest is the bound's own rounding.
 */
#define SLACK_PER_TERM 0x1p-22f
#define SLACK          1e-6f

/* ---- partitions ------------------------------------------------------------------------------ */

gf_status gf_partition_init(gf_partition *p, uint32_t n, uint32_t k, uint32_t n_terms,
                            gf_error *err)
{
    gf_partition q = {.n = n, .k = k};
    q.label = gf_calloc(n, sizeof *q.label);
    q.own = gf_calloc(n, sizeof *q.own);
    q.other = gf_calloc(n, sizeof *q.other);
    gf_status st = q.label && q.own && q.other ? GF_OK : gf_fail_memory(err, "a partition");
    if (st == GF_OK) st = gf_centres_init(&q.centres, k, n_terms, err);
    if (st == GF_OK)
        *p = q;
    else
        gf_partition_release(&q);
    return st;
}

void gf_partition_release(gf_partition *p)
{
    gf_free(p->label);
    gf_free(p->own);
    gf_free(p->other);
    gf_centres_release(&p->centres);
    *p = (gf_partition){0};
}

/* ---- passes ---------------------------------------------------------------------------------- */

enum { ALIGNMENT = 64 };

struct gf_passes {
    gf_pool *pool;
    const gf_points *points;
    const gf_cancel *cancel;
    const gf_kernels *kernels;
    uint32_t k;
    gf_centre_index index;
    gf_centre_summer *summer;
    bool *changed;  /* k: gained or lost rows since the last update */
    uint32_t *size; /* k: rows, while empty clusters are refilled */
    float *key;     /* k: drift of each centre, by which the index orders its columns */
    float *scores;  /* per worker 2 * stride, behind scores_block's alignment */
    void *scores_block;
    size_t scores_stride;

    /* of the current assignment */
    gf_partition *partition;
    bool all;
    uint32_t *runner_up;     /* NULL, or n */
    uint32_t *next;          /* n: the labels that this assignment gives */
    gf_pass_report *reports; /* per task */
    size_t n_tasks, most_tasks;
};

void gf_passes_free(gf_passes *s)
{
    if (!s) return;
    gf_centre_index_release(&s->index);
    gf_centre_summer_free(s->summer);
    gf_free(s->changed);
    gf_free(s->size);
    gf_free(s->key);
    gf_free(s->scores_block);
    gf_free(s->next);
    gf_free(s->reports);
    gf_free(s);
}

static size_t tasks_of(uint32_t n)
{
    return ((size_t)n + GF_ROWS_PER_TASK - 1) / GF_ROWS_PER_TASK;
}

static bool allocate(gf_passes *s, uint32_t n)
{
    size_t stride = ((size_t)s->k + GF_COLUMN_BLOCK - 1) / GF_COLUMN_BLOCK * GF_COLUMN_BLOCK;
    s->scores_stride = 2 * stride;
    s->n_tasks = s->most_tasks = tasks_of(n);
    s->changed = gf_calloc(s->k, sizeof *s->changed);
    s->size = gf_calloc(s->k, sizeof *s->size);
    s->key = gf_calloc(s->k, sizeof *s->key);
    s->next = gf_array(n, sizeof *s->next);
    s->reports = gf_calloc(s->n_tasks, sizeof *s->reports);
    size_t floats = gf_pool_size(s->pool) * s->scores_stride + ALIGNMENT / sizeof(float);
    s->scores_block = gf_calloc(floats, sizeof(float));
    uintptr_t at = (uintptr_t)s->scores_block;
    s->scores = (float *)((at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return s->changed && s->size && s->key && s->next && s->reports && s->scores_block;
}

gf_status gf_passes_create(gf_pool *pool, const gf_points *points, uint32_t k,
                           const gf_cancel *cancel, gf_passes **passes, gf_error *err)
{
    gf_passes *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "clustering");
    uint32_t n = gf_points_n(points), n_terms = points->x->n_cols;
    s->pool = pool;
    s->points = points;
    s->cancel = cancel;
    s->kernels = gf_scoring_kernels_choose();
    s->k = k;
    gf_status st = allocate(s, n) ? GF_OK : gf_fail_memory(err, "clustering");
    if (st == GF_OK) st = gf_centre_index_init(&s->index, k, n_terms, err);
    if (st == GF_OK) st = gf_centre_summer_create(pool, n, n_terms, k, &s->summer, err);
    if (st == GF_OK) st = gf_centre_summer_keep(s->summer, err);
    if (st != GF_OK) {
        gf_passes_free(s);
        return st;
    }
    *passes = s;
    return GF_OK;
}

gf_pool *gf_passes_pool(gf_passes *s)
{
    return s->pool;
}

const gf_points *gf_passes_points(const gf_passes *s)
{
    return s->points;
}

const gf_cancel *gf_passes_cancel(const gf_passes *s)
{
    return s->cancel;
}

gf_centre_index *gf_passes_index(gf_passes *s)
{
    return &s->index;
}

const gf_kernels *gf_passes_kernels(const gf_passes *s)
{
    return s->kernels;
}

float *gf_passes_scores(gf_passes *s, unsigned worker)
{
    return s->scores + worker * s->scores_stride;
}

bool *gf_passes_changed(gf_passes *s)
{
    return s->changed;
}

/* ---- assignment ------------------------------------------------------------------------------ */

/* All columns: the label is the argmax, own and other are exact. */
static void score_all(gf_passes *s, uint32_t i, float *scores)
{
    gf_partition *p = s->partition;
    const gf_centre_index *index = &s->index;
    gf_row_view row = gf_csr_row(s->points->x, i);
    gf_best best;
    if (index->ceiling) {
        gf_best_two two = s->kernels->search(index, row, index->column_of[p->label[i]], scores);
        best = (gf_best){two.column, two.score, two.second};
    } else {
        s->kernels->score(index, row, s->k, scores);
        best = s->kernels->best(index, s->k, scores);
    }
    s->next[i] = index->cluster_of[best.column];
    p->own[i] = best.score;
    p->other[i] = best.second;
}

/* The same for what is told of the row at the end, in double precision, with the runner-up. */
static void score_last(gf_passes *s, uint32_t i, float *scores)
{
    gf_partition *p = s->partition;
    gf_nearest_two two = gf_centre_index_nearest(&s->index, s->kernels, gf_csr_row(s->points->x, i),
                                                 p->label[i], scores);
    s->next[i] = two.cluster;
    s->runner_up[i] = two.runner_up;
    p->own[i] = (float)two.similarity;
    p->other[i] = s->k > 1 ? (float)two.of_second : -INFINITY;
}

/*
 * The first columns, those that drifted most. The others are at most `rest`, so where the best of
 * the scored ones and the row's own is above that, it is the best of all. False where it is not.
 */
static bool score_some(gf_passes *s, uint32_t i, uint32_t columns, float rest, float slack,
                       float *scores)
{
    gf_partition *p = s->partition;
    uint32_t own_column = s->index.column_of[p->label[i]];
    float own = p->own[i], second = rest;
    s->kernels->score(&s->index, gf_csr_row(s->points->x, i), columns, scores);
    if (own_column < columns) scores[own_column] = -INFINITY; /* known exactly */
    gf_best best = s->kernels->best(&s->index, columns, scores);
    bool stays = own >= best.score;
    float top = stays ? own : best.score, next = stays ? best.score : own;
    if (!stays && best.second > next) next = best.second;
    if (next > second) second = next;
    if (top < second + slack) return false;
    if (!stays) s->next[i] = s->index.cluster_of[best.column];
    p->own[i] = top;
    p->other[i] = second;
    return true;
}

static void assign_row(gf_passes *s, uint32_t i, float *scores, gf_pass_report *report)
{
    gf_partition *p = s->partition;
    s->next[i] = p->label[i];
    float slack = SLACK + SLACK_PER_TERM * (float)gf_csr_row(s->points->x, i).n;
    float gap = p->own[i] - p->other[i] - slack;
    uint32_t columns = s->all ? s->k : gf_centre_index_above(&s->index, gap);
    if (columns > s->k / 2) columns = s->k; /* makes `other` exact again for little more */
    float rest = columns < s->k ? p->other[i] + s->index.key[columns] : 0;
    if (columns == 0) {
        p->other[i] = rest;
        report->skipped++;
        return;
    }
    if (columns < s->k && score_some(s, i, columns, rest, slack, scores)) {
        report->scored_some++;
    } else {
        if (s->runner_up)
            score_last(s, i, scores);
        else
            score_all(s, i, scores);
        report->scored_all++;
    }
    report->changed += s->next[i] != p->label[i];
}

/* The labels that a task gave to its rows; the flags of the clusters are other tasks' as well. */
static void take_labels(gf_passes *s, uint32_t from, uint32_t to)
{
    uint32_t *label = s->partition->label;
    for (uint32_t i = from; i < to; i++) {
        if (label[i] == s->next[i]) continue;
        __atomic_store_n(&s->changed[label[i]], true, __ATOMIC_RELAXED);
        __atomic_store_n(&s->changed[s->next[i]], true, __ATOMIC_RELAXED);
        label[i] = s->next[i];
    }
}

static gf_status assign_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)err;
    gf_passes *s = context;
    uint32_t n = s->partition->n, from = (uint32_t)task * GF_ROWS_PER_TASK;
    uint32_t to = n - from < GF_ROWS_PER_TASK ? n : from + GF_ROWS_PER_TASK;
    gf_pass_report report = {0};
    for (uint32_t i = from; i < to; i++)
        assign_row(s, i, gf_passes_scores(s, worker), &report);
    if (report.changed) take_labels(s, from, to);
    s->reports[task] = report;
    return GF_OK;
}

static void add_reports(const gf_passes *s, gf_pass_report *report)
{
    *report = (gf_pass_report){0};
    for (size_t t = 0; t < s->n_tasks; t++) {
        report->changed += s->reports[t].changed;
        report->scored_all += s->reports[t].scored_all;
        report->scored_some += s->reports[t].scored_some;
        report->skipped += s->reports[t].skipped;
    }
}

static gf_status index_centres(gf_passes *s, const gf_centres *centres, gf_error *err)
{
    for (uint32_t j = 0; j < s->k; j++)
        s->key[j] = (float)centres->at[j].drift;
    gf_status st = gf_centre_index_build(&s->index, centres, s->key, s->pool, err);
    if (st == GF_OK && s->all && s->k >= GF_CEILINGS)
        st = gf_centre_index_set_ceilings(&s->index, s->pool, err);
    return st;
}

static gf_status assign(gf_passes *s, gf_partition *p, gf_pass_report *report, gf_error *err)
{
    s->partition = p;
    gf_status st = gf_pool_run(s->pool, s->n_tasks, assign_task, s, s->cancel, err);
    if (st == GF_OK) add_reports(s, report);
    return st;
}

gf_status gf_passes_assign_all(gf_passes *s, gf_partition *p, uint32_t *runner_up,
                               gf_pass_report *report, gf_error *err)
{
    s->all = true;
    s->runner_up = runner_up;
    gf_status st = index_centres(s, &p->centres, err);
    if (st == GF_OK) st = assign(s, p, report, err);
    s->all = false;
    s->runner_up = NULL;
    return st;
}

gf_status gf_passes_assign_others(gf_passes *s, const gf_points *points, gf_partition *p,
                                  uint32_t *runner_up, gf_pass_report *report, gf_error *err)
{
    size_t n_tasks = tasks_of(gf_points_n(points));
    assert(n_tasks <= s->most_tasks && points->x->n_cols == s->points->x->n_cols);
    s->points = points;
    s->n_tasks = n_tasks;
    s->all = true;
    s->runner_up = runner_up;
    gf_status st = assign(s, p, report, err);
    s->all = false;
    s->runner_up = NULL;
    return st;
}

gf_status gf_passes_assign(gf_passes *s, gf_partition *p, gf_pass_report *report, gf_error *err)
{
    gf_status st = index_centres(s, &p->centres, err);
    return st == GF_OK ? assign(s, p, report, err) : st;
}

/* ---- update ---------------------------------------------------------------------------------- */

static bool fits_worse(const gf_partition *p, uint32_t a, uint32_t b)
{
    if (p->own[a] != p->own[b]) return p->own[a] < p->own[b];
    return a < b;
}

/* The heap rows[0..n-1], with the best fitting on top, but for row `at`, which may fit too badly.
 */
static void sink(const gf_partition *p, uint32_t *rows, uint32_t n, uint32_t at)
{
    for (uint64_t child = 2 * (uint64_t)at + 1; child < n; child = 2 * (uint64_t)at + 1) {
        if (child + 1 < n && fits_worse(p, rows[child], rows[child + 1])) child++;
        if (!fits_worse(p, rows[at], rows[child])) return;
        uint32_t held = rows[at];
        rows[at] = rows[child];
        rows[child] = held;
        at = (uint32_t)child;
    }
}

/*
 * The `most` worst fitting rows of clusters that have others, the worst first; returns how many
 * there are.
 */
static uint32_t find_worst(const gf_passes *s, const gf_partition *p, uint32_t most, uint32_t *rows)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (s->size[p->label[i]] < 2) continue;
        if (n < most) {
            rows[n++] = i;
            if (n == most)
                for (uint32_t at = n / 2; at > 0; at--)
                    sink(p, rows, n, at - 1);
        } else if (fits_worse(p, i, rows[0])) {
            rows[0] = i;
            sink(p, rows, n, 0);
        }
    }
    for (uint32_t at = n < most ? n / 2 : 0; at > 0; at--)
        sink(p, rows, n, at - 1);
    for (uint32_t end = n; end > 1; end--) {
        uint32_t held = rows[0];
        rows[0] = rows[end - 1];
        rows[end - 1] = held;
        sink(p, rows, end - 1, 0);
    }
    return n;
}

static void move_row(gf_passes *s, gf_partition *p, uint32_t row, uint32_t to)
{
    uint32_t from = p->label[row];
    s->size[from]--;
    s->size[to]++;
    s->changed[from] = s->changed[to] = true;
    p->label[row] = to;
    p->own[row] = p->other[row] = 1;
}

/*
 * Each empty cluster gets the worst fitting row of one with several, as long as there are such.
 * False where none is empty.
 */
static bool refill_empty(gf_passes *s, gf_partition *p)
{
    uint32_t empty = 0;
    for (uint32_t j = 0; j < s->k; j++) {
        s->size[j] = gf_centre_summer_size(s->summer, j);
        empty += s->size[j] == 0;
    }
    if (!empty) return false;
    for (uint32_t j = 0, n = 1; empty && n;) {
        uint32_t *rows = s->next; /* free between two assignments */
        n = find_worst(s, p, empty < p->n ? empty : p->n, rows);
        for (uint32_t r = 0; r < n; r++) {
            if (s->size[p->label[rows[r]]] < 2) continue;
            while (s->size[j])
                j++;
            move_row(s, p, rows[r], j);
            empty--;
        }
    }
    return true;
}

gf_status gf_passes_update(gf_passes *s, gf_partition *p, gf_error *err)
{
    gf_status st = gf_centre_summer_sort(s->summer, p->label, err);
    if (st == GF_OK && refill_empty(s, p)) st = gf_centre_summer_sort(s->summer, p->label, err);
    if (st == GF_OK)
        st = gf_centre_summer_sum(s->summer, s->points, p->label, s->changed, &p->centres, p->own,
                                  s->cancel, err);
    if (st != GF_OK) return st;
    memset(s->changed, 0, s->k * sizeof *s->changed);
    return GF_OK;
}

gf_status gf_passes_run(gf_passes *s, gf_partition *p, double tolerance, unsigned max_passes,
                        gf_passes_made *made, gf_error *err)
{
    gf_pass_report report;
    gf_passes_made m = {0};
    gf_status st = gf_passes_assign_all(s, p, NULL, &report, err);
    for (uint32_t j = 0; j < s->k; j++)
        s->changed[j] = true;
    if (st == GF_OK) st = gf_passes_update(s, p, err);
    while (st == GF_OK && m.passes < max_passes && !m.converged) {
        st = gf_passes_assign(s, p, &report, err);
        if (st != GF_OK) break;
        m.passes++;
        m.converged = (double)report.changed <= tolerance * p->n;
        if (report.changed) st = gf_passes_update(s, p, err);
    }
    if (st == GF_OK) *made = m;
    return st;
}
