#include "base/strings.h"

#include "base/grow.h"
#include "base/memory.h"

#include <assert.h>
#include <xxhash.h>

typedef struct gf_string_slot {
    uint64_t hash;
    uint32_t id_plus_1; /* 0 marks an empty slot */
} gf_string_slot;

enum { FIRST_CAPACITY = 64 };

void gf_strings_init(gf_strings *set)
{
    *set = (gf_strings){0};
}

void gf_strings_release(gf_strings *set)
{
    gf_free(set->slots);
    gf_free(set->entries);
    gf_arena_release(&set->bytes);
    gf_strings_init(set);
}

static size_t find_slot(const gf_strings *set, uint64_t hash, gf_slice s)
{
    size_t mask = set->capacity - 1;
    assert((set->capacity & mask) == 0); /* a power of two */
    size_t i = (size_t)hash & mask;
    for (;; i = (i + 1) & mask) {
        const gf_string_slot *slot = &set->slots[i];
        if (slot->id_plus_1 == 0) return i;
        if (slot->hash == hash && gf_slice_equal(set->entries[slot->id_plus_1 - 1], s)) return i;
    }
}

static gf_status grow_slots(gf_strings *set, gf_error *err)
{
    size_t capacity = set->capacity ? set->capacity * 2 : FIRST_CAPACITY;
    gf_string_slot *slots = gf_calloc_large(capacity, sizeof *slots);
    if (!slots) return gf_fail_memory(err, "a hash table");
    for (size_t old = 0; old < set->capacity; old++) {
        if (set->slots[old].id_plus_1 == 0) continue;
        size_t i = (size_t)set->slots[old].hash & (capacity - 1);
        while (slots[i].id_plus_1)
            i = (i + 1) & (capacity - 1);
        slots[i] = set->slots[old];
    }
    gf_free(set->slots);
    set->slots = slots;
    set->capacity = capacity;
    return GF_OK;
}

gf_status gf_strings_add(gf_strings *set, gf_slice s, uint32_t *id, bool *added, gf_error *err)
{
    gf_status st;
    if (set->n >= set->capacity / 3 * 2 && (st = grow_slots(set, err)) != GF_OK) return st;
    uint64_t hash = XXH3_64bits(s.ptr ? s.ptr : "", s.len);
    size_t i = find_slot(set, hash, s);
    bool is_new = set->slots[i].id_plus_1 == 0;
    if (is_new) {
        if (set->n == UINT32_MAX) return gf_fail(err, GF_ELIMIT, "more than 2^32 - 1 strings");
        bool grown =
            gf_grow(&set->entries, &set->entry_capacity, (size_t)set->n + 1, sizeof *set->entries);
        gf_slice copy = grown ? gf_arena_copy(&set->bytes, s) : (gf_slice){0};
        if (!copy.ptr) return gf_fail_memory(err, "a hash table");
        set->entries[set->n] = copy;
        set->slots[i] = (gf_string_slot){hash, ++set->n};
    }
    *id = set->slots[i].id_plus_1 - 1;
    if (added) *added = is_new;
    return GF_OK;
}

uint32_t gf_strings_find(const gf_strings *set, gf_slice s)
{
    if (set->n == 0) return GF_STRING_NONE;
    size_t i = find_slot(set, XXH3_64bits(s.ptr ? s.ptr : "", s.len), s);
    return set->slots[i].id_plus_1 ? set->slots[i].id_plus_1 - 1 : GF_STRING_NONE;
}
