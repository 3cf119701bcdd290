#include "cluster/moves/apply_moves.h"

#include "base/memory.h"
#include "cluster/moves/constants.h"
#include "cluster/passes/sort_rows.h"

#include <math.h>
#include <string.h>

enum {
    BINS = 32,
    MEETING = BINS - 1, /* bins that meet by the sum of their numbers; the last meets the others */
    ROUNDS = 1 + MEETING,
    PAIRS = BINS * BINS, /* lower bin * BINS + higher one */
    LEAST_ROWS = 16384,  /* of a part that is looked through by itself */
    FEW_MOVES = 64       /* proposals of a round that are applied before a thread is awake */
};

/* ---- what applied moves changed -------------------------------------------------------------- */

/* (cluster, term) -> change of the cluster's sum: open addressing, a power of two. */
typedef struct delta_table {
    uint64_t *key; /* cluster << 32 | term, plus 1; 0 is empty */
    double *value;
    size_t capacity, used;
} delta_table;

enum { FIRST_DELTAS = 1 << 7 };

static void release_deltas(delta_table *t)
{
    gf_free(t->key);
    gf_free(t->value);
    *t = (delta_table){0};
}

static void clear_deltas(delta_table *t)
{
    if (t->used) memset(t->key, 0, t->capacity * sizeof *t->key);
    t->used = 0;
}

static size_t find_delta(const delta_table *t, uint64_t key)
{
    size_t mask = t->capacity - 1, i = (size_t)((key * 0x9E3779B97F4A7C15u) >> 32) & mask;
    while (t->key[i] && t->key[i] != key)
        i = (i + 1) & mask;
    return i;
}

static gf_status reserve_deltas(delta_table *t, size_t more, gf_error *err)
{
    if (t->capacity && t->used + more <= t->capacity / 2) return GF_OK;
    delta_table grown = {.capacity = t->capacity ? t->capacity : FIRST_DELTAS, .used = t->used};
    while (t->used + more > grown.capacity / 2)
        grown.capacity *= 2;
    grown.key = gf_calloc(grown.capacity, sizeof *grown.key);
    grown.value = gf_array(grown.capacity, sizeof *grown.value);
    if (!grown.key || !grown.value) {
        release_deltas(&grown);
        return gf_fail_memory(err, "polishing clusters");
    }
    for (size_t old = 0; old < t->capacity; old++) {
        if (!t->key[old]) continue;
        size_t i = find_delta(&grown, t->key[old]);
        grown.key[i] = t->key[old];
        grown.value[i] = t->value[old];
    }
    release_deltas(t);
    *t = grown;
    return GF_OK;
}

static uint64_t delta_key(uint32_t cluster, uint32_t term)
{
    return ((uint64_t)cluster << 32 | term) + 1;
}

/* sum of x_t * delta(cluster, t) */
static double delta_dot(const delta_table *t, uint32_t cluster, gf_row_view row)
{
    double dot = 0;
    for (uint32_t p = 0; p < row.n; p++) {
        size_t i = find_delta(t, delta_key(cluster, row.col[p]));
        if (t->key[i]) dot += (double)row.val[p] * t->value[i];
    }
    return dot;
}

/* Room must have been reserved. */
static void delta_add(delta_table *t, uint32_t cluster, gf_row_view row, double weight)
{
    for (uint32_t p = 0; p < row.n; p++) {
        uint64_t key = delta_key(cluster, row.col[p]);
        size_t i = find_delta(t, key);
        if (!t->key[i]) {
            t->key[i] = key;
            t->value[i] = 0;
            t->used++;
        }
        t->value[i] += weight * (double)row.val[p];
    }
}

/* ---- the moves ------------------------------------------------------------------------------- */

struct gf_moves {
    gf_pool *pool;
    const gf_points *points;
    uint32_t k;
    double *squares; /* k: |S|^2 as moves are applied */
    bool *touched;   /* k: has changes */
    delta_table deltas[BINS];

    /* of the current call */
    gf_partition *p;
    const uint32_t *target;
    const float *score;
    bool *changed;
    gf_parts parts;
    uint32_t *listed;          /* parts.count: proposals of each part; then where they are listed */
    uint32_t n, *row;          /* proposals: the rows, rising */
    uint32_t *pair;            /* n: of each */
    uint32_t *order;           /* n: proposals by pair, then by row */
    uint32_t start[PAIRS + 1]; /* of each pair in it */
    unsigned round;
    uint64_t moved[PAIRS];
};

