#include "cluster/ranks/ranked_sums.h"

#include "base/memory.h"
#include "cluster/passes/kept_sums.h"
#include "cluster/ranks/ranked_bytes.h"

#include <math.h>
#include <string.h>

enum { PIECE = 16384 /* rows of a task: a cluster of more is cut */ };

/* A cluster's sum, at its owner. */
typedef struct owned_sum {
    uint32_t *term; /* n, rising */
    double *value;  /* n: whole multiples of 2^-24, none 0 */
    uint32_t n;
    double weight;
} owned_sum;

/* A row that came to a cluster, or left it: the point, twice, plus 1 where it left. */
typedef uint64_t moved_row;

/* Some rows of one cluster. */
typedef struct row_range {
    uint32_t cluster;
    uint64_t from, to;
} row_range;

struct gf_ranked_sums {
    gf_ranks *ranks;
    gf_pool *pool;
    unsigned n, me, workers;
    uint32_t k, n_terms;
    gf_term_sums *scratch; /* workers */
    gf_buffer *out;        /* workers * n: what this rank gives, by worker, then by owner */
    gf_buffer *to, *from;  /* n: the same by owner; what came */
    owned_sum *owned;      /* clusters me, me + n, me + 2 n ... */
    uint64_t *start;       /* k + 1: where a cluster's moved rows begin */
    gf_ranked_sent sent;

    /* of the current call */
    const gf_points *points;
    gf_centres *centres;
    moved_row *moved;
    row_range *ranges;
    gf_slice *changes;          /* what came of each own cluster, one behind the other */
    uint64_t *first_change;     /* own clusters + 1 */
    const uint32_t *by_cluster; /* points by cluster, while they are scored */
    float *own;
};

static uint32_t own_clusters(const gf_ranked_sums *s)
{
    return s->k > s->me ? (s->k - s->me + s->n - 1) / s->n : 0;
}

static bool init_scratch(gf_term_sums *t, uint32_t n_terms)
{
    t->sum = gf_calloc(n_terms, sizeof *t->sum);
    t->touched = gf_calloc((size_t)n_terms / 64 + 1, sizeof *t->touched);
    t->term = gf_array(n_terms, sizeof *t->term);
    return t->sum && t->touched && t->term;
}

gf_status gf_ranked_sums_create(gf_ranks *ranks, gf_pool *pool, uint32_t k, uint32_t n_terms,
                                gf_ranked_sums **sums, gf_error *err)
{
    gf_ranked_sums *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "cluster sums");
    *s = (gf_ranked_sums){.ranks = ranks,
                          .pool = pool,
                          .n = gf_ranks_n(ranks),
                          .me = gf_ranks_me(ranks),
                          .workers = gf_pool_size(pool),
                          .k = k,
                          .n_terms = n_terms};
    s->scratch = gf_calloc(s->workers, sizeof *s->scratch);
    s->out = gf_calloc((size_t)s->workers * s->n, sizeof *s->out);
    s->to = gf_calloc(s->n, sizeof *s->to);
    s->from = gf_calloc(s->n, sizeof *s->from);
    s->owned = gf_calloc(own_clusters(s), sizeof *s->owned);
    s->start = gf_calloc((size_t)k + 1, sizeof *s->start);
    bool ok = s->scratch && s->out && s->to && s->from && s->owned && s->start;
    for (unsigned w = 0; w < s->workers && ok; w++)
        ok = init_scratch(&s->scratch[w], n_terms);
    if (!ok) {
        gf_ranked_sums_free(s);
        return gf_fail_memory(err, "cluster sums");
    }
    *sums = s;
    return GF_OK;
}

void gf_ranked_sums_free(gf_ranked_sums *s)
{
    if (!s) return;
    for (unsigned w = 0; s->scratch && w < s->workers; w++) {
        gf_free(s->scratch[w].sum);
        gf_free(s->scratch[w].touched);
        gf_free(s->scratch[w].term);
    }
    for (size_t i = 0; s->out && i < (size_t)s->workers * s->n; i++)
        gf_buffer_release(&s->out[i]);
    for (unsigned i = 0; i < s->n; i++) {
        if (s->to) gf_buffer_release(&s->to[i]);
        if (s->from) gf_buffer_release(&s->from[i]);
    }
    for (uint32_t c = 0; s->owned && c < own_clusters(s); c++) {
        gf_free(s->owned[c].term);
        gf_free(s->owned[c].value);
    }
    gf_free(s->scratch);
    gf_free(s->out);
    gf_free(s->to);
    gf_free(s->from);
    gf_free(s->owned);
    gf_free(s->start);
    gf_free(s);
}

