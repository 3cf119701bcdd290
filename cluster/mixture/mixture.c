#include "cluster/mixture/mixture.h"

#include "base/memory.h"
#include "cluster/mixture/counts.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    TASK = 64,          /* documents of a task */
    WIDTH = 16,         /* floats: rows of them are padded to multiples of it */
    LOOKED_TWICE = 512, /* up to so many clusters the third sweep looks at all again */
    NEAR = 8 /* clusters that a document is compared with after the first sweep of many */
};

#define NO_SLOT 0xFF

/* From which x on the series of ln(1 + x) is not used: its error would be above 10^-8. */
#define LARGEST_X (1.0 / 16)

typedef struct sweeping {
    gf_pool *pool;
    const gf_mixture_documents *documents;
    const gf_mixture_options *options;
    uint32_t *label;  /* documents->n */
    uint8_t *settled; /* documents->n: not looked at again */
    gf_mixture_logs logs;
    gf_mixture_counts counts;
    uint32_t stride; /* k padded */
    float *scores;   /* workers * stride */
    uint32_t *near;  /* documents->n * NEAR: each one's, rising; NULL where clusters are few */
    uint8_t *slot;   /* workers * k: of a cluster among a document's near ones, else NO_SLOT */
    bool looked;     /* the near clusters are known */

    /* the block */
    gf_mixture_block block;
    uint32_t first, n;
    uint32_t *open; /* n_open of n, rising: the documents that are looked at */
    uint32_t n_open;
    uint32_t *next;    /* n_open: the cluster of each after the block */
    uint32_t *length;  /* n_open: occurrences of its words */
    uint32_t *place;   /* n_open: of its length among the lengths */
    uint32_t *lengths; /* n_lengths, rising */
    uint32_t n_lengths;
    float *base;           /* n_lengths * stride: what does not depend on the words */
    size_t base_capacity;  /* floats */
    double *log_words;     /* k: ln(n + V beta) */
    double *log_documents; /* k: ln(m + alpha), or 0 */
    double middle;         /* mean of n + V beta over the clusters */
} sweeping;

/* ---- what does not depend on the words ------------------------------------------------------- */

static double smoothed_words(const sweeping *s, uint64_t words)
{
    return (double)words + s->options->beta * s->documents->n_words;
}

static double prior_of(const sweeping *s, uint64_t documents)
{
    return s->options->alpha > 0 ? log((double)documents + s->options->alpha) : 0;
}

/* ln(a + d), from ln a where d is little beside it. */
static double log_of_sum(double log_a, double a, double d)
{
    double x = d / a;
    if (x > LARGEST_X) return log(a + d);
    return log_a + x * (1 - x * (1.0 / 2 - x * (1.0 / 3 - x * (1.0 / 4 - x / 5))));
}

/* Less the same of a cluster of the mean size, so that single precision is enough. */
static float base_of(double prior, double log_a, double a, double log_middle, uint32_t length)
{
    double d = 0.5 * (length - 1);
    return (float)(prior - length * (log_of_sum(log_a, a, d) - log_middle));
}

static double log_middle_of(const sweeping *s, uint32_t length)
{
    return log(s->middle + 0.5 * (length - 1));
}

static gf_status base_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    sweeping *s = context;
    uint32_t length = s->lengths[index], k = s->options->k;
    float *base = s->base + index * s->stride;
    double log_middle = log_middle_of(s, length);
    for (uint32_t c = 0; c < k; c++)
        base[c] = base_of(s->log_documents[c], s->log_words[c],
                          smoothed_words(s, s->counts.words[c]), log_middle, length);
    for (uint32_t c = k; c < s->stride; c++)
        base[c] = -INFINITY;
    return GF_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* List the documents of the block that may move, and their lengths. */
