/**
 * A second backend, for tests: naive, in memory, written without a look at the first.
 *
 * A sorted array of versions (table, family, row key, cell, timestamp), searched from its start;
 * a snapshot is a copy of all of it. It shows that the seam is one, and says what LevelDB must
 * give.
 */
#ifndef GF_TESTS_STORAGE_MODEL_BACKEND_H
#define GF_TESTS_STORAGE_MODEL_BACKEND_H

#include "storage/backend.h"

/** A model that one process has to itself. */
gf_backend *gf_model_create(void);

/** One more process that has the same model open, of those that share one; NULL: the first. */
gf_backend *gf_model_share(gf_backend *first);

/**
 * The same with these capabilities (GF_BACKEND_*) in place of all. Without GF_BACKEND_BATCH it is as
 * HBase: each row is a write of its own, in the order of the changes; a condition is of the only row;
 * times count, so that nothing changes what is newer, and what is put as of a time that is not
 * later than a deletion's stays away; a hold keeps out threads of the same process alone.
 */
gf_backend *gf_model_share_as(gf_backend *first, unsigned capabilities);

/** Let the process end after so many writes (n > 0): each of its calls fails from then on. */
void gf_model_end_after(gf_backend *b, uint64_t writes);

/**
 * The answer to a write is lost, which is so many writes from now (n > 0): it is made, and fails
 * (GF_EUNKNOWN). So many calls behind it fail as well, and do nothing (GF_EIO).
 */
void gf_model_lose_answer(gf_backend *b, uint64_t writes, unsigned calls);

/** The writes that the process has made, each of which is there as a whole: rows, without batches. */
uint64_t gf_model_writes(gf_backend *b);

/**
 * Call this before each write and hold: what others do. Not while the process holds something, unless
 * rows are written one by one, nor once it has ended.
 */
void gf_model_watch(gf_backend *b, void (*before_step)(void *context), void *context);

#endif
