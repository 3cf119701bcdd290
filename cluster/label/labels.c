#include "cluster/label/labels.h"

#include "base/lower_bound.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cluster/label/internal.h"

#include <math.h>
#include <stdlib.h>

#define INNER 0.85 /* how much less a phrase counts for each stop word inside */
#define WEAK  0.4  /* and a weak phrase (phrases.h) */
#define VAGUE 0.25 /* and a vague one */

enum { MET_BY_SCAN = 32 }; /* sorting one number costs about as much as looking at so many */

static const char MIXED[] = "mixed: ";

bool gf_label_is_mixed(gf_slice label)
{
    return gf_slice_starts(label, gf_slice_str(MIXED));
}

/* ---- candidates of one cluster --------------------------------------------------------------- */

static int by_count(const void *a, const void *b)
{
    const gf_label_candidate *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return gf_slice_compare(x->key, y->key);
}

/* Documents that must have a phrase for it to be a candidate. */
static uint32_t least_documents(const gf_label_cluster *c)
{
    uint32_t least = (uint32_t)ceil(GF_LABEL_RARE * c->n_documents);
    if (least < 2) least = c->n_documents < 4 ? 1 : 2;
    return least;
}

/* The frequent phrases of a gf_phrase_tally, the most frequent first, with keys of their own. */
static gf_status take_candidates(const gf_label_cluster *c, const gf_phrase_tally *t,
                                 gf_label_counted *out, gf_error *err)
{
    uint32_t least = least_documents(c), n = 0;
    gf_label_candidate *all = gf_array(t->keys.n, sizeof *all);
    if (!all) return gf_fail_memory(err, "labels");
    for (uint32_t id = 0; id < t->keys.n; id++)
        if (t->at[id].count >= least && t->at[id].kind != GF_PHRASE_NEVER)
            all[n++] = (gf_label_candidate){.key = gf_strings_at(&t->keys, id),
                                            .count = t->at[id].count,
                                            .n_words = t->at[id].n_words,
                                            .n_inner = t->at[id].n_inner,
                                            .kind = (gf_phrase_kind)t->at[id].kind};
    qsort(all, n, sizeof *all, by_count);
    if (n > GF_LABEL_CANDIDATES) n = GF_LABEL_CANDIDATES;
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        uint32_t id;
        st = gf_strings_add(&out->keys, all[i].key, &id, NULL, err);
        if (st == GF_OK) all[i].key = gf_strings_at(&out->keys, id);
    }
    out->candidates = all;
    out->n = n;
    return st;
}

static gf_status find_candidates(void *context, size_t j, unsigned worker, gf_error *err)
{
    (void)worker;
    gf_labelling *l = context;
    gf_phrase_tally t = {0};
    gf_status st =
        gf_phrase_tally_cluster(&t, &l->clusters[j], least_documents(&l->clusters[j]), err);
    if (st == GF_OK) st = take_candidates(&l->clusters[j], &t, &l->counted[j], err);
    gf_phrase_tally_release(&t);
    return st;
}

/* ---- how frequent the candidates are elsewhere ----------------------------------------------- */

static gf_status number_phrases(gf_labelling *l, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t j = 0; j < l->k; j++)
        for (uint32_t i = 0; i < l->counted[j].n && st == GF_OK; i++) {
            gf_label_candidate *c = &l->counted[j].candidates[i];
            st = gf_strings_add(&l->phrases, c->key, &c->phrase, NULL, err);
        }
    return st;
}

