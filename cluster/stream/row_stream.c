#include "cluster/stream/row_stream.h"

#include "base/memory.h"
#include "cluster/large/branches.h"
#include "cluster/large/strongest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { LEAST_WINDOW = 8192, WINDOW_PER_CLUSTER = 4, MOST_WINDOWS = 64 };

uint32_t gf_row_stream_window(uint32_t n_rows, uint32_t k)
{
    uint64_t rows = (uint64_t)WINDOW_PER_CLUSTER * k;
    if (rows < n_rows / MOST_WINDOWS) rows = n_rows / MOST_WINDOWS;
    return rows < LEAST_WINDOW ? LEAST_WINDOW : (uint32_t)rows;
}

static uint32_t rows_at(const gf_row_stream *s, uint32_t first)
{
    uint32_t left = s->rows->n_rows - first;
    return left < s->window ? left : s->window;
}

/* ---- assigning ------------------------------------------------------------------------------- */

/* The centres of an assignment as rows look them up: one of the two, which all windows share. */
typedef struct looked_up {
    gf_branches tree;  /* n is 0 where there is none */
    gf_passes *passes; /* of the first window; NULL: there was none yet */
} looked_up;

static void release_looked_up(looked_up *l)
{
    gf_branches_release(&l->tree);
    gf_passes_free(l->passes);
}

/* The rows of one window, by the tree or the passes of k-means: part borrows its arrays. */
static gf_status assign_window(const gf_row_stream *s, looked_up *l, const gf_points *points,
                               gf_partition *part, uint32_t *runner_up, gf_error *err)
{
    gf_pass_report report;
    if (l->tree.n)
        return gf_branches_assign(&l->tree, s->pool, points->x, part->label, runner_up, part->own,
                                  part->other, s->cancel, err);
    if (l->passes) return gf_passes_assign_others(l->passes, points, part, runner_up, &report, err);
    gf_status st = gf_passes_create(s->pool, points, part->k, s->cancel, &l->passes, err);
    return st == GF_OK ? gf_passes_assign_all(l->passes, part, runner_up, &report, err) : st;
}

gf_status gf_row_stream_assign(const gf_row_stream *s, gf_partition *p, uint32_t *runner_up,
                               gf_error *err)
{
    looked_up l = {.passes = NULL};
    gf_status st = GF_OK;
    if (gf_branches_serve(&p->centres))
        st = gf_branches_init(&l.tree, &p->centres, s->pool, s->cancel, err);
    gf_csr x = {0};
    const gf_points points = {&x, NULL}; /* of all windows: the passes know them until the end */
    for (uint32_t first = 0, n; first < p->n && st == GF_OK; first += n) {
        gf_csr_release(&x);
        n = rows_at(s, first);
        gf_partition part = {n,         p->k, p->label + first, p->own + first, p->other + first,
                             p->centres};
        memset(part.label, 0, n * sizeof *part.label);
        st = gf_row_file_read(s->rows, first, n, &x, err);
        if (st == GF_OK)
            st = assign_window(s, &l, &points, &part, runner_up ? runner_up + first : NULL, err);
        if (s->progress) s->progress(s->progress_context, first + n, p->n);
    }
    release_looked_up(&l);
    gf_csr_release(&x);
    return st;
}

gf_status gf_row_stream_label(const gf_row_stream *s, const gf_csr *x, const gf_centres *centres,
                              uint32_t *label, gf_error *err)
{
    float *scores = gf_array((size_t)x->n_rows * 2, sizeof *scores);
    if (!scores) return gf_fail_memory(err, "clusters");
    gf_partition part = {x->n_rows, centres->k, label, scores, scores + x->n_rows, *centres};
    memset(label, 0, x->n_rows * sizeof *label);
    looked_up l = {.passes = NULL};
    const gf_points points = {x, NULL};
    gf_status st = assign_window(s, &l, &points, &part, NULL, err);
    release_looked_up(&l);
    gf_free(scores);
    return st;
}

/* ---- summing --------------------------------------------------------------------------------- */

typedef struct merging {
    gf_centres *sums;
    const gf_centres *more;
} merging;

/* Terms of either. */
static uint32_t count_terms(const gf_centre *a, const gf_centre *b)
{
    uint32_t i = 0, j = 0, n = 0;
    for (; i < a->n && j < b->n; n++) {
        uint32_t of_a = a->term[i], of_b = b->term[j];
        i += of_a <= of_b;
        j += of_b <= of_a;
    }
    return n + (a->n - i) + (b->n - j);
}

