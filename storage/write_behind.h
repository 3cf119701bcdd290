/**
 * Batches in turns: one is filled while the one before is written, synced.
 *
 *     owner    fill a | next | fill b | next (waits for a) | fill a | ... | end (waits)
 *     thread            write a         write b
 *
 * Batches are written one after another, in order. The next call returns how the writing of one
 * ended; after a failure nothing more is to be filled.
 */
#ifndef GF_STORAGE_WRITE_BEHIND_H
#define GF_STORAGE_WRITE_BEHIND_H

#include "base/background.h"
#include "grouperfish/table.h"

typedef struct gf_write_behind {
    gf_batch *batch; /* to be filled */
    gf_database *db;
    gf_batch *first; /* the owner's */
    gf_batch *other; /* that is written, or empty; NULL: not yet made */
    bool unsynced;   /* set by the owner, who syncs at the end */
    gf_background background;
} gf_write_behind;

/** The first batch to be filled is the owner's. */
void gf_write_behind_begin(gf_write_behind *w, gf_database *db, gf_batch *first);

/** Have the batch written; `w->batch` is the next one to be filled, which is empty. */
gf_status gf_write_behind_next(gf_write_behind *w, gf_error *err);

/** Wait for the batch that is being written. */
gf_status gf_write_behind_wait(gf_write_behind *w, gf_error *err);

/**
 * Wait, and end. Changes in the owner's batch are left there; those of the other one are written,
 * unless `st`, the result of filling, is a failure.
 *
 * @return st, or the first failure after it
 */
gf_status gf_write_behind_end(gf_write_behind *w, gf_status st, gf_error *err);

#endif
