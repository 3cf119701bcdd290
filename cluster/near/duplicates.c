/*
 * Terms have a rank: by falling number of rows that have them. A row is posted under its rarest terms
 * alone, from the end of the ranks on, until what is left of it (its head) is shorter than `least`:
 *
 *     rank      0 ................................. n_terms
 *     row x     |------- head, |h| < least -----|== posted ==|
 *     row y     |---- head, |h| < least --|===== posted =====|
 *
 * Let the head of x be the longer one. If x and y share none of the terms behind it, then
 *
 *     x.y = (head of x).y <= |head of x| |y| < least
 *
 * So two rows that are near share a term that both are posted under, and frequent terms are not looked
 * at. A posting is 32 bytes: its row, and the row's sketch, the lengths of the parts that a row has in
 * PARTS sets of terms, dealt by a hash, each rounded up to a byte. By
 *
 *     x.y <= sum over the parts of |x there| |y there|
 *
 * one pass over the postings leaves out most pairs that share a rare word by chance, without a look
 * at either row; a finer sketch of FINE parts, a cache line of its row, leaves out most of the rest. The
 * others' cosines are computed.
 *
 * Rows come in blocks. Those of a block are compared with the representatives of the blocks before
 * (by any number of threads); those that are near none are posted for the time being, and all rows
 * of the block are compared with them; then one thread goes through the block in order, and only
 * its representatives stay posted. So a text that is there 100,000 times, changed a little each time,
 * costs 100,000 comparisons, and no pairs beyond a block's are kept.
 */
#include "cluster/near/duplicates.h"

#include "base/grow.h"
#include "base/memory.h"
#include "cluster/passes/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 2048, /* rows; also bounds the pairs that are held: BLOCK^2 / 2 */
    TASK = 128,   /* rows */
    FEW = 24,     /* entries of a row that are sorted by insertion */
    PARTS = 28,
    FINE = 64,
    UNIT = 255 /* of a sketch: the length 1 */
};

/* The error that sums of doubles may have, and more. */
#define SLACK 1e-9

typedef struct sketch {
    uint8_t length[PARTS];
    uint32_t point; /* of a posting; 0 of the row that it is compared with */
} sketch;

typedef struct fine_sketch {
    uint8_t length[FINE];
} fine_sketch;

_Static_assert(sizeof(sketch) == 32, "a sketch is compared as 32 bytes");

typedef struct pair {
    uint32_t point, other; /* other < point, of one block */
    double cosine;
} pair;

/* The scratch memory of one thread. */
typedef struct worker {
    uint32_t *met_by; /* n_points: the point + 1 that it was last met by */
    float *row;       /* n_cols: the row at hand; 0 elsewhere */
    uint32_t *met;    /* n_met of met_capacity: points that may be near the one at hand */
    size_t n_met, met_capacity;
    uint64_t *keys; /* of key_capacity: a row's entries by rank */
    size_t key_capacity;
    uint64_t n_all_met, n_weighed;
} worker;

/* The pairs of a task's rows with others of their block, by rising point. */
typedef struct pair_list {
    pair *at; /* n of capacity */
    size_t n, capacity;
} pair_list;

typedef struct finding {
    gf_pool *pool;
    const gf_csr *x;
    double least;
    int32_t least_sketch; /* products of sketches that are below it leave out a pair */
    const gf_cancel *cancel;

    uint32_t n_points; /* rows that differ and have entries, in order */
    uint32_t *row_of;  /* n_points */
    double *length;    /* n_points */
    sketch *sketches;  /* n_points */
    fine_sketch *fine; /* n_points */
    uint32_t *df;      /* n_cols: rows of these that have the term */

    uint64_t *first;   /* n_points + 1: of its terms in `entries` */
    uint32_t *entries; /* the terms that it is posted under */
    uint64_t *list;    /* n_cols + 1: where a term's postings begin */
    uint32_t *n_list;  /* n_cols: how many there are */
    sketch *postings;  /* of a term by rising point */

    uint32_t *of;   /* n_points: the representative */
    double *cosine; /* n_points: with it; 0: it is one, or not known yet */
    uint32_t block, block_end;
    pair_list pairs[BLOCK / TASK];
    worker *workers;
} finding;