static void open_documents(sweeping *s)
{
    const gf_mixture_block *b = &s->block;
    s->n_open = s->n_lengths = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->settled[s->first + i]) continue;
        uint32_t length = 0;
        for (uint64_t e = b->start[i]; e < b->start[i + 1]; e++)
            length += b->count[e];
        s->lengths[s->n_open] = s->length[s->n_open] = length;
        s->open[s->n_open++] = i;
    }
    qsort(s->lengths, s->n_open, sizeof *s->lengths, by_number);
    for (uint32_t o = 0; o < s->n_open; o++)
        if (o == 0 || s->lengths[o] != s->lengths[s->n_lengths - 1])
            s->lengths[s->n_lengths++] = s->lengths[o];
    for (uint32_t o = 0; o < s->n_open; o++) {
        uint32_t *at = bsearch(&s->length[o], s->lengths, s->n_lengths, sizeof *at, by_number);
        s->place[o] = (uint32_t)(at - s->lengths);
    }
}

/* A row of bases for each length. */
static gf_status make_bases(sweeping *s, gf_error *err)
{
    size_t needed = (size_t)s->n_lengths * s->stride;
    if (needed > s->base_capacity) {
        gf_free(s->base);
        s->base = gf_array(needed, sizeof *s->base);
        s->base_capacity = s->base ? needed : 0;
        if (!s->base) return gf_fail_memory(err, "a mixture of clusters");
    }
    s->middle = 0;
    for (uint32_t c = 0; c < s->options->k; c++) {
        double a = smoothed_words(s, s->counts.words[c]);
        s->log_words[c] = log(a);
        s->log_documents[c] = prior_of(s, s->counts.documents[c]);
        s->middle += a / s->options->k;
    }
    return gf_pool_run(s->pool, s->n_lengths, base_task, s, s->options->cancel, err);
}

/* ---- the most probable cluster --------------------------------------------------------------- */

/* Add what a word adds that all clusters may have. */
static void add_dense(const sweeping *s, const gf_word_place *p, uint32_t t, float *scores)
{
    uint32_t k = s->options->k;
    if (t == 1) {
        const float *value = s->counts.value + p->at;
        for (uint32_t c = 0; c < k; c++)
            scores[c] += value[c];
        return;
    }
    const uint32_t *n = s->counts.dense + p->at;
    for (uint32_t c = 0; c < k; c++)
        if (n[c]) scores[c] += gf_mixture_logs_value(&s->logs, n[c], t);
}

/* Add what a word adds that few have; returns how often the cluster `own` has it. */
static uint32_t add_listed(const sweeping *s, const gf_word_place *p, uint32_t t, uint32_t own,
                           float *scores)
{
    const gf_cluster_count *list = s->counts.lists + p->at;
    uint32_t of_own = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        scores[list[i].cluster] += gf_mixture_logs_value(&s->logs, list[i].n, t);
        if (list[i].cluster == own) of_own = list[i].n;
    }
    return of_own;
}

/* The first of the highest scores; stride is a multiple of WIDTH. */
static uint32_t highest(const float *scores, uint32_t stride)
{
    float lane[WIDTH], most = -INFINITY;
    uint32_t at = 0;
    for (uint32_t l = 0; l < WIDTH; l++)
        lane[l] = scores[l];
    for (uint32_t c = WIDTH; c < stride; c += WIDTH)
        for (uint32_t l = 0; l < WIDTH; l++)
            lane[l] = scores[c + l] > lane[l] ? scores[c + l] : lane[l];
    for (uint32_t l = 0; l < WIDTH; l++)
        if (lane[l] > most) most = lane[l];
    while (at + 1 < stride && scores[at] < most)
        at++;
    return at;
}

/* The clusters of the highest scores, and the own one. */
static void note_near(const float *scores, uint32_t k, uint32_t own, uint32_t *near)
{
    uint32_t n = 0;
    near[NEAR - 1] = own;
    for (uint32_t c = 0; c < k; c++) {
        if (c == own || (n == NEAR - 1 && !(scores[c] > scores[near[n - 1]]))) continue;
        uint32_t at = n < NEAR - 1 ? n++ : n - 1;
        for (; at > 0 && scores[c] > scores[near[at - 1]]; at--)
            near[at] = near[at - 1];
        near[at] = c;
    }
    qsort(near, NEAR, sizeof *near, by_number);
}

