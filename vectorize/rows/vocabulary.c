#include "vectorize/rows/vocabulary.h"

#include "base/memory.h"

#include <xxhash.h>

void gf_vocabulary_release(gf_vocabulary *v)
{
    gf_free(v->df);
    gf_free(v->idf);
    gf_free(v->start);
    gf_free(v->bytes);
    gf_free(v->slots);
    *v = (gf_vocabulary){0};
}

static uint64_t hash_of(gf_slice term)
{
    return XXH3_64bits(term.ptr ? term.ptr : "", term.len);
}

/* The slot of a term, or the empty one where it belongs. */
static size_t probe(const gf_vocabulary *v, gf_slice term, uint64_t hash)
{
    size_t mask = v->capacity - 1, i = (size_t)hash & mask;
    for (; v->slots[i]; i = (i + 1) & mask)
        if (v->slots[i] >> 32 == hash >> 32 &&
            gf_slice_equal(gf_vocabulary_term(v, (uint32_t)v->slots[i] - 1), term))
            break;
    return i;
}

uint32_t gf_vocabulary_find(const gf_vocabulary *v, gf_slice term)
{
    if (v->n_terms == 0) return GF_TERM_NONE;
    uint64_t slot = v->slots[probe(v, term, hash_of(term))];
    return slot ? (uint32_t)slot - 1 : GF_TERM_NONE;
}

static gf_status allocate(gf_vocabulary *v, const gf_vocabulary_parts *parts, gf_error *err)
{
    size_t n = parts->n_terms, total = 0;
    for (size_t i = 0; i < n; i++)
        total += parts->term[i].len + parts->surface[i].len;
    v->capacity = 16;
    while (v->capacity < n * 2)
        v->capacity *= 2;
    v->df = gf_array(n, sizeof *v->df);
    v->idf = gf_array(n, sizeof *v->idf);
    v->start = gf_array(2 * n + 1, sizeof *v->start);
    v->bytes = gf_malloc(total);
    v->slots = gf_calloc(v->capacity, sizeof *v->slots);
    if (v->df && v->idf && v->start && v->bytes && v->slots) return GF_OK;
    return gf_fail_memory(err, "a vocabulary");
}

static void copy_string(gf_vocabulary *v, size_t i, gf_slice s)
{
    if (s.len) memcpy(v->bytes + v->start[i], s.ptr, s.len);
    v->start[i + 1] = v->start[i] + s.len;
}

/* Appends term i; terms come in order. False where it is there already. */
static bool add_term(gf_vocabulary *v, const gf_vocabulary_parts *parts, uint32_t i)
{
    uint64_t hash = hash_of(parts->term[i]);
    size_t slot = probe(v, parts->term[i], hash);
    if (v->slots[slot]) return false;
    copy_string(v, 2 * (size_t)i, parts->term[i]);
    copy_string(v, 2 * (size_t)i + 1, parts->surface[i]);
    v->slots[slot] = (hash & 0xFFFFFFFF00000000u) | (i + 1);
    v->df[i] = parts->df[i];
    v->idf[i] =
        i < parts->n_regular ? gf_weight_idf(parts->idf_kind, parts->n_docs, parts->df[i]) : 1;
    return true;
}

gf_status gf_vocabulary_init(gf_vocabulary *v, const gf_vocabulary_parts *parts, gf_error *err)
{
    gf_vocabulary made = {.n_docs = parts->n_docs,
                          .n_terms = parts->n_terms,
                          .n_regular = parts->n_regular,
                          .idf_kind = parts->idf_kind};
    gf_status st = allocate(&made, parts, err);
    if (st == GF_OK) made.start[0] = 0;
    for (uint32_t i = 0; i < parts->n_terms && st == GF_OK; i++)
        if (!add_term(&made, parts, i))
            st = gf_fail(err, GF_EINVAL, "two terms are \"%.*s\"", GF_SLICE_ARG(parts->term[i]));
    if (st != GF_OK) {
        gf_vocabulary_release(&made);
        return st;
    }
    *v = made;
    return GF_OK;
}
