/*
 * The memory that a rebuild will need, counted from a part of the documents.
 *
 * The distinct terms V(n) of n documents rise like n^b (Heaps). V of a part of them and V of half
 * that part give b, and with it V of all documents. Terms of clusters: cluster/measure/term_growth.h.
 */
#include "engine/build/gather.h"

#include "base/memory.h"
#include "cluster/measure/term_growth.h"
#include "engine/build/centre_terms.h"

#include <math.h>
#include <string.h>

enum { SAMPLED = 20000, ASSUMED_K = 100 };

/* ---- a sample's terms ------------------------------------------------------------------------ */

typedef struct distinct_terms {
    double all, twice; /* distinct terms; those that at least two rows have */
} distinct_terms;

/* Count the terms of one row in `every`. count: n_cols. */
static distinct_terms count_terms(const gf_csr *x, uint32_t every, uint32_t *count)
{
    distinct_terms s = {0, 0};
    memset(count, 0, x->n_cols * sizeof *count);
    for (uint32_t i = 0; i < x->n_rows; i += every) {
        gf_row_view row = gf_csr_row(x, i);
        for (uint32_t p = 0; p < row.n; p++)
            count[row.col[p]]++;
    }
    for (uint32_t t = 0; t < x->n_cols; t++) {
        s.all += count[t] > 0;
        s.twice += count[t] > 1;
    }
    return s;
}

/* The b of Heaps' law, by the distinct terms of some rows and of half as many. */
static double terms_exponent(double terms, double of_half)
{
    return of_half > 0 && terms > of_half ? log2(terms / of_half) : 0;
}

/* Distinct terms of n documents, from those of `rows` and of half as many. */
static double extrapolate_terms(double terms, double of_half, double rows, double n)
{
    return terms * pow(n / rows, terms_exponent(terms, of_half));
}

/* ---- the counts ------------------------------------------------------------------------------ */

static uint32_t expected_k(const gf_build_plan *plan, double rows)
{
    uint32_t k = plan->settings.k, max_k = plan->settings.max_k;
    if (k == 0) {
        /* A number that was given is not kept. */
        k = plan->served_distinct && plan->served.k ? plan->served.k : ASSUMED_K;
        if (max_k && k > max_k) k = max_k;
    }
    return k > rows ? (uint32_t)fmax(rows, 1) : k;
}

/*
 * Counts of words in k clusters that n documents need room for (cluster/mixture/counts.h): k of each
 * word that k / 8 documents have, and of a rarer word one a document. Where words rise like n^b, as many
 * as D x^-b are in a share x of the documents or more; those with fewer than T = n x documents are then
 * in T D b / (1 - b) of them altogether. count: documents of the sample's m that have each column.
 */
static double extrapolate_word_counts(const uint32_t *count, uint32_t n_cols, double b, double m,
                                      double n, double k)
{
    enum { LEAST = 3 }; /* of rarer words the sample says little */
    double most = k / 8, least = most * m / n, wide = 0;
    if (least < LEAST) least = LEAST;
    for (uint32_t t = 0; t < n_cols; t++)
        wide += count[t] >= least;
    b = fmin(fmax(b, 0.1), 0.9);
    wide *= pow(least * n / (most * m), b);
    return wide * (k + most * b / (1 - b));
}

/* count: room for a number per column of the sample. a: of the growth of terms. */
static void extrapolate_counts(const gf_build_plan *plan, const gf_build_gathered *sample,
                               uint32_t *count, double a, gf_memory_counts *c)
{
    const gf_csr *x = &sample->vectors.x;
    double m = x->n_rows ? x->n_rows : 1, n = (double)sample->counts.meant;
    distinct_terms all = count_terms(x, 1, count), half = count_terms(x, 2, count);
    double shared = all.all > 0 ? all.twice / all.all : 1, kept = shared;
    double entries = (double)gf_csr_nnz(x);
    uint32_t least, most;
    gf_vectorizer_options_df_bounds(&plan->settings.vectorizer, (uint32_t)n, &least, &most);
    if (least < 2) kept = 1;
    c->words = extrapolate_terms(all.all, half.all, m, n);
    c->terms = c->words * kept;
    c->tokens = entries * n / m;
    c->entries = c->tokens - c->words * (1 - kept);
    uint32_t max_terms = plan->settings.vectorizer.max_terms;
    if (max_terms && c->terms > max_terms) c->terms = max_terms;
    c->k = expected_k(plan, n);
    /* The law is of the words that several documents have; any other is an entry of one cluster. */
    double alone = c->words * (1 - shared), of_shared = c->tokens - alone;
    c->centre_entries = c->k * fmin(gf_term_growth_terms(a, of_shared / c->k), c->words * shared);
    if (least < 2) c->centre_entries += alone;
    c->centre_entries = fmin(c->centre_entries, c->k * c->terms);
    if (c->centre_entries > c->entries) c->centre_entries = c->entries;
    count_terms(x, 1, count);
    c->word_counts =
        extrapolate_word_counts(count, x->n_cols, terms_exponent(all.all, half.all), m, n, c->k);
    c->word_counts = fmin(c->word_counts, c->terms * c->k);
}

