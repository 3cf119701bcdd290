/**
 * The distinct strings of a collection's texts, as they stand there (surface forms), each with the
 * term that it means and how often it was met. It is the table that every token of every text is
 * looked up in, so it is laid out for that: one cache line holds two whole slots, the key included.
 *
 *     slot, 32 bytes:  [ key, 16 bytes | tag | term | count | length, use ]
 *
 *     key of a string of up to 16 bytes    its bytes, zero behind its end
 *     key of a longer string               its hash and its address in an arena
 *
 * Open addressing, linear probing, a power of two of slots, at most 5 of 8 used. The tag is part of
 * the key: callers put there what makes equal strings different (the language). Slots move when the
 * table grows, and the commonest then come first to where their hashes say. Order and hash never
 * show in any result. Not for several threads.
 */
#ifndef GF_VECTORIZE_ROWS_SURFACES_INTERNAL_H
#define GF_VECTORIZE_ROWS_SURFACES_INTERNAL_H

#include "base/arena.h"
#include "grouperfish/status.h"

#include <stdint.h>

enum { GF_SURFACE_INLINE = 16, GF_SURFACE_LONGEST = UINT16_MAX };

/** A string made ready to be looked up. */
typedef struct gf_surface_key {
    uint64_t low, high; /* the bytes of a short string, first eight and next eight */
    uint64_t hash;
    uint32_t tag;
    uint16_t length;
} gf_surface_key;

typedef struct gf_surface {
    uint64_t low, high; /* as in the key; of a long string its hash, and its address */
    uint32_t tag;
    uint32_t term;
    uint32_t count; /* times met; stays at its maximum */
    uint16_t length;
    uint8_t use;  /* the caller's: what became of the string */
    uint8_t used; /* 0 marks an empty slot */
} gf_surface;

typedef struct gf_surfaces {
    gf_surface *slots; /* capacity */
    size_t capacity;   /* a power of two, or 0 */
    size_t n;
    gf_arena bytes; /* of the strings longer than GF_SURFACE_INLINE */
} gf_surfaces;

/** Set to {0} to begin. */
void gf_surfaces_release(gf_surfaces *t);

/**
 * The bytes of a short string as two words, zero behind its end.
 *
 * @param readable  bytes that may be read at s.ptr, at least s.len: 16 spare the copying
 */
static inline void gf_surface_words(gf_slice s, size_t readable, uint64_t words[2])
{
    static const unsigned char ones[2 * GF_SURFACE_INLINE] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                              0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                              0xFF, 0xFF, 0xFF, 0xFF};
    uint64_t mask[2];
    if (readable < GF_SURFACE_INLINE) {
        words[0] = words[1] = 0;
        if (s.len) memcpy(words, s.ptr, s.len);
        return;
    }
    memcpy(words, s.ptr, GF_SURFACE_INLINE);
    memcpy(mask, ones + GF_SURFACE_INLINE - s.len, GF_SURFACE_INLINE);
    words[0] &= mask[0];
    words[1] &= mask[1];
}

/** 64 x 64 bits multiplied, the halves of the product folded: the mixing step of wyhash. */
static inline uint64_t gf_surface_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/** The hash of a string longer than GF_SURFACE_INLINE. */
uint64_t gf_surface_long_hash(gf_slice s, uint32_t tag);

/**
 * Make the key of a string of at most GF_SURFACE_LONGEST bytes without a NUL, of which `readable`
 * may be read (gf_surface_words). The constants' upper bytes are none that UTF-8 has, so no text
 * can make a factor of the product 0.
 *
 * The key is written where it is kept, a member at a time: a struct that is returned is put
 * together on the stack and fetched from there in wider pieces than it was written in, which cost a
 * tenth of the whole ingest.
 */
static inline void gf_surface_make_key(gf_surface_key *key, gf_slice s, size_t readable,
                                       uint32_t tag)
{
    uint64_t words[2] = {0, 0}, hash, other = (uint64_t)tag << 16 | s.len;
    if (s.len > GF_SURFACE_INLINE) {
        words[0] = hash = gf_surface_long_hash(s, tag);
    } else {
        gf_surface_words(s, readable, words);
        hash =
            gf_surface_mix(words[0] ^ other ^ 0xFFA0761D6478BD64u, words[1] ^ 0xFFE7037ED1A0B428u);
    }
    key->low = words[0];
    key->high = words[1];
    key->hash = hash ^ hash >> 32;
    key->tag = tag;
    key->length = (uint16_t)s.len;
}

/** Have the slot's memory fetched; the lookup should follow some lookups later. */
static inline void gf_surfaces_prefetch(const gf_surfaces *t, const gf_surface_key *key)
{
    if (t->capacity) __builtin_prefetch(&t->slots[key->hash & (t->capacity - 1)], 1);
}

/**
 * The slot of a key, or NULL. s is the string that the key was made of.
 *
 * All of a short key is compared at once, before anything else: the first slot nearly always is the
 * right one, so that this is one branch that goes one way.
 */
static inline gf_surface *gf_surfaces_find(const gf_surfaces *t, const gf_surface_key *key,
                                           gf_slice s)
{
    if (t->capacity == 0) return NULL;
    size_t mask = t->capacity - 1, i = (size_t)key->hash & mask;
    bool is_short = key->length <= GF_SURFACE_INLINE;
    for (;; i = (i + 1) & mask) {
        gf_surface *slot = &t->slots[i];
        uint64_t other = (slot->low ^ key->low) | (slot->tag ^ key->tag) |
                         (uint64_t)(slot->length ^ key->length);
        if (is_short) other |= slot->high ^ key->high;
        if (other == 0 && slot->used &&
            (is_short || memcmp((const char *)(uintptr_t)slot->high, s.ptr, s.len) == 0))
            return slot;
        if (!slot->used) return NULL;
    }
}

/**
 * Add a string that is not there; its count is 0.
 * @return GF_OK, and *slot, which holds until the next add; GF_ENOMEM
 */
gf_status gf_surfaces_add(gf_surfaces *t, const gf_surface_key *key, gf_slice s, gf_surface **slot,
                          gf_error *err);

/** A slot's string: borrowed from the table, or written to `small`. */
gf_slice gf_surface_string(const gf_surface *slot, char small[GF_SURFACE_INLINE]);

#endif
