#include "cluster/large/branches.h"

#include "base/grid.h"
#include "base/memory.h"
#include "cluster/large/strongest.h"
#include "cluster/moves/seed.h"
#include "cluster/passes/lloyd.h"
#include "cluster/passes/sort_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    STRONG_TERMS = 64,   /* of a centre, by which it finds its branch */
    TOP_TERMS = 8192,    /* of a branch, by which rows find it */
    SETTLING_PASSES = 5, /* of the centres among the branches */
    CENTRES_PER_TASK = 256,
    ROWS_PER_PIECE = 16384, /* rows of a branch that one task scores */
    LEAST_WINDOW = 1 << 16, /* rows at a time; or 4 for each centre, so that a branch's index, */
    MOST_WINDOW = 1 << 19,  /* which is made for each window, serves some thousand rows */
    WINDOW_PER_CLUSTER = 4,
    ALIGNMENT = 64
};

/* The draws for the branches are the same whoever asks. */
#define SEED UINT64_C(0x6272616e63686573)

/* ---- the centres in an order of their own ---------------------------------------------------- */

typedef struct known_centre {
    uint64_t hash;
    uint32_t cluster;
} known_centre;

/* A tree that is being made. */
typedef struct making {
    gf_branches *b;
    known_centre *known; /* n, by hash: an order that clusters' numbers have no part in */
    uint32_t n;          /* centres that are not empty */
    gf_csr strong;       /* n: their strongest terms, at unit length */
    gf_centres top;      /* b->n */
    uint32_t *member;    /* n: places in `known`, by branch */
    float **largest;     /* per worker: n_terms, zero between branches */
    unsigned workers;
} making;

static int by_hash(const void *a, const void *b)
{
    const known_centre *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

static gf_status order_centres(making *m, gf_error *err)
{
    const gf_centres *c = m->b->centres;
    m->known = gf_array(c->k, sizeof *m->known);
    if (!m->known) return gf_fail_memory(err, "branches of clusters");
    for (uint32_t j = 0; j < c->k; j++) {
        const gf_centre *at = &c->at[j];
        if (at->n == 0) continue;
        uint64_t terms = XXH3_64bits(at->term, at->n * sizeof *at->term);
        m->known[m->n++] =
            (known_centre){XXH3_64bits_withSeed(at->value, at->n * sizeof *at->value, terms), j};
    }
    qsort(m->known, m->n, sizeof *m->known, by_hash);
    return GF_OK;
}

static const gf_centre *known_at(const making *m, size_t i)
{
    return &m->b->centres->at[m->known[i].cluster];
}

static gf_status strong_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    making *m = context;
    uint32_t at[STRONG_TERMS];
    size_t from = task * CENTRES_PER_TASK, to = from + CENTRES_PER_TASK;
    for (size_t i = from; i < to && i < m->n; i++) {
        const gf_centre *c = known_at(m, i);
        uint32_t n = gf_strongest_find(c->value, c->n, STRONG_TERMS, at);
        uint32_t *col = m->strong.col + m->strong.start[i];
        float *val = m->strong.val + m->strong.start[i];
        double squares = 0;
        for (uint32_t p = 0; p < n; p++)
            squares += (double)c->value[at[p]] * (double)c->value[at[p]];
        for (uint32_t p = 0; p < n; p++) {
            col[p] = c->term[at[p]];
            val[p] = gf_grid_round((double)c->value[at[p]] / sqrt(squares));
        }
    }
    return GF_OK;
}

static gf_status take_strongest(making *m, gf_pool *pool, const gf_cancel *cancel, gf_error *err)
{
    gf_csr *x = &m->strong;
    uint64_t entries = 0;
    for (uint32_t i = 0; i < m->n; i++)
        entries += known_at(m, i)->n < STRONG_TERMS ? known_at(m, i)->n : STRONG_TERMS;
    gf_status st = gf_csr_init(x, m->n, m->b->centres->n_terms, entries, err);
    if (st != GF_OK) return st;
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t n = known_at(m, i)->n;
        x->start[i + 1] = x->start[i] + (n < STRONG_TERMS ? n : STRONG_TERMS);
    }
    size_t tasks = ((size_t)m->n + CENTRES_PER_TASK - 1) / CENTRES_PER_TASK;
    return gf_pool_run(pool, tasks, strong_task, m, cancel, err);
}

