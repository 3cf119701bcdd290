#include "cluster/dense/dense.h"

#include "base/memory.h"
#include "cluster/dense/blas.h"
#include "cluster/dense/internal.h"
#include "cluster/dense/products.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    MOST_CHOSEN = 1000,
    CHOICE_ENTRIES = 1 << 23, /* of the sample that k is chosen by, and its rows: gf_choose_k */
    LEAST_CHOICE = 500,       /* takes several samples of some thousand rows from it */
    MOST_CHOICE = 12000,
    MOST_RESTARTS = 8,
    PASSES_A_RUN = 40,
    DEFAULT_PASSES = 100,
    DEFAULT_ROUNDS = 20
};

#define DEFAULT_TOLERANCE 0.001

/* Multiplications that restarts may cost in all: some seconds of a core. */
#define RESTART_WORK 4e10

typedef struct job {
    gf_pool *pool;
    gf_dense_rows rows;
    const gf_kmeans_options *options;
    uint32_t k, distinct;
    unsigned restarts, max_passes, max_rounds;
    double tolerance;
    gf_choice choice;
} job;

typedef struct run {
    gf_dense_partition p;
    unsigned passes, rounds;
    bool converged;
    double objective;
} run;

static void tell(const job *j, const char *phase, uint64_t done, uint64_t total)
{
    if (j->options->progress)
        j->options->progress(j->options->progress_context, phase, done, total);
}

/* ---- what is given --------------------------------------------------------------------------- */

