#include "cluster/passes/kept_sums.h"

#include "base/memory.h"

#include <string.h>

typedef struct kept_sum {
    uint32_t *term; /* n of capacity */
    double *sum;    /* n of capacity */
    uint32_t n, capacity;
    uint64_t moved; /* entries of the rows that left and came since */
    double weight;  /* of the rows */
    unsigned differences;
    bool known;
} kept_sum;

/* Rows that moved by a cluster, each cluster's rising. */
typedef struct moved_rows {
    uint32_t *start; /* k + 1 */
    uint32_t *row;   /* n_moved of most */
} moved_rows;

struct gf_kept_sums {
    uint32_t n_rows, k;
    uint32_t most;    /* rows that may move, else all are summed */
    kept_sum *at;     /* k */
    uint32_t *before; /* n_rows: cluster of each row at the last update */
    bool compared;    /* before is set */
    moved_rows left, came;
};

enum { MOVED_PART = 4 /* rows of which one may move */ };

static bool init_moved(moved_rows *m, uint32_t k, uint32_t most)
{
    m->start = gf_array((size_t)k + 1, sizeof *m->start);
    m->row = gf_array(most, sizeof *m->row);
    return m->start && m->row;
}

gf_status gf_kept_sums_create(uint32_t n_rows, uint32_t k, gf_kept_sums **kept, gf_error *err)
{
    gf_kept_sums *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "cluster sums");
    *s = (gf_kept_sums){.n_rows = n_rows, .k = k, .most = n_rows / MOVED_PART};
    s->at = gf_calloc(k, sizeof *s->at);
    s->before = gf_array(n_rows, sizeof *s->before);
    bool left = init_moved(&s->left, k, s->most), came = init_moved(&s->came, k, s->most);
    if (!left || !came || !s->at || !s->before) {
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

/* Count the rows that left and came, into the start behind each cluster's; false: too many did. */
static bool count_moved(gf_kept_sums *s, const gf_points *points, const uint32_t *label)
{
    uint32_t n = 0;
    memset(s->left.start, 0, ((size_t)s->k + 1) * sizeof *s->left.start);
    memset(s->came.start, 0, ((size_t)s->k + 1) * sizeof *s->came.start);
    for (uint32_t j = 0; j < s->k; j++)
        s->at[j].moved = 0;
    for (uint32_t i = 0; i < s->n_rows; i++) {
        uint32_t a = s->before[i], b = label[i];
        if (a == b) continue;
        if (n++ == s->most) return false;
        s->left.start[a + 1]++;
        s->came.start[b + 1]++;
        uint32_t entries = gf_csr_row(points->x, i).n;
        s->at[a].moved += entries;
        s->at[b].moved += entries;
    }
    return true;
}

/* Counts become starts; filling moves each start on to the next, so they are moved back. */
static void sort_moved(gf_kept_sums *s, const uint32_t *label)
{
    uint32_t *left = s->left.start, *came = s->came.start;
    for (uint32_t j = 0; j < s->k; j++) {
        left[j + 1] += left[j];
        came[j + 1] += came[j];
    }
    for (uint32_t i = 0; i < s->n_rows; i++) {
        if (s->before[i] == label[i]) continue;
        s->left.row[left[s->before[i]]++] = i;
        s->came.row[came[label[i]]++] = i;
    }
    for (uint32_t j = s->k; j > 0; j--) {
        left[j] = left[j - 1];
        came[j] = came[j - 1];
    }
    left[0] = came[0] = 0;
}

void gf_kept_sums_compare(gf_kept_sums *s, const gf_points *points, const uint32_t *label,
                          const bool *changed)
{
    if (s->compared && count_moved(s, points, label))
        sort_moved(s, label);
    else
        forget_all(s);
    for (uint32_t j = 0; changed && j < s->k; j++)
        if (!changed[j] && s->at[j].moved) s->at[j].known = false;
    memcpy(s->before, label, s->n_rows * sizeof *label);
    s->compared = true;
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

bool gf_kept_sums_update(gf_kept_sums *s, uint32_t j, const gf_points *points,
                         const gf_term_sums *to, double *weight)
{
    kept_sum *c = &s->at[j];
    if (!c->known || c->differences == GF_MOST_DIFFERENCES || c->moved > c->n) {
        c->differences = 0;
        return false;
    }
    c->differences++;
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

unsigned gf_kept_sums_differences(const gf_kept_sums *s, uint32_t j)
{
    return s->at[j].differences;
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
