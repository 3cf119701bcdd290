/*
 * Figures of the clusters: cluster/measure/figures.h says how terms and labels are counted.
 *
 * A label finds a document by the words themselves: the document's row has the terms of all words
 * of the label that are terms, in whatever order they stand; of a label "A / B" those of A or those
 * of B.
 */
#include "engine/build/figures.h"

#include "base/lower_bound.h"
#include "base/memory.h"
#include "cluster/label/labels.h"
#include "cluster/measure/figures.h"
#include "vectorize/rows/transformer.h"

#include <math.h>

enum {
    BLOCK = 4096,            /* rows of a task */
    CLUSTERS = 64,           /* of a task */
    MOST_TALLIES = 256 << 20 /* bytes, of all threads */
};

typedef struct figuring {
    const gf_build_plan *plan;
    const gf_build_gathered *documents;
    const gf_build_clustered *clustered;
    gf_figures_watch *watch; /* k */
    const gf_build_named *named;
    const gf_build_matched *matched;
    gf_transformer **transformers; /* per worker, made when it is needed */
    gf_figures_index index;
    gf_figures_tally *tallies; /* n_tallies: one for each thread that counts */
    uint32_t n_tallies;
    uint32_t **seen;        /* per worker, made when it is needed: k zeros */
    gf_cluster_figures *at; /* k */
} figuring;

void gf_build_figures_release(gf_build_figures *figures)
{
    gf_free(figures->at);
    *figures = (gf_build_figures){0};
}

uint32_t gf_build_heaviest_terms(const gf_centre *c, uint32_t most, uint32_t *best)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < c->n; p++) {
        if (n == most && c->value[p] <= c->value[best[n - 1]]) continue;
        if (n < most) n++;
        uint32_t at = n - 1;
        for (; at > 0 && c->value[p] > c->value[best[at - 1]]; at--)
            best[at] = best[at - 1];
        best[at] = p;
    }
    return n;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* The weight of a term in a centre. */
static double weight_of(const gf_centre *c, uint32_t term)
{
    uint32_t low = gf_lower_bound(c->term, c->n, term);
    return low < c->n && c->term[low] == term ? c->value[low] : 0;
}

/* The bit of a word, which is added where it is new; 0 where there is no room. */
static uint32_t word_bit(gf_figures_watch *w, uint32_t term)
{
    uint32_t i = 0;
    while (i < w->n_words && w->word[i] != term)
        i++;
    if (i == GF_FIGURES_WORDS) return 0;
    if (i == w->n_words) w->word[w->n_words++] = term;
    return 1u << i;
}

/* Add a part's terms; its bits are none if one of its words is no term. */
static gf_status add_part(gf_transformer *t, gf_slice text, const gf_language *language,
                          gf_figures_watch *w, uint32_t *bits, gf_error *err)
{
    const gf_sequence_token *tokens;
    size_t n;
    gf_status st = gf_transformer_sequence(t, text, language, &tokens, &n, err);
    *bits = 0;
    for (size_t i = 0; st == GF_OK && i < n; i++) {
        if (tokens[i].flags & (GF_SEQUENCE_STOP | GF_SEQUENCE_OTHER)) continue;
        uint32_t bit = tokens[i].term == GF_TERM_NONE ? 0 : word_bit(w, tokens[i].term);
        *bits |= bit;
        if (bit) continue;
        *bits = 0;
        return GF_OK;
    }
    return st;
}

/* The parts of "A / B", or the whole. */
static size_t split_label(gf_slice label, gf_slice parts[GF_FIGURES_PARTS])
{
    const char *cut = label.len ? memmem(label.ptr, label.len, " / ", 3) : NULL;
    parts[0] = label;
    if (!cut) return 1;
    parts[0].len = (size_t)(cut - label.ptr);
    parts[1] = gf_slice_skip(label, parts[0].len + 3);
    return 2;
}

