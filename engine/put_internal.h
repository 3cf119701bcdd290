/**
 * A put: documents are checked and collected (put.c), handed over to be written by a thread while
 * the next are collected (put_writer.c), compared with what is there and written (put_flush.c).
 */
#ifndef GF_ENGINE_PUT_INTERNAL_H
#define GF_ENGINE_PUT_INTERNAL_H

#include "base/arena.h"
#include "base/background.h"
#include "base/json.h"
#include "engine/internal.h"

/** A document that waits to be written; its slices lie in the collected documents' arena. */
typedef struct gf_waiting {
    gf_slice collection;
    gf_document document; /* of a deletion only the id */
    uint32_t order;       /* in which they came */
    bool deletes;
} gf_waiting;

/** Documents that are written together. */
typedef struct gf_collected {
    gf_arena arena;
    gf_waiting *waiting; /* n of capacity */
    size_t n, capacity, bytes;
} gf_collected;

/** The ids of a collection that was empty. put_known.c */
typedef struct gf_known {
    char *collection_bytes; /* NULL: nothing is known */
    gf_slice collection;    /* those */
    uint64_t seq, modified; /* of the collection when it was last written */
    uint64_t *slots;        /* n of n_slots, a power of two */
    size_t n, n_slots;
} gf_known;

struct gf_put {
    gf_store *store;
    char *name_space_bytes;
    gf_slice name_space; /* those */
    uint64_t max_document;
    uint32_t max_collections;
    gf_put_counts counts;   /* synced, as far as the caller's thread knows */
    gf_json_parser *parser; /* for checking fields */
    gf_slice *names;        /* n_names: room for checking them */
    size_t n_names;
    gf_collected collected[2];
    unsigned front; /* of collected: what the next document joins; the other is written */
    gf_background writer;
    gf_put_counts written; /* by the writer, since it was last waited for */
    uint64_t collections;  /* made so far; the writer's, like `known` */
    gf_known known;
    gf_status failed;
};

/** Write and sync what was collected, with the write lock held; the order of `waiting` is changed.
 */
gf_status gf_put_write(gf_put *put, gf_collected *collected, gf_put_counts *counts, gf_error *err);

/* ---- put_writer.c: for the thread of the put's caller -----------------------------------------
 */

/** Wait until what was handed over is written, and count it. The status of that. */
gf_status gf_put_wait(gf_put *put, gf_error *err);

/** Wait likewise, then have what was collected written while the caller goes on. */
gf_status gf_put_hand_over(gf_put *put, gf_error *err);

/** Write what was collected here and now; nothing is being written. */
gf_status gf_put_write_here(gf_put *put, gf_error *err);

/* ---- put_known.c ------------------------------------------------------------------------------
 */

void gf_known_release(gf_known *known);

/** Turn to the collection, which is as told: all its ids are known from now on, where it is empty.
 */
gf_status gf_known_begin(gf_known *known, gf_slice collection, uint64_t size, uint64_t seq,
                         uint64_t modified, gf_error *err);
/** The collection's numbers as the put has written them. */
void gf_known_end(gf_known *known, uint64_t seq, uint64_t modified);

/** *is_new: the collection surely had no such document. It is known from now on. */
gf_status gf_known_add(gf_known *known, gf_slice id, bool *is_new, gf_error *err);

#endif
