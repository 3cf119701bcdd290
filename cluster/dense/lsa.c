#include "cluster/dense/lsa.h"

#include "base/memory.h"
#include "base/random.h"
#include "cluster/dense/dense.h"
#include "cluster/dense/products.h"
#include "cluster/dense/symmetric.h"

#include <math.h>
#include <string.h>

enum {
    OVERSAMPLING = 10, /* columns more than are wanted */
    ITERATIONS = 5,    /* multiplications by x'x */
    BLOCK = 512,       /* rows of a task */
    PARTS = 16,        /* tasks of a Gram matrix, each with a sum of its own */
    STREAM = 1u << 16  /* of random numbers: the first of the blocks' */
};

/* Directions of a smaller share of the longest column, both squared, are noise of single precision.
 */
#define LEAST_REMAINDER 1e-12

/* Singular values of a smaller share of the largest are not found reliably. */
#define LEAST_SIGMA 1e-3

/* Rows whose image is shorter have no direction. */
#define LEAST_LENGTH 1e-6

/* A matrix of many rows and few columns. */
typedef struct tall {
    uint32_t n, d;
    float *v; /* n * d, row by row */
} tall;

typedef struct work {
    gf_pool *pool;
    const gf_cancel *cancel;
} work;

static gf_status tall_init(tall *m, uint32_t n, uint32_t d, gf_error *err)
{
    m->v = gf_array(n, (size_t)d * sizeof *m->v);
    if (!m->v) return gf_fail_memory(err, "latent semantic analysis");
    m->n = n;
    m->d = d;
    return GF_OK;
}

static void tall_release(tall *m)
{
    gf_free(m->v);
    *m = (tall){0};
}

/* Put `from` in the place of *to. */
static void tall_replace(tall *to, tall *from)
{
    tall_release(to);
    *to = *from;
    *from = (tall){0};
}

static float *row_of(const tall *m, uint32_t i)
{
    return m->v + (size_t)i * m->d;
}

static size_t blocks_of(uint32_t n)
{
    return ((size_t)n + BLOCK - 1) / BLOCK;
}

static uint32_t block_end(uint32_t n, size_t block)
{
    size_t end = (block + 1) * BLOCK;
    return end < n ? (uint32_t)end : n;
}

/* ---- a random matrix ------------------------------------------------------------------------- */

typedef struct filling {
    tall *m;
    uint64_t seed;
} filling;

/* Sums of four 16-bit numbers, less their mean: near enough to normal, and exact. */
static gf_status fill_task(void *context, size_t b, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const filling *f = context;
    gf_random random = gf_random_seed(f->seed, STREAM + b);
    float *end = f->m->v + (size_t)block_end(f->m->n, b) * f->m->d;
    for (float *v = row_of(f->m, (uint32_t)(b * BLOCK)); v < end; v++) {
        uint64_t bits = gf_random_u64(&random);
        int32_t sum = 0;
        for (int i = 0; i < 4; i++, bits >>= 16)
            sum += (int32_t)(bits & 0xffff);
        *v = (float)(sum - 2 * 0xffff);
    }
    return GF_OK;
}

static gf_status fill(const work *w, uint64_t seed, tall *m, gf_error *err)
{
    filling f = {m, seed};
    return gf_pool_run(w->pool, blocks_of(m->n), fill_task, &f, w->cancel, err);
}

/* ---- sparse times dense ---------------------------------------------------------------------- */

typedef struct product {
    const gf_csr *a;
    const tall *z;
    tall *y;
    double *sums; /* per worker: d */
} product;

static gf_status multiply_task(void *context, size_t b, unsigned worker, gf_error *err)
{
    (void)err;
    const product *p = context;
    uint32_t d = p->z->d, end = block_end(p->a->n_rows, b);
    double *sum = p->sums + (size_t)worker * d;
    for (uint32_t i = (uint32_t)(b * BLOCK); i < end; i++) {
        gf_row_view row = gf_csr_row(p->a, i);
        float *y = row_of(p->y, i);
        memset(sum, 0, d * sizeof *sum);
        for (uint32_t e = 0; e < row.n; e++) {
            const float *z = row_of(p->z, row.col[e]);
            double value = (double)row.val[e];
            for (uint32_t t = 0; t < d; t++)
                sum[t] += value * (double)z[t];
        }
        for (uint32_t t = 0; t < d; t++)
            y[t] = (float)sum[t];
    }
    return GF_OK;
}

