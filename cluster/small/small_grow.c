/* More clusters of a small collection: splits, growth, drawn seeds, a run. */
#include "cluster/small/internal.h"

#include "base/memory.h"
#include "cluster/measure/separation.h"
#include "cluster/moves/growth.h"

#include <assert.h>
#include <string.h>

enum { MOST = GF_SMALL_POINTS };

struct gf_small_growth {
    uint64_t seed;
    uint32_t generation; /* steps so far: numbers the streams of random numbers */
    gf_small_clusters p;
};

static void put_all_in_one(gf_small_clusters *c, const gf_small *small)
{
    c->small = small;
    c->k = 1;
    c->stale = UINT64_MAX;
    memset(c->label, 0, small->n * sizeof *c->label);
    gf_small_update(c);
}

/* ---- splits ---------------------------------------------------------------------------------- */

/* A cluster that is being cut in two. */
typedef struct split {
    const gf_small *small;
    uint32_t row[MOST], n; /* its rows */
    uint64_t second;       /* bit i: row[i] is in the second half */
    uint32_t size[2];
    double squares[2], length[2], dot[2][MOST]; /* of the halves' sums; dot with row[i] */
    double gain;
} split;

static bool is_second(const split *s, uint32_t i)
{
    return s->second >> i & 1;
}

static void put(split *s, uint32_t i, bool half, double sign)
{
    const double *products = s->small->gram + (size_t)s->row[i] * s->small->n;
    double w = sign * s->small->weight[s->row[i]];
    double squares = s->squares[half] + 2 * w * s->dot[half][i] + w * w;
    s->squares[half] = squares > 0 ? squares : 0;
    s->length[half] = sqrt(s->squares[half]);
    for (uint32_t m = 0; m < s->n; m++)
        s->dot[half][m] += w * products[s->row[m]];
    s->size[half] += sign > 0 ? 1 : UINT32_MAX;
    if (half && sign > 0) s->second |= UINT64_C(1) << i;
    if (half && sign < 0) s->second &= ~(UINT64_C(1) << i);
}

/* Row i by weight, or where a row is taken already by weight * (alpha - similarity to it). */
static uint32_t draw(const split *s, uint32_t taken, gf_random *random)
{
    double share[MOST], total = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        double near = taken == UINT32_MAX ? GF_SEED_ALPHA - 1
                                          : s->small->gram[s->row[taken] * s->small->n + s->row[i]];
        share[i] = s->small->weight[s->row[i]] * (GF_SEED_ALPHA - near);
        if (i != taken) total += share[i];
    }
    double at = gf_random_unit(random) * total;
    uint32_t last = taken == 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (i == taken) continue;
        last = i;
        at -= share[i];
        if (at < 0) break;
    }
    return last;
}

static void gather(split *s, gf_random *random)
{
    uint32_t first = draw(s, UINT32_MAX, random), second = draw(s, first, random);
    put(s, first, false, 1);
    put(s, second, true, 1);
    for (uint32_t i = 0; i < s->n; i++) {
        if (i == first || i == second) continue;
        bool to = s->dot[1][i] * s->length[0] > s->dot[0][i] * s->length[1];
        put(s, i, to, 1);
    }
}

static uint32_t sweep(split *s)
{
    uint32_t moved = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        bool from = is_second(s, i), to = !from;
        if (s->size[from] == 1) continue;
        double w = s->small->weight[s->row[i]];
        double gain = gf_small_gain(s->squares[to], s->length[to], s->dot[to][i], w) +
                      gf_small_gain(s->squares[from], s->length[from], s->dot[from][i], -w);
        if (gain <= GF_MOVE_LEAST_GAIN * w) continue;
        put(s, i, from, -1);
        put(s, i, to, 1);
        moved++;
    }
    return moved;
}

static void cut(const gf_small_growth *g, uint32_t j, split *s)
{
    gf_random random = gf_random_seed(g->seed, (uint64_t)g->generation << 32 | (uint64_t)j);
    *s = (split){.small = g->p.small};
    for (uint32_t i = 0; i < s->small->n; i++)
        if (g->p.label[i] == j) s->row[s->n++] = i;
    gather(s, &random);
    for (int i = 0; i < GF_SPLIT_SWEEPS; i++)
        if (sweep(s) <= GF_SPLIT_TOLERANCE * s->n) break;
    s->gain = s->length[0] + s->length[1] - sqrt(g->p.squares[j]);
}

