#include "cluster/passes/centres.h"

#include "base/memory.h"
#include "cluster/passes/kept_sums.h"
#include "cluster/passes/sort_rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

gf_status gf_centres_init(gf_centres *c, uint32_t k, uint32_t n_terms, gf_error *err)
{
    gf_centre *at = gf_calloc(k, sizeof *at);
    if (!at) return gf_fail_memory(err, "cluster centres");
    *c = (gf_centres){k, n_terms, at};
    return GF_OK;
}

void gf_centres_release(gf_centres *c)
{
    for (uint32_t j = 0; j < c->k; j++) {
        gf_free(c->at[j].term);
        gf_free(c->at[j].value);
    }
    gf_free(c->at);
    *c = (gf_centres){0};
}

static gf_status make_room(gf_centre *c, uint32_t n, gf_error *err)
{
    if (n <= c->capacity) return GF_OK;
    uint64_t wanted = (uint64_t)n + n / 4;
    uint32_t capacity = wanted > UINT32_MAX ? n : (uint32_t)wanted;
    uint32_t *term = gf_realloc(c->term, capacity, sizeof *term);
    if (term) c->term = term;
    float *value = gf_realloc(c->value, capacity, sizeof *value);
    if (value) c->value = value;
    if (!term || !value) return gf_fail_memory(err, "a cluster centre");
    c->capacity = capacity;
    return GF_OK;
}

gf_status gf_centres_set_row(gf_centres *c, uint32_t j, gf_row_view row, gf_error *err)
{
    gf_centre *centre = &c->at[j];
    gf_status st = make_room(centre, row.n, err);
    if (st != GF_OK) return st;
    if (row.n) {
        memcpy(centre->term, row.col, row.n * sizeof *row.col);
        memcpy(centre->value, row.val, row.n * sizeof *row.val);
    }
    centre->n = row.n;
    centre->length = centre->weight = 1;
    centre->drift = 2;
    return GF_OK;
}

gf_status gf_centre_take_sum(double *sum, uint32_t n_terms, gf_centre *c, gf_error *err)
{
    double length = 0;
    uint32_t n = 0;
    for (uint32_t t = 0; t < n_terms; t++) {
        length += sum[t] * sum[t];
        n += sum[t] != 0;
    }
    c->term = gf_array(n, sizeof *c->term);
    c->value = gf_array(n, sizeof *c->value);
    if (!c->term || !c->value) return gf_fail_memory(err, "a centre");
    c->capacity = n;
    c->length = sqrt(length);
    for (uint32_t t = 0; t < n_terms; t++) {
        if (sum[t] == 0) continue;
        c->term[c->n] = t;
        c->value[c->n++] = (float)(sum[t] / c->length);
        sum[t] = 0;
    }
    return GF_OK;
}

gf_status gf_centres_copy(const gf_centres *from, gf_centres *to, gf_error *err)
{
    gf_centres c;
    gf_status st = gf_centres_init(&c, from->k, from->n_terms, err);
    if (st != GF_OK) return st;
    for (uint32_t j = 0; j < from->k && st == GF_OK; j++) {
        const gf_centre *source = &from->at[j];
        st = gf_centres_set_row(&c, j, gf_centre_row(source), err);
        c.at[j].length = source->length;
        c.at[j].weight = source->weight;
        c.at[j].drift = source->drift;
    }
    if (st == GF_OK)
        *to = c;
    else
        gf_centres_release(&c);
    return st;
}

void gf_centres_unpack(gf_centres *c, const uint32_t *term, uint32_t n_terms)
{
    for (uint32_t j = 0; j < c->k; j++)
        for (uint32_t p = 0; p < c->at[j].n; p++)
            c->at[j].term[p] = term[c->at[j].term[p]];
    c->n_terms = n_terms;
}

double gf_centres_objective(const gf_centres *c)
{
    double sum = 0;
    for (uint32_t j = 0; j < c->k; j++)
        sum += c->at[j].length;
    return sum;
}

/* ---- summing --------------------------------------------------------------------------------- */

enum {
    ROWS_PER_CHECK = 8192, /* looks for a cancel */
    LEAST_PIECE = 1024,    /* rows */
    PIECES_A_THREAD = 4    /* of all rows: so that threads end together */
};