/* Add the label's words as a language has them; *weight: in the centre. */
static gf_status add_label(gf_transformer *t, gf_slice label, const gf_language *language,
                           const gf_centre *centre, gf_figures_watch *w, double *weight,
                           gf_error *err)
{
    gf_slice parts[GF_FIGURES_PARTS];
    size_t n = split_label(label, parts);
    gf_status st = GF_OK;
    w->n_words = 0;
    *weight = 0;
    for (size_t p = 0; p < GF_FIGURES_PARTS; p++) {
        w->part[p] = 0;
        if (p < n && st == GF_OK) st = add_part(t, parts[p], language, w, &w->part[p], err);
        for (uint32_t i = 0; i < w->n_words; i++)
            if (w->part[p] >> i & 1) *weight += weight_of(centre, w->word[i]);
    }
    return st;
}

/*
 * The label's language, when each text has its own, is the one by which its words weigh most in
 * the centre.
 */
static gf_status find_label(const figuring *f, gf_transformer *t, gf_slice label, uint32_t cluster,
                            gf_error *err)
{
    const gf_fallback *fallback = &f->documents->fallback;
    const gf_centre *centre = &gf_build_clustered_terms(f->clustered)->at[cluster];
    gf_figures_watch *best = &f->watch[cluster];
    bool detect = f->plan->settings.detect;
    double most, weight;
    gf_status st =
        add_label(t, label, detect ? fallback->language : NULL, centre, best, &most, err);
    for (size_t i = 0; st == GF_OK && detect && i < GF_LANGUAGES; i++) {
        gf_figures_watch w = *best;
        if (fallback->kind == GF_FALLBACK_FIXED && most > 0) break;
        st = add_label(t, label, gf_language_at(i), centre, &w, &weight, err);
        if (st != GF_OK || weight <= most) continue;
        *best = w;
        most = weight;
    }
    return st;
}

/* ---- watched terms --------------------------------------------------------------------------- */

static gf_status make_transformer(const figuring *f, gf_transformer **t, gf_error *err)
{
    const gf_build_gathered *d = f->documents;
    if (*t) return GF_OK;
    gf_status st =
        gf_transformer_create(&f->plan->settings.vectorizer, &d->vectors.vocabulary, t, err);
    if (st == GF_OK && d->analyser) gf_transformer_borrow(*t, d->analyser);
    return st;
}

static uint32_t end_of_task(const figuring *f, size_t task)
{
    uint32_t k = f->clustered->kmeans.k, first = (uint32_t)task * CLUSTERS;
    return k - first < CLUSTERS ? k : first + CLUSTERS;
}

static gf_status watch_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    figuring *f = context;
    const gf_centres *centres = gf_build_clustered_terms(f->clustered);
    gf_status st = make_transformer(f, &f->transformers[worker], err);
    for (uint32_t c = (uint32_t)task * CLUSTERS; c < end_of_task(f, task) && st == GF_OK; c++) {
        gf_figures_watch *w = &f->watch[c];
        gf_slice label = f->named->labels[c];
        uint32_t entries[GF_FIGURES_TERMS];
        w->n_terms = gf_build_heaviest_terms(&centres->at[c], GF_FIGURES_TERMS, entries);
        for (uint32_t i = 0; i < w->n_terms; i++)
            w->term[i] = centres->at[c].term[entries[i]];
        if (!gf_label_is_mixed(label)) /* it looks for nothing */
            st = find_label(f, f->transformers[worker], label, c, err);
    }
    return st;
}

static size_t count_tasks(const figuring *f)
{
    return ((size_t)f->clustered->kmeans.k + CLUSTERS - 1) / CLUSTERS;
}