/* ---- branches -------------------------------------------------------------------------------- */

/* Clusters of the centres by their strongest terms. */
static gf_status part_centres(making *m, gf_pool *pool, const gf_cancel *cancel, gf_error *err)
{
    gf_branches *b = m->b;
    gf_points points = {&m->strong, NULL};
    gf_random random = gf_random_seed(SEED, 0);
    gf_passes *passes = NULL;
    gf_passes_made made;
    gf_partition p = {0};
    b->n = (uint32_t)lrint(2 * sqrt(m->n));
    if (b->n > m->n) b->n = m->n;
    gf_status st = gf_partition_init(&p, m->n, b->n, m->strong.n_cols, err);
    if (st == GF_OK) st = gf_seed_centres(pool, &points, &random, &p.centres, cancel, err);
    if (st == GF_OK) st = gf_passes_create(pool, &points, b->n, cancel, &passes, err);
    if (st == GF_OK) st = gf_passes_run(passes, &p, 0.01, SETTLING_PASSES, &made, err);
    gf_passes_free(passes);
    b->start = gf_array((size_t)b->n + 1, sizeof *b->start);
    m->member = gf_array(m->n, sizeof *m->member);
    b->leaf = gf_array(m->n, sizeof *b->leaf);
    if (st == GF_OK && !(b->start && m->member && b->leaf))
        st = gf_fail_memory(err, "branches of clusters");
    if (st == GF_OK) gf_centres_sort_rows(p.label, m->n, b->n, b->start, m->member);
    gf_partition_release(&p);
    return st;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The largest values of a branch's centres; the strongest of them are what it is found by. */
static gf_status join_branch_task(void *context, size_t branch, unsigned worker, gf_error *err)
{
    making *m = context;
    gf_branches *b = m->b;
    float *largest = m->largest[worker];
    gf_centre *to = &m->top.at[branch];
    uint32_t from = b->start[branch], end = b->start[branch + 1], n = 0, n_terms = m->top.n_terms;
    for (uint32_t i = from; i < end; i++) {
        const gf_centre *c = known_at(m, m->member[i]);
        for (uint32_t p = 0; p < c->n; p++)
            if (c->value[p] > largest[c->term[p]]) largest[c->term[p]] = c->value[p];
        b->leaf[i] = m->known[m->member[i]].cluster;
    }
    qsort(b->leaf + from, end - from, sizeof *b->leaf, by_number);
    for (uint32_t t = 0; t < n_terms; t++)
        n += largest[t] > 0;
    gf_status st = GF_OK;
    to->term = gf_array(n, sizeof *to->term);
    to->value = gf_array(n, sizeof *to->value);
    if (!to->term || !to->value) st = gf_fail_memory(err, "branches of clusters");
    double squares = 0;
    for (uint32_t t = 0; t < n_terms; t++) {
        if (st == GF_OK && largest[t] > 0) {
            to->term[to->n] = t;
            to->value[to->n++] = largest[t];
            squares += (double)largest[t] * (double)largest[t];
        }
        largest[t] = 0;
    }
    for (uint32_t p = 0; p < to->n; p++)
        to->value[p] = (float)((double)to->value[p] / sqrt(squares));
    to->capacity = to->n;
    to->length = 1;
    return st == GF_OK ? gf_strongest_keep(to, TOP_TERMS, err) : st;
}

static gf_status index_top(making *m, gf_pool *pool, const gf_cancel *cancel, gf_error *err)
{
    gf_branches *b = m->b;
    uint32_t n_terms = b->centres->n_terms;
    m->workers = gf_pool_size(pool);
    m->largest = gf_calloc(m->workers, sizeof *m->largest);
    gf_status st = m->largest ? GF_OK : gf_fail_memory(err, "branches of clusters");
    for (unsigned w = 0; st == GF_OK && w < m->workers; w++)
        if (!(m->largest[w] = gf_calloc(n_terms, sizeof **m->largest)))
            st = gf_fail_memory(err, "branches of clusters");
    if (st == GF_OK) st = gf_centres_init(&m->top, b->n, n_terms, err);
    if (st == GF_OK) st = gf_pool_run(pool, b->n, join_branch_task, m, cancel, err);
    float *key = gf_calloc(b->n, sizeof *key);
    if (st == GF_OK && !key) st = gf_fail_memory(err, "branches of clusters");
    if (st == GF_OK) st = gf_centre_index_init(&b->top, b->n, n_terms, err);
    if (st == GF_OK) st = gf_centre_index_build(&b->top, &m->top, key, pool, err);
    gf_free(key);
    return st;
}

bool gf_branches_serve(const gf_centres *c)
{
    uint64_t entries = 0;
    for (uint32_t j = 0; j < c->k; j++)
        entries += c->at[j].n;
    return c->k > GF_BRANCHES_ABOVE && 2 * entries < (uint64_t)c->k * c->n_terms;
}

gf_status gf_branches_init(gf_branches *b, const gf_centres *centres, gf_pool *pool,
                           const gf_cancel *cancel, gf_error *err)
{
    making m = {.b = b};
    *b = (gf_branches){.centres = centres, .kernels = gf_scoring_kernels_choose()};
    gf_status st = order_centres(&m, err);
    if (st == GF_OK && m.n == 0) st = gf_fail(err, GF_EINVAL, "no cluster has a centre");
    if (st == GF_OK) st = take_strongest(&m, pool, cancel, err);
    if (st == GF_OK) st = part_centres(&m, pool, cancel, err);
    if (st == GF_OK) st = index_top(&m, pool, cancel, err);
    for (unsigned w = 0; m.largest && w < m.workers; w++)
        gf_free(m.largest[w]);
    gf_free(m.largest);
    gf_free(m.known);
    gf_free(m.member);
    gf_csr_release(&m.strong);
    gf_centres_release(&m.top);
    if (st != GF_OK) gf_branches_release(b);
    return st;
}

void gf_branches_release(gf_branches *b)
{
    gf_free(b->start);
    gf_free(b->leaf);
    gf_centre_index_release(&b->top);
    *b = (gf_branches){0};
}

/* ---- a row ----------------------------------------------------------------------------------- */

static uint32_t pad(uint32_t columns)
{
    return (columns + GF_COLUMN_BLOCK - 1) / GF_COLUMN_BLOCK * GF_COLUMN_BLOCK;
}

uint32_t gf_branches_stride(const gf_branches *b)
{
    uint32_t most = b->n;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->start[i + 1] - b->start[i] > most) most = b->start[i + 1] - b->start[i];
    return 2 * pad(most);
}

