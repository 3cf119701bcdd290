/**
 * A put: documents that wait (put.c), how they are written (put_flush.c), and changes that are held
 * back until all have come (put_hold.c).
 */
#ifndef GF_ENGINE_PUT_INTERNAL_H
#define GF_ENGINE_PUT_INTERNAL_H

#include "base/arena.h"
#include "base/json.h"
#include "base/strings.h"
#include "engine/internal.h"

/** A document that waits for the next flush; its slices lie in the put's arena. */
typedef struct gf_waiting {
    gf_slice collection;
    gf_document document; /* of a deletion only the id */
    uint32_t order;       /* in which they came */
    bool deletes;
} gf_waiting;

/** A change that is held back. */
typedef struct gf_put_held {
    gf_waiting waiting;
    char *block; /* that its slices lie in; NULL: it was dropped */
    size_t bytes;
} gf_put_held;

typedef struct gf_put_hold {
    gf_strings keys;
    gf_put_held *entries; /* keys.n of capacity */
    size_t capacity, n /* not dropped */, bytes;
    gf_buffer key;
} gf_put_hold;

/** The change that is held back of a document, or NULL. It lasts until the next is kept. */
gf_status gf_put_hold_find(gf_put_hold *hold, gf_slice collection, gf_slice id, gf_put_held **held,
                           gf_error *err);
/** Keep a copy, in the place of one of the same document. */
gf_status gf_put_hold_keep(gf_put_hold *hold, const gf_waiting *waiting, gf_error *err);
void gf_put_hold_drop(gf_put_hold *hold, gf_put_held *held);
bool gf_put_hold_is_full(const gf_put_hold *hold);
void gf_put_hold_release(gf_put_hold *hold);

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
    gf_put_hold hold;
    gf_status failed;
};

/**
 * Write and sync what waits, with the write lock held; the order of `waiting` is changed. Changes
 * of documents that are there are held back, unless `last` says that no more will come of these
 * ids.
 */
gf_status gf_put_write(gf_put *put, bool last, gf_put_counts *counts, gf_error *err);

#endif
