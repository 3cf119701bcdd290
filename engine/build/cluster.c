#include "engine/build/cluster.h"

#include "base/memory.h"
#include "cluster/dense/lsa.h"
#include "cluster/likeliest.h"
#include "cluster/measure/match.h"
#include "cluster/stream/minibatch.h"
#include "engine/build/once.h"
#include "engine/build/topics.h"
#include "engine/ranks/cluster.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Growth or shrinkage of the documents, as a factor, beyond which k and clusters settle anew. */
enum { MOST_GROWTH = 2, MOST_REFINED_GROWTH = 4 };

/* Sweeps of the refinement where effort=quick. */
enum { QUICK_SWEEPS = 3 };

_Static_assert(GF_UNMATCHED == GF_NO_CLUSTER, "previous clusters are labels to begin with");

/* ---- the result ------------------------------------------------------------------------------ */

void gf_build_clustered_release(gf_build_clustered *c)
{
    gf_kmeans_release(&c->kmeans);
    gf_centres_release(&c->term_centres);
    gf_free(c->row_of);
    gf_free(c->matrix_row);
    gf_term_vectors_release(&c->words);
    gf_free(c->dense);
    gf_free(c->members);
    gf_free(c->start);
    gf_free(c->topic);
    gf_free(c->topic_lost);
    gf_free(c->once);
    gf_centres_release(&c->background);
    gf_free(c->unplaced);
    *c = (gf_build_clustered){0};
}

const gf_centres *gf_build_clustered_terms(const gf_build_clustered *c)
{
    return c->term_centres.at ? &c->term_centres : &c->kmeans.centres;
}

/* ---- the rows that have terms ---------------------------------------------------------------- */

/*
 * The matrix without its empty rows: those have no entries, so only the row starts change. *x
 * borrows columns and values.
 */
static gf_status drop_empty_rows(const gf_vectors *v, gf_csr *x, uint32_t **row_of, gf_error *err)
{
    uint32_t n = v->x.n_rows - v->n_empty, at = 0;
    uint64_t *start = gf_array((size_t)n + 1, sizeof *start);
    uint32_t *rows = gf_array(n, sizeof *rows);
    if (!start || !rows) {
        gf_free(start);
        gf_free(rows);
        return gf_fail_memory(err, "rows");
    }
    start[0] = 0;
    for (uint32_t i = 0; i < v->x.n_rows; i++) {
        if (v->kind[i] == GF_ROW_EMPTY) continue;
        rows[at++] = i;
        start[at] = v->x.start[i + 1];
    }
    *x = (gf_csr){n, v->x.n_cols, start, v->x.col, v->x.val};
    *row_of = rows;
    return GF_OK;
}

/* ---- members --------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b, void *context)
{
    const gf_kmeans *c = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (c->score[x] > c->score[y]) return -1;
    if (c->score[x] < c->score[y]) return 1;
    return x < y ? -1 : x > y;
}

static gf_status rank_task(void *context, size_t cluster, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    gf_build_clustered *c = context;
    qsort_r(c->members + c->start[cluster], gf_build_clustered_size(c, (uint32_t)cluster),
            sizeof *c->members, by_rank, &c->kmeans);
    return GF_OK;
}

/* List the rows of each cluster, best first. */
gf_status gf_build_rank(const gf_build_plan *plan, gf_pool *pool, gf_build_clustered *out,
                        gf_error *err)
{
    if (out->kmeans.k == 0) return GF_OK;
    const gf_kmeans *c = &out->kmeans;
    uint32_t *members = out->members = gf_array(c->n, sizeof *members);
    uint32_t *start = out->start = gf_calloc((size_t)c->k + 1, sizeof *start);
    if (!members || !start) return gf_fail_memory(err, "cluster members");
    for (uint32_t i = 0; i < c->n; i++)
        start[c->label[i] + 1]++;
    for (uint32_t k = 0; k < c->k; k++)
        start[k + 1] += start[k];
    for (uint32_t i = 0; i < c->n; i++)
        members[start[c->label[i]]++] = i;
    for (uint32_t k = c->k; k > 0; k--)
        start[k] = start[k - 1];
    start[0] = 0;
    assert(start[c->k] == c->n);
    return gf_pool_run(pool, c->k, rank_task, out, plan->options->cancel, err);
}

