#include "cluster/known/known.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Shares of all rows that the topics take together in the first rounds; then they take all that
 * come to them.
 */
static const double shares[] = {.02, .05, .1, .2, .4, .7};

enum {
    FIRST_ROUNDS = sizeof shares / sizeof *shares,
    MOST_ROUNDS = 20,
    LEAST_TAKEN = 5, /* rows of each topic, where so many come */
    LEAST_EXAMPLES = 3,
    FIRST_ROWS = 20 /* most similar to what describes a topic of fewer examples */
};

static const double settled = .001; /* share of the rows that may still change at the end */

/*
 * The weight of a row's similarity to its cluster against a topic: words mean a subject, while a few examples may
 * stand for a class of many, whose clusters they would not outweigh.
 */
static const float of_words = 1, of_examples = .3f;

typedef struct growing {
    const gf_points *points;
    const gf_known_topics *topics;
    const gf_cancel *cancel;
    uint32_t n, none; /* rows; the background's place among the centres, the topics' number */
    float *
        strength; /* topics: what the similarity of a row to its cluster counts against the topic; NULL: there
                         are no clusters */
    bool *beside; /* topics->n_clusters: whether the cluster is no topic's own */
    gf_pool *pool;
    gf_passes *passes;
    gf_partition partition; /* by the topics and the background */
    gf_centre_summer *summer;
    uint32_t *taken;       /* n: the topic that has taken the row, or none */
    uint32_t *start, *row; /* none + 2, n: rows by the centre that they came to */
    bool *sums;            /* none + 1: the centres that are summed anew */
    size_t share;          /* rows that each topic may take */
} growing;

void gf_known_release(gf_known *k)
{
    gf_free(k->label);
    gf_free(k->score);
    gf_centres_release(&k->centres);
    *k = (gf_known){0};
}

static void release(growing *g)
{
    gf_passes_free(g->passes);
    gf_partition_release(&g->partition);
    gf_centre_summer_free(g->summer);
    gf_free(g->taken);
    gf_free(g->start);
    gf_free(g->row);
    gf_free(g->sums);
    gf_free(g->beside);
    gf_free(g->strength);
}

static gf_status make_room(growing *g, gf_error *err)
{
    uint32_t n_terms = g->points->x->n_cols, k = g->none + 1;
    g->taken = gf_array(g->n, sizeof *g->taken);
    g->start = gf_array((size_t)k + 1, sizeof *g->start);
    g->row = gf_array(g->n, sizeof *g->row);
    g->sums = gf_calloc(k, sizeof *g->sums);
    if (!g->taken || !g->start || !g->row || !g->sums) return gf_fail_memory(err, "known topics");
    gf_status st = gf_partition_init(&g->partition, g->n, k, n_terms, err);
    if (st == GF_OK) st = gf_passes_create(g->pool, g->points, k, g->cancel, &g->passes, err);
    return st == GF_OK ? gf_centre_summer_create(g->pool, g->n, n_terms, k, &g->summer, err) : st;
}

static uint32_t example_of(const growing *g, uint32_t row)
{
    return g->topics->example ? g->topics->example[row] : GF_NO_TOPIC;
}

/* ---- clusters beside the topics --------------------------------------------------------------- */

typedef struct owning {
    const growing *g;
    const uint32_t *start, *row; /* topics + 1; examples by topic */
    _Atomic bool *own;           /* clusters: some topic's own */
} owning;

typedef struct first_row {
    double similarity;
    uint32_t row;
} first_row;

