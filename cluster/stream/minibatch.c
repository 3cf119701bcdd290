#include "cluster/stream/minibatch.h"

#include "base/memory.h"
#include "cluster/large/assign.h"
#include "cluster/large/branches.h"
#include "cluster/passes/number_clusters.h"
#include "cluster/stream/row_stream.h"

#include <stdlib.h>
#include <string.h>

/*
 * Rows that batches draw in all: so many for each row that there is, and at most so many for each
 * cluster. A centre of a thousand rows hardly moves any more; what more draws find, the readings of
 * all rows that follow find as well (docs/algorithms.md).
 */
enum { DRAWS_PER_ROW = 2, DRAWS_PER_CLUSTER = 4000 };

/* Streams of the seed: what is drawn for one purpose says nothing of the other. */
enum { OF_SAMPLE = 11, OF_BATCHES = 12 };

/* Clusters that very many ones may lack to go on; if more do, they are sought anew. */
enum { MOST_LACKING = 1000 };

typedef struct job {
    gf_row_stream stream;
    const gf_minibatch_options *options;
    gf_partition p; /* of all rows; centres are the sums so far */
    gf_choice choice;
    unsigned batches;
} job;

static uint32_t n_rows(const job *j)
{
    return j->stream.rows->n_rows;
}

static void tell(const job *j, uint64_t done, uint64_t total)
{
    const gf_kmeans_options *o = &j->options->kmeans;
    if (o->progress) o->progress(o->progress_context, "clustering", done, total);
}

static void tell_window(void *context, uint64_t done, uint64_t total)
{
    tell(context, done, total);
}

/* ---- seeds ----------------------------------------------------------------------------------- */

/* The centres of a sample's clusters, which stand for as many rows as it has. */
static gf_status seed_by_sample(job *j, uint32_t most, gf_centres *centres, gf_error *err)
{
    const gf_row_file *f = j->stream.rows;
    uint32_t n = n_rows(j), m = j->options->sample < n ? j->options->sample : n;
    gf_random random = gf_random_seed(j->options->kmeans.seed, OF_SAMPLE);
    gf_kmeans_options o = j->options->kmeans;
    gf_csr x = {0};
    gf_kmeans r = {0};
    uint32_t *rows = gf_array(m, sizeof *rows);
    gf_status st = rows ? GF_OK : gf_fail_memory(err, "a sample");
    if (st == GF_OK) {
        gf_points_sample(n, m, &random, rows);
        st = gf_row_file_pick(f, rows, m, &x, err);
    }
    gf_free(rows);
    o.start = NULL;
    o.start_k = 0;
    gf_refinement chosen; /* its rows are not those of the file: they are not swept */
    if (o.refinement) {
        chosen = *o.refinement;
        chosen.count = NULL;
        o.refinement = &chosen;
    }
    if (o.k > most) o.k = most;
    if (st == GF_OK) st = gf_kmeans_run(j->stream.pool, &x, &o, &r, err);
    gf_csr_release(&x);
    if (st == GF_OK) {
        *centres = r.centres;
        r.centres = (gf_centres){0};
        j->choice = r.choice;
        r.choice = (gf_choice){0};
    }
    gf_kmeans_release(&r);
    return st;
}

static int by_falling_weight(const void *a, const void *b)
{
    const gf_centre *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x->n > y->n ? -1 : x->n < y->n;
}

/* Clusters that lack begin with the worst fitting rows. */
static gf_status add_worst(job *j, uint32_t lack, gf_centres *centres, gf_error *err)
{
    uint32_t k = centres->k;
    gf_centre *at = gf_realloc(centres->at, (size_t)k + lack, sizeof *at);
    if (!at) return gf_fail_memory(err, "clusters");
    memset(at + k, 0, lack * sizeof *at);
    centres->at = at;
    gf_csr x = {0};
    uint32_t *rows = gf_array(lack, sizeof *rows), n = 0;
    gf_status st = rows ? GF_OK : gf_fail_memory(err, "clusters");
    if (st == GF_OK) {
        j->p.k = k;
        j->p.centres = *centres;
        st = gf_row_stream_assign(&j->stream, &j->p, NULL, err);
        j->p.centres = (gf_centres){0};
    }
    if (st == GF_OK) st = gf_row_stream_worst(&j->stream, j->p.own, lack, rows, &n, err);
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        st = gf_row_file_pick(j->stream.rows, &rows[i], 1, &x, err);
        centres->k = k + i + 1;
        if (st == GF_OK) st = gf_centres_set_row(centres, k + i, gf_csr_row(&x, 0), err);
        gf_csr_release(&x);
    }
    gf_free(rows);
    return st;
}

