#include "cluster/few.h"

#include "base/memory.h"
#include "cluster/grow.h"
#include "cluster/separation.h"

#include <math.h>
#include <string.h>

/* As the modules that this one follows have them. */
#define ALPHA      1.5  /* seed.c, split.c */
#define TOO_NEAR   0.99999
#define LEAST_GAIN 1e-5 /* polish.c, split.c */
#define LEAST_RISE 0.25
#define SPLIT_TOLERANCE 0.002
#define GROWTH_TOLERANCE 0.001 /* grow.c */
#define PROMISING        0.97
enum { SWEEPS = 6, ROUNDS = 2, DRAWN_PASSES = 2, DRAWN_ROUNDS = 1, MORE_ROUNDS = 3, GREEDY_BELOW = 100 };

enum { MOST = GF_FEW_POINTS };

struct gf_few {
    const gf_points *points;
    uint32_t n;
    double weight[MOST];      /* n */
    double gram[MOST * MOST]; /* n x n */
};

/* A partition; cluster j's sum is known by its products with all points. */
typedef struct clusters {
    const gf_few *few;
    uint32_t k;
    uint32_t label[MOST], size[MOST];
    float own[MOST], other[MOST]; /* similarity to the own centre, and to the next */
    double squares[MOST];         /* k: |S|^2 */
    double dot[MOST * MOST];      /* k x n: S . x */
} clusters;

struct gf_few_growth {
    uint64_t seed;
    uint32_t generation; /* steps so far: numbers the streams of random numbers */
    clusters p;
};

/* ---- the products -----------------------------------------------------------------------------
 */

static void multiply(gf_few *f, double *row_of)
{
    const gf_csr *x = f->points->x;
    for (uint32_t i = 0; i < f->n; i++) {
        gf_row_view row = gf_csr_row(x, i);
        for (uint32_t p = 0; p < row.n; p++)
            row_of[row.col[p]] = (double)row.val[p];
        for (uint32_t m = i; m < f->n; m++) {
            gf_row_view other = gf_csr_row(x, m);
            double dot = 0;
            for (uint32_t p = 0; p < other.n; p++)
                dot += (double)other.val[p] * row_of[other.col[p]];
            f->gram[i * f->n + m] = f->gram[m * f->n + i] = dot;
        }
        for (uint32_t p = 0; p < row.n; p++)
            row_of[row.col[p]] = 0;
    }
}

gf_status gf_few_create(const gf_points *points, gf_few **few, gf_error *err)
{
    gf_few *f = gf_malloc(sizeof *f);
    double *row_of = gf_calloc(points->x->n_cols, sizeof *row_of);
    if (!f || !row_of) {
        gf_free(f);
        gf_free(row_of);
        return gf_fail_memory(err, "rows to cluster");
    }
    f->points = points;
    f->n = gf_points_n(points);
    for (uint32_t i = 0; i < f->n; i++)
        f->weight[i] = (double)gf_points_weight(points, i);
    multiply(f, row_of);
    gf_free(row_of);
    *few = f;
    return GF_OK;
}

void gf_few_free(gf_few *few)
{
    gf_free(few);
}

/* ---- sums -------------------------------------------------------------------------------------
 */

static void add(clusters *c, uint32_t j, uint32_t i, double weight)
{
    const double *products = c->few->gram + (size_t)i * c->few->n;
    double *dot = c->dot + (size_t)j * c->few->n;
    double squares = c->squares[j] + 2 * weight * dot[i] + weight * weight;
    c->squares[j] = squares > 0 ? squares : 0;
    for (uint32_t m = 0; m < c->few->n; m++)
        dot[m] += weight * products[m];
}

static double dot_of(const clusters *c, uint32_t j, uint32_t i)
{
    return c->dot[j * c->few->n + i];
}

static void count_sizes(clusters *c)
{
    memset(c->size, 0, c->k * sizeof *c->size);
    for (uint32_t i = 0; i < c->few->n; i++)
        c->size[c->label[i]]++;
}

/* The worst fitting row of a cluster that has others. */
static uint32_t find_worst(const clusters *c)
{
    uint32_t worst = UINT32_MAX;
    for (uint32_t i = 0; i < c->few->n; i++)
        if (c->size[c->label[i]] > 1 && (worst == UINT32_MAX || c->own[i] < c->own[worst]))
            worst = i;
    return worst;
}

