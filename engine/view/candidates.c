/*
 * Candidates, what is new since a view's build: groups of pending documents that fit none of its clusters.
 *
 *     pending documents    analysed as the build's are, into terms of their own: rows of tf
 *     a sample of the build's, behind them: a term that the build does not know, because too many
 *                          of its documents have it, is not new
 *     weights              tf * ln((N + n) / (df in the build + df here)), of unit length
 *     fit                  score in the build * length of the known part, against the cluster's own
 *     new terms            more often here, or among the last of them, than chance has it, in documents
 *                          that fit nowhere
 *     k-means              of the documents that fit nowhere and have a new term
 *     groups               of its clusters: those half of which have the same new term are one
 *     growth               documents that are more like a group's centre than like their own cluster's, and than
 *                          nearly all of the build's that were sampled; groups that would join each other are one
 *
 * The build's own space would not do: what is new is told by words that it does not have.
 */
#include "engine/view/kept_candidates.h"
#include "engine/view/view.h"

#include "base/clock.h"
#include "base/grid.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "cluster/kmeans.h"
#include "grouperfish/changes.h"
#include "vectorize/rows/vectorizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 5, SAMPLE = 300, TERMS = 10, EXAMPLES = 5, GROUP = 1000, ROUNDS = 5, GROWN = 100 };

/* One in so many of the build's documents is more like a group than what joins it: 20 where few are pending. */
enum { LEAST_ABOVE = 20, MOST_ABOVE = 100, PENDING_ABOVE = 10 };

#define NO_GROUP UINT32_MAX

#define ALPHA    0.05 /* that anything is told of documents that came at random */
#define FREQUENT 0.25 /* share of the sample from which an unknown term is a frequent one */

typedef struct pending_document {
    gf_slice id, text; /* in the memory */
    const gf_language *language;
    uint32_t cluster; /* the nearest; 0: none */
    float score;
    bool has_time, fits;
    int64_t time;
} pending_document;

typedef struct searching {
    gf_view *view;
    const gf_cancel *cancel;
    uint32_t least;
    gf_arena memory;
    pending_document *at; /* n pending ones, then a sample of the build's up to n_all */
    size_t n, n_all, capacity;
    gf_vectors rows; /* n_all */

    /* For each column of rows that is a regular term: */
    uint32_t n_terms;
    uint32_t *df;    /* here */
    uint32_t *known; /* in the build; GF_TERM_NONE: the build does not have it */
    double *weight;  /* idf over both; 0: passed over */
    double *p;       /* of a new term, corrected; else 1 */

    float *
        quartile; /* view->n_clusters: below it, three quarters of the members fit better; -1: not read */
    gf_kept_candidates kept;
    gf_visit_candidate *visit;
    void *context;
} searching;

/* ---- documents ------------------------------------------------------------------------------- */

static bool read_time(gf_slice json, int64_t *ms)
{
    double number;
    if (json.len > 2 && json.ptr[0] == '"') {
        gf_slice text = gf_slice_of(json.ptr + 1, json.len - 2);
        return gf_clock_parse_iso(text, ms) || gf_clock_parse_words(text, ms);
    }
    return gf_number_read_decimal(json, &number) && gf_clock_from_number(number, ms);
}

static gf_status keep_document(searching *s, const gf_document *d, gf_error *err)
{
    const char *name = NULL;
    gf_status st = gf_view_language(s->view, d, &name, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&s->at, &s->capacity, s->n_all + 1, sizeof *s->at))
        return gf_fail_memory(err, "documents");
    pending_document *p = &s->at[s->n_all];
    *p = (pending_document){.id = gf_arena_copy(&s->memory, d->id),
                            .text = gf_arena_copy(&s->memory, d->text),
                            .language = name ? gf_language_find(gf_slice_str(name)) : NULL};
    if (!p->id.ptr || !p->text.ptr) return gf_fail_memory(err, "documents");
    p->has_time = read_time(d->time, &p->time);
    s->n_all++;
    return GF_OK;
}

static gf_status keep_pending(void *context, const gf_document *d, const gf_membership *m,
                              gf_error *err)
{
    searching *s = context;
    gf_status st = gf_cancel_check(s->cancel, err);
    if (st == GF_OK) st = keep_document(s, d, err);
    if (st != GF_OK) return st;
    s->at[s->n].cluster = m->cluster;
    s->at[s->n++].score = m->score;
    return GF_OK;
}

static gf_status keep_sample(void *context, gf_slice id, const gf_membership_cells *cells,
                             const gf_row *row, gf_error *err)
{
    searching *s = context;
    const gf_cell *text = gf_row_find(row, GF_DOCUMENTS_MAIN, "text");
    const gf_cell *lang = gf_row_find(row, GF_DOCUMENTS_MAIN, "lang");
    (void)cells;
    if (s->n_all == s->n + SAMPLE) return gf_fail(NULL, GF_ELIMIT, "enough");
    gf_document d = {.id = id};
    if (text) d.text = text->value;
    if (lang) d.language = lang->value;
    return keep_document(s, &d, err);
}