/* The words of candidates, and which term is a candidate by itself. */
static gf_status mark_words(gf_labelling *l, gf_error *err)
{
    gf_status st = gf_phrase_slots_init(&l->words, l->phrases.n, false, err);
    for (uint32_t p = 0; p < l->phrases.n && st == GF_OK; p++)
        gf_phrase_slots_mark(&l->words, gf_strings_at(&l->phrases, p));
    if (st != GF_OK || !l->rows) return st;
    uint32_t n = l->rows->x->n_cols;
    l->phrase_of_term = gf_array(n, sizeof *l->phrase_of_term);
    if (!l->phrase_of_term) return gf_fail_memory(err, "labels");
    for (uint32_t term = 0; term < n; term++)
        l->phrase_of_term[term] = GF_STRING_NONE;
    for (uint32_t p = 0; p < l->phrases.n; p++) {
        uint32_t term = gf_phrase_single_term(gf_strings_at(&l->phrases, p));
        if (term < n) l->phrase_of_term[term] = p;
    }
    return GF_OK;
}

/* A worker's counts of the phrases of the cluster at hand; all 0 between clusters. */
struct gf_label_counting {
    struct phrase_count {
        uint32_t some, all; /* documents of the sample that have it, and of all */
        uint32_t last;      /* document of the sample that had it last, plus 1 */
    } * of;                 /* per phrase */
    uint32_t *met;          /* n_met: phrases with a count */
    uint32_t n_met;
};

typedef struct gf_label_counting counting;
typedef struct phrase_count phrase_count;

static gf_status create_counting(const gf_labelling *l, counting *c, gf_error *err)
{
    if (c->of) return GF_OK;
    c->of = gf_calloc(l->phrases.n, sizeof *c->of);
    c->met = gf_array(l->phrases.n, sizeof *c->met);
    return c->of && c->met ? GF_OK : gf_fail_memory(err, "labels");
}

static phrase_count *meet(counting *c, uint32_t phrase)
{
    phrase_count *of = &c->of[phrase];
    if (of->some == 0 && of->all == 0) c->met[c->n_met++] = phrase;
    return of;
}

/* How many of the documents that stand for all have each phrase. */
static gf_status count_sample(const gf_labelling *l, const gf_label_cluster *cluster, counting *c,
                              gf_error *err)
{
    gf_buffer key = {0};
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < cluster->n_documents && st == GF_OK; i++) {
        gf_phrase_walk w = gf_phrase_start_among(&cluster->documents[i], key, &l->words, 1);
        while (gf_phrase_next(&w)) {
            uint32_t p = gf_strings_find(&l->phrases, gf_buffer_view(&w.key));
            if (p == GF_STRING_NONE || c->of[p].last == i + 1) continue;
            phrase_count *of = meet(c, p);
            of->last = i + 1;
            of->some++;
        }
        key = w.key;
        st = gf_buffer_check(&key, err);
    }
    gf_buffer_release(&key);
    return st;
}