/* y = a z, in the place of what y was. */
static gf_status multiply(const work *w, const gf_csr *a, const tall *z, tall *y, gf_error *err)
{
    tall made = {0};
    product p = {a, z, &made, gf_array(gf_pool_size(w->pool), z->d * sizeof *p.sums)};
    gf_status st = p.sums ? tall_init(&made, a->n_rows, z->d, err)
                          : gf_fail_memory(err, "latent semantic analysis");
    if (st == GF_OK)
        st = gf_pool_run(w->pool, blocks_of(a->n_rows), multiply_task, &p, w->cancel, err);
    if (st == GF_OK) tall_replace(y, &made);
    gf_free(p.sums);
    tall_release(&made);
    return st;
}

/* ---- Gram matrices ---------------------------------------------------- */

typedef struct summing {
    const tall *m;
    size_t width;  /* m->d, padded for gf_products_add_gram */
    double *block; /* PARTS: BLOCK * width */
    double *gram;  /* PARTS: width * width */
} summing;

static gf_status gram_task(void *context, size_t part, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const summing *s = context;
    uint32_t d = s->m->d;
    size_t n_blocks = blocks_of(s->m->n), first = n_blocks * part / PARTS, width = s->width;
    double *block = s->block + part * BLOCK * width, *gram = s->gram + part * width * width;
    memset(block, 0, BLOCK * width * sizeof *block);
    memset(gram, 0, width * width * sizeof *gram);
    for (size_t b = first; b < n_blocks * (part + 1) / PARTS; b++) {
        uint32_t at = (uint32_t)(b * BLOCK), n = block_end(s->m->n, b) - at;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t t = 0; t < d; t++)
                block[i * width + t] = (double)row_of(s->m, at + i)[t];
        gf_products_add_gram(block, n, (uint32_t)width, gram);
    }
    return GF_OK;
}

/* gram[d * d] = m'm, to be freed. */
static gf_status find_gram(const work *w, const tall *m, double **gram, gf_error *err)
{
    size_t d = m->d, width = (d + GF_PRODUCTS_WIDTH - 1) / GF_PRODUCTS_WIDTH * GF_PRODUCTS_WIDTH;
    summing s = {m, width, gf_array(PARTS * BLOCK, width * sizeof *s.block),
                 gf_array(PARTS * width, width * sizeof *s.gram)};
    double *sum = gf_calloc(d * d, sizeof *sum);
    gf_status st =
        s.block && s.gram && sum ? GF_OK : gf_fail_memory(err, "latent semantic analysis");
    if (st == GF_OK) st = gf_pool_run(w->pool, PARTS, gram_task, &s, w->cancel, err);
    for (size_t part = 0; st == GF_OK && part < PARTS; part++)
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j <= i; j++)
                sum[i * d + j] += s.gram[(part * width + i) * width + j];
    for (size_t i = 0; st == GF_OK && i < d; i++)
        for (size_t j = 0; j < i; j++)
            sum[j * d + i] = sum[i * d + j];
    gf_free(s.block);
    gf_free(s.gram);
    if (st == GF_OK)
        *gram = sum;
    else
        gf_free(sum);
    return st;
}

typedef struct turning {
    const tall *m;
    const float *to;
    tall *out;
} turning;

static gf_status turn_task(void *context, size_t b, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const turning *t = context;
    uint32_t at = (uint32_t)(b * BLOCK), n = block_end(t->m->n, b) - at;
    gf_products(row_of(t->m, at), n, t->to, t->out->d, t->m->d, row_of(t->out, at));
    return GF_OK;
}