gf_status gf_moves_create(gf_pool *pool, const gf_points *points, uint32_t k, gf_moves **moves,
                          gf_error *err)
{
    gf_moves *m = gf_calloc(1, sizeof *m);
    if (!m) return gf_fail_memory(err, "polishing clusters");
    m->pool = pool;
    m->points = points;
    m->k = k;
    m->squares = gf_array(k, sizeof *m->squares);
    m->touched = gf_array(k, sizeof *m->touched);
    if (!m->squares || !m->touched) {
        gf_moves_free(m);
        return gf_fail_memory(err, "polishing clusters");
    }
    *moves = m;
    return GF_OK;
}

void gf_moves_free(gf_moves *m)
{
    if (!m) return;
    for (int b = 0; b < BINS; b++)
        release_deltas(&m->deltas[b]);
    gf_free(m->squares);
    gf_free(m->touched);
    gf_free(m);
}

static uint32_t pair_of(uint32_t a, uint32_t b)
{
    uint32_t i = a % BINS, j = b % BINS;
    return i < j ? i * BINS + j : j * BINS + i;
}

/* The pair that a task of a round has. */
static uint32_t pair_at(unsigned round, uint32_t task)
{
    if (round == 0) return task * BINS + task;
    uint32_t sum = round - 1;
    /* Bins i, j below MEETING with i + j = sum: task 0 has that with 2 i = sum, and the last bin. */
    uint32_t half = sum % 2 == 0 ? sum / 2 : (sum + MEETING) / 2;
    if (task == 0) return half * BINS + MEETING;
    return pair_of((half + task) % MEETING, (half + MEETING - task) % MEETING);
}

unsigned gf_moves_round(uint32_t a, uint32_t b)
{
    uint32_t i = a % BINS, j = b % BINS;
    if (i == j) return 0;
    if (i == MEETING) i = j;
    if (j == MEETING) j = i;
    return 1 + (i + j) % MEETING;
}

/* S.x now: as proposed, and what moves have added since. */
static double current_dot(const gf_moves *m, uint32_t j, float score, gf_row_view row)
{
    double dot = m->p->centres.at[j].length * (double)score;
    return m->touched[j] ? dot + delta_dot(&m->deltas[j % BINS], j, row) : dot;
}

/* Apply the proposal of row i where it still gains; true where it was applied. */
static bool apply(gf_moves *m, uint32_t i)
{
    uint32_t a = m->p->label[i], b = m->target[i];
    gf_row_view row = gf_csr_row(m->points->x, i);
    double w = (double)gf_points_weight(m->points, i);
    double with = m->squares[b] + 2 * w * current_dot(m, b, m->score[i], row) + w * w;
    double without = m->squares[a] - 2 * w * current_dot(m, a, m->p->own[i], row) + w * w;
    if (with < 0) with = 0;
    if (without < 0) without = 0;
    double gain = sqrt(with) - sqrt(m->squares[b]) + sqrt(without) - sqrt(m->squares[a]);
    if (gain <= GF_MOVE_LEAST_GAIN * w) return false;
    m->squares[b] = with;
    m->squares[a] = without;
    delta_add(&m->deltas[b % BINS], b, row, w);
    delta_add(&m->deltas[a % BINS], a, row, -w);
    m->touched[a] = m->touched[b] = m->changed[a] = m->changed[b] = true;
    m->p->label[i] = b;
    if (m->p->own[i] > m->p->other[i]) m->p->other[i] = m->p->own[i];
    return true;
}

static gf_status apply_pair(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)worker;
    gf_moves *m = context;
    uint32_t pair = pair_at(m->round, (uint32_t)task);
    gf_status st = GF_OK;
    for (uint32_t o = m->start[pair]; o < m->start[pair + 1] && st == GF_OK; o++) {
        uint32_t i = m->row[m->order[o]];
        size_t entries = 2 * (size_t)gf_csr_row(m->points->x, i).n;
        st = reserve_deltas(&m->deltas[pair / BINS], entries, err);
        if (st == GF_OK) st = reserve_deltas(&m->deltas[pair % BINS], entries, err);
        if (st == GF_OK) m->moved[pair] += apply(m, i);
    }
    return st;
}

