/**
 * The distinct strings of a collection's texts, as they stand there (surface forms), each with the
 * term that it means. It is the table that every token of every text is looked up in, by all
 * threads at once, so it is laid out for that: one cache line holds two whole slots, the key
 * included, and frequent slots are written to by one thread alone, or by none.
 *
 *     shard = the hash's upper bits:   slots, mask | lock, bytes
 *     slot, 32 bytes:  [ key, 16 bytes | tag | term | count | length | use, early ]
 *
 *     key of a string of up to 16 bytes    its bytes, zero behind its end
 *     key of a longer string               its hash and its address in an arena
 *
 * Open addressing, linear probing, a power of two of slots, at most 5 of 8 used. The tag is part of
 * the key: callers put there what makes equal strings different (the language). Order and hash
 * never show in any result.
 *
 * Threads. A table that is shared has several shards. Looking up takes no lock: a slot is complete
 * before its length, which is 0 until then, is stored, and but for its count does not change any
 * more. Adding takes the lock of one shard. A shard that grows copies its slots, with counts of 0;
 * the old ones stay, for those that look there, until gf_surfaces_settle, which adds their counts.
 * Who looks in the old ones, or by an old mask in new ones, may miss a string that is there: adding
 * finds it.
 *
 * How often a string is met. The strings that came first are the frequent ones: 16,383 have a number
 * (`early`), by which each thread counts in an array of its own; the others are counted in the slot,
 * by an atomic instruction. In a table of one thread all are counted in the slot.
 */
#ifndef GF_VECTORIZE_ROWS_SURFACES_INTERNAL_H
#define GF_VECTORIZE_ROWS_SURFACES_INTERNAL_H

#include "base/arena.h"
#include "grouperfish/status.h"

#include <pthread.h>
#include <stdint.h>

enum { GF_SURFACE_INLINE = 16, GF_SURFACE_LONGEST = UINT16_MAX, GF_EARLY_SURFACES = 1 << 14 };

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
    uint32_t term;       /* the caller's, as use is: what the string means */
    uint32_t count;      /* times met, where it was counted here; stays at its maximum */
    uint16_t length;     /* 0 marks an empty slot */
    uint16_t use : 2;    /* 0..3 */
    uint16_t early : 14; /* 0: a string that came later */
} gf_surface;

/** The part of a shard that is read without its lock. */
typedef struct gf_surface_shard {
    gf_surface *slots; /* mask + 1, or NULL */
    size_t mask;
} gf_surface_shard;

/** The part under the lock. */
typedef struct gf_surface_stock {
    pthread_mutex_t lock; /* where the table is shared */
    size_t n;
    gf_arena bytes;                 /* of the strings longer than GF_SURFACE_INLINE */
    struct gf_former_slots *former; /* n_former */
    size_t n_former, former_capacity;
} gf_surface_stock;

typedef struct gf_surfaces {
    gf_surface_shard *shards; /* 1 << bits; NULL: there is none yet, of a table of one thread */
    gf_surface_stock *stock;  /* likewise */
    unsigned bits;
    bool shared;
} gf_surfaces;

/** Set to {0} to begin: for one thread. */
void gf_surfaces_release(gf_surfaces *t);

/** Make an empty table one for several threads. GF_ENOMEM. */
gf_status gf_surfaces_share(gf_surfaces *t, unsigned bits, gf_error *err);

/** Have all counts in the slots in use, and free the old ones. While no thread is at the table. */
void gf_surfaces_settle(gf_surfaces *t);

/** How many strings there are. While none is added. */
size_t gf_surfaces_count(const gf_surfaces *t);

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

/** Shards: 1 << bits of them. */
static inline const gf_surface_shard *gf_surfaces_shard(const gf_surfaces *t, uint64_t hash)
{
    return &t->shards[hash >> 32 >> (32 - t->bits)];
}

/** Have the slot's memory fetched; the lookup should follow some lookups later. */
static inline void gf_surfaces_prefetch(const gf_surfaces *t, const gf_surface_key *key)
{
    if (!t->shards) return;
    const gf_surface_shard *shard = gf_surfaces_shard(t, key->hash);
    size_t mask = __atomic_load_n(&shard->mask, __ATOMIC_ACQUIRE);
    const gf_surface *slots = __atomic_load_n(&shard->slots, __ATOMIC_ACQUIRE);
    if (slots) __builtin_prefetch(&slots[key->hash & mask]);
}

/** gf_surfaces_find behind the first slot, from a mask and its slots on. */
gf_surface *gf_surfaces_find_further(gf_surface *slots, size_t mask, const gf_surface_key *key,
                                     gf_slice s);

/**
 * The slot of a key, or NULL. s is the string that the key was made of.
 *
 * The first slot nearly always is the right one, of a short string, so that this is one branch that
 * goes one way.
 */
static inline gf_surface *gf_surfaces_find(const gf_surfaces *t, const gf_surface_key *key,
                                           gf_slice s)
{
    if (!t->shards) return NULL;
    const gf_surface_shard *shard = gf_surfaces_shard(t, key->hash);
    size_t mask = __atomic_load_n(&shard->mask, __ATOMIC_ACQUIRE);
    gf_surface *slots = __atomic_load_n(&shard->slots, __ATOMIC_ACQUIRE);
    if (!slots) return NULL;
    gf_surface *slot = &slots[key->hash & mask];
    uint16_t length = __atomic_load_n(&slot->length, __ATOMIC_ACQUIRE);
    if (length == key->length && length <= GF_SURFACE_INLINE &&
        ((slot->low ^ key->low) | (slot->high ^ key->high) | (slot->tag ^ key->tag)) == 0)
        return slot;
    return length ? gf_surfaces_find_further(slots, mask, key, s) : NULL;
}

/**
 * The slot of a string, which is added where it is not there: another thread may have been faster.
 * @param term, use  what it means; any thread that adds it gives the same
 * @return GF_OK, and *slot, which holds until the next add or settle; GF_ENOMEM; GF_ELIMIT
 */
gf_status gf_surfaces_add(gf_surfaces *t, const gf_surface_key *key, gf_slice s, uint32_t term,
                          uint32_t use, gf_surface **slot, gf_error *err);

/** Count a slot's string once, in the slot. Any thread. */
void gf_surfaces_meet_late(gf_surface *slot);

/**
 * Count a slot's string once.
 * @param early  GF_EARLY_SURFACES: the thread's own counts, by the slots' numbers; of a table that
 *               is not shared it is not looked at. Place 0 has no meaning.
 */
static inline void gf_surfaces_meet(const gf_surfaces *t, gf_surface *slot, uint32_t *early)
{
    if (!t->shared)
        slot->count += slot->count != UINT32_MAX;
    else if (slot->early)
        early[slot->early] += early[slot->early] != UINT32_MAX;
    else
        gf_surfaces_meet_late(slot);
}

/** A slot's string: borrowed from the table, or written to `small`. */
gf_slice gf_surface_string(const gf_surface *slot, char small[GF_SURFACE_INLINE]);

#endif
