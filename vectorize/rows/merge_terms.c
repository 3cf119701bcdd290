#include "vectorize/rows/merge_terms_internal.h"

#include "base/memory.h"

#include <xxhash.h>

enum { PARTITION_BITS = 6, PARTITIONS = 1 << PARTITION_BITS };

/* A worker's terms, dealt to partitions. */
typedef struct hand {
    const gf_strings *terms;
    const gf_term_state *state;
    uint64_t *hash;                 /* terms->n, by id */
    uint32_t *dealt;                /* terms->n: ids by partition, rising within one */
    uint32_t start[PARTITIONS + 1]; /* where each partition starts in dealt */
} hand;

typedef struct merger {
    gf_merged *out;
    hand *hands;                   /* n_workers */
    uint64_t base[PARTITIONS + 1]; /* merged id of each partition's first term */
} merger;

void gf_merge_terms_release(gf_merged *merged)
{
    for (unsigned w = 0; merged->of && w < merged->n_workers; w++)
        gf_free(merged->of[w]);
    gf_free(merged->of);
    gf_free(merged->term);
    gf_free(merged->df);
    *merged = (gf_merged){0};
}

static unsigned partition_of(uint64_t hash)
{
    return (unsigned)(hash >> (64 - PARTITION_BITS));
}

static gf_status deal(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker;
    merger *m = context;
    hand *h = &m->hands[index];
    if (!h->terms) return GF_OK;
    uint32_t n = h->terms->n, at[PARTITIONS];
    h->hash = gf_array(n, sizeof *h->hash);
    h->dealt = gf_array(n, sizeof *h->dealt);
    m->out->of[index] = gf_array(n, sizeof *m->out->of[index]);
    if (!h->hash || !h->dealt || !m->out->of[index]) return gf_fail_memory(err, "merging terms");
    for (uint32_t i = 0; i < n; i++) {
        gf_slice s = gf_strings_at(h->terms, i);
        h->hash[i] = XXH3_64bits(s.ptr, s.len);
        h->start[partition_of(h->hash[i]) + 1]++;
    }
    for (unsigned p = 0; p < PARTITIONS; p++) {
        at[p] = h->start[p];
        h->start[p + 1] += h->start[p];
    }
    for (uint32_t i = 0; i < n; i++)
        h->dealt[at[partition_of(h->hash[i])]++] = i;
    return GF_OK;
}

/* One partition's hash table: slots hold 1 + a term's place in the partition. */
typedef struct table {
    uint32_t *slots; /* capacity, a power of two above the partition's terms */
    uint64_t *hash;  /* of each place */
    size_t capacity;
    uint32_t n; /* places used */
} table;

static gf_status make_table(table *t, size_t most, gf_error *err)
{
    *t = (table){.capacity = 16};
    while (t->capacity < most * 2)
        t->capacity *= 2;
    t->slots = gf_calloc(t->capacity, sizeof *t->slots);
    t->hash = gf_array(most, sizeof *t->hash);
    return t->slots && t->hash ? GF_OK : gf_fail_memory(err, "merging terms");
}

/* The place of a term, which is added where it is new. terms[place] are the partition's strings. */
static uint32_t place_of(table *t, gf_slice *terms, gf_slice term, uint64_t hash)
{
    size_t mask = t->capacity - 1, i = (size_t)hash & mask;
    for (; t->slots[i]; i = (i + 1) & mask) {
        uint32_t place = t->slots[i] - 1;
        if (t->hash[place] == hash && gf_slice_equal(terms[place], term)) return place;
    }
    uint32_t place = t->n++;
    t->slots[i] = t->n;
    t->hash[place] = hash;
    terms[place] = term;
    return place;
}