/* The words of an open document, its own left out: their part of its cluster's base. */
static float base_of_own(const sweeping *s, uint32_t own, uint32_t length)
{
    double rest = smoothed_words(s, s->counts.words[own] - length);
    return base_of(prior_of(s, s->counts.documents[own] - 1), log(rest), rest,
                   log_middle_of(s, length), length);
}

/* As most_probable, of the near clusters alone, of which the own is one. */
static uint32_t most_probable_near(const sweeping *s, uint32_t o, uint8_t *slot, uint8_t *settled)
{
    const gf_mixture_block *b = &s->block;
    const gf_mixture_counts *counts = &s->counts;
    uint32_t i = s->open[o], own = s->label[s->first + i], best = 0;
    const uint32_t *near = s->near + (size_t)(s->first + i) * NEAR;
    const float *base = s->base + (size_t)s->place[o] * s->stride;
    float mine = base_of_own(s, own, s->length[o]), scores[NEAR];
    for (uint8_t j = 0; j < NEAR; j++) {
        scores[j] = base[near[j]];
        slot[near[j]] = j;
    }
    for (uint64_t e = b->start[i]; e < b->start[i + 1]; e++) {
        const gf_word_place *p = &counts->place[b->word[e]];
        uint32_t t = b->count[e], of_own = 0;
        if (p->n == GF_COUNTS_DENSE) {
            const float *value = counts->value + p->at;
            const uint32_t *n = counts->dense + p->at;
            of_own = n[own];
            for (uint32_t j = 0; j < NEAR; j++)
                scores[j] +=
                    t == 1 ? value[near[j]] : gf_mixture_logs_value(&s->logs, n[near[j]], t);
        } else {
            const gf_cluster_count *list = counts->lists + p->at;
            for (uint32_t l = 0; l < p->n; l++) {
                uint8_t j = slot[list[l].cluster];
                if (j == NO_SLOT) continue;
                scores[j] += gf_mixture_logs_value(&s->logs, list[l].n, t);
                if (list[l].cluster == own) of_own = list[l].n;
            }
        }
        assert(of_own >= t);
        mine += gf_mixture_logs_value(&s->logs, of_own - t, t);
    }
    scores[slot[own]] = -INFINITY;
    for (uint32_t j = 1; j < NEAR; j++)
        if (scores[j] > scores[best]) best = j;
    for (uint32_t j = 0; j < NEAR; j++)
        slot[near[j]] = NO_SLOT;
    *settled = mine > scores[best] + s->options->settled;
    return scores[best] > mine ? near[best] : own;
}

/* The most probable cluster of an open document; *settled: by far, and it is in it. */
static uint32_t most_probable(const sweeping *s, uint32_t o, float *scores, uint8_t *settled)
{
    const gf_mixture_block *b = &s->block;
    uint32_t i = s->open[o], own = s->label[s->first + i], length = s->length[o];
    float mine = base_of_own(s, own, length);
    memcpy(scores, s->base + (size_t)s->place[o] * s->stride, s->stride * sizeof *scores);
    for (uint64_t e = b->start[i]; e < b->start[i + 1]; e++) {
        const gf_word_place *p = &s->counts.place[b->word[e]];
        uint32_t t = b->count[e], of_own;
        if (p->n == GF_COUNTS_DENSE) {
            of_own = s->counts.dense[p->at + own];
            add_dense(s, p, t, scores);
        } else {
            of_own = add_listed(s, p, t, own, scores);
        }
        assert(of_own >= t);
        mine += gf_mixture_logs_value(&s->logs, of_own - t, t);
    }
    scores[own] = -INFINITY;
    uint32_t best = highest(scores, s->stride);
    if (s->near) note_near(scores, s->options->k, own, s->near + (size_t)(s->first + i) * NEAR);
    *settled = mine > scores[best] + s->options->settled;
    return scores[best] > mine ? best : own;
}

