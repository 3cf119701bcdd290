/*
 * Counting what a rebuild will hold, from a part of the documents.
 *
 * The distinct terms V(n) of n documents rise like n^b (Heaps), so what a part of them and the half
 * of that part have gives b, and with it V of all and V of a cluster's documents.
 */
#include "engine/build/internal.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { LOOKED_AT = 20000, ASSUMED_K = 100 };

/* ---- a sample's terms ------------------------------------------------------------------------ */

typedef struct seen {
    double all, twice; /* distinct terms; those that two rows have at least */
} seen;

/* Of one row in `every`. count: n_cols. */
static seen count_terms(const gf_csr *x, uint32_t every, uint32_t *count)
{
    seen s = {0, 0};
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

/* Distinct terms of n documents, from those of `rows` and of half as many. */
static double extrapolate(double terms, double of_half, double rows, double n)
{
    double b = of_half > 0 && terms > of_half ? log2(terms / of_half) : 0;
    return terms * pow(n / rows, b);
}

/* ---- the counts ------------------------------------------------------------------------------ */

static uint32_t expected_k(const gf_job *j, double rows)
{
    uint32_t k = j->settings.k;
    if (k == 0) k = j->served_before && j->info.k ? j->info.k : ASSUMED_K;
    if (j->settings.k == 0 && j->settings.max_k && k > j->settings.max_k) k = j->settings.max_k;
    return k > rows ? (uint32_t)fmax(rows, 1) : k;
}

static void work_out(const gf_job *j, const gf_job *sample, uint32_t *count, gf_memory_counts *c)
{
    const gf_csr *x = &sample->documents.vectors.x;
    double m = x->n_rows ? x->n_rows : 1, n = (double)sample->documents.counts.meant;
    seen all = count_terms(x, 1, count), half = count_terms(x, 2, count);
    double kept = all.all > 0 ? all.twice / all.all : 1, entries = (double)gf_csr_nnz(x);
    uint32_t least, most;
    gf_df_bounds(&j->settings.vectorizer, (uint32_t)n, &least, &most);
    if (least < 2) kept = 1;
    c->words = extrapolate(all.all, half.all, m, n);
    c->terms = c->words * kept;
    c->tokens = entries * n / m;
    c->entries = c->tokens - c->words * (1 - kept);
    uint32_t max_terms = j->settings.vectorizer.max_terms;
    if (max_terms && c->terms > max_terms) c->terms = max_terms;
    c->k = expected_k(j, n);
    double members = n / c->k;
    uint32_t every = members > 0 && members < m ? (uint32_t)(m / members) : 1;
    double of_cluster = count_terms(x, every, count).all;
    double rows = ceil(m / every);
    of_cluster = extrapolate(of_cluster, of_cluster * (half.all / fmax(all.all, 1)), rows, members);
    c->centre_entries = c->k * fmin(of_cluster, c->terms);
    if (c->centre_entries > c->entries) c->centre_entries = c->entries;
}

/* All terms of a part of the documents, by the settings but for those that leave terms out. */
static gf_status gather_part(gf_job *j, gf_error *err)
{
    static const char *const keep_all[][2] = {
        {"min_df", "1"}, {"max_df", "1.0"}, {"max_terms", "0"}};
    gf_status st = GF_OK;
    for (size_t i = 0; i < 3 && st == GF_OK; i++)
        st = gf_vectorizer_options_set(&j->settings.vectorizer, gf_slice_str(keep_all[i][0]),
                                       gf_slice_str(keep_all[i][1]), err);
    j->spills = false;
    j->documents = (gf_gathered){0};
    j->every = (uint32_t)(j->size / LOOKED_AT) + 1;
    return st == GF_OK ? gf_job_gather(j, err) : st;
}

gf_status gf_job_count(gf_job *j, gf_memory_counts *counts, gf_error *err)
{
    gf_job part = *j;
    bool is_default = gf_slice_equal(j->configuration, GF_SLICE("default"));
    gf_memory_counts c = {.threads = gf_pool_size(j->pool),
                          .buffers = j->store->buffers,
                          .index = j->settings.store_index,
                          .search = j->settings.store_index && is_default};
    gf_status st = gather_part(&part, err);
    uint32_t *count = NULL;
    if (st == GF_OK) {
        count = gf_array(part.documents.vectors.x.n_cols, sizeof *count);
        if (!count) st = gf_fail_memory(err, "an estimate");
    }
    if (st == GF_OK) {
        work_out(j, &part, count, &c);
        const gf_text_counts *meant = &part.documents.counts;
        c.documents = meant->meant;
        c.indexed = c.tokens;
        if (c.documents > 0 && c.documents < j->size)
            c.indexed *= (double)j->size / (double)c.documents;
        c.text = meant->text_bytes;
        memcpy(c.cut_text, meant->cut_text, sizeof c.cut_text);
        c.id_bytes = meant->id_bytes;
        *counts = c;
    }
    gf_free(count);
    gf_free(part.documents.id_start);
    gf_buffer_release(&part.documents.ids);
    gf_vectors_release(&part.documents.vectors);
    return st;
}