/* to = a.length * a + b.length * b, of unit length; its arrays have room for both. */
static void merge(const gf_centre *a, const gf_centre *b, gf_centre *to)
{
    double squares = 0;
    uint32_t i = 0, j = 0;
    while (i < a->n || j < b->n) {
        uint32_t t = i < a->n ? a->term[i] : UINT32_MAX;
        double v = 0;
        if (j < b->n && b->term[j] < t) t = b->term[j];
        if (i < a->n && a->term[i] == t) v += a->length * (double)a->value[i++];
        if (j < b->n && b->term[j] == t) v += b->length * (double)b->value[j++];
        squares += v * v;
        to->term[to->n] = t;
        to->value[to->n++] = (float)v;
    }
    to->length = sqrt(squares);
    to->weight = a->weight + b->weight;
    to->drift = 2;
    float scale = to->length > 0 ? (float)(1 / to->length) : 0;
    for (uint32_t p = 0; p < to->n; p++)
        to->value[p] *= scale;
}

static gf_status merge_task(void *context, size_t cluster, unsigned worker, gf_error *err)
{
    (void)worker;
    const merging *m = context;
    gf_centre *sum = &m->sums->at[cluster], made = {0};
    const gf_centre *more = &m->more->at[cluster];
    if (more->n == 0) return GF_OK;
    made.capacity = count_terms(sum, more);
    made.term = gf_array(made.capacity, sizeof *made.term);
    made.value = gf_array(made.capacity, sizeof *made.value);
    if (!made.term || !made.value) {
        gf_free(made.term);
        gf_free(made.value);
        return gf_fail_memory(err, "a cluster centre");
    }
    merge(sum, more, &made);
    gf_free(sum->term);
    gf_free(sum->value);
    *sum = made;
    return GF_OK;
}

typedef struct trimming {
    gf_centres *sums;
    uint32_t least, most; /* terms of sums that are trimmed; that are left */
} trimming;

static gf_status trim_task(void *context, size_t cluster, unsigned worker, gf_error *err)
{
    (void)worker;
    const trimming *t = context;
    gf_centre *c = &t->sums->at[cluster];
    return c->n > t->least ? gf_strongest_keep(c, t->most, err) : GF_OK;
}

static gf_status trim(const gf_row_stream *s, gf_centres *sums, uint32_t least, gf_error *err)
{
    trimming t = {sums, least, s->most_terms};
    if (!s->most_terms) return GF_OK;
    return gf_pool_run(s->pool, sums->k, trim_task, &t, s->cancel, err);
}

gf_status gf_row_stream_trim(const gf_row_stream *s, gf_centres *sums, gf_error *err)
{
    return trim(s, sums, s->most_terms, err);
}

gf_status gf_row_stream_add(const gf_row_stream *s, const gf_csr *x, const uint32_t *label,
                            gf_centres *sums, gf_error *err)
{
    uint32_t k = sums->k;
    gf_points points = {x, NULL};
    gf_centre_summer *summer = NULL;
    gf_centres more = {0};
    gf_status st = gf_centres_init(&more, k + 1, x->n_cols, err);
    if (st == GF_OK)
        st = gf_centre_summer_create(s->pool, x->n_rows, x->n_cols, k + 1, &summer, err);
    bool *changed = gf_calloc((size_t)k + 1, sizeof *changed);
    if (st == GF_OK && !changed) st = gf_fail_memory(err, "cluster sums");
    for (uint32_t j = 0; j < k && changed; j++)
        changed[j] = true;
    if (st == GF_OK)
        st = gf_centre_summer_run(summer, &points, label, changed, &more, NULL, s->cancel, err);
    gf_centre_summer_free(summer);
    merging m = {sums, &more};
    if (st == GF_OK) st = gf_pool_run(s->pool, k, merge_task, &m, s->cancel, err);
    if (st == GF_OK) st = trim(s, sums, s->most_terms + s->most_terms / 2, err);
    gf_centres_release(&more);
    gf_free(changed);
    return st;
}