/* ---- where to begin -------------------------------------------------------------------------- */

static bool starts_served(const gf_build_plan *plan, uint32_t served_k)
{
    if (served_k == 0) return false;
    return plan->options->start == GF_START_CONFIGURED ? plan->settings.start_served
                                                       : plan->options->start == GF_START_SERVED;
}

static bool is_within(uint64_t n, uint64_t then, uint64_t growth)
{
    return n <= then * growth && then <= n * growth;
}

/* About as many documents as then, which is 0 where there is nothing to compare. */
static bool is_alike(uint64_t n, uint64_t then)
{
    return is_within(n, then, MOST_GROWTH);
}

/* By the choice where the documents are not alike; k=auto must have chosen the served number. */
static bool keeps_k(const gf_build_plan *plan, uint64_t n, const gf_choice *choice, uint32_t k)
{
    return plan->served_distinct &&
           (is_alike(n, plan->served_distinct) || gf_choice_keeps(choice, k));
}

/* The served number of clusters, as far as max_k allows it. */
static uint32_t within_max_k(const gf_kmeans_options *o, uint32_t served_k)
{
    return o->max_k && o->max_k < served_k ? o->max_k : served_k;
}

/*
 * Set an open k. The served number is kept while the documents are about as many as when it was
 * chosen, and then while it is nearly as good as the best: else clusters would come and go because
 * a curve is flat.
 */
static gf_status choose_again(const gf_build_plan *plan, gf_pool *pool, const gf_csr *x, uint32_t n,
                              uint32_t served_k, gf_kmeans_options *o, gf_build_clustered *out,
                              bool *keeps, gf_error *err)
{
    gf_choice choice = {0};
    gf_status st = GF_OK;
    bool alike = is_alike(n, plan->served_distinct);
    uint32_t kept = within_max_k(o, served_k);
    *keeps = alike;
    if (!alike && !x) return GF_OK;
    o->reach = kept;
    if (!alike) st = gf_kmeans_choose(pool, x, o, &choice, err);
    if (st == GF_OK) {
        *keeps = keeps_k(plan, n, &choice, kept);
        o->k = *keeps ? kept : choice.k;
        if (alike) out->chosen_for = plan->served_distinct;
    }
    gf_free(choice.steps);
    return st;
}

/* Are the served clusters of k still settled? As they were made: refined, or by k-means alone. */
static bool is_settled(const gf_build_plan *plan, uint32_t n_rows)
{
    bool refine = plan->settings.refine;
    return plan->served_refined == refine &&
           is_within(n_rows, plan->served_settled, refine ? MOST_REFINED_GROWTH : MOST_GROWTH);
}

/*
 * A given k, as edits have changed it: the clusters that merges ended are not filled up again, and parts
 * of splits are beside the k. Where k is another than the served build's, it is what it says.
 */
static uint32_t edited_k(const gf_build_plan *plan, uint32_t k, uint32_t served_k)
{
    uint64_t ended = 0, added = 0;
    for (size_t i = 0; i < plan->edits.n && plan->same_k; i++) {
        const gf_edit *e = &plan->edits.at[i].edit;
        if (e->kind == GF_EDIT_MERGE) ended += e->n_others;
        if (e->kind == GF_EDIT_SPLIT) added += e->n_others;
    }
    /* Edits that were taken back are undone behind the clustering. */
    for (size_t i = 0; i < plan->edits.n_back && plan->same_k; i++) {
        const gf_edit *e = &plan->edits.back[i].edit;
        if (e->kind == GF_EDIT_MERGE) ended += e->n_others;
        if (e->kind == GF_EDIT_SPLIT) added += e->n_others;
    }
    uint64_t least = ended < k ? k - ended : 1, most = k + added;
    return served_k < least ? (uint32_t)least : served_k < most ? served_k : (uint32_t)most;
}

/*
 * Candidates to begin with beside the served clusters, where k is open: each that has rows here which no served
 * cluster has gets a number behind those, as far as max_k goes. label: n_rows.
 */