/* Gather a part of the documents with all their terms, whatever terms the settings leave out. */
static gf_status gather_sample(const gf_build_plan *plan, gf_pool *pool, gf_build_gathered *out,
                               gf_error *err)
{
    static const char *const keep_all[][2] = {
        {"min_df", "1"}, {"max_df", "1.0"}, {"max_terms", "0"}};
    gf_build_plan sampled = *plan; /* a copy that owns nothing */
    gf_status st = GF_OK;
    for (size_t i = 0; i < 3 && st == GF_OK; i++)
        st = gf_vectorizer_options_set(&sampled.settings.vectorizer, gf_slice_str(keep_all[i][0]),
                                       gf_slice_str(keep_all[i][1]), err);
    sampled.spills = sampled.by_ranks = sampled.keeps_words = false;
    sampled.every = (uint32_t)(plan->size / SAMPLED) + 1;
    return st == GF_OK ? gf_build_gather(&sampled, pool, out, err) : st;
}

/* Rows that were made elsewhere: those of the options, or those that the served build keeps. */
static void count_given(const gf_build_plan *plan, gf_memory_counts *c)
{
    const gf_matrix *m = plan->options->matrix;
    if (m) {
        c->given_columns = m->sparse ? 0 : (double)m->n_cols;
        c->given = m->sparse ? 8 * (double)gf_csr_nnz(m->sparse) : 4.0 * m->n_rows * m->n_cols;
    } else if (plan->again) { /* of sparse ones nothing is known: as many entries as the texts */
        c->given_columns = plan->again_dense ? plan->served.terms : 0;
        c->given =
            plan->again_dense ? 4.0 * (double)c->documents * plan->served.terms : 8 * c->entries;
    } else if (plan->settings.word_vectors.len) { /* columns are the table's: not known yet */
        c->given_columns = plan->served.rows == GF_ROWS_OF_WORDS ? plan->served.terms : 300;
        c->given = 4 * c->given_columns * ((double)c->documents + c->terms);
    }
}

gf_status gf_build_count(const gf_build_plan *plan, gf_pool *pool, gf_memory_counts *counts,
                         gf_error *err)
{
    const gf_resolved *settings = &plan->settings;
    bool is_default = gf_slice_equal(plan->configuration, GF_SLICE("default"));
    gf_memory_counts c = {.threads = gf_pool_size(pool),
                          .buffers = plan->store->buffers,
                          .index = settings->store_index,
                          .search = settings->store_index && is_default,
                          .refine = settings->refine,
                          .once = settings->near_once,
                          .thorough = settings->refine && settings->thorough};
    gf_build_gathered sample = {0};
    uint32_t *count = NULL;
    gf_status st = gather_sample(plan, pool, &sample, err);
    double a = 1;
    if (st == GF_OK)
        st = gf_centre_terms_fit(pool, &sample.vectors.x, expected_k(plan, (double)plan->size),
                                 plan->options->cancel, &a, err);
    if (st == GF_OK) {
        count = gf_array(sample.vectors.x.n_cols, sizeof *count);
        if (!count) st = gf_fail_memory(err, "an estimate");
    }
    if (st == GF_OK) {
        extrapolate_counts(plan, &sample, count, a, &c);
        const gf_text_counts *meant = &sample.counts;
        c.documents = meant->meant;
        c.indexed = c.tokens;
        if (c.documents > 0 && c.documents < plan->size)
            c.indexed *= (double)plan->size / (double)c.documents;
        c.text = meant->text_bytes;
        memcpy(c.cut_text, meant->cut_text, sizeof c.cut_text);
        c.id_bytes = meant->id_bytes;
        count_given(plan, &c);
        *counts = c;
    }
    gf_free(count);
    gf_build_gathered_release(&sample);
    return st;
}
