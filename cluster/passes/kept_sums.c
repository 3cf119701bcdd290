#include "cluster/passes/kept_sums.h"

#include "base/memory.h"
#include "cluster/passes/sort_rows.h"

#include <string.h>

typedef struct kept_sum {
    uint32_t *term; /* n of capacity */
    double *sum;    /* n of capacity */
    uint32_t n, capacity;
    uint64_t moved; /* entries of the rows that left and came since */
    double weight;  /* of the rows */
    bool known;
} kept_sum;

/* Rows that moved by a cluster, each cluster's rising. */
typedef struct moved_rows {
    uint32_t *start; /* k + 1 */
    uint32_t *row;   /* n_moved of most */
} moved_rows;

struct gf_kept_sums {
    uint32_t n_rows, k;
    gf_pool *pool;
    uint32_t most;   /* rows that may move, else all are summed */
    kept_sum *at;    /* k */
    uint32_t *moved; /* n_moved of most: the rows that did, rising */
    uint32_t n_moved;
    uint32_t *before; /* n_rows: cluster of each row at the last update */
    bool compared;    /* before is set */
    moved_rows left, came;
};

enum {
    MOVED_PART = 4,    /* rows of which one may move */
    LEAST_ROWS = 16384 /* of a part that is compared by itself */
};

static bool init_moved(moved_rows *m, uint32_t k, uint32_t most)
{
    m->start = gf_array((size_t)k + 1, sizeof *m->start);
    m->row = gf_array(most, sizeof *m->row);
    return m->start && m->row;
}

gf_status gf_kept_sums_create(gf_pool *pool, uint32_t n_rows, uint32_t k, gf_kept_sums **kept,
                              gf_error *err)
{
    gf_kept_sums *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "cluster sums");
    *s = (gf_kept_sums){.pool = pool, .n_rows = n_rows, .k = k, .most = n_rows / MOVED_PART};
    s->at = gf_calloc(k, sizeof *s->at);
    s->before = gf_array(n_rows, sizeof *s->before);
    s->moved = gf_array(s->most, sizeof *s->moved);
    bool left = init_moved(&s->left, k, s->most), came = init_moved(&s->came, k, s->most);
    if (!left || !came || !s->at || !s->before || !s->moved) {
        gf_kept_sums_free(s);
        return gf_fail_memory(err, "cluster sums");
    }
    *kept = s;
    return GF_OK;
}

void gf_kept_sums_free(gf_kept_sums *s)
{
    if (!s) return;
    for (uint32_t j = 0; s->at && j < s->k; j++) {
        gf_free(s->at[j].term);
        gf_free(s->at[j].sum);
    }
    gf_free(s->at);
    gf_free(s->before);
    gf_free(s->moved);
    gf_free(s->left.start);
    gf_free(s->left.row);
    gf_free(s->came.start);
    gf_free(s->came.row);
    gf_free(s);
}

/* ---- what moved ------------------------------------------------------------------------------ */

static void forget_all(gf_kept_sums *s)
{
    for (uint32_t j = 0; j < s->k; j++)
        s->at[j].known = false;
}

typedef struct comparing {
    gf_kept_sums *s;
    gf_parts parts;
    const uint32_t *label;
    uint32_t *n; /* parts.count: rows that moved; then where they are listed */
} comparing;

static gf_status count_moved_task(void *context, size_t part, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const comparing *c = context;
    uint32_t n = 0, to = gf_parts_to(&c->parts, part);
    for (uint32_t i = gf_parts_from(&c->parts, part); i < to; i++)
        n += c->s->before[i] != c->label[i];
    c->n[part] = n;
    return GF_OK;
}

static gf_status list_moved_task(void *context, size_t part, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const comparing *c = context;
    uint32_t *moved = c->s->moved + c->n[part], to = gf_parts_to(&c->parts, part);
    for (uint32_t i = gf_parts_from(&c->parts, part); i < to; i++)
        if (c->s->before[i] != c->label[i]) *moved++ = i;
    return GF_OK;
}

/* List the rows that moved, rising; *fit: they are no more than there is room for. */
static gf_status list_moved(comparing *c, bool *fit, gf_error *err)
{
    gf_kept_sums *s = c->s;
    gf_status st = gf_pool_run(s->pool, c->parts.count, count_moved_task, c, NULL, err);
    if (st != GF_OK) return st;
    uint64_t all = 0;
    for (uint32_t part = 0; part < c->parts.count; part++) {
        uint32_t n = c->n[part];
        c->n[part] = (uint32_t)all;
        all += n;
    }
    *fit = all <= s->most;
    s->n_moved = *fit ? (uint32_t)all : 0;
    return *fit ? gf_pool_run(s->pool, c->parts.count, list_moved_task, c, NULL, err) : GF_OK;
}

