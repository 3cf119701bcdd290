#include "cluster/ranks/ranked.h"

#include "base/grid.h"
#include "base/memory.h"
#include "cluster/large/assign.h"
#include "cluster/large/branches.h"
#include "cluster/passes/fold.h"
#include "cluster/passes/number_clusters.h"
#include "cluster/ranks/ranked_bytes.h"
#include "cluster/ranks/ranked_sums.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { OF_SAMPLE = 13 /* stream of the seed that the sample is drawn by */ };

/* Passes before sweeps end at so many times the tolerance: sweeps do the rest better. */
enum { DEFAULT_PASSES = 100, QUICK_PASSES = 2, LEFT_TO_SWEEPS = 10 };

#define DEFAULT_TOLERANCE 0.001

typedef struct ranked_job {
    gf_ranks *ranks;
    gf_pool *pool;
    const gf_ranked_rows *rows;
    const gf_ranked_options *options;
    gf_fold fold;
    gf_points points;    /* own distinct rows */
    uint64_t n, entries; /* of all ranks */
    uint64_t first;      /* the number of the first own row */
    uint32_t distinct;   /* of all ranks */
    gf_partition p;      /* of the points */
    gf_choice choice;    /* at rank 0 */
    unsigned passes;
    bool converged;
} ranked_job;

static const gf_kmeans_options *kmeans_of(const ranked_job *j)
{
    return &j->options->kmeans;
}

static void tell(const ranked_job *j, const char *phase, uint64_t done, uint64_t total)
{
    const gf_kmeans_options *o = kmeans_of(j);
    if (o->progress && gf_ranks_me(j->ranks) == 0)
        o->progress(o->progress_context, phase, done, total);
}

static gf_status make_buffers(const ranked_job *j, gf_buffer **buffers, gf_error *err)
{
    *buffers = gf_calloc(gf_ranks_n(j->ranks), sizeof **buffers);
    return *buffers ? GF_OK : gf_fail_memory(err, "what goes between ranks");
}

static void free_buffers(const ranked_job *j, gf_buffer *buffers)
{
    for (unsigned i = 0; buffers && i < gf_ranks_n(j->ranks); i++)
        gf_buffer_release(&buffers[i]);
    gf_free(buffers);
}

/* ---- counting --------------------------------------------------------------------------------- */

/* How many rows and entries there are, and the number of the first own row. */
static gf_status count_rows(ranked_job *j, gf_error *err)
{
    unsigned n = gf_ranks_n(j->ranks), me = gf_ranks_me(j->ranks);
    uint64_t *counts = gf_calloc((size_t)n + 1, sizeof *counts);
    if (!counts) return gf_fail_memory(err, "counts of rows");
    counts[me] = j->rows->x->n_rows;
    counts[n] = gf_csr_nnz(j->rows->x);
    gf_status st = gf_ranks_sum(j->ranks, counts, (size_t)n + 1, err);
    for (unsigned i = 0; i < n; i++) {
        if (i < me) j->first += counts[i];
        j->n += counts[i];
    }
    j->entries = counts[n];
    gf_free(counts);
    if (st == GF_OK && j->n == 0) st = gf_fail(err, GF_EINVAL, "no rows to cluster");
    if (st == GF_OK && j->n > UINT32_MAX) st = gf_fail(err, GF_ELIMIT, "more than 2^32 rows");
    return st;
}

static int by_hash(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(XXH128_canonical_t));
}

