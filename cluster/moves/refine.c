#include "cluster/moves/refine.h"

#include "base/memory.h"
#include "cluster/moves/constants.h"
#include "cluster/moves/groups.h"
#include "cluster/passes/sort_rows.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 3, FIRST_SLOTS = 1 << 12, ALIGNMENT = 64 };

#define TOLERANCE 0.005 /* share of the rows that moved in a sweep: below, it is the last */

/* One thread's scratch memory. */
typedef struct scratch {
    uint32_t *slot; /* n_terms: of each term, or NO_SLOT; that between two groups */
    uint32_t *term; /* n_slots of capacity: the term of each slot */
    float *sum;     /* n_slots * GF_GROUP of capacity, aligned */
    void *block;    /* what sum lies in */
    uint32_t n_slots, capacity;
} scratch;

#define NO_SLOT UINT32_MAX

typedef struct refining {
    const gf_points *points;
    gf_partition *p;
    const gf_kernels *kernels;
    const gf_cancel *cancel;
    gf_groups groups;
    uint32_t *start; /* k + 1: where each cluster's rows lie in `rows` */
    uint32_t *rows;  /* n: by cluster, then by number */
    bool *changed;   /* k */
    scratch *scratch;
    unsigned workers;
} refining;

/* A group that is being refined. */
typedef struct group {
    const refining *r;
    scratch *s;
    const uint32_t *cluster; /* n */
    uint32_t n;
    uint32_t size[GF_GROUP];                                     /* rows */
    double squares[GF_GROUP];                                    /* |S|^2 */
    float length[GF_GROUP] __attribute__((aligned(ALIGNMENT)));  /* |S| */
    float squared[GF_GROUP] __attribute__((aligned(ALIGNMENT))); /* |S|^2 */
} group;

/* ---- sums ------------------------------------------------------------------------------------ */