/* ---- ranks ----------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sort a row's entries, rarest first: each key is its rows << 32 | the place in the row. */
static gf_status sort_row(const finding *f, worker *w, gf_row_view row, gf_error *err)
{
    if (!gf_grow(&w->keys, &w->key_capacity, row.n, sizeof *w->keys))
        return gf_fail_memory(err, "near-duplicates");
    for (uint32_t p = 0; p < row.n; p++) {
        uint64_t key = (uint64_t)f->df[row.col[p]] << 32 | p;
        uint32_t at = p;
        for (; row.n <= FEW && at > 0 && w->keys[at - 1] > key; at--)
            w->keys[at] = w->keys[at - 1];
        w->keys[at] = key;
    }
    if (row.n > FEW) qsort(w->keys, row.n, sizeof *w->keys, by_key);
    return GF_OK;
}

/* The terms that a point is posted under, rarest first, into `to` where that is not NULL. */
static uint32_t list_terms(const finding *f, const worker *w, gf_row_view row, double length,
                           uint32_t *to)
{
    double rest = 0, least = f->least - SLACK;
    uint32_t n = 0;
    if (!(length > 0)) return 0; /* entries of 0 */
    for (uint32_t p = 0; p < row.n; p++)
        rest += (double)row.val[p] / length * ((double)row.val[p] / length);
    for (; n < row.n && (least <= 0 || rest >= least * least); n++) {
        uint32_t p = (uint32_t)w->keys[n];
        double value = (double)row.val[p] / length;
        rest = n + 1 < row.n ? rest - value * value : 0;
        if (to) to[n] = row.col[p];
    }
    return n;
}

static gf_status count_task(void *context, size_t task, unsigned id, gf_error *err)
{
    finding *f = context;
    gf_status st = GF_OK;
    for (uint32_t p = (uint32_t)task * TASK, end = p + TASK; p < end && p < f->n_points; p++) {
        gf_row_view row = gf_csr_row(f->x, f->row_of[p]);
        double sum = 0;
        for (uint32_t i = 0; i < row.n; i++)
            sum += (double)row.val[i] * row.val[i];
        f->length[p] = sqrt(sum);
        st = sort_row(f, &f->workers[id], row, err);
        if (st != GF_OK) return st;
        f->first[p + 1] = list_terms(f, &f->workers[id], row, f->length[p], NULL);
    }
    return st;
}

/* Lengths are rounded up, so that no product of two sketches is below that of their rows. */
static void sketch_row(gf_row_view row, double length, uint32_t parts, uint8_t *out)
{
    double sum[FINE] = {0};
    for (uint32_t i = 0; i < row.n; i++) {
        double value = (double)row.val[i] / length;
        sum[((row.col[i] * UINT32_C(2654435761) >> 16) * parts) >> 16] += value * value;
    }
    for (uint32_t i = 0; i < parts; i++) {
        double part = ceil(sqrt(sum[i]) * UNIT);
        out[i] = part < UNIT ? (uint8_t)part : UNIT;
    }
}

static gf_status entry_task(void *context, size_t task, unsigned id, gf_error *err)
{
    finding *f = context;
    gf_status st = GF_OK;
    for (uint32_t p = (uint32_t)task * TASK, end = p + TASK; p < end && p < f->n_points; p++) {
        gf_row_view row = gf_csr_row(f->x, f->row_of[p]);
        st = sort_row(f, &f->workers[id], row, err);
        if (st != GF_OK) return st;
        list_terms(f, &f->workers[id], row, f->length[p], f->entries + f->first[p]);
        if (!(f->length[p] > 0)) continue; /* it is not posted */
        f->sketches[p].point = 0;
        sketch_row(row, f->length[p], PARTS, f->sketches[p].length);
        sketch_row(row, f->length[p], FINE, f->fine[p].length);
    }
    return st;
}

static gf_status run_tasks(finding *f, uint32_t n, gf_pool_task *task, gf_error *err)
{
    return gf_pool_run(f->pool, ((size_t)n + TASK - 1) / TASK, task, f, f->cancel, err);
}