gf_status gf_row_stream_sum(const gf_row_stream *s, const uint32_t *label, uint32_t k,
                            gf_centres *sums, gf_error *err)
{
    uint32_t n = s->rows->n_rows;
    gf_centres made;
    uint32_t *part = gf_array(s->window, sizeof *part);
    if (!part) return gf_fail_memory(err, "cluster sums");
    gf_status st = gf_centres_init(&made, k, s->rows->n_cols, err);
    if (st != GF_OK) made = (gf_centres){0};
    for (uint32_t first = 0, m; first < n && st == GF_OK; first += m) {
        gf_csr x = {0};
        m = rows_at(s, first);
        for (uint32_t i = 0; i < m; i++)
            part[i] = label[first + i] < k ? label[first + i] : k;
        st = gf_row_file_read(s->rows, first, m, &x, err);
        if (st == GF_OK) st = gf_row_stream_add(s, &x, part, &made, err);
        gf_csr_release(&x);
        if (s->progress) s->progress(s->progress_context, first + m, n);
    }
    gf_free(part);
    if (st == GF_OK) st = gf_row_stream_trim(s, &made, err);
    if (st == GF_OK)
        *sums = made;
    else
        gf_centres_release(&made);
    return st;
}

/* ---- distinct rows --------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t hash_row(gf_row_view row)
{
    return XXH3_64bits_withSeed(row.val, row.n * sizeof *row.val,
                                XXH3_64bits(row.col, row.n * sizeof *row.col));
}

gf_status gf_row_stream_distinct(const gf_row_stream *s, uint32_t *distinct, gf_error *err)
{
    uint32_t n = s->rows->n_rows, found = 0;
    uint64_t *hash = gf_array(n, sizeof *hash);
    gf_status st = hash ? GF_OK : gf_fail_memory(err, "rows");
    for (uint32_t first = 0, m; first < n && st == GF_OK; first += m) {
        gf_csr x = {0};
        m = rows_at(s, first);
        st = gf_row_file_read(s->rows, first, m, &x, err);
        for (uint32_t i = 0; i < m && st == GF_OK; i++)
            hash[first + i] = hash_row(gf_csr_row(&x, i));
        gf_csr_release(&x);
    }
    if (st == GF_OK) {
        qsort(hash, n, sizeof *hash, by_number);
        for (uint32_t i = 0; i < n; i++)
            found += i == 0 || hash[i] != hash[i - 1];
        *distinct = found;
    }
    gf_free(hash);
    return st;
}

/* ---- the worst fitting ----------------------------------------------------------------------- */

/* A row with its similarity and its hash. */
typedef struct unfit {
    uint32_t row;
    float own;
    uint64_t hash;
} unfit;

/* So far, by rising similarity: n of at most `most`. */
typedef struct worst {
    unfit *rows;
    uint32_t n, most;
} worst;

static bool is_worse(const worst *w, float own)
{
    return w->n < w->most || own < w->rows[w->most - 1].own;
}

/* Equal rows are equally similar. */
static void take_unfit(worst *w, const unfit *u)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->rows[i].own == u->own && w->rows[i].hash == u->hash) return;
    uint32_t at = w->n < w->most ? w->n++ : w->most - 1;
    for (; at > 0 && u->own < w->rows[at - 1].own; at--)
        w->rows[at] = w->rows[at - 1];
    w->rows[at] = *u;
}

/* The n rows from `first` on. Nothing is read where all of them fit better. */
static gf_status look_for_worst(const gf_row_stream *s, const float *own, uint32_t first,
                                uint32_t n, worst *w, gf_error *err)
{
    gf_csr x = {0};
    uint32_t i = first;
    while (i < first + n && !is_worse(w, own[i]))
        i++;
    if (i == first + n) return GF_OK;
    gf_status st = gf_row_file_read(s->rows, first, n, &x, err);
    for (; i < first + n && st == GF_OK; i++)
        if (is_worse(w, own[i]))
            take_unfit(w, &(unfit){i, own[i], hash_row(gf_csr_row(&x, i - first))});
    gf_csr_release(&x);
    return st;
}

gf_status gf_row_stream_worst(const gf_row_stream *s, const float *own, uint32_t most,
                              uint32_t *rows, uint32_t *found, gf_error *err)
{
    worst w = {gf_array(most, sizeof *w.rows), 0, most};
    gf_status st = w.rows ? GF_OK : gf_fail_memory(err, "clusters");
    for (uint32_t first = 0, n; first < s->rows->n_rows && st == GF_OK; first += n) {
        n = rows_at(s, first);
        st = look_for_worst(s, own, first, n, &w, err);
    }
    for (uint32_t i = 0; i < w.n && st == GF_OK; i++)
        rows[i] = w.rows[i].row;
    if (st == GF_OK) *found = w.n;
    gf_free(w.rows);
    return st;
}