static gf_status grow_slots(scratch *s, gf_error *err)
{
    uint32_t capacity = s->capacity ? s->capacity * 2 : FIRST_SLOTS;
    uint32_t *term = gf_realloc(s->term, capacity, sizeof *term);
    if (term) s->term = term;
    void *block = gf_array((size_t)capacity + 1, GF_GROUP * sizeof *s->sum);
    if (!term || !block) {
        gf_free(block);
        return gf_fail_memory(err, "refining clusters");
    }
    uintptr_t at = (uintptr_t)block;
    float *sum = (float *)((at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (s->n_slots) memcpy(sum, s->sum, (size_t)s->n_slots * GF_GROUP * sizeof *sum);
    gf_free(s->block);
    s->block = block;
    s->sum = sum;
    s->capacity = capacity;
    return GF_OK;
}

/* Give each term of a row a slot. */
static gf_status place_row(scratch *s, gf_row_view row, gf_error *err)
{
    for (uint32_t p = 0; p < row.n; p++) {
        if (s->slot[row.col[p]] != NO_SLOT) continue;
        gf_status st = s->n_slots < s->capacity ? GF_OK : grow_slots(s, err);
        if (st != GF_OK) return st;
        memset(s->sum + (size_t)s->n_slots * GF_GROUP, 0, GF_GROUP * sizeof *s->sum);
        s->term[s->n_slots] = row.col[p];
        s->slot[row.col[p]] = s->n_slots++;
    }
    return GF_OK;
}

static void add_row(scratch *s, gf_row_view row, uint32_t c, float weight)
{
    for (uint32_t p = 0; p < row.n; p++)
        s->sum[(size_t)s->slot[row.col[p]] * GF_GROUP + c] += weight * row.val[p];
}

static void set_squares(group *g, uint32_t c, double squares)
{
    g->squares[c] = squares > 0 ? squares : 0;
    g->squared[c] = (float)g->squares[c];
    g->length[c] = (float)sqrt(g->squares[c]);
}

static gf_status sum_rows(group *g, gf_error *err)
{
    const refining *r = g->r;
    gf_status st = GF_OK;
    for (uint32_t c = 0; c < g->n && st == GF_OK; c++) {
        uint32_t from = r->start[g->cluster[c]], to = r->start[g->cluster[c] + 1];
        g->size[c] = to - from;
        for (uint32_t i = from; i < to && st == GF_OK; i++) {
            gf_row_view row = gf_csr_row(r->points->x, r->rows[i]);
            st = place_row(g->s, row, err);
            if (st == GF_OK) add_row(g->s, row, c, gf_points_weight(r->points, r->rows[i]));
        }
    }
    double squares[GF_GROUP] = {0};
    for (uint32_t t = 0; t < g->s->n_slots; t++)
        for (uint32_t c = 0; c < GF_GROUP; c++) {
            double v = (double)g->s->sum[(size_t)t * GF_GROUP + c];
            squares[c] += v * v;
        }
    for (uint32_t c = 0; c < GF_GROUP; c++)
        set_squares(g, c, squares[c]);
    return st;
}

static void forget_terms(scratch *s)
{
    for (uint32_t t = 0; t < s->n_slots; t++)
        s->slot[s->term[t]] = NO_SLOT;
    s->n_slots = 0;
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Move row i from cluster a of the group to where it gains most; true where it gains. */
static bool move_row(group *g, uint32_t i, uint32_t a)
{
    const refining *r = g->r;
    float dot[GF_GROUP] __attribute__((aligned(ALIGNMENT)));
    gf_row_view row = gf_csr_row(r->points->x, i);
    float w = gf_points_weight(r->points, i);
    gf_near_sums sums = {g->s->sum, g->s->slot, g->length, g->squared, g->n, w};
    gf_near_move best = r->kernels->near(&sums, row, a, dot);
    if (best.gain <= (float)GF_MOVE_LEAST_GAIN * w) return false;
    uint32_t b = best.to;
    double weight = (double)w;
    add_row(g->s, row, b, w);
    add_row(g->s, row, a, -w);
    set_squares(g, b, g->squares[b] + 2 * weight * (double)dot[b] + weight * weight);
    set_squares(g, a, g->squares[a] - 2 * weight * (double)dot[a] + weight * weight);
    g->size[b]++;
    g->size[a]--;
    r->p->label[i] = g->cluster[b];
    r->changed[g->cluster[a]] = r->changed[g->cluster[b]] = true;
    return true;
}

/* Position of a cluster in the group. */
static uint32_t place_of(const group *g, uint32_t cluster)
{
    uint32_t c = 0;
    while (g->cluster[c] != cluster)
        c++;
    return c;
}

static uint32_t sweep(group *g, uint32_t *n_rows)
{
    const refining *r = g->r;
    uint32_t moved = 0;
    *n_rows = 0;
    for (uint32_t c = 0; c < g->n; c++) {
        uint32_t to = r->start[g->cluster[c] + 1];
        for (uint32_t at = r->start[g->cluster[c]]; at < to; at++, ++*n_rows) {
            uint32_t i = r->rows[at], own = r->p->label[i];
            uint32_t a = own == g->cluster[c] ? c : place_of(g, own);
            if (g->size[a] > 1) moved += move_row(g, i, a);
        }
    }
    return moved;
}

static gf_status refine_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    const refining *r = context;
    uint32_t from = r->groups.start[task], n = r->groups.start[task + 1] - from;
    if (n < 2) return GF_OK;
    group g = {.r = r, .s = &r->scratch[worker], .cluster = r->groups.member + from, .n = n};
    gf_status st = sum_rows(&g, err);
    for (int i = 0; st == GF_OK && i < SWEEPS; i++) {
        uint32_t n_rows, moved = sweep(&g, &n_rows);
        st = gf_cancel_check(r->cancel, err);
        if (moved <= TOLERANCE * n_rows) break;
    }
    forget_terms(g.s);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static gf_status allocate(refining *r, gf_error *err)
{
    uint32_t n_terms = r->points->x->n_cols;
    r->start = gf_array((size_t)r->p->k + 1, sizeof *r->start);
    r->rows = gf_array(r->p->n, sizeof *r->rows);
    r->scratch = gf_calloc(r->workers, sizeof *r->scratch);
    bool ok = r->start && r->rows && r->scratch;
    for (unsigned w = 0; ok && w < r->workers; w++) {
        uint32_t *slot = r->scratch[w].slot = gf_array(n_terms, sizeof *slot);
        ok = slot != NULL;
        if (ok) memset(slot, 0xFF, n_terms * sizeof *slot);
    }
    return ok ? GF_OK : gf_fail_memory(err, "refining clusters");
}

static void release(refining *r)
{
    for (unsigned w = 0; r->scratch && w < r->workers; w++) {
        gf_free(r->scratch[w].slot);
        gf_free(r->scratch[w].term);
        gf_free(r->scratch[w].block);
    }
    gf_free(r->scratch);
    gf_free(r->start);
    gf_free(r->rows);
    gf_groups_release(&r->groups);
}

gf_status gf_refine(gf_pool *pool, const gf_points *points, gf_partition *p, unsigned rounds,
                    uint64_t seed, bool *changed, const gf_cancel *cancel, gf_error *err)
{
    refining r = {.points = points,
                  .p = p,
                  .kernels = gf_scoring_kernels_choose(),
                  .cancel = cancel,
                  .changed = changed,
                  .workers = gf_pool_size(pool)};
    gf_random random = gf_random_seed(seed, p->k);
    gf_status st = allocate(&r, err);
    if (st == GF_OK) st = gf_groups_init(&r.groups, &p->centres, err);
    for (unsigned i = 0; st == GF_OK && i < rounds; i++) {
        st = gf_sort_rows(pool, p->label, p->n, p->k, r.start, r.rows, err);
        if (st != GF_OK) break;
        gf_groups_draw(&r.groups, &random);
        st = gf_pool_run(pool, r.groups.n, refine_task, &r, cancel, err);
    }
    release(&r);
    return st;
}