static void refill_empty(clusters *c)
{
    count_sizes(c);
    for (uint32_t j = 0; j < c->k; j++) {
        if (c->size[j]) continue;
        uint32_t worst = find_worst(c);
        if (worst == UINT32_MAX) return;
        c->size[c->label[worst]]--;
        c->size[j]++;
        c->label[worst] = j;
        c->own[worst] = c->other[worst] = 1;
    }
}

static void update(clusters *c)
{
    const gf_few *f = c->few;
    refill_empty(c);
    memset(c->dot, 0, (size_t)c->k * f->n * sizeof *c->dot);
    memset(c->squares, 0, c->k * sizeof *c->squares);
    for (uint32_t i = 0; i < f->n; i++)
        add(c, c->label[i], i, f->weight[i]);
    for (uint32_t i = 0; i < f->n; i++) {
        double length = sqrt(c->squares[c->label[i]]);
        c->own[i] = length > 0 ? (float)(dot_of(c, c->label[i], i) / length) : 0;
    }
}

static double objective(const clusters *c)
{
    double sum = 0;
    for (uint32_t j = 0; j < c->k; j++)
        sum += sqrt(c->squares[j]);
    return sum;
}

static void put_all_in_one(clusters *c, const gf_few *few)
{
    c->few = few;
    c->k = 1;
    memset(c->label, 0, few->n * sizeof *c->label);
    update(c);
}

/* ---- passes and polish ------------------------------------------------------------------------
 */

/* Each row to the most similar centre; returns how many changed. */
static uint32_t assign(clusters *c)
{
    uint32_t changed = 0;
    double scale[MOST];
    for (uint32_t j = 0; j < c->k; j++)
        scale[j] = c->squares[j] > 0 ? 1 / sqrt(c->squares[j]) : 0;
    for (uint32_t i = 0; i < c->few->n; i++) {
        double best = -INFINITY, second = -INFINITY;
        uint32_t to = 0;
        for (uint32_t j = 0; j < c->k; j++) {
            double score = dot_of(c, j, i) * scale[j];
            if (score > best) {
                second = best;
                best = score;
                to = j;
            } else if (score > second) {
                second = score;
            }
        }
        c->own[i] = (float)best;
        c->other[i] = (float)second;
        changed += to != c->label[i];
        c->label[i] = to;
    }
    return changed;
}

static gf_passes_made pass(clusters *c, double enough, unsigned most)
{
    gf_passes_made made = {0};
    assign(c);
    update(c);
    while (made.passes < most && !made.converged) {
        uint32_t changed = assign(c);
        made.passes++;
        made.converged = changed <= enough * c->few->n;
        if (changed) update(c);
    }
    return made;
}

/* |S + w x| - |S| */
static double gain_of(double squares, double dot, double weight)
{
    double with = squares + 2 * weight * dot + weight * weight;
    return sqrt(with > 0 ? with : 0) - sqrt(squares);
}

/* What leaving its cluster gains a row, mostly less than nothing. */
static double leave(const clusters *c, uint32_t i)
{
    uint32_t j = c->label[i];
    return gain_of(c->squares[j], dot_of(c, j, i), -c->few->weight[i]);
}

static uint32_t propose(const clusters *c, uint32_t i)
{
    double w = c->few->weight[i], best = LEAST_GAIN * w - leave(c, i);
    uint32_t target = UINT32_MAX;
    for (uint32_t j = 0; j < c->k; j++) {
        if (j == c->label[i]) continue;
        double gain = gain_of(c->squares[j], dot_of(c, j, i), w);
        if (gain <= best) continue;
        best = gain;
        target = j;
    }
    return target;
}

/* All proposals against the same sums, applied in their order where they still gain. */
static uint32_t move_rows(clusters *c)
{
    uint32_t target[MOST], moves = 0;
    for (uint32_t i = 0; i < c->few->n; i++)
        target[i] = propose(c, i);
    for (uint32_t i = 0; i < c->few->n; i++) {
        uint32_t to = target[i];
        double w = c->few->weight[i];
        if (to == UINT32_MAX) continue;
        if (gain_of(c->squares[to], dot_of(c, to, i), w) + leave(c, i) <= LEAST_GAIN * w) continue;
        add(c, to, i, w);
        add(c, c->label[i], i, -w);
        c->label[i] = to;
        moves++;
    }
    return moves;
}