static gf_status gather(searching *s, gf_error *err)
{
    gf_status st = gf_view_each_pending(s->view, keep_pending, s, err);
    if (st != GF_OK || s->n < s->least) return st;
    st = gf_view_each_member(s->view, keep_sample, s, err);
    return st == GF_ELIMIT ? GF_OK : st;
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* Terms of any number of documents, and tf alone for a weight: the idf is of both. */
static gf_status analyse(searching *s, gf_error *err)
{
    gf_vectorizer *vectorizer = NULL;
    gf_text texts[GROUP];
    gf_vectorizer_options o = s->view->model.analysis.options;
    o.weights.idf = GF_IDF_NONE;
    o.weights.norm = GF_NORM_L2;
    o.min_df = (gf_df_limit){.kind = GF_DF_COUNT, .count = 2};
    o.max_df = (gf_df_limit){.kind = GF_DF_SHARE, .share = 1};
    o.max_terms = 0;
    gf_status st = gf_vectorizer_create(&o, NULL, &vectorizer, err);
    for (size_t i = 0; i < s->n_all && st == GF_OK; i += GROUP) {
        size_t n = s->n_all - i < GROUP ? s->n_all - i : GROUP;
        for (size_t j = 0; j < n; j++)
            texts[j] = (gf_text){s->at[i + j].text, s->at[i + j].language};
        st = gf_vectorizer_add(vectorizer, texts, n, s->cancel, err);
    }
    if (st == GF_OK) st = gf_vectorizer_finish(vectorizer, &s->rows, s->cancel, err);
    gf_vectorizer_free(vectorizer);
    return st;
}

/* Documents of the build that a term may be in at most where the build dropped it as rare. */
static uint32_t most_unknown(const gf_view *v)
{
    const gf_df_limit *l = &v->model.analysis.options.min_df;
    uint32_t n = v->model.vocabulary.n_docs, least;
    if (l->kind == GF_DF_AUTO)
        least = n >= GF_AUTO_DF ? 2 : 1;
    else
        least = l->kind == GF_DF_COUNT ? l->count : (uint32_t)ceil(l->share * n);
    return least ? least - 1 : 0;
}

static gf_status weigh_terms(searching *s, gf_error *err)
{
    const gf_vocabulary *own = &s->rows.vocabulary, *build = &s->view->model.vocabulary;
    uint32_t n = s->n_terms = own->n_regular, unknown = most_unknown(s->view);
    uint32_t *sampled = gf_calloc((size_t)n + 1, sizeof *sampled);
    s->df = gf_calloc((size_t)n + 1, sizeof *s->df);
    s->known = gf_array((size_t)n + 1, sizeof *s->known);
    s->weight = gf_array((size_t)n + 1, sizeof *s->weight);
    s->p = gf_array((size_t)n + 1, sizeof *s->p);
    if (!sampled || !s->df || !s->known || !s->weight || !s->p) {
        gf_free(sampled);
        return gf_fail_memory(err, "terms");
    }
    for (size_t i = 0; i < s->n_all; i++) {
        gf_row_view row = gf_csr_row(&s->rows.x, (uint32_t)i);
        for (uint32_t e = 0; e < row.n; e++)
            if (row.col[e] < n) (i < s->n ? s->df : sampled)[row.col[e]]++;
    }
    for (uint32_t t = 0; t < n; t++) {
        uint32_t at = gf_vocabulary_find(build, gf_vocabulary_term(own, t));
        bool has = at != GF_TERM_NONE && at < build->n_regular;
        double all = (double)build->n_docs + (double)s->n;
        s->known[t] = has ? at : GF_TERM_NONE;
        bool frequent = !has && (double)sampled[t] > FREQUENT * (double)(s->n_all - s->n);
        double df = (double)s->df[t] + (has ? build->df[at] : unknown);
        s->weight[t] = frequent || df == 0 || df >= all ? 0 : log(all / df);
        s->p[t] = 1;
    }
    gf_free(sampled);
    return GF_OK;
}

/* The weight of an entry, before the row is of unit length. */
static double weight_of(const searching *s, gf_row_view row, uint32_t e)
{
    return row.col[e] < s->n_terms ? (double)row.val[e] * s->weight[row.col[e]] : 0;
}

/* ---- fit ------------------------------------------------------------------------------------- */

/* The score that a quarter of the members do not reach: as many steps from the worst one up. */
static gf_status read_quartile(searching *s, size_t cluster, gf_error *err)
{
    gf_view *v = s->view;
    const gf_listed_cluster *c = &v->clusters[cluster];
    gf_buffer key = {0};
    gf_scan *scan = NULL;
    gf_row row = {0};
    bool more = true;
    float score = 0;
    gf_slice id;
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), c->own_label);
    gf_status st = gf_buffer_check(&key, err);
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_CLUSTERS_RANKED,
                        .prefix = gf_buffer_view(&key), .reverse = true, .keys_only = true);
    if (st == GF_OK) st = gf_scan_open(v->store->tables.clusters, &o, &scan, err);
    for (uint64_t left = c->size / 4 + 1; st == GF_OK && more && left > 0;) {
        float one;
        st = gf_scan_step(scan, &row, &more, err);
        if (st != GF_OK || !more) break;
        if (!gf_tables_rank_read(row.cells[0].qualifier, &one, &id))
            st = gf_fail(err, GF_ECORRUPT, "table clusters: a rank is damaged");
        if (st != GF_OK || gf_deleted_set_has(v->deleted, id)) continue; /* sizes are without it */
        score = one;
        left--;
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    gf_buffer_release(&key);
    s->quartile[cluster] = score;
    return st;
}

