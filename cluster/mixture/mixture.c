#include "cluster/mixture/mixture.h"

#include "base/memory.h"
#include "cluster/mixture/counts.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    TASK = 16,            /* documents of a task */
    MOST_PARTS = 16,      /* of the words, whose counts change beside each other; a power of two */
    MOVES_A_PART = 32,    /* documents at least, or one thread does it sooner */
    USUAL_LENGTHS = 4096, /* shorter documents share a row of bases with all of their length */
    WIDTH = 16,           /* floats: rows of them are padded to multiples of it */
    LOOKED_TWICE = 512,   /* up to so many clusters the third sweep looks at all again */
    WORDS_OF_A_LINE = 4,  /* places of so many words lie in 64 bytes, which one thread changes */
    NEAR = 8 /* clusters that a document is compared with after the first sweep of many */
};

#define NO_SLOT 0xFF
#define NOWHERE UINT32_MAX

/* From which x on the series of ln(1 + x) is not used: its error would be above 10^-8. */
#define LARGEST_X (1.0 / 16)

/* A document of the block that leaves a cluster for another. */
typedef struct move {
    uint32_t document, from, to; /* from: NOWHERE where it is counted for the first time */
} move;

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
    uint32_t *next; /* n_open: the cluster of each after the block */
    move *moves;    /* n_moves of n, rising */
    uint32_t n_moves;
    uint32_t parts; /* of the words: a power of two */
    uint32_t *df;   /* words: documents that have each, until the counts begin */

    /* where documents are compared with all clusters */
    uint32_t *length;   /* n_open: occurrences of its words */
    uint32_t *place;    /* n_open: of its length among the lengths */
    uint32_t *lengths;  /* n_lengths, in the order of the documents */
    uint32_t *place_of; /* USUAL_LENGTHS: place of a length plus 1, 0 between blocks */
    uint32_t n_lengths;
    float *base;           /* n_lengths * stride: what does not depend on the words */
    size_t base_capacity;  /* floats */
    double *log_words;     /* k: ln(n + V beta) */
    double *log_documents; /* k: ln(m + alpha), or 0 */
    double middle;         /* mean of n + V beta over the clusters, which no move changes */
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

static float base_of_cluster(const sweeping *s, uint32_t c, double log_middle, uint32_t length)
{
    return base_of(s->log_documents[c], s->log_words[c], smoothed_words(s, s->counts.words[c]),
                   log_middle, length);
}

static gf_status base_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    sweeping *s = context;
    uint32_t length = s->lengths[index], k = s->options->k;
    float *base = s->base + index * s->stride;
    double log_middle = log_middle_of(s, length);
    for (uint32_t c = 0; c < k; c++)
        base[c] = base_of_cluster(s, c, log_middle, length);
    for (uint32_t c = k; c < s->stride; c++)
        base[c] = -INFINITY;
    return GF_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Occurrences of the words of document i of the block. */
static uint32_t length_of(const gf_mixture_block *b, uint32_t i)
{
    uint32_t length = 0;
    for (uint64_t e = b->start[i]; e < b->start[i + 1]; e++)
        length += b->count[e];
    return length;
}

/* List the documents of the block that may move. */
static void open_documents(sweeping *s)
{
    s->n_open = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (!s->settled[s->first + i]) s->open[s->n_open++] = i;
}

/* List the lengths of the open documents, each once but for very long ones. */
static void list_lengths(sweeping *s)
{
    s->n_lengths = 0;
    for (uint32_t o = 0; o < s->n_open; o++) {
        uint32_t length = s->length[o] = length_of(&s->block, s->open[o]);
        bool usual = length < USUAL_LENGTHS;
        if (usual && s->place_of[length]) {
            s->place[o] = s->place_of[length] - 1;
            continue;
        }
        s->place[o] = s->n_lengths;
        s->lengths[s->n_lengths++] = length;
        if (usual) s->place_of[length] = s->n_lengths;
    }
    for (uint32_t l = 0; l < s->n_lengths; l++)
        if (s->lengths[l] < USUAL_LENGTHS) s->place_of[s->lengths[l]] = 0;
}

