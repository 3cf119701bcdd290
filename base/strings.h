/**
 * A set of distinct strings, each with a dense id in order of arrival: 0, 1, 2, ...
 *
 * Open addressing with linear probing over 16-byte slots (64-bit hash, id); the bytes lie in an
 * arena, so a string's address holds until release. At most 2^32 - 1 strings. Not for several
 * threads.
 */
#ifndef GF_BASE_STRINGS_H
#define GF_BASE_STRINGS_H

#include "base/arena.h"
#include "grouperfish/status.h"

#include <stdint.h>

#define GF_STRING_NONE UINT32_MAX

typedef struct gf_strings {
    struct gf_string_slot *slots; /* capacity, a power of two, at most two thirds used */
    gf_slice *entries;            /* entries[id]; n of them */
    size_t capacity;
    size_t entry_capacity;
    uint32_t n;
    gf_arena bytes;
} gf_strings;

/** Set to {0}, or call init. */
void gf_strings_init(gf_strings *set);
void gf_strings_release(gf_strings *set);

/** The id of s, which is added where it is new (then *added is true). added may be NULL. */
gf_status gf_strings_add(gf_strings *set, gf_slice s, uint32_t *id, bool *added, gf_error *err);

/** The id of s, or GF_STRING_NONE. */
uint32_t gf_strings_find(const gf_strings *set, gf_slice s);

/** The string of an id below n; borrowed until release. */
static inline gf_slice gf_strings_at(const gf_strings *set, uint32_t id)
{
    return set->entries[id];
}

#endif
