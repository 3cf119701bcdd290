#include "cluster/moves/polish.h"

#include "base/memory.h"
#include "cluster/moves/apply_moves.h"
#include "cluster/moves/constants.h"

#include <math.h>
#include <string.h>

/* Error bound of a score in single precision: see cluster/passes/centre_index.h. */
#define SLACK_PER_TERM 0x1p-22f
#define SLACK          2e-6f

/* Keys of centres that moved in the round before start here, above those of all others. */
#define MOVED 4.0f

enum {
    CEILINGS = 200 /* from so many clusters on rows that any may attract are compared by ceilings */
};

/* ---- a round --------------------------------------------------------------------------------- */

typedef struct polishing {
    gf_passes *passes;
    gf_partition *p;
    const gf_points *points;
    const gf_kernels *kernels;
    gf_centre_index *index;
    bool first;       /* round: no gain is known yet */
    uint32_t n_moved; /* columns whose centre moved in the round before: the first ones */
    float *key;       /* k, by cluster: see set_columns */
    float *rest;      /* k + 1: furthest that a column from c on drifted */
    float *length;    /* stride: |S| by column */
    float *squared;   /* stride: |S|^2 by column */
    float *offer;     /* stride / 16: largest 1 / (2 |S|) of a block of columns */
    uint32_t *target; /* n: proposed cluster, or GF_NO_MOVE */
    float *score;     /* n: similarity to the proposed cluster's centre */
    gf_moves *moves;
} polishing;

/* Cost of a row's leaving its cluster: |S| - |S - w x|. */
static float loss(float length, float score, float weight)
{
    float taken = weight * (2 * length * score - weight), left = length * length - taken;
    return taken / (length + sqrtf(left > 0 ? left : 0));
}

/*
 * Since sqrt(A) <= A / 2 |S| + |S| / 2, row x gains from joining a cluster at most
 *
 *     |S + w x| - |S| <= w s + w^2 / (2 |S|) <= w (other + d + w / (2 |S|))
 *
 * with s its similarity to the centre, which drifted by d since `other` was a bound of it. So the
 * columns are ordered by d + 1 / (2 |S|), and those that could attract a row are the first ones:
 * first of the clusters that moved, then of the others.
 */
static uint32_t columns_for(const polishing *s, float room, bool all)
{
    if (!(room > 0)) return all ? s->index->k : s->n_moved;
    uint32_t columns = all ? gf_centre_index_above(s->index, room) : 0;
    return columns > s->n_moved ? columns : gf_centre_index_above(s->index, MOVED + room);
}

/* How many columns, the first ones, may offer row i more than `cost`. */
static uint32_t choose_columns(const polishing *s, uint32_t i, float cost, float weight)
{
    float slack = SLACK + SLACK_PER_TERM * (float)gf_csr_row(s->points->x, i).n;
    float room = cost / weight + (float)GF_MOVE_LEAST_GAIN - s->p->other[i] - slack;
    if (weight > 1) room /= weight;
    /* If neither centroid moved, the last gain still holds. It was too small, or the row would have
     * moved, unless the other centroid changed while moves were applied. */
    bool own_moved = s->p->centres.at[s->p->label[i]].drift > 0;
    uint32_t columns = columns_for(s, room, s->first || own_moved || s->target[i] != GF_NO_MOVE);
    return columns > s->index->k / 2 ? s->index->k : columns; /* which makes `other` exact again */
}

/* All columns, by their ceilings. */
static void propose_any(polishing *s, uint32_t i, uint32_t own_column, float least, float weight,
                        float *scores)
{
    gf_move_wanted wanted = {{s->length, s->squared, weight}, s->offer, own_column, least};
    gf_move_found found = s->kernels->move(s->index, gf_csr_row(s->points->x, i), &wanted, scores);
    s->p->other[i] = found.other;
    if (found.column == UINT32_MAX) return;
    s->target[i] = s->index->cluster_of[found.column];
    s->score[i] = found.score;
}

static void propose(polishing *s, uint32_t i, float *scores)
{
    uint32_t own_column = s->index->column_of[s->p->label[i]];
    float *gains = scores + s->index->stride;
    gf_move_terms terms = {s->length, s->squared, gf_points_weight(s->points, i)};
    float cost = loss(s->length[own_column], s->p->own[i], terms.weight);
    uint32_t columns = choose_columns(s, i, cost, terms.weight);
    s->p->other[i] += s->rest[columns];
    s->target[i] = GF_NO_MOVE;
    if (columns == 0) return;
    float least = cost + (float)GF_MOVE_LEAST_GAIN * terms.weight;
    if (columns == s->index->k && s->index->ceiling) {
        propose_any(s, i, own_column, least, terms.weight, scores);
        return;
    }
    s->kernels->score(s->index, gf_csr_row(s->points->x, i), columns, scores);
    s->kernels->gains(&terms, scores, columns, gains);
    if (own_column < columns) scores[own_column] = gains[own_column] = -INFINITY;
    gf_best nearest = s->kernels->best(s->index, columns, scores);
    if (columns == s->index->k || nearest.score > s->p->other[i]) s->p->other[i] = nearest.score;
    gf_best best = s->kernels->best(s->index, columns, gains);
    if (best.score <= least) return;
    s->target[i] = s->index->cluster_of[best.column];
    s->score[i] = scores[best.column];
}