static gf_status watch_all(figuring *f, gf_pool *pool, gf_error *err)
{
    unsigned workers = gf_pool_size(pool);
    f->transformers = gf_calloc(workers, sizeof(gf_transformer *));
    if (!f->transformers) return gf_fail_memory(err, "figures");
    gf_status st = gf_pool_run(pool, count_tasks(f), watch_task, f, f->plan->options->cancel, err);
    for (unsigned w = 0; w < workers; w++)
        gf_transformer_free(f->transformers[w]);
    gf_free(f->transformers);
    if (st != GF_OK) return st;
    return gf_figures_index_init(&f->index, f->watch, f->clustered->kmeans.k,
                                 f->documents->vectors.vocabulary.n_terms, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Count rows 0 .. n-1 of x, which are documents from `first` on. */
static void count_rows(const figuring *f, gf_figures_tally *tally, const gf_csr *x, uint32_t from,
                       uint32_t n, uint32_t first)
{
    const gf_build_clustered *c = f->clustered;
    uint32_t point = gf_lower_bound(c->row_of, c->kmeans.n, first);
    for (uint32_t i = 0; i < n; i++) {
        bool is_member = point < c->kmeans.n && c->row_of[point] == first + i;
        gf_figures_tally_add(tally, &f->index, gf_csr_row(x, from + i),
                             is_member ? c->kmeans.label[point++] : GF_NO_CLUSTER);
    }
}

static gf_status count_block(const figuring *f, gf_figures_tally *tally, uint32_t first, uint32_t n,
                             gf_error *err)
{
    const gf_build_gathered *d = f->documents;
    gf_csr x;
    gf_status st = gf_cancel_check(f->plan->options->cancel, err);
    if (st != GF_OK) return st;
    if (!d->vectors.entries) {
        count_rows(f, tally, &d->vectors.x, first, n, first);
        return GF_OK;
    }
    gf_row_file rows = gf_build_gathered_row_file(d);
    st = gf_row_file_read(&rows, first, n, &x, err);
    if (st != GF_OK) return st;
    count_rows(f, tally, &x, 0, n, first);
    gf_csr_release(&x);
    return GF_OK;
}

static gf_status count_task(void *context, size_t block, unsigned worker, gf_error *err)
{
    figuring *f = context;
    gf_figures_tally *tally = &f->tallies[worker];
    uint32_t n = f->documents->n, at = (uint32_t)block * BLOCK;
    gf_status st = tally->counts ? GF_OK : gf_figures_tally_init(tally, &f->index, err);
    if (st != GF_OK) return st;
    return count_block(f, tally, at, n - at < BLOCK ? n - at : BLOCK, err);
}

/* Whole numbers are counted, so it does not matter which thread looks at which rows. */
static gf_status count_all(figuring *f, gf_pool *pool, gf_error *err)
{
    uint64_t each = (uint64_t)f->index.k * (sizeof(gf_figures_count) + 8);
    uint64_t room = f->plan->spills ? 1 : MOST_TALLIES / each + 1;
    unsigned threads = gf_pool_size(pool);
    size_t blocks = ((size_t)f->documents->n + BLOCK - 1) / BLOCK;
    const gf_cancel *cancel = f->plan->options->cancel;
    gf_pool *few = NULL;
    f->n_tallies = room < threads ? (uint32_t)room : threads;
    f->tallies = gf_calloc(f->n_tallies, sizeof *f->tallies);
    gf_status st = f->tallies ? GF_OK : gf_fail_memory(err, "figures");
    if (st == GF_OK && f->n_tallies < threads) st = gf_pool_create(f->n_tallies, &few, err);
    if (st == GF_OK) st = gf_pool_run(few ? few : pool, blocks, count_task, f, cancel, err);
    gf_pool_free(few);
    return st;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Terms of a cluster that no other watches as one of its ten. */
static uint32_t count_own(const gf_figures_index *x, const gf_figures_watch *w)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < w->n_terms; i++) {
        uint32_t watchers = 0;
        for (uint32_t e = x->start[w->term[i]]; e < x->start[w->term[i] + 1]; e++)
            watchers += x->bit[e] < GF_FIGURES_TERMS;
        own += watchers == 1;
    }
    return own;
}

/*
 * Scores of the members; *nearest: the cluster that is next best for most of them (of equal ones
 * the lowest), or GF_NO_CLUSTER. seen: k zeros, and again so at the end.
 */
static void look_at_members(const gf_build_clustered *c, uint32_t cluster, uint32_t *seen,
                            gf_cluster_figures *f, uint32_t *nearest)
{
    const gf_kmeans *r = &c->kmeans;
    const uint32_t *members = c->members + c->start[cluster];
    uint32_t n = gf_build_clustered_size(c, cluster);
    double score = 0, margin = 0;
    *nearest = GF_NO_CLUSTER;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = members[i], next = r->runner_up[p];
        score += r->score[p];
        margin += r->score[p] - r->second[p];
        f->weak += next != GF_NO_CLUSTER && r->second[p] >= GF_WEAK_FIT * r->score[p];
        if (next != GF_NO_CLUSTER) seen[next]++;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = r->runner_up[members[i]];
        if (next == GF_NO_CLUSTER) continue;
        bool more = *nearest == GF_NO_CLUSTER || seen[next] > seen[*nearest];
        if (more || (seen[next] == seen[*nearest] && next < *nearest)) *nearest = next;
    }
    for (uint32_t i = 0; i < n; i++)
        if (r->runner_up[members[i]] != GF_NO_CLUSTER) seen[r->runner_up[members[i]]] = 0;
    f->documents = n;
    f->score = n ? score / n : 0;
    f->margin = n ? margin / n : 0;
}