/* ---- growth ---------------------------------------------------------------------------------- */

gf_status gf_small_growth_create(const gf_small *small, uint64_t seed, gf_small_growth **growth,
                                 gf_error *err)
{
    gf_small_growth *g = gf_malloc(sizeof *g);
    if (!g) return gf_fail_memory(err, "growing clusters");
    g->seed = seed;
    g->generation = 0;
    put_all_in_one(&g->p, small);
    *growth = g;
    return GF_OK;
}

void gf_small_growth_free(gf_small_growth *growth)
{
    gf_free(growth);
}

/* Gain of a split of each cluster, and the rows that it would take away. */
static void cut_all(const gf_small_growth *g, double *gain, uint64_t *moving)
{
    for (uint32_t j = 0; j < g->p.k; j++) {
        split s;
        gain[j] = -INFINITY;
        moving[j] = 0;
        if (g->p.size[j] < 2) continue;
        cut(g, j, &s);
        gain[j] = s.gain;
        for (uint32_t i = 0; i < s.n; i++)
            if (is_second(&s, i)) moving[j] |= UINT64_C(1) << s.row[i];
    }
}

uint32_t gf_small_growth_step(gf_small_growth *g, uint32_t k)
{
    gf_small_clusters *p = &g->p;
    uint32_t before = p->k;
    double gain[MOST];
    uint64_t moving[MOST];
    if (k <= before) return before;
    cut_all(g, gain, moving);
    while (p->k < k) {
        uint32_t best = 0;
        for (uint32_t j = 1; j < before; j++)
            if (gain[j] > gain[best]) best = j;
        if (gain[best] == -INFINITY) break;
        gain[best] = -INFINITY;
        for (uint32_t i = 0; i < p->small->n; i++)
            if (moving[best] >> i & 1) gf_small_put(p, i, p->k);
        p->k++;
    }
    g->generation++;
    if (p->k == before) return before;
    gf_small_update(p);
    gf_small_polish(p, GF_GROW_TOLERANCE, GF_GROW_ROUNDS);
    return p->k;
}

double gf_small_growth_separation(gf_small_growth *g)
{
    gf_small_clusters *c = &g->p;
    gf_centre centre[MOST];
    gf_partition p = {c->small->n, c->k, c->label, c->own, c->other, {c->k, 0, centre}};
    gf_small_assign(c);
    gf_small_update(c);
    for (uint32_t j = 0; j < c->k; j++)
        centre[j] = (gf_centre){.length = sqrt(c->squares[j])};
    return gf_separation(c->small->points, &p);
}

/* ---- drawn seeds ----------------------------------------------------------------------------- */

typedef struct seeding {
    const gf_small *small;
    double nearest[MOST]; /* largest similarity to a seed */
    bool taken[MOST];
} seeding;

static double share_of(const seeding *s, uint32_t i)
{
    bool candidate = !s->taken[i] && s->nearest[i] < GF_SEED_TOO_NEAR;
    return candidate ? s->small->weight[i] * (GF_SEED_ALPHA - s->nearest[i]) : 0;
}

static uint32_t draw_seed(const seeding *s, double total, gf_random *random)
{
    double at = gf_random_unit(random) * total;
    uint32_t last = 0;
    while (s->taken[last])
        last++;
    for (uint32_t i = 0; i < s->small->n; i++) {
        double share = share_of(s, i);
        if (share <= 0) continue;
        last = i;
        at -= share;
        if (at < 0) break;
    }
    return last;
}

/* How far rows would be from their nearest seed with row c as one. */
static double potential(const seeding *s, uint32_t c)
{
    const double *similar = s->small->gram + (size_t)c * s->small->n;
    double sum = 0;
    for (uint32_t i = 0; i < s->small->n; i++) {
        double near = similar[i] > s->nearest[i] ? similar[i] : s->nearest[i];
        sum += s->small->weight[i] * (GF_SEED_ALPHA - near);
    }
    return sum;
}

static uint32_t choose_seed(const seeding *s, unsigned candidates, gf_random *random)
{
    double total = 0, lowest = INFINITY;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < s->small->n; i++)
        total += share_of(s, i);
    for (unsigned tried = 0; tried < candidates; tried++) {
        uint32_t c = draw_seed(s, total, random);
        double left = potential(s, c);
        if (left >= lowest) continue;
        lowest = left;
        chosen = c;
    }
    return chosen;
}