/*
 * Some rows of a cluster that is too large for one task. What it comes to is summed into the
 * cluster's sum, and as sums are exact it does not matter how many pieces there were.
 */
typedef struct row_piece {
    uint32_t cluster, from, to; /* rows[from] .. rows[to - 1] */
    uint32_t *term;             /* n: the terms of their sum, rising; NULL: not summed by pieces */
    double *sum;                /* n */
    double weight;
    uint32_t n;
} row_piece;

struct gf_centre_summer {
    gf_pool *pool;
    uint32_t n_rows, n_terms, k;
    gf_term_sums *scratch;        /* per worker */
    gf_kept_sums *kept;           /* NULL: none are */
    uint32_t *start;              /* k + 1: where each cluster's rows lie in `rows` */
    uint32_t *rows;               /* n_rows, by cluster, then by number */
    uint32_t *clusters;           /* n_clusters of k: those to sum, largest first */
    uint32_t n_clusters, n_large; /* n_large: the first ones, which are parted into pieces */
    uint32_t *first_piece;        /* n_large + 1 of k + 1 */
    row_piece *pieces;            /* first_piece[n_large] */
    uint32_t piece_capacity;

    /* of the current run */
    const gf_points *points;
    gf_centres *centres;
    float *own;
    const gf_cancel *cancel;
};

static bool init_scratch(gf_term_sums *s, uint32_t n_terms)
{
    s->sum = gf_calloc(n_terms, sizeof *s->sum);
    s->touched = gf_calloc((size_t)n_terms / 64 + 1, sizeof *s->touched);
    s->term = gf_array(n_terms, sizeof *s->term);
    return s->sum && s->touched && s->term;
}

gf_status gf_centre_summer_create(gf_pool *pool, uint32_t n_rows, uint32_t n_terms, uint32_t k,
                                  gf_centre_summer **summer, gf_error *err)
{
    gf_centre_summer *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "cluster sums");
    unsigned workers = gf_pool_size(pool);
    *s = (gf_centre_summer){.pool = pool, .n_rows = n_rows, .n_terms = n_terms, .k = k};
    s->scratch = gf_calloc(workers, sizeof *s->scratch);
    s->start = gf_array((size_t)k + 1, sizeof *s->start);
    s->rows = gf_array(n_rows, sizeof *s->rows);
    s->clusters = gf_array(k, sizeof *s->clusters);
    s->first_piece = gf_array((size_t)k + 1, sizeof *s->first_piece);
    bool ok = s->scratch && s->start && s->rows && s->clusters && s->first_piece;
    for (unsigned w = 0; ok && w < workers; w++)
        ok = init_scratch(&s->scratch[w], n_terms);
    if (!ok) {
        gf_centre_summer_free(s);
        return gf_fail_memory(err, "cluster sums");
    }
    *summer = s;
    return GF_OK;
}

void gf_centre_summer_free(gf_centre_summer *s)
{
    if (!s) return;
    for (unsigned w = 0; s->scratch && w < gf_pool_size(s->pool); w++) {
        gf_free(s->scratch[w].sum);
        gf_free(s->scratch[w].touched);
        gf_free(s->scratch[w].term);
    }
    gf_free(s->scratch);
    gf_kept_sums_free(s->kept);
    gf_free(s->start);
    gf_free(s->rows);
    gf_free(s->clusters);
    gf_free(s->first_piece);
    gf_free(s->pieces);
    gf_free(s);
}

gf_status gf_centre_summer_keep(gf_centre_summer *s, gf_error *err)
{
    return s->kept ? GF_OK : gf_kept_sums_create(s->pool, s->n_rows, s->k, &s->kept, err);
}

void gf_centres_sort_rows(const uint32_t *label, uint32_t n, uint32_t k, uint32_t *start,
                          uint32_t *rows)
{
    /* Counts, then starts; filling moves each start on to the next, so they are moved back. */
    memset(start, 0, ((size_t)k + 1) * sizeof *start);
    for (uint32_t i = 0; i < n; i++) {
        assert(label[i] < k);
        start[label[i] + 1]++;
    }
    for (uint32_t j = 0; j < k; j++)
        start[j + 1] += start[j];
    for (uint32_t i = 0; i < n; i++)
        rows[start[label[i]]++] = i;
    for (uint32_t j = k; j > 0; j--)
        start[j] = start[j - 1];
    start[0] = 0;
}

