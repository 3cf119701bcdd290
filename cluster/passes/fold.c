#include "cluster/passes/fold.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

enum {
    TASK = 4096, /* rows */
    AHEAD = 16   /* rows: how early a place in the table is asked for */
};

static uint64_t hash_row(gf_row_view row)
{
    uint64_t columns = XXH3_64bits(row.col, row.n * sizeof *row.col);
    return XXH3_64bits_withSeed(row.val, row.n * sizeof *row.val, columns);
}

static bool same_row(gf_row_view a, gf_row_view b)
{
    return a.n == b.n && memcmp(a.col, b.col, a.n * sizeof *a.col) == 0 &&
           memcmp(a.val, b.val, a.n * sizeof *a.val) == 0;
}

typedef struct hashing {
    const gf_csr *x;
    uint32_t *hash; /* n_rows: by which the table is looked up */
} hashing;

static gf_status hash_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const hashing *h = context;
    uint32_t i = (uint32_t)task * TASK, end = h->x->n_rows - i < TASK ? h->x->n_rows : i + TASK;
    for (; i < end; i++)
        h->hash[i] = (uint32_t)hash_row(gf_csr_row(h->x, i));
    return GF_OK;
}

/* point_of[i], the hash of row i, becomes the first row that equals it, by a table of row numbers. */
static void find_first(const gf_csr *x, uint32_t *table, size_t capacity, uint32_t *point_of)
{
    for (uint32_t i = 0; i < x->n_rows; i++) {
        gf_row_view row = gf_csr_row(x, i);
        size_t at = point_of[i] & (capacity - 1);
        if (i + AHEAD < x->n_rows) __builtin_prefetch(&table[point_of[i + AHEAD] & (capacity - 1)]);
        point_of[i] = GF_NO_POINT;
        if (row.n == 0) continue;
        while (table[at] && !same_row(row, gf_csr_row(x, table[at] - 1)))
            at = (at + 1) & (capacity - 1);
        if (table[at] == 0) table[at] = i + 1;
        point_of[i] = table[at] - 1;
    }
}

/* Number the first rows 0, 1, ...; returns how many there are, and lists them in `rows`. */
static uint32_t number_points(uint32_t n, uint32_t *point_of, uint32_t *rows)
{
    uint32_t n_points = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (point_of[i] == GF_NO_POINT) continue;
        bool first = point_of[i] == i;
        if (first) rows[n_points] = i;
        point_of[i] = first ? n_points++ : point_of[point_of[i]];
    }
    return n_points;
}

/* Counted in whole numbers: a float would stay at 2^24. */
static gf_status count_rows(const gf_fold *f, uint32_t n_rows, float *weight, gf_error *err)
{
    uint32_t *count = gf_calloc(f->n, sizeof *count);
    if (!count) return gf_fail_memory(err, "folding equal rows");
    for (uint32_t i = 0; i < n_rows; i++)
        if (f->point_of[i] != GF_NO_POINT) count[f->point_of[i]]++;
    for (uint32_t p = 0; p < f->n; p++)
        weight[p] = (float)count[p];
    gf_free(count);
    return GF_OK;
}

static gf_status gather(gf_pool *pool, const gf_csr *x, const uint32_t *rows, gf_fold *f,
                        gf_error *err)
{
    float *none;
    gf_points all = {x, NULL};
    f->weight = gf_array(f->n, sizeof *f->weight);
    if (!f->weight) return gf_fail_memory(err, "folding equal rows");
    gf_status st = count_rows(f, x->n_rows, f->weight, err);
    return st == GF_OK ? gf_points_gather(pool, &all, rows, f->n, &f->x, &none, err) : st;
}

gf_status gf_fold_list_rows(gf_pool *pool, const gf_csr *x, gf_fold_list *out, gf_error *err)
{
    size_t capacity = 16;
    while (capacity < (size_t)x->n_rows * 2)
        capacity *= 2;
    gf_fold_list l = {0};
    uint32_t *table = gf_calloc(capacity, sizeof *table);
    l.rows = gf_array(x->n_rows, sizeof *l.rows);
    l.point_of = gf_array(x->n_rows, sizeof *l.point_of);
    if (!table || !l.rows || !l.point_of) {
        gf_free(table);
        gf_fold_list_release(&l);
        return gf_fail_memory(err, "folding equal rows");
    }
    hashing h = {x, l.point_of};
    (void)gf_pool_run(pool, ((size_t)x->n_rows + TASK - 1) / TASK, hash_task, &h, NULL,
                      NULL); /* cannot fail */
    find_first(x, table, capacity, l.point_of);
    l.n = number_points(x->n_rows, l.point_of, l.rows);
    gf_free(table);
    *out = l;
    return GF_OK;
}

void gf_fold_list_release(gf_fold_list *l)
{
    gf_free(l->point_of);
    gf_free(l->rows);
    *l = (gf_fold_list){0};
}

/* Once a row has stood for so many, a later one that is equal stands for the next. */
static gf_status limit_points(uint32_t n_rows, uint32_t most, gf_fold_list *l, gf_error *err)
{
    uint32_t *count = gf_calloc(l->n, sizeof *count), *now = gf_array(l->n, sizeof *now);
    gf_status st = count && now ? GF_OK : gf_fail_memory(err, "folding equal rows");
    for (uint32_t p = 0; p < l->n && st == GF_OK; p++)
        now[p] = p;
    for (uint32_t i = 0; i < n_rows && st == GF_OK; i++) {
        uint32_t p = l->point_of[i];
        if (p == GF_NO_POINT) continue;
        if (count[p] == most) {
            count[p] = 0;
            now[p] = l->n;
            l->rows[l->n++] = i;
        }
        count[p]++;
        l->point_of[i] = now[p];
    }
    gf_free(count);
    gf_free(now);
    return st;
}

gf_status gf_fold_rows(gf_pool *pool, const gf_csr *x, gf_fold *out, gf_error *err)
{
    return gf_fold_rows_up_to(pool, x, UINT32_MAX, out, err);
}

gf_status gf_fold_rows_up_to(gf_pool *pool, const gf_csr *x, uint32_t most, gf_fold *out,
                             gf_error *err)
{
    gf_fold_list l = {0};
    assert(most > 1); /* else all rows might be points, in another order */
    gf_status st = gf_fold_list_rows(pool, x, &l, err);
    if (st == GF_OK && x->n_rows > most) st = limit_points(x->n_rows, most, &l, err);
    if (st != GF_OK) {
        gf_fold_list_release(&l);
        return st;
    }
    gf_fold f = {.n = l.n, .point_of = l.point_of};
    l.point_of = NULL;
    if (f.n < x->n_rows) st = gather(pool, x, l.rows, &f, err);
    gf_fold_list_release(&l);
    if (st == GF_OK)
        *out = f;
    else
        gf_fold_release(&f);
    return st;
}

void gf_fold_release(gf_fold *f)
{
    gf_free(f->point_of);
    gf_free(f->weight);
    gf_csr_release(&f->x);
    *f = (gf_fold){0};
}

gf_points gf_fold_points(const gf_fold *f, const gf_csr *x)
{
    return (gf_points){f->weight ? &f->x : x, f->weight};
}
