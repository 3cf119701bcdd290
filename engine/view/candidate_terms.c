/*
 * Terms of candidates: weights over the build and what came since, which documents fit, and which terms are
 * more often in what came, or in the last of it, than chance has it.
 */
#include "engine/view/candidates_internal.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { GROUP = 1000 };

#define ALPHA    0.05 /* that anything is told of documents that came at random */
#define FREQUENT 0.25 /* share of the sample from which an unknown term is a frequent one */

/* ---- terms ----------------------------------------------------------------------------------- */

/* Terms of any number of documents, and tf alone for a weight: the idf is of both. */
static gf_status analyse(gf_candidate_search *s, gf_error *err)
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

static gf_status weigh_terms(gf_candidate_search *s, gf_error *err)
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

/* ---- fit ------------------------------------------------------------------------------------- */

/* The score that a quarter of the members do not reach: as many steps from the worst one up. */
static gf_status read_quartile(gf_candidate_search *s, size_t cluster, gf_error *err)
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

static gf_status judge_fits(gf_candidate_search *s, gf_error *err)
{
    gf_view *v = s->view;
    gf_status st = GF_OK;
    s->quartile = gf_array(v->n_clusters + 1, sizeof *s->quartile);
    if (!s->quartile) return gf_fail_memory(err, "clusters");
    for (size_t c = 0; c < v->n_clusters; c++)
        s->quartile[c] = -1;
    for (size_t i = 0; i < s->n && st == GF_OK; i++) {
        gf_candidate_pending *d = &s->at[i];
        const gf_listed_cluster *c = gf_view_find_cluster(v, d->cluster);
        gf_row_view row = gf_csr_row(&s->rows.x, (uint32_t)i);
        double all = 0, known = 0;
        if (!c) continue;
        size_t at = (size_t)(c - v->clusters);
        if (s->quartile[at] < 0) st = read_quartile(s, at, err);
        for (uint32_t e = 0; e < row.n; e++) {
            double w = gf_candidate_weight(s, row, e);
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
static uint32_t count_windows(const gf_candidate_search *s)
{
    uint32_t n = 1;
    while (s->n >> n >= 2 * (size_t)s->least)
        n++;
    return n;
}

/* Documents of each term, and those that fit nowhere, in the last so many. */
static void count_window(const gf_candidate_search *s, size_t size, uint32_t *df, uint32_t *unfit)
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
static gf_status find_in_window(gf_candidate_search *s, const uint32_t *df, const uint32_t *unfit,
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

static gf_status find_new_terms(gf_candidate_search *s, uint32_t *n_new, gf_error *err)
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

gf_status gf_candidates_find_terms(gf_candidate_search *s, uint32_t *n_new, gf_error *err)
{
    gf_status st = analyse(s, err);
    if (st == GF_OK) st = weigh_terms(s, err);
    if (st == GF_OK) st = judge_fits(s, err);
    return st == GF_OK ? find_new_terms(s, n_new, err) : st;
}