/* How many of all documents have each phrase that is a term. */
static void count_rows(const gf_labelling *l, uint32_t j, counting *c)
{
    const gf_label_rows *rows = l->rows;
    for (uint32_t i = rows->start[j]; i < rows->start[j + 1]; i++) {
        gf_row_view row = gf_csr_row(rows->x, rows->document[rows->member[i]]);
        for (uint32_t e = 0; e < row.n; e++) {
            uint32_t p = l->phrase_of_term[row.col[e]];
            if (p != GF_STRING_NONE) meet(c, p)->all++;
        }
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Put the phrases met in order: by looking at all where so many are met that sorting costs more. */
static void sort_met(counting *c, uint32_t n)
{
    if (c->n_met < n / MET_BY_SCAN) {
        qsort(c->met, c->n_met, sizeof *c->met, by_number);
        return;
    }
    c->n_met = 0;
    for (uint32_t p = 0; p < n; p++)
        if (c->of[p].some || c->of[p].all) c->met[c->n_met++] = p;
}

/* The phrases found, in `counted`, as numbers of the cluster's documents; nothing is counted then. */
static gf_status keep_counts(const gf_labelling *l, const gf_label_cluster *cluster, counting *c,
                             gf_label_counted *out, gf_error *err)
{
    double each = cluster->n_documents ? (double)cluster->size / (double)cluster->n_documents : 0;
    sort_met(c, l->phrases.n);
    out->n_found = c->n_met;
    out->phrases = gf_array(out->n_found, sizeof *out->phrases);
    out->documents = gf_array(out->n_found, sizeof *out->documents);
    if (!out->phrases || !out->documents) return gf_fail_memory(err, "labels");
    for (uint32_t i = 0; i < c->n_met; i++) {
        phrase_count *of = &c->of[c->met[i]];
        out->phrases[i] = c->met[i];
        out->documents[i] = of->all ? (double)of->all : each * of->some;
        *of = (phrase_count){0};
    }
    c->n_met = 0;
    return GF_OK;
}

static gf_status count_phrases(void *context, size_t j, unsigned worker, gf_error *err)
{
    gf_labelling *l = context;
    const gf_label_cluster *cluster = &l->clusters[j];
    counting *c = &l->counting[worker];
    gf_status st = create_counting(l, c, err);
    if (st == GF_OK) st = count_sample(l, cluster, c, err);
    if (st == GF_OK && l->rows) count_rows(l, (uint32_t)j, c);
    return st == GF_OK ? keep_counts(l, cluster, c, &l->counted[j], err) : st;
}

/* Count all clusters' phrases. A failure leaves counts behind, but ends the naming. */
static gf_status count_all(gf_labelling *l, gf_pool *pool, const gf_cancel *cancel, gf_error *err)
{
    unsigned workers = gf_pool_size(pool);
    l->counting = gf_calloc(workers, sizeof *l->counting);
    if (!l->counting) return gf_fail_memory(err, "labels");
    gf_status st = gf_pool_run(pool, l->k, count_phrases, l, cancel, err);
    for (unsigned w = 0; w < workers; w++) {
        gf_free(l->counting[w].of);
        gf_free(l->counting[w].met);
    }
    gf_free(l->counting);
    l->counting = NULL;
    return st;
}

/* Documents of all clusters that have each phrase. */
static gf_status add_counts(gf_labelling *l, gf_error *err)
{
    l->with = gf_calloc(l->phrases.n, sizeof *l->with);
    if (!l->with) return gf_fail_memory(err, "labels");
    for (uint32_t j = 0; j < l->k; j++) {
        const gf_label_counted *found = &l->counted[j];
        l->documents += (double)l->clusters[j].size;
        for (uint32_t i = 0; i < found->n_found; i++)
            l->with[found->phrases[i]] += found->documents[i];
    }
    return GF_OK;
}

double gf_label_documents(const gf_labelling *l, uint32_t cluster, uint32_t phrase)
{
    const gf_label_counted *c = &l->counted[cluster];
    uint32_t low = gf_lower_bound(c->phrases, c->n_found, phrase);
    return low < c->n_found && c->phrases[low] == phrase ? c->documents[low] : 0;
}

/* ---- scores ---------------------------------------------------------------------------------- */

double gf_label_factor(uint32_t n_words, uint32_t n_inner, gf_phrase_kind kind)
{
    static const double factor[GF_PHRASE_WORDS + 1] = {0, 1, 1.25, 1.2, 1};
    static const double of_kind[] = {1, WEAK, VAGUE, 0};
    return factor[n_words - n_inner] * pow(INNER, n_inner) * of_kind[kind];
}

/* p ln p, and 0 of nothing. */
static double p_log_p(double p)
{
    return p > 0 ? p * log(p) : 0;
}

double gf_label_score(double with, double size, double with_outside, double rest)
{
    if (size <= 0 || with <= 0) return 0;
    if (with > size) with = size;
    if (rest <= 0) return with / size;
    if (with_outside < 0) with_outside = 0;
    if (with_outside > rest) with_outside = rest;
    if (with / size <= with_outside / rest) return 0;
    double n = size + rest, has = with + with_outside;
    double of_membership = -p_log_p(size / n) - p_log_p(rest / n);
    double of_phrase = -p_log_p(has / n) - p_log_p((n - has) / n);
    double of_both = -p_log_p(with / n) - p_log_p((size - with) / n) - p_log_p(with_outside / n) -
                     p_log_p((rest - with_outside) / n);
    double gain = of_membership + of_phrase - of_both;
    if (gain <= 0) return 0;
    return sqrt(gain / of_membership * 2 * with / (size + has));
}

static void score(const gf_labelling *l, uint32_t j, gf_label_candidate *c)
{
    double size = (double)l->clusters[j].size;
    c->documents = gf_label_documents(l, j, c->phrase);
    c->score =
        gf_label_score(c->documents, size, l->with[c->phrase] - c->documents, l->documents - size) *
        gf_label_factor(c->n_words, c->n_inner, c->kind);
}

int gf_label_by_score(const void *a, const void *b)
{
    const gf_label_candidate *x = a, *y = b;
    if (x->score > y->score) return -1;
    if (x->score < y->score) return 1;
    return gf_slice_compare(x->key, y->key);
}

static gf_status score_cluster(void *context, size_t j, unsigned worker, gf_error *err)
{
    (void)worker;
    gf_labelling *l = context;
    gf_label_counted *c = &l->counted[j];
    for (uint32_t i = 0; i < c->n; i++)
        score(l, (uint32_t)j, &c->candidates[i]);
    qsort(c->candidates, c->n, sizeof *c->candidates, gf_label_by_score);
    return gf_label_look(l, (uint32_t)j, err);
}

/* ---- all together ---------------------------------------------------------------------------- */

static gf_status choose_all(const gf_labelling *l, const gf_label_options *o, gf_arena *memory,
                            gf_slice *labels, gf_error *err)
{
    gf_labels_given g = {0};
    gf_status st = GF_OK;
    bool fresh;
    for (size_t i = 0; i < o->n_taken && st == GF_OK; i++)
        st = gf_label_give(&g, o->taken[i], &fresh, err);
    if (st == GF_OK) st = gf_label_choose_clusters(l, &g, memory, labels, err);
    if (st == GF_OK && o->tree) st = gf_label_nodes(l, o->tree, &g, o->cancel, memory, labels, err);
    gf_labels_given_release(&g);
    return st;
}

static void release_counted(gf_label_counted *c)
{
    gf_free(c->candidates);
    gf_strings_release(&c->keys);
    gf_strings_release(&c->forms);
    gf_free(c->bits);
    gf_free(c->phrases);
    gf_free(c->documents);
}

gf_status gf_labels_choose(gf_pool *pool, const gf_label_cluster *clusters, uint32_t k,
                           const gf_label_options *options, gf_arena *memory, gf_slice *labels,
                           gf_error *err)
{
    gf_labelling l = {.clusters = clusters, .k = k, .rows = options->rows};
    const gf_cancel *cancel = options->cancel;
    l.counted = gf_calloc(k, sizeof *l.counted);
    gf_status st = l.counted ? GF_OK : gf_fail_memory(err, "labels");
    if (st == GF_OK) st = gf_pool_run(pool, k, find_candidates, &l, cancel, err);
    if (st == GF_OK) st = number_phrases(&l, err);
    if (st == GF_OK) st = mark_words(&l, err);
    if (st == GF_OK) st = count_all(&l, pool, cancel, err);
    if (st == GF_OK) st = add_counts(&l, err);
    if (st == GF_OK) st = gf_pool_run(pool, k, score_cluster, &l, cancel, err);
    if (st == GF_OK) st = choose_all(&l, options, memory, labels, err);
    for (uint32_t j = 0; l.counted && j < k; j++)
        release_counted(&l.counted[j]);
    gf_free(l.counted);
    gf_free(l.with);
    gf_free(l.phrase_of_term);
    gf_phrase_slots_release(&l.words);
    gf_strings_release(&l.phrases);
    return st;
}