/* m = m V', with the combinations of its columns that are the d rows of v[d * m->d]. */
static gf_status turn(const work *w, tall *m, const double *v, uint32_t d, gf_error *err)
{
    tall out = {0};
    float *to = gf_array(d, (size_t)m->d * sizeof *to);
    gf_status st =
        to ? tall_init(&out, m->n, d, err) : gf_fail_memory(err, "latent semantic analysis");
    for (size_t e = 0; st == GF_OK && e < (size_t)d * m->d; e++)
        to[e] = (float)v[e];
    turning t = {m, to, &out};
    if (st == GF_OK) st = gf_pool_run(w->pool, blocks_of(m->n), turn_task, &t, w->cancel, err);
    if (st == GF_OK) tall_replace(m, &out);
    gf_free(to);
    tall_release(&out);
    return st;
}

/*
 * m's columns become orthogonal and of unit length, and span what they did; fewer where they depend
 * on each other. Once leaves rounding errors by the condition of m, which the next multiplication
 * does not mind; a second time removes them.
 */
static gf_status make_orthogonal(const work *w, tall *m, int times, gf_error *err)
{
    gf_status st = GF_OK;
    for (int time = 0; time < times && st == GF_OK; time++) {
        double *gram = NULL, *basis = gf_array(m->d, (size_t)m->d * sizeof *basis);
        uint32_t d = 0;
        st = basis ? find_gram(w, m, &gram, err) : gf_fail_memory(err, "latent semantic analysis");
        if (st == GF_OK) st = gf_symmetric_basis(gram, m->d, LEAST_REMAINDER, basis, &d, err);
        if (st == GF_OK && d == 0) st = gf_fail(err, GF_EINVAL, "no entries to find dimensions in");
        if (st == GF_OK) st = turn(w, m, basis, d, err);
        gf_free(gram);
        gf_free(basis);
    }
    return st;
}

/* ---- the decomposition ----------------------------------------------------------------------- */

/* basis [terms x l]: about the span of the largest right singular vectors. */
static gf_status find_range(const work *w, const gf_csr *x, uint32_t l, uint64_t seed, tall *basis,
                            gf_error *err)
{
    gf_csr t = {0};
    tall y = {0};
    gf_status st = gf_csr_transpose(x, &t, err);
    if (st == GF_OK) st = tall_init(basis, x->n_cols, l, err);
    if (st == GF_OK) st = fill(w, seed, basis, err);
    for (int i = 0; i < ITERATIONS && st == GF_OK; i++) {
        st = multiply(w, x, basis, &y, err);
        if (st == GF_OK) st = make_orthogonal(w, &y, 1, err);
        if (st == GF_OK) st = multiply(w, &t, &y, basis, err);
        if (st == GF_OK) st = make_orthogonal(w, basis, i + 1 < ITERATIONS ? 1 : 2, err);
    }
    tall_release(&y);
    gf_csr_release(&t);
    return st;
}

/* rows become those of the left singular vectors times their values, which go to sigma. */
static gf_status diagonalise(const work *w, uint32_t dimensions, tall *rows, double **sigma,
                             gf_error *err)
{
    uint32_t l = rows->d, d = 0;
    double *vector = NULL, *value = gf_array(l, sizeof *value), *s = NULL;
    gf_status st =
        value ? find_gram(w, rows, &vector, err) : gf_fail_memory(err, "singular values");
    if (st != GF_OK || (st = gf_symmetric_eigen(vector, l, value, err)) != GF_OK) goto done;
    while (d < l && d < dimensions && value[d] > 0 &&
           value[d] > LEAST_SIGMA * LEAST_SIGMA * value[0])
        d++;
    if (d == 0) {
        st = gf_fail(err, GF_EINVAL, "no entries to find dimensions in");
        goto done;
    }
    if (!(s = gf_array(d, sizeof *s))) {
        st = gf_fail_memory(err, "singular values");
        goto done;
    }
    for (uint32_t c = 0; c < d; c++)
        s[c] = sqrt(value[c]);
    st = turn(w, rows, vector, d, err);
done:
    gf_free(vector);
    gf_free(value);
    if (st == GF_OK)
        *sigma = s;
    else
        gf_free(s);
    return st;
}