/* How many rows of all ranks differ: each rank counts the hashes that fall to it. */
static gf_status count_distinct(ranked_job *j, gf_error *err)
{
    unsigned n = gf_ranks_n(j->ranks);
    uint64_t found = 0;
    gf_buffer *to = NULL, *from = NULL, all = {0};
    gf_slice *dealt = gf_array(n, sizeof *dealt);
    gf_status st = dealt ? GF_OK : gf_fail_memory(err, "hashes of rows");
    if (st == GF_OK) st = make_buffers(j, &to, err);
    if (st == GF_OK) st = make_buffers(j, &from, err);
    for (uint32_t i = 0; st == GF_OK && i < gf_points_n(&j->points); i++) {
        gf_row_view row = gf_csr_row(j->points.x, i);
        uint64_t of_columns = XXH3_64bits(row.col, row.n * sizeof *row.col);
        XXH128_hash_t hash = XXH3_128bits_withSeed(row.val, row.n * sizeof *row.val, of_columns);
        XXH128_canonical_t bytes;
        XXH128_canonicalFromHash(&bytes, hash);
        gf_buffer_append(&to[hash.low64 % n], &bytes, sizeof bytes);
    }
    for (unsigned i = 0; i < n && st == GF_OK; i++) {
        st = gf_buffer_check(&to[i], err);
        dealt[i] = gf_buffer_view(&to[i]);
    }
    if (st == GF_OK) st = gf_ranks_deal(j->ranks, dealt, from, err);
    for (unsigned i = 0; i < n && st == GF_OK; i++)
        gf_buffer_slice(&all, gf_buffer_view(&from[i]));
    if (st == GF_OK) st = gf_buffer_check(&all, err);
    if (st == GF_OK && all.len) {
        size_t size = sizeof(XXH128_canonical_t), count = all.len / size;
        qsort(all.ptr, count, size, by_hash);
        for (size_t i = 0; i < count; i++)
            found += i == 0 || memcmp(all.ptr + i * size, all.ptr + (i - 1) * size, size) != 0;
    }
    if (st == GF_OK) st = gf_ranks_sum(j->ranks, &found, 1, err);
    j->distinct = (uint32_t)found;
    gf_buffer_release(&all);
    free_buffers(j, to);
    free_buffers(j, from);
    gf_free(dealt);
    return st;
}

/* ---- seeds ------------------------------------------------------------------------------------ */

/* The rows of the sample that are this rank's, as bytes: drawn by their numbers among all. */
static gf_status draw_sample(const ranked_job *j, gf_buffer *out, gf_error *err)
{
    uint32_t n = (uint32_t)j->n, m = j->options->sample < n ? j->options->sample : n;
    const gf_csr *x = j->rows->x;
    gf_random random = gf_random_seed(kmeans_of(j)->seed, OF_SAMPLE);
    uint32_t *rows = gf_array(m, sizeof *rows);
    if (!rows) return gf_fail_memory(err, "a sample");
    gf_points_sample(n, m, &random, rows);
    for (uint32_t i = 0; i < m; i++)
        if (rows[i] >= j->first && rows[i] - j->first < x->n_rows)
            gf_ranked_bytes_put_rows(out, x, (uint32_t)(rows[i] - j->first), 1);
    gf_free(rows);
    return gf_buffer_check(out, err);
}

/*
 * k-means of the sample, at rank 0: the centres as bytes, in front of them their number. The parts are
 * released as soon as they are rows.
 */
static gf_status cluster_sample(ranked_job *j, gf_buffer *parts, gf_buffer *out, gf_error *err)
{
    gf_kmeans_options o = *kmeans_of(j);
    gf_refinement chosen; /* its rows are not those of the sample: they are not swept */
    gf_csr x = {0};
    gf_kmeans r = {0};
    gf_status st =
        gf_ranked_bytes_take_rows(parts, gf_ranks_n(j->ranks), j->rows->x->n_cols, &x, err);
    for (unsigned i = 0; i < gf_ranks_n(j->ranks); i++)
        gf_buffer_release(&parts[i]);
    o.start = NULL;
    o.start_k = 0;
    o.start_refined = o.settled = false;
    if (o.refinement) {
        chosen = *o.refinement;
        chosen.count = NULL;
        o.refinement = &chosen;
    }
    if (o.k > j->distinct) o.k = j->distinct;
    if (o.max_rounds == GF_NO_POLISH && kmeans_of(j)->settled) o.max_rounds = 0;
    if (st == GF_OK) st = gf_kmeans_run(j->pool, &x, &o, &r, err);
    gf_csr_release(&x);
    if (st != GF_OK) return st;
    gf_buffer_append(out, &r.k, sizeof r.k);
    for (uint32_t c = 0; c < r.k; c++)
        gf_ranked_bytes_put_centre(out, c, &r.centres.at[c]);
    j->choice = r.choice;
    r.choice = (gf_choice){0};
    gf_kmeans_release(&r);
    return gf_buffer_check(out, err);
}

