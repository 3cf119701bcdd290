/**
 * Numbers by id that several threads raise.
 *
 *     part 0 | part 1     | part 2          ...   1,024 numbers, 2,048, 4,096: a part stays where it
 *                                                 is once it is there
 *
 * Sums do not depend on who counted what. A number stays at its maximum.
 */
#ifndef GF_VECTORIZE_ROWS_TALLIES_INTERNAL_H
#define GF_VECTORIZE_ROWS_TALLIES_INTERNAL_H

#include "grouperfish/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { GF_TALLY_PARTS = 23, GF_TALLY_FIRST_BITS = 10 };

typedef struct gf_tallies {
    uint32_t *part[GF_TALLY_PARTS]; /* NULL where no id was so high */
} gf_tallies;

/** Set to {0} to begin. */
void gf_tallies_release(gf_tallies *t);

/** Have a place for an id, with 0 in it at first. Any thread. GF_ENOMEM. */
gf_status gf_tallies_reserve(gf_tallies *t, uint32_t id, gf_error *err);

/** The place of an id that was reserved. */
static inline uint32_t *gf_tallies_place(const gf_tallies *t, uint32_t id)
{
    uint64_t at = (uint64_t)id + (1u << GF_TALLY_FIRST_BITS);
    unsigned bits = 63 - (unsigned)__builtin_clzll(at);
    uint32_t *part = __atomic_load_n(&t->part[bits - GF_TALLY_FIRST_BITS], __ATOMIC_ACQUIRE);
    return part + (at - (UINT64_C(1) << bits));
}

static inline uint32_t gf_tallies_at(const gf_tallies *t, uint32_t id)
{
    return __atomic_load_n(gf_tallies_place(t, id), __ATOMIC_RELAXED);
}

/** Raise the number of an id that was reserved. Any thread. */
void gf_tallies_add(gf_tallies *t, uint32_t id, uint32_t times);

#endif
