#include "vectorize/rows/surfaces_internal.h"

#include "base/memory.h"

#include <xxhash.h>

enum { FIRST_CAPACITY = 1024, COMMON = 8 /* times met */ };

void gf_surfaces_release(gf_surfaces *t)
{
    gf_free(t->slots);
    gf_arena_release(&t->bytes);
    *t = (gf_surfaces){0};
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

static gf_surface *free_slot(gf_surface *slots, size_t capacity, uint64_t hash)
{
    size_t i = (size_t)hash & (capacity - 1);
    while (slots[i].used)
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

/* Moves the slots of strings that were met that often. */
static void move_slots(const gf_surfaces *t, uint32_t least, uint32_t most, gf_surface *slots,
                       size_t capacity)
{
    for (size_t i = 0; i < t->capacity; i++) {
        const gf_surface *s = &t->slots[i];
        if (s->used && s->count >= least && s->count <= most)
            *free_slot(slots, capacity, hash_of(s)) = *s;
    }
}

static gf_status grow(gf_surfaces *t, gf_error *err)
{
    size_t capacity = t->capacity ? t->capacity * 2 : FIRST_CAPACITY;
    gf_surface *slots = gf_calloc_large(capacity, sizeof *slots);
    if (!slots) return gf_fail_memory(err, "the table of words");
    move_slots(t, COMMON, UINT32_MAX, slots, capacity);
    move_slots(t, 0, COMMON - 1, slots, capacity);
    gf_free(t->slots);
    t->slots = slots;
    t->capacity = capacity;
    return GF_OK;
}

gf_status gf_surfaces_add(gf_surfaces *t, const gf_surface_key *key, gf_slice s, gf_surface **slot,
                          gf_error *err)
{
    if (t->n >= t->capacity / 8 * 5) {
        gf_status st = grow(t, err);
        if (st != GF_OK) return st;
    }
    gf_surface new = {
        .low = key->low, .high = key->high, .tag = key->tag, .length = key->length, .used = 1};
    if (key->length > GF_SURFACE_INLINE) {
        gf_slice copy = gf_arena_copy(&t->bytes, s);
        if (!copy.ptr) return gf_fail_memory(err, "the table of words");
        new.high = (uintptr_t)copy.ptr;
    }
    *slot = free_slot(t->slots, t->capacity, key->hash);
    **slot = new;
    t->n++;
    return GF_OK;
}

gf_slice gf_surface_string(const gf_surface *slot, char small[GF_SURFACE_INLINE])
{
    size_t n = slot->length;
    if (n > GF_SURFACE_INLINE) return gf_slice_of((const char *)(uintptr_t)slot->high, n);
    memcpy(small, &slot->low, sizeof slot->low);
    memcpy(small + sizeof slot->low, &slot->high, sizeof slot->high);
    return gf_slice_of(small, n);
}