static gf_status add_rows(const gf_centre_summer *s, uint32_t from, uint32_t to, gf_term_sums *sums,
                          double *weight, gf_error *err)
{
    *weight = 0;
    for (uint32_t r = from; r < to; r++) {
        if (r % ROWS_PER_CHECK == 0) {
            gf_status st = gf_cancel_check(s->cancel, err);
            if (st != GF_OK) return st;
        }
        float w = gf_points_weight(s->points, s->rows[r]);
        gf_term_sums_add(sums, gf_csr_row(s->points->x, s->rows[r]), w);
        *weight += (double)w;
    }
    return GF_OK;
}

/* List the terms of the sum, and forget the bits; returns the sum's length. */
static double list_terms(const gf_centre_summer *s, gf_term_sums *from)
{
    double squares = 0;
    from->n = 0;
    for (uint32_t w = 0; w <= s->n_terms / 64; w++) {
        for (uint64_t bits = from->touched[w]; bits; bits &= bits - 1) {
            uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (from->sum[t] == 0) continue; /* its rows have left */
            squares += from->sum[t] * from->sum[t];
            from->term[from->n++] = t;
        }
        from->touched[w] = 0;
    }
    return sqrt(squares);
}

static void clear_sums(gf_term_sums *s)
{
    for (uint32_t p = 0; p < s->n; p++)
        s->sum[s->term[p]] = 0;
}

/*
 * |new - old| from the sum, which scaled is the new unit vector, and the old sparse one: the terms
 * of the old one, and what the new one has beyond them. Rounded up by what single precision hides.
 */
static double drift(const gf_centre *old, const double *sum, double scale)
{
    double squares = 0, shared = 0, all = scale > 0 ? 1 : 0;
    for (uint32_t p = 0; p < old->n; p++) {
        double now = sum[old->term[p]] * scale, change = now - (double)old->value[p];
        squares += change * change;
        shared += now * now;
    }
    if (all > shared) squares += all - shared;
    return sqrt(squares) + 1e-6;
}

/* The sum, scaled to unit length, becomes the centre; the centre takes the place of the sum. */
static void take_sum(const gf_term_sums *from, double length, gf_centre *c)
{
    double scale = length > 0 ? 1 / length : 0;
    c->drift = drift(c, from->sum, scale);
    c->length = length;
    c->n = from->n;
    for (uint32_t p = 0; p < from->n; p++) {
        double *v = &from->sum[from->term[p]];
        c->term[p] = from->term[p];
        c->value[p] = (float)(*v * scale);
        *v = (double)c->value[p];
    }
}

static void score_rows(const gf_centre_summer *s, const gf_term_sums *centre, uint32_t from,
                       uint32_t to)
{
    for (uint32_t r = from; r < to; r++) {
        gf_row_view row = gf_csr_row(s->points->x, s->rows[r]);
        double dot = 0;
        for (uint32_t p = 0; p < row.n; p++)
            dot += (double)row.val[p] * centre->sum[row.col[p]];
        s->own[s->rows[r]] = (float)dot;
    }
}

static uint64_t count_entries(const gf_centre_summer *s, uint32_t j)
{
    uint64_t n = 0;
    for (uint32_t r = s->start[j]; r < s->start[j + 1]; r++)
        n += gf_csr_row(s->points->x, s->rows[r]).n;
    return n;
}

/* ---- large clusters, by pieces --------------------------------------------------------------- */

static gf_status sum_piece_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_centre_summer *s = context;
    row_piece *piece = &s->pieces[index];
    gf_term_sums *mine = &s->scratch[worker];
    if (s->kept && gf_kept_sums_can_update(s->kept, piece->cluster)) return GF_OK;
    gf_status st = add_rows(s, piece->from, piece->to, mine, &piece->weight, err);
    list_terms(s, mine);
    if (st == GF_OK) {
        piece->term = gf_array(mine->n, sizeof *piece->term);
        piece->sum = gf_array(mine->n, sizeof *piece->sum);
        if (!piece->term || !piece->sum) st = gf_fail_memory(err, "a cluster's sum");
    }
    for (uint32_t p = 0; st == GF_OK && p < mine->n; p++) {
        piece->term[p] = mine->term[p];
        piece->sum[p] = mine->sum[mine->term[p]];
    }
    if (st == GF_OK) piece->n = mine->n;
    clear_sums(mine);
    return st;
}