/* The rows that are most similar to what describes a topic; *n of FIRST_ROWS. */
static gf_status find_first(const owning *o, uint32_t topic, uint32_t *rows, uint32_t *n,
                            gf_error *err)
{
    const gf_csr *x = o->g->points->x, *words = o->g->topics->words;
    first_row first[FIRST_ROWS];
    double *sum = gf_calloc((size_t)x->n_cols + 1, sizeof *sum);
    if (!sum) return gf_fail_memory(err, "known topics");
    for (uint32_t w = 0; words && w < words->n_rows; w++) {
        gf_row_view row = gf_csr_row(words, w);
        for (uint32_t e = 0; e < row.n && o->g->topics->words_of[w] == topic; e++)
            sum[row.col[e]] += (double)row.val[e];
    }
    for (uint32_t i = o->start[topic]; i < o->start[topic + 1]; i++) {
        gf_row_view row = gf_csr_row(x, o->row[i]);
        for (uint32_t e = 0; e < row.n; e++)
            sum[row.col[e]] += (double)row.val[e];
    }
    *n = 0;
    for (uint32_t i = 0; i < o->g->n; i++) {
        gf_row_view row = gf_csr_row(x, i);
        double dot = 0;
        for (uint32_t e = 0; e < row.n; e++)
            dot += (double)row.val[e] * sum[row.col[e]];
        if (!(dot > 0) || (*n == FIRST_ROWS && dot <= first[*n - 1].similarity)) continue;
        uint32_t at = *n < FIRST_ROWS ? (*n)++ : FIRST_ROWS - 1;
        for (; at > 0 && first[at - 1].similarity < dot; at--)
            first[at] = first[at - 1];
        first[at] = (first_row){dot, i};
    }
    for (uint32_t i = 0; i < *n; i++)
        rows[i] = first[i].row;
    gf_free(sum);
    return GF_OK;
}

/* Clusters that at least a third of a topic's examples, or first rows, are in are its own. */
static gf_status own_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    owning *o = context;
    const gf_known_topics *t = o->g->topics;
    uint32_t topic = (uint32_t)index, first[FIRST_ROWS];
    uint32_t n = o->start[topic + 1] - o->start[topic];
    const uint32_t *rows = o->row + o->start[topic];
    uint32_t *votes = gf_calloc(t->n_clusters, sizeof *votes);
    gf_status st = votes ? GF_OK : gf_fail_memory(err, "known topics");
    (void)worker;
    if (st == GF_OK && n < LEAST_EXAMPLES) {
        st = find_first(o, topic, first, &n, err);
        rows = first;
    }
    for (uint32_t i = 0; st == GF_OK && i < n; i++) {
        uint32_t c = t->cluster_of[rows[i]];
        if (3 * ++votes[c] >= n) o->own[c] = true;
    }
    gf_free(votes);
    return st;
}

/* Clusters stand beside the topics where they are no topic's own. */
static gf_status choose_clusters(growing *g, gf_error *err)
{
    const gf_known_topics *t = g->topics;
    if (t->all || t->n_clusters == 0) return GF_OK;
    uint32_t *topic_of = gf_array(g->n, sizeof *topic_of), *row = gf_array(g->n, sizeof *row);
    uint32_t *start = gf_array((size_t)g->none + 2, sizeof *start);
    _Atomic bool *own = gf_calloc(t->n_clusters, sizeof *own);
    g->strength = gf_array(g->none, sizeof *g->strength);
    g->beside = gf_array(t->n_clusters, sizeof *g->beside);
    gf_status st = topic_of && row && start && own && g->strength && g->beside
                       ? GF_OK
                       : gf_fail_memory(err, "known topics");
    for (uint32_t i = 0; st == GF_OK && i < g->n; i++) {
        uint32_t topic = example_of(g, i);
        topic_of[i] = topic == GF_NO_TOPIC ? g->none : topic;
    }
    if (st == GF_OK) {
        gf_centres_sort_rows(topic_of, g->n, g->none + 1, start, row);
        owning o = {g, start, row, own};
        st = gf_pool_run(g->pool, g->none, own_task, &o, g->cancel, err);
    }
    for (uint32_t c = 0; st == GF_OK && c < t->n_clusters; c++)
        g->beside[c] = !own[c];
    for (uint32_t j = 0; st == GF_OK && j < g->none; j++)
        g->strength[j] = start[j + 1] - start[j] < LEAST_EXAMPLES ? of_words : of_examples;
    gf_free(topic_of);
    gf_free(row);
    gf_free(start);
    gf_free(own);
    return st;
}