static unsigned polish(clusters *c, double tolerance, unsigned most)
{
    unsigned rounds = 0;
    while (rounds < most) {
        double before = objective(c);
        uint32_t moves = move_rows(c);
        if (moves == 0) break;
        rounds++;
        update(c);
        double after = objective(c);
        if (moves < tolerance * c->few->n || after - before < LEAST_RISE * tolerance * after) break;
    }
    return rounds;
}

/* ---- splits -----------------------------------------------------------------------------------
 */

/* A cluster that is being cut in two. */
typedef struct split {
    const gf_few *few;
    uint32_t row[MOST], n; /* its rows */
    uint64_t second;       /* bit i: row[i] is in the second half */
    uint32_t size[2];
    double squares[2], dot[2][MOST]; /* of the halves' sums; dot with row[i] */
    double gain;
} split;

static bool is_second(const split *s, uint32_t i)
{
    return s->second >> i & 1;
}

static void put(split *s, uint32_t i, bool half, double sign)
{
    const double *products = s->few->gram + (size_t)s->row[i] * s->few->n;
    double w = sign * s->few->weight[s->row[i]];
    double squares = s->squares[half] + 2 * w * s->dot[half][i] + w * w;
    s->squares[half] = squares > 0 ? squares : 0;
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
        double near = taken == UINT32_MAX ? ALPHA - 1
                                          : s->few->gram[s->row[taken] * s->few->n + s->row[i]];
        share[i] = s->few->weight[s->row[i]] * (ALPHA - near);
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
        bool to = s->dot[1][i] * sqrt(s->squares[0]) > s->dot[0][i] * sqrt(s->squares[1]);
        put(s, i, to, 1);
    }
}

static uint32_t sweep(split *s)
{
    uint32_t moved = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        bool from = is_second(s, i), to = !from;
        if (s->size[from] == 1) continue;
        double w = s->few->weight[s->row[i]];
        double gain = gain_of(s->squares[to], s->dot[to][i], w) +
                      gain_of(s->squares[from], s->dot[from][i], -w);
        if (gain <= LEAST_GAIN * w) continue;
        put(s, i, from, -1);
        put(s, i, to, 1);
        moved++;
    }
    return moved;
}

static void cut(const gf_few_growth *g, uint32_t j, split *s)
{
    gf_random random = gf_random_seed(g->seed, (uint64_t)g->generation << 32 | (uint64_t)j);
    *s = (split){.few = g->p.few};
    for (uint32_t i = 0; i < s->few->n; i++)
        if (g->p.label[i] == j) s->row[s->n++] = i;
    gather(s, &random);
    for (int i = 0; i < SWEEPS; i++)
        if (sweep(s) <= SPLIT_TOLERANCE * s->n) break;
    s->gain = sqrt(s->squares[0]) + sqrt(s->squares[1]) - sqrt(g->p.squares[j]);
}

/* ---- growth -----------------------------------------------------------------------------------
 */

gf_status gf_few_growth_create(const gf_few *few, uint64_t seed, gf_few_growth **growth,
                               gf_error *err)
{
    gf_few_growth *g = gf_malloc(sizeof *g);
    if (!g) return gf_fail_memory(err, "growing clusters");
    g->seed = seed;
    g->generation = 0;
    put_all_in_one(&g->p, few);
    *growth = g;
    return GF_OK;
}

void gf_few_growth_free(gf_few_growth *growth)
{
    gf_free(growth);
}

/* What a split of each cluster gains, and the rows that it would take away. */
static void cut_all(const gf_few_growth *g, double *gain, uint64_t *moving)
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

uint32_t gf_few_growth_step(gf_few_growth *g, uint32_t k)
{
    clusters *p = &g->p;
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
        for (uint32_t i = 0; i < p->few->n; i++)
            if (moving[best] >> i & 1) p->label[i] = p->k;
        p->k++;
    }
    g->generation++;
    if (p->k == before) return before;
    update(p);
    polish(p, GROWTH_TOLERANCE, ROUNDS);
    return p->k;
}