static gf_status score_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)err;
    sweeping *s = context;
    uint32_t o = (uint32_t)index * TASK, end = s->n_open - o < TASK ? s->n_open : o + TASK;
    float *scores = s->scores + (size_t)worker * s->stride;
    uint8_t *slot = s->near ? s->slot + (size_t)worker * s->options->k : NULL;
    for (; o < end; o++) {
        uint8_t *settled = &s->settled[s->first + s->open[o]];
        s->next[o] = s->looked ? most_probable_near(s, o, slot, settled)
                               : most_probable(s, o, scores, settled);
    }
    return GF_OK;
}

/* ---- moves ----------------------------------------------------------------------------------- */

static uint32_t weight_of(const gf_mixture_block *b, uint32_t i)
{
    return b->weight ? (uint32_t)b->weight[i] : 1;
}

/* Count document i of the block in a cluster. */
static void count_document(sweeping *s, uint32_t i, uint32_t cluster)
{
    const gf_mixture_block *b = &s->block;
    uint32_t weight = weight_of(b, i);
    s->counts.documents[cluster] += weight;
    for (uint64_t e = b->start[i]; e < b->start[i + 1]; e++) {
        s->counts.words[cluster] += (uint64_t)weight * b->count[e];
        gf_mixture_counts_add(&s->counts, b->word[e], cluster, weight * b->count[e]);
    }
}

static void take_document(sweeping *s, uint32_t i, uint32_t cluster)
{
    const gf_mixture_block *b = &s->block;
    uint32_t weight = weight_of(b, i);
    s->counts.documents[cluster] -= weight;
    for (uint64_t e = b->start[i]; e < b->start[i + 1]; e++) {
        s->counts.words[cluster] -= (uint64_t)weight * b->count[e];
        gf_mixture_counts_take(&s->counts, b->word[e], cluster, weight * b->count[e]);
    }
}