/* ---- a sum under way --------------------------------------------------------------------------- */

/* List the terms of the sum that are not 0, and forget the bits. */
static void list_terms(const gf_ranked_sums *s, gf_term_sums *t)
{
    t->n = 0;
    for (uint32_t w = 0; w <= s->n_terms / 64; w++) {
        for (uint64_t bits = t->touched[w]; bits; bits &= bits - 1) {
            uint32_t term = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (t->sum[term] != 0) t->term[t->n++] = term;
        }
        t->touched[w] = 0;
    }
}

static void add_to(const gf_term_sums *t, uint32_t term, double value)
{
    t->sum[term] += value;
    t->touched[term / 64] |= UINT64_C(1) << (term % 64);
}

static void clear(gf_term_sums *t)
{
    for (uint32_t p = 0; p < t->n; p++)
        t->sum[t->term[p]] = 0;
}

static void put_signed(gf_buffer *out, int64_t v)
{
    gf_buffer_varint(out, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static bool take_signed(gf_slice *s, int64_t *v)
{
    uint64_t u;
    if (!gf_slice_take_varint(s, &u)) return false;
    *v = (int64_t)(u >> 1 ^ (u & 1 ? UINT64_MAX : 0));
    return true;
}

/* ---- each rank: what its rows change ------------------------------------------------------------ */

/* The cluster that a point was counted in before this call. */
static uint32_t counted_in(const uint32_t *before, uint32_t i)
{
    return before ? before[i] : UINT32_MAX;
}

/* The rows that moved, by cluster. */
static gf_status sort_moved(gf_ranked_sums *s, const uint32_t *before, const uint32_t *label,
                            gf_error *err)
{
    uint32_t n = gf_points_n(s->points);
    memset(s->start, 0, ((size_t)s->k + 1) * sizeof *s->start);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = counted_in(before, i), to = label[i];
        if (from == to) continue;
        if (from < s->k) s->start[from + 1]++;
        if (to < s->k) s->start[to + 1]++;
    }
    for (uint32_t c = 0; c < s->k; c++)
        s->start[c + 1] += s->start[c];
    s->moved = gf_array(s->start[s->k], sizeof *s->moved);
    if (!s->moved) return gf_fail_memory(err, "rows that moved");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = counted_in(before, i), to = label[i];
        if (from == to) continue;
        if (from < s->k) s->moved[s->start[from]++] = (moved_row)i << 1 | 1;
        if (to < s->k) s->moved[s->start[to]++] = (moved_row)i << 1;
    }
    for (uint32_t c = s->k; c > 0; c--)
        s->start[c] = s->start[c - 1];
    s->start[0] = 0;
    return GF_OK;
}

/* Ranges of at most PIECE rows, each of one cluster; only: NULL, or flags of clusters. */
static gf_status cut_ranges(gf_ranked_sums *s, const bool *only, size_t *n, gf_error *err)
{
    size_t most = 0;
    *n = 0;
    for (uint32_t c = 0; c < s->k; c++)
        most += (size_t)((s->start[c + 1] - s->start[c] + PIECE - 1) / PIECE);
    s->ranges = gf_array(most, sizeof *s->ranges);
    if (!s->ranges) return gf_fail_memory(err, "rows of clusters");
    for (uint32_t c = 0; c < s->k; c++) {
        if (only && !only[c]) continue;
        for (uint64_t at = s->start[c]; at < s->start[c + 1]; at += PIECE) {
            uint64_t end = s->start[c + 1] - at < PIECE ? s->start[c + 1] : at + PIECE;
            s->ranges[(*n)++] = (row_range){c, at, end};
        }
    }
    return GF_OK;
}