double gf_few_growth_separation(gf_few_growth *g)
{
    clusters *c = &g->p;
    gf_centre centre[MOST];
    gf_partition p = {c->few->n, c->k, c->label, c->own, c->other, {c->k, 0, centre}};
    assign(c);
    update(c);
    for (uint32_t j = 0; j < c->k; j++)
        centre[j] = (gf_centre){.length = sqrt(c->squares[j])};
    return gf_separation(c->few->points, &p);
}

/* ---- drawn seeds ------------------------------------------------------------------------------
 */

typedef struct seeding {
    const gf_few *few;
    double nearest[MOST]; /* largest similarity to a seed */
    bool taken[MOST];
} seeding;

static double share_of(const seeding *s, uint32_t i)
{
    bool candidate = !s->taken[i] && s->nearest[i] < TOO_NEAR;
    return candidate ? s->few->weight[i] * (ALPHA - s->nearest[i]) : 0;
}

static uint32_t draw_seed(const seeding *s, double total, gf_random *random)
{
    double at = gf_random_unit(random) * total;
    uint32_t last = 0;
    while (s->taken[last])
        last++;
    for (uint32_t i = 0; i < s->few->n; i++) {
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
    const double *similar = s->few->gram + (size_t)c * s->few->n;
    double sum = 0;
    for (uint32_t i = 0; i < s->few->n; i++) {
        double near = similar[i] > s->nearest[i] ? similar[i] : s->nearest[i];
        sum += s->few->weight[i] * (ALPHA - near);
    }
    return sum;
}

static uint32_t choose_seed(const seeding *s, unsigned candidates, gf_random *random)
{
    double total = 0, lowest = INFINITY;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < s->few->n; i++)
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
static void draw_seeds(clusters *c, const gf_few *f, uint32_t k, gf_random *random)
{
    seeding s = {.few = f};
    uint32_t rows[MOST];
    unsigned candidates = f->n / k >= GREEDY_BELOW ? 1 : 2 + (unsigned)log(k);
    gf_sample_rows(f->n, f->n, random, rows); /* all of them; seed.c draws so, too */
    c->few = f;
    c->k = k;
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

/* ---- a run ------------------------------------------------------------------------------------
 */

/* Drawn seeds take the place of what was grown where they are better. */
static void compare_with_drawn(gf_few_growth *g, clusters *drawn)
{
    gf_random random = gf_random_seed(g->seed, UINT64_MAX - 1);
    double grown = objective(&g->p);
    draw_seeds(drawn, g->p.few, g->p.k, &random);
    pass(drawn, GROWTH_TOLERANCE, DRAWN_PASSES);
    polish(drawn, GROWTH_TOLERANCE, DRAWN_ROUNDS);
    if (objective(drawn) > PROMISING * grown) polish(drawn, GROWTH_TOLERANCE, MORE_ROUNDS);
    if (objective(drawn) > grown) g->p = *drawn;
}

static void run_over(gf_few_growth *g, clusters *drawn, uint32_t k, const gf_few_limits *limits,
                     gf_few_run *out)
{
    clusters *p = &g->p;
    for (uint32_t before = 0; p->k < k && p->k != before;) {
        uint32_t next = gf_growth_next(p->k);
        before = p->k;
        gf_few_growth_step(g, next < k ? next : k);
    }
    if (p->k > 1) compare_with_drawn(g, drawn);
    out->made = pass(p, limits->enough, limits->max_passes);
    out->rounds = polish(p, limits->tolerance, limits->max_rounds);
    out->objective = objective(p);
    memcpy(out->label, p->label, p->few->n * sizeof *out->label);
}

gf_status gf_few_cluster(const gf_few *few, uint32_t k, uint64_t seed, const gf_few_limits *limits,
                         gf_few_run *out, gf_error *err)
{
    gf_few_growth *g = NULL;
    clusters *drawn = gf_malloc(sizeof *drawn);
    gf_status st = drawn ? GF_OK : gf_fail_memory(err, "clustering");
    if (st == GF_OK) st = gf_few_growth_create(few, seed, &g, err);
    if (st == GF_OK) run_over(g, drawn, k, limits, out);
    gf_few_growth_free(g);
    gf_free(drawn);
    return st;
}