static void add_piece(const row_piece *piece, const gf_term_sums *to, double *weight)
{
    for (uint32_t p = 0; p < piece->n; p++) {
        uint32_t t = piece->term[p];
        to->sum[t] += piece->sum[p];
        to->touched[t / 64] |= UINT64_C(1) << (t % 64);
    }
    *weight += piece->weight;
}

static gf_status score_piece_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)err;
    gf_centre_summer *s = context;
    const row_piece *piece = &s->pieces[index];
    const gf_centre *c = &s->centres->at[piece->cluster];
    gf_term_sums *mine = &s->scratch[worker];
    for (uint32_t p = 0; p < c->n; p++)
        mine->sum[c->term[p]] = (double)c->value[p];
    score_rows(s, mine, piece->from, piece->to);
    for (uint32_t p = 0; p < c->n; p++)
        mine->sum[c->term[p]] = 0;
    return GF_OK;
}

/* Clusters with more rows than a thread's share are cut into pieces of about as many. */
static gf_status cut_large(gf_centre_summer *s, gf_error *err)
{
    uint64_t all = 0, most = (uint64_t)gf_pool_size(s->pool) * PIECES_A_THREAD, n = 0;
    for (uint32_t i = 0; i < s->n_clusters; i++)
        all += s->start[s->clusters[i] + 1] - s->start[s->clusters[i]];
    uint64_t limit = all / most > LEAST_PIECE ? all / most : LEAST_PIECE;
    s->n_large = 0;
    while (gf_pool_size(s->pool) > 1 && s->n_large < s->n_clusters) {
        uint32_t j = s->clusters[s->n_large], rows = s->start[j + 1] - s->start[j];
        if (rows <= limit) break;
        s->first_piece[s->n_large++] = (uint32_t)n;
        n += (rows + limit - 1) / limit;
    }
    s->first_piece[s->n_large] = (uint32_t)n;
    if (n > s->piece_capacity) {
        gf_free(s->pieces);
        s->pieces = gf_array(n, sizeof *s->pieces);
        s->piece_capacity = s->pieces ? (uint32_t)n : 0;
        if (!s->pieces) s->n_large = s->first_piece[0] = 0;
        if (!s->pieces) return gf_fail_memory(err, "cluster sums");
    }
    for (uint32_t i = 0; i < s->n_large; i++) {
        uint32_t j = s->clusters[i], first = s->first_piece[i];
        uint64_t pieces = s->first_piece[i + 1] - first, rows = s->start[j + 1] - s->start[j];
        for (uint64_t q = 0; q < pieces; q++)
            s->pieces[first + q] =
                (row_piece){.cluster = j,
                            .from = s->start[j] + (uint32_t)(rows * q / pieces),
                            .to = s->start[j] + (uint32_t)(rows * (q + 1) / pieces)};
    }
    return GF_OK;
}

static void free_pieces(gf_centre_summer *s)
{
    for (uint32_t q = 0; q < s->first_piece[s->n_large]; q++) {
        gf_free(s->pieces[q].term);
        gf_free(s->pieces[q].sum);
    }
    s->n_large = s->first_piece[0] = 0;
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* The members' sum, with its terms listed, and their weight. */
static gf_status sum_members(const gf_centre_summer *s, uint32_t index, gf_term_sums *to,
                             double *length, double *weight, gf_error *err)
{
    gf_status st = GF_OK;
    uint32_t j = s->clusters[index];
    *weight = 0;
    if (s->kept && gf_kept_sums_update(s->kept, j, s->points, to, weight))
        st = GF_OK;
    else if (index < s->n_large)
        for (uint32_t q = s->first_piece[index]; q < s->first_piece[index + 1]; q++)
            add_piece(&s->pieces[q], to, weight);
    else
        st = add_rows(s, s->start[j], s->start[j + 1], to, weight, err);
    *length = list_terms(s, to);
    if (st == GF_OK && s->kept)
        st = gf_kept_sums_keep(s->kept, j, to, *weight, count_entries(s, j), err);
    return st;
}

static gf_status sum_cluster_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_centre_summer *s = context;
    uint32_t j = s->clusters[index];
    gf_term_sums *mine = &s->scratch[worker];
    gf_centre *c = &s->centres->at[j];
    double weight, length;
    gf_status st = sum_members(s, (uint32_t)index, mine, &length, &weight, err);
    if (st == GF_OK) st = make_room(c, mine->n, err);
    if (st == GF_OK) {
        take_sum(mine, length, c);
        c->weight = weight;
        if (s->own && index >= s->n_large) score_rows(s, mine, s->start[j], s->start[j + 1]);
    }
    clear_sums(mine);
    return st;
}

