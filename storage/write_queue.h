/**
 * Batches that several threads fill at once and one thread writes, in the order of their numbers.
 *
 *     fillers   take 0 | fill | give 0 | take 2 | fill | give 2 ...
 *               take 1 | fill    | give 1 | take 3 (waits for a place) ...
 *     thread                   write 0 | write 1 | write 2 ...
 *
 * At most `places` batches are being filled, wait, or are written, so that memory is bounded. The
 * lowest number that is not written never waits: as long as numbers are taken in rising order (by
 * tasks of a pool, say), and each is given or the queue is stopped, the queue moves on.
 *
 * A write is synced where the 4 MiB before it were not; the last are synced by whoever closes the
 * queue, with the write that says that all is there.
 */
#ifndef GF_STORAGE_WRITE_QUEUE_H
#define GF_STORAGE_WRITE_QUEUE_H

#include "grouperfish/table.h"

typedef struct gf_write_queue gf_write_queue;

/** Places: at least 1. GF_ENOMEM. Without a thread to be had, fillers write as they give. */
gf_status gf_write_queue_open(gf_database *db, unsigned places, gf_write_queue **queue,
                              gf_error *err);

/**
 * The batch of that number, empty, once there is a place for it; numbers begin at 0. It is the
 * caller's until gf_write_queue_give.
 *
 * @return GF_OK; how the writing failed, or with what the queue was stopped at a lower number
 */
gf_status gf_write_queue_take(gf_write_queue *queue, uint64_t number, gf_batch **batch,
                              gf_error *err);

/** The batch is filled: it is written after those before it. */
void gf_write_queue_give(gf_write_queue *queue, uint64_t number);

/** The batch will not be given, for this reason: those behind it are not written, nor taken. */
void gf_write_queue_stop(gf_write_queue *queue, uint64_t number, const gf_error *why);

/**
 * Wait until all that was given is written, or as much as can be, and free the queue; NULL is one
 * without batches.
 *
 * @return how the first failure was, of the writing or that the queue was stopped with
 */
gf_status gf_write_queue_close(gf_write_queue *queue, gf_error *err);

#endif
