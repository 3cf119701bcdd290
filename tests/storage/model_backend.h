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

/** The same with these capabilities (GF_BACKEND_*) in place of all. */
gf_backend *gf_model_share_as(gf_backend *first, unsigned capabilities);

/** Let the process end after so many writes (n > 0): each of its calls fails from then on. */
void gf_model_end_after(gf_backend *b, uint64_t writes);

/** The writes that the process has made, each of which is there as a whole. */
uint64_t gf_model_writes(gf_backend *b);

/** Call this before each write and hold, unless the process holds something: what others do. */
void gf_model_watch(gf_backend *b, void (*before_step)(void *context), void *context);

#endif