static gf_status start_candidates(const gf_build_previous *previous, const uint32_t *row_of,
                                  uint32_t n_rows, uint32_t most, uint32_t *label,
                                  uint32_t *started, gf_error *err)
{
    *started = 0;
    if (!previous->candidate || most == 0) return GF_OK;
    uint32_t *number = gf_array(previous->candidates.n, sizeof *number);
    if (!number) return gf_fail_memory(err, "candidates");
    for (size_t c = 0; c < previous->candidates.n; c++)
        number[c] = GF_UNMATCHED;
    for (uint32_t p = 0; p < n_rows; p++) {
        uint32_t c = previous->candidate[row_of[p]];
        if (c == GF_UNMATCHED || label[p] != GF_UNMATCHED) continue;
        if (number[c] == GF_UNMATCHED && *started < most) number[c] = previous->k + (*started)++;
        label[p] = number[c];
    }
    gf_free(number);
    return GF_OK;
}

/*
 * Clusters that go on do so as they are: only where the documents are twice as many as when they
 * settled last, or half (four times as many, or a quarter, where they were refined), do they settle
 * again. Polish moves a row where its going
 * gains, though another centre is nearer, and the last assignment takes it back; sweeps begin from
 * clusters that the last assignment has changed. Each time anew, the same documents would leave and
 * return for ever.
 */
gf_status gf_build_start_from_previous(const gf_build_plan *plan, gf_pool *pool, const gf_csr *x,
                                       const gf_build_previous *previous, uint32_t n_rows,
                                       gf_build_clustered *out, gf_kmeans_options *o,
                                       uint32_t **start, gf_error *err)
{
    bool continues = true, open = o->k == 0;
    uint32_t started = 0, most = 0;
    out->chosen_for = o->k ? 0 : n_rows;
    out->settled_for = n_rows;
    if (!starts_served(plan, previous->k)) return GF_OK;
    if (o->k == 0) {
        gf_status st = choose_again(plan, pool, x, n_rows, previous->k, o, out, &continues, err);
        if (st != GF_OK || !continues) return st;
    } else {
        o->k = edited_k(plan, o->k, previous->k);
    }
    uint32_t *label = gf_array(n_rows, sizeof *label);
    if (!label) return gf_fail_memory(err, "the served clusters");
    for (uint32_t p = 0; p < n_rows; p++)
        label[p] = previous->cluster[out->row_of[p]];
    if (open && o->k == previous->k)
        most = o->max_k > o->k ? o->max_k - o->k : o->max_k ? 0 : UINT32_MAX - o->k;
    gf_status st = start_candidates(previous, out->row_of, n_rows, most, label, &started, err);
    if (st != GF_OK) {
        gf_free(label);
        return st;
    }
    o->k += started;
    if (o->k == previous->k + started && is_settled(plan, n_rows)) {
        o->max_rounds = GF_NO_POLISH;
        o->settled = true;
        out->settled_for = plan->served_settled;
    }
    o->start_k = previous->k + started;
    o->start_refined = plan->served_refined;
    out->continued = true;
    *start = label;
    return GF_OK;
}

/*
 * Begin from clusters of latent semantic analysis: a label for each row, to be freed. An open k is
 * chosen over the terms, as without the analysis.
 */
static gf_status start_from_lsa(gf_pool *pool, const gf_csr *x, uint32_t dimensions,
                                gf_kmeans_options *o, uint32_t **start, gf_error *err)
{
    if (o->k == 0) {
        gf_choice choice = {0};
        gf_status st = gf_kmeans_choose(pool, x, o, &choice, err);
        if (st == GF_OK) o->k = choice.k;
        gf_free(choice.steps);
        if (st != GF_OK) return st;
    }
    uint32_t *label = gf_array(x->n_rows, sizeof *label);
    if (!label) return gf_fail_memory(err, "clusters");
    gf_status st = gf_lsa_clusters(pool, x, dimensions, GF_LSA_ROWS, o, label, &o->start_k, err);
    if (st == GF_OK)
        *start = label;
    else
        gf_free(label);
    return st;
}

/* ---- clustering ------------------------------------------------------------------------------ */

static void report_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    gf_build_plan_progress(context, phase, done, total);
}