static gf_cluster_figures figures_of(const figuring *f, uint32_t cluster,
                                     const gf_figures_count *count, uint32_t *seen)
{
    const gf_build_clustered *c = f->clustered;
    const gf_figures_watch *w = &f->watch[cluster];
    gf_cluster_figures out = {.has_label = w->part[0] || w->part[1],
                              .found = count->found,
                              .hits = count->members,
                              .npmi = gf_figures_npmi(count, w->n_terms, f->documents->n),
                              .terms = w->n_terms,
                              .own_terms = count_own(&f->index, w)};
    uint32_t nearest;
    look_at_members(c, cluster, seen, &out, &nearest);
    if (nearest == GF_NO_CLUSTER) return out;
    out.nearest = f->matched->ids[nearest];
    out.similarity = gf_csr_row_dot(gf_centre_row(&c->kmeans.centres.at[cluster]),
                                    gf_centre_row(&c->kmeans.centres.at[nearest]));
    return out;
}

static gf_status figure_task(void *context, size_t task, unsigned worker, gf_error *err)
{
    figuring *f = context;
    uint32_t **seen = &f->seen[worker];
    if (!*seen) *seen = gf_calloc(f->clustered->kmeans.k, sizeof **seen);
    if (!*seen) return gf_fail_memory(err, "figures");
    for (uint32_t c = (uint32_t)task * CLUSTERS; c < end_of_task(f, task); c++) {
        gf_figures_count count = {.found = 0};
        for (uint32_t t = 0; t < f->n_tallies; t++)
            if (f->tallies[t].counts) gf_figures_count_add(&count, &f->tallies[t], &f->index, c);
        f->at[c] = figures_of(f, c, &count, *seen);
    }
    return GF_OK;
}

static gf_status figure_all(figuring *f, gf_pool *pool, gf_error *err)
{
    unsigned workers = gf_pool_size(pool);
    f->seen = gf_calloc(workers, sizeof *f->seen);
    if (!f->seen) return gf_fail_memory(err, "figures");
    gf_status st = gf_pool_run(pool, count_tasks(f), figure_task, f, f->plan->options->cancel, err);
    for (unsigned w = 0; w < workers; w++)
        gf_free(f->seen[w]);
    gf_free(f->seen);
    return st;
}

gf_status gf_build_figure(const gf_build_plan *plan, gf_pool *pool,
                          const gf_build_gathered *documents, const gf_build_clustered *clustered,
                          const gf_build_matched *matched, const gf_build_named *named,
                          gf_build_figures *out, gf_error *err)
{
    uint32_t k = clustered->kmeans.k;
    if (k == 0) return GF_OK;
    gf_build_plan_progress(plan, "measuring clusters", 0, k);
    figuring f = {.plan = plan,
                  .documents = documents,
                  .clustered = clustered,
                  .named = named,
                  .matched = matched};
    f.watch = gf_calloc(k, sizeof *f.watch);
    f.at = out->at = gf_calloc(k, sizeof *out->at);
    gf_status st = f.watch && out->at ? GF_OK : gf_fail_memory(err, "figures");
    if (st == GF_OK) st = watch_all(&f, pool, err);
    if (st == GF_OK) st = count_all(&f, pool, err);
    if (st == GF_OK) st = figure_all(&f, pool, err);
    for (uint32_t i = 0; f.tallies && i < f.n_tallies; i++)
        gf_figures_tally_release(&f.tallies[i]);
    gf_free(f.tallies);
    gf_figures_index_release(&f.index);
    gf_free(f.watch);
    return st;
}
