#include "cluster/measure/figures.h"

#include "base/memory.h"

#include <math.h>

static uint32_t watched(const gf_figures_watch *w)
{
    return w->n_terms + w->n_words;
}

gf_status gf_figures_index_init(gf_figures_index *index, const gf_figures_watch *watch, uint32_t k,
                                uint32_t n_cols, gf_error *err)
{
    uint64_t n = 0;
    for (uint32_t c = 0; c < k; c++)
        n += watched(&watch[c]);
    gf_figures_index x = {.k = k, .n_cols = n_cols, .watch = watch};
    x.start = gf_calloc((size_t)n_cols + 2, sizeof *x.start);
    x.cluster = gf_array((size_t)n, sizeof *x.cluster);
    x.bit = gf_array((size_t)n, sizeof *x.bit);
    if (!x.start || !x.cluster || !x.bit) {
        gf_figures_index_release(&x);
        return gf_fail_memory(err, "figures");
    }
    /* start[t + 2] counts, start[t + 1] is where the next entry of t goes, start[t] where it begins */
    for (uint32_t c = 0; c < k; c++) {
        for (uint32_t i = 0; i < watch[c].n_terms; i++)
            x.start[watch[c].term[i] + 2]++;
        for (uint32_t i = 0; i < watch[c].n_words; i++)
            x.start[watch[c].word[i] + 2]++;
    }
    for (uint32_t t = 0; t < n_cols; t++)
        x.start[t + 2] += x.start[t + 1];
    for (uint32_t c = 0; c < k; c++)
        for (uint32_t i = 0; i < watched(&watch[c]); i++) {
            bool is_term = i < watch[c].n_terms;
            uint32_t word = is_term ? 0 : i - watch[c].n_terms;
            uint32_t at = x.start[(is_term ? watch[c].term[i] : watch[c].word[word]) + 1]++;
            x.cluster[at] = c;
            x.bit[at] = (uint8_t)(is_term ? i : GF_FIGURES_TERMS + word);
        }
    *index = x;
    return GF_OK;
}

void gf_figures_index_release(gf_figures_index *index)
{
    gf_free(index->start);
    gf_free(index->cluster);
    gf_free(index->bit);
    *index = (gf_figures_index){0};
}

gf_status gf_figures_tally_init(gf_figures_tally *tally, const gf_figures_index *index,
                                gf_error *err)
{
    uint32_t k = index->k;
    *tally = (gf_figures_tally){
        gf_calloc(k, sizeof *tally->counts), gf_calloc(index->n_cols, sizeof *tally->with),
        gf_calloc(k, sizeof *tally->mask), gf_array(k, sizeof *tally->touched)};
    if (tally->counts && tally->with && tally->mask && tally->touched) return GF_OK;
    gf_figures_tally_release(tally);
    return gf_fail_memory(err, "figures");
}

void gf_figures_tally_release(gf_figures_tally *tally)
{
    gf_free(tally->counts);
    gf_free(tally->with);
    gf_free(tally->mask);
    gf_free(tally->touched);
    *tally = (gf_figures_tally){0};
}

static void count_pairs(gf_figures_count *count, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t j = (uint32_t)__builtin_ctz(rest);
        for (uint32_t below = mask & ((1u << j) - 1); below; below &= below - 1)
            count->together[gf_figures_pair((uint32_t)__builtin_ctz(below), j)]++;
    }
}

static bool finds(const gf_figures_watch *w, uint32_t words)
{
    for (uint32_t p = 0; p < GF_FIGURES_PARTS; p++)
        if (w->part[p] && (words & w->part[p]) == w->part[p]) return true;
    return false;
}

void gf_figures_tally_add(gf_figures_tally *t, const gf_figures_index *x, gf_row_view row,
                          uint32_t cluster)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < row.n; p++) {
        t->with[row.col[p]]++;
        for (uint32_t e = x->start[row.col[p]]; e < x->start[row.col[p] + 1]; e++) {
            uint32_t c = x->cluster[e];
            if (!t->mask[c]) t->touched[n++] = c;
            t->mask[c] |= 1u << x->bit[e];
        }
    }
    while (n > 0) {
        uint32_t c = t->touched[--n], mask = t->mask[c];
        t->mask[c] = 0;
        /* Most of very many clusters have one of the row's terms: their counts are far from here. */
        if ((mask & (mask - 1)) == 0 && mask >> GF_FIGURES_TERMS == 0) continue;
        gf_figures_count *count = &t->counts[c];
        count_pairs(count, mask & ((1u << GF_FIGURES_TERMS) - 1));
        if (!finds(&x->watch[c], mask >> GF_FIGURES_TERMS)) continue;
        count->found++;
        count->members += c == cluster;
    }
}

void gf_figures_count_add(gf_figures_count *to, const gf_figures_tally *tally,
                          const gf_figures_index *x, uint32_t cluster)
{
    const gf_figures_watch *w = &x->watch[cluster];
    const gf_figures_count *from = &tally->counts[cluster];
    for (uint32_t i = 0; i < w->n_terms; i++)
        to->with[i] += tally->with[w->term[i]];
    for (uint32_t i = 0; i < GF_FIGURES_PAIRS; i++)
        to->together[i] += from->together[i];
    to->found += from->found;
    to->members += from->members;
}

/* Limits where a logarithm has no value: terms that never meet, and terms of all documents. */
static double npmi_of_pair(uint64_t a, uint64_t b, uint64_t both, uint64_t n)
{
    if (both == 0) return -1;
    if (both == n) return 1;
    return log((double)n * (double)both / ((double)a * (double)b)) / log((double)n / (double)both);
}

double gf_figures_npmi(const gf_figures_count *count, uint32_t n_terms, uint64_t n_documents)
{
    double sum = 0;
    if (n_terms < 2) return NAN;
    for (uint32_t j = 1; j < n_terms; j++)
        for (uint32_t i = 0; i < j; i++)
            sum += npmi_of_pair(count->with[i], count->with[j],
                                count->together[gf_figures_pair(i, j)], n_documents);
    return sum / (n_terms * (n_terms - 1) / 2.0);
}