static gf_status judge_fits(searching *s, gf_error *err)
{
    gf_view *v = s->view;
    gf_status st = GF_OK;
    s->quartile = gf_array(v->n_clusters + 1, sizeof *s->quartile);
    if (!s->quartile) return gf_fail_memory(err, "clusters");
    for (size_t c = 0; c < v->n_clusters; c++)
        s->quartile[c] = -1;
    for (size_t i = 0; i < s->n && st == GF_OK; i++) {
        pending_document *d = &s->at[i];
        const gf_listed_cluster *c = gf_view_find_cluster(v, d->cluster);
        gf_row_view row = gf_csr_row(&s->rows.x, (uint32_t)i);
        double all = 0, known = 0;
        if (!c) continue;
        size_t at = (size_t)(c - v->clusters);
        if (s->quartile[at] < 0) st = read_quartile(s, at, err);
        for (uint32_t e = 0; e < row.n; e++) {
            double w = weight_of(s, row, e);
            all += w * w;
            if (w > 0 && s->known[row.col[e]] != GF_TERM_NONE) known += w * w;
        }
        double share = all > 0 ? sqrt(known / all) : 1;
        d->score = (float)((double)d->score * share);
        d->fits = d->score >= s->quartile[at];
    }
    return st;
}

/* ---- new terms ------------------------------------------------------------------------------- */

double gf_view_chance(uint64_t all, uint64_t n, double q)
{
    double sum = 0, m = (double)all;
    for (uint64_t j = n; j <= all; j++) {
        double x = (double)j;
        double part = exp(lgamma(m + 1) - lgamma(x + 1) - lgamma(m - x + 1) + x * log(q) +
                          (m - x) * log1p(-q));
        sum += part;
        if (part <= sum * 1e-12) break; /* also where both are too small to be told from 0 */
    }
    return sum < 1 ? sum : 1;
}

/*
 * The last documents that came are looked at by themselves as well, since what is new came last: all of them, the
 * last half, the last quarter and so on. Each is a test of its own, and counts as one.
 */
static uint32_t count_windows(const searching *s)
{
    uint32_t n = 1;
    while (s->n >> n >= 2 * (size_t)s->least)
        n++;
    return n;
}

/* Documents of each term, and those that fit nowhere, in the last so many. */
static void count_window(const searching *s, size_t size, uint32_t *df, uint32_t *unfit)
{
    memset(df, 0, s->n_terms * sizeof *df);
    memset(unfit, 0, s->n_terms * sizeof *unfit);
    for (size_t i = s->n - size; i < s->n; i++) {
        gf_row_view row = gf_csr_row(&s->rows.x, (uint32_t)i);
        for (uint32_t e = 0; e < row.n; e++) {
            if (row.col[e] >= s->n_terms) continue;
            df[row.col[e]]++;
            unfit[row.col[e]] += !s->at[i].fits;
        }
    }
}

/* Terms of one window; `share` of all documents are in it. */
static gf_status find_in_window(searching *s, const uint32_t *df, const uint32_t *unfit,
                                double share, double tests, gf_error *err)
{
    const gf_vocabulary *build = &s->view->model.vocabulary;
    uint32_t unknown = most_unknown(s->view);
    gf_status st = GF_OK;
    for (uint32_t t = 0; t < s->n_terms && st == GF_OK; t++) {
        st = gf_cancel_check(s->cancel, err);
        uint64_t before = s->known[t] == GF_TERM_NONE ? unknown : build->df[s->known[t]];
        uint64_t all = before + s->df[t];
        if (s->weight[t] <= 0 || df[t] < s->least || 2 * unfit[t] < df[t]) continue;
        if ((double)df[t] <= share * (double)all) continue;
        double p = gf_view_chance(all, df[t], share) * tests;
        if (p <= ALPHA && p < s->p[t]) s->p[t] = p;
    }
    return st;
}