/* All points' entries, and room for their postings. */
static gf_status list_entries(finding *f, gf_error *err)
{
    uint32_t n = f->n_points, n_cols = f->x->n_cols;
    f->df = gf_calloc(n_cols, sizeof *f->df);
    f->length = gf_array(n, sizeof *f->length);
    f->sketches = gf_array(n, sizeof *f->sketches);
    f->fine = gf_array(n, sizeof *f->fine);
    f->first = gf_array((size_t)n + 1, sizeof *f->first);
    f->list = gf_calloc((size_t)n_cols + 1, sizeof *f->list);
    f->n_list = gf_calloc(n_cols, sizeof *f->n_list);
    if (!f->df || !f->length || !f->sketches || !f->fine || !f->first || !f->list || !f->n_list)
        return gf_fail_memory(err, "near-duplicates");
    for (uint32_t p = 0; p < n; p++) {
        gf_row_view row = gf_csr_row(f->x, f->row_of[p]);
        for (uint32_t i = 0; i < row.n; i++)
            f->df[row.col[i]]++;
    }
    f->first[0] = 0;
    gf_status st = run_tasks(f, n, count_task, err);
    if (st != GF_OK) return st;
    for (uint32_t p = 0; p < n; p++)
        f->first[p + 1] += f->first[p];
    f->entries = gf_array(f->first[n], sizeof *f->entries);
    f->postings = gf_array(f->first[n], sizeof *f->postings);
    if (!f->entries || !f->postings) return gf_fail_memory(err, "near-duplicates");
    st = run_tasks(f, n, entry_task, err);
    if (st != GF_OK) return st;
    for (uint64_t e = 0; e < f->first[n]; e++)
        f->list[f->entries[e] + 1]++;
    for (uint32_t t = 0; t < n_cols; t++)
        f->list[t + 1] += f->list[t];
    return GF_OK;
}

/* ---- postings -------------------------------------------------------------------------------- */

static void post(finding *f, uint32_t point)
{
    sketch own = f->sketches[point];
    own.point = point;
    for (uint64_t e = f->first[point]; e < f->first[point + 1]; e++)
        f->postings[f->list[f->entries[e]] + f->n_list[f->entries[e]]++] = own;
}

/* The last that was posted goes first. */
static void take_back(finding *f, uint32_t point)
{
    for (uint64_t e = f->first[point]; e < f->first[point + 1]; e++)
        f->n_list[f->entries[e]]--;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static inline int32_t product_of(const uint8_t *a, const uint8_t *b, size_t n)
{
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (int16_t)a[i] * (int16_t)b[i];
    return sum;
}

/* All 32 bytes count, whose last four are 0 in one of them: so there is no rest to be added by itself. */
static inline int32_t product_of_sketches(const sketch *a, const sketch *b)
{
    return product_of((const uint8_t *)a, (const uint8_t *)b, sizeof *a);
}

/* Meet those of a term's postings, from the last on, that are in from..to-1. */
static gf_status meet_list(const finding *f, worker *w, uint32_t point, uint32_t term,
                           uint32_t from, uint32_t to, gf_error *err)
{
    const sketch own = f->sketches[point], *begin = f->postings + f->list[term];
    const sketch *p = begin + f->n_list[term], *end = p;
    while (p-- > begin && p->point >= from) {
        if (p->point >= to || product_of_sketches(&own, p) < f->least_sketch) continue;
        if (w->met_by[p->point] == point + 1) continue;
        w->met_by[p->point] = point + 1;
        const uint8_t *fine = f->fine[p->point].length;
        if (product_of(f->fine[point].length, fine, FINE) < f->least_sketch) continue;
        if (!gf_grow(&w->met, &w->met_capacity, w->n_met + 1, sizeof *w->met))
            return gf_fail_memory(err, "near-duplicates");
        w->met[w->n_met++] = p->point;
    }
    w->n_all_met += (uint64_t)(end - p - 1);
    return GF_OK;
}

static void spread_row(worker *w, gf_row_view row)
{
    for (uint32_t i = 0; i < row.n; i++)
        w->row[row.col[i]] = row.val[i];
}

static void clear_row(worker *w, gf_row_view row)
{
    for (uint32_t i = 0; i < row.n; i++)
        w->row[row.col[i]] = 0;
}

/* By rising column, as gf_csr_row_dot adds them: a column that only one has adds 0. */
static double weigh(const finding *f, worker *w, uint32_t point, uint32_t other)
{
    gf_row_view y = gf_csr_row(f->x, f->row_of[other]);
    double sum = 0;
    for (uint32_t i = 0; i < y.n; i++)
        sum += (double)w->row[y.col[i]] * (double)y.val[i];
    w->n_weighed++;
    double cosine = sum / (f->length[point] * f->length[other]);
    return cosine < 1 ? cosine : 1;
}

/* The best of those that were met becomes the point's; or where a list is given, all go there. */
static gf_status weigh_met(finding *f, worker *w, uint32_t point, pair_list *list, gf_error *err)
{
    gf_row_view row = gf_csr_row(f->x, f->row_of[point]);
    gf_status st = GF_OK;
    if (w->n_met) spread_row(w, row);
    for (size_t i = 0; i < w->n_met && st == GF_OK; i++) {
        uint32_t other = w->met[i];
        double cosine = weigh(f, w, point, other);
        if (cosine < f->least) continue;
        if (!list) {
            bool better =
                cosine > f->cosine[point] || (cosine == f->cosine[point] && other < f->of[point]);
            if (better) f->cosine[point] = cosine, f->of[point] = other;
        } else if (gf_grow(&list->at, &list->capacity, list->n + 1, sizeof *list->at)) {
            list->at[list->n++] = (pair){point, other, cosine};
        } else {
            st = gf_fail_memory(err, "near-duplicates");
        }
    }
    if (w->n_met) clear_row(w, row);
    w->n_met = 0;
    return st;
}

static gf_status compare(finding *f, worker *w, uint32_t point, uint32_t from, uint32_t to,
                         pair_list *list, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint64_t e = f->first[point]; e < f->first[point + 1] && st == GF_OK; e++)
        st = meet_list(f, w, point, f->entries[e], from, to, err);
    return st == GF_OK ? weigh_met(f, w, point, list, err) : st;
}

