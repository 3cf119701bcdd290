#include "cluster/map/map.h"

#include "base/memory.h"
#include "cluster/map/neighbours.h"
#include "cluster/passes/sort_rows.h"

#include <math.h>
#include <string.h>

enum {
    TASK_POINTS = 1024,
    LANES = 4,          /* links that are worked out at once */
    CENTRE_SWEEPS = 50, /* more of them pull the few centres into a knot, which rows hardly undo */
    TURNS = 60,         /* of the power iteration */
    LEAST_LINKS = 3     /* of a row that shares terms with nothing: rows of its cluster */
};

#define EARLY      12.0f
#define LATE       1.0f
#define EARLY_PART 0.3 /* of the sweeps; as much for the way from EARLY to LATE */
#define MOMENTUM   0.8f
#define STEP       1.0f
#define MOST_STEP  2.0f

/* Points are rows that have a place, by cluster. */
typedef struct map {
    gf_pool *pool;
    const gf_cancel *cancel;
    uint32_t n;
    uint64_t *start; /* n + 1: links of each point, out and in, up to a multiple of LANES */
    uint32_t *link;  /* behind a point's links it stands for itself: that pulls nowhere */
    uint32_t *links; /* n */
    gf_map_place *place, *next, *velocity, *push; /* n */
    float exaggeration;
    double total;
} map;

static void release_map(map *m)
{
    gf_free(m->start);
    gf_free(m->link);
    gf_free(m->links);
    gf_free(m->place);
    gf_free(m->next);
    gf_free(m->velocity);
    gf_free(m->push);
}

/* A number in 0 .. 2^32 - 1 of a point and a use. */
static uint32_t draw(uint32_t point, uint32_t use)
{
    uint64_t z = ((uint64_t)point << 32 | use) + 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ z >> 31) >> 32);
}

/* -1 .. 1 */
static float draw_offset(uint32_t point, uint32_t use)
{
    return (float)(draw(point, use) >> 8) * 0x1p-23f - 1;
}

/* ---- links ----------------------------------------------------------------------------------- */

/* A point that shares terms with hardly any other is tied to some of its cluster. */
static void fill_links(const uint32_t *first, uint32_t k, uint32_t *near)
{
    for (uint32_t c = 0; c < k; c++) {
        uint32_t size = first[c + 1] - first[c];
        for (uint32_t i = first[c]; i < first[c + 1] && size > 1; i++)
            for (uint32_t l = 0; l < LEAST_LINKS; l++) {
                uint32_t *link = near + (size_t)i * GF_MAP_NEIGHBOURS + l;
                if (*link != GF_MAP_NONE) continue;
                uint32_t other = first[c] + (uint32_t)((uint64_t)draw(i, l) * (size - 1) >> 32);
                *link = other + (other >= i);
            }
    }
}

