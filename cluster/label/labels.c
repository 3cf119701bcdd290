#include "cluster/label/labels.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "cluster/label/internal.h"

#include <math.h>
#include <stdlib.h>

#define INNER 0.85 /* how much less a phrase counts for each stop word inside */
#define WEAK  0.5  /* and a weak phrase (phrases.h) */

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
        if (t->at[id].count >= least)
            all[n++] = (gf_label_candidate){.key = gf_strings_at(&t->keys, id),
                                            .count = t->at[id].count,
                                            .n_words = t->at[id].n_words,
                                            .n_inner = t->at[id].n_inner,
                                            .weak = t->at[id].weak};
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

/* Only phrases that begin with a marked word are looked up. */
static gf_status mark_words(gf_labelling *l, gf_error *err)
{
    gf_status st = gf_phrase_slots_init(&l->words, l->phrases.n, false, err);
    for (uint32_t p = 0; p < l->phrases.n && st == GF_OK; p++)
        gf_phrase_slots_mark(&l->words, gf_strings_at(&l->phrases, p));
    return st;
}

static gf_status count_phrases(void *context, size_t j, unsigned worker, gf_error *err)
{
    (void)worker;
    gf_labelling *l = context;
    const gf_label_cluster *c = &l->clusters[j];
    gf_label_counted *out = &l->counted[j];
    uint32_t n = l->phrases.n, *last = gf_calloc(n, sizeof *last);
    uint32_t *count = gf_calloc(n, sizeof *count);
    gf_buffer key = {0};
    gf_status st = last && count ? GF_OK : gf_fail_memory(err, "labels");
    for (uint32_t i = 0; i < c->n_documents && st == GF_OK; i++) {
        gf_phrase_walk w = gf_phrase_start_among(&c->documents[i], key, &l->words, 1);
        while (gf_phrase_next(&w)) {
            uint32_t p = gf_strings_find(&l->phrases, gf_buffer_view(&w.key));
            if (p == GF_STRING_NONE || last[p] == i + 1) continue;
            last[p] = i + 1;
            out->n_found += count[p]++ == 0;
        }
        key = w.key;
        st = gf_buffer_check(&key, err);
    }
    if (st == GF_OK) {
        out->phrases = gf_array(out->n_found, sizeof *out->phrases);
        out->counts = gf_array(out->n_found, sizeof *out->counts);
        if (!out->phrases || !out->counts) st = gf_fail_memory(err, "labels");
    }
    for (uint32_t p = 0, i = 0; p < n && st == GF_OK; p++) {
        if (count[p] == 0) continue;
        out->phrases[i] = p;
        out->counts[i++] = count[p];
    }
    gf_buffer_release(&key);
    gf_free(last);
    gf_free(count);
    return st;
}

/* Documents of all clusters that have each phrase, as the samples have it. */
static gf_status estimate(gf_labelling *l, gf_error *err)
{
    l->outside = gf_calloc(l->phrases.n, sizeof *l->outside);
    if (!l->outside) return gf_fail_memory(err, "labels");
    for (uint32_t j = 0; j < l->k; j++) {
        const gf_label_cluster *c = &l->clusters[j];
        const gf_label_counted *found = &l->counted[j];
        l->documents += (double)c->size;
        l->sampled += c->n_documents;
        for (uint32_t i = 0; i < found->n_found; i++)
            l->outside[found->phrases[i]] +=
                (double)c->size * found->counts[i] / (double)c->n_documents;
    }
    return GF_OK;
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* Hide the candidate of that key if `longer`, which holds it, is nearly as frequent. */
static void hide_part(gf_label_counted *c, gf_slice key, const gf_label_candidate *longer)
{
    uint32_t id = gf_strings_find(&c->keys, key);
    if (id == GF_STRING_NONE) return;
    gf_label_candidate *part = &c->candidates[id];
    if ((double)longer->count >= GF_LABEL_COMPLETE * (double)part->count) part->hidden = true;
}

/* The phrases within each longer one, from every word on, and up to every word. */
static void hide_parts(gf_label_counted *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const gf_label_candidate *longer = &c->candidates[i];
        for (size_t from = 0; from < longer->key.len;) {
            gf_slice tail = gf_slice_skip(longer->key, from);
            for (size_t to = 0; to < tail.len;) {
                to += gf_phrase_word_length(gf_slice_skip(tail, to));
                if (to < longer->key.len) hide_part(c, gf_slice_of(tail.ptr, to), longer);
            }
            from += gf_phrase_word_length(tail);
        }
    }
}