/* By the cluster that they left, and by the one that they came to. */
static void sort_moved(gf_kept_sums *s, const gf_points *points, const uint32_t *label)
{
    uint32_t *left = s->left.start, *came = s->came.start;
    memset(left, 0, ((size_t)s->k + 1) * sizeof *left);
    memset(came, 0, ((size_t)s->k + 1) * sizeof *came);
    for (uint32_t j = 0; j < s->k; j++)
        s->at[j].moved = 0;
    for (uint32_t r = 0; r < s->n_moved; r++) {
        uint32_t i = s->moved[r], a = s->before[i], b = label[i];
        uint32_t entries = gf_csr_row(points->x, i).n;
        left[a + 1]++;
        came[b + 1]++;
        s->at[a].moved += entries;
        s->at[b].moved += entries;
    }
    for (uint32_t j = 0; j < s->k; j++) {
        left[j + 1] += left[j];
        came[j + 1] += came[j];
    }
    /* Filling moves each start on to the next, so they are moved back. */
    for (uint32_t r = 0; r < s->n_moved; r++) {
        uint32_t i = s->moved[r];
        s->left.row[left[s->before[i]]++] = i;
        s->came.row[came[label[i]]++] = i;
        s->before[i] = label[i];
    }
    for (uint32_t j = s->k; j > 0; j--) {
        left[j] = left[j - 1];
        came[j] = came[j - 1];
    }
    left[0] = came[0] = 0;
}

gf_status gf_kept_sums_compare(gf_kept_sums *s, const gf_points *points, const uint32_t *label,
                               const bool *changed, gf_error *err)
{
    comparing c = {s, gf_parts_for(s->pool, s->n_rows, LEAST_ROWS), label, NULL};
    bool fit = false;
    gf_status st = GF_OK;
    if (s->compared) {
        c.n = gf_array(c.parts.count, sizeof *c.n);
        st = c.n ? list_moved(&c, &fit, err) : gf_fail_memory(err, "cluster sums");
        gf_free(c.n);
    }
    if (st != GF_OK) return st;
    if (fit) {
        sort_moved(s, points, label);
    } else {
        forget_all(s);
        memcpy(s->before, label, s->n_rows * sizeof *label);
    }
    for (uint32_t j = 0; changed && j < s->k; j++)
        if (!changed[j] && s->at[j].moved) s->at[j].known = false;
    s->compared = true;
    return GF_OK;
}

/* ---- one cluster ----------------------------------------------------------------------------- */

static void move_rows(const moved_rows *m, uint32_t j, const gf_points *points, float sign,
                      const gf_term_sums *to, double *weight)
{
    for (uint32_t r = m->start[j]; r < m->start[j + 1]; r++) {
        float w = sign * gf_points_weight(points, m->row[r]);
        gf_term_sums_add(to, gf_csr_row(points->x, m->row[r]), w);
        *weight += (double)w;
    }
}

bool gf_kept_sums_can_update(const gf_kept_sums *s, uint32_t j)
{
    return s->at[j].known && s->at[j].moved <= s->at[j].n;
}

bool gf_kept_sums_update(gf_kept_sums *s, uint32_t j, const gf_points *points,
                         const gf_term_sums *to, double *weight)
{
    kept_sum *c = &s->at[j];
    if (!gf_kept_sums_can_update(s, j)) return false;
    *weight = c->weight;
    for (uint32_t p = 0; p < c->n; p++) {
        uint32_t t = c->term[p];
        to->sum[t] = c->sum[p];
        to->touched[t / 64] |= UINT64_C(1) << (t % 64);
    }
    move_rows(&s->left, j, points, -1, to, weight);
    move_rows(&s->came, j, points, 1, to, weight);
    return true;
}

static gf_status make_room(kept_sum *c, uint32_t n, gf_error *err)
{
    if (n <= c->capacity) return GF_OK;
    uint64_t wanted = (uint64_t)n + n / 8;
    uint32_t capacity = wanted > UINT32_MAX ? n : (uint32_t)wanted;
    gf_free(c->term);
    gf_free(c->sum);
    c->term = gf_array(capacity, sizeof *c->term);
    c->sum = gf_array(capacity, sizeof *c->sum);
    c->capacity = c->term && c->sum ? capacity : 0;
    return c->capacity ? GF_OK : gf_fail_memory(err, "a cluster's sum");
}

gf_status gf_kept_sums_keep(gf_kept_sums *s, uint32_t j, const gf_term_sums *from, double weight,
                            uint64_t entries, gf_error *err)
{
    kept_sum *c = &s->at[j];
    c->known = false;
    if (!from->n || entries / GF_KEPT_ENTRIES < from->n) return GF_OK;
    gf_status st = make_room(c, from->n, err);
    if (st != GF_OK) return st;
    for (uint32_t p = 0; p < from->n; p++) {
        c->term[p] = from->term[p];
        c->sum[p] = from->sum[from->term[p]];
    }
    c->n = from->n;
    c->weight = weight;
    c->known = true;
    return GF_OK;
}
