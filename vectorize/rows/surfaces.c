#include "vectorize/rows/surfaces_internal.h"

#include "base/grow.h"
#include "base/memory.h"

#include <xxhash.h>

enum { FIRST_CAPACITY = 1024, FIRST_SHARED_CAPACITY = 64, COMMON = 8 /* times met */ };

/* Slots that others may still be looking at, and counting in. */
typedef struct gf_former_slots {
    gf_surface *slots; /* mask + 1 */
    size_t mask;
} gf_former_slots;

static void free_former(gf_surface_stock *stock)
{
    for (size_t i = 0; i < stock->n_former; i++)
        gf_free(stock->former[i].slots);
    stock->n_former = 0;
}

void gf_surfaces_release(gf_surfaces *t)
{
    for (size_t i = 0; t->shards && t->stock && i < (size_t)1 << t->bits; i++) {
        gf_free(t->shards[i].slots);
        free_former(&t->stock[i]);
        gf_free(t->stock[i].former);
        gf_arena_release(&t->stock[i].bytes);
        if (t->shared) pthread_mutex_destroy(&t->stock[i].lock);
    }
    gf_free(t->shards);
    gf_free(t->stock);
    *t = (gf_surfaces){0};
}

static gf_status make_shards(gf_surfaces *t, unsigned bits, bool shared, gf_error *err)
{
    size_t n = (size_t)1 << bits;
    gf_surface_shard *shards = gf_calloc(n, sizeof *shards);
    gf_surface_stock *stock = gf_calloc(n, sizeof *stock);
    if (!shards || !stock) {
        gf_free(shards);
        gf_free(stock);
        return gf_fail_memory(err, "the table of words");
    }
    for (size_t i = 0; shared && i < n; i++)
        pthread_mutex_init(&stock[i].lock, NULL);
    *t = (gf_surfaces){shards, stock, bits, shared};
    return GF_OK;
}

gf_status gf_surfaces_share(gf_surfaces *t, unsigned bits, gf_error *err)
{
    return make_shards(t, bits, true, err);
}

size_t gf_surfaces_count(const gf_surfaces *t)
{
    size_t n = 0;
    for (size_t i = 0; t->shards && i < (size_t)1 << t->bits; i++)
        n += t->stock[i].n;
    return n;
}

uint64_t gf_surface_long_hash(gf_slice s, uint32_t tag)
{
    return XXH3_64bits_withSeed(s.ptr, s.len, tag);
}

/* A short string's hash is made again from its slot; a long one's is in it. */
static uint64_t hash_of(const gf_surface *slot)
{
    if (slot->length > GF_SURFACE_INLINE) return slot->low ^ slot->low >> 32;
    char small[GF_SURFACE_INLINE];
    gf_surface_key key;
    gf_surface_make_key(&key, gf_surface_string(slot, small), sizeof small, slot->tag);
    return key.hash;
}

gf_surface *gf_surfaces_find_further(gf_surface *slots, size_t mask, const gf_surface_key *key,
                                     gf_slice s)
{
    size_t i = (size_t)key->hash & mask;
    bool is_short = key->length <= GF_SURFACE_INLINE;
    for (size_t left = mask + 1; left > 0; left--, i = (i + 1) & mask) {
        gf_surface *slot = &slots[i];
        uint16_t length = __atomic_load_n(&slot->length, __ATOMIC_ACQUIRE);
        if (length == 0) return NULL;
        if (length != key->length || slot->low != key->low || slot->tag != key->tag) continue;
        if (is_short ? slot->high == key->high
                     : memcmp((const char *)(uintptr_t)slot->high, s.ptr, s.len) == 0)
            return slot;
    }
    return NULL;
}

static gf_surface *free_slot(gf_surface *slots, size_t mask, uint64_t hash)
{
    size_t i = (size_t)hash & mask;
    while (slots[i].length)
        i = (i + 1) & mask;
    return &slots[i];
}

/* The slot of a string that was copied from another. */
static gf_surface *slot_like(const gf_surface_shard *shard, const gf_surface *s)
{
    size_t i = (size_t)hash_of(s) & shard->mask;
    while (shard->slots[i].low != s->low || shard->slots[i].high != s->high ||
           shard->slots[i].tag != s->tag || shard->slots[i].length != s->length)
        i = (i + 1) & shard->mask;
    return &shard->slots[i];
}

void gf_surfaces_settle(gf_surfaces *t)
{
    for (size_t i = 0; t->shards && i < (size_t)1 << t->bits; i++) {
        gf_surface_stock *stock = &t->stock[i];
        for (size_t f = 0; f < stock->n_former; f++)
            for (size_t k = 0; k <= stock->former[f].mask; k++) {
                const gf_surface *s = &stock->former[f].slots[k];
                if (s->count == 0) continue;
                gf_surface *now = slot_like(&t->shards[i], s);
                bool fits = now->count < UINT32_MAX - s->count;
                now->count = fits ? now->count + s->count : UINT32_MAX;
            }
        free_former(stock);
    }
}