/* With the representatives of the blocks before. */
static gf_status before_task(void *context, size_t task, unsigned id, gf_error *err)
{
    finding *f = context;
    uint32_t p = f->block + (uint32_t)task * TASK, end = p + TASK;
    gf_status st = GF_OK;
    for (; p < end && p < f->block_end && st == GF_OK; p++) {
        f->of[p] = p;
        f->cosine[p] = 0;
        st = compare(f, &f->workers[id], p, 0, f->block, NULL, err);
    }
    return st;
}

/* With those of the block that are near none of these. */
static gf_status within_task(void *context, size_t task, unsigned id, gf_error *err)
{
    finding *f = context;
    uint32_t p = f->block + (uint32_t)task * TASK, end = p + TASK;
    pair_list *list = &f->pairs[task];
    gf_status st = GF_OK;
    list->n = 0;
    for (; p < end && p < f->block_end && st == GF_OK; p++)
        st = compare(f, &f->workers[id], p, f->block, p, list, err);
    return st;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Points that are near a representative of their block become its members, or another's that is nearer.
   Pairs come by rising point, so that what the other is has been settled. */
static void settle_pairs(finding *f)
{
    for (uint32_t task = 0; task < BLOCK / TASK && f->block + task * TASK < f->block_end; task++)
        for (size_t i = 0; i < f->pairs[task].n; i++) {
            const pair *at = &f->pairs[task].at[i];
            uint32_t p = at->point;
            if (f->of[at->other] != at->other) continue;
            bool better =
                at->cosine > f->cosine[p] || (at->cosine == f->cosine[p] && at->other < f->of[p]);
            if (better) f->cosine[p] = at->cosine, f->of[p] = at->other;
        }
}

static gf_status settle_block(finding *f, gf_error *err)
{
    uint32_t n = f->block_end - f->block;
    gf_status st = run_tasks(f, n, before_task, err);
    if (st != GF_OK) return st;
    bool alone[BLOCK]; /* posted for the time being */
    for (uint32_t p = f->block; p < f->block_end; p++) {
        alone[p - f->block] = f->of[p] == p;
        if (f->of[p] == p) post(f, p);
    }
    st = run_tasks(f, n, within_task, err);
    if (st != GF_OK) return st;
    for (uint32_t p = f->block_end; p-- > f->block;)
        if (alone[p - f->block]) take_back(f, p);
    settle_pairs(f);
    for (uint32_t p = f->block; p < f->block_end; p++)
        if (f->of[p] == p) post(f, p);
    return GF_OK;
}

static gf_status settle_blocks(finding *f, gf_error *err)
{
    unsigned n_workers = gf_pool_size(f->pool);
    gf_status st = GF_OK;
    for (unsigned i = 0; i < n_workers; i++) {
        worker *w = &f->workers[i];
        w->met_by = gf_calloc(f->n_points, sizeof *w->met_by);
        w->row = gf_calloc(f->x->n_cols, sizeof *w->row);
        if (!w->met_by || !w->row) return gf_fail_memory(err, "near-duplicates");
    }
    for (f->block = 0; f->block < f->n_points && st == GF_OK; f->block = f->block_end) {
        f->block_end = f->n_points - f->block < BLOCK ? f->n_points : f->block + BLOCK;
        st = settle_block(f, err);
    }
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Number the rows that differ by the order: point_of[i], which named one, becomes its point. */
static gf_status order_points(finding *f, const gf_fold_list *fold, const uint32_t *order,
                              uint32_t *point_of, gf_error *err)
{
    uint32_t *point = gf_array(fold->n, sizeof *point), n = 0;
    f->row_of = gf_array(fold->n, sizeof *f->row_of);
    f->of = gf_array(fold->n, sizeof *f->of);
    f->cosine = gf_array(fold->n, sizeof *f->cosine);
    if (!point || !f->row_of || !f->of || !f->cosine) {
        gf_free(point);
        return gf_fail_memory(err, "near-duplicates");
    }
    memset(point, 0xFF, fold->n * sizeof *point);
    for (uint32_t i = 0; i < f->x->n_rows; i++) {
        uint32_t row = order ? order[i] : i, folded = fold->point_of[row];
        if (folded == GF_NO_POINT) {
            point_of[row] = GF_NO_POINT;
            continue;
        }
        if (point[folded] == UINT32_MAX) {
            f->row_of[n] = row;
            point[folded] = n++;
        }
        point_of[row] = point[folded];
    }
    f->n_points = n;
    gf_free(point);
    return GF_OK;
}

static gf_status tell_rows(const finding *f, const uint32_t *point_of, gf_duplicates *out,
                           gf_error *err)
{
    uint32_t n = f->x->n_rows;
    gf_duplicates d = {.n = n, .distinct = f->n_points};
    bool *has = gf_calloc(n, sizeof *has);
    d.of = gf_array(n, sizeof *d.of);
    d.cosine = gf_array(n, sizeof *d.cosine);
    if (!has || !d.of || !d.cosine) {
        gf_free(has);
        gf_duplicates_release(&d);
        return gf_fail_memory(err, "near-duplicates");
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = point_of[i];
        bool any = p != GF_NO_POINT && f->length[p] > 0; /* and not entries of 0 alone */
        d.of[i] = any ? f->row_of[f->of[p]] : i;
        d.cosine[i] = any && f->of[p] != p ? f->cosine[p] : 1;
        if (d.of[i] == i) continue;
        d.copies++;
        d.groups += !has[d.of[i]];
        has[d.of[i]] = true;
    }
    d.posted = f->first ? f->first[f->n_points] : 0;
    for (unsigned i = 0; f->workers && i < gf_pool_size(f->pool); i++) {
        d.met += f->workers[i].n_all_met;
        d.weighed += f->workers[i].n_weighed;
    }
    gf_free(has);
    *out = d;
    return GF_OK;
}

static void release_finding(finding *f)
{
    for (unsigned i = 0; f->workers && i < gf_pool_size(f->pool); i++) {
        gf_free(f->workers[i].met_by);
        gf_free(f->workers[i].row);
        gf_free(f->workers[i].met);
        gf_free(f->workers[i].keys);
    }
    gf_free(f->workers);
    for (size_t i = 0; i < BLOCK / TASK; i++)
        gf_free(f->pairs[i].at);
    gf_free(f->row_of);
    gf_free(f->length);
    gf_free(f->sketches);
    gf_free(f->fine);
    gf_free(f->df);
    gf_free(f->first);
    gf_free(f->entries);
    gf_free(f->list);
    gf_free(f->n_list);
    gf_free(f->postings);
    gf_free(f->of);
    gf_free(f->cosine);
}

gf_status gf_duplicates_find(gf_pool *pool, const gf_csr *x, const uint32_t *order, double least,
                             const gf_cancel *cancel, gf_duplicates *out, gf_error *err)
{
    if (!(least > 0 && least <= 1))
        return gf_fail(err, GF_EINVAL, "the least similarity is above 0, and at most 1");
    finding f = {.pool = pool, .x = x, .least = least, .cancel = cancel};
    f.least_sketch = (int32_t)((least - SLACK) * UNIT * UNIT); /* rounded down */
    gf_fold_list fold = {0};
    uint32_t *point_of = gf_array(x->n_rows, sizeof *point_of);
    f.workers = gf_calloc(gf_pool_size(pool), sizeof *f.workers);
    gf_status st = point_of && f.workers ? GF_OK : gf_fail_memory(err, "near-duplicates");
    if (st == GF_OK) st = gf_fold_list_rows(pool, x, &fold, err);
    if (st == GF_OK) st = order_points(&f, &fold, order, point_of, err);
    gf_fold_list_release(&fold);
    if (st == GF_OK) st = list_entries(&f, err);
    if (st == GF_OK) st = settle_blocks(&f, err);
    if (st == GF_OK) st = tell_rows(&f, point_of, out, err);
    release_finding(&f);
    gf_free(point_of);
    return st;
}

void gf_duplicates_release(gf_duplicates *d)
{
    gf_free(d->of);
    gf_free(d->cosine);
    *d = (gf_duplicates){0};
}