static gf_kmeans_options kmeans_options(const gf_build_plan *plan)
{
    const gf_resolved *s = &plan->settings;
    return (gf_kmeans_options){.k = s->k,
                               .max_k = s->max_k,
                               .seed = s->seed,
                               .restarts = s->restarts,
                               .max_passes = s->max_passes,
                               .max_rounds = s->polish ? 0 : GF_NO_POLISH,
                               .tolerance = s->tolerance > 0 ? s->tolerance : DBL_MIN,
                               .quick = s->quick,
                               .cancel = plan->options->cancel,
                               .progress = report_progress,
                               .progress_context = (void *)plan /* only read */};
}

/* ---- refinement ------------------------------------------------------------------------------ */

/* The refinement of a plan's rows; the owner frees `factor`. */
typedef struct term_counts {
    gf_refinement refinement;
    float *factor;
    const gf_weights *weights;
    const gf_vectors *vectors;
    const uint32_t *row_of; /* rows of the matrix without empty ones */
} term_counts;

static void count_terms(void *context, uint32_t row, gf_row_view view, uint8_t *count)
{
    const term_counts *c = context;
    bool plain = c->vectors->kind[c->row_of[row]] == GF_ROW_PLAIN;
    gf_weights_read_counts(c->weights, plain ? c->vectors->vocabulary.idf : NULL, view,
                           GF_MIXTURE_REPEATS, count);
}

/* k is chosen over rows whose idf has not the power of 1.5. */
static gf_status refine_terms(const gf_build_plan *plan, const gf_vectors *v,
                              const uint32_t *row_of, term_counts *c, gf_kmeans_options *o,
                              gf_error *err)
{
    if (!plan->settings.refine) return GF_OK;
    c->weights = &plan->settings.vectorizer.weights;
    c->vectors = v;
    c->row_of = row_of;
    if (gf_weight_is_sharp_idf(v->vocabulary.idf_kind)) {
        c->factor = gf_array(v->vocabulary.n_terms, sizeof *c->factor);
        if (!c->factor) return gf_fail_memory(err, "term weights");
        for (uint32_t t = 0; t < v->vocabulary.n_terms; t++)
            c->factor[t] = (float)(1 / cbrt(v->vocabulary.idf[t]));
    }
    c->refinement = (gf_refinement){.factor = c->factor,
                                    .count = count_terms,
                                    .context = c,
                                    .sweeps = plan->settings.quick ? QUICK_SWEEPS : 0};
    o->refinement = &c->refinement;
    return GF_OK;
}

/* k-means of rows whose documents out->row_of says, each of which counts. */
static gf_status cluster_counted(const gf_build_plan *plan, gf_pool *pool,
                                 const gf_build_gathered *documents, const gf_csr *x,
                                 const gf_build_previous *previous, gf_kmeans_options *o,
                                 gf_build_clustered *out, gf_error *err)
{
    uint32_t *start = NULL;
    term_counts counts = {.factor = NULL};
    gf_status st = refine_terms(plan, &documents->vectors, out->row_of, &counts, o, err);
    /* Clusters of rows that were none of texts are no start for texts. */
    bool goes_on = plan->served.rows == GF_ROWS_OF_TEXTS || plan->options->start == GF_START_SERVED;
    bool held = !plan->by_ranks && !plan->spills; /* else their number alone is here */
    if (st == GF_OK && goes_on)
        st = gf_build_start_from_previous(plan, pool, held ? x : NULL, previous, x->n_rows, out, o,
                                          &start, err);
    else
        out->chosen_for = o->k ? 0 : x->n_rows, out->settled_for = x->n_rows;
    /* More starts are for new clusters alone, of rows that are held and whose words are counted. */
    bool thorough = plan->settings.thorough && o->refinement && !start && !plan->spills;
    if (st == GF_OK && !start && plan->settings.lsa && !plan->spills)
        st = start_from_lsa(pool, x, plan->settings.lsa, o, &start, err);
    o->start = start;
    if (st == GF_OK && plan->spills) {
        gf_row_file rows = {x->n_rows, x->n_cols, x->start, x->start[x->n_rows],
                            documents->vectors.entries};
        gf_minibatch_options options = {*o, plan->memory.sample};
        st = plan->by_ranks ? gf_ranks_cluster(documents->ranks, pool, &rows, o, &out->kmeans, err)
                            : gf_minibatch_run(pool, &rows, &options, &out->kmeans, err);
    } else if (st == GF_OK && thorough) {
        st = gf_kmeans_run_likeliest(pool, x, o, &out->kmeans, err);
    } else if (st == GF_OK) {
        st = gf_kmeans_run(pool, x, o, &out->kmeans, err);
    }
    gf_free(counts.factor);
    gf_free(start);
    return st;
}

