/*
 * Members that a later one of the same name overwrites. Records of few members, which is nearly
 * all, are compared pair by pair; others by a hash table of the names seen, so that a record that
 * was made to be slow is not.
 *
 *     slots   member's index + 1, or 0: open addressing, at most half full
 */
#include "formats/field_mapping_internal.h"

#include "base/memory.h"

#include <xxhash.h>

enum { FEW = 16 };

static void compare_all(gf_member *members, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (gf_slice_equal(members[i].name, members[j].name))
                members[j].kind = GF_MEMBER_DROPPED;
}

/* *size empty slots, a power of two. */
static gf_status clear_slots(gf_field_mapping *m, size_t n, size_t *size, gf_error *err)
{
    *size = 4 * FEW;
    while (*size < 2 * n)
        *size *= 2;
    if (*size > m->n_slots) {
        uint32_t *slots = gf_realloc(m->slots, *size, sizeof *slots);
        if (!slots) return gf_fail_memory(err, "a record's names");
        m->slots = slots;
        m->n_slots = *size;
    }
    memset(m->slots, 0, *size * sizeof *m->slots);
    return GF_OK;
}

gf_status gf_duplicate_fields_drop(gf_field_mapping *m, gf_member *members, size_t n, gf_error *err)
{
    if (n <= FEW) {
        compare_all(members, n);
        return GF_OK;
    }
    size_t size;
    gf_status st = clear_slots(m, n, &size, err);
    if (st != GF_OK) return st;
    size_t mask = size - 1;
    for (size_t i = 0; i < n; i++) {
        gf_slice name = members[i].name;
        size_t at = (size_t)XXH3_64bits(name.ptr ? name.ptr : "", name.len) & mask;
        while (m->slots[at] && !gf_slice_equal(members[m->slots[at] - 1].name, name))
            at = (at + 1) & mask;
        if (m->slots[at]) members[m->slots[at] - 1].kind = GF_MEMBER_DROPPED;
        m->slots[at] = (uint32_t)i + 1;
    }
    return GF_OK;
}
