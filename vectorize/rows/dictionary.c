#include "vectorize/rows/dictionary_internal.h"

#include "base/memory.h"

#include <xxhash.h>

enum { SHARD_BITS = 4 };

static void release_words(gf_dictionary *d)
{
    gf_surfaces_release(&d->surfaces);
    gf_surfaces_release(&d->ngrams);
    gf_surfaces_release(&d->forms);
    gf_tallies_release(&d->early);
    gf_tallies_release(&d->documents);
    for (size_t i = 0; d->terms && i < (size_t)1 << d->bits; i++)
        gf_strings_release(&d->terms[i].strings);
}

static gf_status share_tables(gf_dictionary *d, gf_error *err)
{
    gf_status st = GF_OK;
    if (!d->shared) return GF_OK;
    for (uint32_t i = 0; i < GF_EARLY_SURFACES && st == GF_OK; i++)
        st = gf_tallies_reserve(&d->early, i, err);
    if (st == GF_OK) st = gf_surfaces_share(&d->surfaces, d->bits, err);
    if (st == GF_OK) st = gf_surfaces_share(&d->ngrams, d->bits, err);
    return st == GF_OK ? gf_surfaces_share(&d->forms, d->bits, err) : st;
}

gf_status gf_dictionary_create(bool shared, gf_dictionary **dictionary, gf_error *err)
{
    gf_dictionary *d = gf_calloc(1, sizeof *d);
    if (!d) return gf_fail_memory(err, "a dictionary");
    unsigned bits = shared ? SHARD_BITS : 0;
    size_t n = (size_t)1 << bits;
    d->terms = gf_calloc(n, sizeof *d->terms);
    d->bits = bits;
    d->shared = shared;
    gf_status st = d->terms ? GF_OK : gf_fail_memory(err, "a dictionary");
    for (size_t i = 0; st == GF_OK && shared && i < n; i++)
        pthread_mutex_init(&d->terms[i].lock, NULL);
    if (st == GF_OK) st = share_tables(d, err);
    if (st == GF_OK)
        *dictionary = d;
    else
        gf_dictionary_free(d);
    return st;
}

void gf_dictionary_free(gf_dictionary *d)
{
    if (!d) return;
    release_words(d);
    for (size_t i = 0; d->shared && d->terms && i < (size_t)1 << d->bits; i++)
        pthread_mutex_destroy(&d->terms[i].lock);
    gf_free(d->terms);
    gf_free(d);
}

gf_status gf_dictionary_reset(gf_dictionary *d, gf_error *err)
{
    release_words(d);
    return share_tables(d, err);
}

void gf_dictionary_settle(gf_dictionary *d)
{
    gf_surfaces_settle(&d->surfaces);
    gf_surfaces_settle(&d->ngrams);
    gf_surfaces_settle(&d->forms);
}

void gf_dictionary_add_early(gf_dictionary *d, uint32_t *early)
{
    for (uint32_t i = 0; i < GF_EARLY_SURFACES; i++) {
        gf_tallies_add(&d->early, i, early[i]);
        early[i] = 0;
    }
}

uint32_t gf_dictionary_met(const gf_dictionary *d, const gf_surface *slot)
{
    if (!d->shared || !slot->early) return slot->count;
    return gf_tallies_at(&d->early, slot->early); /* such a slot counts nothing itself */
}

/* ---- terms ----------------------------------------------------------------------------------- */

static void lock(const gf_dictionary *d, gf_term_shard *shard)
{
    if (d->shared) pthread_mutex_lock(&shard->lock);
}

static void unlock(const gf_dictionary *d, gf_term_shard *shard)
{
    if (d->shared) pthread_mutex_unlock(&shard->lock);
}

static size_t shard_of(const gf_dictionary *d, gf_slice term)
{
    return d->shared ? (size_t)(XXH3_64bits(term.ptr, term.len) >> (64 - d->bits)) : 0;
}

gf_status gf_dictionary_intern(gf_dictionary *d, gf_slice term, uint32_t *id, gf_error *err)
{
    size_t at = shard_of(d, term);
    gf_term_shard *shard = &d->terms[at];
    uint32_t number;
    lock(d, shard);
    gf_status st = gf_strings_add(&shard->strings, term, &number, NULL, err);
    unlock(d, shard);
    if (st != GF_OK) return st;
    if (number >= UINT32_MAX >> d->bits) return gf_fail(err, GF_ELIMIT, "too many different words");
    *id = number << d->bits | (uint32_t)at;
    return gf_tallies_reserve(&d->documents, *id, err);
}

uint32_t gf_dictionary_find(const gf_dictionary *d, gf_slice term)
{
    size_t at = shard_of(d, term);
    uint32_t number = gf_strings_find(&d->terms[at].strings, term);
    return number == GF_STRING_NONE ? number : number << d->bits | (uint32_t)at;
}

gf_slice gf_dictionary_term(gf_dictionary *d, uint32_t id)
{
    gf_term_shard *shard = &d->terms[id & ((1u << d->bits) - 1)];
    uint32_t number = id >> d->bits;
    gf_slice term = {NULL, 0};
    lock(d, shard);
    if (number < shard->strings.n) term = gf_strings_at(&shard->strings, number);
    unlock(d, shard);
    return term;
}

uint32_t gf_dictionary_ids(const gf_dictionary *d)
{
    uint32_t most = 0;
    for (size_t i = 0; i < (size_t)1 << d->bits; i++)
        if (d->terms[i].strings.n > most) most = d->terms[i].strings.n;
    return most << d->bits;
}

size_t gf_dictionary_size(const gf_dictionary *d)
{
    size_t terms = 0, surfaces = gf_surfaces_count(&d->surfaces);
    for (size_t i = 0; i < (size_t)1 << d->bits; i++)
        terms += d->terms[i].strings.n;
    return terms > surfaces ? terms : surfaces;
}