/* The same, where near-duplicates may count once. */
static gf_status cluster_rows(const gf_build_plan *plan, gf_pool *pool,
                              const gf_build_gathered *documents, const gf_csr *x,
                              const gf_build_previous *previous, gf_kmeans_options *o,
                              gf_build_clustered *out, gf_error *err)
{
    gf_build_once once = {0};
    gf_status st = GF_OK;
    assert(!plan->settings.near_once || !plan->spills); /* gf_build_plan_memory refuses it */
    if (plan->settings.near_once)
        st = gf_build_once_find(plan, pool, documents, x, out->row_of, out, &once, err);
    if (st == GF_OK && once.x.n_rows) {
        uint32_t *row_of = out->row_of;
        out->row_of = once.row_of;
        st = cluster_counted(plan, pool, documents, &once.x, previous, o, out, err);
        out->row_of = row_of;
        if (st == GF_OK) st = gf_build_once_join(plan, pool, x, &once, &out->kmeans, err);
    } else if (st == GF_OK) {
        st = cluster_counted(plan, pool, documents, x, previous, o, out, err);
    }
    gf_build_once_release(&once);
    return st;
}

/*
 * The served clusters as those of the documents that no topic took: of topics there are none among them, nor
 * such whose documents all went to topics.
 */
static gf_status leave_topics_out(const gf_build_plan *plan, const gf_build_previous *previous,
                                  const uint32_t *row_of, uint32_t n, uint32_t n_documents,
                                  gf_build_previous *out, gf_error *err)
{
    out->cluster = gf_array(n_documents, sizeof *out->cluster);
    out->ids = gf_array(previous->k, sizeof *out->ids);
    uint32_t *map = gf_calloc((size_t)previous->k + 1, sizeof *map);
    if (!out->cluster || !out->ids || !map) {
        gf_free(map);
        return gf_fail_memory(err, "the served clusters");
    }
    for (uint32_t r = 0; r < n; r++) {
        uint32_t c = previous->cluster[row_of[r]];
        if (c != GF_UNMATCHED) map[c] = 1;
    }
    for (uint32_t c = 0; c < previous->k; c++) {
        bool stays = map[c] && gf_edits_topic_of(&plan->edits, previous->ids[c]) == plan->edits.n;
        map[c] = stays ? out->k : GF_UNMATCHED;
        if (stays) out->ids[out->k++] = previous->ids[c];
    }
    for (uint32_t i = 0; i < n_documents; i++)
        out->cluster[i] =
            previous->cluster[i] == GF_UNMATCHED ? GF_UNMATCHED : map[previous->cluster[i]];
    gf_free(map);
    return GF_OK;
}

/* Rows of texts by topics first, then those that no topic took by k-means, then all by the nearest centre. */
static gf_status cluster_by_topics(const gf_build_plan *plan, gf_pool *pool,
                                   const gf_build_gathered *documents, const gf_csr *x,
                                   const gf_build_previous *previous, gf_kmeans_options *o,
                                   gf_build_clustered *out, gf_error *err)
{
    gf_build_grown grown = {.n = 0};
    gf_build_previous others = {.candidate = previous->candidate,
                                .candidates.n = previous->candidates.n};
    uint32_t *row_of = out->row_of;
    out->row_of = NULL;
    gf_status st = gf_build_topics_grow(plan, pool, documents, x, row_of, o, out, &grown, err);
    if (st == GF_OK && grown.n == 0) {
        out->row_of = row_of;
        row_of = NULL;
        st = cluster_rows(plan, pool, documents, x, previous, o, out, err);
    } else if (st == GF_OK) {
        out->chosen_for = plan->served_distinct;
        out->settled_for = plan->served_settled;
        out->row_of = grown.rest_of;
        grown.rest_of = NULL;
        if (grown.rest.n_rows && previous->k)
            st = leave_topics_out(plan, previous, out->row_of, grown.rest.n_rows, documents->n,
                                  &others, err);
        if (st == GF_OK && grown.rest.n_rows)
            st = cluster_rows(plan, pool, documents, &grown.rest, &others, o, out, err);
        gf_free(out->row_of);
        out->row_of = NULL;
        if (st == GF_OK) st = gf_build_topics_join(plan, pool, x, &row_of, &grown, out, err);
    }
    gf_free(row_of);
    others.candidate = NULL; /* borrowed */
    gf_build_previous_release(&others);
    gf_build_grown_release(&grown);
    return st;
}