double gf_label_length_factor(uint32_t n_words, uint32_t n_inner, bool weak)
{
    static const double factor[GF_PHRASE_WORDS + 1] = {0, 1, 1.25, 1.2, 1};
    return factor[n_words - n_inner] * pow(INNER, n_inner) * (weak ? WEAK : 1);
}

static void score(const gf_labelling *l, uint32_t j, gf_label_candidate *c)
{
    const gf_label_cluster *cluster = &l->clusters[j];
    double size = (double)cluster->size, rest = l->documents - size;
    double share = (double)c->count / cluster->n_documents;
    double outside = l->outside[c->phrase] - share * size;
    if (outside < 0) outside = 0;
    /* Half a document more outside, of as many as were looked at there, keeps the ratio finite. */
    double seen = (double)(l->sampled - cluster->n_documents) + 1;
    double elsewhere = rest > 0 ? outside / rest + 0.5 / seen : 0.5 / (1 + size);
    c->good = share >= GF_LABEL_FREQUENT && share >= GF_LABEL_LIFT * elsewhere;
    c->score =
        share * log(share / elsewhere) * gf_label_length_factor(c->n_words, c->n_inner, c->weak);
}

static int by_score(const void *a, const void *b)
{
    const gf_label_candidate *x = a, *y = b;
    if (x->hidden != y->hidden) return x->hidden ? 1 : -1;
    if (x->good != y->good) return x->good ? -1 : 1;
    if (x->score > y->score) return -1;
    if (x->score < y->score) return 1;
    return gf_slice_compare(x->key, y->key);
}

static gf_status score_cluster(void *context, size_t j, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    gf_labelling *l = context;
    gf_label_counted *c = &l->counted[j];
    hide_parts(c);
    for (uint32_t i = 0; i < c->n; i++)
        score(l, (uint32_t)j, &c->candidates[i]);
    qsort(c->candidates, c->n, sizeof *c->candidates, by_score);
    return GF_OK;
}

/* ---- the choice ------------------------------------------------------------------------------ */

gf_status gf_label_give(gf_labels_given *g, gf_slice label, bool *fresh, gf_error *err)
{
    gf_buffer lower = {0};
    uint32_t id;
    gf_utf8_fold(label, &lower);
    gf_status st = gf_buffer_check(&lower, err);
    if (st == GF_OK) st = gf_strings_add(&g->letters, gf_buffer_view(&lower), &id, fresh, err);
    gf_buffer_release(&lower);
    return st;
}

/* The cluster's best phrase that no other has; form is empty where there is none. */
static gf_status choose_phrase(const gf_label_cluster *cluster, const gf_label_counted *c,
                               gf_labels_given *g, gf_buffer *form, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < c->n && st == GF_OK; i++) {
        const gf_label_candidate *best = &c->candidates[i];
        uint32_t id;
        bool fresh = false;
        if (gf_strings_find(&g->keys, best->key) != GF_STRING_NONE) continue;
        st = gf_phrase_common_form(cluster, best->key, form, err);
        if (st == GF_OK && form->len) st = gf_label_give(g, gf_buffer_view(form), &fresh, err);
        if (st == GF_OK && fresh) return gf_strings_add(&g->keys, best->key, &id, NULL, err);
    }
    gf_buffer_reset(form);
    return st;
}

