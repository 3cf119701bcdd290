/**
 * A put: documents are checked and collected (put.c), handed over to be written by a thread while
 * the next are collected (writer.c), compared with what is there and written (flush.c).
 * Changes are held back until all have come (hold.c).
 */
#ifndef GF_ENGINE_PUT_INTERNAL_H
#define GF_ENGINE_PUT_INTERNAL_H

#include "base/arena.h"
#include "base/background.h"
#include "base/json.h"
#include "base/strings.h"
#include "engine/store/store_internal.h"
#include "grouperfish/collections.h"

/** A document that waits to be written; its slices lie in the collected documents' arena. */
typedef struct gf_waiting {
    gf_slice collection;
    gf_document document; /* of a deletion only the id */
    uint32_t order;       /* in which they came */
    uint32_t owner;       /* of the puts that are written together; 0 until then */
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
/** Documents that are written together. */
typedef struct gf_collected {
    gf_arena arena;
    gf_waiting *waiting; /* n of capacity */
    size_t n, capacity, bytes;
} gf_collected;

/** The ids of a collection that was empty. seen_ids.c */
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
    gf_put_hold hold; /* likewise */
    gf_status failed;
};

/** Put in order by collection and id, those of one id by `order`. GF_ENOMEM. sort.c */
gf_status gf_put_sort(gf_waiting *waiting, size_t n, gf_error *err);

/**
 * What a put has to be written. Changes of documents that are there are held back, unless `last`
 * says that no more will come of these ids.
 */
typedef struct gf_put_part {
    gf_put *put;
    gf_collected *collected;
    bool last;
} gf_put_part;

/**
 * Write and sync the parts of n puts of one namespace, as if one had come after the other, with the
 * write lock held; the order of their `waiting` is changed. All or nothing. Several only if all are
 * the last and nothing is held back.
 *
 * @param[out] counts  n: what each did
 */
gf_status gf_put_write(const gf_put_part *parts, size_t n, gf_put_counts *counts, gf_error *err);

/**
 * Write and sync a part, together with other threads' meanwhile: one sync for all of them.
 * group.c
 */
gf_status gf_put_commit(const gf_put_part *part, gf_put_counts *counts, gf_error *err);

/** Add a copy of a document, or of a deletion. put.c */
gf_status gf_collect(gf_collected *collected, gf_slice collection, const gf_document *document,
                     bool deletes, gf_error *err);
bool gf_collected_is_full(const gf_collected *collected);

/* ---- writer.c: for the thread of the put's caller -------------------------------------------- */

/** Wait until what was handed over is written, and count it. The status of that. */
gf_status gf_put_wait(gf_put *put, gf_error *err);

/** Wait likewise, then have what was collected written while the caller goes on. */
gf_status gf_put_hand_over(gf_put *put, gf_error *err);

/** Write what was collected, and what was held back, here and now; nothing is being written. */
gf_status gf_put_write_here(gf_put *put, gf_error *err);

/* ---- seen_ids.c ------------------------------------------------------------------------------ */

void gf_known_release(gf_known *known);

/** Turn to the collection, which is as told: all its ids are known from now on, where it is empty.
 */
gf_status gf_known_begin(gf_known *known, gf_slice collection, uint64_t size, uint64_t seq,
                         uint64_t modified, gf_error *err);
/** The collection's numbers as the put has written them. */
void gf_known_end(gf_known *known, uint64_t seq, uint64_t modified);

/** The id will be asked for soon: a hint to the processor. */
void gf_known_expect(const gf_known *known, gf_slice id);

/** *is_new: the collection surely had no such document. It is known from now on. */
gf_status gf_known_add(gf_known *known, gf_slice id, bool *is_new, gf_error *err);

#endif