/* The sums of the clusters that there were: the heaviest, where there are more than `most`. */
static gf_status seed_by_start(job *j, uint32_t most, gf_centres *centres, gf_error *err)
{
    const gf_kmeans_options *o = &j->options->kmeans;
    uint32_t wanted = o->k < most ? o->k : most, kept = 0;
    gf_status st = gf_row_stream_sum(&j->stream, o->start, o->start_k, centres, err);
    if (st != GF_OK) return st;
    qsort(centres->at, centres->k, sizeof *centres->at, by_falling_weight);
    while (kept < centres->k && kept < wanted && centres->at[kept].n)
        kept++;
    for (uint32_t c = kept; c < centres->k; c++) {
        gf_free(centres->at[c].term);
        gf_free(centres->at[c].value);
    }
    centres->k = kept;
    if (kept + MOST_LACKING < wanted && wanted > GF_BRANCHES_ABOVE) {
        gf_centres_release(centres); /* to look for so many worst rows would take too long */
        return GF_OK;
    }
    return kept && kept < wanted ? add_worst(j, wanted - kept, centres, err) : GF_OK;
}

static gf_status seed(job *j, uint32_t distinct, gf_error *err)
{
    const gf_kmeans_options *o = &j->options->kmeans;
    gf_centres centres = {0};
    gf_status st = GF_OK;
    if (o->start && o->start_k) st = seed_by_start(j, distinct, &centres, err);
    if (st == GF_OK && centres.k == 0) {
        gf_centres_release(&centres);
        st = seed_by_sample(j, distinct, &centres, err);
    }
    j->p.k = centres.k;
    j->p.centres = centres;
    return st;
}

/* ---- batches --------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Rows drawn at random, some of them maybe twice. rows: room for a window of them, twice. */
static gf_status run_batch(job *j, gf_random *random, uint32_t *rows, gf_error *err)
{
    uint32_t m = j->stream.window, *label = rows + m;
    gf_csr x = {0};
    for (uint32_t i = 0; i < m; i++)
        rows[i] = (uint32_t)gf_random_below(random, n_rows(j));
    qsort(rows, m, sizeof *rows, by_number);
    gf_status st = gf_row_file_pick(j->stream.rows, rows, m, &x, err);
    if (st == GF_OK) st = gf_row_stream_label(&j->stream, &x, &j->p.centres, label, err);
    if (st == GF_OK) st = gf_row_stream_add(&j->stream, &x, label, &j->p.centres, err);
    gf_csr_release(&x);
    return st;
}