static gf_status choose_label(const gf_labelling *l, uint32_t j, gf_labels_given *g,
                              gf_arena *memory, gf_slice *label, gf_error *err)
{
    gf_buffer form = {0};
    const gf_label_cluster *cluster = &l->clusters[j];
    bool fresh = false;
    gf_status st = choose_phrase(cluster, &l->counted[j], g, &form, err);
    if (st == GF_OK && form.len == 0 && cluster->otherwise.len) {
        st = gf_label_give(g, cluster->otherwise, &fresh, err);
        if (st == GF_OK && fresh) gf_buffer_slice(&form, cluster->otherwise);
        if (st == GF_OK) st = gf_buffer_check(&form, err);
    }
    for (uint32_t number = j + 1; st == GF_OK && form.len == 0; number += l->k) {
        gf_buffer_format(&form, "cluster %u", number);
        st = gf_buffer_check(&form, err);
        if (st == GF_OK) st = gf_label_give(g, gf_buffer_view(&form), &fresh, err);
        if (st == GF_OK && !fresh) gf_buffer_reset(&form);
    }
    if (st == GF_OK) {
        *label = gf_arena_copy(memory, gf_buffer_view(&form));
        if (!label->ptr) st = gf_fail_memory(err, "labels");
    }
    gf_buffer_release(&form);
    return st;
}

static gf_status choose_all(const gf_labelling *l, const gf_tree *tree, const gf_slice *taken,
                            size_t n_taken, const gf_cancel *cancel, gf_arena *memory,
                            gf_slice *labels, gf_error *err)
{
    gf_labels_given g = {0};
    gf_status st = GF_OK;
    bool fresh;
    for (size_t i = 0; i < n_taken && st == GF_OK; i++)
        st = gf_label_give(&g, taken[i], &fresh, err);
    for (uint32_t j = 0; j < l->k && st == GF_OK; j++)
        st = choose_label(l, j, &g, memory, &labels[j], err);
    if (st == GF_OK && tree) st = gf_label_nodes(l, tree, &g, cancel, memory, labels, err);
    gf_strings_release(&g.keys);
    gf_strings_release(&g.letters);
    return st;
}

gf_status gf_labels_choose(gf_pool *pool, const gf_label_cluster *clusters, uint32_t k,
                           const gf_slice *taken, size_t n_taken, const gf_cancel *cancel,
                           gf_arena *memory, gf_slice *labels, gf_error *err)
{
    return gf_labels_choose_tree(pool, clusters, k, NULL, taken, n_taken, cancel, memory, labels,
                                 err);
}

gf_status gf_labels_choose_tree(gf_pool *pool, const gf_label_cluster *clusters, uint32_t k,
                                const gf_tree *tree, const gf_slice *taken, size_t n_taken,
                                const gf_cancel *cancel, gf_arena *memory, gf_slice *labels,
                                gf_error *err)
{
    gf_labelling l = {.clusters = clusters, .k = k};
    l.counted = gf_calloc(k, sizeof *l.counted);
    gf_status st = l.counted ? GF_OK : gf_fail_memory(err, "labels");
    if (st == GF_OK) st = gf_pool_run(pool, k, find_candidates, &l, cancel, err);
    if (st == GF_OK) st = number_phrases(&l, err);
    if (st == GF_OK) st = mark_words(&l, err);
    if (st == GF_OK) st = gf_pool_run(pool, k, count_phrases, &l, cancel, err);
    if (st == GF_OK) st = estimate(&l, err);
    if (st == GF_OK) st = gf_pool_run(pool, k, score_cluster, &l, cancel, err);
    if (st == GF_OK) st = choose_all(&l, tree, taken, n_taken, cancel, memory, labels, err);
    for (uint32_t j = 0; l.counted && j < k; j++) {
        gf_free(l.counted[j].candidates);
        gf_strings_release(&l.counted[j].keys);
        gf_free(l.counted[j].phrases);
        gf_free(l.counted[j].counts);
    }
    gf_free(l.counted);
    gf_free(l.outside);
    gf_phrase_slots_release(&l.words);
    gf_strings_release(&l.phrases);
    return st;
}