static gf_status cluster_texts(const gf_build_plan *plan, gf_pool *pool,
                               const gf_build_gathered *documents,
                               const gf_build_previous *previous, gf_kmeans_options *o,
                               gf_build_clustered *out, gf_error *err)
{
    gf_csr x = {0};
    gf_status st = drop_empty_rows(&documents->vectors, &x, &out->row_of, err);
    if (st == GF_OK && (gf_build_topics_hold(plan) || plan->settings.only_topics))
        st = cluster_by_topics(plan, pool, documents, &x, previous, o, out, err);
    else if (st == GF_OK)
        st = cluster_rows(plan, pool, documents, &x, previous, o, out, err);
    gf_free(x.start);
    return st;
}

gf_status gf_build_cluster(const gf_build_plan *plan, gf_pool *pool,
                           const gf_build_gathered *documents, const gf_build_previous *previous,
                           gf_build_clustered *out, gf_error *err)
{
    const gf_vectors *v = &documents->vectors;
    gf_kmeans_options o = kmeans_options(plan);
    bool of_vectors = plan->matrix || plan->settings.word_vectors.len;
    gf_status st = GF_OK;
    if (of_vectors && plan->settings.only_topics)
        return gf_fail(
            err, GF_EINVAL,
            "topics are described by words, which clusters of vectors have not: set topics=auto");
    if (of_vectors && plan->settings.near_once)
        return gf_fail(
            err, GF_EINVAL,
            "near-duplicates are found by words, which clusters of vectors have not: set "
            "near_duplicates=all");
    if (of_vectors && gf_build_topics_hold(plan))
        st = gf_build_topics_lose(plan, "clusters of vectors have no words to describe it by", out,
                                  err);
    if (st != GF_OK) return st;
    if (plan->matrix) {
        st = gf_build_cluster_matrix(plan, pool, documents, previous, &o, out, err);
    } else if (v->x.n_rows == v->n_empty) {
        out->chosen_for = plan->served_distinct;
        out->settled_for = plan->served_settled;
        return GF_OK; /* nothing to cluster: a build without clusters */
    } else if (plan->settings.word_vectors.len) {
        st = gf_build_cluster_words(plan, pool, documents, previous, &o, out, err);
    } else {
        st = cluster_texts(plan, pool, documents, previous, &o, out, err);
    }
    return st;
}

gf_status gf_build_choose_k(const gf_build_plan *plan, gf_pool *pool,
                            const gf_build_gathered *documents, gf_choice *choice, uint32_t *kept,
                            gf_error *err)
{
    const gf_vectors *v = &documents->vectors;
    gf_csr x = {0};
    uint32_t *row_of = NULL;
    if (v->x.n_rows == v->n_empty) return GF_OK;
    gf_kmeans_options o = kmeans_options(plan);
    uint32_t served = plan->settings.k ? 0 : (uint32_t)plan->served.k;
    served = within_max_k(&o, served);
    if (starts_served(plan, served)) o.reach = served;
    term_counts counts = {.factor = NULL};
    gf_build_once once = {0};
    gf_status st = drop_empty_rows(v, &x, &row_of, err);
    if (st == GF_OK && plan->settings.near_once && !plan->spills)
        st = gf_build_once_find(plan, pool, documents, &x, row_of, NULL, &once, err);
    const gf_csr *counted = once.x.n_rows ? &once.x : &x;
    if (st == GF_OK)
        st = refine_terms(plan, v, once.x.n_rows ? once.row_of : row_of, &counts, &o, err);
    if (st == GF_OK) st = gf_kmeans_choose(pool, counted, &o, choice, err);
    if (st == GF_OK && o.reach && keeps_k(plan, counted->n_rows, choice, served)) *kept = served;
    gf_build_once_release(&once);
    gf_free(counts.factor);
    gf_free(row_of);
    gf_free(x.start);
    return st;
}
