#include "cluster/moves/growth.h"

#include "base/memory.h"
#include "cluster/measure/separation.h"
#include "cluster/moves/constants.h"
#include "cluster/moves/enlarger.h"
#include "cluster/moves/polish.h"
#include "cluster/moves/refine.h"
#include "cluster/moves/seed.h"

#include <string.h>

#define NO_COLUMN UINT32_MAX

enum {
    LATER_ROUNDS = 1, /* the same from so many clusters on: */
    LATER = 100,
    REFINE_ROUNDS = 2, /* of refinement, for each step to many clusters; */
    LAST_ROUNDS = 6,   /* when all are there; */
    QUICK_LAST_ROUNDS = 2,
    ONE_BY_ONE = 6,
    SMALLEST_SAMPLE = 5000,
    LARGE_SAMPLE = 20000,
    MORE_PER_CLUSTER = 200, /* up to the large sample; */
    SAMPLE_PER_CLUSTER = 40 /* beyond */
};

struct gf_growth {
    gf_pool *pool;
    const gf_cancel *cancel;
    gf_points all;
    gf_points points; /* the sample */
    gf_csr x;         /* its rows, with packed columns, where it is not all */
    float *weight;
    uint32_t *term;   /* x.n_cols: the terms of those columns; NULL where the sample is all */
    uint32_t n_terms; /* of the whole */
    uint64_t seed;
    bool quick;        /* steps are large */
    gf_partition p;    /* as it is now */
    gf_passes *passes; /* for p->k clusters, once they have settled */
    gf_enlarger *enlarger;
};

/* The same among similar clusters alone, where there are many. */
static gf_status refine(gf_growth *g, unsigned rounds, gf_error *err)
{
    gf_status st = gf_refine(g->pool, &g->points, &g->p, rounds, g->seed,
                             gf_passes_changed(g->passes), g->cancel, err);
    if (st == GF_OK) st = gf_passes_update(g->passes, &g->p, err);
    return st;
}

/* Sum the clusters that a split changed, and let single rows move. */
static gf_status resettle(gf_growth *g, const bool *changed, gf_error *err)
{
    unsigned rounds;
    gf_passes_free(g->passes);
    g->passes = NULL;
    gf_status st = gf_passes_create(g->pool, &g->points, g->p.k, g->cancel, &g->passes, err);
    if (st != GF_OK) return st;
    memcpy(gf_passes_changed(g->passes), changed, g->p.k * sizeof *changed);
    if (g->p.k > GF_MANY_CLUSTERS) return refine(g, REFINE_ROUNDS, err);
    for (uint32_t i = 0; i < g->p.n; i++)
        g->p.other[i] = 1; /* the polish scores each row on all */
    st = gf_passes_update(g->passes, &g->p, err);
    unsigned most = g->p.k < LATER ? GF_GROW_ROUNDS : LATER_ROUNDS;
    if (st == GF_OK) st = gf_polish(g->passes, &g->p, GF_GROW_TOLERANCE, most, &rounds, err);
    return st;
}

/* Some passes and some polish over p. */
static gf_status settle(gf_growth *g, gf_partition *p, gf_error *err)
{
    gf_passes_made made;
    unsigned rounds;
    gf_passes_free(g->passes);
    g->passes = NULL;
    gf_status st = gf_passes_create(g->pool, &g->points, p->k, g->cancel, &g->passes, err);
    if (st == GF_OK)
        st = gf_passes_run(g->passes, p, GF_GROW_TOLERANCE, GF_GROW_DRAWN_PASSES, &made, err);
    if (st == GF_OK)
        st = gf_polish(g->passes, p, GF_GROW_TOLERANCE, GF_GROW_DRAWN_ROUNDS, &rounds, err);
    return st;
}