static gf_status seed_by_sample(ranked_job *j, gf_centres *centres, gf_error *err)
{
    gf_buffer mine = {0}, told = {0}, *parts = NULL;
    uint32_t k;
    tell(j, "sampling", 0, 0);
    gf_status st = draw_sample(j, &mine, err);
    if (st == GF_OK) st = make_buffers(j, &parts, err);
    if (st == GF_OK) st = gf_ranks_gather(j->ranks, 0, gf_buffer_view(&mine), parts, err);
    gf_buffer_release(&mine);
    if (st == GF_OK && gf_ranks_me(j->ranks) == 0) st = cluster_sample(j, parts, &told, err);
    free_buffers(j, parts);
    if (st == GF_OK) st = gf_ranks_send_all(j->ranks, 0, &told, err);
    if (st == GF_OK && told.len < sizeof k)
        st = gf_fail(err, GF_ECORRUPT, "the centres of the sample cannot be read");
    if (st == GF_OK) {
        memcpy(&k, told.ptr, sizeof k);
        st = gf_centres_init(centres, k, j->rows->x->n_cols, err);
    }
    if (st == GF_OK)
        st = gf_ranked_bytes_take_centres(gf_slice_of(told.ptr + sizeof k, told.len - sizeof k),
                                          centres, NULL, err);
    gf_buffer_release(&told);
    return st;
}

static int by_falling_weight(const void *a, const void *b)
{
    const gf_centre *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    if (x->length != y->length) return x->length > y->length ? -1 : 1;
    if (x->n != y->n) return x->n > y->n ? -1 : 1;
    int order = x->n ? memcmp(x->term, y->term, x->n * sizeof *x->term) : 0;
    if (order == 0 && x->n) order = memcmp(x->value, y->value, x->n * sizeof *x->value);
    return order;
}

/*
 * The centres of the clusters that there were: the heaviest, where there are more than are wanted. None
 * where they are fewer: then seeds are found anew.
 */
static gf_status seed_by_start(ranked_job *j, gf_centres *centres, gf_error *err)
{
    const gf_kmeans_options *o = kmeans_of(j);
    const gf_points all = {j->rows->x, NULL};
    uint32_t wanted = o->k < j->distinct ? o->k : j->distinct, full = 0;
    gf_ranked_sums *sums = NULL;
    gf_status st = gf_centres_init(centres, o->start_k, all.x->n_cols, err);
    if (st == GF_OK)
        st = gf_ranked_sums_create(j->ranks, j->pool, o->start_k, all.x->n_cols, &sums, err);
    if (st == GF_OK)
        st = gf_ranked_sums_move(sums, &all, NULL, j->rows->start, centres, NULL, o->cancel, err);
    gf_ranked_sums_free(sums);
    if (st != GF_OK) return st;
    for (uint32_t c = 0; c < centres->k; c++)
        full += centres->at[c].n > 0;
    if (full == o->start_k && full == wanted) return GF_OK;
    qsort(centres->at, centres->k, sizeof *centres->at, by_falling_weight);
    uint32_t kept = full < wanted ? 0 : wanted;
    for (uint32_t c = kept; c < centres->k; c++) {
        gf_free(centres->at[c].term);
        gf_free(centres->at[c].value);
    }
    centres->k = kept;
    return GF_OK;
}

static gf_status seed(ranked_job *j, gf_error *err)
{
    const gf_kmeans_options *o = kmeans_of(j);
    gf_centres centres = {0};
    gf_status st = GF_OK;
    if (o->start_k) st = seed_by_start(j, &centres, err);
    if (st == GF_OK && centres.k == 0) {
        gf_centres_release(&centres);
        st = seed_by_sample(j, &centres, err);
    }
    if (st == GF_OK && centres.k > GF_BRANCHES_ABOVE)
        st = gf_fail(err, GF_EINVAL, "ranks make up to %d clusters, and not %u", GF_BRANCHES_ABOVE,
                     (unsigned)centres.k);
    if (st == GF_OK)
        st = gf_partition_init(&j->p, gf_points_n(&j->points), centres.k, j->rows->x->n_cols, err);
    if (st == GF_OK) {
        gf_centres_release(&j->p.centres);
        j->p.centres = centres;
    } else {
        gf_centres_release(&centres);
    }
    return st;
}

/* ---- passes ----------------------------------------------------------------------------------- */

static bool is_refined(const ranked_job *j)
{
    return j->options->sweeps && gf_refinement_pays(j->n, j->entries, j->p.k);
}

