/**
 * A put. On its way a document is a row, whose columns lie as the table will have them:
 *
 *     put.c           checks a document and makes a row of it
 *     rows.c          rows that are written together, and their copies
 *     writer.c        a thread writes one set of rows while the caller fills the other
 *     group.c         puts of several threads share a write and its sync
 *     flush.c         rows are compared with the store, and become one batch
 *     sort.c          the order of rows in the table
 *     seen_ids.c      ids that the put has written, of a collection that was empty
 *     held_changes.c  changes that wait until no more of their ids can come
 */
#ifndef GF_ENGINE_PUT_PUT_INTERNAL_H
#define GF_ENGINE_PUT_PUT_INTERNAL_H

#include "base/arena.h"
#include "base/background.h"
#include "base/json/json.h"
#include "base/strings.h"
#include "engine/rows/document_row.h"
#include "engine/store/store_internal.h"
#include "grouperfish/collections.h"
#include "storage/backend.h"

/* ---- rows.c ---------------------------------------------------------------------------------- */

/** A document, or a deletion, on its way. */
typedef struct gf_put_row {
    gf_slice collection, id;
    gf_column *columns; /* n, in stored order (see gf_document_cells); NULL: a deletion */
    uint32_t n, seq_at; /* columns[seq_at] is seq: empty until the row is written */
    uint32_t order;     /* of arrival */
    uint32_t owner;     /* index of its put, of those written together; 0 until then */
    size_t bytes;       /* of names and values, as they were given */
} gf_put_row;

/** Rows that are written together; all that they point to lies in the arena. */
typedef struct gf_put_rows {
    gf_arena arena;
    gf_put_row *at; /* n of capacity */
    size_t n, capacity, bytes;
} gf_put_rows;

/** Add a copy of the row. GF_ENOMEM. */
gf_status gf_put_rows_add(gf_put_rows *rows, const gf_put_row *row, gf_error *err);
bool gf_put_rows_are_full(const gf_put_rows *rows);
void gf_put_rows_reset(gf_put_rows *rows);
void gf_put_rows_release(gf_put_rows *rows);

/** Bytes of the block that a copy of the row needs. */
size_t gf_put_row_block(const gf_put_row *row);

/** Copy what the row points to into a block, aligned to 8, and point to that. */
void gf_put_row_move(gf_put_row *row, char *block);

/** Sort by collection and id, those of one id by `order`. GF_ENOMEM. sort.c */
gf_status gf_put_sort(gf_put_row *rows, size_t n, gf_error *err);

/* ---- held_changes.c -------------------------------------------------------------------------- */

/** Changes held back: the last of each document. */
typedef struct gf_held_changes {
    gf_strings keys;
    gf_put_row *rows; /* keys.n of capacity; columns NULL: it was dropped. Each is its own block */
    size_t capacity, n /* not dropped */, bytes;
    gf_buffer key;
} gf_held_changes;

/** The change held back of a document, or NULL. It is valid until the next is kept. */
gf_status gf_held_changes_find(gf_held_changes *held, gf_slice collection, gf_slice id,
                               gf_put_row **row, gf_error *err);
/** Keep a copy, in place of an earlier change of the same document. */
gf_status gf_held_changes_keep(gf_held_changes *held, const gf_put_row *row, gf_error *err);
void gf_held_changes_drop(gf_held_changes *held, gf_put_row *row);
bool gf_held_changes_are_full(const gf_held_changes *held);
void gf_held_changes_release(gf_held_changes *held);

/* ---- seen_ids.c ------------------------------------------------------------------------------ */

/** The ids of a collection that was empty. */
typedef struct gf_seen_ids {
    char *collection_bytes; /* NULL: no collection */
    gf_slice collection;    /* those */
    uint64_t seq, modified; /* of the collection when it was last written */
    uint64_t *slots;        /* n of n_slots, a power of two */
    size_t n, n_slots;
} gf_seen_ids;

void gf_seen_ids_release(gf_seen_ids *seen);

/**
 * Turn to the collection, which has these numbers: where it is empty, all its ids are seen from now
 * on.
 */
gf_status gf_seen_ids_begin(gf_seen_ids *seen, gf_slice collection, uint64_t size, uint64_t seq,
                            uint64_t modified, gf_error *err);
/** The collection's numbers as the put has written them. */
void gf_seen_ids_end(gf_seen_ids *seen, uint64_t seq, uint64_t modified);

/** Hint to the processor: the id will be asked for soon. */
void gf_seen_ids_prefetch(const gf_seen_ids *seen, gf_slice id);

/** *is_new: the collection surely had no such document. The id is seen from now on. */
gf_status gf_seen_ids_add(gf_seen_ids *seen, gf_slice id, bool *is_new, gf_error *err);

/* ---- the put --------------------------------------------------------------------------------- */

struct gf_put {
    gf_store *store;
    char *name_space_bytes;
    gf_slice name_space; /* those */
    uint64_t max_document;
    uint32_t max_collections;
    gf_status failed;
    gf_put_counts counts;    /* synced, as far as the caller's thread knows */
    gf_json_parser *parser;  /* for checking fields */
    gf_document_cells cells; /* of the document at hand */
    gf_put_rows rows[2];
    unsigned front; /* of rows: what the next document joins; the other is the writer's */

    /* The writer's, which is this thread where nothing is being written. */
    gf_background writer;
    gf_put_counts written; /* since it was last waited for */
    uint64_t collections;  /* made so far */
    gf_seen_ids seen;
    gf_held_changes held;
};

/**
 * Rows of a put to be written. Changes of documents that are there are held back, unless `last`
 * says that no more of these ids will come.
 */
typedef struct gf_put_part {
    gf_put *put;
    gf_put_rows *rows;
    bool last;
} gf_put_part;

/**
 * Write and sync the parts of n puts of one namespace, as if one had come after the other, while
 * their collections are held; the order of their rows is changed. All or nothing. Several only if
 * all are the last and nothing is held back. flush.c
 *
 * @param[out] counts  n: what each did
 */
gf_status gf_put_write(const gf_put_part *parts, size_t n, gf_put_counts *counts, gf_error *err);

/** Hold the collections of all rows of the parts, of one namespace. flush.c */
gf_status gf_put_hold(const gf_put_part *parts, size_t n, gf_hold *hold, gf_error *err);

/** Add up. writer.c */
void gf_put_counts_add(gf_put_counts *to, const gf_put_counts *from);

/**
 * Write and sync a part, together with other threads' meanwhile: one sync for all of them. Where rows
 * hold themselves it is written collection by collection, in batches of about 1 MB, and what is
 * counted was written also where it fails. group.c
 */
gf_status gf_put_commit(const gf_put_part *part, gf_put_counts *counts, gf_error *err);

/* ---- writer.c: for the thread of the put's caller -------------------------------------------- */

/** Wait until what was handed over is written, and count it. The status of that. */
gf_status gf_put_wait(gf_put *put, gf_error *err);

/** Wait likewise, then have the front rows written while the caller goes on. */
gf_status gf_put_hand_over(gf_put *put, gf_error *err);

/** Write the front rows and the held changes here and now; nothing is being written. */
gf_status gf_put_write_here(gf_put *put, gf_error *err);

#endif