static gf_status link_points(map *m, const uint32_t *near, gf_error *err)
{
    size_t most = (size_t)m->n * GF_MAP_NEIGHBOURS;
    m->start = gf_array((size_t)m->n + 1, sizeof *m->start);
    m->links = gf_calloc_large((size_t)m->n + 1, sizeof *m->links);
    if (!m->start || !m->links) return gf_fail_memory(err, "a map");
    for (size_t l = 0; l < most; l++) {
        if (near[l] == GF_MAP_NONE) continue;
        m->links[l / GF_MAP_NEIGHBOURS]++;
        m->links[near[l]]++;
    }
    m->start[0] = 0;
    for (uint32_t i = 0; i < m->n; i++)
        m->start[i + 1] = m->start[i] + (m->links[i] + LANES - 1) / LANES * LANES;
    m->link = gf_array_large((size_t)m->start[m->n] + 1, sizeof *m->link);
    if (!m->link) return gf_fail_memory(err, "a map");
    for (uint32_t i = 0; i < m->n; i++)
        for (uint64_t l = m->start[i] + m->links[i]; l < m->start[i + 1]; l++)
            m->link[l] = i;
    memset(m->links, 0, m->n * sizeof *m->links);
    for (size_t l = 0; l < most; l++) {
        uint32_t i = (uint32_t)(l / GF_MAP_NEIGHBOURS), other = near[l];
        if (other == GF_MAP_NONE) continue;
        m->link[m->start[i] + m->links[i]++] = other;
        m->link[m->start[other] + m->links[other]++] = i;
    }
    return GF_OK;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

typedef float lanes __attribute__((vector_size(4 * LANES)));

/* Links are added in as many sums as there are lanes, so on any processor in the same order. */
static gf_map_place pull_of(const map *m, uint32_t point)
{
    gf_map_place own = m->place[point];
    lanes along = {0}, up = {0};
    for (uint64_t l = m->start[point]; l < m->start[point + 1]; l += LANES) {
        const uint32_t *link = m->link + l;
        gf_map_place a = m->place[link[0]], b = m->place[link[1]];
        gf_map_place c = m->place[link[2]], d = m->place[link[3]];
        lanes x = (lanes){a.x, b.x, c.x, d.x} - own.x, y = (lanes){a.y, b.y, c.y, d.y} - own.y;
        lanes near = 1 / (1 + x * x + y * y);
        along += near * x;
        up += near * y;
    }
    float share = m->links[point] ? 1 / (float)m->links[point] : 0;
    return (gf_map_place){share * ((along[0] + along[1]) + (along[2] + along[3])),
                          share * ((up[0] + up[1]) + (up[2] + up[3]))};
}

static gf_status move_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    const map *m = context;
    uint32_t from = (uint32_t)index * TASK_POINTS;
    uint32_t to = m->n - from > TASK_POINTS ? from + TASK_POINTS : m->n;
    float apart = (float)((double)m->n / ((double)m->exaggeration * m->total));
    (void)worker, (void)err;
    for (uint32_t i = from; i < to; i++) {
        gf_map_place own = m->place[i], pull = pull_of(m, i), v = m->velocity[i];
        v.x = MOMENTUM * v.x + STEP * (pull.x + apart * m->push[i].x);
        v.y = MOMENTUM * v.y + STEP * (pull.y + apart * m->push[i].y);
        float square = v.x * v.x + v.y * v.y;
        if (square > MOST_STEP * MOST_STEP) {
            float cut = MOST_STEP / sqrtf(square);
            v.x *= cut;
            v.y *= cut;
        }
        m->velocity[i] = v;
        m->next[i] = (gf_map_place){own.x + v.x, own.y + v.y};
    }
    return GF_OK;
}

static gf_status settle(map *m, unsigned sweeps, gf_error *err)
{
    gf_map_field *field;
    gf_status st = gf_map_field_create(&field, err);
    if (st != GF_OK) return st;
    for (unsigned s = 0; s < sweeps && st == GF_OK; s++) {
        double way = ((double)s / sweeps - EARLY_PART) / EARLY_PART;
        way = way < 0 ? 0 : way > 1 ? 1 : way;
        m->exaggeration = EARLY + (float)way * (LATE - EARLY);
        st = gf_map_field_work_out(field, m->pool, m->place, m->n, m->push, &m->total, m->cancel,
                                   err);
        if (st != GF_OK || !(m->total > 0)) break;
        st = gf_pool_run(m->pool, ((size_t)m->n + TASK_POINTS - 1) / TASK_POINTS, move_task, m,
                         m->cancel, err);
        gf_map_place *last = m->place;
        m->place = m->next;
        m->next = last;
    }
    gf_map_field_free(field);
    return st;
}

static gf_status reserve_places(map *m, gf_error *err)
{
    m->place = gf_calloc_large(m->n, sizeof *m->place);
    m->next = gf_calloc_large(m->n, sizeof *m->next);
    m->velocity = gf_calloc_large(m->n, sizeof *m->velocity);
    m->push = gf_calloc_large(m->n, sizeof *m->push);
    return m->place && m->next && m->velocity && m->push ? GF_OK : gf_fail_memory(err, "a map");
}

/* ---- centres --------------------------------------------------------------------------------- */

/* Take from v its part along the ones, each weighted by its links, and along u; to unit length. */
static void make_orthogonal(const map *m, float *v, const float *u)
{
    double sum = 0, weight = 0, along = 0, square = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        double links = (double)m->links[i];
        sum += links * (double)v[i];
        weight += links;
    }
    for (uint32_t i = 0; i < m->n; i++)
        v[i] -= (float)(weight > 0 ? sum / weight : 0);
    for (uint32_t i = 0; u && i < m->n; i++)
        along += (double)m->links[i] * (double)v[i] * (double)u[i];
    for (uint32_t i = 0; i < m->n; i++) {
        double links = (double)m->links[i];
        v[i] -= u ? (float)along * u[i] : 0;
        square += links * (double)v[i] * (double)v[i];
    }
    for (uint32_t i = 0; i < m->n; i++)
        v[i] = square > 0 ? v[i] / (float)sqrt(square) : 0;
}