/* Documents whose label is another than before, of all ranks. */
static gf_status count_moved(const ranked_job *j, const uint32_t *before, uint64_t *moved,
                             gf_error *err)
{
    double own = 0;
    for (uint32_t i = 0; i < j->p.n; i++)
        if (before[i] != j->p.label[i]) own += (double)gf_points_weight(&j->points, i);
    *moved = (uint64_t)own;
    return gf_ranks_sum(j->ranks, moved, 1, err);
}

/* The centres become those of the labels, and own similarities those to them. */
static gf_status update(ranked_job *j, gf_ranked_sums *sums, uint32_t *before, bool *changed,
                        gf_error *err)
{
    gf_partition *p = &j->p;
    const gf_cancel *cancel = kmeans_of(j)->cancel;
    gf_status st =
        gf_ranked_sums_move(sums, &j->points, before, p->label, &p->centres, changed, cancel, err);
    if (st == GF_OK)
        st = gf_ranked_sums_score(sums, &j->points, p->label, &p->centres, changed, p->own, cancel,
                                  err);
    if (st == GF_OK && p->n) memcpy(before, p->label, p->n * sizeof *before);
    return st;
}

/* After the first pass, and after each of the others. */
static void keep_account(const ranked_job *j, const gf_ranked_sums *sums, uint64_t moved)
{
    gf_ranked_account *a = j->options->account;
    gf_ranked_sent sent = gf_ranked_sums_sent(sums);
    if (!a) return;
    if (j->passes == 0) {
        *a = (gf_ranked_account){.first_changes = sent.changes, .first_centres = sent.centres};
        for (uint32_t c = 0; c < j->p.k; c++)
            a->centre_entries += j->p.centres.at[c].n;
        return;
    }
    a->later_changes = sent.changes - a->first_changes;
    a->later_centres = sent.centres - a->first_centres;
    a->later_passes = j->passes;
    a->moved += moved;
}

static gf_status make_passes(ranked_job *j, gf_error *err)
{
    gf_partition *p = &j->p;
    const gf_kmeans_options *o = kmeans_of(j);
    unsigned most = o->max_passes ? o->max_passes : DEFAULT_PASSES;
    double tolerance = o->tolerance > 0 ? o->tolerance : DEFAULT_TOLERANCE;
    gf_passes *passes = NULL;
    gf_ranked_sums *sums = NULL;
    gf_pass_report report;
    uint64_t moved;
    if (o->quick && most > QUICK_PASSES) most = QUICK_PASSES;
    if (is_refined(j)) tolerance *= LEFT_TO_SWEEPS;
    uint32_t *before = gf_array(p->n, sizeof *before);
    bool *changed = gf_calloc(p->k, sizeof *changed);
    gf_status st = before && changed ? GF_OK : gf_fail_memory(err, "clusters");
    if (st == GF_OK && p->n) memset(before, 0xff, p->n * sizeof *before);
    if (st == GF_OK)
        st = gf_ranked_sums_create(j->ranks, j->pool, p->k, j->rows->x->n_cols, &sums, err);
    if (st == GF_OK) st = gf_passes_create(j->pool, &j->points, p->k, o->cancel, &passes, err);
    tell(j, "clustering", 0, 0);
    if (st == GF_OK) st = gf_passes_assign_all(passes, p, NULL, &report, err);
    if (st == GF_OK) st = update(j, sums, before, changed, err);
    if (st == GF_OK) keep_account(j, sums, 0);
    while (st == GF_OK && j->passes < most && !j->converged) {
        tell(j, "clustering", j->passes, most);
        st = gf_passes_assign(passes, p, &report, err);
        if (st == GF_OK) st = count_moved(j, before, &moved, err);
        if (st != GF_OK) break;
        j->passes++;
        j->converged = (double)moved <= tolerance * (double)j->n;
        if (moved) st = update(j, sums, before, changed, err);
        if (st == GF_OK) keep_account(j, sums, moved);
    }
    gf_passes_free(passes);
    gf_ranked_sums_free(sums);
    gf_free(before);
    gf_free(changed);
    return st;
}

/* ---- sweeps ----------------------------------------------------------------------------------- */

/* Whether the clusters of the start are refined already: passes would undo that. */
static bool goes_on(const ranked_job *j)
{
    const gf_kmeans_options *o = kmeans_of(j);
    return o->start_k && o->start_k == j->p.k && o->start_refined && is_refined(j);
}