/* The row is more of its cluster, which is no topic's own, than of the topic. */
static bool is_of_others(const growing *g, uint32_t row, uint32_t topic, float similarity)
{
    const gf_known_topics *t = g->topics;
    return g->strength && g->beside[t->cluster_of[row]] &&
           g->strength[topic] * t->cluster_score[row] > similarity;
}

/* ---- centres --------------------------------------------------------------------------------- */

/* Add a row to the sum that a centre is the direction of. */
static gf_status add_row(gf_centres *centres, uint32_t topic, gf_row_view row, gf_error *err)
{
    gf_centre *c = &centres->at[topic];
    size_t most = (size_t)c->n + row.n, n = 0;
    uint32_t *term = gf_array(most, sizeof *term);
    double *sum = gf_array(most, sizeof *sum), square = 0, weight = c->n ? c->weight : 0;
    float *value = gf_array(most, sizeof *value);
    gf_status st = term && sum && value ? GF_OK : gf_fail_memory(err, "a topic's centre");
    for (uint32_t a = 0, b = 0; st == GF_OK && (a < c->n || b < row.n); n++) {
        bool in_a = a < c->n && (b == row.n || c->term[a] <= row.col[b]);
        bool in_b = b < row.n && (a == c->n || row.col[b] <= c->term[a]);
        term[n] = in_a ? c->term[a] : row.col[b];
        sum[n] = in_a ? (double)c->value[a++] * c->length : 0;
        if (in_b) sum[n] += (double)row.val[b++];
        square += sum[n] * sum[n];
    }
    double length = sqrt(square);
    for (size_t i = 0; st == GF_OK && i < n; i++)
        value[i] = (float)(sum[i] / length);
    if (st == GF_OK)
        st = gf_centres_set_row(centres, topic, (gf_row_view){term, value, (uint32_t)n}, err);
    if (st == GF_OK) {
        c->length = length;
        c->weight = weight + 1;
    }
    gf_free(term);
    gf_free(sum);
    gf_free(value);
    return st;
}

/* The topics' centres, of the rows that they have taken and the words that describe them. */
static gf_status sum_topics(growing *g, gf_error *err)
{
    const gf_known_topics *t = g->topics;
    gf_centres *centres = &g->partition.centres;
    for (uint32_t j = 0; j < g->none; j++)
        g->sums[j] = true;
    g->sums[g->none] = false;
    gf_status st = gf_centre_summer_run(g->summer, g->points, g->taken, g->sums, centres, NULL,
                                        g->cancel, err);
    for (uint32_t w = 0; t->words && w < t->words->n_rows && st == GF_OK; w++)
        st = add_row(centres, t->words_of[w], gf_csr_row(t->words, w), err);
    return st;
}

/* The background: the sum of all rows. */
static gf_status sum_background(growing *g, gf_error *err)
{
    if (g->topics->all) return GF_OK;
    for (uint32_t i = 0; i < g->n; i++)
        g->taken[i] = g->none;
    g->sums[g->none] = true;
    return gf_centre_summer_run(g->summer, g->points, g->taken, g->sums, &g->partition.centres,
                                NULL, g->cancel, err);
}

static gf_status begin(growing *g, gf_error *err)
{
    gf_status st = sum_background(g, err);
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t topic = example_of(g, i);
        g->taken[i] = topic == GF_NO_TOPIC ? g->none : topic;
    }
    if (st == GF_OK) st = sum_topics(g, err);
    for (uint32_t j = 0; j < g->none && st == GF_OK; j++)
        if (g->partition.centres.at[j].n == 0)
            st = gf_fail(err, GF_EINVAL,
                         "nothing describes topic %u: it has neither words nor rows", j + 1);
    return st;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static float sureness(const growing *g, uint32_t row)
{
    return g->partition.own[row] - g->partition.other[row];
}