uint32_t gf_branches_route(const gf_branches *b, gf_row_view row, float *scores,
                           uint32_t branch[GF_BRANCHES_WIDTH])
{
    float best[GF_BRANCHES_WIDTH];
    uint32_t n = 0;
    b->kernels->score(&b->top, row, b->n, scores);
    for (uint32_t j = 0; j < b->n; j++) {
        if (n == GF_BRANCHES_WIDTH && !(scores[j] > best[n - 1])) continue;
        uint32_t at = n < GF_BRANCHES_WIDTH ? n++ : n - 1;
        for (; at > 0 && scores[j] > best[at - 1]; at--) {
            best[at] = best[at - 1];
            branch[at] = branch[at - 1];
        }
        best[at] = scores[j];
        branch[at] = j;
    }
    return n;
}

gf_status gf_branches_index(const gf_branches *b, uint32_t branch, gf_centre_index *index,
                            gf_error *err)
{
    uint32_t from = b->start[branch], k = b->start[branch + 1] - from;
    gf_centres part = {k, b->centres->n_terms, gf_array(k, sizeof *part.at)};
    float *key = gf_calloc(k, sizeof *key);
    gf_status st = part.at && key ? GF_OK : gf_fail_memory(err, "the index of a branch");
    for (uint32_t j = 0; st == GF_OK && j < k; j++)
        part.at[j] = b->centres->at[b->leaf[from + j]];
    if (st == GF_OK) st = gf_centre_index_init(index, k, part.n_terms, err);
    if (st == GF_OK) {
        st = gf_centre_index_build(index, &part, key, NULL, err);
        if (st != GF_OK) gf_centre_index_release(index);
    }
    gf_free(part.at);
    gf_free(key);
    return st;
}

