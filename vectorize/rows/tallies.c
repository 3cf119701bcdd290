#include "vectorize/rows/tallies_internal.h"

#include "base/memory.h"

void gf_tallies_release(gf_tallies *t)
{
    for (unsigned i = 0; i < GF_TALLY_PARTS; i++)
        gf_free(t->part[i]);
    *t = (gf_tallies){0};
}

gf_status gf_tallies_reserve(gf_tallies *t, uint32_t id, gf_error *err)
{
    uint64_t at = (uint64_t)id + (1u << GF_TALLY_FIRST_BITS);
    unsigned bits = 63 - (unsigned)__builtin_clzll(at);
    uint32_t **part = &t->part[bits - GF_TALLY_FIRST_BITS], *none = NULL;
    if (__atomic_load_n(part, __ATOMIC_ACQUIRE)) return GF_OK;
    uint32_t *made = gf_calloc((size_t)1 << bits, sizeof *made);
    if (!made) return gf_fail_memory(err, "counts of words");
    if (!__atomic_compare_exchange_n(part, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        gf_free(made); /* another thread was faster */
    return GF_OK;
}

void gf_tallies_add(gf_tallies *t, uint32_t id, uint32_t times)
{
    if (times == 0) return;
    uint32_t *place = gf_tallies_place(t, id), sum, now = __atomic_load_n(place, __ATOMIC_RELAXED);
    do
        sum = times < UINT32_MAX - now ? now + times : UINT32_MAX;
    while (
        !__atomic_compare_exchange_n(place, &now, sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
