#include "cluster/map/neighbours.h"

#include "base/memory.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>

enum {
    WINDOW = 512,      /* postings of one term */
    MOST_READ = 4096,  /* postings of a row */
    TASK_POINTS = 256, /* points of a task */
    MOST_NEAR = 64
};

typedef struct posting {
    uint32_t point;
    float weight;
} posting;

/* A thread's own. */
typedef struct scratch {
    float *sum;      /* n: 0 but of the points met */
    uint32_t *met;   /* n + 1: one is written before it is known whether it is new */
    uint64_t *order; /* entries of the longest row: length of the list << 32 | entry */
} scratch;

typedef struct searching {
    const gf_csr *x;
    const uint32_t *row;
    uint32_t n, most;
    uint64_t *start; /* n_cols + 1 */
    posting *postings;
    scratch *scratch; /* of each worker */
    uint32_t *near;
} searching;

/* ---- the index ------------------------------------------------------------------------------- */

static gf_status index_points(searching *s, gf_error *err)
{
    const gf_csr *x = s->x;
    uint64_t entries = 0;
    s->start = gf_calloc((size_t)x->n_cols + 1, sizeof *s->start);
    if (!s->start) return gf_fail_memory(err, "a map");
    for (uint32_t i = 0; i < s->n; i++) {
        gf_row_view row = gf_csr_row(x, s->row[i]);
        entries += row.n;
        for (uint32_t e = 0; e < row.n; e++)
            s->start[row.col[e]] += row.val[e] > 0;
    }
    s->postings = gf_array_large((size_t)entries + 1, sizeof *s->postings);
    if (!s->postings) return gf_fail_memory(err, "a map");
    /* Ends, which fall to the starts as the lists are filled from behind. */
    for (uint32_t t = 0; t < x->n_cols; t++)
        s->start[t + 1] += s->start[t];
    for (uint32_t i = s->n; i-- > 0;) {
        gf_row_view row = gf_csr_row(x, s->row[i]);
        for (uint32_t e = 0; e < row.n; e++)
            if (row.val[e] > 0) s->postings[--s->start[row.col[e]]] = (posting){i, row.val[e]};
    }
    return GF_OK;
}

/* ---- one point ------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The part of a list that is read: all, or what is around the point. */
static const posting *stretch(const posting *list, uint64_t length, uint32_t point, uint32_t *n)
{
    if (length <= WINDOW) {
        *n = (uint32_t)length;
        return list;
    }
    uint64_t low = 0, high = length;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (list[middle].point < point)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t from = low > WINDOW / 2 ? low - WINDOW / 2 : 0;
    if (from > length - WINDOW) from = length - WINDOW;
    *n = WINDOW;
    return list + from;
}

static uint32_t add_shared(const searching *s, scratch *own, uint32_t point)
{
    gf_row_view row = gf_csr_row(s->x, s->row[point]);
    uint32_t n_met = 0, read = 0;
    for (uint32_t e = 0; e < row.n; e++) {
        uint64_t length = s->start[row.col[e] + 1] - s->start[row.col[e]];
        own->order[e] = (length < UINT32_MAX ? length : UINT32_MAX) << 32 | e;
    }
    qsort(own->order, row.n, sizeof *own->order, by_number);
    for (uint32_t o = 0; o < row.n && read < MOST_READ; o++) {
        uint32_t e = (uint32_t)own->order[o], n, term = row.col[e];
        if (!(row.val[e] > 0)) continue;
        const posting *p =
            stretch(s->postings + s->start[term], s->start[term + 1] - s->start[term], point, &n);
        /* Without a branch: whether a point was met before is as good as drawn by lot. What is shared
         * is never 0, however small both are, or a point would be met twice. */
        for (uint32_t i = 0; i < n; i++) {
            float *sum = &own->sum[p[i].point], share = row.val[e] * p[i].weight;
            own->met[n_met] = p[i].point;
            n_met += *sum == 0;
            *sum += share > FLT_MIN ? share : FLT_MIN;
        }
        read += n;
    }
    return n_met;
}

/* A number that two points draw together, in either order. */
static uint64_t lot(uint32_t a, uint32_t b)
{
    uint64_t z = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void keep_nearest(const searching *s, scratch *own, uint32_t point, uint32_t n_met)
{
    struct {
        float sum;
        uint32_t point;
    } best[MOST_NEAR];
    uint32_t n = 0;
    for (uint32_t m = 0; m < n_met; m++) {
        uint32_t other = own->met[m];
        float sum = own->sum[other];
        own->sum[other] = 0;
        if (other == point || !(sum > 0) || (n == s->most && sum < best[n - 1].sum)) continue;
        uint32_t at = n;
        while (at > 0 &&
               (best[at - 1].sum < sum ||
                (best[at - 1].sum == sum && lot(point, best[at - 1].point) > lot(point, other))))
            at--;
        if (at == s->most) continue;
        if (n < s->most) n++;
        for (uint32_t i = n - 1; i > at; i--)
            best[i] = best[i - 1];
        best[at].sum = sum;
        best[at].point = other;
    }
    uint32_t *near = s->near + (size_t)point * s->most;
    for (uint32_t i = 0; i < s->most; i++)
        near[i] = i < n ? best[i].point : GF_MAP_NONE;
}

static gf_status search_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    const searching *s = context;
    scratch *own = &s->scratch[worker];
    uint32_t from = (uint32_t)index * TASK_POINTS;
    uint32_t to = s->n - from > TASK_POINTS ? from + TASK_POINTS : s->n;
    (void)err;
    for (uint32_t i = from; i < to; i++)
        keep_nearest(s, own, i, add_shared(s, own, i));
    return GF_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

static gf_status reserve_scratch(searching *s, unsigned threads, gf_error *err)
{
    uint32_t longest = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        gf_row_view row = gf_csr_row(s->x, s->row[i]);
        if (row.n > longest) longest = row.n;
    }
    s->scratch = gf_calloc(threads, sizeof *s->scratch);
    for (unsigned w = 0; s->scratch && w < threads; w++) {
        scratch *own = &s->scratch[w];
        own->sum = gf_calloc_large(s->n, sizeof *own->sum);
        own->met = gf_array_large((size_t)s->n + 1, sizeof *own->met);
        own->order = gf_array((size_t)longest + 1, sizeof *own->order);
        if (!own->sum || !own->met || !own->order) return gf_fail_memory(err, "a map");
    }
    return s->scratch ? GF_OK : gf_fail_memory(err, "a map");
}

gf_status gf_map_find_neighbours(gf_pool *pool, const gf_csr *x, const uint32_t *row, uint32_t n,
                                 uint32_t most, const gf_cancel *cancel, uint32_t *near,
                                 gf_error *err)
{
    searching s = {.x = x, .row = row, .n = n, .most = most, .near = near};
    unsigned threads = gf_pool_size(pool);
    assert(most >= 1 && most <= MOST_NEAR);
    gf_status st = index_points(&s, err);
    if (st == GF_OK) st = reserve_scratch(&s, threads, err);
    if (st == GF_OK)
        st = gf_pool_run(pool, ((size_t)n + TASK_POINTS - 1) / TASK_POINTS, search_task, &s, cancel,
                         err);
    for (unsigned w = 0; s.scratch && w < threads; w++) {
        gf_free(s.scratch[w].sum);
        gf_free(s.scratch[w].met);
        gf_free(s.scratch[w].order);
    }
    gf_free(s.scratch);
    gf_free(s.start);
    gf_free(s.postings);
    return st;
}