/* All rows in one cluster. */
static gf_status start(gf_growth *g, gf_error *err)
{
    gf_centre_summer *summer = NULL;
    uint32_t n = gf_points_n(&g->points), n_terms = g->points.x->n_cols;
    gf_status st = gf_partition_init(&g->p, n, 1, n_terms, err);
    if (st == GF_OK) st = gf_centre_summer_create(g->pool, n, n_terms, 1, &summer, err);
    if (st == GF_OK)
        st = gf_centre_summer_run(summer, &g->points, g->p.label, NULL, &g->p.centres, g->p.own,
                                  g->cancel, err);
    gf_centre_summer_free(summer);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static gf_status take_sample(gf_growth *g, const gf_points *points, uint32_t m, gf_error *err)
{
    gf_random random = gf_random_seed(g->seed, UINT64_MAX);
    uint32_t *rows = gf_array(m, sizeof *rows);
    if (!rows) return gf_fail_memory(err, "a sample");
    gf_points_sample(gf_points_n(points), m, &random, rows);
    gf_status st = gf_points_gather(g->pool, points, rows, m, &g->x, &g->weight, err);
    if (st == GF_OK) st = gf_points_pack_columns(&g->x, &g->term, err);
    gf_free(rows);
    g->points = (gf_points){&g->x, g->weight};
    return st;
}

gf_status gf_growth_create(gf_pool *pool, const gf_points *points, uint32_t sample, uint64_t seed,
                           const gf_cancel *cancel, gf_growth **growth, gf_error *err)
{
    gf_growth *g = gf_calloc(1, sizeof *g);
    if (!g) return gf_fail_memory(err, "growing clusters");
    g->pool = pool;
    g->cancel = cancel;
    g->seed = seed;
    g->all = g->points = *points;
    g->n_terms = points->x->n_cols;
    gf_status st = GF_OK;
    if (sample < gf_points_n(points)) st = take_sample(g, points, sample, err);
    if (st == GF_OK) st = gf_enlarger_create(pool, g->n_terms, seed, &g->enlarger, err);
    if (st == GF_OK) st = start(g, err);
    if (st != GF_OK) {
        gf_growth_free(g);
        return st;
    }
    *growth = g;
    return GF_OK;
}

void gf_growth_free(gf_growth *g)
{
    if (!g) return;
    gf_partition_release(&g->p);
    gf_csr_release(&g->x);
    gf_free(g->weight);
    gf_free(g->term);
    gf_passes_free(g->passes);
    gf_enlarger_free(g->enlarger);
    gf_free(g);
}

gf_status gf_growth_step(gf_growth *g, uint32_t k, gf_error *err)
{
    uint32_t before = g->p.k;
    if (k <= before) return GF_OK;
    bool *changed = gf_calloc(k, sizeof *changed);
    gf_status st = changed ? gf_enlarge(g->enlarger, &g->points, &g->p, k, changed, g->cancel, err)
                           : gf_fail_memory(err, "growing clusters");
    if (st == GF_OK && g->p.k > before) st = resettle(g, changed, err);
    gf_free(changed);
    return st;
}

const gf_partition *gf_growth_partition(const gf_growth *g)
{
    return &g->p;
}

gf_status gf_growth_separation(gf_growth *g, double *separation, gf_error *err)
{
    gf_pass_report report;
    gf_status st = GF_OK;
    if (!g->passes) st = gf_passes_create(g->pool, &g->points, g->p.k, g->cancel, &g->passes, err);
    if (st == GF_OK) st = gf_passes_assign_all(g->passes, &g->p, NULL, &report, err);
    if (st == GF_OK) st = gf_passes_update(g->passes, &g->p, err);
    if (st == GF_OK) *separation = gf_separation(&g->points, &g->p);
    return st;
}

/* ---- larger samples -------------------------------------------------------------------------- */

/* The centres over other columns: column[t] of each term t, or NO_COLUMN where it has none. */
static gf_status renumber_terms(const gf_growth *g, const uint32_t *column, gf_centres *to,
                                gf_error *err)
{
    uint32_t most = 0;
    for (uint32_t j = 0; j < g->p.k; j++)
        most = g->p.centres.at[j].n > most ? g->p.centres.at[j].n : most;
    uint32_t *col = gf_array(most, sizeof *col);
    float *val = gf_array(most, sizeof *val);
    gf_status st = col && val ? GF_OK : gf_fail_memory(err, "growing clusters");
    for (uint32_t j = 0; st == GF_OK && j < g->p.k; j++) {
        const gf_centre *c = &g->p.centres.at[j];
        gf_row_view row = {col, val, 0};
        for (uint32_t p = 0; p < c->n; p++) {
            uint32_t t = column[g->term ? g->term[c->term[p]] : c->term[p]];
            if (t == NO_COLUMN) continue;
            col[row.n] = t;
            val[row.n++] = c->value[p];
        }
        st = gf_centres_set_row(to, j, row, err);
    }
    gf_free(col);
    gf_free(val);
    return st;
}

/* q: the rows of `sample` at the centres of g, which become their sums. */
static gf_status assign_sample(gf_growth *g, const gf_growth *sample, gf_partition *q,
                               gf_error *err)
{
    gf_passes_made made;
    unsigned passes = g->p.k < GF_MANY_CLUSTERS ? 1 : 0; /* refinement does the same faster */
    const gf_points *points = &sample->points;
    uint32_t *column = gf_array(g->n_terms, sizeof *column);
    gf_status st = column ? GF_OK : gf_fail_memory(err, "growing clusters");
    if (st == GF_OK) st = gf_partition_init(q, gf_points_n(points), g->p.k, points->x->n_cols, err);
    for (uint32_t t = 0; st == GF_OK && t < g->n_terms; t++)
        column[t] = sample->term ? NO_COLUMN : t;
    for (uint32_t t = 0; st == GF_OK && sample->term && t < points->x->n_cols; t++)
        column[sample->term[t]] = t;
    if (st == GF_OK) st = renumber_terms(g, column, &q->centres, err);
    gf_free(column);
    gf_passes_free(g->passes);
    g->passes = NULL;
    if (st == GF_OK) st = gf_passes_create(g->pool, points, q->k, g->cancel, &g->passes, err);
    if (st == GF_OK) st = gf_passes_run(g->passes, q, 1, passes, &made, err);
    return st;
}

gf_status gf_growth_change_sample(gf_growth *g, uint32_t m, gf_error *err)
{
    gf_growth sample = {.points = g->all, .seed = g->seed};
    gf_partition q = {0};
    gf_status st = m < gf_points_n(&g->all) ? take_sample(&sample, &g->all, m, err) : GF_OK;
    if (st == GF_OK) st = assign_sample(g, &sample, &q, err);
    gf_passes_free(g->passes); /* they are of points that move now */
    g->passes = NULL;
    gf_partition_release(&g->p);
    gf_csr_release(&g->x);
    gf_free(g->weight);
    gf_free(g->term);
    g->p = q;
    g->x = sample.x;
    g->weight = sample.weight;
    g->term = sample.term;
    g->points = sample.term ? (gf_points){&g->x, g->weight} : g->all;
    return st;
}

/*
 * If some frequent terms cut across many small groups, the first splits may follow those terms,
 * and later steps mend that only in part. Seeds drawn over all rows do not care: so a partition
 * from such seeds takes the place of the grown one where its objective is higher.
 */
static gf_status compare_with_drawn(gf_growth *g, gf_error *err)
{
    if (g->p.k < 2) return GF_OK;
    gf_partition q = {0};
    gf_random random = gf_random_seed(g->seed, UINT64_MAX - 1);
    gf_status st = gf_partition_init(&q, g->p.n, g->p.k, g->points.x->n_cols, err);
    if (st == GF_OK) st = gf_seed_centres(g->pool, &g->points, &random, &q.centres, g->cancel, err);
    if (st == GF_OK) st = settle(g, &q, err);
    double grown = gf_centres_objective(&g->p.centres);
    unsigned rounds;
    if (st == GF_OK && gf_centres_objective(&q.centres) > GF_GROW_PROMISING * grown)
        st = gf_polish(g->passes, &q, GF_GROW_TOLERANCE, GF_GROW_MORE_ROUNDS, &rounds, err);
    if (st == GF_OK && gf_centres_objective(&q.centres) > grown) {
        gf_partition held = g->p;
        g->p = q;
        q = held;
    }
    gf_partition_release(&q);
    return st;
}

uint32_t gf_growth_next(uint32_t k)
{
    return k < ONE_BY_ONE ? k + 1 : k + k / 5;
}

static uint32_t sample_size(uint32_t k)
{
    if (k > GF_VERY_MANY_CLUSTERS) return UINT32_MAX;
    uint64_t sample = (uint64_t)MORE_PER_CLUSTER * k;
    if (sample > LARGE_SAMPLE) sample = LARGE_SAMPLE;
    if (sample < SMALLEST_SAMPLE) sample = SMALLEST_SAMPLE;
    if (sample < (uint64_t)SAMPLE_PER_CLUSTER * k) sample = (uint64_t)SAMPLE_PER_CLUSTER * k;
    return sample < UINT32_MAX ? (uint32_t)sample : UINT32_MAX;
}

/* A sample that suits k clusters, at least twice as large as before, where it does not already. */
static gf_status suit_sample(gf_growth *g, uint32_t k, uint32_t last_k, gf_error *err)
{
    uint32_t n = gf_points_n(&g->all), m = gf_points_n(&g->points);
    if (m == n || sample_size(k) <= m) return GF_OK;
    uint64_t wanted = sample_size(k) > 2 * (uint64_t)m ? sample_size(k) : 2 * (uint64_t)m;
    if (wanted > sample_size(last_k)) wanted = sample_size(last_k);
    return gf_growth_change_sample(g, wanted < n ? (uint32_t)wanted : n, err);
}

/* The number of clusters behind k on the way to last_k: of very many, twice as many. */
static uint32_t next_step(const gf_growth *g, uint32_t k, uint32_t last_k)
{
    uint32_t next = k < GF_VERY_MANY_CLUSTERS ? gf_growth_next(k) : 2 * k;
    if (g->quick && next < k + k / 2) next = k + k / 2;
    return next < last_k ? next : last_k;
}

/* Grow from one cluster to k, or to as many as there can be. */
static gf_status grow(gf_growth *g, uint32_t k, gf_error *err)
{
    gf_status st = GF_OK;
    bool compared = false;
    while (st == GF_OK && g->p.k < k) {
        uint32_t before = g->p.k, next = next_step(g, before, k);
        if (next > LATER && !compared) {
            st = compare_with_drawn(g, err);
            compared = true;
        }
        if (st == GF_OK) st = suit_sample(g, next, k, err);
        if (st == GF_OK) st = gf_growth_step(g, next, err);
        if (st == GF_OK && g->p.k == before) break;
    }
    if (st == GF_OK && !compared) st = compare_with_drawn(g, err);
    return st;
}

gf_status gf_grow_centres(gf_pool *pool, const gf_points *points, uint32_t k, uint64_t seed,
                          const gf_cancel *cancel, gf_centres *centres, gf_error *err)
{
    gf_growth *g = NULL;
    gf_status st = gf_growth_create(pool, points, sample_size(1), seed, cancel, &g, err);
    if (st == GF_OK) st = grow(g, k, err);
    if (st == GF_OK) {
        if (g->term) gf_centres_unpack(&g->p.centres, g->term, g->n_terms);
        *centres = g->p.centres;
        g->p.centres = (gf_centres){0};
    }
    gf_growth_free(g);
    return st;
}

gf_status gf_grow_partition(gf_pool *pool, const gf_points *points, uint32_t k, uint64_t seed,
                            bool quick, const gf_cancel *cancel, gf_partition *p, gf_error *err)
{
    gf_growth *g = NULL;
    gf_status st = gf_growth_create(pool, points, sample_size(1), seed, cancel, &g, err);
    if (st == GF_OK) g->quick = quick;
    if (st == GF_OK) st = grow(g, k, err);
    if (st == GF_OK && g->term) st = gf_growth_change_sample(g, gf_points_n(points), err);
    if (st == GF_OK) {
        gf_passes_free(g->passes);
        g->passes = NULL;
        st = gf_passes_create(pool, points, g->p.k, cancel, &g->passes, err);
    }
    if (st == GF_OK) st = refine(g, quick ? QUICK_LAST_ROUNDS : LAST_ROUNDS, err);
    if (st == GF_OK) {
        for (uint32_t i = 0; i < g->p.n; i++)
            g->p.other[i] = 1;
        *p = g->p;
        g->p = (gf_partition){0};
    }
    gf_growth_free(g);
    return st;
}