/* ---- packed indexes -------------------------------------------------------------------------- */

/* The terms of a branch's centres, and for each term its place among them. place: n_terms, zeros */
static gf_status list_terms(const gf_branches *b, uint32_t branch, uint32_t *place,
                            gf_branch_packed *packed, gf_error *err)
{
    uint32_t n_terms = b->centres->n_terms;
    for (uint32_t i = b->start[branch]; i < b->start[branch + 1]; i++) {
        const gf_centre *c = &b->centres->at[b->leaf[i]];
        for (uint32_t p = 0; p < c->n; p++) {
            packed->n_terms += !place[c->term[p]];
            place[c->term[p]] = 1;
        }
    }
    packed->term = gf_array(packed->n_terms, sizeof *packed->term);
    if (!packed->term) return gf_fail_memory(err, "the index of a branch");
    for (uint32_t t = 0, n = 0; t < n_terms; t++) {
        if (!place[t]) continue;
        packed->term[n] = t;
        place[t] = n++;
    }
    return GF_OK;
}

/* Copies of a branch's centres over those places. */
static gf_status place_centres(const gf_branches *b, uint32_t branch, const uint32_t *place,
                               gf_centres *part, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t j = 0; st == GF_OK && j < part->k; j++) {
        const gf_centre *c = &b->centres->at[b->leaf[b->start[branch] + j]];
        st = gf_centres_set_row(part, j, gf_centre_row(c), err);
        for (uint32_t p = 0; st == GF_OK && p < c->n; p++)
            part->at[j].term[p] = place[c->term[p]];
    }
    return st;
}

gf_status gf_branches_pack(const gf_branches *b, uint32_t branch, gf_branch_packed *packed,
                           gf_error *err)
{
    uint32_t k = b->start[branch + 1] - b->start[branch];
    gf_centres part = {0};
    uint32_t *place = gf_calloc(b->centres->n_terms, sizeof *place);
    float *key = gf_calloc(k, sizeof *key);
    *packed = (gf_branch_packed){.n_terms = 0};
    gf_status st = place && key ? GF_OK : gf_fail_memory(err, "the index of a branch");
    if (st == GF_OK) st = list_terms(b, branch, place, packed, err);
    if (st == GF_OK) st = gf_centres_init(&part, k, packed->n_terms, err);
    if (st == GF_OK) st = place_centres(b, branch, place, &part, err);
    if (st == GF_OK) st = gf_centre_index_init(&packed->index, k, packed->n_terms, err);
    if (st == GF_OK) st = gf_centre_index_build(&packed->index, &part, key, NULL, err);
    gf_centres_release(&part);
    gf_free(place);
    gf_free(key);
    if (st != GF_OK) gf_branches_unpack(packed);
    return st;
}

void gf_branches_unpack(gf_branch_packed *packed)
{
    gf_centre_index_release(&packed->index);
    gf_free(packed->term);
    *packed = (gf_branch_packed){.n_terms = 0};
}

gf_row_view gf_branches_pack_row(const gf_branch_packed *packed, gf_row_view row, uint32_t *col,
                                 float *val)
{
    gf_row_view out = {col, val, 0};
    uint32_t from = 0;
    for (uint32_t p = 0; p < row.n && from < packed->n_terms; p++) {
        uint32_t high = packed->n_terms;
        while (from < high) {
            uint32_t middle = from + (high - from) / 2;
            if (packed->term[middle] < row.col[p])
                from = middle + 1;
            else
                high = middle;
        }
        if (from == packed->n_terms || packed->term[from] != row.col[p]) continue;
        col[out.n] = from++;
        val[out.n++] = row.val[p];
    }
    return out;
}