/* A change: u32 bytes behind it; varint cluster, weight; gaps of terms with whole numbers. */
static gf_status change_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_ranked_sums *s = context;
    const row_range *r = &s->ranges[index];
    gf_term_sums *t = &s->scratch[worker];
    gf_buffer *out = &s->out[(size_t)worker * s->n + r->cluster % s->n];
    double weight = 0;
    for (uint64_t m = r->from; m < r->to; m++) {
        uint32_t point = (uint32_t)(s->moved[m] >> 1);
        float w = gf_points_weight(s->points, point);
        if (s->moved[m] & 1) w = -w;
        gf_term_sums_add(t, gf_csr_row(s->points->x, point), w);
        weight += (double)w;
    }
    list_terms(s, t);
    size_t at = out->len;
    uint32_t bytes = 0;
    gf_buffer_append(out, &bytes, sizeof bytes);
    gf_buffer_varint(out, r->cluster);
    put_signed(out, (int64_t)weight);
    for (uint32_t p = 0, last = 0; p < t->n; last = t->term[p++]) {
        gf_buffer_varint(out, t->term[p] - last);
        put_signed(out, (int64_t)(t->sum[t->term[p]] * 0x1p24));
    }
    clear(t);
    gf_status st = gf_buffer_check(out, err);
    if (st != GF_OK) return st;
    bytes = (uint32_t)(out->len - at - sizeof bytes);
    memcpy(out->ptr + at, &bytes, sizeof bytes);
    return GF_OK;
}

static uint64_t bytes_sent(const gf_ranked_sums *s)
{
    return s->ranks ? s->ranks->sent : 0;
}

/* All that the workers wrote, by owner, is dealt. */
static gf_status deal(gf_ranked_sums *s, gf_error *err)
{
    gf_status st = GF_OK;
    gf_slice *to = gf_array(s->n, sizeof *to);
    if (!to) return gf_fail_memory(err, "cluster sums");
    for (unsigned i = 0; i < s->n && st == GF_OK; i++) {
        gf_buffer_reset(&s->to[i]);
        for (unsigned w = 0; w < s->workers; w++) {
            gf_buffer *part = &s->out[(size_t)w * s->n + i];
            gf_buffer_slice(&s->to[i], gf_buffer_view(part));
            gf_buffer_release(part);
        }
        st = gf_buffer_check(&s->to[i], err);
        to[i] = gf_buffer_view(&s->to[i]);
    }
    uint64_t before = bytes_sent(s);
    if (st == GF_OK) st = gf_ranks_deal(s->ranks, to, s->from, err);
    s->sent.changes += bytes_sent(s) - before;
    for (unsigned i = 0; i < s->n; i++)
        gf_buffer_release(&s->to[i]);
    gf_free(to);
    return st;
}

/* ---- owners ------------------------------------------------------------------------------------- */

static bool take_change(gf_slice *s, gf_slice *change, uint32_t *cluster)
{
    uint32_t bytes;
    if (s->len < sizeof bytes) return false;
    memcpy(&bytes, s->ptr, sizeof bytes);
    if (bytes > s->len - sizeof bytes) return false;
    *change = gf_slice_of(s->ptr + sizeof bytes, bytes);
    *s = gf_slice_of(change->ptr + bytes, s->len - sizeof bytes - bytes);
    return gf_slice_take_varint32(change, cluster);
}

static gf_status fail_change(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "the change of a cluster's sum cannot be read");
}

/* The changes that came, by cluster. */
static gf_status sort_changes(gf_ranked_sums *s, gf_error *err)
{
    uint32_t mine = own_clusters(s), cluster;
    gf_slice rest, change;
    s->first_change = gf_calloc((size_t)mine + 1, sizeof *s->first_change);
    if (!s->first_change) return gf_fail_memory(err, "cluster sums");
    for (unsigned i = 0; i < s->n; i++) {
        for (rest = gf_buffer_view(&s->from[i]); rest.len;) {
            if (!take_change(&rest, &change, &cluster) || cluster >= s->k ||
                cluster % s->n != s->me)
                return fail_change(err);
            s->first_change[cluster / s->n + 1]++;
        }
    }
    for (uint32_t c = 0; c < mine; c++)
        s->first_change[c + 1] += s->first_change[c];
    s->changes = gf_array(s->first_change[mine], sizeof *s->changes);
    if (!s->changes) return gf_fail_memory(err, "cluster sums");
    for (unsigned i = 0; i < s->n; i++)
        for (rest = gf_buffer_view(&s->from[i]); rest.len && take_change(&rest, &change, &cluster);)
            s->changes[s->first_change[cluster / s->n]++] = change;
    for (uint32_t c = mine; c > 0; c--)
        s->first_change[c] = s->first_change[c - 1];
    s->first_change[0] = 0;
    return GF_OK;
}