/* The two slowest ways in which a walk over the links forgets where it began. */
static gf_status begin_centres(map *m, gf_error *err)
{
    float *v = gf_array((size_t)m->n * 3 + 1, sizeof *v);
    if (!v) return gf_fail_memory(err, "a map");
    float *w[2] = {v, v + m->n}, *walked = v + (size_t)2 * m->n;
    for (unsigned d = 0; d < 2; d++) {
        for (uint32_t i = 0; i < m->n; i++)
            w[d][i] = draw_offset(i, d);
        for (unsigned t = 0; t < TURNS; t++) {
            make_orthogonal(m, w[d], d ? w[0] : NULL);
            for (uint32_t i = 0; i < m->n; i++) {
                double sum = 0;
                uint32_t links = m->links[i];
                for (uint32_t l = 0; l < links; l++)
                    sum += (double)w[d][m->link[m->start[i] + l]];
                walked[i] = w[d][i] + (links ? (float)(sum / (double)links) : 0);
            }
            memcpy(w[d], walked, m->n * sizeof *walked);
        }
        make_orthogonal(m, w[d], d ? w[0] : NULL);
    }
    float wide = sqrtf((float)m->n) * sqrtf((float)(2 * GF_MAP_NEIGHBOURS));
    for (uint32_t i = 0; i < m->n; i++)
        m->place[i] = (gf_map_place){wide * w[0][i] + 0.1f * draw_offset(i, 2),
                                     wide * w[1][i] + 0.1f * draw_offset(i, 3)};
    gf_free(v);
    return GF_OK;
}

/* To the middle, and so that the mean square of distances from it is 1. */
static void scale_places(gf_map_place *place, uint32_t n)
{
    double x = 0, y = 0, square = 0;
    for (uint32_t i = 0; i < n; i++) {
        x += (double)place[i].x / n;
        y += (double)place[i].y / n;
    }
    for (uint32_t i = 0; i < n; i++) {
        place[i].x -= (float)x;
        place[i].y -= (float)y;
        square += ((double)place[i].x * place[i].x + (double)place[i].y * place[i].y) / n;
    }
    float scale = square > 0 ? (float)(1 / sqrt(square)) : 1;
    for (uint32_t i = 0; i < n; i++)
        place[i] = (gf_map_place){scale * place[i].x, scale * place[i].y};
}