static gf_status check_rows(const gf_dense_rows *rows, gf_error *err)
{
    if (rows->n == 0 || rows->d == 0) return gf_fail(err, GF_EINVAL, "no rows to cluster");
    for (uint32_t i = 0; i < rows->n; i++) {
        const float *x = gf_dense_row(rows, i);
        double squares = 0;
        for (uint32_t t = 0; t < rows->d; t++)
            squares += (double)x[t] * (double)x[t];
        if (!(fabs(sqrt(squares) - 1) < 0.001))
            return gf_fail(err, GF_EINVAL, "row %" PRIu32 " is not of unit length", i);
    }
    return GF_OK;
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Distinct rows, by 64-bit hashes: of a million rows two differing ones share one with odds of
 * 1 to 37 million. */
static gf_status count_distinct(job *j, gf_error *err)
{
    uint32_t n = j->rows.n;
    uint64_t *hash = gf_array(n, sizeof *hash);
    if (!hash) return gf_fail_memory(err, "rows");
    for (uint32_t i = 0; i < n; i++)
        hash[i] = XXH3_64bits(gf_dense_row(&j->rows, i), j->rows.d * sizeof(float));
    qsort(hash, n, sizeof *hash, by_hash);
    j->distinct = 1;
    for (uint32_t i = 1; i < n; i++)
        j->distinct += hash[i] != hash[i - 1];
    gf_free(hash);
    return GF_OK;
}

/* A sample as a sparse matrix, which is what the number of clusters is chosen by. */
static gf_status sample_as_csr(const job *j, gf_csr *x, gf_error *err)
{
    uint32_t d = j->rows.d, m = CHOICE_ENTRIES / d;
    if (m > MOST_CHOICE) m = MOST_CHOICE;
    if (m < LEAST_CHOICE) m = LEAST_CHOICE;
    if (m > j->rows.n) m = j->rows.n;
    gf_random random = gf_random_seed(j->options->seed, 2);
    uint32_t *list = gf_array(m, sizeof *list);
    gf_status st =
        list ? gf_csr_init(x, m, d, (uint64_t)m * d, err) : gf_fail_memory(err, "a sample");
    if (st == GF_OK) gf_points_sample(j->rows.n, m, &random, list);
    for (uint32_t i = 0; st == GF_OK && i < m; i++) {
        const float *row = gf_dense_row(&j->rows, list[i]);
        uint64_t at = x->start[i];
        for (uint32_t t = 0; t < d; t++) {
            if (row[t] == 0) continue;
            x->col[at] = t;
            x->val[at++] = row[t];
        }
        x->start[i + 1] = at;
    }
    gf_free(list);
    return st;
}

static gf_status choose_k(job *j, gf_error *err)
{
    uint32_t most = j->options->max_k;
    gf_csr x = {0};
    if (most == 0) most = j->distinct / 3 < MOST_CHOSEN ? j->distinct / 3 : MOST_CHOSEN;
    if (most == 0) most = 1;
    if (most > j->distinct) most = j->distinct;
    tell(j, "choosing k", 0, 0);
    gf_status st = sample_as_csr(j, &x, err);
    gf_points points = {&x, NULL};
    if (st == GF_OK)
        st = gf_choose_k(j->pool, &points, most, j->options->reach, j->options->seed,
                         j->options->cancel, &j->choice, err);
    if (st == GF_OK) j->k = j->choice.k;
    gf_csr_release(&x);
    return st;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static gf_status seed_run(const job *j, gf_dense_work *w, unsigned restart, gf_dense_partition *p,
                          gf_error *err)
{
    gf_random random = gf_random_seed(j->options->seed + ((uint64_t)restart << 32), 0);
    uint32_t found = 0;
    gf_status st = GF_OK;
    if (j->options->start) {
        st = gf_dense_start(w, p, j->options->start, j->options->start_k, j->k, err);
        if (st != GF_OK || p->k) return st;
    }
    st =
        gf_dense_seed(j->pool, &j->rows, j->k, &random, j->options->cancel, p->centre, &found, err);
    if (st == GF_OK) p->k = found;
    return st;
}

static gf_status make_run(job *j, gf_dense_work *w, unsigned restart, run *out, gf_error *err)
{
    run r = {.rounds = 0};
    tell(j, "clustering", restart, j->restarts);
    gf_status st = gf_dense_partition_init(&r.p, &j->rows, j->k, err);
    if (st == GF_OK) st = seed_run(j, w, restart, &r.p, err);
    if (st == GF_OK)
        st = gf_dense_passes(w, &r.p, j->tolerance, j->max_passes, &r.passes, &r.converged, err);
    if (st == GF_OK && j->max_rounds != GF_NO_POLISH && r.p.k > 1)
        st = gf_dense_polish(w, &r.p, j->tolerance, j->max_rounds, &r.rounds, err);
    if (st == GF_OK) r.objective = gf_dense_objective(&r.p);
    if (st == GF_OK)
        *out = r;
    else
        gf_dense_partition_release(&r.p);
    return st;
}

static gf_status best_run(job *j, gf_dense_work *w, run *best, gf_error *err)
{
    gf_status st = make_run(j, w, 0, best, err);
    for (unsigned i = 1; st == GF_OK && i < j->restarts; i++) {
        run other;
        st = make_run(j, w, i, &other, err);
        if (st != GF_OK) break;
        bool better = other.objective > best->objective;
        gf_dense_partition_release(better ? &best->p : &other.p);
        if (better) *best = other;
    }
    return st;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Take out the clusters without rows; true where there were any. size: k. */
static bool drop_empty(const gf_dense_rows *rows, gf_dense_partition *p, uint32_t *size)
{
    uint32_t k = 0;
    memset(size, 0, p->k * sizeof *size);
    for (uint32_t i = 0; i < rows->n; i++)
        size[p->label[i]]++;
    for (uint32_t c = 0; c < p->k; c++) {
        if (size[c] == 0) continue;
        size[k] = size[c];
        p->length[k] = p->length[c];
        memmove(p->centre + (size_t)k * rows->d, p->centre + (size_t)c * rows->d,
                rows->d * sizeof *p->centre);
        k++;
    }
    bool dropped = k < p->k;
    p->k = k;
    return dropped;
}

static int by_falling_size(const void *a, const void *b, void *context)
{
    const uint32_t *size = context, x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (size[x] != size[y]) return size[x] > size[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static gf_status take_centre(const job *j, const gf_dense_partition *p, uint32_t c, uint32_t size,
                             gf_centre *to, gf_error *err)
{
    uint32_t d = j->rows.d;
    to->term = gf_array(d, sizeof *to->term);
    to->value = gf_array(d, sizeof *to->value);
    if (!to->term || !to->value) return gf_fail_memory(err, "clusters");
    for (uint32_t t = 0; t < d; t++)
        to->term[t] = t;
    memcpy(to->value, p->centre + (size_t)c * d, d * sizeof *to->value);
    to->n = to->capacity = d;
    to->length = p->length[c];
    to->weight = size;
    return GF_OK;
}

/* Clusters by falling size. order and size: k. */
static gf_status number_clusters(const job *j, const gf_dense_partition *p, uint32_t *order,
                                 uint32_t *size, gf_kmeans *r, gf_error *err)
{
    uint32_t *number = gf_array(p->k, sizeof *number);
    gf_status st = number ? gf_centres_init(&r->centres, p->k, j->rows.d, err)
                          : gf_fail_memory(err, "clusters");
    for (uint32_t c = 0; c < p->k; c++)
        order[c] = c;
    qsort_r(order, p->k, sizeof *order, by_falling_size, size);
    for (uint32_t c = 0; c < p->k && st == GF_OK; c++) {
        number[order[c]] = c;
        st = take_centre(j, p, order[c], size[order[c]], &r->centres.at[c], err);
    }
    for (uint32_t i = 0; i < r->n && st == GF_OK; i++) {
        r->label[i] = number[p->label[i]];
        r->runner_up[i] = p->k > 1 ? number[p->runner_up[i]] : GF_NO_CLUSTER;
        r->score[i] = p->own[i] < 1 ? p->own[i] : 1;
        r->second[i] = p->k == 1 ? 0 : p->other[i] < 1 ? p->other[i] : 1;
        r->objective += (double)r->score[i];
    }
    gf_free(number);
    return st;
}

/* Labels become the argmax over the centres as they are kept. */
static gf_status assign_last(gf_dense_work *w, gf_dense_partition *p, uint32_t *size, gf_error *err)
{
    gf_status st = GF_OK;
    for (bool dropped = true; st == GF_OK && dropped;) {
        uint64_t moved;
        st = gf_dense_assign(w, p, &moved, err);
        if (st == GF_OK) dropped = drop_empty(&w->rows, p, size);
    }
    return st;
}

static gf_status finish(job *j, gf_dense_work *w, run *best, gf_kmeans *out, gf_error *err)
{
    uint32_t n = j->rows.n;
    gf_kmeans r = {.n = n,
                   .distinct = j->distinct,
                   .passes = best->passes,
                   .rounds = best->rounds,
                   .restarts = j->restarts,
                   .converged = best->converged};
    uint32_t *size = gf_array(best->p.k, sizeof *size), *order = gf_array(best->p.k, sizeof *order);
    r.label = gf_array(n, sizeof *r.label);
    r.score = gf_array(n, sizeof *r.score);
    r.runner_up = gf_array(n, sizeof *r.runner_up);
    r.second = gf_array(n, sizeof *r.second);
    bool ok = size && order && r.label && r.score && r.runner_up && r.second;
    gf_status st = ok ? GF_OK : gf_fail_memory(err, "clusters");
    if (st == GF_OK) st = assign_last(w, &best->p, size, err);
    if (st == GF_OK) st = number_clusters(j, &best->p, order, size, &r, err);
    if (st == GF_OK) {
        r.k = best->p.k;
        r.choice = j->choice;
        j->choice = (gf_choice){0};
        *out = r;
    } else {
        gf_kmeans_release(&r);
    }
    gf_free(size);
    gf_free(order);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static unsigned restarts_for(const job *j)
{
    if (j->options->start) return 1;
    if (j->options->restarts) return j->options->restarts;
    double work = (double)j->rows.n * j->rows.d * j->k * PASSES_A_RUN;
    if (work * MOST_RESTARTS <= RESTART_WORK) return MOST_RESTARTS;
    return work >= RESTART_WORK ? 1 : (unsigned)(RESTART_WORK / work);
}

static gf_status cluster(job *j, gf_kmeans *out, gf_error *err)
{
    const gf_kmeans_options *o = j->options;
    gf_dense_work w = {0};
    run best = {.rounds = 0};
    gf_status st = count_distinct(j, err);
    if (st != GF_OK) return st;
    j->k = o->k < j->distinct ? o->k : j->distinct;
    j->max_passes = o->max_passes ? o->max_passes : DEFAULT_PASSES;
    j->max_rounds = o->max_rounds ? o->max_rounds : DEFAULT_ROUNDS;
    j->tolerance = o->tolerance > 0 ? o->tolerance : DEFAULT_TOLERANCE;
    if (j->k == 0) st = choose_k(j, err);
    if (st != GF_OK) return st;
    j->restarts = restarts_for(j);
    st = gf_dense_work_init(&w, j->pool, &j->rows, j->k, o->cancel, err);
    if (st == GF_OK) st = best_run(j, &w, &best, err);
    if (st == GF_OK) st = finish(j, &w, &best, out, err);
    gf_dense_partition_release(&best.p);
    gf_dense_work_release(&w);
    return st;
}

gf_status gf_dense_kmeans(gf_pool *pool, const float *x, uint32_t n, uint32_t d,
                          gf_dense_arithmetic arithmetic, const gf_kmeans_options *options,
                          gf_kmeans *out, gf_error *err)
{
    bool fast = arithmetic == GF_DENSE_FAST;
    job j = {
        .pool = pool, .rows = {x, n, d, fast ? gf_blas_products : gf_products}, .options = options};
    gf_status st = check_rows(&j.rows, err);
    if (st != GF_OK) return st;
    if (fast) st = gf_blas_load(err);
    if (st == GF_OK) st = cluster(&j, out, err);
    gf_free(j.choice.steps);
    return st;
}