static bool add_change(const gf_ranked_sums *s, gf_slice change, const gf_term_sums *t,
                       double *weight)
{
    int64_t v;
    uint64_t term = 0, gap;
    if (!take_signed(&change, &v)) return false;
    *weight += (double)v;
    while (change.len) {
        if (!gf_slice_take_varint(&change, &gap) || (term += gap) >= s->n_terms ||
            !take_signed(&change, &v))
            return false;
        add_to(t, (uint32_t)term, (double)v * 0x1p-24);
    }
    return true;
}

/* The sum as it is now takes the place of the one that was. */
static gf_status keep_sum(const gf_term_sums *t, owned_sum *o, gf_error *err)
{
    uint32_t *term = gf_array(t->n, sizeof *term);
    double *value = gf_array(t->n, sizeof *value);
    if (!term || !value) {
        gf_free(term);
        gf_free(value);
        return gf_fail_memory(err, "a cluster's sum");
    }
    for (uint32_t p = 0; p < t->n; p++) {
        term[p] = t->term[p];
        value[p] = t->sum[t->term[p]];
    }
    gf_free(o->term);
    gf_free(o->value);
    o->term = term;
    o->value = value;
    o->n = t->n;
    return GF_OK;
}

/*
 * |new - old| of the sum, which scaled is the new unit vector, and the old sparse one; rounded up by what
 * single precision hides.
 */
static double drift_from(const gf_centre *old, const double *sum, double scale)
{
    double squares = 0, shared = 0;
    for (uint32_t p = 0; p < old->n; p++) {
        double now = sum[old->term[p]] * scale, change = now - (double)old->value[p];
        squares += change * change;
        shared += now * now;
    }
    if (shared < 1) squares += 1 - shared;
    return sqrt(squares) + 1e-6;
}

/* The centre of an own cluster, as bytes. */
static gf_status put_centre(gf_ranked_sums *s, uint32_t cluster, const owned_sum *o,
                            const gf_term_sums *t, gf_buffer *out, gf_error *err)
{
    double squares = 0;
    for (uint32_t p = 0; p < o->n; p++)
        squares += o->value[p] * o->value[p];
    gf_centre c = {.term = o->term, .n = o->n, .length = sqrt(squares), .weight = o->weight};
    double scale = 1 / c.length;
    c.drift = drift_from(&s->centres->at[cluster], t->sum, scale);
    c.value = gf_array(o->n, sizeof *c.value);
    if (!c.value) return gf_fail_memory(err, "a cluster centre");
    for (uint32_t p = 0; p < o->n; p++)
        c.value[p] = (float)(o->value[p] * scale);
    gf_ranked_bytes_put_centre(out, cluster, &c);
    gf_free(c.value);
    return gf_buffer_check(out, err);
}

static gf_status own_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_ranked_sums *s = context;
    owned_sum *o = &s->owned[index];
    gf_term_sums *t = &s->scratch[worker];
    uint64_t first = s->first_change[index], end = s->first_change[index + 1];
    gf_status st = GF_OK;
    if (first == end) return GF_OK;
    for (uint32_t p = 0; p < o->n; p++)
        add_to(t, o->term[p], o->value[p]);
    for (uint64_t i = first; i < end && st == GF_OK; i++)
        if (!add_change(s, s->changes[i], t, &o->weight)) st = fail_change(err);
    list_terms(s, t);
    if (st == GF_OK) st = keep_sum(t, o, err);
    if (st == GF_OK && o->n)
        st = put_centre(s, (uint32_t)index * s->n + s->me, o, t, &s->out[(size_t)worker * s->n],
                        err);
    clear(t);
    return st;
}