/* The labels of all rows at rank 0, which sweeps; each rank's come back. */
static gf_status sweep(ranked_job *j, uint32_t *label, gf_error *err)
{
    const gf_ranked_options *o = j->options;
    unsigned n = gf_ranks_n(j->ranks);
    uint32_t own = j->rows->x->n_rows;
    gf_buffer *from = NULL, all = {0};
    gf_slice *to = gf_calloc(n, sizeof *to);
    gf_status st = to ? GF_OK : gf_fail_memory(err, "labels");
    tell(j, "sweeping", 0, 0);
    if (st == GF_OK) st = make_buffers(j, &from, err);
    if (st == GF_OK)
        st = gf_ranks_gather(j->ranks, 0, gf_slice_of((char *)label, own * sizeof *label), from,
                             err);
    if (st == GF_OK && gf_ranks_me(j->ranks) == 0) {
        for (unsigned i = 0; i < n; i++) {
            gf_buffer_slice(&all, gf_buffer_view(&from[i]));
            to[i].len = from[i].len;
            gf_buffer_release(&from[i]);
        }
        st = gf_buffer_check(&all, err);
        if (st == GF_OK && all.len != j->n * sizeof *label)
            st = gf_fail(err, GF_ECORRUPT, "labels of other rows came");
        if (st == GF_OK)
            st = o->sweep(o->sweep_context, (uint32_t)j->n, j->p.k, (uint32_t *)(void *)all.ptr,
                          err);
        const char *at = all.ptr;
        for (unsigned i = 0; i < n; at += to[i++].len)
            to[i].ptr = at;
    }
    if (st == GF_OK) st = gf_ranks_deal(j->ranks, to, from, err);
    if (st == GF_OK && from[0].len != own * sizeof *label)
        st = gf_fail(err, GF_ECORRUPT, "labels of other rows came");
    if (st == GF_OK && own) memcpy(label, from[0].ptr, own * sizeof *label);
    gf_buffer_release(&all);
    free_buffers(j, from);
    gf_free(to);
    return st;
}

/* ---- the end ---------------------------------------------------------------------------------- */

/* Labels of all own rows, not only of those that differ. */
static gf_status label_rows(const ranked_job *j, bool from_start, uint32_t *label, gf_error *err)
{
    const uint32_t *start = j->rows->start;
    for (uint32_t i = 0; i < j->rows->x->n_rows; i++) {
        label[i] = j->p.label[j->fold.point_of[i]];
        if (from_start && start[i] < j->p.k) label[i] = start[i];
        if (label[i] >= j->p.k) return gf_fail(err, GF_ECORRUPT, "a row has no cluster");
    }
    return GF_OK;
}

/* The centres become the sums of their rows, or of those that sweeps give them. */
static gf_status sum_again(ranked_job *j, bool from_start, gf_error *err)
{
    const gf_kmeans_options *o = kmeans_of(j);
    const gf_points all = {j->rows->x, NULL};
    gf_ranked_sums *sums = NULL;
    if (!is_refined(j)) return GF_OK; /* passes end with the sums */
    uint32_t *label = gf_array(all.x->n_rows, sizeof *label);
    gf_status st = label ? GF_OK : gf_fail_memory(err, "labels");
    if (st == GF_OK) st = label_rows(j, from_start, label, err);
    if (st == GF_OK && !(o->settled && from_start)) st = sweep(j, label, err);
    if (st == GF_OK)
        st = gf_ranked_sums_create(j->ranks, j->pool, j->p.k, all.x->n_cols, &sums, err);
    if (st == GF_OK)
        st = gf_ranked_sums_move(sums, &all, NULL, label, &j->p.centres, NULL, o->cancel, err);
    gf_ranked_sums_free(sums);
    gf_free(label);
    return st;
}

/* Over the centres as they are kept: again where a cluster lost all its rows. */
static gf_status assign_last(ranked_job *j, uint32_t *runner_up, double *weight, uint32_t *number,
                             gf_error *err)
{
    gf_partition *p = &j->p;
    gf_status st = GF_OK;
    uint64_t *count = gf_array(p->k, sizeof *count);
    if (!count) return gf_fail_memory(err, "clusters");
    for (bool dropped = true; st == GF_OK && dropped;) {
        st = gf_assign_rows(j->pool, &j->points, p, runner_up, kmeans_of(j)->cancel, err);
        if (st != GF_OK) break;
        memset(weight, 0, p->k * sizeof *weight);
        for (uint32_t i = 0; i < p->n; i++)
            weight[p->label[i]] += (double)gf_points_weight(&j->points, i);
        for (uint32_t c = 0; c < p->k; c++)
            count[c] = (uint64_t)weight[c];
        st = gf_ranks_sum(j->ranks, count, p->k, err);
        for (uint32_t c = 0; c < p->k; c++)
            weight[c] = (double)count[c];
        if (st == GF_OK) dropped = gf_number_clusters_drop_empty(p, weight, number);
    }
    gf_free(count);
    return st;
}