void gf_surfaces_meet_late(gf_surface *slot)
{
    uint32_t now = __atomic_load_n(&slot->count, __ATOMIC_RELAXED);
    while (now != UINT32_MAX && !__atomic_compare_exchange_n(&slot->count, &now, now + 1, true,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/*
 * The frequent strings come first to where their hashes say. Others may be counting in the old
 * slots of a shared table, so their counts stay there.
 */
static void copy_slots(const gf_surface_shard *from, bool counts, gf_surface *slots, size_t mask)
{
    for (unsigned rare = 0; rare < 2; rare++)
        for (size_t i = 0; i <= from->mask; i++) {
            const gf_surface *s = &from->slots[i];
            if (s->length == 0) continue;
            bool common = counts ? s->count >= COMMON : s->early > 0;
            if (common == rare) continue;
            gf_surface *to = free_slot(slots, mask, hash_of(s));
            *to = (gf_surface){.low = s->low,
                               .high = s->high,
                               .tag = s->tag,
                               .term = s->term,
                               .count = counts ? s->count : 0,
                               .length = s->length,
                               .use = s->use,
                               .early = s->early};
        }
}

static gf_status grow(gf_surfaces *t, gf_surface_shard *shard, gf_surface_stock *stock,
                      gf_error *err)
{
    size_t first = t->shared ? FIRST_SHARED_CAPACITY : FIRST_CAPACITY;
    size_t capacity = shard->slots ? (shard->mask + 1) * 2 : first;
    bool lasts = t->shared && shard->slots;
    if (lasts && !gf_grow(&stock->former, &stock->former_capacity, stock->n_former + 1,
                          sizeof *stock->former))
        return gf_fail_memory(err, "the table of words");
    gf_surface *slots = gf_calloc_large(capacity, sizeof *slots);
    if (!slots) return gf_fail_memory(err, "the table of words");
    if (shard->slots) copy_slots(shard, !t->shared, slots, capacity - 1);
    if (lasts)
        stock->former[stock->n_former++] = (gf_former_slots){shard->slots, shard->mask};
    else
        gf_free(shard->slots);
    __atomic_store_n(&shard->slots, slots, __ATOMIC_RELEASE);
    __atomic_store_n(&shard->mask, capacity - 1, __ATOMIC_RELEASE);
    return GF_OK;
}

/* With the shard's lock held. */
static gf_status add(gf_surfaces *t, size_t at, const gf_surface_key *key, gf_slice s,
                     uint32_t term, uint32_t use, gf_surface **added, gf_error *err)
{
    gf_surface_shard *shard = &t->shards[at];
    gf_surface_stock *stock = &t->stock[at];
    gf_status st = GF_OK;
    if (!shard->slots || stock->n >= (shard->mask + 1) / 8 * 5) st = grow(t, shard, stock, err);
    if (st != GF_OK) return st;
    uint64_t number = ((uint64_t)stock->n << t->bits | at) + 1;
    uint64_t high = key->high;
    if (key->length > GF_SURFACE_INLINE) {
        gf_slice copy = gf_arena_copy(&stock->bytes, s);
        if (!copy.ptr) return gf_fail_memory(err, "the table of words");
        high = (uintptr_t)copy.ptr;
    }
    gf_surface *slot = free_slot(shard->slots, shard->mask, key->hash);
    slot->low = key->low;
    slot->high = high;
    slot->tag = key->tag;
    slot->term = term;
    slot->use = use & 3;
    slot->early = number < GF_EARLY_SURFACES ? number & (GF_EARLY_SURFACES - 1) : 0;
    __atomic_store_n(&slot->length, key->length, __ATOMIC_RELEASE);
    stock->n++;
    *added = slot;
    return GF_OK;
}

gf_status gf_surfaces_add(gf_surfaces *t, const gf_surface_key *key, gf_slice s, uint32_t term,
                          uint32_t use, gf_surface **slot, gf_error *err)
{
    gf_status st = t->shards ? GF_OK : make_shards(t, 0, false, err);
    if (st != GF_OK) return st;
    size_t at = (size_t)(gf_surfaces_shard(t, key->hash) - t->shards);
    if (!t->shared) return add(t, at, key, s, term, use, slot, err);
    pthread_mutex_lock(&t->stock[at].lock);
    gf_surface *there = gf_surfaces_find(t, key, s);
    if (there)
        *slot = there;
    else
        st = add(t, at, key, s, term, use, slot, err);
    pthread_mutex_unlock(&t->stock[at].lock);
    return st;
}

gf_slice gf_surface_string(const gf_surface *slot, char small[GF_SURFACE_INLINE])
{
    size_t n = slot->length;
    if (n > GF_SURFACE_INLINE) return gf_slice_of((const char *)(uintptr_t)slot->high, n);
    memcpy(small, &slot->low, sizeof slot->low);
    memcpy(small + sizeof slot->low, &slot->high, sizeof slot->high);
    return gf_slice_of(small, n);
}