/* Bytes that the workers wrote go to all. */
static gf_status tell_centres(gf_ranked_sums *s, bool *changed, gf_error *err)
{
    gf_buffer *mine = &s->to[0];
    gf_slice *to = gf_array(s->n, sizeof *to);
    if (!to) return gf_fail_memory(err, "cluster centres");
    gf_buffer_reset(mine);
    for (unsigned w = 0; w < s->workers; w++) {
        gf_buffer_slice(mine, gf_buffer_view(&s->out[(size_t)w * s->n]));
        gf_buffer_release(&s->out[(size_t)w * s->n]);
    }
    for (unsigned i = 0; i < s->n; i++)
        to[i] = gf_buffer_view(mine);
    gf_status st = gf_buffer_check(mine, err);
    uint64_t before = bytes_sent(s);
    if (st == GF_OK) st = gf_ranks_deal(s->ranks, to, s->from, err);
    s->sent.centres += bytes_sent(s) - before;
    gf_buffer_release(mine);
    gf_free(to);
    for (uint32_t c = 0; c < s->k; c++) {
        s->centres->at[c].drift = 0;
        if (changed) changed[c] = false;
    }
    for (unsigned i = 0; i < s->n && st == GF_OK; i++)
        st = gf_ranked_bytes_take_centres(gf_buffer_view(&s->from[i]), s->centres, changed, err);
    for (unsigned i = 0; i < s->n; i++)
        gf_buffer_release(&s->from[i]);
    return st;
}

gf_status gf_ranked_sums_move(gf_ranked_sums *s, const gf_points *points, const uint32_t *before,
                              const uint32_t *label, gf_centres *centres, bool *changed,
                              const gf_cancel *cancel, gf_error *err)
{
    size_t n = 0;
    s->points = points;
    s->centres = centres;
    gf_status st = sort_moved(s, before, label, err);
    if (st == GF_OK) st = cut_ranges(s, NULL, &n, err);
    if (st == GF_OK) st = gf_pool_run(s->pool, n, change_task, s, cancel, err);
    gf_free(s->moved);
    gf_free(s->ranges);
    s->moved = NULL;
    s->ranges = NULL;
    if (st == GF_OK) st = deal(s, err);
    if (st == GF_OK) st = sort_changes(s, err);
    if (st == GF_OK) st = gf_pool_run(s->pool, own_clusters(s), own_task, s, cancel, err);
    gf_free(s->changes);
    gf_free(s->first_change);
    s->changes = NULL;
    s->first_change = NULL;
    return st == GF_OK ? tell_centres(s, changed, err) : st;
}

gf_ranked_sent gf_ranked_sums_sent(const gf_ranked_sums *s)
{
    return s->sent;
}

/* ---- similarities to the new centres -------------------------------------------------------------- */

static gf_status score_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)err;
    gf_ranked_sums *s = context;
    const row_range *r = &s->ranges[index];
    const gf_centre *c = &s->centres->at[r->cluster];
    double *value = s->scratch[worker].sum;
    for (uint32_t p = 0; p < c->n; p++)
        value[c->term[p]] = (double)c->value[p];
    for (uint64_t i = r->from; i < r->to; i++) {
        gf_row_view row = gf_csr_row(s->points->x, s->by_cluster[i]);
        double dot = 0;
        for (uint32_t p = 0; p < row.n; p++)
            dot += (double)row.val[p] * value[row.col[p]];
        s->own[s->by_cluster[i]] = (float)dot;
    }
    for (uint32_t p = 0; p < c->n; p++)
        value[c->term[p]] = 0;
    return GF_OK;
}

gf_status gf_ranked_sums_score(gf_ranked_sums *s, const gf_points *points, const uint32_t *label,
                               const gf_centres *centres, const bool *changed, float *own,
                               const gf_cancel *cancel, gf_error *err)
{
    uint32_t n = gf_points_n(points), *start = gf_array((size_t)s->k + 1, sizeof *start);
    uint32_t *rows = gf_array(n, sizeof *rows);
    size_t ranges = 0;
    gf_status st = start && rows ? GF_OK : gf_fail_memory(err, "rows of clusters");
    if (st == GF_OK) {
        gf_centres_sort_rows(label, n, s->k, start, rows);
        for (uint32_t c = 0; c <= s->k; c++)
            s->start[c] = start[c];
        s->points = points;
        s->centres = (gf_centres *)centres;
        s->by_cluster = rows;
        s->own = own;
        st = cut_ranges(s, changed, &ranges, err);
    }
    if (st == GF_OK) st = gf_pool_run(s->pool, ranges, score_task, s, cancel, err);
    gf_free(s->ranges);
    s->ranges = NULL;
    gf_free(start);
    gf_free(rows);
    return st;
}
