/*
 * Records of few members, which is nearly all, are compared pair by pair; others by a hash table
 * of the names seen, so that a record that was made to be slow is not. Names are given out after
 * all that are there have their place in the table; each number is tried once for each name.
 */
#include "formats/duplicate_fields_internal.h"

#include "base/memory.h"

#include <stdio.h>
#include <xxhash.h>

enum { FEW = 16 };

void gf_duplicate_fields_release(gf_duplicate_fields *d)
{
    gf_free(d->slots);
    gf_free(d->number);
    gf_free(d->comes_again);
    gf_arena_release(&d->names);
    *d = (gf_duplicate_fields){0};
}

static bool all_differ(const gf_member *members, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (gf_slice_equal(members[i].name, members[j].name)) return false;
    return true;
}

/* Room for n names, and no name in it. */
static gf_status clear_table(gf_duplicate_fields *d, size_t n, gf_error *err)
{
    size_t size = 4 * FEW;
    while (size < 2 * n)
        size *= 2;
    if (size > d->n_slots) {
        uint32_t *slots = gf_realloc(d->slots, size, sizeof *slots);
        if (!slots) return gf_fail_memory(err, "a record's names");
        d->slots = slots;
        d->n_slots = size;
    }
    if (n > d->capacity) {
        uint32_t *number = gf_realloc(d->number, n, sizeof *number);
        if (number) d->number = number;
        bool *comes_again = number ? gf_realloc(d->comes_again, n, sizeof *comes_again) : NULL;
        if (comes_again) d->comes_again = comes_again;
        if (!number || !comes_again) return gf_fail_memory(err, "a record's names");
        d->capacity = n;
    }
    memset(d->slots, 0, d->n_slots * sizeof *d->slots);
    return GF_OK;
}

/* The slot of a name: that of the member that has it, or an empty one. */
static size_t find_slot(const gf_duplicate_fields *d, const gf_member *members, gf_slice name)
{
    size_t mask = d->n_slots - 1;
    size_t at = (size_t)XXH3_64bits(name.ptr ? name.ptr : "", name.len) & mask;
    while (d->slots[at] && !gf_slice_equal(members[d->slots[at] - 1].name, name))
        at = (at + 1) & mask;
    return at;
}

/* The first member of each name takes its place. */
static size_t list_names(gf_duplicate_fields *d, const gf_member *members, size_t n)
{
    size_t n_again = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = find_slot(d, members, members[i].name);
        d->comes_again[i] = d->slots[at] != 0;
        n_again += d->comes_again[i];
        if (d->comes_again[i]) continue;
        d->slots[at] = (uint32_t)i + 1;
        d->number[i] = 1;
    }
    return n_again;
}

static gf_status rename_member(gf_duplicate_fields *d, gf_member *members, size_t i, gf_error *err)
{
    uint32_t first = d->slots[find_slot(d, members, members[i].name)] - 1;
    size_t length = members[i].name.len, at;
    char *name = gf_arena_alloc(&d->names, length + 16);
    gf_slice renamed;
    if (!name) return gf_fail_memory(err, "a record's names");
    memcpy(name, members[i].name.ptr ? members[i].name.ptr : "", length);
    do {
        int digits = snprintf(name + length, 16, ".%u", ++d->number[first]);
        renamed = gf_slice_of(name, length + (size_t)digits);
        at = find_slot(d, members, renamed);
    } while (d->slots[at]);
    members[i].name = renamed;
    d->slots[at] = (uint32_t)i + 1;
    d->number[i] = 1;
    return GF_OK;
}

gf_status gf_duplicate_fields_rename(gf_duplicate_fields *d, gf_member *members, size_t n,
                                     gf_slice *renamed, gf_error *err)
{
    if (n <= FEW && all_differ(members, n)) return GF_OK;
    gf_status st = clear_table(d, n, err);
    if (st != GF_OK || list_names(d, members, n) == 0) return st;
    gf_arena_reset(&d->names);
    bool is_first = true;
    for (size_t i = 0; i < n; i++) {
        if (!d->comes_again[i]) continue;
        st = rename_member(d, members, i, err);
        if (st != GF_OK) return st;
        if (is_first) *renamed = members[i].name;
        is_first = false;
    }
    return GF_OK;
}
