/*
 * What a put knows of the collection at hand: hashes of all ids that it has.
 *
 * Whether a document is new, changed or as it was needs a look at what is there. A collection that
 * was empty when the put began has only what the put has put since; so an id that is not among
 * those is new, and need not be looked for. One hash too many costs a look, one too few would count
 * wrong: so all is forgotten once anybody else has written to the collection, or there are too
 * many.
 *
 *     slot    hash of an id; 0 is free     open addressing, at most half full
 */
#include "engine/put/internal.h"

#include "base/memory.h"

#include <string.h>
#include <xxhash.h>

enum { FEWEST_SLOTS = 1 << 6, MOST_SLOTS = 1 << 23 /* 64 MB */ };

void gf_known_release(gf_known *k)
{
    gf_free(k->slots);
    gf_free(k->collection_bytes);
    *k = (gf_known){0};
}

static void insert(uint64_t *slots, size_t n_slots, uint64_t hash)
{
    size_t i = hash & (n_slots - 1);
    while (slots[i] && slots[i] != hash)
        i = (i + 1) & (n_slots - 1);
    slots[i] = hash;
}

static gf_status grow(gf_known *k, gf_error *err)
{
    size_t n_slots = k->n_slots ? k->n_slots * 2 : FEWEST_SLOTS;
    uint64_t *slots = gf_calloc_large(n_slots, sizeof *slots);
    if (!slots) return gf_fail_memory(err, "the ids of a collection");
    for (size_t i = 0; i < k->n_slots; i++)
        if (k->slots[i]) insert(slots, n_slots, k->slots[i]);
    gf_free(k->slots);
    k->slots = slots;
    k->n_slots = n_slots;
    return GF_OK;
}

static uint64_t hash_of(gf_slice id)
{
    uint64_t hash = XXH3_64bits(id.ptr, id.len);
    return hash ? hash : 1;
}

gf_status gf_known_begin(gf_known *k, gf_slice collection, uint64_t size, uint64_t seq,
                         uint64_t modified, gf_error *err)
{
    if (k->collection_bytes && seq == k->seq && modified == k->modified &&
        gf_slice_equal(k->collection, collection))
        return GF_OK;
    gf_known_release(k);
    if (size) return GF_OK;
    k->collection_bytes = gf_copy_string(collection.ptr, collection.len);
    k->collection = gf_slice_of(k->collection_bytes, collection.len);
    return k->collection_bytes ? GF_OK : gf_fail_memory(err, "the ids of a collection");
}

void gf_known_end(gf_known *k, uint64_t seq, uint64_t modified)
{
    k->seq = seq;
    k->modified = modified;
}

void gf_known_expect(const gf_known *k, gf_slice id)
{
    if (k->n_slots) __builtin_prefetch(&k->slots[hash_of(id) & (k->n_slots - 1)]);
}

gf_status gf_known_add(gf_known *k, gf_slice id, bool *is_new, gf_error *err)
{
    *is_new = false;
    if (2 * k->n >= MOST_SLOTS) gf_known_release(k);
    if (!k->collection_bytes) return GF_OK;
    gf_status st = 2 * k->n >= k->n_slots ? grow(k, err) : GF_OK;
    if (st != GF_OK) return st;
    uint64_t hash = hash_of(id);
    size_t i = hash & (k->n_slots - 1);
    while (k->slots[i] && k->slots[i] != hash)
        i = (i + 1) & (k->n_slots - 1);
    *is_new = k->slots[i] == 0;
    k->n += *is_new;
    k->slots[i] = hash;
    return GF_OK;
}