/* Clusters that are one task each: those behind the large ones. */
static gf_status sum_small_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    const gf_centre_summer *s = context;
    return sum_cluster_task(context, s->n_large + index, worker, err);
}

static int by_size(const void *a, const void *b, void *context)
{
    const gf_centre_summer *s = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t size_x = s->start[x + 1] - s->start[x], size_y = s->start[y + 1] - s->start[y];
    if (size_x != size_y) return size_x > size_y ? -1 : 1;
    return x < y ? -1 : x > y;
}

gf_status gf_centre_summer_sort(gf_centre_summer *s, const uint32_t *label, gf_error *err)
{
    return gf_sort_rows(s->pool, label, s->n_rows, s->k, s->start, s->rows, err);
}

uint32_t gf_centre_summer_size(const gf_centre_summer *s, uint32_t j)
{
    return s->start[j + 1] - s->start[j];
}

/*
 * Pieces of large clusters are summed, then those clusters; their rows are then scored by pieces,
 * and each small cluster is summed and scored by one task.
 */
static gf_status sum_clusters(gf_centre_summer *s, gf_error *err)
{
    const gf_pool_tasks pieces = {s->own ? s->first_piece[s->n_large] : 0, score_piece_task, s};
    const gf_pool_tasks small = {s->n_clusters - s->n_large, sum_small_task, s};
    bool anew = false;
    for (uint32_t i = 0; i < s->n_large; i++)
        anew |= !s->kept || !gf_kept_sums_can_update(s->kept, s->clusters[i]);
    gf_status st = GF_OK;
    if (anew)
        st = gf_pool_run(s->pool, s->first_piece[s->n_large], sum_piece_task, s, s->cancel, err);
    if (st == GF_OK && s->n_large)
        st = gf_pool_run(s->pool, s->n_large, sum_cluster_task, s, s->cancel, err);
    if (st == GF_OK) st = gf_pool_run_both(s->pool, &pieces, &small, s->cancel, err);
    return st;
}

gf_status gf_centre_summer_sum(gf_centre_summer *s, const gf_points *points, const uint32_t *label,
                               const bool *changed, gf_centres *centres, float *own,
                               const gf_cancel *cancel, gf_error *err)
{
    s->points = points;
    s->centres = centres;
    s->own = own;
    s->cancel = cancel;
    gf_status st = s->kept ? gf_kept_sums_compare(s->kept, points, label, changed, err) : GF_OK;
    if (st != GF_OK) return st;
    s->n_clusters = 0;
    for (uint32_t j = 0; j < s->k; j++) {
        centres->at[j].drift = 0;
        if (!changed || changed[j]) s->clusters[s->n_clusters++] = j;
    }
    qsort_r(s->clusters, s->n_clusters, sizeof *s->clusters, by_size, s);
    st = cut_large(s, err);
    if (st == GF_OK) st = sum_clusters(s, err);
    free_pieces(s);
    return st;
}

gf_status gf_centre_summer_run(gf_centre_summer *s, const gf_points *points, const uint32_t *label,
                               const bool *changed, gf_centres *centres, float *own,
                               const gf_cancel *cancel, gf_error *err)
{
    gf_status st = gf_centre_summer_sort(s, label, err);
    if (st != GF_OK) return st;
    return gf_centre_summer_sum(s, points, label, changed, centres, own, cancel, err);
}