/* k rows as the centres. */
static void draw_seeds(gf_small_clusters *c, const gf_small *f, uint32_t k, gf_random *random)
{
    seeding s = {.small = f};
    uint32_t rows[MOST];
    unsigned candidates = f->n / k >= GF_SEED_GREEDY_BELOW ? 1 : 2 + (unsigned)log(k);
    gf_points_sample(f->n, f->n, random,
                     rows); /* all of them; cluster/moves/seed.c draws so, too */
    c->small = f;
    c->k = k;
    c->stale = UINT64_MAX;
    memset(c->label, 0, f->n * sizeof *c->label);
    for (uint32_t j = 0; j < k; j++) {
        uint32_t row = choose_seed(&s, candidates, random);
        const double *similar = f->gram + (size_t)row * f->n;
        s.taken[row] = true;
        for (uint32_t i = 0; i < f->n; i++)
            if (similar[i] > s.nearest[i]) s.nearest[i] = similar[i];
        memcpy(c->dot + (size_t)j * f->n, similar, f->n * sizeof *similar);
        c->squares[j] = 1;
    }
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* The part of another partition that is in use: most have few clusters, of the 64 that there is room for. */
static void copy_clusters(gf_small_clusters *to, const gf_small_clusters *from)
{
    uint32_t n = from->small->n, k = from->k;
    to->small = from->small;
    to->k = k;
    to->stale = from->stale;
    memcpy(to->label, from->label, n * sizeof *to->label);
    memcpy(to->own, from->own, n * sizeof *to->own);
    memcpy(to->other, from->other, n * sizeof *to->other);
    memcpy(to->size, from->size, k * sizeof *to->size);
    memcpy(to->squares, from->squares, k * sizeof *to->squares);
    memcpy(to->dot, from->dot, (size_t)k * n * sizeof *to->dot);
}

/* Drawn seeds take the place of what was grown where they are better. */
static void compare_with_drawn(gf_small_growth *g, gf_small_clusters *drawn)
{
    gf_random random = gf_random_seed(g->seed, UINT64_MAX - 1);
    double grown = gf_small_objective(&g->p);
    draw_seeds(drawn, g->p.small, g->p.k, &random);
    gf_small_pass(drawn, GF_GROW_TOLERANCE, GF_GROW_DRAWN_PASSES);
    gf_small_polish(drawn, GF_GROW_TOLERANCE, GF_GROW_DRAWN_ROUNDS);
    if (gf_small_objective(drawn) > GF_GROW_PROMISING * grown)
        gf_small_polish(drawn, GF_GROW_TOLERANCE, GF_GROW_MORE_ROUNDS);
    if (gf_small_objective(drawn) > grown) copy_clusters(&g->p, drawn);
}

static void run_over(gf_small_growth *g, gf_small_clusters *drawn, uint32_t k,
                     const gf_small_limits *limits, gf_small_run *out)
{
    gf_small_clusters *p = &g->p;
    for (uint32_t before = 0; p->k < k && p->k != before;) {
        uint32_t next = gf_growth_next(p->k);
        before = p->k;
        gf_small_growth_step(g, next < k ? next : k);
    }
    if (p->k > 1) compare_with_drawn(g, drawn);
    out->made = gf_small_pass(p, limits->enough, limits->max_passes);
    out->rounds = gf_small_polish(p, 0, limits->max_rounds);
    out->objective = gf_small_objective(p);
    memcpy(out->label, p->label, p->small->n * sizeof *out->label);
}

gf_status gf_small_cluster(const gf_small *small, uint32_t k, uint64_t seed,
                           const gf_small_limits *limits, gf_small_run *out, gf_error *err)
{
    assert(k >= 1 && k <= small->n);
    gf_small_growth *g = NULL;
    gf_small_clusters *drawn = gf_malloc(sizeof *drawn);
    gf_status st = drawn ? GF_OK : gf_fail_memory(err, "clustering");
    if (st == GF_OK) st = gf_small_growth_create(small, seed, &g, err);
    if (st == GF_OK) run_over(g, drawn, k, limits, out);
    gf_small_growth_free(g);
    gf_free(drawn);
    return st;
}