static gf_status propose_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)err;
    polishing *s = context;
    uint32_t n = s->p->n, from = (uint32_t)task * GF_ROWS_PER_TASK;
    uint32_t to = n - from < GF_ROWS_PER_TASK ? n : from + GF_ROWS_PER_TASK;
    for (uint32_t i = from; i < to; i++)
        propose(s, i, gf_passes_scores(s->passes, worker));
    return GF_OK;
}

static gf_status set_offers(polishing *s, gf_error *err)
{
    memset(s->offer, 0, s->index->stride / GF_COLUMN_BLOCK * sizeof *s->offer);
    for (uint32_t c = 0; c < s->index->k; c++) {
        float *offer = &s->offer[c / GF_COLUMN_BLOCK], length = s->length[c];
        float of_this = length > 0 ? 0.5f / length : INFINITY;
        if (of_this > *offer) *offer = of_this;
    }
    return gf_centre_index_set_ceilings(s->index, gf_passes_pool(s->passes), err);
}

/* Index the centres by how much they could offer a row, and set what belongs to the columns. */
static gf_status set_columns(polishing *s, gf_error *err)
{
    const gf_centre *at = s->p->centres.at;
    uint32_t k = s->p->k;
    s->n_moved = 0;
    for (uint32_t j = 0; j < k; j++) {
        double offer = at[j].length > 0.25 ? at[j].drift + 0.5 / at[j].length : MOVED;
        s->key[j] = offer < (double)MOVED ? (float)offer : MOVED;
        if (at[j].drift > 0) s->key[j] += MOVED;
        s->n_moved += at[j].drift > 0;
    }
    gf_status st =
        gf_centre_index_build(s->index, &s->p->centres, s->key, gf_passes_pool(s->passes), err);
    if (st != GF_OK) return st;
    s->rest[k] = 0;
    for (uint32_t c = k; c > 0; c--) {
        const gf_centre *centre = &at[s->index->cluster_of[c - 1]];
        float drift = (float)centre->drift;
        s->rest[c - 1] = drift > s->rest[c] ? drift : s->rest[c];
        s->length[c - 1] = (float)centre->length;
        s->squared[c - 1] = (float)(centre->length * centre->length);
    }
    return k < CEILINGS ? GF_OK : set_offers(s, err);
}

static gf_status propose_all(polishing *s, gf_error *err)
{
    size_t tasks = ((size_t)s->p->n + GF_ROWS_PER_TASK - 1) / GF_ROWS_PER_TASK;
    gf_status st = set_columns(s, err);
    if (st != GF_OK) return st;
    return gf_pool_run(gf_passes_pool(s->passes), tasks, propose_task, s,
                       gf_passes_cancel(s->passes), err);
}

static gf_status allocate(polishing *s, gf_error *err)
{
    uint32_t n = s->p->n, k = s->p->k;
    s->key = gf_array(k, sizeof *s->key);
    s->rest = gf_array((size_t)k + 1, sizeof *s->rest);
    s->length = gf_calloc(s->index->stride, sizeof *s->length);
    s->squared = gf_calloc(s->index->stride, sizeof *s->squared);
    s->offer = gf_array(s->index->stride / GF_COLUMN_BLOCK, sizeof *s->offer);
    s->target = gf_calloc(n, sizeof *s->target);
    s->score = gf_array(n, sizeof *s->score);
    bool ok = s->key && s->rest && s->length && s->squared && s->offer && s->target && s->score;
    if (!ok) return gf_fail_memory(err, "polishing clusters");
    return gf_moves_create(gf_passes_pool(s->passes), s->points, k, &s->moves, err);
}

static void release(polishing *s)
{
    gf_free(s->key);
    gf_free(s->rest);
    gf_free(s->length);
    gf_free(s->squared);
    gf_free(s->offer);
    gf_free(s->target);
    gf_free(s->score);
    gf_moves_free(s->moves);
}

gf_status gf_polish(gf_passes *passes, gf_partition *p, double tolerance, unsigned max_rounds,
                    unsigned *rounds, gf_error *err)
{
    polishing s = {.passes = passes,
                   .p = p,
                   .points = gf_passes_points(passes),
                   .kernels = gf_passes_kernels(passes),
                   .index = gf_passes_index(passes),
                   .first = true};
    gf_status st = allocate(&s, err);
    unsigned n = 0;
    while (st == GF_OK && n < max_rounds) {
        uint64_t n_moves = 0;
        st = propose_all(&s, err);
        if (st == GF_OK)
            st = gf_moves_apply(s.moves, p, s.target, s.score, gf_passes_changed(passes),
                                gf_passes_cancel(passes), &n_moves, err);
        if (st != GF_OK || n_moves == 0) break;
        s.first = false;
        n++;
        double before = gf_centres_objective(&p->centres);
        st = gf_passes_update(passes, p, err);
        double after = gf_centres_objective(&p->centres);
        if ((double)n_moves < tolerance * p->n) break;
        if (after - before < GF_POLISH_LEAST_RISE * tolerance * after) break;
    }
    release(&s);
    if (st == GF_OK) *rounds = n;
    return st;
}