static gf_status find_new_terms(searching *s, uint32_t *n_new, gf_error *err)
{
    const gf_vocabulary *build = &s->view->model.vocabulary;
    uint32_t n_windows = count_windows(s), n_tested = build->n_regular;
    double all = (double)s->n + build->n_docs;
    uint32_t *df = gf_calloc((size_t)s->n_terms + 1, sizeof *df);
    uint32_t *unfit = gf_calloc((size_t)s->n_terms + 1, sizeof *unfit);
    gf_status st = df && unfit ? GF_OK : gf_fail_memory(err, "terms");
    for (uint32_t t = 0; t < s->n_terms; t++)
        n_tested += s->known[t] == GF_TERM_NONE;
    for (uint32_t w = 0; w < n_windows && st == GF_OK; w++) {
        size_t size = s->n >> w;
        count_window(s, size, df, unfit);
        st = find_in_window(s, df, unfit, (double)size / all, (double)n_tested * n_windows, err);
    }
    for (uint32_t t = 0; t < s->n_terms; t++)
        *n_new += s->p[t] < 1;
    gf_free(df);
    gf_free(unfit);
    return st;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool is_outside(const searching *s, size_t i)
{
    gf_row_view row = gf_csr_row(&s->rows.x, (uint32_t)i);
    for (uint32_t e = 0; !s->at[i].fits && e < row.n; e++)
        if (row.col[e] < s->n_terms && s->p[row.col[e]] < 1) return true;
    return false;
}

/* Rows of the documents that fit nowhere: document[r] of row r. */
static gf_status make_rows(const searching *s, gf_csr *x, uint32_t *document, gf_error *err)
{
    uint32_t n = 0;
    uint64_t entries = 0;
    for (size_t i = 0; i < s->n; i++)
        if (is_outside(s, i)) {
            document[n++] = (uint32_t)i;
            entries += gf_csr_row(&s->rows.x, (uint32_t)i).n;
        }
    gf_status st = gf_csr_init(x, n, s->n_terms, entries, err);
    for (uint32_t r = 0; r < n && st == GF_OK; r++) {
        gf_row_view row = gf_csr_row(&s->rows.x, document[r]);
        uint64_t to = x->start[r];
        double sum = 0;
        for (uint32_t e = 0; e < row.n; e++)
            sum += weight_of(s, row, e) * weight_of(s, row, e);
        for (uint32_t e = 0; e < row.n; e++) {
            float w = gf_grid_round(weight_of(s, row, e) / sqrt(sum));
            if (w <= 0) continue;
            x->col[to] = row.col[e];
            x->val[to++] = w;
        }
        x->start[r + 1] = to;
    }
    return st;
}

/* A group as it is told of. */
typedef struct grouped {
    const uint32_t *member; /* n documents, the most central first */
    const float *score;     /* s->n: of members the similarity to the group's centre */
    uint32_t n;
} grouped;

typedef struct weighed_term {
    uint32_t term;
    double weight;
} weighed_term;

static int by_weight(const void *a, const void *b)
{
    const weighed_term *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x->term < y->term ? -1 : x->term > y->term;
}

/* "chargers", or "chargers / cable" where a second new term is in others of the group as well. */
static void write_label(const searching *s, const weighed_term *terms, uint32_t n, gf_buffer *out)
{
    const gf_vocabulary *v = &s->rows.vocabulary;
    uint32_t found = 0;
    double first = 0;
    for (uint32_t i = 0; i < n && found < 2; i++) {
        if (s->p[terms[i].term] >= 1 || terms[i].weight < first / 2) continue;
        if (found++) gf_buffer_str(out, " / ");
        gf_buffer_slice(out, gf_vocabulary_surface(v, terms[i].term));
        if (found == 1) first = terms[i].weight;
    }
}

static void find_times(const searching *s, const grouped *g, gf_new_group *c)
{
    for (uint32_t i = 0; i < g->n; i++) {
        const pending_document *d = &s->at[g->member[i]];
        if (!d->has_time) continue;
        if (!c->has_times || d->time < c->first) c->first = d->time;
        if (!c->has_times || d->time > c->last) c->last = d->time;
        c->has_times = true;
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The cluster that most are nearest to; of equally many the lowest id. */
static void find_nearest(const searching *s, const grouped *g, uint32_t *ids, gf_new_group *c)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        const pending_document *d = &s->at[g->member[i]];
        ids[i] = d->cluster;
        c->similarity += (double)d->score / g->n;
    }
    qsort(ids, g->n, sizeof *ids, by_number);
    for (uint32_t i = 0, from = 0; i < g->n; i++) {
        if (ids[i] != ids[from]) from = i;
        if (ids[i] && i - from + 1 > most) {
            most = i - from + 1;
            c->nearest = ids[i];
        }
    }
    const gf_listed_cluster *l = gf_view_find_cluster(s->view, c->nearest);
    if (l) c->nearest_label = l->label;
}

static gf_status tell(searching *s, const grouped *g, double p, weighed_term *weighed, uint32_t n,
                      gf_error *err)
{
    gf_term terms[TERMS];
    gf_slice id[EXAMPLES], text[EXAMPLES];
    double score[EXAMPLES];
    gf_buffer label = {0};
    gf_new_group c = {.size = g->n, .terms = terms, .id = id, .text = text, .score = score, .p = p};
    uint32_t *ids = gf_array(g->n, sizeof *ids);
    gf_slice *all = gf_array(g->n, sizeof *all);
    float *scores = gf_array(g->n, sizeof *scores);
    gf_status st = ids && all && scores ? GF_OK : gf_fail_memory(err, "candidates");
    if (st != GF_OK) goto done;
    for (uint32_t i = 0; i < g->n; i++) {
        all[i] = s->at[g->member[i]].id;
        scores[i] = g->score[g->member[i]];
    }
    c.all = all;
    c.all_score = scores;
    c.candidate = gf_kept_candidates_claim(&s->kept, all, g->n);
    qsort(weighed, n, sizeof *weighed, by_weight);
    write_label(s, weighed, n, &label);
    for (; c.n_terms < n && c.n_terms < TERMS; c.n_terms++)
        terms[c.n_terms] =
            (gf_term){gf_vocabulary_surface(&s->rows.vocabulary, weighed[c.n_terms].term),
                      (float)weighed[c.n_terms].weight};
    for (; c.n_documents < g->n && c.n_documents < EXAMPLES; c.n_documents++) {
        uint32_t r = g->member[c.n_documents];
        id[c.n_documents] = s->at[r].id;
        text[c.n_documents] = s->at[r].text;
        score[c.n_documents] = (double)g->score[r];
    }
    find_times(s, g, &c);
    find_nearest(s, g, ids, &c);
    c.label = gf_buffer_view(&label);
    st = gf_buffer_check(&label, err);
    if (st == GF_OK) st = s->visit(s->context, &c, err);
done:
    gf_free(ids);
    gf_free(all);
    gf_free(scores);
    gf_buffer_release(&label);
    return st;
}

/* A document of a group, by falling score. */
typedef struct placed {
    uint32_t document;
    float score;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

/*
 * Clusters half of which have the same new term are one group: what is new is told by its terms, and
 * k-means may cut it by other words. group[c]: the first cluster of the group of c.
 */
static void join_clusters(const searching *s, const gf_kmeans *kmeans, const gf_csr *x,
                          uint32_t *count, uint32_t *first, uint32_t *group)
{
    for (uint32_t c = 0; c < kmeans->k; c++)
        group[c] = c;
    for (uint32_t c = 0; c < kmeans->k; c++) {
        uint32_t n = 0;
        memset(count, 0, ((size_t)s->n_terms + 1) * sizeof *count);
        for (uint32_t r = 0; r < x->n_rows; r++) {
            if (kmeans->label[r] != c) continue;
            gf_row_view row = gf_csr_row(x, r);
            n++;
            for (uint32_t e = 0; e < row.n; e++)
                count[row.col[e]]++;
        }
        for (uint32_t t = 0; t < s->n_terms; t++) {
            if (s->p[t] >= 1 || count[t] == 0 || 2 * count[t] < n) continue;
            if (first[t] == UINT32_MAX) first[t] = c;
            uint32_t from = group[c], to = group[first[t]];
            uint32_t low = from < to ? from : to;
            for (uint32_t i = 0; i <= c; i++)
                if (group[i] == from || group[i] == to) group[i] = low;
        }
    }
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Groups that have a new term, once they are found: the documents of each, and its centre. */
typedef struct gathered_group {
    uint32_t n;     /* documents */
    double p;       /* of the best new term that half of those have by which it was found */
    double *centre; /* s->n_terms, of those that grow; NULL: it does not */
    double least;   /* similarity to the centre that hardly a document of the build has */
} gathered_group;

typedef struct gathering {
    searching *s;
    gathered_group *at; /* n */
    uint32_t n;
    uint32_t *of;   /* s->n: the group of each document; NO_GROUP */
    double *length; /* s->n_all: of the weighed row */
    float *score;   /* s->n_all: scratch, and of members the similarity to their centre */
} gathering;

static double similarity_to(const gathering *g, size_t i, const double *centre)
{
    gf_row_view row = gf_csr_row(&g->s->rows.x, (uint32_t)i);
    double dot = 0;
    if (!(g->length[i] > 0)) return 0;
    for (uint32_t e = 0; e < row.n; e++)
        if (row.col[e] < g->s->n_terms) dot += weight_of(g->s, row, e) * centre[row.col[e]];
    return dot < g->length[i] ? dot / g->length[i] : 1;
}

static void measure_rows(gathering *g)
{
    for (size_t i = 0; i < g->s->n_all; i++) {
        gf_row_view row = gf_csr_row(&g->s->rows.x, (uint32_t)i);
        double sum = 0;
        for (uint32_t e = 0; e < row.n; e++)
            sum += weight_of(g->s, row, e) * weight_of(g->s, row, e);
        g->length[i] = sqrt(sum);
    }
}

/* The centre of a group, of unit length: the sum of its documents' rows, each of unit length. */
static void sum_centre(const gathering *g, uint32_t c, double *centre)
{
    size_t n_terms = g->s->n_terms;
    double sum = 0;
    memset(centre, 0, n_terms * sizeof *centre);
    for (size_t i = 0; i < g->s->n; i++) {
        gf_row_view row = gf_csr_row(&g->s->rows.x, (uint32_t)i);
        if (g->of[i] != c || !(g->length[i] > 0)) continue;
        for (uint32_t e = 0; e < row.n; e++)
            if (row.col[e] < n_terms) centre[row.col[e]] += weight_of(g->s, row, e) / g->length[i];
    }
    for (size_t t = 0; t < n_terms; t++)
        sum += centre[t] * centre[t];
    sum = sum > 0 ? sqrt(sum) : 1;
    for (size_t t = 0; t < n_terms; t++)
        centre[t] = (double)gf_grid_round(centre[t] / sum);
}

static int by_rising_score(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/*
 * The similarity that one in so many of the build's documents that were sampled is above: the more are pending, the
 * fewer, so that a group gets hardly more of them by chance.
 */
static double find_least(const gathering *g, const double *centre)
{
    size_t n = g->s->n_all - g->s->n;
    size_t above = g->s->n / PENDING_ABOVE;
    float *score = g->score + g->s->n;
    above = above < LEAST_ABOVE ? LEAST_ABOVE : above > MOST_ABOVE ? MOST_ABOVE : above;
    for (size_t i = 0; i < n; i++)
        score[i] = (float)similarity_to(g, g->s->n + i, centre);
    if (n == 0) return 1;
    qsort(score, n, sizeof *score, by_rising_score);
    return (double)score[n - 1 - n / above];
}

/* Centres of the groups that grow, and what is hardly like them. */
static void move_centres(gathering *g)
{
    for (uint32_t c = 0; c < g->n; c++) {
        if (!g->at[c].centre || g->at[c].n == 0) continue;
        sum_centre(g, c, g->at[c].centre);
        g->at[c].least = find_least(g, g->at[c].centre);
    }
}

static bool grows(const gathered_group *c)
{
    return c->centre && c->n > 0;
}

/*
 * A document joins the group whose centre it is most like, where it is more like that than hardly a document of the
 * build is, and than its own cluster's. Whatever is in a group already, and like no other, stays.
 */
static bool join_groups(gathering *g)
{
    bool moved = false;
    for (size_t i = 0; i < g->s->n; i++) {
        uint32_t best = NO_GROUP;
        double most = (double)g->s->at[i].score;
        if (g->of[i] != NO_GROUP && !g->at[g->of[i]].centre) continue;
        for (uint32_t c = 0; c < g->n; c++) {
            if (!grows(&g->at[c])) continue;
            double score = similarity_to(g, i, g->at[c].centre);
            if (score <= g->at[c].least || score <= most) continue;
            most = score;
            best = c;
        }
        if (best == NO_GROUP || best == g->of[i]) continue;
        if (g->of[i] != NO_GROUP) g->at[g->of[i]].n--;
        g->at[best].n++;
        g->of[i] = best;
        moved = true;
    }
    return moved;
}

/* like: n x n, how many documents of the one would join the other, were they in none. */
static void count_like(const gathering *g, uint32_t *like)
{
    memset(like, 0, (size_t)g->n * g->n * sizeof *like);
    for (size_t i = 0; i < g->s->n; i++) {
        if (g->of[i] == NO_GROUP) continue;
        for (uint32_t c = 0; c < g->n; c++)
            if (c != g->of[i] && grows(&g->at[c]) &&
                similarity_to(g, i, g->at[c].centre) > g->at[c].least)
                like[(size_t)g->of[i] * g->n + c]++;
    }
}

/*
 * One subject may have several new terms, and have been found once by each: a group more than half of which would join
 * a larger one goes into that.
 */
static gf_status merge_groups(gathering *g, bool *merged, gf_error *err)
{
    uint32_t *like = gf_array((size_t)g->n * g->n + 1, sizeof *like);
    uint32_t *into = gf_array((size_t)g->n + 1, sizeof *into);
    gf_status st = like && into ? GF_OK : gf_fail_memory(err, "candidates");
    *merged = false;
    if (st == GF_OK) count_like(g, like);
    for (uint32_t a = 0; a < g->n && st == GF_OK; a++) {
        into[a] = a;
        for (uint32_t b = 0; b < g->n; b++) {
            bool larger = g->at[b].n > g->at[a].n || (g->at[b].n == g->at[a].n && b < a);
            uint32_t n = like[(size_t)a * g->n + b];
            if (b == a || !larger || !grows(&g->at[a]) || 3 * (uint64_t)n <= g->at[a].n) continue;
            if (into[a] == a || g->at[b].n > g->at[into[a]].n) into[a] = b;
        }
    }
    for (size_t i = 0; i < g->s->n && st == GF_OK; i++) {
        uint32_t c = g->of[i];
        while (c != NO_GROUP && into[c] != c)
            c = into[c]; /* each is larger than the one before */
        *merged = *merged || c != g->of[i];
        g->of[i] = c;
    }
    for (uint32_t c = 0; c < g->n && st == GF_OK; c++) {
        uint32_t to = into[c];
        while (into[to] != to)
            to = into[to];
        if (to == c) continue;
        if (g->at[c].p < g->at[to].p) g->at[to].p = g->at[c].p;
        g->at[to].n += g->at[c].n;
        g->at[c].n = 0;
    }
    gf_free(like);
    gf_free(into);
    return st;
}

static gf_status grow_groups(gathering *g, gf_error *err)
{
    gf_status st = GF_OK;
    bool changed = g->n > 0;
    move_centres(g);
    for (uint32_t round = 0; st == GF_OK && changed && round < ROUNDS; round++) {
        bool merged = false;
        st = gf_cancel_check(g->s->cancel, err);
        bool moved = st == GF_OK && join_groups(g);
        if (moved) move_centres(g);
        if (st == GF_OK) st = merge_groups(g, &merged, err);
        if (merged) move_centres(g);
        changed = moved || merged;
    }
    return st;
}

/* ---- all groups ------------------------------------------------------------------------------ */

static gf_status tell_one(gathering *g, uint32_t c, double *centre, gf_error *err)
{
    searching *s = g->s;
    placed *rows = gf_array((size_t)g->at[c].n + 1, sizeof *rows);
    uint32_t *member = gf_array((size_t)g->at[c].n + 1, sizeof *member), n = 0, n_weighed = 0;
    weighed_term *weighed = gf_array((size_t)s->n_terms + 1, sizeof *weighed);
    gf_status st = rows && member && weighed ? GF_OK : gf_fail_memory(err, "candidates");
    if (st == GF_OK) sum_centre(g, c, centre);
    for (size_t i = 0; st == GF_OK && i < s->n; i++)
        if (g->of[i] == c) {
            g->score[i] = (float)similarity_to(g, i, centre);
            rows[n++] = (placed){(uint32_t)i, g->score[i]};
        }
    if (st == GF_OK && n) qsort(rows, n, sizeof *rows, by_place);
    for (uint32_t i = 0; i < n; i++)
        member[i] = rows[i].document;
    for (uint32_t t = 0; st == GF_OK && t < s->n_terms; t++)
        if (centre[t] > 0) weighed[n_weighed++] = (weighed_term){t, centre[t]};
    const grouped group = {member, g->score, n};
    if (st == GF_OK && n >= s->least) st = tell(s, &group, g->at[c].p, weighed, n_weighed, err);
    gf_free(rows);
    gf_free(member);
    gf_free(weighed);
    return st;
}

static int by_falling_size(const void *a, const void *b, void *groups)
{
    const gathered_group *at = groups;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (at[x].n != at[y].n) return at[x].n > at[y].n ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void order_groups(const gathering *g, uint32_t *order)
{
    for (uint32_t c = 0; c < g->n; c++)
        order[c] = c;
    if (g->n) qsort_r(order, g->n, sizeof *order, by_falling_size, g->at);
}

/* The largest groups get a centre, and grow; all are told of by falling size. */
static gf_status grow_and_tell(gathering *g, gf_error *err)
{
    uint32_t *order = gf_array((size_t)g->n + 1, sizeof *order);
    double *centre = gf_array((size_t)g->s->n_terms + 1, sizeof *centre);
    gf_status st = order && centre ? GF_OK : gf_fail_memory(err, "candidates");
    if (st == GF_OK) order_groups(g, order);
    for (uint32_t c = 0; st == GF_OK && c < g->n && c < GROWN; c++) {
        gathered_group *group = &g->at[order[c]];
        group->centre = gf_array((size_t)g->s->n_terms + 1, sizeof *group->centre);
        if (!group->centre) st = gf_fail_memory(err, "candidates");
    }
    if (st == GF_OK) st = grow_groups(g, err);
    if (st == GF_OK) order_groups(g, order);
    for (uint32_t c = 0; st == GF_OK && c < g->n; c++)
        if (g->at[order[c]].n) st = tell_one(g, order[c], centre, err);
    gf_free(order);
    gf_free(centre);
    return st;
}

/* The groups of k-means' clusters: those that are large enough, and half of which have a new term. */
static void take_groups(gathering *g, const gf_kmeans *kmeans, const gf_csr *x,
                        const uint32_t *document, const uint32_t *group, uint32_t *count)
{
    searching *s = g->s;
    for (uint32_t from = 0; from < kmeans->k; from++) {
        uint32_t n = 0;
        double p = 1;
        memset(count, 0, ((size_t)s->n_terms + 1) * sizeof *count);
        for (uint32_t r = 0; r < x->n_rows; r++) {
            if (group[kmeans->label[r]] != from) continue;
            gf_row_view row = gf_csr_row(x, r);
            n++;
            for (uint32_t e = 0; e < row.n; e++)
                count[row.col[e]]++;
        }
        if (n < s->least) continue;
        for (uint32_t t = 0; t < s->n_terms; t++)
            if (2 * count[t] >= n && count[t] && s->p[t] < p) p = s->p[t];
        if (p >= 1) continue;
        for (uint32_t r = 0; r < x->n_rows; r++)
            if (group[kmeans->label[r]] == from) g->of[document[r]] = g->n;
        g->at[g->n++] = (gathered_group){.n = n, .p = p};
    }
}

static gf_status look_at_groups(searching *s, const gf_kmeans *kmeans, const gf_csr *x,
                                const uint32_t *document, gf_error *err)
{
    size_t terms = (size_t)s->n_terms + 1, k = kmeans->k;
    gathering g = {.s = s,
                   .at = gf_array(k, sizeof *g.at),
                   .of = gf_array(s->n, sizeof *g.of),
                   .length = gf_array(s->n_all, sizeof *g.length),
                   .score = gf_array(s->n_all, sizeof *g.score)};
    uint32_t *count = gf_array(terms, sizeof *count), *first = gf_array(terms, sizeof *first),
             *group = gf_array(k, sizeof *group);
    bool all = g.at && g.of && g.length && g.score && count && first && group;
    gf_status st = all ? GF_OK : gf_fail_memory(err, "candidates");
    if (st == GF_OK) {
        for (uint32_t t = 0; t < s->n_terms; t++)
            first[t] = UINT32_MAX;
        for (size_t i = 0; i < s->n; i++)
            g.of[i] = NO_GROUP;
        join_clusters(s, kmeans, x, count, first, group);
        measure_rows(&g);
        take_groups(&g, kmeans, x, document, group, count);
        st = grow_and_tell(&g, err);
    }
    for (uint32_t c = 0; c < g.n; c++)
        gf_free(g.at[c].centre);
    gf_free(g.at);
    gf_free(g.of);
    gf_free(g.length);
    gf_free(g.score);
    gf_free(count);
    gf_free(first);
    gf_free(group);
    return st;
}

static gf_status group_documents(searching *s, gf_error *err)
{
    gf_csr x = {0};
    gf_kmeans kmeans = {0};
    uint32_t *document = gf_array(s->n, sizeof *document);
    if (!document) return gf_fail_memory(err, "candidates");
    gf_status st = make_rows(s, &x, document, err);
    if (st == GF_OK && x.n_rows >= s->least) {
        gf_kmeans_options o = {.max_k = x.n_rows / s->least, .seed = 1, .cancel = s->cancel};
        if (o.max_k == 1) o.k = 1;
        st = gf_kmeans_run(NULL, &x, &o, &kmeans, err);
        if (st == GF_OK) st = look_at_groups(s, &kmeans, &x, document, err);
    }
    gf_kmeans_release(&kmeans);
    gf_csr_release(&x);
    gf_free(document);
    return st;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static gf_status search_candidates(searching *s, gf_error *err)
{
    uint32_t n_new = 0;
    gf_status st = gf_view_load_clusters(s->view, err);
    if (st == GF_OK) st = gf_view_load_model(s->view, err);
    if (st == GF_OK) st = gather(s, err);
    if (st != GF_OK || s->n < s->least) return st;
    st = analyse(s, err);
    if (st == GF_OK) st = weigh_terms(s, err);
    if (st == GF_OK) st = judge_fits(s, err);
    if (st == GF_OK) st = find_new_terms(s, &n_new, err);
    if (st == GF_OK && n_new) st = gf_kept_candidates_read(s->view, &s->kept, err);
    return st == GF_OK && n_new ? group_documents(s, err) : st;
}

gf_status gf_view_candidates(gf_view *v, uint32_t least, const gf_cancel *cancel,
                             gf_visit_candidate *visit, void *context, gf_error *err)
{
    searching s = {.view = v,
                   .cancel = cancel,
                   .least = least < 2 ? LEAST : least,
                   .visit = visit,
                   .context = context};
    if (gf_rows_are_given(v->info.rows))
        return gf_fail(err, GF_ECONFLICT,
                       "this build clusters vectors that were made elsewhere: what is new is told "
                       "by the words of texts");
    gf_status st = search_candidates(&s, err);
    gf_kept_candidates_release(&s.kept);
    gf_vectors_release(&s.rows);
    gf_free(s.df);
    gf_free(s.known);
    gf_free(s.weight);
    gf_free(s.p);
    gf_free(s.quartile);
    gf_free(s.at);
    gf_arena_release(&s.memory);
    return st;
}
