#include "cluster/moves/splitter.h"

#include "base/memory.h"
#include "cluster/moves/constants.h"

#include <inttypes.h>
#include <math.h>

typedef double pair[2]; /* of the first half and of the second */

struct gf_splitter {
    pair *sum;   /* n_terms: the halves' sums; zero between splits */
    float *near; /* n of capacity: similarity of each row to the first seed */
    uint32_t n_terms, capacity;
};

/* A cluster that is being split. */
typedef struct splitting {
    const gf_points *points;
    const uint32_t *rows;
    uint32_t n;
    pair *sum;
    pair squares;     /* |S|^2 of the halves */
    uint32_t size[2]; /* rows of the halves */
    bool *second;     /* n */
} splitting;

gf_status gf_splitter_create(uint32_t n_terms, gf_splitter **splitter, gf_error *err)
{
    gf_splitter *s = gf_calloc(1, sizeof *s);
    if (s) s->sum = gf_calloc(n_terms, sizeof *s->sum);
    if (!s || !s->sum) {
        gf_splitter_free(s);
        return gf_fail_memory(err, "splitting a cluster");
    }
    s->n_terms = n_terms;
    *splitter = s;
    return GF_OK;
}

void gf_splitter_free(gf_splitter *s)
{
    if (!s) return;
    gf_free(s->sum);
    gf_free(s->near);
    gf_free(s);
}

void gf_split_release(gf_split *s)
{
    gf_free(s->second);
    *s = (gf_split){0};
}

static gf_row_view row_of(const splitting *s, uint32_t i)
{
    return gf_csr_row(s->points->x, s->rows[i]);
}

static double weight_of(const splitting *s, uint32_t i)
{
    return (double)gf_points_weight(s->points, s->rows[i]);
}

static void dot_both(const splitting *s, gf_row_view row, pair dot)
{
    double first = 0, second = 0;
    for (uint32_t p = 0; p < row.n; p++) {
        const double *sum = s->sum[row.col[p]];
        first += (double)row.val[p] * sum[0];
        second += (double)row.val[p] * sum[1];
    }
    dot[0] = first;
    dot[1] = second;
}

/* Add weight times a row to a half's sum; `dot` is the row's product with the sum before. */
static void add(splitting *s, int half, gf_row_view row, double weight, double dot)
{
    for (uint32_t p = 0; p < row.n; p++)
        s->sum[row.col[p]][half] += weight * (double)row.val[p];
    double squares = s->squares[half] + 2 * weight * dot + weight * weight;
    s->squares[half] = squares > 0 ? squares : 0;
}

/* Row i by weight, or where `near` is given by weight * (alpha - near[i]); not row `taken`. */
static uint32_t draw(const splitting *s, const float *near, uint32_t taken, gf_random *random)
{
    double total = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (i != taken) total += weight_of(s, i) * (near ? GF_SEED_ALPHA - (double)near[i] : 1);
    double at = gf_random_unit(random) * total;
    uint32_t last = taken == 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (i == taken) continue;
        last = i;
        at -= weight_of(s, i) * (near ? GF_SEED_ALPHA - (double)near[i] : 1);
        if (at < 0) break;
    }
    return last;
}

static void put(splitting *s, uint32_t i, bool second, double dot)
{
    s->second[i] = second;
    s->size[second]++;
    add(s, second, row_of(s, i), weight_of(s, i), dot);
}

/* Two seeds, and every other row to the half whose sum so far is more similar. */
static void gather(splitting *s, float *near, gf_random *random)
{
    uint32_t first = draw(s, NULL, UINT32_MAX, random);
    pair dot;
    put(s, first, false, 0);
    for (uint32_t i = 0; i < s->n; i++) {
        dot_both(s, row_of(s, i), dot);
        near[i] = (float)(dot[0] / weight_of(s, first));
    }
    uint32_t second = draw(s, near, first, random);
    put(s, second, true, 0);
    for (uint32_t i = 0; i < s->n; i++) {
        if (i == first || i == second) continue;
        dot_both(s, row_of(s, i), dot);
        bool to = dot[1] * sqrt(s->squares[0]) > dot[0] * sqrt(s->squares[1]);
        put(s, i, to, dot[to]);
    }
}

/* |S + w x| - |S| */
static double gain_of(double squares, double dot, double weight)
{
    double with = squares + 2 * weight * dot + weight * weight;
    return sqrt(with > 0 ? with : 0) - sqrt(squares);
}

/* Move each row that gains by it, at once; returns how many did. */
static uint32_t sweep(splitting *s)
{
    uint32_t moved = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        bool from = s->second[i], to = !from;
        if (s->size[from] == 1) continue;
        gf_row_view row = row_of(s, i);
        double w = weight_of(s, i);
        pair dot;
        dot_both(s, row, dot);
        double gain =
            gain_of(s->squares[to], dot[to], w) + gain_of(s->squares[from], dot[from], -w);
        if (gain <= GF_MOVE_LEAST_GAIN * w) continue;
        add(s, to, row, w, dot[to]);
        add(s, from, row, -w, dot[from]);
        s->second[i] = to;
        s->size[to]++;
        s->size[from]--;
        moved++;
    }
    return moved;
}

static void clear_sums(const splitting *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        gf_row_view row = row_of(s, i);
        for (uint32_t p = 0; p < row.n; p++)
            s->sum[row.col[p]][0] = s->sum[row.col[p]][1] = 0;
    }
}

static gf_status make_room(gf_splitter *s, uint32_t n, gf_error *err)
{
    if (n <= s->capacity) return GF_OK;
    float *near = gf_realloc(s->near, n, sizeof *near);
    if (!near) return gf_fail_memory(err, "splitting a cluster");
    s->near = near;
    s->capacity = n;
    return GF_OK;
}

gf_status gf_split_rows(gf_splitter *scratch, const gf_points *points, const uint32_t *rows,
                        uint32_t n_rows, double length, gf_random *random, const gf_cancel *cancel,
                        gf_split *out, gf_error *err)
{
    if (n_rows < 2)
        return gf_fail(err, GF_EINVAL, "a cluster of %" PRIu32 " rows cannot be split", n_rows);
    gf_status st = make_room(scratch, n_rows, err);
    if (st != GF_OK) return st;
    splitting s = {.points = points, .rows = rows, .n = n_rows, .sum = scratch->sum};
    s.second = gf_array(n_rows, sizeof *s.second);
    if (!s.second) return gf_fail_memory(err, "splitting a cluster");
    st = gf_cancel_check(cancel, err);
    if (st == GF_OK) gather(&s, scratch->near, random);
    for (int i = 0; st == GF_OK && i < GF_SPLIT_SWEEPS; i++) {
        uint32_t moved = sweep(&s);
        st = gf_cancel_check(cancel, err);
        if (moved <= GF_SPLIT_TOLERANCE * n_rows) break;
    }
    clear_sums(&s);
    double first = sqrt(s.squares[0]), second = sqrt(s.squares[1]);
    if (st == GF_OK)
        *out = (gf_split){first + second - length, {first, second}, s.second, n_rows};
    else
        gf_free(s.second);
    return st;
}