gf_status gf_lsa_reduce(gf_pool *pool, const gf_csr *x, uint32_t dimensions, uint64_t seed,
                        const gf_cancel *cancel, gf_lsa *out, gf_error *err)
{
    const work w = {pool, cancel};
    uint32_t most = x->n_rows < x->n_cols ? x->n_rows : x->n_cols;
    tall basis = {0}, rows = {0};
    double *sigma = NULL;
    if (dimensions == 0 || most == 0)
        return gf_fail(err, GF_EINVAL, "no dimensions to reduce rows to");
    if (dimensions > most) dimensions = most;
    uint32_t l = most - dimensions > OVERSAMPLING ? dimensions + OVERSAMPLING : most;
    gf_status st = find_range(&w, x, l, seed, &basis, err);
    if (st == GF_OK) st = multiply(&w, x, &basis, &rows, err);
    tall_release(&basis);
    if (st == GF_OK) st = diagonalise(&w, dimensions, &rows, &sigma, err);
    if (st == GF_OK)
        *out = (gf_lsa){rows.n, rows.d, rows.v, sigma};
    else
        tall_release(&rows);
    return st;
}

void gf_lsa_release(gf_lsa *r)
{
    gf_free(r->rows);
    gf_free(r->sigma);
    *r = (gf_lsa){0};
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* In the place of x's reduced rows: sums of unit vectors of their terms. */
static gf_status sum_terms(const work *w, const gf_csr *x, gf_lsa *r, gf_error *err)
{
    gf_csr t = {0};
    tall rows = {r->n, r->d, r->rows}, terms = {0};
    gf_status st = gf_csr_transpose(x, &t, err);
    if (st == GF_OK) st = multiply(w, &t, &rows, &terms, err);
    gf_csr_release(&t);
    for (uint32_t i = 0; i < terms.n; i++) {
        float *v = row_of(&terms, i);
        double squares = 0;
        for (uint32_t c = 0; c < r->d; c++) {
            v[c] = (float)((double)v[c] / r->sigma[c]);
            squares += (double)v[c] * (double)v[c];
        }
        double scale = squares > 0 ? 1 / sqrt(squares) : 0;
        for (uint32_t c = 0; c < r->d; c++)
            v[c] = (float)((double)v[c] * scale);
    }
    if (st == GF_OK) st = multiply(w, x, &terms, &rows, err);
    r->rows = rows.v;
    tall_release(&terms);
    return st;
}

/* Rows that have a direction move up and become unit; at[] says which they were. Their number. */
static uint32_t scale_rows(gf_lsa *r, uint32_t *at)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const float *from = r->rows + (size_t)i * r->d;
        float *to = r->rows + (size_t)n * r->d;
        double squares = 0;
        for (uint32_t t = 0; t < r->d; t++)
            squares += (double)from[t] * (double)from[t];
        double length = sqrt(squares);
        if (!(length > LEAST_LENGTH)) continue;
        for (uint32_t t = 0; t < r->d; t++)
            to[t] = (float)((double)from[t] / length);
        at[n++] = i;
    }
    return n;
}

gf_status gf_lsa_clusters(gf_pool *pool, const gf_csr *x, uint32_t dimensions, gf_lsa_space space,
                          const gf_kmeans_options *options, uint32_t *label, uint32_t *k,
                          gf_error *err)
{
    gf_lsa lsa = {0};
    gf_kmeans clusters = {0};
    uint32_t n = 0, *at = gf_array(x->n_rows, sizeof *at);
    gf_status st = at ? GF_OK : gf_fail_memory(err, "rows");
    if (options->progress) options->progress(options->progress_context, "reducing", 0, 0);
    if (st == GF_OK)
        st = gf_lsa_reduce(pool, x, dimensions, options->seed, options->cancel, &lsa, err);
    if (st == GF_OK && space == GF_LSA_TERM_SUMS)
        st = sum_terms(&(work){pool, options->cancel}, x, &lsa, err);
    if (st == GF_OK) n = scale_rows(&lsa, at);
    if (st == GF_OK && n)
        st = gf_dense_kmeans(pool, lsa.rows, n, lsa.d, GF_DENSE_SAME, options, &clusters, err);
    if (st == GF_OK) {
        for (uint32_t i = 0; i < x->n_rows; i++)
            label[i] = GF_NO_CLUSTER;
        for (uint32_t i = 0; i < n; i++)
            label[at[i]] = clusters.label[i];
        *k = clusters.k;
    }
    gf_kmeans_release(&clusters);
    gf_lsa_release(&lsa);
    gf_free(at);
    return st;
}