/* The figures that change with the counts of a cluster. */
static void note_size(sweeping *s, uint32_t cluster)
{
    s->log_words[cluster] = log(smoothed_words(s, s->counts.words[cluster]));
    s->log_documents[cluster] = prior_of(s, s->counts.documents[cluster]);
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
static float base_of_own(const sweeping *s, uint32_t own, double log_middle, uint32_t length)
{
    double rest = smoothed_words(s, s->counts.words[own] - length);
    return base_of(prior_of(s, s->counts.documents[own] - 1), log(rest), rest, log_middle, length);
}

/* As most_probable, of the near clusters alone, of which the own is one. */
static uint32_t most_probable_near(const sweeping *s, uint32_t o, uint8_t *slot, uint8_t *settled)
{
    const gf_mixture_block *b = &s->block;
    const gf_mixture_counts *counts = &s->counts;
    uint32_t i = s->open[o], own = s->label[s->first + i], best = 0;
    const uint32_t *near = s->near + (size_t)(s->first + i) * NEAR;
    uint32_t length = length_of(b, i);
    double log_middle = log_middle_of(s, length);
    float mine = base_of_own(s, own, log_middle, length), scores[NEAR];
    for (uint8_t j = 0; j < NEAR; j++) {
        scores[j] = base_of_cluster(s, near[j], log_middle, length);
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
    float mine = base_of_own(s, own, log_middle_of(s, length), length);
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

static uint32_t part_of(const sweeping *s, uint32_t word)
{
    return word / WORDS_OF_A_LINE & (s->parts - 1);
}

static void take_words(sweeping *s, const move *m, size_t part)
{
    const gf_mixture_block *b = &s->block;
    uint32_t weight = weight_of(b, m->document);
    for (uint64_t e = b->start[m->document]; e < b->start[m->document + 1]; e++)
        if (part_of(s, b->word[e]) == part)
            gf_mixture_counts_take(&s->counts, b->word[e], m->from, weight * b->count[e]);
}

static void add_words(sweeping *s, const move *m, size_t part)
{
    const gf_mixture_block *b = &s->block;
    uint32_t weight = weight_of(b, m->document);
    for (uint64_t e = b->start[m->document]; e < b->start[m->document + 1]; e++)
        if (part_of(s, b->word[e]) == part)
            gf_mixture_counts_add(&s->counts, b->word[e], m->to, weight * b->count[e]);
}

/* The sizes of the clusters that documents leave or reach. */
static void change_sizes(sweeping *s)
{
    for (uint32_t i = 0; i < s->n_moves; i++) {
        const move *m = &s->moves[i];
        uint64_t weight = weight_of(&s->block, m->document);
        uint64_t words = weight * length_of(&s->block, m->document);
        s->counts.documents[m->to] += weight;
        s->counts.words[m->to] += words;
        if (m->from == NOWHERE) continue;
        s->counts.documents[m->from] -= weight;
        s->counts.words[m->from] -= words;
    }
    for (uint32_t i = 0; i < s->n_moves; i++) {
        note_size(s, s->moves[i].to);
        if (s->moves[i].from != NOWHERE) note_size(s, s->moves[i].from);
    }
}

/*
 * The counts of some words, in whatever order the documents move: a cluster's count of a word is a
 * sum of whole numbers. Documents that leave go first: so no list is ever longer than its word has
 * documents.
 */
static gf_status move_task(void *context, size_t part, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    sweeping *s = context;
    if (part == s->parts) {
        change_sizes(s);
        return GF_OK;
    }
    for (uint32_t i = 0; i < s->n_moves; i++)
        if (s->moves[i].from != NOWHERE) take_words(s, &s->moves[i], part);
    for (uint32_t i = 0; i < s->n_moves; i++)
        add_words(s, &s->moves[i], part);
    return GF_OK;
}

/* Set how many threads change counts at once: of n documents, each thread looks at all. */
static void divide_words(sweeping *s, uint32_t n)
{
    s->parts = 1;
    while (s->parts < MOST_PARTS && s->parts < gf_pool_size(s->pool) && s->parts * MOVES_A_PART < n)
        s->parts *= 2;
}

static gf_status make_moves(sweeping *s, gf_error *err)
{
    divide_words(s, s->n_moves);
    gf_pool *pool = s->parts > 1 ? s->pool : NULL;
    return gf_pool_run(pool, s->parts + 1, move_task, s, NULL, err);
}

static void list_moves(sweeping *s)
{
    uint32_t *label = s->label + s->first;
    s->n_moves = 0;
    for (uint32_t o = 0; o < s->n_open; o++) {
        uint32_t i = s->open[o];
        if (s->next[o] == label[i]) continue;
        s->moves[s->n_moves++] = (move){i, label[i], s->next[o]};
        label[i] = s->next[o];
    }
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

static gf_status df_task(void *context, size_t part, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    sweeping *s = context;
    const gf_mixture_block *b = &s->block;
    for (uint64_t e = b->start[0]; e < b->start[s->n]; e++)
        if (part_of(s, b->word[e]) == part) s->df[b->word[e]]++;
    return GF_OK;
}

/* The documents that have each word, which is the room that its counts need. */
static gf_status make_room(sweeping *s, gf_error *err)
{
    const gf_mixture_documents *d = s->documents;
    gf_status st = GF_OK;
    s->df = gf_calloc(d->n_words, sizeof *s->df);
    if (!s->df) return gf_fail_memory(err, "a mixture of clusters");
    for (uint64_t at = 0; at < d->n && st == GF_OK; at += GF_MIXTURE_BLOCK) {
        st = read_block(s, (uint32_t)at, err);
        if (st != GF_OK) break;
        divide_words(s, s->n);
        st = gf_pool_run(s->pool, s->parts, df_task, s, NULL, err);
    }
    if (st == GF_OK)
        st = gf_mixture_counts_init(&s->counts, s->df, d->n_words, s->options->k, &s->logs, err);
    gf_free(s->df);
    s->df = NULL;
    return st;
}

static gf_status count_all(sweeping *s, gf_error *err)
{
    const gf_mixture_documents *d = s->documents;
    uint32_t k = s->options->k;
    uint64_t words = 0;
    gf_status st = make_room(s, err);
    for (uint64_t at = 0; at < d->n && st == GF_OK; at += GF_MIXTURE_BLOCK) {
        st = read_block(s, (uint32_t)at, err);
        for (uint32_t i = 0; i < s->n; i++)
            s->moves[i] = (move){i, NOWHERE, s->label[at + i]};
        s->n_moves = s->n;
        if (st == GF_OK) st = make_moves(s, err);
    }
    for (uint32_t c = 0; st == GF_OK && c < k; c++) {
        words += s->counts.words[c];
        note_size(s, c);
    }
    s->middle = smoothed_words(s, 0) + (double)words / k;
    return st;
}

/* Score the open documents of the block. */
static gf_status score_all(sweeping *s, gf_error *err)
{
    gf_status st = GF_OK;
    if (!s->looked) {
        list_lengths(s);
        st = make_bases(s, err);
    }
    if (st != GF_OK) return st;
    return gf_pool_run(s->pool, (s->n_open + TASK - 1) / TASK, score_task, s, s->options->cancel,
                       err);
}

static gf_status sweep(sweeping *s, uint64_t *moved, gf_error *err)
{
    gf_status st = GF_OK;
    *moved = 0;
    for (uint64_t at = 0; at < s->documents->n && st == GF_OK; at += GF_MIXTURE_BLOCK) {
        st = read_block(s, (uint32_t)at, err);
        if (st != GF_OK) break;
        open_documents(s);
        st = score_all(s, err);
        if (st != GF_OK) break;
        list_moves(s);
        *moved += s->n_moves;
        st = make_moves(s, err);
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
    s->moves = gf_array(n, sizeof *s->moves);
    s->place_of = gf_calloc(USUAL_LENGTHS, sizeof *s->place_of);
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
                s->moves && s->place_of && s->length && s->place && s->lengths && s->log_words &&
                s->log_documents;
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
    gf_free(s.moves);
    gf_free(s.place_of);
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