/* From distinct rows to all of this rank. */
static gf_status spread(const ranked_job *j, const uint32_t *runner_up, const uint32_t *number,
                        gf_kmeans *r, gf_error *err)
{
    const gf_partition *p = &j->p;
    bool has_second = p->k > 1;
    int64_t scores = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t point = j->fold.point_of[i];
        r->label[i] = number[p->label[point]];
        r->score[i] = gf_at_most_1(p->own[point]);
        r->runner_up[i] = has_second ? number[runner_up[point]] : GF_NO_CLUSTER;
        r->second[i] = has_second ? gf_at_most_1(p->other[point]) : 0;
        scores += gf_grid_score((double)r->score[i]);
    }
    uint64_t all = (uint64_t)scores;
    gf_status st = gf_ranks_sum(j->ranks, &all, 1, err);
    r->objective = gf_grid_sum((int64_t)all);
    return st;
}

static gf_status finish(ranked_job *j, gf_kmeans *out, gf_error *err)
{
    gf_partition *p = &j->p;
    gf_kmeans r = {.n = j->rows->x->n_rows,
                   .distinct = j->distinct,
                   .passes = j->passes,
                   .restarts = 1,
                   .converged = j->converged};
    uint32_t *runner_up = gf_array(p->n, sizeof *runner_up);
    uint32_t *number = gf_array(p->k, sizeof *number);
    double *weight = gf_array(p->k, sizeof *weight);
    r.label = gf_array(r.n, sizeof *r.label);
    r.score = gf_array(r.n, sizeof *r.score);
    r.runner_up = gf_array(r.n, sizeof *r.runner_up);
    r.second = gf_array(r.n, sizeof *r.second);
    bool ok = runner_up && number && weight && r.label && r.score && r.runner_up && r.second;
    gf_status st = ok ? GF_OK : gf_fail_memory(err, "clusters");
    tell(j, "assigning", 0, 0);
    if (st == GF_OK) st = assign_last(j, runner_up, weight, number, err);
    if (st == GF_OK) st = gf_number_clusters_order(p, weight, number, &r.centres, err);
    r.k = p->k;
    if (st == GF_OK) st = spread(j, runner_up, number, &r, err);
    if (st == GF_OK) {
        r.choice = j->choice;
        j->choice = (gf_choice){0};
        *out = r;
    } else {
        gf_kmeans_release(&r);
    }
    gf_free(runner_up);
    gf_free(number);
    gf_free(weight);
    return st;
}

/* ---- the whole -------------------------------------------------------------------------------- */

gf_status gf_ranked_run(gf_ranks *ranks, gf_pool *pool, const gf_ranked_rows *rows,
                        const gf_ranked_options *options, gf_kmeans *out, gf_error *err)
{
    ranked_job j = {.ranks = ranks, .pool = pool, .rows = rows, .options = options};
    assert(options->kmeans.start_k == 0 || rows->start);
    gf_status st = count_rows(&j, err);
    if (st == GF_OK) st = gf_fold_rows_up_to(pool, rows->x, GF_FOLD_EXACT, &j.fold, err);
    if (st == GF_OK) {
        j.points = gf_fold_points(&j.fold, rows->x);
        st = count_distinct(&j, err);
    }
    if (st == GF_OK) st = seed(&j, err);
    bool keeps = st == GF_OK && goes_on(&j);
    if (st == GF_OK && keeps)
        st = gf_assign_rows(pool, &j.points, &j.p, NULL, options->kmeans.cancel, err);
    else if (st == GF_OK)
        st = make_passes(&j, err);
    if (st == GF_OK) st = sum_again(&j, keeps, err);
    if (st == GF_OK) st = finish(&j, out, err);
    gf_partition_release(&j.p);
    gf_free(j.choice.steps);
    gf_fold_release(&j.fold);
    return st;
}
