#include "cluster/small/internal.h"

#include "base/memory.h"
#include "cluster/moves/apply_moves.h"

#include <assert.h>
#include <string.h>

enum { MOST = GF_SMALL_POINTS };

/* ---- the products ---------------------------------------------------------------------------- */

static void multiply(gf_small *f, double *row_of)
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

gf_status gf_small_create(const gf_points *points, gf_small **small, gf_error *err)
{
    assert(gf_points_n(points) <= GF_SMALL_POINTS);
    gf_small *f = gf_malloc(sizeof *f);
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
    *small = f;
    return GF_OK;
}

void gf_small_free(gf_small *small)
{
    gf_free(small);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void add(gf_small_clusters *c, uint32_t j, uint32_t i, double weight)
{
    const double *products = c->small->gram + (size_t)i * c->small->n;
    double *dot = c->dot + (size_t)j * c->small->n;
    double squares = c->squares[j] + 2 * weight * dot[i] + weight * weight;
    c->squares[j] = squares > 0 ? squares : 0;
    for (uint32_t m = 0; m < c->small->n; m++)
        dot[m] += weight * products[m];
}

static double dot_of(const gf_small_clusters *c, uint32_t j, uint32_t i)
{
    return c->dot[j * c->small->n + i];
}

static void count_sizes(gf_small_clusters *c)
{
    memset(c->size, 0, c->k * sizeof *c->size);
    for (uint32_t i = 0; i < c->small->n; i++)
        c->size[c->label[i]]++;
}

/* The worst fitting row of a cluster that has others. */
static uint32_t find_worst(const gf_small_clusters *c)
{
    uint32_t worst = UINT32_MAX;
    for (uint32_t i = 0; i < c->small->n; i++)
        if (c->size[c->label[i]] > 1 && (worst == UINT32_MAX || c->own[i] < c->own[worst]))
            worst = i;
    return worst;
}

static void refill_empty(gf_small_clusters *c)
{
    count_sizes(c);
    for (uint32_t j = 0; j < c->k; j++) {
        if (c->size[j]) continue;
        uint32_t worst = find_worst(c);
        if (worst == UINT32_MAX) return;
        c->size[c->label[worst]]--;
        c->size[j]++;
        gf_small_put(c, worst, j);
        c->own[worst] = c->other[worst] = 1;
    }
}

static void find_lengths(const gf_small_clusters *c, double *length)
{
    for (uint32_t j = 0; j < c->k; j++)
        length[j] = sqrt(c->squares[j]);
}

void gf_small_update(gf_small_clusters *c)
{
    const gf_small *f = c->small;
    double length[MOST];
    refill_empty(c);
    for (uint32_t j = 0; j < c->k; j++) {
        if (!(c->stale >> j & 1)) continue;
        memset(c->dot + (size_t)j * f->n, 0, f->n * sizeof *c->dot);
        c->squares[j] = 0;
    }
    for (uint32_t i = 0; i < f->n; i++)
        if (c->stale >> c->label[i] & 1) add(c, c->label[i], i, f->weight[i]);
    c->stale = 0;
    find_lengths(c, length);
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t j = c->label[i];
        c->own[i] = length[j] > 0 ? (float)(dot_of(c, j, i) / length[j]) : 0;
    }
}

double gf_small_objective(const gf_small_clusters *c)
{
    double sum = 0;
    for (uint32_t j = 0; j < c->k; j++)
        sum += sqrt(c->squares[j]);
    return sum;
}

/* ---- passes and polish ----------------------------------------------------------------------- */

/* Each row to the most similar centre; returns how many changed. */
uint32_t gf_small_assign(gf_small_clusters *c)
{
    uint32_t changed = 0;
    double scale[MOST];
    for (uint32_t j = 0; j < c->k; j++)
        scale[j] = c->squares[j] > 0 ? 1 / sqrt(c->squares[j]) : 0;
    for (uint32_t i = 0; i < c->small->n; i++) {
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
        if (to == c->label[i]) continue;
        changed++;
        gf_small_put(c, i, to);
    }
    return changed;
}

gf_passes_made gf_small_pass(gf_small_clusters *c, double enough, unsigned most)
{
    gf_passes_made made = {0};
    gf_small_assign(c);
    gf_small_update(c);
    while (made.passes < most && !made.converged) {
        uint32_t changed = gf_small_assign(c);
        made.passes++;
        made.converged = changed <= enough * c->small->n;
        if (changed) gf_small_update(c);
    }
    return made;
}

/* Gain of a row's leaving its cluster, mostly below 0. length: of the clusters' sums. */
static double leave(const gf_small_clusters *c, const double *length, uint32_t i)
{
    uint32_t j = c->label[i];
    return gf_small_gain(c->squares[j], length[j], dot_of(c, j, i), -c->small->weight[i]);
}

static uint32_t propose(const gf_small_clusters *c, const double *length, uint32_t i)
{
    double w = c->small->weight[i], best = GF_MOVE_LEAST_GAIN * w - leave(c, length, i);
    uint32_t target = UINT32_MAX;
    for (uint32_t j = 0; j < c->k; j++) {
        if (j == c->label[i]) continue;
        double gain = gf_small_gain(c->squares[j], length[j], dot_of(c, j, i), w);
        if (gain <= best) continue;
        best = gain;
        target = j;
    }
    return target;
}

/* The rows that would move, in the order of gf_moves_apply; returns how many there are. */
static uint32_t propose_all(const gf_small_clusters *c, const double *length, uint32_t *target,
                            uint32_t *order)
{
    unsigned round[MOST];
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->small->n; i++) {
        target[i] = propose(c, length, i);
        if (target[i] == UINT32_MAX) continue;
        round[i] = gf_moves_round(c->label[i], target[i]);
        uint32_t at = n++;
        for (; at > 0 && round[order[at - 1]] > round[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return n;
}

/* All proposals against the same sums, applied in their order where they still gain. */
static uint32_t move_rows(gf_small_clusters *c)
{
    uint32_t target[MOST], order[MOST], moves = 0;
    double length[MOST];
    find_lengths(c, length);
    uint32_t n = propose_all(c, length, target, order);
    for (uint32_t o = 0; o < n; o++) {
        uint32_t i = order[o], to = target[i], from = c->label[i];
        double w = c->small->weight[i];
        double gain = gf_small_gain(c->squares[to], length[to], dot_of(c, to, i), w);
        if (gain + leave(c, length, i) <= GF_MOVE_LEAST_GAIN * w) continue;
        add(c, to, i, w);
        add(c, from, i, -w);
        length[to] = sqrt(c->squares[to]);
        length[from] = sqrt(c->squares[from]);
        gf_small_put(c, i, to);
        moves++;
    }
    return moves;
}

unsigned gf_small_polish(gf_small_clusters *c, double tolerance, unsigned most)
{
    unsigned rounds = 0;
    while (rounds < most) {
        double before = gf_small_objective(c);
        uint32_t moves = move_rows(c);
        if (moves == 0) break;
        rounds++;
        gf_small_update(c);
        double after = gf_small_objective(c);
        if (moves < tolerance * c->small->n ||
            after - before < GF_POLISH_LEAST_RISE * tolerance * after)
            break;
    }
    return rounds;
}