/* place: centres->n_rows + 1, the last one for rows that are in no cluster: the middle. */
static gf_status place_centres(gf_pool *pool, const gf_csr *centres, const gf_cancel *cancel,
                               gf_map_place *place, gf_error *err)
{
    uint32_t k = centres->n_rows, all[2] = {0, k};
    map m = {.pool = pool, .cancel = cancel, .n = k};
    uint32_t *row = gf_array((size_t)k + 1, sizeof *row);
    uint32_t *near = gf_array((size_t)k * GF_MAP_NEIGHBOURS + 1, sizeof *near);
    gf_status st = row && near ? GF_OK : gf_fail_memory(err, "a map");
    for (uint32_t i = 0; st == GF_OK && i < k; i++)
        row[i] = i;
    if (st == GF_OK)
        st = gf_map_find_neighbours(pool, centres, row, k, GF_MAP_NEIGHBOURS, cancel, near, err);
    if (st == GF_OK) {
        fill_links(all, 1, near);
        st = link_points(&m, near, err);
    }
    if (st == GF_OK) st = reserve_places(&m, err);
    if (st == GF_OK) st = begin_centres(&m, err);
    if (st == GF_OK) st = settle(&m, CENTRE_SWEEPS, err);
    if (st == GF_OK) {
        scale_places(m.place, k);
        memcpy(place, m.place, k * sizeof *place);
        place[k] = (gf_map_place){0, 0};
    }
    release_map(&m);
    gf_free(row);
    gf_free(near);
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct laying {
    const gf_csr *x;
    uint32_t k;           /* clusters; those in none count as one more */
    uint32_t *label;      /* n_rows: 0..k; k + 1 of a row without a place */
    uint32_t *row;        /* n_rows: of the points, by cluster; behind them those without a place */
    uint32_t *first;      /* k + 3 */
    uint32_t *near;       /* n * GF_MAP_NEIGHBOURS */
    gf_map_place *centre; /* k + 1 */
    map m;
} laying;

static bool has_entries(gf_row_view row)
{
    for (uint32_t e = 0; e < row.n; e++)
        if (row.val[e] != 0) return true;
    return false;
}

static gf_status order_points(laying *l, const uint32_t *cluster, gf_error *err)
{
    uint32_t n = l->x->n_rows, k = l->k;
    l->label = gf_array((size_t)n + 1, sizeof *l->label);
    l->row = gf_array((size_t)n + 1, sizeof *l->row);
    l->first = gf_array((size_t)k + 3, sizeof *l->first);
    l->centre = gf_array((size_t)k + 1, sizeof *l->centre);
    if (!l->label || !l->row || !l->first || !l->centre) return gf_fail_memory(err, "a map");
    for (uint32_t i = 0; i < n; i++) {
        l->label[i] = cluster[i] < k ? cluster[i] : k;
        if (!has_entries(gf_csr_row(l->x, i))) l->label[i] = k + 1;
    }
    gf_status st = gf_sort_rows(l->m.pool, l->label, n, k + 2, l->first, l->row, err);
    l->m.n = st == GF_OK ? l->first[k + 1] : 0;
    return st;
}

/* Beside the places of its own cluster's centre and of its nearest rows'. */
static void begin_points(laying *l)
{
    map *m = &l->m;
    float wide = 0.15f * sqrtf((float)m->n);
    if (wide > 30) wide = 30;
    for (uint32_t i = 0; i < m->n; i++) {
        gf_map_place at = l->centre[l->label[l->row[i]]];
        float weight = 2;
        at.x *= weight;
        at.y *= weight;
        for (uint32_t e = 0; e < GF_MAP_NEIGHBOURS; e++) {
            uint32_t other = l->near[(size_t)i * GF_MAP_NEIGHBOURS + e];
            if (other == GF_MAP_NONE) continue;
            gf_map_place there = l->centre[l->label[l->row[other]]];
            at.x += there.x;
            at.y += there.y;
            weight++;
        }
        m->place[i] = (gf_map_place){wide * at.x / weight + 0.5f * draw_offset(i, 4),
                                     wide * at.y / weight + 0.5f * draw_offset(i, 5)};
    }
}

static void give_places(const laying *l, gf_map_place *place, gf_map_place *of_cluster)
{
    for (uint32_t i = 0; i < l->x->n_rows; i++)
        place[l->row[i]] = i < l->m.n ? l->m.place[i] : (gf_map_place){NAN, NAN};
    for (uint32_t c = 0; of_cluster && c < l->k; c++) {
        double x = 0, y = 0, size = l->first[c + 1] - l->first[c];
        for (uint32_t i = l->first[c]; i < l->first[c + 1]; i++) {
            x += (double)l->m.place[i].x;
            y += (double)l->m.place[i].y;
        }
        of_cluster[c] = size > 0 ? (gf_map_place){(float)(x / size), (float)(y / size)}
                                 : (gf_map_place){NAN, NAN};
    }
}

gf_status gf_map_lay_out(gf_pool *pool, const gf_csr *x, const uint32_t *cluster,
                         const gf_csr *centres, unsigned sweeps, const gf_cancel *cancel,
                         gf_map_place *place, gf_map_place *of_cluster, gf_error *err)
{
    laying l = {.x = x, .k = centres->n_rows, .m = {.pool = pool, .cancel = cancel}};
    map *m = &l.m;
    gf_status st = order_points(&l, cluster, err);
    if (st == GF_OK) st = place_centres(pool, centres, cancel, l.centre, err);
    if (st == GF_OK) {
        l.near = gf_array_large((size_t)m->n * GF_MAP_NEIGHBOURS + 1, sizeof *l.near);
        st = l.near ? reserve_places(m, err) : gf_fail_memory(err, "a map");
    }
    if (st == GF_OK)
        st = gf_map_find_neighbours(pool, x, l.row, m->n, GF_MAP_NEIGHBOURS, cancel, l.near, err);
    if (st == GF_OK) {
        fill_links(l.first, l.k + 1, l.near);
        st = link_points(m, l.near, err);
    }
    if (st == GF_OK) begin_points(&l);
    gf_free(l.near);
    if (st == GF_OK) st = settle(m, sweeps ? sweeps : GF_MAP_SWEEPS, err);
    if (st == GF_OK) {
        scale_places(m->place, m->n);
        give_places(&l, place, of_cluster);
    }
    release_map(m);
    gf_free(l.label);
    gf_free(l.row);
    gf_free(l.first);
    gf_free(l.centre);
    return st;
}