/* ---- a row in a branch ----------------------------------------------------------------------- */

static bool is_nearer(uint32_t a, double of_a, uint32_t b, double of_b)
{
    return of_a != of_b ? of_a > of_b : a < b;
}

static void offer(gf_nearest_two *two, uint32_t cluster, double similarity)
{
    if (is_nearer(cluster, similarity, two->cluster, two->similarity)) {
        two->runner_up = two->cluster;
        two->of_second = two->similarity;
        two->cluster = cluster;
        two->similarity = similarity;
    } else if (is_nearer(cluster, similarity, two->runner_up, two->of_second)) {
        two->runner_up = cluster;
        two->of_second = similarity;
    }
}

void gf_branches_look(const gf_branches *b, uint32_t branch, const gf_centre_index *index,
                      gf_row_view row, float *scores, gf_nearest_two *two)
{
    const uint32_t *leaf = b->leaf + b->start[branch];
    gf_nearest_two here = gf_centre_index_nearest(index, b->kernels, row, 0, scores);
    offer(two, leaf[here.cluster], here.similarity);
    if (here.runner_up != UINT32_MAX) offer(two, leaf[here.runner_up], here.of_second);
}

/* ---- many rows ------------------------------------------------------------------------------- */

/* Rows that reach a branch: places of GF_BRANCHES_WIDTH for each row. */
typedef struct piece {
    uint32_t branch, from, to; /* places[from] .. places[to - 1] */
} piece;

typedef struct assigning {
    const gf_branches *b;
    const gf_csr *x;
    uint32_t first, n;     /* the window's rows */
    uint32_t width;        /* branches that each row reaches */
    uint32_t *branch;      /* n * width: those of each row */
    gf_nearest_two *found; /* n * width: what it found there */
    uint32_t *places;      /* n * width: of those, by branch */
    piece *pieces;
    uint32_t stride;
    void **block; /* per worker */
    float **scores;
    unsigned workers;
    uint32_t *label, *runner_up; /* of all rows */
    float *own, *other;
} assigning;

static uint32_t rows_to(const assigning *a, uint32_t from)
{
    return a->n - from < GF_ROWS_PER_TASK ? a->n : from + GF_ROWS_PER_TASK;
}

static gf_status route_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)err;
    const assigning *a = context;
    uint32_t from = (uint32_t)task * GF_ROWS_PER_TASK, to = rows_to(a, from);
    uint32_t branch[GF_BRANCHES_WIDTH];
    for (uint32_t i = from; i < to; i++) {
        gf_branches_route(a->b, gf_csr_row(a->x, a->first + i), a->scores[worker], branch);
        memcpy(a->branch + (size_t)i * a->width, branch, a->width * sizeof *branch);
    }
    return GF_OK;
}

static gf_status look_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    const assigning *a = context;
    const piece *p = &a->pieces[task];
    gf_centre_index index;
    gf_status st = gf_branches_index(a->b, p->branch, &index, err);
    if (st != GF_OK) return st;
    for (uint32_t i = p->from; i < p->to; i++) {
        gf_nearest_two *two = &a->found[a->places[i]];
        *two = GF_BRANCHES_NOTHING;
        gf_branches_look(a->b, p->branch, &index,
                         gf_csr_row(a->x, a->first + a->places[i] / a->width), a->scores[worker],
                         two);
    }
    gf_centre_index_release(&index);
    return GF_OK;
}

/* The best two of what a row found in its branches. */
static gf_status take_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const assigning *a = context;
    uint32_t from = (uint32_t)task * GF_ROWS_PER_TASK, to = rows_to(a, from);
    for (uint32_t i = from; i < to; i++) {
        const gf_nearest_two *here = a->found + (size_t)i * a->width;
        gf_nearest_two two = GF_BRANCHES_NOTHING;
        for (uint32_t r = 0; r < a->width; r++) {
            offer(&two, here[r].cluster, here[r].similarity);
            if (here[r].runner_up != UINT32_MAX) offer(&two, here[r].runner_up, here[r].of_second);
        }
        bool has_second = two.runner_up != UINT32_MAX;
        a->label[a->first + i] = two.cluster;
        a->own[a->first + i] = (float)two.similarity;
        a->other[a->first + i] = has_second ? (float)two.of_second : 0;
        if (a->runner_up) a->runner_up[a->first + i] = two.runner_up;
    }
    return GF_OK;
}