static gf_status run_batches(job *j, gf_error *err)
{
    gf_random random = gf_random_seed(j->options->kmeans.seed, OF_BATCHES);
    uint64_t draws = (uint64_t)DRAWS_PER_ROW * n_rows(j);
    uint64_t enough = (uint64_t)DRAWS_PER_CLUSTER * j->p.k;
    if (draws > enough) draws = enough;
    unsigned most = (unsigned)((draws + j->stream.window - 1) / j->stream.window);
    uint32_t *rows = gf_array((size_t)j->stream.window * 2, sizeof *rows);
    gf_status st = rows ? GF_OK : gf_fail_memory(err, "a batch");
    for (; j->batches < most && st == GF_OK; j->batches++) {
        tell(j, j->batches, most);
        st = run_batch(j, &random, rows, err);
    }
    gf_free(rows);
    return st;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Centres without rows, which sweeps may leave, become what they were before. */
static void keep_empty(gf_centres *now, gf_centres *before)
{
    for (uint32_t c = 0; c < now->k; c++) {
        if (now->at[c].weight > 0) continue;
        gf_centre empty = now->at[c];
        now->at[c] = before->at[c];
        before->at[c] = empty;
    }
}

/* The centres become the sums of their rows, or of those that the refinement's sweeps give them. */
static gf_status sum_again(job *j, gf_error *err)
{
    gf_partition *p = &j->p;
    const gf_kmeans_options *o = &j->options->kmeans;
    gf_centres centres;
    gf_status st = gf_row_stream_assign(&j->stream, p, NULL, err);
    const gf_row_file *rows = j->stream.rows;
    const bool sweeps = o->refinement && o->refinement->count &&
                        gf_refinement_pays(rows->n_rows, rows->start[rows->n_rows], p->k);
    if (st == GF_OK && sweeps)
        st = gf_refinement_sweep_file(j->stream.pool, o->refinement, j->stream.rows, p->k,
                                      o->cancel, p->label, err);
    if (!sweeps) gf_centres_release(&p->centres);
    if (st == GF_OK) st = gf_row_stream_sum(&j->stream, p->label, p->k, &centres, err);
    if (st != GF_OK) return st;
    if (sweeps) keep_empty(&centres, &p->centres);
    gf_centres_release(&p->centres);
    p->centres = centres;
    return st;
}

/* Very many clusters: those that the assignment left without rows keep one. */
static gf_status keep_clusters(job *j, const uint32_t *keeper, double *weight, uint32_t *runner_up,
                               gf_error *err)
{
    gf_partition *p = &j->p;
    gf_csr x = {0};
    gf_keeper *lost = gf_array(p->k, sizeof *lost);
    uint32_t *rows = gf_array(p->k, sizeof *rows);
    gf_status st = lost && rows ? GF_OK : gf_fail_memory(err, "clusters");
    uint32_t n = st == GF_OK ? gf_assign_list_lost(p, weight, keeper, lost) : 0;
    for (uint32_t l = 0; l < n; l++)
        rows[l] = lost[l].row;
    if (n) st = gf_row_file_pick(j->stream.rows, rows, n, &x, err);
    if (n && st == GF_OK) gf_assign_give_back(p, lost, n, &x, NULL, weight, runner_up);
    gf_csr_release(&x);
    gf_free(lost);
    gf_free(rows);
    return st;
}

/* Over the centres as they are kept: again where a cluster lost all its rows. */
static gf_status assign_last(job *j, uint32_t *runner_up, double *weight, uint32_t *number,
                             gf_error *err)
{
    gf_partition *p = &j->p;
    gf_status st = GF_OK;
    for (bool dropped = true; st == GF_OK && dropped;) {
        bool keeps = gf_branches_serve(&p->centres);
        if (keeps) gf_assign_find_keepers(p, number);
        st = gf_row_stream_assign(&j->stream, p, runner_up, err);
        if (st != GF_OK) break;
        memset(weight, 0, p->k * sizeof *weight);
        for (uint32_t i = 0; i < p->n; i++)
            weight[p->label[i]]++;
        if (keeps) st = keep_clusters(j, number, weight, runner_up, err);
        if (st != GF_OK) break;
        dropped = gf_number_clusters_drop_empty(p, weight, number);
    }
    return st;
}

/* The partition's own arrays become the result's. */
static void hand_over(gf_partition *p, uint32_t *runner_up, const uint32_t *number, gf_kmeans *r)
{
    bool has_second = p->k > 1;
    for (uint32_t i = 0; i < p->n; i++) {
        p->label[i] = number[p->label[i]];
        p->own[i] = gf_at_most_1(p->own[i]);
        p->other[i] = has_second ? gf_at_most_1(p->other[i]) : 0;
        runner_up[i] = has_second ? number[runner_up[i]] : GF_NO_CLUSTER;
        r->objective += (double)p->own[i];
    }
    r->k = p->k;
    r->label = p->label;
    r->score = p->own;
    r->second = p->other;
    r->runner_up = runner_up;
    gf_centres_release(&p->centres);
    *p = (gf_partition){0};
}

static gf_status finish(job *j, uint32_t distinct, gf_kmeans *out, gf_error *err)
{
    gf_partition *p = &j->p;
    gf_kmeans r = {.n = p->n, .distinct = distinct, .passes = j->batches, .restarts = 1};
    uint32_t *runner_up = gf_array(p->n, sizeof *runner_up);
    uint32_t *number = gf_array(p->k, sizeof *number);
    double *weight = gf_array(p->k, sizeof *weight);
    gf_status st = runner_up && number && weight ? GF_OK : gf_fail_memory(err, "clusters");
    if (st == GF_OK) st = assign_last(j, runner_up, weight, number, err);
    if (st == GF_OK) st = gf_number_clusters_order(p, weight, number, &r.centres, err);
    if (st == GF_OK) {
        hand_over(p, runner_up, number, &r);
        r.choice = j->choice;
        j->choice = (gf_choice){0};
        *out = r;
    } else {
        gf_free(runner_up);
    }
    gf_free(number);
    gf_free(weight);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static gf_status init(job *j, gf_error *err)
{
    gf_partition *p = &j->p;
    p->n = n_rows(j);
    if (p->n == 0) return gf_fail(err, GF_EINVAL, "no rows to cluster");
    p->label = gf_array(p->n, sizeof *p->label);
    p->own = gf_array(p->n, sizeof *p->own);
    p->other = gf_array(p->n, sizeof *p->other);
    return p->label && p->own && p->other ? GF_OK : gf_fail_memory(err, "clusters");
}

gf_status gf_minibatch_run(gf_pool *pool, const gf_row_file *rows,
                           const gf_minibatch_options *options, gf_kmeans *out, gf_error *err)
{
    const bool many = options->kmeans.k > GF_BRANCHES_ABOVE;
    job j = {.stream = {.pool = pool,
                        .rows = rows,
                        .window = gf_row_stream_window(rows->n_rows, many ? options->kmeans.k : 1),
                        .cancel = options->kmeans.cancel,
                        .progress = many ? tell_window : NULL,
                        .most_terms = many ? GF_ROW_STREAM_TERMS : 0},
             .options = options};
    uint32_t distinct = 0;
    j.stream.progress_context = &j;
    gf_status st = init(&j, err);
    if (st == GF_OK) st = gf_row_stream_distinct(&j.stream, &distinct, err);
    if (st == GF_OK) st = seed(&j, distinct, err);
    if (st == GF_OK) {
        j.stream.window = gf_row_stream_window(rows->n_rows, j.p.k);
        st = many ? gf_row_stream_trim(&j.stream, &j.p.centres, err) : run_batches(&j, err);
    }
    if (st == GF_OK) st = sum_again(&j, err);
    if (st == GF_OK) st = finish(&j, distinct, out, err);
    gf_partition_release(&j.p);
    gf_free(j.choice.steps);
    return st;
}