/* One thread is enough for few: the order is the same. */
static gf_status apply_round(gf_moves *m, unsigned round, const gf_cancel *cancel, gf_error *err)
{
    uint32_t tasks = round ? BINS / 2 : BINS, n = 0;
    m->round = round;
    for (uint32_t t = 0; t < tasks; t++) {
        uint32_t pair = pair_at(round, t);
        n += m->start[pair + 1] - m->start[pair];
    }
    if (n == 0) return GF_OK;
    return gf_pool_run(n < FEW_MOVES ? NULL : m->pool, tasks, apply_pair, m, cancel, err);
}

/* ---- proposals by pair ----------------------------------------------------------------------- */

static gf_status count_proposals_task(void *context, size_t part, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const gf_moves *m = context;
    uint32_t n = 0, to = gf_parts_to(&m->parts, part);
    for (uint32_t i = gf_parts_from(&m->parts, part); i < to; i++)
        n += m->target[i] != GF_NO_MOVE;
    m->listed[part] = n;
    return GF_OK;
}

static gf_status list_proposals_task(void *context, size_t part, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const gf_moves *m = context;
    uint32_t at = m->listed[part], to = gf_parts_to(&m->parts, part);
    for (uint32_t i = gf_parts_from(&m->parts, part); i < to; i++) {
        if (m->target[i] == GF_NO_MOVE) continue;
        m->pair[at] = pair_of(m->p->label[i], m->target[i]);
        m->row[at++] = i;
    }
    return GF_OK;
}

static gf_status list_proposals(gf_moves *m, gf_error *err)
{
    gf_status st = gf_pool_run(m->pool, m->parts.count, count_proposals_task, m, NULL, err);
    if (st != GF_OK) return st;
    m->n = 0;
    for (uint32_t part = 0; part < m->parts.count; part++) {
        uint32_t n = m->listed[part];
        m->listed[part] = m->n;
        m->n += n;
    }
    if (m->n == 0) return GF_OK;
    m->row = gf_array(m->n, sizeof *m->row);
    m->pair = gf_array(m->n, sizeof *m->pair);
    m->order = gf_array(m->n, sizeof *m->order);
    if (!m->row || !m->pair || !m->order) return gf_fail_memory(err, "polishing clusters");
    st = gf_pool_run(m->pool, m->parts.count, list_proposals_task, m, NULL, err);
    if (st != GF_OK) return st;
    return gf_sort_rows(m->pool, m->pair, m->n, PAIRS, m->start, m->order, err);
}

static gf_status clear_task(void *context, size_t bin, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    gf_moves *m = context;
    clear_deltas(&m->deltas[bin]);
    return GF_OK;
}

gf_status gf_moves_apply(gf_moves *m, gf_partition *p, const uint32_t *target, const float *score,
                         bool *changed, const gf_cancel *cancel, uint64_t *n_moves, gf_error *err)
{
    m->p = p;
    m->target = target;
    m->score = score;
    m->changed = changed;
    m->parts = gf_parts_for(m->pool, p->n, LEAST_ROWS);
    m->listed = gf_array(m->parts.count, sizeof *m->listed);
    m->row = m->pair = m->order = NULL;
    gf_status st = m->listed ? list_proposals(m, err) : gf_fail_memory(err, "polishing clusters");
    *n_moves = 0;
    if (st == GF_OK && m->n) {
        memset(m->touched, 0, m->k * sizeof *m->touched);
        memset(m->moved, 0, sizeof m->moved);
        for (uint32_t j = 0; j < m->k; j++)
            m->squares[j] = p->centres.at[j].length * p->centres.at[j].length;
        st = gf_pool_run(m->n < FEW_MOVES ? NULL : m->pool, BINS, clear_task, m, NULL, err);
        for (unsigned round = 0; round < ROUNDS && st == GF_OK; round++)
            st = apply_round(m, round, cancel, err);
        for (uint32_t pair = 0; pair < PAIRS; pair++)
            *n_moves += m->moved[pair];
    }
    gf_free(m->listed);
    gf_free(m->row);
    gf_free(m->pair);
    gf_free(m->order);
    return st;
}
