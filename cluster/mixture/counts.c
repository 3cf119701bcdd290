#include "cluster/mixture/counts.h"

#include "base/memory.h"

#include <assert.h>
#include <stdbool.h>

/* A list's item costs about as much as so many of a dense row. */
enum { DENSE_SHARE = 8 };

static bool is_dense(uint32_t df, uint32_t k)
{
    return df > 0 && (uint64_t)df * DENSE_SHARE >= k;
}

static void measure(const uint32_t *df, uint32_t n_words, uint32_t k, uint64_t *dense,
                    uint64_t *listed)
{
    *dense = *listed = 0;
    for (uint32_t w = 0; w < n_words; w++) {
        if (is_dense(df[w], k))
            *dense += k;
        else
            *listed += df[w];
    }
}

uint64_t gf_mixture_counts_bytes(const uint32_t *df, uint32_t n_words, uint32_t k)
{
    uint64_t dense, listed;
    measure(df, n_words, k, &dense, &listed);
    return 8 * (dense + listed) + sizeof(gf_word_place) * n_words + 16 * (uint64_t)k;
}

gf_status gf_mixture_counts_init(gf_mixture_counts *out, const uint32_t *df, uint32_t n_words,
                                 uint32_t k, const gf_mixture_logs *logs, gf_error *err)
{
    uint64_t dense, listed, at = 0, list_at = 0;
    measure(df, n_words, k, &dense, &listed);
    gf_mixture_counts c = {.k = k, .n_words = n_words, .logs = logs};
    c.place = gf_array(n_words, sizeof *c.place);
    c.dense = gf_calloc_large(dense, sizeof *c.dense);
    c.value = gf_calloc_large(dense, sizeof *c.value);
    c.lists = gf_array(listed, sizeof *c.lists);
    c.words = gf_calloc(k, sizeof *c.words);
    c.documents = gf_calloc(k, sizeof *c.documents);
    if (!c.place || !c.dense || !c.value || !c.lists || !c.words || !c.documents) {
        gf_mixture_counts_release(&c);
        return gf_fail_memory(err, "word counts of clusters");
    }
    for (uint32_t w = 0; w < n_words; w++) {
        bool all = is_dense(df[w], k);
        c.place[w] = (gf_word_place){all ? at : list_at, all ? GF_COUNTS_DENSE : 0};
        if (all)
            at += k;
        else
            list_at += df[w];
    }
    *out = c;
    return GF_OK;
}

void gf_mixture_counts_release(gf_mixture_counts *c)
{
    gf_free(c->place);
    gf_free(c->dense);
    gf_free(c->value);
    gf_free(c->lists);
    gf_free(c->words);
    gf_free(c->documents);
    *c = (gf_mixture_counts){0};
}

/* The place of a cluster in a word's list; behind the last where it is not there. */
static uint32_t find_cluster(const gf_mixture_counts *c, const gf_word_place *p, uint32_t cluster)
{
    const gf_cluster_count *list = c->lists + p->at;
    uint32_t i = p->n;
    while (i > 0 && list[i - 1].cluster != cluster)
        i--;
    return i ? i - 1 : p->n;
}

void gf_mixture_counts_add(gf_mixture_counts *c, uint32_t word, uint32_t cluster, uint32_t n)
{
    gf_word_place *p = &c->place[word];
    if (p->n == GF_COUNTS_DENSE) {
        uint64_t at = p->at + cluster;
        c->dense[at] += n;
        c->value[at] = gf_mixture_logs_value(c->logs, c->dense[at], 1);
        return;
    }
    uint32_t i = find_cluster(c, p, cluster);
    if (i == p->n) c->lists[p->at + p->n++] = (gf_cluster_count){cluster, 0};
    c->lists[p->at + i].n += n;
}

void gf_mixture_counts_take(gf_mixture_counts *c, uint32_t word, uint32_t cluster, uint32_t n)
{
    gf_word_place *p = &c->place[word];
    if (p->n == GF_COUNTS_DENSE) {
        uint64_t at = p->at + cluster;
        assert(c->dense[at] >= n);
        c->dense[at] -= n;
        c->value[at] = gf_mixture_logs_value(c->logs, c->dense[at], 1);
        return;
    }
    uint32_t i = find_cluster(c, p, cluster);
    assert(i < p->n && c->lists[p->at + i].n >= n);
    c->lists[p->at + i].n -= n;
    if (c->lists[p->at + i].n == 0) c->lists[p->at + i] = c->lists[p->at + --p->n];
}

uint32_t gf_mixture_counts_get(const gf_mixture_counts *c, uint32_t word, uint32_t cluster)
{
    const gf_word_place *p = &c->place[word];
    if (p->n == GF_COUNTS_DENSE) return c->dense[p->at + cluster];
    uint32_t i = find_cluster(c, p, cluster);
    return i < p->n ? c->lists[p->at + i].n : 0;
}