static int by_falling_sureness(const void *a, const void *b, void *context)
{
    const growing *g = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    float of_x = sureness(g, x), of_y = sureness(g, y);
    if (of_x != of_y) return of_x > of_y ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* A topic takes the surest of the rows that came to it. */
static gf_status take_task(void *context, size_t topic, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    growing *g = context;
    uint32_t *rows = g->row + g->start[topic];
    size_t n = 0, came = g->start[topic + 1] - g->start[topic];
    for (size_t i = 0; i < came; i++) {
        uint32_t row = rows[i];
        if (is_of_others(g, row, (uint32_t)topic, g->partition.own[row]))
            g->taken[row] = g->none;
        else
            rows[n++] = row;
    }
    if (n > g->share) qsort_r(rows, n, sizeof *rows, by_falling_sureness, g);
    for (size_t i = 0; i < n; i++)
        g->taken[rows[i]] = i < g->share ? (uint32_t)topic : g->none;
    return GF_OK;
}

/* Each row goes to a topic or to none; what was taken in earlier rounds does not count. */
static gf_status take_rows(growing *g, unsigned round, gf_error *err)
{
    uint32_t *label = g->partition.label;
    g->share = SIZE_MAX;
    if (round < FIRST_ROUNDS) g->share = (size_t)(shares[round] * g->n / g->none);
    if (g->share < LEAST_TAKEN) g->share = LEAST_TAKEN;
    gf_centres_sort_rows(label, g->n, g->none + 1, g->start, g->row);
    for (uint32_t i = g->start[g->none]; i < g->n; i++)
        g->taken[g->row[i]] = g->none;
    gf_status st = gf_pool_run(g->pool, g->none, take_task, g, g->cancel, err);
    for (uint32_t i = 0; i < g->n; i++)
        if (example_of(g, i) != GF_NO_TOPIC) g->taken[i] = example_of(g, i);
    return st;
}

static gf_status grow(growing *g, unsigned *rounds, gf_error *err)
{
    gf_pass_report report = {0};
    gf_status st = gf_passes_assign_all(g->passes, &g->partition, NULL, &report, err);
    for (*rounds = 0; st == GF_OK && *rounds < MOST_ROUNDS; ++*rounds) {
        if (*rounds > FIRST_ROUNDS && (double)report.changed <= settled * g->n) break;
        st = take_rows(g, *rounds, err);
        if (st == GF_OK) st = sum_topics(g, err);
        if (st == GF_OK) st = gf_passes_assign_all(g->passes, &g->partition, NULL, &report, err);
    }
    return st;
}

/* ---- the result ------------------------------------------------------------------------------ */

static void tell_examples(const growing *g, gf_known *out)
{
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t topic = example_of(g, i);
        if (topic != GF_NO_TOPIC && topic != out->label[i]) {
            gf_row_view row = gf_csr_row(g->points->x, i);
            out->score[i] = (float)gf_csr_row_dot(row, gf_centre_row(&out->centres.at[topic]));
            out->label[i] = topic;
        } else if (topic == GF_NO_TOPIC &&
                   (out->label[i] == g->none || is_of_others(g, i, out->label[i], out->score[i]))) {
            out->label[i] = GF_NO_TOPIC;
        }
    }
}

gf_status gf_known_grow(gf_pool *pool, const gf_points *points, const gf_known_topics *topics,
                        const gf_cancel *cancel, gf_known *out, gf_error *err)
{
    growing g = {.points = points,
                 .topics = topics,
                 .cancel = cancel,
                 .n = gf_points_n(points),
                 .none = topics->n,
                 .pool = pool};
    gf_known made = {.n = g.n};
    assert(topics->n > 0);
    gf_status st = choose_clusters(&g, err);
    if (st == GF_OK) st = make_room(&g, err);
    if (st == GF_OK) st = begin(&g, err);
    if (st == GF_OK) st = grow(&g, &made.rounds, err);
    if (st == GF_OK) {
        made.label = g.partition.label;
        made.score = g.partition.own;
        made.centres = g.partition.centres;
        g.partition.label = NULL;
        g.partition.own = NULL;
        g.partition.centres = (gf_centres){0};
        tell_examples(&g, &made);
        *out = made;
    }
    release(&g);
    return st;
}
