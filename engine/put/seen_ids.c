/*
 * Ids that a put has written to a collection that was empty: hashes of all of them.
 *
 * Whether a document is new, changed or unchanged needs a look-up. A collection that was empty when
 * the put began has only what the put has written since; so an id that is not among those is new,
 * without a look-up. One hash too many costs a look-up, one too few would count wrong: so all are
 * forgotten once anybody else has written to the collection, or there are too many.
 *
 *     slot    hash of an id; 0 is free     open addressing, at most half full
 */
#include "engine/put/put_internal.h"

#include "base/memory.h"

#include <string.h>
#include <xxhash.h>

enum { FEWEST_SLOTS = 1 << 6, MOST_SLOTS = 1 << 23 /* 64 MB */ };

void gf_seen_ids_release(gf_seen_ids *seen)
{
    gf_free(seen->slots);
    gf_free(seen->collection_bytes);
    *seen = (gf_seen_ids){0};
}

static void insert_hash(uint64_t *slots, size_t n_slots, uint64_t hash)
{
    size_t i = hash & (n_slots - 1);
    while (slots[i] && slots[i] != hash)
        i = (i + 1) & (n_slots - 1);
    slots[i] = hash;
}

static gf_status grow_slots(gf_seen_ids *seen, gf_error *err)
{
    size_t n_slots = seen->n_slots ? seen->n_slots * 2 : FEWEST_SLOTS;
    uint64_t *slots = gf_calloc_large(n_slots, sizeof *slots);
    if (!slots) return gf_fail_memory(err, "the ids of a collection");
    for (size_t i = 0; i < seen->n_slots; i++)
        if (seen->slots[i]) insert_hash(slots, n_slots, seen->slots[i]);
    gf_free(seen->slots);
    seen->slots = slots;
    seen->n_slots = n_slots;
    return GF_OK;
}

static uint64_t hash_id(gf_slice id)
{
    uint64_t hash = XXH3_64bits(id.ptr, id.len);
    return hash ? hash : 1;
}

gf_status gf_seen_ids_begin(gf_seen_ids *seen, gf_slice collection, uint64_t size, uint64_t seq,
                            uint64_t modified, gf_error *err)
{
    if (seen->collection_bytes && seq == seen->seq && modified == seen->modified &&
        gf_slice_equal(seen->collection, collection))
        return GF_OK;
    gf_seen_ids_release(seen);
    if (size) return GF_OK;
    seen->collection_bytes = gf_copy_string(collection.ptr, collection.len);
    seen->collection = gf_slice_of(seen->collection_bytes, collection.len);
    return seen->collection_bytes ? GF_OK : gf_fail_memory(err, "the ids of a collection");
}

void gf_seen_ids_end(gf_seen_ids *seen, uint64_t seq, uint64_t modified)
{
    seen->seq = seq;
    seen->modified = modified;
}

void gf_seen_ids_prefetch(const gf_seen_ids *seen, gf_slice id)
{
    if (seen->n_slots) __builtin_prefetch(&seen->slots[hash_id(id) & (seen->n_slots - 1)]);
}

gf_status gf_seen_ids_add(gf_seen_ids *seen, gf_slice id, bool *is_new, gf_error *err)
{
    *is_new = false;
    if (2 * seen->n >= MOST_SLOTS) gf_seen_ids_release(seen);
    if (!seen->collection_bytes) return GF_OK;
    gf_status st = 2 * seen->n >= seen->n_slots ? grow_slots(seen, err) : GF_OK;
    if (st != GF_OK) return st;
    uint64_t hash = hash_id(id);
    size_t i = hash & (seen->n_slots - 1);
    while (seen->slots[i] && seen->slots[i] != hash)
        i = (i + 1) & (seen->n_slots - 1);
    *is_new = seen->slots[i] == 0;
    seen->n += *is_new;
    seen->slots[i] = hash;
    return GF_OK;
}
