/** A set of documents, by their ids. */
#ifndef GF_ENGINE_ROWS_ID_SET_H
#define GF_ENGINE_ROWS_ID_SET_H

#include "base/arena.h"
#include "grouperfish/table.h"

/** {0} is the empty set. */
typedef struct gf_id_set {
    gf_arena memory;
    gf_slice *ids; /* n of capacity, rising */
    size_t n, capacity;
} gf_id_set;

void gf_id_set_release(gf_id_set *set);

/** Add an id behind all that are there; GF_ENOMEM. */
gf_status gf_id_set_append(gf_id_set *set, gf_slice id, gf_error *err);

bool gf_id_set_has(const gf_id_set *set, gf_slice id);

/** A number that differs where the sets do, but for one case in 2^64. */
uint64_t gf_id_set_hash(const gf_id_set *set);

#endif
