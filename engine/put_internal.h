/**
 * A put: documents that wait (put.c) and how they are written (put_flush.c).
 */
#ifndef GF_ENGINE_PUT_INTERNAL_H
#define GF_ENGINE_PUT_INTERNAL_H

#include "base/arena.h"
#include "base/json.h"
#include "engine/internal.h"

/** A document that waits for the next flush; its slices lie in the put's arena. */
typedef struct gf_waiting {
    gf_slice collection;
    gf_document document; /* of a deletion only the id */
    uint32_t order;       /* in which they came */
    uint32_t owner;       /* of the puts that are written together; 0 until then */
    bool deletes;
} gf_waiting;

struct gf_put {
    gf_store *store;
    char *name_space_bytes;
    gf_slice name_space; /* those */
    uint64_t max_document;
    uint32_t max_collections;
    gf_put_counts counts;   /* synced */
    gf_json_parser *parser; /* for checking fields */
    gf_slice *names;        /* n_names: room for checking them */
    size_t n_names;
    gf_arena arena;
    gf_waiting *waiting; /* n of capacity */
    size_t n, capacity, bytes;
    gf_status failed;
};

/**
 * Write and sync all that waits in n puts of one namespace, as if one had come after the other, with
 * the write lock held; the order of their `waiting` is changed. All or nothing.
 *
 * @param[out] counts  n: what each did
 */
gf_status gf_puts_write(gf_put *const *puts, size_t n, gf_put_counts *counts, gf_error *err);

/**
 * Write and sync what waits in a put, together with what waits in other threads' puts meanwhile: one
 * sync for all of them (put_group.c).
 */
gf_status gf_put_commit(gf_put *put, gf_put_counts *counts, gf_error *err);

#endif