/* Documents that leave go first: so no list is ever longer than its word has documents. */
static uint64_t move_documents(sweeping *s)
{
    uint64_t moved = 0;
    uint32_t *label = s->label + s->first;
    for (uint32_t o = 0; o < s->n_open; o++)
        if (s->next[o] != label[s->open[o]]) take_document(s, s->open[o], label[s->open[o]]);
    for (uint32_t o = 0; o < s->n_open; o++) {
        if (s->next[o] == label[s->open[o]]) continue;
        count_document(s, s->open[o], s->next[o]);
        label[s->open[o]] = s->next[o];
        moved++;
    }
    return moved;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static gf_status read_block(sweeping *s, uint32_t first, gf_error *err)
{
    const gf_mixture_documents *d = s->documents;
    s->first = first;
    s->n = d->n - first < GF_MIXTURE_BLOCK ? d->n - first : GF_MIXTURE_BLOCK;
    gf_status st = gf_cancel_check(s->options->cancel, err);
    return st == GF_OK ? d->read(d->context, first, s->n, &s->block, err) : st;
}

static gf_status count_all(sweeping *s, gf_error *err)
{
    const gf_mixture_documents *d = s->documents;
    gf_status st = GF_OK;
    uint32_t *df = gf_calloc(d->n_words, sizeof *df);
    if (!df) return gf_fail_memory(err, "a mixture of clusters");
    for (uint64_t at = 0; at < d->n && st == GF_OK; at += GF_MIXTURE_BLOCK) {
        st = read_block(s, (uint32_t)at, err);
        if (st != GF_OK) break;
        for (uint64_t e = s->block.start[0]; e < s->block.start[s->n]; e++)
            df[s->block.word[e]]++;
    }
    if (st == GF_OK)
        st = gf_mixture_counts_init(&s->counts, df, d->n_words, s->options->k, &s->logs, err);
    gf_free(df);
    for (uint64_t at = 0; at < d->n && st == GF_OK; at += GF_MIXTURE_BLOCK) {
        st = read_block(s, (uint32_t)at, err);
        for (uint32_t i = 0; st == GF_OK && i < s->n; i++)
            count_document(s, i, s->label[at + i]);
    }
    return st;
}

static gf_status sweep(sweeping *s, uint64_t *moved, gf_error *err)
{
    gf_status st = GF_OK;
    *moved = 0;
    for (uint64_t at = 0; at < s->documents->n && st == GF_OK; at += GF_MIXTURE_BLOCK) {
        st = read_block(s, (uint32_t)at, err);
        if (st != GF_OK) break;
        open_documents(s);
        st = make_bases(s, err);
        if (st == GF_OK)
            st = gf_pool_run(s->pool, (s->n_open + TASK - 1) / TASK, score_task, s,
                             s->options->cancel, err);
        if (st == GF_OK) *moved += move_documents(s);
    }
    return st;
}

static gf_status allocate(sweeping *s, gf_error *err)
{
    uint32_t all = s->documents->n, n = all < GF_MIXTURE_BLOCK ? all : GF_MIXTURE_BLOCK;
    uint32_t k = s->options->k;
    s->stride = (k + WIDTH - 1) / WIDTH * WIDTH;
    s->settled = gf_calloc(all, sizeof *s->settled);
    s->scores = gf_array((size_t)gf_pool_size(s->pool) * s->stride, sizeof *s->scores);
    s->open = gf_array(n, sizeof *s->open);
    s->next = gf_array(n, sizeof *s->next);
    s->length = gf_array(n, sizeof *s->length);
    s->place = gf_array(n, sizeof *s->place);
    s->lengths = gf_array(n, sizeof *s->lengths);
    s->log_words = gf_array(k, sizeof *s->log_words);
    s->log_documents = gf_array(k, sizeof *s->log_documents);
    bool many = k >= GF_MIXTURE_MANY && s->options->sweeps > 1;
    size_t slots = many ? (size_t)gf_pool_size(s->pool) * k : 0;
    s->near = many ? gf_array(all, NEAR * sizeof *s->near) : NULL;
    s->slot = gf_malloc(slots);
    if (s->slot) memset(s->slot, NO_SLOT, slots);
    bool room = s->slot && (!many || s->near) && s->settled && s->scores && s->open && s->next &&
                s->length && s->place && s->lengths && s->log_words && s->log_documents;
    return room ? GF_OK : gf_fail_memory(err, "a mixture of clusters");
}

gf_status gf_mixture_run(gf_pool *pool, const gf_mixture_documents *documents,
                         const gf_mixture_options *options, uint32_t *label, gf_error *err)
{
    sweeping s = {.pool = pool, .documents = documents, .options = options, .label = label};
    uint64_t moved = 1;
    if (options->k < 2 || options->sweeps == 0 || documents->n == 0) return GF_OK;
    gf_status st = gf_mixture_logs_init(&s.logs, options->beta, err);
    if (st == GF_OK) st = allocate(&s, err);
    if (st == GF_OK) st = count_all(&s, err);
    for (unsigned i = 0; i < options->sweeps && moved && st == GF_OK; i++) {
        st = sweep(&s, &moved, err);
        s.looked = s.near && (i != 1 || options->k > LOOKED_TWICE);
    }
    gf_free(s.settled);
    gf_free(s.near);
    gf_free(s.slot);
    gf_free(s.scores);
    gf_free(s.open);
    gf_free(s.next);
    gf_free(s.length);
    gf_free(s.place);
    gf_free(s.lengths);
    gf_free(s.base);
    gf_free(s.log_words);
    gf_free(s.log_documents);
    gf_mixture_counts_release(&s.counts);
    gf_mixture_logs_release(&s.logs);
    return st;
}