static gf_status assign_window(assigning *a, gf_pool *pool, uint32_t *start,
                               const gf_cancel *cancel, gf_error *err)
{
    size_t tasks = ((size_t)a->n + GF_ROWS_PER_TASK - 1) / GF_ROWS_PER_TASK;
    uint32_t pieces = 0;
    gf_status st = gf_pool_run(pool, tasks, route_task, a, cancel, err);
    if (st == GF_OK)
        st = gf_sort_rows(pool, a->branch, a->n * a->width, a->b->n, start, a->places, err);
    if (st != GF_OK) return st;
    for (uint32_t j = 0; j < a->b->n; j++)
        for (uint32_t from = start[j], to; from < start[j + 1]; from = to) {
            to = start[j + 1] - from < ROWS_PER_PIECE ? start[j + 1] : from + ROWS_PER_PIECE;
            a->pieces[pieces++] = (piece){j, from, to};
        }
    st = gf_pool_run(pool, pieces, look_task, a, cancel, err);
    return st == GF_OK ? gf_pool_run(pool, tasks, take_task, a, cancel, err) : st;
}

static bool make_scores(assigning *a)
{
    a->block = gf_calloc(a->workers, sizeof *a->block);
    a->scores = gf_calloc(a->workers, sizeof *a->scores);
    for (unsigned w = 0; a->block && a->scores && w < a->workers; w++) {
        a->block[w] = gf_array(a->stride + ALIGNMENT / sizeof(float), sizeof(float));
        uintptr_t at = (uintptr_t)a->block[w];
        if (!at) return false;
        a->scores[w] = (float *)((at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    }
    return a->block && a->scores;
}

gf_status gf_branches_assign(const gf_branches *b, gf_pool *pool, const gf_csr *x, uint32_t *label,
                             uint32_t *runner_up, float *own, float *other, const gf_cancel *cancel,
                             gf_error *err)
{
    uint64_t window = (uint64_t)WINDOW_PER_CLUSTER * b->centres->k;
    if (window < LEAST_WINDOW) window = LEAST_WINDOW;
    if (window > MOST_WINDOW) window = MOST_WINDOW;
    if (window > x->n_rows) window = x->n_rows;
    assigning a = {.b = b,
                   .x = x,
                   .width = b->n < GF_BRANCHES_WIDTH ? b->n : GF_BRANCHES_WIDTH,
                   .stride = gf_branches_stride(b),
                   .workers = gf_pool_size(pool),
                   .label = label,
                   .runner_up = runner_up,
                   .own = own,
                   .other = other};
    uint64_t places = window * a.width;
    a.branch = gf_array(places, sizeof *a.branch);
    a.found = gf_array(places, sizeof *a.found);
    a.places = gf_array(places, sizeof *a.places);
    a.pieces = gf_array(places / ROWS_PER_PIECE + b->n, sizeof *a.pieces);
    uint32_t *start = gf_array((size_t)b->n + 1, sizeof *start);
    bool ok = a.branch && a.found && a.places && a.pieces && start && make_scores(&a);
    gf_status st = ok ? GF_OK : gf_fail_memory(err, "assigning rows");
    for (; st == GF_OK && a.first < x->n_rows; a.first += a.n) {
        a.n = x->n_rows - a.first < window ? x->n_rows - a.first : (uint32_t)window;
        st = assign_window(&a, pool, start, cancel, err);
    }
    for (unsigned w = 0; a.block && w < a.workers; w++)
        gf_free(a.block[w]);
    gf_free(a.block);
    gf_free(a.scores);
    gf_free(a.branch);
    gf_free(a.found);
    gf_free(a.places);
    gf_free(a.pieces);
    gf_free(start);
    return st;
}