static gf_status merge_partition(void *context, size_t p, unsigned worker, gf_error *err)
{
    (void)worker;
    merger *m = context;
    uint32_t base = (uint32_t)m->base[p];
    table t;
    gf_status st = make_table(&t, (size_t)(m->base[p + 1] - m->base[p]), err);
    for (unsigned w = 0; w < m->out->n_workers && st == GF_OK; w++) {
        const hand *h = &m->hands[w];
        for (uint32_t i = h->start[p]; h->terms && i < h->start[p + 1]; i++) {
            uint32_t id = h->dealt[i];
            uint32_t place =
                place_of(&t, m->out->term + base, gf_strings_at(h->terms, id), h->hash[id]);
            m->out->df[base + place] += h->state[id].df;
            m->out->of[w][id] = base + place;
        }
    }
    gf_free(t.slots);
    gf_free(t.hash);
    return st;
}

static gf_status allocate(merger *m, gf_error *err)
{
    gf_merged *out = m->out;
    for (unsigned p = 0; p < PARTITIONS; p++) {
        m->base[p + 1] = m->base[p];
        for (unsigned w = 0; w < out->n_workers; w++)
            m->base[p + 1] += m->hands[w].start[p + 1] - m->hands[w].start[p];
    }
    if (m->base[PARTITIONS] >= UINT32_MAX) return gf_fail(err, GF_ELIMIT, "more than 2^32 terms");
    out->n = (uint32_t)m->base[PARTITIONS];
    out->term = gf_calloc(out->n, sizeof *out->term);
    out->df = gf_calloc(out->n, sizeof *out->df);
    return out->term && out->df ? GF_OK : gf_fail_memory(err, "merging terms");
}

/* The terms of the only worker that has any, as they are. */
static gf_status take_terms(const gf_vectorizer *v, unsigned worker, gf_merged *out, gf_error *err)
{
    const gf_strings *terms = gf_analyser_terms(v->workers[worker]->analyser);
    uint32_t n = out->n = terms->n;
    out->term = gf_array(n, sizeof *out->term);
    out->df = gf_array(n, sizeof *out->df);
    uint32_t *of = out->of[worker] = gf_array(n, sizeof *of);
    if (!out->term || !out->df || !of) return gf_fail_memory(err, "merging terms");
    for (uint32_t i = 0; i < n; i++) {
        out->term[i] = gf_strings_at(terms, i);
        out->df[i] = v->workers[worker]->state[i].df;
        of[i] = i;
    }
    return GF_OK;
}

static gf_status merge_terms(merger *m, const gf_vectorizer *v, const gf_cancel *cancel,
                             gf_error *err)
{
    gf_status st = gf_pool_run(v->pool, v->n_workers, deal, m, cancel, err);
    if (st == GF_OK) st = allocate(m, err);
    if (st == GF_OK) st = gf_pool_run(v->pool, PARTITIONS, merge_partition, m, cancel, err);
    return st;
}

gf_status gf_merge_terms(const gf_vectorizer *v, gf_merged *merged, const gf_cancel *cancel,
                         gf_error *err)
{
    gf_merged out = {.n_workers = v->n_workers};
    merger m = {.out = &out};
    unsigned busy = 0, last = 0;
    gf_status st = GF_OK;
    m.hands = gf_calloc(v->n_workers, sizeof *m.hands);
    out.of = gf_calloc(v->n_workers, sizeof *out.of);
    if (!m.hands || !out.of) st = gf_fail_memory(err, "merging terms");
    for (unsigned w = 0; st == GF_OK && w < v->n_workers; w++) {
        if (!v->workers[w]) continue;
        m.hands[w].terms = gf_analyser_terms(v->workers[w]->analyser);
        m.hands[w].state = v->workers[w]->state;
        busy++;
        last = w;
    }
    if (st == GF_OK)
        st = busy == 1 ? take_terms(v, last, &out, err) : merge_terms(&m, v, cancel, err);
    for (unsigned w = 0; m.hands && w < v->n_workers; w++) {
        gf_free(m.hands[w].hash);
        gf_free(m.hands[w].dealt);
    }
    gf_free(m.hands);
    if (st == GF_OK)
        *merged = out;
    else
        gf_merge_terms_release(&out);
    return st;
}
